"""Mixes in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.answer_words import Facts, answer
from sweetspot.decision.certainty import TIE, amount, percent
from sweetspot.decision.counted import begun, listed, money, the
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import BOUGHT, RENTED, THERE, Mix
from sweetspot.study.titles import model_title

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


def purchase_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to as a machine is called where it is one: `office box ...`, `2 × office box ...`."""
    title = bought_title(counts, problem, words)
    if title is not None and sum(counts) - sum(problem.there) == 1:
        return title
    return bought_in_words(counts, problem, words)


def bought_title(counts: Sequence[int], problem: Problem, words: Words) -> str | None:
    """The name of the machine that is bought or committed to; None where there is none, or more than one kind."""
    kinds = [kind.name for kind, count in zip(problem.held, counts, strict=True) if count > kind.there]
    return words.title(kinds[0]) if len(kinds) == 1 else None


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


def mixes_in_words(
    mixes: pd.DataFrame,
    sources: pd.DataFrame,
    deadlines: pd.DataFrame,
    code: str = "USD",
    use: str = "",
    hangs: str = "",
) -> list[str]:
    """For each workload the answer (at most 45 words), then a short sentence each: money, who does what, deadlines.

    `code`: the currency that the tables are in. `use`, `hangs`: sentences of the answer, from which use on it holds and
    on what it hangs most, where they are known.
    """
    said: list[str] = []
    for name, rows in mixes.groupby("workload", sort=False):
        best = rows.iloc[0]
        if best["status"] != "ok":
            said += [f"No mix does the work of {best['workload']}.", *_sentences(best["reasons"])]
        else:
            found, left = answer(_facts(rows, code, use, hangs))
            said += [found, *left, *_money(rows, code)]
        said += _who(best, sources[(sources["workload"] == name) & (sources["mix"] == best["mix"])])
        alone = rows[rows["kind"] == THERE]
        if len(alone) and alone["status"].iloc[0] != "ok":
            said += ["What is there cannot do it alone.", *_sentences(alone["reasons"].iloc[0])]
        due = deadlines[deadlines["workload"] == name] if len(deadlines) else deadlines
        said += [sentence for _, row in due.iterrows() for sentence in _urgent(row, code)]
    return said


def _sentences(reasons: Sequence[str]) -> list[str]:
    """Why a mix does not do the work, a sentence each."""
    return [f"{part[:1].upper()}{part[1:]}." for part in reasons]


def rivals_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Pure options that do the work and are not the best itself, the cheapest first."""
    return rows[(rows["kind"] != "best") & ~rows["same_as_best"].astype(bool) & rows["usd_per_month"].notna()]


def _facts(rows: pd.DataFrame, code: str, use: str, hangs: str) -> Facts:
    """What the answer says: what to have against the cheapest pure option that is not the same."""
    best, rivals = rows.iloc[0], rivals_of(rows)
    if rivals.empty:
        return Facts(_have(best), bill=f"{amount(best['usd_per_month'])} {code} a month")
    rival = rivals.iloc[0]
    names = [_have(best), _have(rival)]
    if names[0] == names[1]:
        names = [str(best["title"]), str(rival["title"])]
    ends = (rival["times_best_low"], rival["times_best_high"])
    return Facts(
        take=names[0],
        against=names[1],
        times=max(1.0, float(rival["times_best"])),
        low=float(ends[0]),
        high=float(ends[1]),
        probability=float(best["probability"]),
        close=best["confidence"] == TIE,
        use=use,
        hangs=hangs,
    )


def _have(mix: pd.Series) -> str:
    """What is had in a mix: what is bought, else who is rented, else what is there."""
    if mix["bought"]:
        return the(str(mix["bought_title"])) if mix["boxes"] == 1 else str(mix["bought"])
    return "what is there" if pd.isna(mix["main_rented_title"]) else the(str(mix["main_rented_title"]))


def _money(rows: pd.DataFrame, code: str) -> list[str]:
    """What the best costs a month, and the next; what a mix saves against the best option without one."""
    best, rivals = rows.iloc[0], rivals_of(rows)
    ends = f"{amount(best['usd_per_month_low'])} to {amount(best['usd_per_month_high'])}"
    rest = "" if pd.isna(best["main_rented_title"]) else f", the rest on {the(str(best['main_rented_title']))}"
    mix = f"{_have(best)}{rest}" if best["bought"] else best["title"]
    told = [f"With {mix}, the month costs {amount(best['usd_per_month'])} {code} ({ends})."]
    if rivals.empty:
        return told
    rival = rivals.iloc[0]
    told.append(f"With {the(str(rival['title']))} it costs {amount(rival['usd_per_month'])} {code}.")
    if not rows["same_as_best"].astype(bool).any():
        pure = rows[(rows["kind"] != "best") & rows["usd_per_month"].notna()].iloc[0]
        told.append(f"The mix saves {amount(pure['usd'] - best['usd'])} {code} over {best['months']:g} months.")
    return told


def _who(best: pd.Series, own: pd.DataFrame) -> list[str]:
    """Who does how much of the work."""
    shown = own[own["device_hours"] >= LITTLE * best["work_device_hours"]]
    told = [f"In the cheapest mix the work takes {amount(best['work_device_hours'])} device-hours a month on average."]
    for _, row in shown.sort_values("device_hours", ascending=False).iterrows():
        used = f", {100 * row['use']:.0f} % of its time" if pd.notna(row["use"]) else ""
        told.append(begun(f"{the(row['title'])} does {amount(row['device_hours'])} of them{used}."))
    left = best["work_device_hours"] - shown["device_hours"].sum()
    return [*told, f"Others do {amount(left)}."] if left > 0.5 else told


def _urgent(row: pd.Series, code: str) -> list[str]:
    job = f"a result of {model_title(row['class'])} within {row['within_hours']:g} h"
    if pd.isna(row["option"]):
        return [f"There is no way to {job}: {row['status']}."]
    took = f"{amount(row['hours'])} h for {money(row['usd'])} {code}"
    sure = "" if row["p_in_time"] > 0.99 else f"It is in time in {percent(row['p_in_time'])} of cases. "
    return [
        f"For {job} take {the(row['title'])}: {took}.",
        f"{sure}Of those that nobody hurries, {percent(row['share_in_time'])} are in time.",
    ]
