"""The answer as a picture for a README: an SVG of fixed size, made without a browser, that loads nothing."""

import unicodedata
from collections.abc import Iterator
from xml.sax.saxutils import escape

from sweetspot.report.answer_file import answer_of
from sweetspot.report.outcome import KeyFigure, key_figures
from sweetspot.report.tables import Tables, money_of
from sweetspot.study.study import Study

WIDTH, HEIGHT, MARGIN = 800, 336, 32
# Width of a character by its size, on the safe side of the fonts named below: of the widest and bold. A bold W is
# 0.94 of its size in Arial, 0.99 in DejaVu Sans Condensed.
NARROW, MIDDLE, BROAD, WIDEST, WHOLE = 0.46, 0.72, 0.86, 1.0, 1.13
SLIM, STOUT, WIDE = frozenset("iljtfr.,:;'|!()[] "), frozenset("wOQGDHNUAVXYKRBC&"), frozenset("mMW@%")
PLAIN = 0.9  # of what is not bold, against bold
FIGURES = 3  # beside each other
STYLE = (
    "text{font-family:Arial,Helvetica,'Liberation Sans','DejaVu Sans Condensed',sans-serif;fill:#1a1d21}"
    ".paper{fill:#fff;stroke:#d9dde1}.soft{fill:#595f66}.edge{fill:#005a8f}.strong{font-weight:bold}"
    "@media (prefers-color-scheme:dark){text{fill:#e6e8ea}.paper{fill:#15181c;stroke:#3a4148}.soft{fill:#a9b0b7}"
    ".edge{fill:#7cc0ee}}"
)


def render_card(tables: Tables, study: Study) -> str:
    """Title, answer, at most three key figures, and date, as SVG of WIDTH x HEIGHT pixels.

    What is too long is wrapped, then cut with an ellipsis. Text from the study is escaped, and freed of characters that
    XML has none of.
    """
    money, answer = money_of(study), answer_of(tables, study)
    figures = key_figures(answer.verdict, money)[:FIGURES]
    inner = WIDTH - 2 * MARGIN
    title = [*_lines(study.title, 24, inner, 2, 42, 28, "strong")]
    top = 42 + 28 * (len(title) - 1)
    rows = 7 - len(title) + (0 if figures else 3)
    said = _fitting([said for said in answer.sentences if said not in answer.claims], (inner - 16) / 17, rows)
    words = [
        *title,
        *_lines(said, 17, inner - 16, rows, top + 40, 23, "strong", MARGIN + 16),
    ]
    edge = f'<rect class="edge" x="{MARGIN}" y="{top + 22}" width="4" height="{23 * (len(words) - len(title)) + 4}"/>'
    places = enumerate(figures)
    told = [part for place, figure in places for part in _figure(figure, MARGIN + place * inner // FIGURES)]
    end = _text(f"Sweetspot · {_clean(study.name)} · as of {study.as_of}", 12, MARGIN, HEIGHT - 16, "soft")
    parts = "\n".join([edge, *words, *told, end])
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>{escape(_clean(study.title))}: {escape(_clean(said))}</title><style>{STYLE}</style>
<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>
{parts}
</svg>
"""


def _fitting(sentences: list[str], wide: float, rows: int) -> str:
    """The first sentence, and the second where there is room for both."""
    both = " ".join(sentences[:2])
    return both if len(wrapped(_clean(both), wide, rows + 1)) <= rows else sentences[0]


def _figure(figure: KeyFigure, x: int) -> Iterator[str]:
    wide = (WIDTH - 2 * MARGIN) // FIGURES - 16
    yield from _lines(figure.value, 26, wide, 1, 250, 0, "strong", x)
    label = f"{figure.span} (90 %): {figure.label}" if figure.span else figure.label
    yield from _lines(label, 12, wide, 3, 270, 15, "soft", x)


def _lines(words: str, size: int, wide: int, most: int, y: int, step: int, kind: str, x: int = MARGIN) -> Iterator[str]:
    """Text elements of a text in at most `most` lines, the first at `y`."""
    for row, line in enumerate(wrapped(_clean(words), wide / size / (1 if kind == "strong" else PLAIN), most)):
        yield _text(line, size, x, y + row * step, kind)


def _text(words: str, size: int, x: int, y: int, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" font-size="{size}">{escape(words)}</text>'


def wrapped(words: str, wide: float, most: int) -> list[str]:
    """`words` in at most `most` lines, each at most `wide` times the type's size; a word that is longer is broken."""
    lines: list[str] = []
    line = ""
    for word in (part for whole in words.split() for part in _broken(whole, wide)):
        longer = f"{line} {word}" if line else word
        if extent(longer) <= wide:
            line = longer
        else:
            lines, line = [*lines, line], word
    lines = [*lines, line] if line else lines
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while extent(last + " …") > wide:
        last = last[:-1]
    return [*lines[: most - 1], f"{last.rstrip()} …"]


def extent(words: str) -> float:
    """Width of a line, in times the size of its type."""
    return sum(map(_extent, words))


def _extent(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF" or ord(char) > 0xFFFF:
        return WHOLE
    if char in WIDE:
        return WIDEST
    return NARROW if char in SLIM else BROAD if char in STOUT else MIDDLE


def _broken(word: str, wide: float) -> Iterator[str]:
    piece = ""
    for char in word:
        if piece and extent(piece + char) > wide:
            yield piece
            piece = ""
        piece += char
    yield piece


def _clean(words: object) -> str:
    """Without control characters, surrogates and line breaks, of which XML or a line has none."""
    return " ".join("".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in str(words)).split())
