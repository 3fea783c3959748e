"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections.abc import Iterable

SIMILAR_CHARACTERS = str.maketrans("oil", "011")
MIN_LENGTH = 5  # A slip in a shorter name may be another name.
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`


def near(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelt most like `wrong`; None where none is similar."""
    return next(iter(difflib.get_close_matches(wrong, list(names), n=1, cutoff=CUTOFF)), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about a wrong name, e.g. ": did you mean 'box'?"; "" where no name is similar."""
    match = near(wrong, names)
    return "" if match is None else f": did you mean '{match}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that `wrong` surely means: another case or sign, letters exchanged, one lost, O for 0.

    Return None where it is one of the names, or may be another name, as `resnet50d` and `resnet51` beside `resnet50`.
    """
    candidates, text = list(names), _normalized(wrong)
    slips = (name for name in candidates if text in {_normalized(name), *_misspellings(_normalized(name))})
    return None if wrong in candidates else next(slips, None)


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(SIMILAR_CHARACTERS)


def _misspellings(name: str) -> set[str]:
    positions = range(len(name) if len(name) >= MIN_LENGTH else 0)
    exchanged = {name[:index] + name[index : index + 2][::-1] + name[index + 2 :] for index in positions}
    return exchanged | {name[:index] + name[index + 1 :] for index in positions if name[index].isalpha()}
