"""The answer in sentences: two that answer, and what else must be said. Every sentence says one thing.

All that is said comes from the rows of the headline and from the contenders; machines have their titles, with an
article where these are common nouns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.decision.certainty import TIE, amount, percent
from sweetspot.decision.contenders import Contenders
from sweetspot.decision.counted import begun, counted, listed, the, times
from sweetspot.decision.grounds import grounds
from sweetspot.decision.hour_and_work import hour_and_work
from sweetspot.decision.options import Row, same_machine
from sweetspot.decision.owning_words import condition
from sweetspot.decision.said import Said

EQUAL = 1.03  # a multiple nearer to 1 than this is none


def sentences(models: Sequence[Said], several: bool) -> tuple[str, str, list[str]]:
    """The two sentences of the answer, and the further ones.

    `models`: least favourable to the reference first; one alone is spoken of by its name where `several` is true and
    it trains.
    """
    first = models[0]
    winners = Counter(said.who.cheapest["option"] for said in models)
    if len(winners) > 1:
        opening, told = _divided(models), [_divided_speed(models), *_close(models)]
    else:
        opening = _opening(first, len(models), several and first.row["counts"] == "train")
        told = [_of_all(models), _by_hour(first), condition(first), _place(first)]
    told.append(hour_and_work(first.who, first.words))
    told += [*_variants(first), _left_out(models), *grounds(_weak(models), speeds=bool(first.words.hours))]
    second, *more = [begun(sentence) for sentence in told if sentence] or [""]
    return begun(opening), second, more


def no_answer(offers: int, figures: int) -> str:
    """The sentence where no option has both a price and a figure, by how many there are of each."""
    if not offers:
        return "No answer yet: nothing here has a price."
    if not figures:
        return "No answer yet: no machine here has a speed, measured or published."
    return "No answer yet: no machine has both a price and a speed at the batch that is asked for."


def _opening(said: Said, models: int, named: bool) -> str:
    """The first sentence where one option wins on all models."""
    who, row = said.who, said.row
    on = f" on {row['model']}" if named or models > 1 else ""
    if said.loser is None:
        return (
            f"Only {the(who.cheapest['title'])} has both a price and a figure: {said.bill(who.cheapest)}, and no rival."
        )
    if row["confidence"] == TIE:
        where = f"{on}, the least favourable of {models} models" if models > 1 else on
        equal = 1 / EQUAL < row["gain"] < EQUAL
        gap = "costs about as much as" if equal else f"looks {_multiple(row)} times cheaper than"
        return (
            f"Too close to call{where}: {the(who.cheapest['title'])} {gap} {the(said.loser['title'])}{_evidence(row)}."
        )
    if who.stays == 1 and who.alternative is not None and not who.alternative["persistent"]:
        return _alone(said, on)
    if pd.notna(who.cheapest["month_usd"]) and who.by_hour is not None:
        return _by_month(said)
    cheapest = f"{the(who.cheapest['title'])} is the cheapest{_kind(who)}"
    if row["counts"] != "train":
        cheapest += f", {said.bill(who.cheapest)}"
    cheapest += f" on all {models} models:{on}, the least favourable," if models > 1 else f"{on}:"
    against = "the next, " if who.runner_up is not None and said.loser["option"] == who.runner_up["option"] else ""
    return f"{cheapest} {_multiple(row)} times cheaper than {against}{the(said.loser['title'])}{_evidence(row)}."


def _kind(who: Contenders) -> str:
    """Among which the winner is the cheapest, where some can be taken away and the answer minds."""
    if 0 < who.stays < who.size:
        return " that cannot be taken away"
    return ", and like all here can be taken away" if who.stays == 0 else ""


def _alone(said: Said, on: str) -> str:
    box, rival = said.who.reference, said.who.alternative
    assert rival is not None
    word = "dearer" if said.who.cheapest is box else "cheaper"
    return (
        f"{the(box['title'])} is the only one that cannot be taken away; {the(rival['title'])}, which can, is "
        f"{_multiple(said.row)} times {word}{on}{_evidence(said.row)}."
    )


def _by_month(said: Said) -> str:
    """A winner that is paid for the whole month is the cheapest only in use all month."""
    best, hourly = said.who.cheapest, said.who.by_hour
    assert hourly is not None
    often = counted(round(best["month_usd"] / hourly["usd"]), "bill", "bills")
    if said.row["counts"] != "train":
        often = counted(round(best["month_usd"] / hourly["usd"]), said.row["counts"], said.words.many)
    return (
        f"{the(best['title'])} is the cheapest, {said.bill(best)}, if it works all month: the month costs "
        f"{said.words.money.words(best['month_usd'])} whether it works or not, as much as {often} on "
        f"{the(hourly['title'])}."
    )


def _multiple(row: Mapping[str, Any]) -> str:
    """How many times cheaper the winner is: a gain below 1 is turned over."""
    return times(max(row["gain"], 1 / row["gain"]))


def _evidence(row: Mapping[str, Any]) -> str:
    """Interval and probability behind a multiple, in brackets; nothing where the figures leave no room."""
    wins = row["gain"] >= 1
    low, high = (row["gain_low"], row["gain_high"]) if wins else (1 / row["gain_high"], 1 / row["gain_low"])
    if times(low) == times(high):
        return ""
    probability = row["p_cheaper"] if wins else 1 - row["p_cheaper"]
    return f" ({times(low)} to {times(high)}; probability {percent(probability)})"


def _of_all(models: Sequence[Said]) -> str:
    """The cheapest of all, where that is one that can be taken away."""
    taken = [said for said in models if said.who.of_all["option"] != said.who.cheapest["option"]]
    if not taken:
        return ""
    best, winner = taken[0].who.of_all, taken[0].who.cheapest
    often = sum(said.who.of_all["option"] == best["option"] for said in models)
    where = f" on {often} of {len(models)} models" if len(models) > 1 else ""
    on = f" on {taken[0].row['model']}" if len(models) > 1 else ""
    return (
        f"Cheapest of all{where} is {the(best['title'])}, which can be taken away: "
        f"{_bill_and_time(models[0], best)}{on}, against {_bill_and_time(models[0], winner)}."
    )


def _bill_and_time(said: Said, option: Row) -> str:
    return f"{said.words.money.words(option['usd'])} and {amount(option['hours'])} h"


def _by_hour(said: Said) -> str:
    """The cheapest that is not paid by the month, and the fastest."""
    hourly, fastest = said.who.by_hour, said.who.fastest
    if hourly is None:
        return ""
    told = f"By the hour the cheapest is {the(hourly['title'])}, {_bill_and_time(said, hourly)}"
    if fastest["option"] == hourly["option"]:
        return f"{told}, and the fastest."
    fast = f"{the(fastest['title'])}, {amount(fastest['hours'])} h for {said.words.money.words(fastest['usd'])}"
    return f"{told}; the fastest is {fast}."


def _place(said: Said) -> str:
    """The reference's place in speed, where machines differ in it."""
    who = said.who
    if who.machines < 2 or not said.words.hours or said.loser is None:
        return ""
    return f"{the(who.reference['title'])} is number {who.place} of {who.machines} machines in speed."


