"""What every configuration model is made of: names, texts, the closed base, and errors that name file and key."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from sweetspot.cells import SLUG
from sweetspot.errors import UserError

Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG}$", strict=True)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Precision = Literal["fp32", "fp16", "bf16"]
Framework = Literal["tensorflow", "jax", "torch"]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
ModelT = TypeVar("ModelT", bound=BaseModel)


class Closed(BaseModel):
    """Base of every configuration model: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Name(Closed):
    """A name that a person gave to a file or an entry."""

    name: Slug


def described(errors: ValidationError, file: str | Path) -> UserError:
    """The first validation error as one sentence: file, key, value found, what is expected."""
    first = errors.errors()[0]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    value = repr(first["input"])
    found = value if len(value) <= 80 else value[:77] + "..."
    match first["type"]:
        case "extra_forbidden":
            return UserError(f"{file}: key '{key}' is unknown; remove it or correct its spelling")
        case "missing":
            return UserError(f"{file}: key '{key}' is missing and needed")
        case "string_pattern_mismatch":
            reason = "expected a name of letters, digits, '.', '_' and '-' (1 to 64, first a letter or digit)"
        case _:
            reason = f"expected: {first['msg'].removeprefix('Value error, ')}"
    return UserError(f"{file}: key '{key}' is {found}; {reason}")


def validated(model: type[ModelT], data: Any, file: str | Path) -> ModelT:
    """`data` as a `model`. Raises UserError naming file and key."""
    if not isinstance(data, dict):
        raise UserError(f"{file}: found {type(data).__name__}; expected a mapping of keys to values")
    try:
        return model.model_validate(data)
    except ValidationError as errors:
        raise described(errors, file) from None


def check_apart(names: Iterable[str], what: str, file: str | Path) -> None:
    """Refuse names that differ only by case: on macOS and Windows their files are one. Raises UserError."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise UserError(f"{file}: {what} {other!r} and {name!r} differ only by case; rename one of them")
