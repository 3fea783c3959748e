"""Recompute the claims of the cost studies (`study.bill_claims`) from costs, bills, throughput and options."""

from collections.abc import Callable

from sweetspot.cells import BASES
from sweetspot.claims.lookup import (
    LEAST_FIRST,
    CannotCheckError,
    Evidence,
    Recomputed,
    Row,
    best,
    chosen,
    known,
    number,
    with_persistence,
)
from sweetspot.study import bill_claims as kinds
from sweetspot.study.arithmetic import evaluate
from sweetspot.study.claim_base import Choice


def _arithmetic(claim: kinds.Arithmetic, evidence: Evidence) -> Recomputed:
    return Recomputed({"all": evaluate(claim.expression)}, claim.expression)


def _priced(table: str, choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> list[Row]:
    """Rows of `costs` or `bills` for one offer and workload."""
    rows = [row for row in evidence.rows(table) if row["workload"] == workload and gpus in (None, row["gpus"])]
    if not rows:
        raise CannotCheckError(f"no bill of workload {workload}" + (f" on {gpus} devices" if gpus else ""))
    return chosen(with_persistence(rows), choice)


def _total(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> float:
    rows = [row["usd"] for row in _priced("costs", choice, workload, gpus, evidence) if known(row["usd"])]
    if not rows:
        raise CannotCheckError(f"workload {workload} has no bill there")
    return min(rows)


def _lines(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> dict[str, float]:
    """USD by line of one bill, in the order of the lines' names."""
    lines: dict[str, float] = {}
    for row in _priced("bills", choice, workload, gpus, evidence):
        lines[row["line"]] = lines.get(row["line"], 0.0) + row["usd"]
    return dict(sorted(lines.items()))


def _bill(claim: kinds.Bill, evidence: Evidence) -> Recomputed:
    def value(choice: Choice) -> float:
        if claim.line is None:
            return _total(choice, claim.workload, claim.gpus, evidence)
        lines = _lines(choice, claim.workload, claim.gpus, evidence)
        if claim.line not in lines:
            raise CannotCheckError(f"the bill has no line {claim.line!r}; its lines are {', '.join(lines)}")
        return lines[claim.line]

    usd = value(claim.of) - (value(claim.minus) if claim.minus else 0.0)
    if claim.line is not None or claim.minus is not None:
        return Recomputed({"all": usd})
    lines = _lines(claim.of, claim.workload, claim.gpus, evidence)
    return Recomputed({"all": usd}, " + ".join(f"{name} {amount:.4g}" for name, amount in lines.items()))


def _idle(claim: kinds.Idle, evidence: Evidence) -> Recomputed:
    bill = _total(claim.of, claim.workload, claim.gpus, evidence)
    busy = claim.utilisation * (claim.cards_used or claim.cards) / claim.cards
    return Recomputed({"all": bill * (1 - busy)}, f"{1 - busy:.0%} of {bill:.4g} USD")


def _recoup(claim: kinds.Recoup, evidence: Evidence) -> Recomputed:
    values = {}
    for model, rows in evidence.models(claim.models).items():
        own, rented = chosen(rows, claim.of)[0], chosen(rows, claim.against)[0]
        saved = rented["usd_per_hour"] * own["images_per_s"] / rented["images_per_s"]
        values[model] = number(own, "capex_usd") / (claim.hours_per_day * saved)
    return Recomputed(values, "electricity and maintenance are not counted, as in the text")


def _throughput_ratio(claim: kinds.ThroughputRatio, evidence: Evidence) -> Recomputed:
    one, other = (_rates(name, evidence) for name in (claim.instance, claim.to))
    values = {
        model: one[model] / other[model]
        for model in sorted(one.keys() & other.keys())
        if not claim.models or model in claim.models
    }
    if not values:
        raise CannotCheckError(f"no model that both {claim.instance} and {claim.to} have")
    return Recomputed(values)


def _rates(instance: str, evidence: Evidence) -> dict[str, float]:
    """Images/s of a machine by model: the best evidence, then the fastest."""
    rows = [row for row in evidence.rows("throughput") if row["instance"] == instance and row["status"] == "ok"]
    rows = [row for row in rows if known(row["images_per_s"])]
    if not rows:
        raise CannotCheckError(f"no throughput of {instance}")
    ordered = sorted(rows, key=lambda row: (BASES.index(row["basis"]), -row["images_per_s"]), reverse=True)
    return {row["model"]: row["images_per_s"] for row in ordered}


def _wins(claim: kinds.Wins, evidence: Evidence) -> Recomputed:
    won: list[str] = []
    lost: list[str] = []
    for model, rows in evidence.models(claim.models).items():
        one = chosen(rows, claim.of)
        its_own = {row["option"] for row in one}
        others = [row for row in chosen(rows, claim.to) if row["option"] not in its_own]
        if not others:
            raise CannotCheckError(f"nothing to compare with for {model}")
        figure, rival = best(one, claim.measure)[claim.measure], best(others, claim.measure)[claim.measure]
        better = figure < rival if claim.measure in LEAST_FIRST else figure > rival
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
