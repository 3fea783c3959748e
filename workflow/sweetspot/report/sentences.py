"""Fill the templates: the sentences of text.j2, the charts of charts.j2, and whole pages."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot.decision.texts import in_unit, off_plan
from sweetspot.report.notation import missing, number
from sweetspot.report.scales import short_amount
from sweetspot.wording import amount, begun, listed, money, percent, span, the, times

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDERS = [Path(__file__).parent / name for name in ("templates", "assets")]
MARKDOWN = "\\`*_[]|#~"


def rough_amount(value: float) -> str:
    """Write a number with two figures, which is all that an expectation from samples carries."""
    return amount(float(f"{value:.2g}"))


def signed_percent(change: float) -> str:
    """Write a change in per cent with its sign: `−32 %`."""
    return f"{100 * change:+.0f} %".replace("-", "−")


def capitalize(sentence: str) -> str:
    """Write a text with a capital first letter, the rest as it is."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def shorten(text: str, limit: int) -> str:
    """Return a text in at most `limit` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return f"{line[: limit - 1].rpartition(' ')[0] or line[: limit - 2]} …"


def escape_markdown(text: object) -> str:
    """Return text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in MARKDOWN else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def table_cell(value: object) -> str:
    """Return text for a cell of a Markdown table."""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def four_digits(value: float) -> str:
    """Write a number with four digits, whole from 1,000 on; '' where it is missing."""
    if missing(value):
        return ""
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def lines(text: str) -> list[str]:
    """Return the lines of a text that are not empty."""
    return [line for line in text.splitlines() if line.strip()]


@lru_cache(maxsize=2)
def _environment(autoescape: bool) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDERS), undefined=StrictUndefined, trim_blocks=True, autoescape=autoescape
    )
    environment.filters.update(
        amount=amount,
        begun=begun,
        capital=capitalize,
        cell=table_cell,
        four_digits=four_digits,
        lines=lines,
        listed=listed,
        money=money,
        number=number,
        off_plan=off_plan,
        percent=percent,
        plain=escape_markdown,
        quantity=in_unit,
        rough=rough_amount,
        short=shorten,
        short_amount=short_amount,
        signed=signed_percent,
        span=span,
        the=the,
        times=times,
    )
    environment.tests["missing"] = missing
    return environment


@lru_cache(maxsize=1)
def _text() -> Any:
    return _environment(False).get_template("text.j2").module


def sentence(macro: str, *values: Any, **keyword_values: Any) -> str:
    """Return the text of a macro on one line; whoever puts it into HTML or Markdown escapes it."""
    return " ".join(str(getattr(_text(), macro)(*values, **keyword_values)).split())


def sentences(macro: str, *values: Any, **keyword_values: Any) -> list[str]:
    """Return the lines of a macro that are not empty, each a sentence of its own."""
    return [" ".join(line.split()) for line in lines(str(getattr(_text(), macro)(*values, **keyword_values)))]


def markup(macro: str, *values: Any) -> "Markup":
    """Return a chart of charts.j2; text in it is escaped."""
    from markupsafe import Markup

    return Markup(getattr(_environment(True).get_template("charts.j2").module, macro)(*values))


def filled(template: str, context: Mapping[str, Any]) -> str:
    """Fill a template; in HTML, text from tables and configuration is escaped."""
    return _environment(".html" in template).get_template(template).render(context)
