"""Calls the macros of templates/text.j2, which hold the sentences of the product."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot.decision_words import in_unit
from sweetspot.report.notation import missing, number
from sweetspot.wording import amount, begun, percent, span, the

if TYPE_CHECKING:
    from jinja2.environment import TemplateModule

TEMPLATES = Path(__file__).parent / "templates"


def rough_amount(value: float) -> str:
    """A number to two figures, which is all that an expectation from samples carries."""
    return amount(float(f"{value:.2g}"))


def signed_percent(change: float) -> str:
    """A change in per cent with its sign: `−32 %`."""
    return f"{100 * change:+.0f} %".replace("-", "−")


def capitalize(sentence: str) -> str:
    """A text with a capital first letter, the rest as it is."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


@lru_cache(maxsize=1)
def _macros() -> "TemplateModule":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, autoescape=False
    )
    environment.filters.update(
        amount=amount,
        begun=begun,
        capital=capitalize,
        duration=span,
        number=number,
        percent=percent,
        quantity=in_unit,
        rough=rough_amount,
        signed=signed_percent,
        the=the,
    )
    environment.tests["missing"] = missing
    return environment.get_template("text.j2").module


def sentence(macro: str, *values: Any, **keyword_values: Any) -> str:
    """The text of a macro on one line; whoever puts it into HTML or Markdown escapes it."""
    return " ".join(str(getattr(_macros(), macro)(*values, **keyword_values)).split())


def sentences(macro: str, *values: Any, **keyword_values: Any) -> list[str]:
    """The lines of a macro that are not empty, each a sentence of its own."""
    lines = str(getattr(_macros(), macro)(*values, **keyword_values)).splitlines()
    return [" ".join(line.split()) for line in lines if line.strip()]
