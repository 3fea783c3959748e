"""Mixes in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.certainty import TIE, amount, percent
from sweetspot.decision.counted import listed, money, the
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import BOUGHT, RENTED, THERE, Mix

if TYPE_CHECKING:
    from sweetspot.decision.mix_problem import Posed


LITTLE = 0.01  # of the work: sources that do less are not named


@dataclass(frozen=True)
class Words:
    """Names for people of options, and of machines by instance."""

    titles: Mapping[str, str]
    machines: Mapping[str, str]

    def title(self, option: str) -> str:
        """The name of an option; one without has its key."""
        return self.titles.get(option, option)

    def machine(self, instance: str) -> str:
        """The name of a machine; one without has its key."""
        return self.machines.get(instance, instance)


def bought_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to: `2 x office box ...`; empty for nothing."""
    more = [(kind, count - kind.there) for kind, count in zip(problem.held, counts, strict=True)]
    return listed([f"{count} × {words.title(kind.name)}" for kind, count in more if count > 0])


def mix_title(one: Mix, posed: "Posed", main: str | None, words: Words) -> str:
    """A mix in words: what is bought, and who does the rest."""
    bought, rest = bought_in_words(one.counts, one.problem, words), "" if main is None else words.title(main)
    there = any(posed.drawn.there)
    if one.kind == THERE:
        return "what is there, alone"
    if one.kind == RENTED:
        return f"{words.title(one.source)} for the rest" if there else f"all on {the(words.title(one.source))}"
    if bought:
        return f"{bought}, the rest on {the(rest)}" if rest else bought
    if one.kind == BOUGHT or not rest:
        return "what is there"
    return f"nothing bought, the rest on {the(rest)}" if there else f"nothing bought, all on {the(rest)}"


def mixes_in_words(mixes: pd.DataFrame, sources: pd.DataFrame, deadlines: pd.DataFrame, code: str = "USD") -> list[str]:
    """For each workload two to four sentences: the best mix against the best pure options, who does what, deadlines.

    `code`: the currency that the tables are in.
    """
    said: list[str] = []
    for name, rows in mixes.groupby("workload", sort=False):
        best = rows.iloc[0]
        said.append(_best(best, rows, code))
        own = sources[(sources["workload"] == name) & (sources["mix"] == best["mix"])]
        said.append(_who(best, own))
        alone = rows[rows["kind"] == THERE]
        if len(alone) and alone["status"].iloc[0] != "ok":
            said.append(f"What is there, alone, {alone['status'].iloc[0].replace('cannot', 'cannot do it', 1)}.")
        due = deadlines[deadlines["workload"] == name] if len(deadlines) else deadlines
        said += [_urgent(row, code) for _, row in due.iterrows()]
    return said


def _best(best: pd.Series, rows: pd.DataFrame, code: str) -> str:
    if best["status"] != "ok":
        return f"The work of {best['workload']}: no mix does it; {best['status']}."
    span = f"{amount(best['usd_per_month_low'])} to {amount(best['usd_per_month_high'])}, 90 %"
    first = f"{best['title']}: {amount(best['usd_per_month'])} {code} a month ({span})"
    rivals = rows[(rows["kind"] != "best") & ~rows["same_as_best"].astype(bool) & rows["usd_per_month"].notna()]
    if rivals.empty:
        return f"{first}; nothing else does the work."
    rival = rivals.iloc[0]
    more = f"{amount(rival['usd_per_month'])} {code} a month, {100 * (rival['times_best'] - 1):.0f} % more"
    sure = f"{percent(best['probability'])} that the first is the cheaper"
    if best["confidence"] == TIE:
        first = f"Too close to call: {first}"
    else:
        sure = f"{best['confidence']}, {sure}"
    one = rows[rows["same_as_best"].astype(bool)]
    saved = ""
    if one.empty:
        pure = rows[(rows["kind"] != "best") & rows["usd_per_month"].notna()].iloc[0]
        left = (pure["usd"] - best["usd"], best["months"])
        saved = f" The mix saves {amount(left[0])} {code} over {left[1]:g} months against that."
    return f"{first}, against {rival['title']}: {more} ({sure}).{saved}"


def _who(best: pd.Series, own: pd.DataFrame) -> str:
    parts, shown = [], own[own["device_hours"] >= LITTLE * best["work_device_hours"]]
    for _, row in shown.sort_values("device_hours", ascending=False).iterrows():
        used = f" ({100 * row['use']:.0f} % of its hours)" if pd.notna(row["use"]) else ""
        parts.append(f"{the(row['title'])} does {amount(row['device_hours'])}{used}")
    left = best["work_device_hours"] - shown["device_hours"].sum()
    parts += [f"others do {amount(left)}"] if left > 0.5 else []
    return f"Of {amount(best['work_device_hours'])} device-hours a month {listed(parts)}."


def _urgent(row: pd.Series, code: str) -> str:
    job = f"A result of {row['class']} within {row['within_hours']:g} h"
    if pd.isna(row["option"]):
        return f"{job}: {row['status']}."
    sure = "" if row["p_in_time"] > 0.99 else f", in time in {percent(row['p_in_time'])} of the draws"
    return (
        f"{job}: {the(row['title'])}, {amount(row['hours'])} h, {money(row['usd'])} {code}{sure}; without asking "
        f"for it {percent(row['share_in_time'])} of these jobs make it."
    )
