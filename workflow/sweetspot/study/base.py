"""What every configuration model is made of: names, texts, the closed base, and errors that name file and key."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails

from sweetspot.cells import SLUG
from sweetspot.errors import UserError, refuse
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.spelling import Location, near, nearest

Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG}$", strict=True)]
# A name that is joined to others with '.' in tables (`lab.bert`, `lab.bert.urgent`): it has none itself.
PART = SLUG.replace("._-", "_-")
Part = Annotated[str, StringConstraints(pattern=f"^{PART}$", strict=True)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Purchase = Literal["on_demand", "spot", "preemptible", "reserved", "committed", "own"]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
AboveZero = Annotated[float, Field(strict=True, ge=1e-12, le=1e18)]
# Bounds far outside any price, so that no product of sane figures overflows a float.
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
ModelT = TypeVar("ModelT", bound=BaseModel)
if TYPE_CHECKING:
    Framework = str
else:
    Framework = Literal[tuple(FRAMEWORKS)]


class Closed(BaseModel):
    """Base of every configuration model: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

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

    value: Number = Field(description="Central value")
    low: Number | None = Field(None, description="Lower end of the range, at most the value")
    high: Number | None = Field(None, description="Upper end of the range, at least the value")

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


def within(least: float, most: float, words: str) -> AfterValidator:
    """A check that the whole range of a number lies within bounds; `words` may show {low}, {high}, the {found} end."""

    def check(number: ModelT) -> ModelT:
        low, high = number.ends  # type: ignore[attr-defined]
        if low < least or high > most:
            raise ValueError(words.format(found=low if low < least else high, low=low, high=high))
        return number

    return AfterValidator(check)


BOUNDS = {
    "greater_than_equal": "of at least {ge:.12g}",
    "greater_than": "above {gt:.12g}",
    "less_than_equal": "of at most {le:.12g}",
    "less_than": "below {lt:.12g}",
}


def _key(loc: Iterable[int | str]) -> str:
    # Names in brackets are those of the forms that a key may have: nobody writes them.
    written = (part for part in loc if not str(part).startswith("("))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in written).lstrip(".")


def described(errors: ValidationError, model: type[BaseModel], file: str | Path) -> UserError:
    """The validation errors, each as one sentence: file, key, value found, what is expected.

    A misspelt key beside the needed one that is missing is one mistake and one sentence, and comes first.
    """
    found = errors.errors()
    missing = [error["loc"] for error in found if error["type"] == "missing"]
    meant = {
        error["loc"]: nearest(model, error["loc"], missing) for error in found if error["type"] == "extra_forbidden"
    }
    told = {(*loc[:-1], name) for loc, name in meant.items() if name is not None}
    found.sort(key=lambda error: (*error["loc"][:-1], meant.get(error["loc"])) not in missing)
    return UserError(
        *(
            f"{file}: {_sentence(error, meant.get(error['loc']), missing)}"
            for error in found
            if not (error["type"] == "missing" and error["loc"] in told)
        )
    )


def _sentence(error: ErrorDetails, meant: str | None, missing: Sequence[Location]) -> str:
    loc, kind, value = error["loc"], error["type"], repr(error["input"])
    if kind == "union_tag_not_found":  # no `kind`, or a misspelt one: the other keys cannot be judged before
        tag = error["ctx"]["discriminator"].strip("'")
        wrong = near(tag, map(str, error["input"])) if isinstance(error["input"], dict) else None
        loc, missing, meant = (*loc, wrong or tag), [(*loc, tag)], tag
        kind = "extra_forbidden" if wrong else "missing"
    key, value = _key(loc), value if len(value) <= 80 else value[:77] + "..."
    match kind:
        case "extra_forbidden":
            needed = ", which is missing and needed" if (*loc[:-1], meant) in missing else ""
            hint = f": did you mean '{meant}'{needed}?" if meant else ""
            return f"key '{key}' is unknown; remove it or correct its spelling{hint}"
        case "missing":
            return f"key '{key}' is missing and needed"
        case "union_tag_invalid":
            about = error["ctx"]
            key, value = _key((*loc, about["discriminator"].strip("'"))), repr(about["tag"])
            reason = f"expected one of {about['expected_tags'].replace(chr(39), '')}"
        case "string_pattern_mismatch":
            joined = error.get("ctx", {}).get("pattern") == f"^{PART}$"
            allowed = "'_' and '-', no '.', which joins it to others" if joined else "'.', '_' and '-'"
            reason = f"expected a name of letters, digits, {allowed} (1 to 64, first a letter or digit)"
        case "float_type" | "int_type" if (plain := _plainly(error["input"], kind == "int_type")) is not None:
            reason = f"expected a number; YAML reads that one as text: write {plain}"
        case bound if bound in BOUNDS:
            reason = f"expected a number {BOUNDS[bound].format(**error['ctx'])}"
        case _:
            expected = error["msg"].removeprefix("Value error, ")
            if not key:  # of the whole file, whose content is no value to show
                return f"expected {expected}"
            reason = f"expected: {expected}"
    return f"key '{key}' is {value}; {reason}"


