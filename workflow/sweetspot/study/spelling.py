"""Which key a person meant by a misspelt one: the nearest of those that its place in the file may have."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

Location = tuple[int | str, ...]
ALIKE = str.maketrans("oil", "011")
LEAST = 5  # of fewer signs a slip may be a name
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`


def nearest(model: type[BaseModel], location: Location, missing: Iterable[Location]) -> str | None:
    """The key that the unknown one at `location` of a file of `model` means; None where none is near.

    `location`: as pydantic says it, with the tag of a discriminated union in it. A needed key that is `missing` beside
    it comes before the other keys of that place.
    """
    place, wrong = location[:-1], str(location[-1])
    needed = [str(other[-1]) for other in missing if other[:-1] == place]
    known = [name for kind in _models(model, place) for name in kind.model_fields]
    return near(wrong, needed) or near(wrong, known)


def near(wrong: str, names: Iterable[str]) -> str | None:
    """The one of `names` that is spelt most like `wrong`; None where none is near."""
    return next(iter(difflib.get_close_matches(wrong, list(names), n=1, cutoff=CUTOFF)), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """How a sentence about a wrong name ends: `: did you mean 'box'?`; nothing where none is near."""
    meant = near(wrong, names)
    return "" if meant is None else f": did you mean '{meant}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `wrong` surely means: another case or sign, two letters exchanged, one lost, O for 0.

    None where it is one of them, or may be a name of its own, as `resnet50d` and `resnet51` beside `resnet50`.
    """
    every = list(names)
    return None if wrong in every else next((name for name in every if _is_slip(_plain(wrong), _plain(name))), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(ALIKE)


def _is_slip(wrong: str, name: str) -> bool:
    places = range(len(name)) if len(name) >= LEAST else range(0)
    exchanged = (name[:i] + name[i : i + 2][::-1] + name[i + 2 :] for i in places)
    lost = (name[:i] + name[i + 1 :] for i in places if name[i].isalpha())
    return wrong in (name, *exchanged, *lost)


def _models(kind: Any, place: Location) -> list[type[BaseModel]]:
    """The models that a value of type `kind` has at `place`."""
    kinds = [kind]
    for part in place:
        kinds = [inner for outer in kinds for single in _members(outer) for inner in _step(single, part)]
    return [single for outer in kinds for single in _members(outer) if _is_model(single)]


def _members(kind: Any) -> Iterator[Any]:
    """The type without Annotated; of a union each of its own."""
    if get_origin(kind) is Annotated:
        yield from _members(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for member in get_args(kind):
            yield from _members(member)
    else:
        yield kind


def _step(kind: Any, part: int | str) -> Sequence[Any]:
    """What lies at `part` of a value of type `kind`: a field, an entry, or by a union's tag the value itself."""
    origin, inner = get_origin(kind), get_args(kind)
    if _is_model(kind):
        fields: Mapping[str, Any] = kind.model_fields
        if "root" in fields:
            return [found for member in _members(fields["root"].annotation) for found in _step(member, part)]
        tagged = [kind] if any(part in get_args(field.annotation) for field in _tags(fields)) else []
        # A tag may be a field's name too: `runs` of a workload of kind `runs`.
        return [*([fields[part].annotation] if isinstance(part, str) and part in fields else []), *tagged]
    if origin in (list, tuple) and isinstance(part, int):
        return inner[:1]
    return inner[1:] if origin is dict else []


def _tags(fields: Mapping[str, Any]) -> list[Any]:
    return [field for field in fields.values() if get_origin(field.annotation) is Literal]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
