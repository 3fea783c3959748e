"""What every configuration model is made of: names, texts, the closed base, and errors that name file and key."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails

from sweetspot.cells import SLUG
from sweetspot.errors import UserError, refuse
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.spelling import hint, near

Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG}$", strict=True)]
# A name that is joined to others with '.' in tables (`lab.bert`, `lab.bert.urgent`): it has none itself.
PART = SLUG.replace("._-", "_-")
Part = Annotated[str, StringConstraints(pattern=f"^{PART}$", strict=True)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Purchase = Literal["on_demand", "spot", "preemptible", "reserved", "committed", "own"]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
SMALLEST = 1e-12  # of what must be above 0
AboveZero = Annotated[float, Field(strict=True, ge=SMALLEST, le=1e18)]
# Bounds far outside any price, so that no product of sane figures overflows a float.
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
Location = tuple[int | str, ...]  # of a key in a file, as pydantic gives it
ModelT = TypeVar("ModelT", bound=BaseModel)
if TYPE_CHECKING:
    Framework = str
else:
    Framework = Literal[tuple(FRAMEWORKS)]


class Closed(BaseModel):
    """Base of every configuration model: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    def _expected(self) -> Iterator[str]:
        """What is expected, of keys that do not fit together; the first is told."""
        yield from ()

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        for expected in self._expected():
            raise ValueError(expected)
        return self

    def _given(self, *names: str) -> list[str]:
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
        """Low and high; the value itself where none is given."""
        return (self.value if self.low is None else self.low, self.value if self.high is None else self.high)

    @property
    def three(self) -> tuple[float, float, float]:
        """Value, low and high."""
        return (self.value, *self.ends)

    def _expected(self) -> Iterator[str]:
        low, high = self.ends
        if not low <= self.value <= high:
            yield f"low <= value <= high, found {low:g}, {self.value:g}, {high:g}"


def within(minimum: float, maximum: float = math.inf, noun: str = "a number") -> AfterValidator:
    """Return a check that the whole range of an uncertain number lies within bounds."""
    expected = f"{noun} above 0" if minimum == SMALLEST else f"{noun} of at least {minimum:g}"
    if maximum < math.inf:
        expected += f", at most {maximum:g}"

    def check(number: ModelT) -> ModelT:
        low, high = number.ends  # type: ignore[attr-defined]
        if low < minimum or high > maximum:
            raise ValueError(f"{expected}, found {low if low < minimum else high:g}")
        return number

    return AfterValidator(check)


BOUNDS = {
    "greater_than_equal": "of at least {ge:.12g}",
    "greater_than": "above {gt:.12g}",
    "less_than_equal": "of at most {le:.12g}",
    "less_than": "below {lt:.12g}",
}
KINDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
LONGEST_VALUE = 80  # characters of a value that a sentence shows


def validated(model: type[ModelT], data: Any, file: str | Path) -> ModelT:
    """Return the content of a file as a model.

    Parameters
    ----------
    model
        Model of the file.
    data
        What the file holds, as YAML reads it.
    file
        Name of the file for the sentences.

    Raises
    ------
    UserError
        One sentence per mistake: file, key, value found, what is expected.

    """
    if not isinstance(data, dict):
        raise UserError(f"{file}: found {type(data).__name__}; expected a mapping of keys to values")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(*(f"{file}: {sentence}" for sentence in _sentences(error, model))) from None


def _sentences(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Describe each validation error in one sentence.

    A misspelt key beside a missing one that it resembles is one mistake; its sentence comes first.
    """
    details = error.errors()
    missing = [detail["loc"] for detail in details if detail["type"] == "missing"]
    misspelt: dict[Location, Location] = {}
    for detail in details:
        if detail["type"] == "extra_forbidden":
            parent = detail["loc"][:-1]
            meant = near(str(detail["loc"][-1]), [str(loc[-1]) for loc in missing if loc[:-1] == parent])
            if meant is not None:
                misspelt[detail["loc"]] = (*parent, meant)
    needed = [
        f"{_unknown(wrong)}: did you mean '{meant[-1]}', which is missing and needed?"
        for wrong, meant in misspelt.items()
    ]
    others = [
        _sentence(detail, model)
        for detail in details
        if detail["loc"] not in misspelt and detail["loc"] not in misspelt.values()
    ]
    return needed + others


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    location, kind, value = detail["loc"], detail["type"], repr(detail["input"])
    context = detail.get("ctx", {})
    if kind == "union_tag_not_found":
        # Without its `kind` an entry cannot be judged; a key that resembles it may be it.
        kind, location = "missing", (*location, context["discriminator"].strip("'"))
        wrong = near(str(location[-1]), map(str, detail["input"])) if isinstance(detail["input"], dict) else None
        if wrong is not None:
            unknown = _unknown((*location[:-1], wrong))
            return f"{unknown}: did you mean '{location[-1]}', which is missing and needed?"
    if kind == "missing":
        return f"key '{_key(location)}' is missing and needed"
    if kind == "extra_forbidden":
        return _unknown(location) + hint(str(location[-1]), _keys_of(model))
    if kind == "union_tag_invalid":
        location, value = (*location, context["discriminator"].strip("'")), repr(context["tag"])
    expected = _expected_value(detail)
    if not location:
        return f"expected {expected}"
    if len(value) > LONGEST_VALUE:
        value = value[: LONGEST_VALUE - 3] + "..."
    return f"key '{_key(location)}' is {value}; expected {expected}"


def _expected_value(detail: ErrorDetails) -> str:
    """Say what would be right in place of a wrong value."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "union_tag_invalid":
        return "one of " + context["expected_tags"].replace("'", "")
    if kind == "string_pattern_mismatch" and SLUG in context["pattern"]:
        return "a name of letters, digits, '.', '_' and '-' (1 to 64, first a letter or digit)"
    if kind == "string_pattern_mismatch" and PART in context["pattern"]:
        return "a name of letters, digits, '_' and '-', no '.', which joins it to others (1 to 64)"
    if kind in ("float_type", "int_type"):
        plain = _plain_number(detail["input"], kind == "int_type")
        if plain is not None:
            return f"a number; YAML reads that one as text: write {plain}"
    if kind in BOUNDS:
        return "a number " + BOUNDS[kind].format(**context)
    return KINDS.get(kind) or detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")


def _key(location: Location) -> str:
    # Names in brackets are those of the forms that a key may have: nobody writes them.
    written = (part for part in location if not str(part).startswith("("))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in written).lstrip(".")


def _unknown(location: Location) -> str:
    return f"key '{_key(location)}' is unknown; remove it or correct its spelling"


def _keys_of(model: type[BaseModel]) -> set[str]:
    """Return all keys that a file of `model` may have, at any place."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return {key for part in parts for key in part.get("properties", {})}


def _plain_number(text: Any, whole: bool) -> str | None:
    """Return a number that YAML took for text as YAML wants it: no quotes, an exponent with point and sign."""
    try:
        number = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return None
    digits, _, power = repr(number).partition("e")
    if not math.isfinite(number) or (whole and (power or not number.is_integer())):
        return None
    if power:
        return f"{digits}{'' if '.' in digits else '.0'}e{int(power):+d}"
    return digits.removesuffix(".0")


def check_apart(names: Iterable[str], what: str, file: str | Path) -> None:
    """Refuse names that differ only by case: on macOS and Windows their files are one. Raises UserError."""
    seen: dict[str, str] = {}
    pairs = [(seen.setdefault(name.casefold(), name), name) for name in names]
    refuse(
        f"{file}: {what} {other!r} and {name!r} differ only by case; rename one of them"
        for other, name in pairs
        if other != name
    )
