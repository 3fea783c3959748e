"""Specifications by name and their Vega-Lite version as JSON from stdin, to stdout as JSON: `svg` and `vega` (compiled
specifications) by name, and as `bundle`, where it is asked for, the script that draws the latter in a browser.

Run by `draw.Engine`. Imports nothing of ours, nor Altair. A bad specification ends it with a code that is not zero and
a message on stderr.
"""

import json
import sys

import vl_convert

if __name__ == "__main__":
    # The first chart starts the JavaScript engine, a third of a second that passes before the specifications are here.
    # Whatever its Vega-Lite, another loads in 0.02 s.
    vl_convert.vegalite_to_svg({"mark": "point", "data": {"values": []}})
    asked = json.load(sys.stdin)
    version = asked["vega_lite"]
    vega = {name: vl_convert.vegalite_to_vega(spec, vl_version=version) for name, spec in asked["charts"].items()}
    made = {
        "svg": {name: vl_convert.vega_to_svg(spec) for name, spec in vega.items()},
        "vega": vega,
        "bundle": vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") if asked["bundle"] else "",
    }
    json.dump(made, sys.stdout)
