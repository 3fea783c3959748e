"""Figures on the page, each a link to the origin that it came from."""

from collections import Counter
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from sweetspot.report.notation import BASIS_SIGNS, interval_text, number, text

SOURCE_LETTERS = 60  # of a source in a tooltip
NO_FIGURE = Markup('<span class="none" title="no figure">–</span>')


@dataclass(frozen=True)
class Origin:
    """Where a figure comes from."""

    basis: str
    source: str
    date: str


@dataclass
class Provenance:
    """Origins of the figures on a page, numbered in order of appearance; each figure links to its origin's row."""

    rows: dict[Origin, int] = field(default_factory=dict)
    uses: Counter[Origin] = field(default_factory=Counter)

    def cite(
        self,
        value: object,
        basis: object = "",
        source: object = "",
        date: object = "",
        low: object = None,
        high: object = None,
        unit: str = "",
        level: str = "90 %",
        digits: int = 3,
    ) -> Markup:
        """A number as a link to its origin; a missing value is a dash.

        Parameters
        ----------
        value
            The number, or its text.
        basis, source, date
            The origin; the tooltip has at most SOURCE_LETTERS letters of the source.
        low, high
            Ends of the interval for the tooltip; both missing: "no interval".
        unit
            Stands behind the number.
        level
            Of the interval, in words.
        digits
            Significant digits.
        """
        digits_text = number(value, digits)
        if digits_text == "–":
            return NO_FIGURE
        origin = Origin(text(basis), text(source) or "computed from this report's tables", text(date)[:10])
        row = self.rows.setdefault(origin, len(self.rows) + 1)
        self.uses[origin] += 1
        interval = interval_text(low, high, digits)
        parts = [
            origin.basis.replace("_", "-"),
            f"{interval} ({level})" if interval else "no interval",
            _shorten_source(origin.source, row),
            origin.date,
        ]
        title = " · ".join(part for part in parts if part)
        sign = BASIS_SIGNS.get(origin.basis, "")
        mark = f'<i aria-hidden="true">{escape(sign)}</i>' if sign else ""
        label = f"{escape(digits_text)} {escape(unit)}" if unit else escape(digits_text)
        style = escape(origin.basis or "computed")
        # Every part is escaped here: Markup.format would do so too, at three times the cost for thousands of figures.
        return Markup(f'<a class="n {style}" href="#p{row}" title="{escape(title)}">{label}{mark}</a>')

    def table(self) -> list[dict[str, object]]:
        """Rows for the page: number, basis, source, date, how often it is cited."""
        return [
            {
                "row": row,
                "basis": origin.basis,
                "source": origin.source,
                "date": origin.date,
                "uses": self.uses[origin],
            }
            for origin, row in self.rows.items()
        ]


def _shorten_source(source: str, row: int) -> str:
    """The source, or its beginning: some are chains of hundreds of letters, beside a thousand figures."""
    if len(source) <= SOURCE_LETTERS:
        return source
    return f"{source[:SOURCE_LETTERS].rstrip()} … (origin {row})"
