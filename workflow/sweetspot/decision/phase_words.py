"""What to take for a plan of phases, in plain words: from the columns of the table `plan_options` alone."""

import pandas as pd

from sweetspot.decision.answer_words import Facts, answer
from sweetspot.decision.certainty import TIE, amount
from sweetspot.decision.counted import begun, money, the, times
from sweetspot.decision.options import Row

AS_FAST = 1.001  # hours that differ by less are the same
AS_DEAR = 0.005  # shares of the money that differ by less are the same
# Quantities of the plan's tornado that are the work's or everybody's.
WORK = "jobs"
ONE_OF_ITS_KIND = "Nothing else does it and cannot be taken away."
ONE_OF_ALL = "Nothing else here does the work."


def phases_in_words(
    options: pd.DataFrame,
    code: str = "USD",
    reference: str | None = None,
    use: str = "",
    hangs: str = "",
    named: bool = False,
) -> list[str]:
    """For each plan the answer (at most 45 words), then short sentences: money, time, the fastest, who is taken away.

    options: comparison/plan_options.parquet; `code`: the currency that it is in. reference: the option that the study
    judges, told where another is the answer. use, hangs: sentences of the answer to the first plan, from which use on
    it holds and on what it hangs most. A plan after the first is named; the first where `named`.
    """
    said: list[str] = []
    for name, rows in options.groupby("workload", sort=False) if len(options) else ():
        known = rows[rows["usd"].notna()]
        best = known[known["is_best"].astype(bool)]
        if best.empty:
            said.append(f"Nothing here does the work of {name}.")
            continue
        found, left = answer(facts_of_plan(known, code, *(("", "") if said else (use, hangs))))
        title = f"{str(name).replace('-', ' ').capitalize()}: " if said or named else ""
        said += [f"{title}{found}", *left, *_beside(known, code, reference)]
    return said


def facts_of_plan(rows: pd.DataFrame, code: str, use: str = "", hangs: str = "") -> Facts:
    """What the answer says of one plan: its best option against the next that is no other way to take the same."""
    best, rival = _one(rows, "is_best"), _one(rows, "is_rival")
    assert best is not None
    if rival is None:
        why = ONE_OF_ITS_KIND if bool(best["persistent"]) and len(rows) > 1 else ONE_OF_ALL
        return Facts(the(best["title"]), bill=f"{money(best['usd'])} {code}", alone=why)
    return Facts(
        take=the(best["title"]),
        against=the(rival["title"]),
        times=max(1.0, float(rival["times_best"])),
        low=float(rival["times_best_low"]),
        high=float(rival["times_best_high"]),
        probability=float(best["probability"]),
        close=best["confidence"] == TIE,
        over=_span(best),
        use=use,
        hangs=hangs,
    )


def _span(row: Row) -> str:
    """Over what a plan is the cheaper: its months where they are known; a longer name is too much for one sentence."""
    months = row.get("months")
    return "the project" if months is None or pd.isna(months) else f"{float(months):g} months"


def project_in_words(row: Row) -> str:
    """What a plan's money is of: the project, with its months where they are known."""
    months = row.get("months")
    return "the project" if months is None or pd.isna(months) else f"the project of {float(months):g} months"


def pays_in_words(factor: float, until: float = float("nan")) -> str:
    """From which share of the plan's work what is bought pays, and until which (NaN: no end is known); nothing where it
    does at no more than all of it.
    """
    if pd.isna(factor) or factor >= 1:
        return ""
    least = f"{100 * factor:.2g} %" if factor > 0 else "less than 20 %"
    if pd.isna(until):
        return f"It pays from {least} of that work on."
    return f"It pays from {least} to {100 * until:.0f} % of that work."


def buying_in_words(factor: float) -> str:
    """From how many times the plan's work what the study judges would pay, where something else is the answer."""
    if pd.isna(factor):
        return "Even five times the work would not make buying pay."
    return f"Buying pays only from {times(factor)} times that work on." if factor > 1 else ""


def _one(rows: pd.DataFrame, name: str) -> Row | None:
    found = rows[rows[name].astype(bool)].to_dict("records")
    return found[0] if found else None


