"""How hard sentences are to read: words a sentence, and the grade of Flesch and Kincaid (1975)."""

import re
from collections.abc import Iterable

# School years that a reader needs at most, of all that a page says on one study: those of a newspaper for everybody
# (six to eight). A sentence is read in one breath up to 25 to 30 words; one that names two machines in full has 35.
EASY, LONGEST = 7.0, 35

VOWELS = re.compile(r"[aeiouy]+")
# A point ends a sentence before a capital, not within 1.8 or p3.2xlarge, nor after a word that is cut short.
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in END.split(" ".join(text.split())) if part]


def syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end; a number is read as one."""
    plain = re.sub(r"[^a-z]", "", word.lower())
    groups = len(VOWELS.findall(plain))
    silent = plain.endswith("e") and not plain.endswith(("le", "ee")) and groups > 1
    return max(1, groups - silent)


def words(sentence: str) -> list[str]:
    """What is read between spaces, without bare signs such as %)."""
    return [word for word in sentence.split() if re.search(r"[A-Za-z0-9]", word)]


def grade(text: str, names: Iterable[str] = ()) -> float:
    """School years of a reader, 0.39 words a sentence + 11.8 syllables a word - 15.59; a name counts as one short word.

    Of a name (`names`) a reader knows the sound: "8 B200 SXM" is no hard word, so that each is read as `it`.
    """
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "it")
    told = sentences(text)
    read = [word for sentence in told for word in words(sentence)]
    return 0.39 * len(read) / len(told) + 11.8 * sum(map(syllables, read)) / len(read) - 15.59
