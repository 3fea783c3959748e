"""What every configuration model is made of: names, texts, the closed base, and errors that name file and key."""

import math
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails

from sweetspot.cells import SLUG
from sweetspot.errors import UserError
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.spelling import hint

Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG}$")]
# A name that is joined to others with '.' in tables (`lab.bert`, `lab.bert.urgent`): it has none itself.
PART = SLUG.replace("._-", "_-")
Part = Annotated[str, StringConstraints(pattern=f"^{PART}$")]
DATE = r"^\d{4}(-\d\d(-\d\d)?)?$"
DATE_TEXT = 'a date in quotes, as precise as known: "2025", "2025-06" or "2025-06-30"'
# No character that reorders, colours or breaks what a page, terminal or chart shows; one that is no blank or - ? . , _
HIDDEN = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
ADDRESS = r"^https?://\S+$"
CURRENCY = r"^[A-Z]{3}$"
TEXT = rf"^[^{HIDDEN}]*[^\s?.,_{HIDDEN}-][^{HIDDEN}]*$"
Text = Annotated[str, StringConstraints(max_length=4000, pattern=TEXT)]
Title = Annotated[Text | None, Field(description="Name for people")]
Source = Annotated[Text, Field(description="Where the numbers come from")]
Purchase = Literal["on_demand", "spot", "preemptible", "reserved", "committed", "own"]
Share = Annotated[float, Field(ge=0, le=1)]
SMALLEST = 1e-12  # of what must be above 0
AboveZero = Annotated[float, Field(ge=SMALLEST, le=1e18)]
Deadline = Annotated[float, Field(ge=SMALLEST, le=8784)]  # a year of hours
# Bounds far outside any price, so that no product of sane figures overflows a float.
Number = Annotated[float, Field(ge=-1e12, le=1e12)]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]
Count = Annotated[int, Field(ge=1, le=100_000)]
EARLIEST = date(1990, 1, 1)  # of a price, a figure or a study
Day = Annotated[date, Field(strict=False)]  # as YAML reads a date, or in quotes


def _past(day: date) -> date:
    """Return a day unchanged. Raises ValueError before EARLIEST, and after tomorrow: somewhere it is that already."""
    today = date.today()
    if not EARLIEST <= day <= today + timedelta(days=1):
        raise ValueError(f"a date that has been, from {EARLIEST} to {today}")
    return day


PastDay = Annotated[Day, AfterValidator(_past)]


def _checked_day(text: str) -> str:
    """Return the text of a date unchanged. Raises ValueError for a day to come, or that its month does not have."""
    try:
        day = date.fromisoformat(text + "2000-01-01"[len(text) :])
    except ValueError:
        raise ValueError(DATE_TEXT) from None
    _past(day)
    return text


# The date of a fact, as precise as known.
DateText = Annotated[str, StringConstraints(pattern=DATE), AfterValidator(_checked_day)]
ModelT = TypeVar("ModelT", bound=BaseModel)
if TYPE_CHECKING:
    Framework = str
else:
    Framework = Literal[tuple(FRAMEWORKS)]


class Closed(BaseModel):
    """Base of every configuration model: unknown keys are refused, values do not change."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, strict=True, use_attribute_docstrings=True
    )

    def _expected(self) -> Iterator[str]:
        """Yield a clause for each mistake in keys that do not fit together: what is expected. The first is reported."""
        yield from ()

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        """Raise ValueError with the first clause of `_expected`, the user's error message; else return the model."""
        for expected in self._expected():
            raise ValueError(expected)
        return self

    def _keys_set(self, *names: str) -> list[str]:
        """Return those of the keys that have a value."""
        return [name for name in names if getattr(self, name) is not None]


class Name(Closed):
    """A name that a person gave to a file or an entry."""

    name: Slug


class Ranged(Closed):
    """A number, with its range where it is uncertain."""

    value: Number
    """Central value"""
    low: Number | None = None
    """Lower end of the range, at most the value"""
    high: Number | None = None
    """Upper end of the range, at least the value"""

    @property
    def ends(self) -> tuple[float, float]:
        """Low and high end of the range; the value itself for an end that is not given."""
        return self.value if self.low is None else self.low, self.value if self.high is None else self.high

    def _expected(self) -> Iterator[str]:
        """Yield what was expected, a clause of the user's error message, where the value lies outside its range."""
        low, high = self.ends
        if not low <= self.value <= high:
            yield f"low <= value <= high, found {low:g}, {self.value:g}, {high:g}"


