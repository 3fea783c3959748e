"""Which name a person meant by a misspelt one."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable

SIMILAR_CHARACTERS = str.maketrans("oil", "011")
# Of difflib's ratio: `capx` is 0.89 of `capex`, `H100` 0.67 of `H100 SXM`, `note` 0.5 of `months`.
CUTOFF = 0.65
SLIP = 0.87  # `resent50` is 0.875 of `resnet50`; a slip in a name of four letters may be another name


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
    name_by_text, text = {_normalized(name): name for name in names}, _normalized(wrong)
    match = next(iter(difflib.get_close_matches(text, name_by_text, n=1, cutoff=SLIP)), "")
    lost = "".join((Counter(match) - Counter(text)).elements())
    is_slip = match and not Counter(text) - Counter(match) and (not lost or (len(lost) == 1 and lost.isalpha()))
    return name_by_text[match] if is_slip and name_by_text[match] != wrong else None


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).translate(SIMILAR_CHARACTERS)
