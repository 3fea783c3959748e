"""Draw each specification as SVG and PNG beside it: `python draw_pictures.py CHART.vl.json ...`."""

import json
import sys
from pathlib import Path

import vl_convert
from sweetspot.files import write_whole
from sweetspot.report.draw import chart_of, vega_lite

SCALE = 1.5  # legible on a slide


def main(specs: list[str]) -> None:
    """Write <chart>.svg and <chart>.png beside each <chart>.vl.json."""
    version = vega_lite()
    for file in map(Path, specs):
        svg = vl_convert.vegalite_to_svg(json.loads(file.read_text(encoding="utf-8")), vl_version=version)
        with write_whole(file.with_name(f"{chart_of(file)}.svg")) as temporary:
            temporary.write_text(svg, encoding="utf-8")
        with write_whole(file.with_name(f"{chart_of(file)}.png")) as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))


if __name__ == "__main__":
    main(sys.argv[1:])
