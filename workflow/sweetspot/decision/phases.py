"""The phases of a project: what each option asks for them, with draws."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision.options import CELL, OFFER
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import p_cheaper, standing
from sweetspot.study.yamlfile import load_yaml

TRAINING = "training workloads"
OVERALL = "overall"
POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
# Of a plan's total, by option: machines bought (null: rented), hours that one of them is planned to be used, hours to
# the end in 90 % of the draws.
TOTALS = ("purchase", "price_list", "machines", "boxes", "planned_hours", "hours_low", "hours_high", "basis")


@dataclass(frozen=True)
class PricedPhase:
    """One phase: `table` has a row an option (option, title, persistent, alternative, usd, hours), cheapest first;
    `usd` its draws; `plan` whose phase it is, None of workloads without one; `whole`: all of that plan, which
    has so many `months`, None where it says none.

    Phases of a plan also have `usd_running` and `usd_possession` (USD by use, and by the month), its total TOTALS.
    `nobody`: why no option is in the table. `title`: a name for people, where it is not that of a workload.
    """

    name: str
    scope: str
    table: pd.DataFrame
    usd: np.ndarray
    models: tuple[str, ...]
    nobody: str = ""
    plan: str | None = None
    whole: bool = False
    months: float | None = None
    title: str = ""


def load_groups(path: str | Path) -> dict[str, list[str]]:
    """Workloads that are recommended for together, from workloads.yaml: each `runs`, and all `training` as one.

    Only the kinds are read: `price_workloads` has checked the file against its models.
    """
    file = Path(path)
    kinds = {name: work["kind"] for name, work in load_yaml(file).items()} if file.is_file() else {}
    groups = {name: [name] for name, kind in kinds.items() if kind == "runs"}
    training = [name for name, kind in kinds.items() if kind == "training"]
    return {**groups, **({TRAINING: training} if training else {})}


def phases(
    options: pd.DataFrame,
    draws: Draws,
    plans: pd.DataFrame,
    groups: Mapping[str, Sequence[str]],
    later: Mapping[str, tuple[pd.DataFrame, np.ndarray]] | None = None,
) -> list[PricedPhase]:
    """The phases of every plan, then the groups of workloads, then `overall`: the plan's total, else all workloads.

    `plans` are the rows of results/<study>/plans. A phase of an owned machine bears its share of the possession, by
    the hours that it uses it. A group that has the name of a plan's phase is that phase. An option counts where it
    does all of a phase, and where the answer may take it (`in_answer`). `later`: what competes for a plan's total
    beside its options: buying later (`buying_later`).
    """
    options = options[options["in_answer"].astype(bool)]
    found = [with_later(phase, later or {}) for phase in _planned(options, draws, plans)]
    overall = [phase for phase in found if phase.name == OVERALL]
    found = [phase for phase in found if phase.name != OVERALL]
    planned = {phase.name for phase in found}
    for name, workloads in groups.items():
        if name in planned:
            continue
        found += _worked(options, draws, name, workloads)
    if not overall and len(groups) > 1:
        overall = list(_worked(options, draws, OVERALL, [name for names in groups.values() for name in names]))
    return [*found, *overall]


def _worked(options: pd.DataFrame, draws: Draws, name: str, workloads: Sequence[str]) -> Iterator[PricedPhase]:
    rows = options[options["workload"].isin(list(workloads))]
    jobs = rows[["model", "workload"]].drop_duplicates().shape[0]
    complete = rows["usd"].notna() & rows["hours"].notna()
    whole = complete.groupby(rows["option"]).transform("sum") == jobs
    parts = rows[whole].groupby("option", sort=False)
    if len(parts):
        first = ("instance", "title", "persistent", "alternative", "usd_per_hour")
        sums = {name: (name, "sum") for name in ("usd", "hours")}
        table = parts.agg(**{name: (name, "first") for name in first}, **sums).reset_index()
        drawn = np.stack([draws.usd[where].sum(axis=0) for where in parts.groups.values()])
        yield _sorted(name, ", ".join(workloads), table, drawn, rows["model"])


def _sorted(name: str, scope: str, table: pd.DataFrame, usd: np.ndarray, models: Iterable[str]) -> PricedPhase:
    order = table.sort_values(["usd", "option"], kind="stable").index.to_numpy()
    return PricedPhase(name, scope, table.loc[order].reset_index(drop=True), usd[order], tuple(dict.fromkeys(models)))


def with_later(phase: PricedPhase, later: Mapping[str, tuple[pd.DataFrame, np.ndarray]]) -> PricedPhase:
    """A plan's total, or what is recommended for the work of months, with buying later among the options."""
    if phase.plan is None or not phase.whole or phase.plan not in later:
        return phase
    table, usd = later[phase.plan]
    both = pd.concat([phase.table, table], ignore_index=True)
    found = _sorted(phase.name, phase.scope, both, np.concatenate([phase.usd, usd]), phase.models)
    return replace(phase, table=found.table, usd=found.usd)


