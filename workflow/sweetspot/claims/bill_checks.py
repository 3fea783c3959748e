"""Recompute the claims of the cost studies (`bill_claims`) from costs, bills, throughput and options."""

from collections.abc import Callable

import pandas as pd

from sweetspot.cells import BASES
from sweetspot.claims.lookup import CannotCheckError, Evidence, Recomputed, chosen
from sweetspot.decision.options import INTERRUPTIBLE
from sweetspot.study import bill_claims as kinds
from sweetspot.study.arithmetic import evaluate
from sweetspot.study.claim_base import Choice

LESS_IS_BETTER = ("usd", "hours")


def _arithmetic(claim: kinds.Arithmetic, evidence: Evidence) -> Recomputed:
    return Recomputed({"all": evaluate(claim.expression)}, claim.expression)


def _priced(table: pd.DataFrame, choice: Choice, workload: str, gpus: int | None) -> pd.DataFrame:
    """Rows of a costs or bills table for one offer and workload."""
    if table.empty:
        raise CannotCheckError("no bill")
    rows = table[table["workload"] == workload]
    rows = rows if gpus is None else rows[rows["gpus"] == gpus]
    if rows.empty:
        raise CannotCheckError(f"no bill of workload {workload}" + (f" on {gpus} devices" if gpus else ""))
    return chosen(rows.assign(persistent=~rows["purchase"].isin(INTERRUPTIBLE)), choice)


def _total(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> pd.Series:
    rows = _priced(evidence.costs, choice, workload, gpus).dropna(subset="usd")
    if rows.empty:
        raise CannotCheckError(f"workload {workload} has no bill there")
    return rows.sort_values("usd", kind="stable").iloc[0]


def _lines(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> pd.Series:
    """USD by line of one bill."""
    rows = _priced(evidence.bills, choice, workload, gpus)
    return rows.groupby("line")["usd"].sum()


def _bill(claim: kinds.Bill, evidence: Evidence) -> Recomputed:
    def value(choice: Choice) -> float:
        if claim.line is None:
            return float(_total(choice, claim.workload, claim.gpus, evidence)["usd"])
        lines = _lines(choice, claim.workload, claim.gpus, evidence)
        if claim.line not in lines.index:
            raise CannotCheckError(f"the bill has no line {claim.line!r}; its lines are {', '.join(lines.index)}")
        return float(lines[claim.line])

    usd = value(claim.of) - (value(claim.minus) if claim.minus else 0.0)
    if claim.line is not None or claim.minus is not None:
        return Recomputed({"all": usd})
    lines = _lines(claim.of, claim.workload, claim.gpus, evidence)
    return Recomputed({"all": usd}, " + ".join(f"{name} {amount:.4g}" for name, amount in lines.items()))


def _idle(claim: kinds.Idle, evidence: Evidence) -> Recomputed:
    bill = float(_total(claim.of, claim.workload, claim.gpus, evidence)["usd"])
    busy = claim.utilisation * (claim.cards_used or claim.cards) / claim.cards
    return Recomputed({"all": bill * (1 - busy)}, f"{1 - busy:.0%} of {bill:.4g} USD")


def _recoup(claim: kinds.Recoup, evidence: Evidence) -> Recomputed:
    values = {}
    for model, rows in evidence.models(claim.models).items():
        own, rented = chosen(rows, claim.of).iloc[0], chosen(rows, claim.against).iloc[0]
        offers = evidence.offers.set_index(["price_list", "instance", "purchase"])
        capex = offers["capex_usd"][own["price_list"], own["instance"], own["purchase"]]
        if pd.isna(capex):
            raise CannotCheckError(f"{own['instance']} has no purchase price")
        saved = rented["usd_per_hour"] * own["images_per_s"] / rented["images_per_s"]
        values[model] = float(capex / (claim.hours_per_day * saved))
    return Recomputed(values, "electricity and maintenance are not counted, as in the text")


def _throughput_ratio(claim: kinds.ThroughputRatio, evidence: Evidence) -> Recomputed:
    rates = evidence.throughput
    if rates.empty:
        raise CannotCheckError("no throughput")
    rates = rates[rates["status"] == "ok"].assign(rank=rates["basis"].map(BASES.index))
    best = rates.sort_values(["rank", "images_per_s"], ascending=[True, False], kind="stable")
    rates = best.drop_duplicates(["instance", "model"])
    table = rates.pivot(index="model", columns="instance", values="images_per_s")
    for name in (claim.instance, claim.to):
        if name not in table.columns:
            raise CannotCheckError(f"no throughput of {name}")
    ratio = (table[claim.instance] / table[claim.to]).dropna()
    values = {model: float(value) for model, value in ratio.items() if model in (claim.models or ratio.index)}
    if not values:
        raise CannotCheckError(f"no model that both {claim.instance} and {claim.to} have")
    return Recomputed(values)


def _wins(claim: kinds.Wins, evidence: Evidence) -> Recomputed:
    won, lost = [], []
    for model, rows in evidence.models(claim.models).items():
        one = chosen(rows, claim.of)
        others = chosen(rows, claim.to)
        others = others[~others["option"].isin(one["option"])]
        if others.empty:
            raise CannotCheckError(f"nothing to compare with for {model}")
        if claim.measure in LESS_IS_BETTER:
            better = one[claim.measure].min() < others[claim.measure].min()
        else:
            better = one[claim.measure].max() > others[claim.measure].max()
        (won if better else lost).append(model)
    note = f"better for {', '.join(won) or 'none'}" + (f"; not for {', '.join(lost)}" if lost else "")
    return Recomputed({"all": float(len(won))}, note)


BILL_CHECKS: dict[type, Callable[..., Recomputed]] = {
    kinds.Arithmetic: _arithmetic,
    kinds.Bill: _bill,
    kinds.Idle: _idle,
    kinds.Recoup: _recoup,
    kinds.ThroughputRatio: _throughput_ratio,
    kinds.Wins: _wins,
}