def within(minimum: float, maximum: float = math.inf, noun: str = "a number") -> AfterValidator:
    """Return a pydantic validator for fields of user files: the whole range of an uncertain number (`Ranged`, `Fact`)
    must lie within bounds.

    Parameters
    ----------
    minimum, maximum, noun
        The bounds (a minimum of SMALLEST is said as "above 0"), and what the number is, with its unit, for messages.
    """
    expected = f"{noun} above 0" if minimum == SMALLEST else f"{noun} of at least {minimum:g}"
    if maximum < math.inf:
        expected += f", at most {maximum:g}"

    def check(number: Any) -> Any:
        """Return a file's number unchanged; ValueError, the user's message, if an end of its range is out of bounds."""
        low, high = number.ends
        if low < minimum or high > maximum:
            raise ValueError(f"{expected}, found {low if low < minimum else high:g}")
        return number

    return AfterValidator(check)


# What is expected in place of a wrong value, by pydantic's name of the error, else by the first word of that.
EXPECTED = {
    "greater_than_equal": "a number of at least {ge:.12g}",
    "greater_than": "a number above {gt:.12g}",
    "less_than_equal": "a number of at most {le:.12g}",
    "less_than": "a number below {lt:.12g}",
    "union_tag_invalid": "one of {expected_tags}",
    "string_type": "text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "list": "a list",
    "dict": "a mapping of keys to values",
    "model": "a mapping of keys to values",
}
PATTERNS = {
    f"^{SLUG}$": "a name of letters, digits, '.', '_' and '-' (1 to 64, first a letter or digit)",
    f"^{PART}$": "a name of letters, digits, '_' and '-', no '.', which joins it to others (1 to 64)",
    DATE: DATE_TEXT,
    TEXT: "text without control characters and marks of direction, of more than blanks and signs such as - or ?",
    ADDRESS: "an address such as https://example.org",
    CURRENCY: "three capital letters such as EUR",
}
LONGEST_VALUE = 80  # characters of a value that a sentence shows


def validated(model: type[ModelT], data: Any, file: str | Path) -> ModelT:
    """Turn the content of a user's file (YAML or a CSV row) into an instance of its pydantic model, so that all later
    code can rely on it; UserError with one sentence per mistake.

    Parameters
    ----------
    model, data, file
        Model of the file, its content as YAML reads it, and its name, which the sentences begin with.
    """
    if not isinstance(data, dict):
        raise UserError(f"{file}: found {type(data).__name__}; expected a mapping of keys to values")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(*(f"{file}: {_sentence(detail, model)}" for detail in error.errors())) from None


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Turn one of pydantic's errors into a sentence for the user: which key is wrong, its value, what is expected."""
    location, kind, value, context = detail["loc"], detail["type"], repr(detail["input"]), detail.get("ctx", {})
    if kind.startswith("union_tag"):
        location = (*location, context["discriminator"].strip("'"))
        value = repr(context.get("tag"))
    if "root" in model.model_fields and len(location) > 2:
        location = (location[0], *location[2:])  # without the kind of the entry
    # Names in brackets are those of the forms that a key may have: nobody writes them.
    parts = (part for part in location if not str(part).startswith(("(", "literal[")))
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")
    if kind in ("missing", "union_tag_not_found"):
        return f"key '{key}' is missing and needed"
    if kind == "extra_forbidden":
        schema = model.model_json_schema()
        keys = {name for part in (schema, *schema.get("$defs", {}).values()) for name in part.get("properties", {})}
        return f"key '{key}' is unknown; remove it or correct its spelling{hint(str(location[-1]), keys)}"
    template = EXPECTED.get(kind, EXPECTED.get(kind.partition("_")[0]))
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    expected = PATTERNS.get(context.get("pattern", ""), template.format(**context) if template else message)
    if len(value) > LONGEST_VALUE:
        value = value[: LONGEST_VALUE - 3] + "..."
    return f"key '{key}' is {value}; expected {expected}" if key else f"expected {expected}"


def check_case(names: Iterable[str], noun: str, file: str | Path) -> None:
    """Raise UserError for two names or titles (of studies, machines, price lists) that differ by case or not at all:
    on macOS and Windows their files are one, and on the page nobody tells them apart.

    Parameters
    ----------
    names, noun, file
        The names, what has them ("studies"), and the file or folder that the sentence begins with.
    """
    first = dict[str, str]()
    for name in names:
        if (key := name.casefold()) in first:
            raise UserError(f"{file}: {noun} {first[key]!r} and {name!r} differ at most by case; rename one of them")
        first[key] = name


def not_once(names: list[str], where: str) -> Iterator[str]:
    """Yield a clause for each name that is given twice; `where` says among what, e.g. 'phases'."""
    yield from (f"a name once among {where}, found {name} twice" for name in sorted(names) if names.count(name) > 1)