def _beside(rows: pd.DataFrame, code: str, reference: str | None) -> list[str]:
    """The sentences that go with the answer, the most important first."""
    best, rival = _one(rows, "is_best"), _one(rows, "is_rival")
    assert best is not None
    quick = _quickest(rows, best)
    told = [*_bill(best, code), *_use(best, quick)]
    if rival is not None:
        told.append(f"The next is {the(rival['title'])}: {_time_and_bill(rival, code)}.")
        told += ["Nothing is faster."] if _as_fast(rival, quick) and not _as_fast(best, quick) else []
    named = {row["option"] for row in (best, rival) if row is not None}
    if quick is not None and not any(_as_fast(row, quick) for row in (best, rival) if row is not None):
        named.add(quick["option"])
        told.append(f"Fastest is {the(quick['title'])}: {amount(quick['hours'])} hours for {_share(quick, best)}.")
    judged = rows[(rows["option"] == reference) & ~rows["option"].isin(named)].to_dict("records")
    told += [f"{the(row['title'])} costs {_share(row, best)}: {_time_and_bill(row, code)}." for row in judged]
    return [begun(sentence) for sentence in (*told, *_taken_away(rows, best, code))]


def _bill(best: Row, code: str) -> list[str]:
    """What the plan costs with the best, and what of it is due whether it works or not."""
    low, high = (money(best[f"usd_{end}"]) for end in ("low", "high"))
    ends = f" ({low} to {high})" if low != high else ""
    told = [f"The project costs {money(best['usd'])} {code} with {_it(best)}{ends}."]
    if best["usd_possession"] > 0:
        told.append(f"Of that {money(best['usd_possession'])} {code} are due, used or not.")
    return told


def _it(best: Row) -> str:
    return "it" if pd.isna(best["machines"]) or best["machines"] <= 1 else "them"


def _use(best: Row, quick: Row | None) -> list[str]:
    """How long the work takes with the best, and of how many hours that its owner plans."""
    hours, planned = amount(best["hours"]), best["planned_hours"]
    one = _it(best) == "it"
    if pd.isna(planned):
        told = [f"The work takes {hours} hours."]
    else:
        told = [f"{'It needs' if one else 'Each needs'} {hours} of its {amount(planned)} planned hours."]
    return [*told, "Nothing is faster."] if quick is not None and _as_fast(best, quick) else told


def _time_and_bill(row: Row, code: str) -> str:
    return f"{amount(row['hours'])} hours for {money(row['usd'])} {code}"


def _share(row: Row, best: Row) -> str:
    """The money of an option against the best's, in words: from twice on how many times it."""
    ratio = float(row["usd"]) / float(best["usd"])
    if ratio >= 2:
        return f"{times(ratio)} times the money"
    if abs(ratio - 1) < AS_DEAR:
        return "the same money"
    return f"{100 * abs(ratio - 1):.2g} % {'more' if ratio > 1 else 'less'} money"


def _quickest(rows: pd.DataFrame, best: Row) -> Row | None:
    """The fastest of those that compete with the best; None where all take as long."""
    field = rows[rows["persistent"].astype(bool)] if best["persistent"] else rows
    if field["hours"].max() <= AS_FAST * field["hours"].min():
        return None
    return field.sort_values(["hours", "usd"], kind="stable").to_dict("records")[0]


def _as_fast(row: Row, quick: Row | None) -> bool:
    return quick is not None and bool(row["hours"] <= AS_FAST * quick["hours"])


def _taken_away(rows: pd.DataFrame, best: Row, code: str) -> list[str]:
    """The cheapest that can be taken away, beside a best that cannot; what all can, where all can."""
    if not best["persistent"]:
        return ["Like all here, it can be taken away while it works."] if len(rows) > 1 else []
    taken = rows[~rows["persistent"].astype(bool)].sort_values("usd", kind="stable").to_dict("records")
    if not taken:
        return []
    return [f"Cheapest of those that can be taken away is {the(taken[0]['title'])}: {_time_and_bill(taken[0], code)}."]
