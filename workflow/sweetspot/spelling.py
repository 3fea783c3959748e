"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections.abc import Iterable

SIMILAR_CHARACTERS = str.maketrans("oil", "011")
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`
MIN_LENGTH = 5  # a slip in a shorter name may be another name


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is spelt most like `wrong`, else one with all words of `wrong`, else None."""
    candidates, words = list(names), set(wrong.lower().split())
    longer = [name for name in candidates if words and words <= set(name.lower().split())]
    return next(iter([*difflib.get_close_matches(wrong, candidates, n=1, cutoff=CUTOFF), *longer]), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about a wrong name, e.g. ": did you mean 'box'?"; "" where no name is similar."""
    match = nearest(wrong, names)
    return "" if match is None else f": did you mean '{match}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that a user surely meant by `wrong`, misspelt (case, signs, letters exchanged, one
    lost, O for 0). None where `wrong` is one of the names, or maybe another, as `resnet51` is for `resnet50`.
    """
    candidates, text = list(names), _normalized(wrong)
    if wrong in candidates:
        return None
    return next((name for name in candidates if text in _misspellings(_normalized(name))), None)


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(SIMILAR_CHARACTERS)


def _misspellings(name: str) -> set[str]:
    positions = range(len(name) if len(name) >= MIN_LENGTH else 0)
    exchanged = {name[:index] + name[index : index + 2][::-1] + name[index + 2 :] for index in positions}
    return {name} | exchanged | {name[:index] + name[index + 1 :] for index in positions if name[index].isalpha()}
