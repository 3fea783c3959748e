"""Draw each SVG file as PNG beside it: `python draw_png.py FILE.svg ...`."""

import sys
from pathlib import Path

import vl_convert
from sweetspot.files import write_whole

SCALE = 1.5  # legible on a slide


def main(figures: list[str]) -> None:
    """Write <figure>.png beside each <figure>.svg."""
    for figure in map(Path, figures):
        png = vl_convert.svg_to_png(figure.read_text(encoding="utf-8"), scale=SCALE)
        with write_whole(figure.with_suffix(".png")) as temporary:
            temporary.write_bytes(png)


if __name__ == "__main__":
    main(sys.argv[1:])
