"""The short sentences beside the answer, each with one thing: kinds of cheapest, fastest, in time, other prices."""

from collections import Counter
from collections.abc import Sequence

from sweetspot.decision.contenders import cost
from sweetspot.decision.counted import the
from sweetspot.decision.options import Row, same_machine
from sweetspot.decision.said import Said, span

AS_FAST = 1.001  # hours that differ by less are the same


def of_which_model(models: Sequence[Said]) -> list[str]:
    """Of which of several models the figures of the answer are, and against whom."""
    said = models[0]
    if len(models) == 1 or said.loser is None:
        return []
    which = "the clearest" if said.row["gain"] < 1 else "the closest"
    return [f"That is on {said.model}, {which} of {len(models)} models, against {the(said.loser['title'])}."]


def cheapest_kinds(models: Sequence[Said]) -> list[str]:
    """The cheapest that cannot be taken away, and the cheapest of all, where they are two."""
    who = models[0].who
    if who.stays == 0:
        return ["Like all here, it can be taken away while it works."] if who.size > 1 else []
    if who.stays == who.size:
        return []
    if not who.cheapest["persistent"]:
        return [f"Only {the(who.reference['title'])} cannot be taken away."]
    others = _of_all(models)
    if who.stays == 1:
        return ["It is the only one that cannot be taken away.", *others]
    if not others:
        return ["Nothing that can be taken away is cheaper."]
    kind = "looks" if models[0].close else "is"
    return [f"It {kind} the cheapest that cannot be taken away.", *others]


def _of_all(models: Sequence[Said]) -> list[str]:
    taken = [said for said in models if said.who.of_all["option"] != said.who.cheapest["option"]]
    if not taken:
        return []
    best = taken[0].who.of_all
    often = sum(said.who.of_all["option"] == best["option"] for said in models)
    where = f" on {often} of {len(models)} models" if len(models) > 1 else ""
    on = f" on {taken[0].model}" if len(models) > 1 else ""
    pair = [f"{taken[0].time_and_bill(row)}" for row in (best, taken[0].who.cheapest)]
    return [f"Cheapest of all{where} is {the(best['title'])}, which can be taken away.",
            f"It takes {pair[0]}{on}, against {pair[1]}."]  # fmt: skip


def fastest(said: Said) -> list[str]:
    """The fastest, where machines differ in speed."""
    best, quick = said.who.cheapest, said.who.fastest
    if said.who.machines < 2 or not said.words.hours or said.loser is None:
        return []
    if best["hours"] <= AS_FAST * quick["hours"]:
        return ["It is also the fastest."]
    return [f"Fastest is {the(quick['title'])}: {said.time_and_bill(quick)}."]


def in_time(said: Said) -> list[str]:
    """For each deadline who is in time for the least money, where that is not the answer itself."""
    found = []
    for hours in sorted(said.deadlines):
        kept = [row for row in said.who.every if row["hours"] <= hours and (row["persistent"] or not said.who.stays)]
        best = min(kept, key=lambda row: cost(row, said.who.billed), default=None)
        if best is None:
            found.append(f"Nothing finishes within {span(hours)}.")
        elif best["option"] == said.who.fastest["option"] != said.who.cheapest["option"]:
            found.append(f"Within {span(hours)} take the fastest.")
        elif best["option"] != said.who.cheapest["option"]:
            found.append(f"Within {span(hours)} take {the(best['title'])}: {said.time_and_bill(best)}.")
    return found


def place(said: Said) -> list[str]:
    """The reference's place in speed, where machines differ in it."""
    who = said.who
    if who.machines < 2 or not said.words.hours or said.loser is None:
        return []
    return [f"{the(who.reference['title'])} is number {who.place} of {who.machines} machines in speed."]


def by_other_lists(said: Said) -> list[str]:
    """What the options named cost under the price lists that the answer leaves out."""
    found = []
    for named in _told_of(said):
        others = [row for row in said.who.variants if same_machine(row, named)]
        found += [f"There are other prices of {the(named['title'])}."] if others else []
        found += [f"By the prices of “{row['price_list_title']}” it costs {said.bill(row)}." for row in others]
    return found


def _told_of(said: Said) -> list[Row]:
    return list({row["option"]: row for row in (said.who.cheapest, said.who.of_all)}.values())


def left_out(models: Sequence[Said]) -> list[str]:
    """What would be cheaper still under the price lists that the answer leaves out."""
    rows = [said.who.left_out for said in models if said.who.left_out is not None]
    if not rows:
        return []
    name, often = Counter(row["title"] for row in rows).most_common(1)[0]
    where = f" on {often} of {len(models)} models" if len(models) > 1 else ""
    declared = any(row["title"] == name and row["throughput_basis"] == "equivalent" for row in rows)
    like = ["Its speed is declared equal to that of another machine."] if declared else []
    return [f"Cheaper still{where}, at prices that the answer leaves out: {the(name)}.", *like]
