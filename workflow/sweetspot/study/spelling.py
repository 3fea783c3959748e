"""Which key a person meant by a misspelt one: the nearest of those that its place in the file may have."""

import difflib
import re
from collections.abc import Iterable, Iterator
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
    return next(iter(difflib.get_close_matches(wrong, list(names), cutoff=CUTOFF)), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """How a sentence about a wrong name ends: `: did you mean 'box'?`; nothing where none is near."""
    meant = near(wrong, names)
    return "" if meant is None else f": did you mean '{meant}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `wrong` surely means: another case or sign, two letters exchanged, one lost, O for 0.

    None where it is one of them, or may be a name of its own, as `resnet50d` and `resnet51` beside `resnet50`.
    """
    every = list(names)
    return None if wrong in every else next((name for name in every if _plain(wrong) in _slips(_plain(name))), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(ALIKE)


def _slips(name: str) -> Iterator[str]:
    yield name
    for i in range(len(name) if len(name) >= LEAST else 0):
        yield name[:i] + name[i : i + 2][::-1] + name[i + 2 :]
        if name[i].isalpha():
            yield name[:i] + name[i + 1 :]


def _models(kind: Any, place: Location) -> Iterator[type[BaseModel]]:
    """The models that a value of type `kind` has at `place`."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Annotated, Union, UnionType):
        for member in inner[:1] if origin is Annotated else inner:
            yield from _models(member, place)
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {name: field.annotation for name, field in kind.model_fields.items()}
        if "root" in fields:
            yield from _models(fields["root"], place)
        elif not place:
            yield kind
        else:  # a tag may be a field's name too: `runs` of a workload of kind `runs`
            yield from _models(fields.get(str(place[0])), place[1:])
            if any(get_origin(each) is Literal and place[0] in get_args(each) for each in fields.values()):
                yield from _models(kind, place[1:])
    elif place and origin is dict:
        yield from _models(inner[1], place[1:])
    elif place and origin in (list, tuple) and isinstance(place[0], int):
        yield from _models(inner[0], place[1:])
