"""Recompute the claims of the cost studies (`study.bill_claims`) from costs, bills, throughput and options."""

from collections.abc import Callable, Mapping, Sequence

from sweetspot.cells import BASES
from sweetspot.claims.lookup import (
    LEAST_FIRST,
    TIMES,
    CannotCheckError,
    Evidence,
    Figure,
    Recomputed,
    Row,
    best,
    chosen,
    known,
    number,
    with_persistence,
)
from sweetspot.claims.resting import sourced, speeds
from sweetspot.study import bill_claims as kinds
from sweetspot.study.arithmetic import spread
from sweetspot.study.claim_base import Choice


def _arithmetic(claim: kinds.Arithmetic, evidence: Evidence) -> Recomputed:
    found = spread(claim.expression)
    words = claim.expression.replace("~", "").replace("*", "x")
    note = f"{words} = {found.value:.4g}"
    return Recomputed({"all": found.value}, note, _also(claim.also), (found.low, found.high))


def _also(publications: Sequence[str]) -> tuple[Figure, ...]:
    return tuple(Figure("figures", name, "published", name) for name in publications)


def _counted(claim: kinds.Counted, evidence: Evidence) -> Recomputed:
    found = {name: spread(expression) for name, expression in claim.expressions.items()}
    note = ", ".join(f"{name} {figure.value:.3g}" for name, figure in found.items())
    value, surely, perhaps = (
        float(sum(getattr(figure, end) > claim.above for figure in found.values())) for end in ("value", "low", "high")
    )
    return Recomputed({"all": value}, note, _also(claim.also), (surely, perhaps))


def counted(ratios: Mapping[str, float], within: tuple[float, float], figures: tuple[Figure, ...]) -> Recomputed:
    """For how many models the ratio lies within two bounds."""
    inside = [model for model, ratio in ratios.items() if within[0] <= ratio <= within[1]]
    note = ", ".join(f"{model} {ratio:.3g}" for model, ratio in ratios.items())
    return Recomputed({"all": float(len(inside))}, f"Between {within[0]:g} and {within[1]:g} of {note}", figures)


def figures_of(measure: str, options: Sequence[Row], evidence: Evidence) -> tuple[Figure, ...]:
    """The figures behind a measure of options: their speeds, and their prices unless it is one of TIMES."""
    return speeds(options) + (() if measure in TIMES else sourced("price", evidence.prices(options)))


