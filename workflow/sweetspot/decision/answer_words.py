"""The answer in at most 45 words, from facts alone: what to take, by how much, how sure, from which use, what decides.

Nothing here knows of tables. Rules: too close to call is said first; one multiple, one interval, one probability, all
of the machine that is named; what does not fit is left to the sentences that follow, the least important first.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sweetspot.decision.certainty import percent
from sweetspot.decision.counted import begun, times

LONGEST = 45  # words of the answer
EQUAL = 1.03  # a multiple nearer to 1 than this is none
LONG_NAME = 8  # words of a name, where the whole of it leaves no room
NEXT = "the next"
AT_LEAST, UP_TO = "at least", "up to"  # a figure that is one of several models'
EVEN = 0.05  # a probability nearer to a half than this is called even
PARTS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100)  # m in n: the n that people count in
LONG_PART = 0.01  # worth of a smaller n, in logits: 3 in 4 is said of 73 %, not 11 in 15


@dataclass(frozen=True)
class Facts:
    """Who is the cheapest, and what is known of it. Names are written as within a sentence.

    `take`: the cheapest. `against`: the one it is held against, empty where there is none; `next_best`: that one is
    the second cheapest. `times`: cost of `against` / cost of `take`, with its 90 % interval, and `probability` that
    `take` is the cheaper; equal ends: nothing is uncertain. `close`: too close to call, `close_on`: on which models,
    where not on all. `bound`: `at least` or `up to`, where the figures are those of one of several models and certain.
    `on`: the model, where it must be named. `bill`: what `take` costs, where a reader asks for that first.
    `taken_away`: `take` can be taken away while another cannot. `all_month`: it is paid for the whole month and pays
    only in use. `over`: of a plan, what the multiple is of, such as `30 months`. `alone`: of a plan, why
    nothing is held against `take`.
    `use`, `hangs`: a sentence each, from which use on it pays, and on what it hangs most; empty for none.
    """

    take: str
    against: str = ""
    next_best: bool = True
    times: float = 1.0
    low: float = 1.0
    high: float = 1.0
    probability: float = 1.0
    close: bool = False
    close_on: str = ""
    bound: str = ""
    on: str = ""
    bill: str = ""
    taken_away: bool = False
    all_month: bool = False
    over: str = ""
    alone: str = ""
    use: str = ""
    hangs: str = ""


def answer(facts: Facts) -> tuple[str, list[str]]:
    """The answer, and the sentences for which it has no room."""
    found, rest = "", []
    for shorter, left in _shorter(facts):
        told = [_opening(shorter), shorter.use, shorter.hangs]
        found, rest = " ".join(begun(sentence) for sentence in told if sentence), left
        if len(found.split()) <= LONGEST:
            break
    return found, rest


def _shorter(facts: Facts) -> Iterator[tuple[Facts, list[str]]]:
    """The same facts in fewer and fewer words, with the sentences that were left out."""
    yield facts, []
    if facts.over and facts.hangs:
        yield replace(facts, hangs=""), [facts.hangs]  # of a plan: who it is held against is worth more
        facts, kept = replace(facts, hangs=""), [facts.hangs]
        yield from ((one, [*kept, *left]) for one, left in _shorter(facts))
        return
    use = facts.use
    facts = replace(facts, use=facts.use.replace(" of use a month", " a month"))
    yield facts, []
    facts = replace(facts, close_on="")
    yield facts, []
    if facts.next_best and facts.against:
        facts = replace(facts, against=NEXT)
        yield facts, []
    short = replace(facts, take=_short(facts.take), against=_short(facts.against), on=_short(facts.on))
    yield short, []
    left = [facts.hangs] if facts.hangs else []
    yield replace(facts, hangs=""), left
    yield replace(short, hangs=""), left
    yield replace(short, hangs="", use=""), [*filter(None, (use, facts.hangs))]


def _short(name: str) -> str:
    words = name.split()
    return name if len(words) <= LONG_NAME else " ".join(words[:LONG_NAME]) + " …"


def _opening(facts: Facts) -> str:
    on = f" on {facts.on}" if facts.on else ""
    if not facts.against:
        bill = f": {facts.bill}" if facts.bill else ""
        if facts.alone:
            return f"Take {facts.take}{on}{bill}. {facts.alone}"
        return f"Only {facts.take} can be judged{on}{bill}. Nothing else has both a price and a speed."
    if facts.close:
        on = f" on {facts.on or facts.close_on}" if facts.on or facts.close_on else ""
        return f"Too close to call{on}: {facts.take} {_gap(facts)}."
    condition = " if it works all month" if facts.all_month else " if it may be taken away" if facts.taken_away else ""
    bill = f"{facts.bill}, " if facts.bill else ""
    return f"Take {facts.take}{on}{condition}: {bill}{_multiple(facts)}."


def _gap(facts: Facts) -> str:
    """Of two that are too close: about the same, or what it looks like."""
    if facts.times >= EQUAL:
        return f"looks {_multiple(facts)}"
    return f"costs about as much as {_against(facts)}{_sure(facts, f'{times(facts.times)} times cheaper, ')}"


def _multiple(facts: Facts) -> str:
    # Beside an interval that goes below it, "at least" would be untrue; the next sentence says on which model that is.
    sure = times(facts.low) == times(facts.high)
    bound = f"{facts.bound} " if facts.bound and sure and not facts.close else ""
    return f"{bound}{times(facts.times)} times cheaper than {_against(facts)}{_sure(facts)}"


def _against(facts: Facts) -> str:
    return f"{facts.against} over {facts.over}" if facts.over else facts.against


def _sure(facts: Facts, before: str = "") -> str:
    """Interval and probability; neither where the figures leave no room."""
    low, high = times(facts.low), times(facts.high)
    return "" if low == high else f" ({before}{low} to {high}), {chance(facts.probability)}"


def chance(probability: float) -> str:
    """A probability in words and as a number: `a chance of about 6 in 7 (86 %)`."""
    number = percent(probability)
    if number.startswith("over"):
        return f"almost certain ({number})"
    if number.startswith("under"):
        return f"hardly a chance ({number})"
    if abs(probability - 0.5) <= EVEN:
        return f"an even chance ({number})"
    logit = math.log(probability / (1 - probability))

    def cost(part: tuple[int, int]) -> float:
        one, of = part
        return abs(math.log(one / (of - one)) - logit) + LONG_PART * of

    ways = ((max(1, min(of - 1, round(probability * of))), of) for of in PARTS)
    one, of = min(ways, key=cost)
    return f"a chance of about {one} in {of} ({number})"