def _variants(said: Said) -> list[str]:
    """What the options named cost under the price lists that the answer leaves out."""
    found = []
    for named in list({row["option"]: row for row in (said.who.cheapest, said.who.of_all)}.values()):
        others = [
            f"{said.bill(row)} ({row['price_list_title']})" for row in said.who.variants if same_machine(row, named)
        ]
        it = "it" if named["option"] == said.who.cheapest["option"] else the(named["title"])
        if others:
            found.append(f"By other price lists {it} costs {listed(others)}.")
    return found


def _left_out(models: Sequence[Said]) -> str:
    """What would be cheaper still under the price lists that the answer leaves out."""
    rows = [said.who.left_out for said in models if said.who.left_out is not None]
    if not rows:
        return ""
    name, often = Counter(row["title"] for row in rows).most_common(1)[0]
    where = f" on {often} of {len(models)} models" if len(models) > 1 else ""
    return f"Cheaper still{where}, at prices that the answer leaves out: {the(name)}."


def _divided(models: Sequence[Said]) -> str:
    """The first sentence where models have different winners."""
    wins = Counter(said.who.cheapest["option"] for said in models).most_common()
    best = min((name for name, count in wins if count == wins[0][1]), key=str)
    own = [said for said in models if said.who.cheapest["option"] == best]
    title = the(own[0].who.cheapest["title"])
    against = {the(said.loser["title"]) for said in own if said.loser is not None}
    of = against.pop() if len(against) == 1 else "the next"
    shares = sorted(min(said.row["gain"], 1 / said.row["gain"]) for said in own)
    close = sum(said.row["confidence"] == TIE for said in models)
    rest: dict[str, list[str]] = {}
    for said in models:
        if said not in own:
            rest.setdefault(the(said.who.cheapest["title"]), []).append(said.row["model"])
    verb = "is" if 2 * close <= len(models) else "looks"
    others = "; ".join(f"on {listed(where)} {name} {verb}" for name, where in rest.items())
    opening = f"Too close to call on {close} of {len(models)} models: " if verb == "looks" else ""
    return (
        f"{opening}{title} {verb} the cheapest on {len(own)} of {len(models)} models, at {_range(shares)} of the "
        f"cost of {of}; {others}."
    )


def _divided_speed(models: Sequence[Said]) -> str:
    """How much longer the usual winner takes, and who is the fastest."""
    wins = Counter(said.who.cheapest["option"] for said in models).most_common()
    best = min((name for name, count in wins if count == wins[0][1]), key=str)
    own = [said for said in models if said.who.cheapest["option"] == best]
    longer = sorted(said.who.cheapest["hours"] / said.loser["hours"] for said in own if said.loser is not None)
    fastest, often = Counter(the(said.who.fastest["title"]) for said in models).most_common(1)[0]
    where = "all" if often == len(models) else f"{often} of {len(models)} models"
    return f"On those {len(own)} it takes {_range(longer)} times as long; the fastest is {fastest} on {where}."


def _close(models: Sequence[Said]) -> list[str]:
    """On which models the order is not sure."""
    close = [said.row["model"] for said in models if said.row["confidence"] == TIE]
    return [f"Too close to call on {listed(close)}."] if close else []


def _range(values: Sequence[float]) -> str:
    low, high = times(values[0]), times(values[-1])
    return low if low == high else f"{low} to {high}"


def _weak(models: Sequence[Said]) -> list[Row]:
    """The options whose grounds are told: those that are compared, on the model of the answer."""
    who = models[0].who
    compared = (who.reference, who.alternative, who.by_hour)
    return list({row["option"]: row for row in compared if row is not None}.values())