def planned_rows(options: pd.DataFrame, plans: pd.DataFrame) -> pd.DataFrame:
    """The rows of plans that are done, each with its option; `index`: the option's label, by which it was drawn."""
    if plans.empty or options.empty:
        return plans.iloc[:0]
    # The plan's row of an option is that of the cell the option was priced on.
    known = options.reset_index().drop_duplicates([*OFFER, "model"])
    key = [*OFFER, *CELL[1:]]
    rows = plans.merge(known[["index", "option", "title", "persistent", "alternative", *key]], on=key, how="inner")
    return rows[(rows["status"] == "ok")].drop_duplicates(["plan", "phase", "option"])


def by_use(rows: pd.DataFrame, draws: Draws, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the draws put on the USD of using options: by their speed, and by the price of their hour."""
    slower = rows["images_per_s"].to_numpy(float)[:, None] / draws.images_per_s[where]
    variable = rows["variable_usd_per_hour"].to_numpy(float)[:, None]
    return slower, np.divide(draws.variable[where], variable, out=np.ones_like(slower), where=variable > 0)


def drawn_costs(
    rows: pd.DataFrame, running: np.ndarray, held: np.ndarray, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """USD by use and by the month of options in each draw, of what they are at central figures."""
    where = rows.index.to_numpy()
    slower, dearer = by_use(rows, draws, where)
    fixed = rows["fixed_usd_per_month"].to_numpy(float)[:, None]
    kept = np.divide(draws.fixed[where], fixed, out=dearer.copy(), where=fixed > 0)
    return running[:, None] * slower * dearer, held[:, None] * kept


def _planned(options: pd.DataFrame, draws: Draws, plans: pd.DataFrame) -> Iterator[PricedPhase]:
    rows = planned_rows(options, plans)
    for plan, part in rows.groupby("plan", sort=False) if len(rows) else ():
        names = [name for name in part["phase"].unique() if name not in (POSSESSION, TOTAL)]
        for name in [*names, TOTAL]:
            yield _plan_phase(str(plan), name, part, options, draws)


def _plan_phase(plan: str, name: str, part: pd.DataFrame, options: pd.DataFrame, draws: Draws) -> PricedPhase:
    own = part[part["phase"] == name].set_index("option")
    held = part[part["phase"] == POSSESSION].set_index("option")["usd"].reindex(own.index).fillna(0.0)
    total = part[part["phase"] == TOTAL].set_index("option")
    if name == TOTAL:
        running, possession = own["usd"] - held, held
    else:
        running, share = own["usd"], (own["hours"] / total["hours"].reindex(own.index)).fillna(0.0)
        possession = held * share
    where = own["index"].to_numpy()
    rows = options.loc[where]
    usd = np.add(*drawn_costs(rows, running.to_numpy(float), possession.to_numpy(float), draws))
    table = own.reset_index()[["option", "instance", "title", "persistent", "alternative", "hours"]].assign(
        usd=(running + possession).to_numpy(), usd_running=running.to_numpy(), usd_possession=possession.to_numpy()
    )
    if name == TOTAL:
        table = _total(table, rows, part, draws.hours[where])
    told = _sorted(OVERALL if name == TOTAL else name, f"plan {plan}", table, usd, own["model"])
    months = part["plan_months"].iloc[0] if "plan_months" in part.columns else None
    return replace(told, plan=plan, whole=name == TOTAL, months=months)


def _total(table: pd.DataFrame, rows: pd.DataFrame, part: pd.DataFrame, hours: np.ndarray) -> pd.DataFrame:
    """A plan's total with TOTALS but its USD; `rows`: of the options, `hours`: drawn, of one job of each."""
    own = (rows["purchase"] == "own").to_numpy()
    planned = (HOURS_A_DAY * rows["days_per_month"] * rows["months"]).where(own)
    held = part[part["phase"] == POSSESSION].set_index("option").reindex(index=table["option"], columns=["machines"])
    boxes = held["machines"].fillna(1.0).to_numpy(float)
    named = zip(boxes, table["title"], strict=True)
    titles = [f"{count:g} × {title}" if count > 1 else title for count, title in named]
    with np.errstate(invalid="ignore"):
        low, high = interval(table["hours"].to_numpy()[:, None] * hours / rows["hours"].to_numpy(float)[:, None])
    return table.assign(
        purchase=rows["purchase"].to_numpy(), price_list=rows["price_list"].to_numpy(),
        planned_hours=planned.to_numpy(float), boxes=boxes, title=titles, machines=np.where(own, boxes, np.nan),
        hours_low=low, hours_high=high, basis=rows["basis"].to_numpy(),
    )  # fmt: skip


COLUMNS = (
    "workload", "option", "alternative", "instance", "purchase", "price_list", "title", "persistent", "machines",
    "hours", "hours_low", "hours_high", "planned_hours", "usd", "usd_low", "usd_high", "usd_running", "usd_possession",
    "after_months", "is_best", "is_rival", "times_best", "times_best_low", "times_best_high", "p_cheapest",
    "p_cheaper",
    "confidence", "months", "model", "basis",
)  # fmt: skip


def option_table(phases: Sequence[PricedPhase]) -> pd.DataFrame:
    """One row a plan of phases and option that may be taken (COLUMNS), cheapest first; `workload`: the plan.

    `usd` of the whole plan, of which `usd_running` by use and `usd_possession` by the month; 90 % of the draws in
    `_low`, `_high`; `machines` bought (null: rented), `planned_hours` of one of them; `after_months`: bought so late,
    rented until then (null: not so). `is_best`, `is_rival`, `p_cheapest`, `confidence` are those of `standing`, as in
    the recommendation; `times_best`: USD / USD of the best, `_low`, `_high` in 90 % of the draws. `months` of the plan
    (null: it states none), `model` that its hours are of; `basis` of speed and price, the weaker.
    """
    rows = [row for phase in phases if phase.whole and "usd_running" in phase.table.columns for row in _rows(phase)]
    numbers = dict.fromkeys(("machines", "after_months", "p_cheapest", "p_cheaper", "months"), "float64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(numbers)


def _rows(phase: PricedPhase) -> list[dict[str, Any]]:
    table, found = phase.table, standing(phase.table, phase.usd)
    # Bought later, a machine is as well known as bought at once.
    table = table.assign(basis=table["basis"].fillna(table["instance"].map(table.groupby("instance")["basis"].first())))
    with np.errstate(invalid="ignore"):
        ratio = phase.usd / phase.usd[found.best]
    ends = {"usd": interval(phase.usd), "times_best": interval(ratio)}
    same = ("option", "alternative", "instance", "title", "persistent", "hours", "usd", "usd_running", "usd_possession",
            "after_months", *TOTALS)  # fmt: skip
    rows = []
    for place, row in enumerate(table.to_dict("records")):
        best = place == found.best
        drawn = {f"{name}_low": low[place] for name, (low, _) in ends.items()}
        drawn |= {f"{name}_high": high[place] for name, (_, high) in ends.items()}
        rows.append(
            {"workload": phase.plan, "months": phase.months, "model": phase.models[0]}
            | {name: row.get(name) for name in same if name != "boxes"}
            | {"is_best": best, "is_rival": place == found.rival, "times_best": row["usd"] / table["usd"][found.best]}
            | drawn
            | {"p_cheapest": found.p_cheapest if best else None, "confidence": found.confidence if best else None}
            | {"p_cheaper": None if best else p_cheaper(phase.usd[place], phase.usd[found.best])}
        )
    return rows
