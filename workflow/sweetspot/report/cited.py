"""Figures on the page, each a link to the origin that it came from."""

from collections import Counter
from dataclasses import asdict, dataclass, field

from markupsafe import Markup, escape

from sweetspot.report.notation import BASIS_SIGNS, interval_text, number, text

SOURCE_LETTERS = 60  # of a source in a tooltip: some are chains of hundreds, beside a thousand figures
NO_FIGURE = Markup('<span class="none" title="no figure">–</span>')


@dataclass(frozen=True)
class Origin:
    """The origin of a figure: its basis (such as `measured`), its source in words, its date (YYYY-MM-DD)."""

    basis: str
    source: str
    date: str


@dataclass
class Provenance:
    """The numbered origins of all figures on a page: `cite` adds one and returns a link, `table` lists all of them."""

    uses: Counter[Origin] = field(default_factory=Counter)
    rows: dict[Origin, int] = field(default_factory=dict)

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
        """Return HTML of a number as a link to the row of its origin, which is counted, so that readers can check every
        figure. A missing value gives a dash.

        Parameters
        ----------
        value, unit, digits
            The number, or its text; the text behind it, and its significant digits.
        basis, source, date
            Origin of the number; the tooltip shows at most SOURCE_LETTERS letters of the source.
        low, high, level
            Bounds of the interval, for the tooltip (both missing: "no interval"), and its level, such as `90 %`.
        """
        label = number(value, digits)
        if label == "–":
            return NO_FIGURE
        origin = Origin(text(basis), text(source) or "computed from this report's tables", text(date)[:10])
        row = self.rows.setdefault(origin, len(self.rows) + 1)
        self.uses[origin] += 1
        interval, short = interval_text(low, high, digits), origin.source
        if len(short) > SOURCE_LETTERS:
            short = f"{short[:SOURCE_LETTERS].rstrip()} … (origin {row})"
        interval = f"{interval} ({level})" if interval else "no interval"
        title = " · ".join(filter(None, (origin.basis.replace("_", "-"), interval, short, origin.date)))
        sign = BASIS_SIGNS.get(origin.basis, "")
        mark = f'<i aria-hidden="true">{sign}</i>' if sign else ""
        style = escape(origin.basis or "computed")
        # Every part is escaped here: Markup.format would do so too, at three times the cost for thousands of figures.
        label = escape(f"{label} {unit}".rstrip())
        return Markup(f'<a class="n {style}" href="#p{row}" title="{escape(title)}">{label}{mark}</a>')

    def table(self) -> list[dict[str, object]]:
        """Return a dict per cited origin: basis, source, date, `row` (its number), `uses` (number of citations)."""
        return [asdict(origin) | {"row": row, "uses": self.uses[origin]} for origin, row in self.rows.items()]
