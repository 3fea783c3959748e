"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections.abc import Iterable, Iterator

SIMILAR_CHARACTERS = str.maketrans("oil", "011")
MIN_LENGTH = 5  # A slip in a shorter name may be another name.
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`


def near(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelt most like `wrong`; None where none is similar."""
    return next(iter(difflib.get_close_matches(wrong, list(names), cutoff=CUTOFF)), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about a wrong name, e.g. ": did you mean 'box'?"; "" where no name is similar."""
    meant = near(wrong, names)
    return "" if meant is None else f": did you mean '{meant}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that `wrong` surely means: another case or sign, letters exchanged, one lost, O for 0.

    Return None where it is one of the names, or may be another name, as `resnet50d` and `resnet51` beside `resnet50`.
    """
    candidates = list(names)
    if wrong in candidates:
        return None
    normalized = _normalized(wrong)
    return next((name for name in candidates if normalized in _misspellings(_normalized(name))), None)


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(SIMILAR_CHARACTERS)


def _misspellings(name: str) -> Iterator[str]:
    yield name
    for index in range(len(name) if len(name) >= MIN_LENGTH else 0):
        yield name[:index] + name[index : index + 2][::-1] + name[index + 2 :]
        if name[index].isalpha():
            yield name[:index] + name[index + 1 :]
