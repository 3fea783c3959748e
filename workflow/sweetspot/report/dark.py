"""The charts of the page in dark mode: each colour that they are drawn with has one that is legible on dark paper.

They hold colours as attributes (`fill`, `stroke`), which any rule of a style sheet outweighs: the page's own style
turns them. Files in `figures/`, and what is printed, keep their colours.
"""

from sweetspot.report.marks import COLOURS

PAPER = "#15181c"  # as page.css has it
INK, SOFT = "#ffffff", "#b5bbc1"
# Far enough apart for whoever sees no red or no green: tests/report/test_colours.py computes how far.
SERIES = ["#3f8fd8", "#e0661a", "#1fb589", "#d58ab5", "#f2c14e", "#b5dcf7", INK]
DARK = {
    **dict(zip(COLOURS, SERIES, strict=True)),
    "#00694d": SERIES[2],  # an edge of what is within the limits
    "#000": INK,
    "#111": INK,
    "black": INK,
    "white": PAPER,
    "#555": SOFT,
    "#444": SOFT,
    "#888": "#8a929a",
    "#e6e6e6": "#2f353b",
    "#ddd": "#3a4148",
}


def dark_rules() -> str:
    """The style of charts on a screen whose reader prefers dark pages."""
    rules = (
        f'.chart svg [{paint}="{light}"]{{{paint}:{dark}}}'
        for light, dark in DARK.items()
        for paint in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{''.join(rules)}}}\n"