def _priced(table: str, choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> list[Row]:
    """Rows of `costs` or `bills` for one offer and workload."""
    rows = [row for row in evidence.rows(table) if row["workload"] == workload and gpus in (None, row["gpus"])]
    if not rows:
        raise CannotCheckError(f"no bill of workload {workload}" + (f" on {gpus} devices" if gpus else ""))
    return chosen(with_persistence(rows), choice)


def _total(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> Row:
    """The row of costs with the least USD."""
    rows = [row for row in _priced("costs", choice, workload, gpus, evidence) if known(row["usd"])]
    if not rows:
        raise CannotCheckError(f"workload {workload} has no bill there")
    return best(rows, "usd")


def _lines(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> dict[str, float]:
    """USD by line of one bill, in the order of the lines' names."""
    lines: dict[str, float] = {}
    for row in _priced("bills", choice, workload, gpus, evidence):
        lines[row["line"]] = lines.get(row["line"], 0.0) + row["usd"]
    return dict(sorted(lines.items()))


def _bill(claim: kinds.Bill, evidence: Evidence) -> Recomputed:
    def value(choice: Choice) -> float:
        if claim.line is None:
            return float(_total(choice, claim.workload, claim.gpus, evidence)["usd"])
        lines = _lines(choice, claim.workload, claim.gpus, evidence)
        if claim.line not in lines:
            raise CannotCheckError(f"the bill has no line {claim.line!r}; its lines are {', '.join(lines)}")
        return lines[claim.line]

    usd = value(claim.of) - (value(claim.minus) if claim.minus else 0.0)
    billed = [_total(of, claim.workload, claim.gpus, evidence) for of in (claim.of, claim.minus) if of is not None]
    figures = sourced("bill", billed)
    if claim.line is not None or claim.minus is not None:
        return Recomputed({"all": usd}, None, figures)
    lines = _lines(claim.of, claim.workload, claim.gpus, evidence)
    return Recomputed({"all": usd}, " + ".join(f"{name} {amount:.4g}" for name, amount in lines.items()), figures)


def _idle(claim: kinds.Idle, evidence: Evidence) -> Recomputed:
    row = _total(claim.of, claim.workload, claim.gpus, evidence)
    bill = row["usd"]
    busy = claim.utilisation * (claim.cards_used or claim.cards) / claim.cards
    return Recomputed({"all": bill * (1 - busy)}, f"{1 - busy:.0%} of {bill:.4g} USD", sourced("bill", [row]))


def _recoup(claim: kinds.Recoup, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        own, rented = chosen(rows, claim.of)[0], chosen(rows, claim.against)[0]
        saved = rented["usd_per_hour"] * own["images_per_s"] / rented["images_per_s"]
        values[model] = number(own, "capex_usd") / (claim.hours_per_day * saved)
        used += [own, rented]
    note = "Electricity and maintenance are not counted, as in the text"
    return Recomputed(values, note, figures_of("usd", used, evidence))


def _throughput_ratio(claim: kinds.ThroughputRatio, evidence: Evidence) -> Recomputed:
    one, other = (_rates(name, evidence) for name in (claim.instance, claim.to))
    values = {
        model: one[model]["images_per_s"] / other[model]["images_per_s"]
        for model in sorted(one.keys() & other.keys())
        if not claim.models or model in claim.models
    }
    if not values:
        raise CannotCheckError(f"no model that both {claim.instance} and {claim.to} have")
    figures = sourced("speed", [row for model in values for row in (one[model], other[model])])
    return Recomputed(values, None, figures) if claim.within is None else counted(values, claim.within, figures)


def _rates(instance: str, evidence: Evidence) -> dict[str, Row]:
    """The throughput of a machine by model: the best evidence, then the fastest."""
    rows = [row for row in evidence.rows("throughput") if row["instance"] == instance and row["status"] == "ok"]
    rows = [row for row in rows if known(row["images_per_s"])]
    if not rows:
        raise CannotCheckError(f"no throughput of {instance}")
    ordered = sorted(rows, key=lambda row: (BASES.index(row["basis"]), -row["images_per_s"]), reverse=True)
    return {row["model"]: row for row in ordered}


def _wins(claim: kinds.Wins, evidence: Evidence) -> Recomputed:
    won: list[str] = []
    lost: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        one = chosen(rows, claim.of)
        its_own = {row["option"] for row in one}
        others = [row for row in chosen(rows, claim.to) if row["option"] not in its_own]
        if not others:
            raise CannotCheckError(f"nothing to compare with for {model}")
        used += [best(one, claim.measure), best(others, claim.measure)]
        figure, rival = (row[claim.measure] for row in used[-2:])
        better = figure < rival if claim.measure in LEAST_FIRST else figure > rival
        (won if better else lost).append(model)
    note = f"Better for {', '.join(won) or 'none'}" + (f"; not for {', '.join(lost)}" if lost else "")
    return Recomputed({"all": float(len(won))}, note, figures_of(claim.measure, used, evidence))


BILL_CHECKS: dict[type, Callable[..., Recomputed]] = {
    kinds.Arithmetic: _arithmetic,
    kinds.Counted: _counted,
    kinds.Bill: _bill,
    kinds.Idle: _idle,
    kinds.Recoup: _recoup,
    kinds.ThroughputRatio: _throughput_ratio,
    kinds.Wins: _wins,
}
