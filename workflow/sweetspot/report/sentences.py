"""Fill the templates: the sentences of text.j2, the charts of charts.j2, and whole pages."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from sweetspot.report.notation import in_unit, missing, number, off_plan
from sweetspot.report.scales import short_amount
from sweetspot.wording import amount, begun, confidence, listed, money, percent, span, the, times

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.bccache import Bucket
    from markupsafe import Markup

FOLDERS = [Path(__file__).parent / name for name in ("templates", "assets")]
MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_[]|#~"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"})
TABLE_CELL = str.maketrans({"\\": "\\\\", "|": "\\|", "<": "&lt;", "\n": " "})


def rough_amount(value: float) -> str:
    """Return a number as text rounded to two significant digits, the accuracy of a mean over samples."""
    return amount(float(f"{value:.2g}"))


def signed_percent(change: float) -> str:
    """Return a relative change as text in per cent with its sign: `−32 %` for -0.32."""
    return f"{100 * change:+.0f} %".replace("-", "−")


def capitalize(sentence: str) -> str:
    """Return a text with its first letter as a capital, the rest unchanged."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def escape_markdown(text: object) -> str:
    """Return a value as text on one line, with the special characters of Markdown escaped."""
    return " ".join(str(text).translate(MARKDOWN).split())


def table_cell(value: object) -> str:
    """Return a value as text with the characters escaped that would break a cell of a Markdown table."""
    return str(value).translate(TABLE_CELL)


def lines(text: str) -> list[str]:
    """Return the non-empty lines of a text, each with runs of blanks reduced to one."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


FILTERS = {
    "amount": amount,
    "begun": begun,
    "capital": capitalize,
    "cell": table_cell,
    "confidence": confidence,
    "four_digits": partial(number, digits=4),
    "lines": lines,
    "listed": listed,
    "money": money,
    "number": number,
    "off_plan": off_plan,
    "percent": percent,
    "plain": escape_markdown,
    "quantity": in_unit,
    "rough": rough_amount,
    "short": partial(shorten, placeholder=" …"),
    "short_amount": short_amount,
    "signed": signed_percent,
    "span": span,
    "the": the,
    "times": times,
    "zip": zip,
}


@lru_cache(maxsize=2)
def _environment(autoescape: bool) -> "Environment":
    """Return the Jinja environment that fills all templates, with FILTERS; undefined names are errors. `autoescape`:
    whether values are escaped, as HTML needs it.
    """
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    class TemplateCache(FileSystemBytecodeCache):
        """Compiled templates in the user's temporary folder; where that is full, none are kept."""

        def dump_bytecode(self, bucket: "Bucket") -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    environment = Environment(
        loader=FileSystemLoader(FOLDERS), undefined=StrictUndefined, trim_blocks=True, autoescape=autoescape
    )
    # Compiling takes longer than filling. HTML has compiled templates of its own; without a safe folder none are kept.
    with suppress(RuntimeError, OSError):
        environment.bytecode_cache = TemplateCache(pattern=f"sweetspot_{autoescape}_%s.cache")
    environment.filters |= FILTERS
    environment.tests["missing"] = missing
    return environment


def _macro(template: str, name: str, *values: Any, **keywords: Any) -> str:
    """Return the text of the macro `name` in a template, called with these arguments."""
    module = _environment(template == "charts.j2").get_template(template).module
    return str(getattr(module, name)(*values, **keywords))


def sentence(macro: str, *values: Any) -> str:
    """Return on one line, not escaped, the text of a Jinja macro in text.j2, called with `values`."""
    return " ".join(_macro("text.j2", macro, *values).split())


def sentences(macro: str, *values: Any, **keywords: Any) -> list[str]:
    """Return the non-empty lines of a Jinja macro in text.j2, called with these arguments: a sentence each."""
    return lines(_macro("text.j2", macro, *values, **keywords))


def markup(macro: str, *values: Any) -> "Markup":
    """Return the HTML of a chart, a Jinja macro in charts.j2 called with `values`; text in it is escaped."""
    from markupsafe import Markup

    return Markup(_macro("charts.j2", macro, *values))


def filled(template: str, context: Mapping[str, Any]) -> str:
    """Return the text of a Jinja template file filled from `context`; in HTML templates, values are escaped."""
    return _environment(".html" in template).get_template(template).render(context)
