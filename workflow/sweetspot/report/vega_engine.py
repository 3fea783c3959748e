"""Specifications by name as JSON from stdin, SVG by name as JSON to stdout; run by `draw.Engine`.

Imports nothing of ours. A bad specification ends it with a code that is not zero and a message on stderr.
"""

import json
import sys

import vl_convert

VEGA_LITE = "6.4"

if __name__ == "__main__":
    # The first chart starts the JavaScript engine, a third of a second that passes before the specifications are here.
    vl_convert.vegalite_to_svg({"mark": "point", "data": {"values": []}}, vl_version=VEGA_LITE)
    specs = json.load(sys.stdin)
    json.dump(
        {name: vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE) for name, spec in specs.items()}, sys.stdout
    )
