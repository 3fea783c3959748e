"""The answer in sentences where models have different cheapest machines."""

from collections import Counter
from collections.abc import Sequence

from sweetspot.decision.answer_words import LONGEST, NEXT
from sweetspot.decision.counted import begun, listed, the, times
from sweetspot.decision.said import Said


def divided(models: Sequence[Said]) -> tuple[str, list[str]]:
    """The answer: what to take on most models, by how much; and the sentences beside it.

    A model that is too close to call counts for nobody: the answer names it as such. Where more than half are, it says
    so first, and then who looks the cheapest. Beside it stand, where they are too long for it, the models that have
    another; how much longer the usual one takes, and who is the fastest.
    """
    tied = [said.model for said in models if said.close]
    mostly = 2 * len(tied) > len(models)
    counted = [said for said in models if mostly or not said.close]
    own, tie = _own(counted), [f"Too close to call on {listed(tied)}."] if tied else []
    others = _others(counted, own, "looks the cheapest" if mostly else "")
    beside = [*_speed(models, own), *(tie if mostly else [])]
    opening = [f"No machine is the cheapest on all {len(models)} models."] if others else []
    if mostly:
        opening = [f"Too close to call on {len(tied)} of {len(models)} models."]
    usual = _usual(own, mostly, f"{len(own)}" if opening else f"{len(own)} of {len(models)} models")
    rest = [*others, *([] if mostly else tie)]
    ways: tuple[tuple[list[str], list[str]], ...] = (
        ([*opening, usual, *rest], []),
        ([*opening, usual], rest),
        ([usual], [*opening, *rest]),
    )
    said = [(" ".join(begun(sentence) for sentence in told), left) for told, left in ways]
    found, left = next((way for way in said if len(way[0].split()) <= LONGEST), said[-1])
    return found, [*left, *beside]


def _own(models: Sequence[Said]) -> list[Said]:
    """The models whose cheapest is that of most."""
    wins = Counter(said.who.cheapest["option"] for said in models).most_common()
    best = min((name for name, count in wins if count == wins[0][1]), key=str)
    return [said for said in models if said.who.cheapest["option"] == best]


def _usual(own: Sequence[Said], looks: bool, where: str) -> str:
    """What to take on most models; `where`: on how many."""
    title = the(own[0].who.cheapest["title"])
    against = {the(said.loser["title"]) for said in own if said.loser is not None}
    of = against.pop() if len(against) == 1 else NEXT
    gains = sorted(max(said.row["gain"], 1 / said.row["gain"]) for said in own)
    by = f"{_range(gains)} times cheaper than {of}"
    if looks:
        return f"{title} looks the cheapest on {where}: {by}."
    return f"Take {title} on {where}: {by}."


def _others(models: Sequence[Said], own: Sequence[Said], looks: str) -> list[str]:
    """Who is the cheapest on the other models, a sentence each."""
    rest: dict[str, list[str]] = {}
    for said in models:
        if said not in own:
            rest.setdefault(the(said.who.cheapest["title"]), []).append(said.model)
    if looks:
        return [f"On {listed(where)} {name} {looks}." for name, where in rest.items()]
    return [f"On {listed(where)} take {name}." for name, where in rest.items()]


def _speed(models: Sequence[Said], own: Sequence[Said]) -> list[str]:
    """How much longer the usual winner takes, and who is the fastest."""
    if not models[0].words.hours:
        return []
    longer = sorted(said.who.cheapest["hours"] / said.loser["hours"] for said in own if said.loser is not None)
    name, often = Counter(the(said.who.fastest["title"]) for said in models).most_common(1)[0]
    where = "all models" if often == len(models) else f"{often} of {len(models)} models"
    took = f"{_range(longer)} times as long" if longer[-1] >= 1 else f"{_range(longer)} of the time"
    there = f"On those {len(own)}" if len(own) > 1 else f"On {own[0].model}"
    return [f"{there} it takes {took}.", f"Fastest on {where} is {name}."]


def _range(values: Sequence[float]) -> str:
    low, high = times(values[0]), times(values[-1])
    return low if low == high else f"{low} to {high}"
