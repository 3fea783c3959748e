"""Every figure of the page with where it comes from."""

from dataclasses import dataclass, field

from markupsafe import Markup, escape

from sweetspot.report.notation import BASIS_SIGNS, interval_text, missing, number

IN_A_TOOLTIP = 60  # characters of a source
Key = tuple[str, str, str]


@dataclass
class Provenance:
    """Origins of the figures shown, numbered in order of appearance; each figure links to its origin's row."""

    rows: dict[Key, int] = field(default_factory=dict)
    shown: dict[Key, int] = field(default_factory=dict)

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
        """A number as a link to its origin, of which its tooltip has the beginning. Missing values are a dash."""
        text = number(value, digits)
        if text == "–":
            return Markup('<span class="none" title="no figure">–</span>')
        key = (_text(basis), _text(source) or "computed from this report's tables", _text(date)[:10])
        row = self.rows.setdefault(key, len(self.rows) + 1)
        self.shown[key] = self.shown.get(key, 0) + 1
        span = interval_text(low, high, digits)
        parts = [key[0].replace("_", "-"), f"{span} ({level})" if span else "no interval", _begun(key[1], row), key[2]]
        title = " · ".join(part for part in parts if part)
        sign = BASIS_SIGNS.get(key[0], "")
        mark = f'<i aria-hidden="true">{escape(sign)}</i>' if sign else ""
        shown = f"{escape(text)} {escape(unit)}" if unit else escape(text)
        # Every part is escaped here: Markup.format would do so too, at three times the cost for thousands of figures.
        return Markup(
            f'<a class="n {escape(key[0] or "computed")}" href="#p{row}" title="{escape(title)}">{shown}{mark}</a>'
        )

    def table(self) -> list[dict[str, object]]:
        """Rows for the page: number, basis, source, date, how often it is shown."""
        return [
            {"row": row, "basis": key[0], "source": key[1], "date": key[2], "shown": self.shown[key]}
            for key, row in self.rows.items()
        ]


def _begun(source: str, row: int) -> str:
    """The source, if it is long its beginning: some are chains of hundreds of letters, beside a thousand figures."""
    return source if len(source) <= IN_A_TOOLTIP else f"{source[:IN_A_TOOLTIP].rstrip()} … (origin {row})"


def _text(value: object) -> str:
    return "" if missing(value) else str(value)
