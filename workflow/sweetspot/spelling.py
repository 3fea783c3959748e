"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable

SIMILAR_CHARACTERS = str.maketrans("oil", "011")
CUTOFF = 0.7  # of difflib's ratio: `capx` is 0.89 of `capex`, `note` 0.5 of `months`
SLIP = 0.85  # `rtx4900` is 0.857 of `rtx4090`
MIN_LENGTH = 5  # a slip in a shorter name may be another name


def near(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelt most like `wrong`, else one with all its words; None where none is similar."""
    candidates, words = list(names), set(wrong.lower().split())
    longer = [name for name in candidates if words and words <= set(name.lower().split())]
    return next(iter([*difflib.get_close_matches(wrong, candidates, n=1, cutoff=CUTOFF), *longer]), None)


def hint(wrong: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about a wrong name, e.g. ": did you mean 'box'?"; "" where no name is similar."""
    match = near(wrong, names)
    return "" if match is None else f": did you mean '{match}'?"


def slipped(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that `wrong` surely means: another case or sign, letters exchanged, one lost, O for 0.

    Return None where it is one of the names, or may be another name, as `resnet50d` and `resnet51` beside `resnet50`.
    """
    name_by_text, text = {_normalized(name): name for name in names}, _normalized(wrong)
    match = next(iter(difflib.get_close_matches(text, name_by_text, n=1, cutoff=SLIP)), "")
    lost = "".join((Counter(match) - Counter(text)).elements())
    is_slip = not Counter(text) - Counter(match) and lost in ("", *filter(str.isalpha, lost))
    if not match or name_by_text[match] == wrong or (text != match and (len(match) < MIN_LENGTH or not is_slip)):
        return None
    return name_by_text[match]


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(SIMILAR_CHARACTERS)
