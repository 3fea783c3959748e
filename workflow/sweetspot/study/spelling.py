"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections.abc import Iterable, Iterator

ALIKE = str.maketrans("oil", "011")
LEAST = 5  # of fewer signs a slip may be a name
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`


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