def _plainly(text: Any, whole: bool) -> str | None:
    """A number that YAML took for text, as YAML wants it: without quotes, an exponent with point and sign."""
    try:
        number = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return None
    digits, _, power = repr(number).partition("e")
    if not math.isfinite(number) or (whole and (power or not number.is_integer())):
        return None
    return f"{digits}{'' if '.' in digits else '.0'}e{int(power):+d}" if power else digits.removesuffix(".0")


@dataclass
class Gathered:
    """What `validated` found wrong inside `gathering`: a sentence a mistake.

    places: by key of the file, where the entries of its list that are left stand in it.
    """

    sentences: list[str] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)


_gathered: ContextVar[Gathered | None] = ContextVar("gathered", default=None)


@contextmanager
def gathering() -> Iterator[Gathered]:
    """Inside, `validated` tells what is wrong here and gives what is right of a file; it raises where nothing is."""
    gathered = Gathered()
    before = _gathered.set(gathered)
    try:
        yield gathered
    finally:
        _gathered.reset(before)


def validated(model: type[ModelT], data: Any, file: str | Path) -> ModelT:
    """`data` as a `model`. Raises UserError naming file and key, with a sentence a mistake."""
    if not isinstance(data, dict):
        raise UserError(f"{file}: found {type(data).__name__}; expected a mapping of keys to values")
    try:
        return model.model_validate(data)
    except ValidationError as errors:
        told, gathered = described(errors, model, file), _gathered.get()
        if gathered is None:
            raise told from None
        gone = _wrong(data, errors.errors())
        left = _without(data, gone, gathered)
    if () in gone or any(data[key] and not value for key, value in left.items() if isinstance(value, list)):
        raise told
    try:
        content = model.model_validate(left)
    except ValidationError as hidden:  # what shows only without the rest, or that the rest is needed
        needed = hidden.errors()[0]["type"] == "missing"
        raise UserError(*told.sentences, *(() if needed else described(hidden, model, file).sentences)) from None
    gathered.sentences += told.sentences
    return content


def _wrong(data: dict[str, Any], errors: Iterable[ErrorDetails]) -> set[Location]:
    """What a file has to lose to be right: entries of its lists, else whole keys; () where it is wrong as a whole."""
    return {
        error["loc"][: 2 if error["loc"] and isinstance(data.get(str(error["loc"][0])), list) else 1]
        for error in errors
    }


def _without(data: dict[str, Any], gone: set[Location], gathered: Gathered) -> dict[str, Any]:
    """The content of a file without some of its keys and entries."""
    left = {key: value for key, value in data.items() if (key,) not in gone}
    for key in {str(place[0]) for place in gone if place} & set(left):
        gathered.places[key] = [index for index in range(len(data[key])) if (key, index) not in gone]
        left[key] = [data[key][index] for index in gathered.places[key]]
    return left


def check_apart(names: Iterable[str], what: str, file: str | Path) -> None:
    """Refuse names that differ only by case: on macOS and Windows their files are one. Raises UserError."""
    seen: dict[str, str] = {}
    pairs = [(seen.setdefault(name.casefold(), name), name) for name in names]
    refuse(
        f"{file}: {what} {other!r} and {name!r} differ only by case; rename one of them"
        for other, name in pairs
        if other != name
    )
