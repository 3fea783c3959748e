"""Plans of phases: what each option asks for all of a plan, with draws."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision.options import CELL, OFFER
from sweetspot.decision.simulate import Draws, interval

POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
# Of a plan's total, by option: machines bought (null: rented), hours that one of them is planned to be used, hours to
# the end in 90 % of the draws.
TOTALS = ("purchase", "price_list", "machines", "boxes", "planned_hours", "hours_low", "hours_high", "basis")


class PricedPlan(NamedTuple):
    """A plan of phases: `table` has a row an option that does all of it and that the answer may take (option, title,
    persistent, alternative, hours, usd, of that `usd_running` by use and `usd_possession` by the month, TOTALS),
    cheapest first; `usd` its draws. `months` that it states (NaN: none); `model` that its hours are of.
    """

    name: str
    months: float
    model: str
    table: pd.DataFrame
    usd: np.ndarray


def priced_plans(
    options: pd.DataFrame,
    draws: Draws,
    plans: pd.DataFrame,
    later: Mapping[str, tuple[pd.DataFrame, np.ndarray]] | None = None,
) -> list[PricedPlan]:
    """The plans of phases. `plans` are the rows of results/<study>/plans; `later`: what competes for a plan beside its
    options: buying later (`buying_later`).
    """
    options = options[options["in_answer"].astype(bool)]
    rows = planned_rows(options, plans)
    parts = rows.groupby("plan", sort=False) if len(rows) else ()
    return [with_later(_plan(str(name), part, options, draws), later or {}) for name, part in parts]


def _sorted(plan: PricedPlan) -> PricedPlan:
    order = plan.table.sort_values(["usd", "option"], kind="stable").index.to_numpy()
    return plan._replace(table=plan.table.loc[order].reset_index(drop=True), usd=plan.usd[order])


def with_later(plan: PricedPlan, later: Mapping[str, tuple[pd.DataFrame, np.ndarray]]) -> PricedPlan:
    """A plan with buying later among its options."""
    if plan.name not in later:
        return plan
    table, usd = later[plan.name]
    both = pd.concat([plan.table, table], ignore_index=True)
    return _sorted(plan._replace(table=both, usd=np.concatenate([plan.usd, usd])))


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


def _plan(plan: str, part: pd.DataFrame, options: pd.DataFrame, draws: Draws) -> PricedPlan:
    own = part[part["phase"] == TOTAL].set_index("option")
    possession = part[part["phase"] == POSSESSION].set_index("option")["usd"].reindex(own.index).fillna(0.0)
    running = own["usd"] - possession
    where = own["index"].to_numpy()
    usd = np.add(*drawn_costs(options.loc[where], running.to_numpy(float), possession.to_numpy(float), draws))
    table = own.reset_index()[["option", "instance", "title", "persistent", "alternative", "hours"]].assign(
        usd=own["usd"].to_numpy(), usd_running=running.to_numpy(), usd_possession=possession.to_numpy()
    )
    table = _total(table, options.loc[where], part, draws.hours[where])
    months = part["plan_months"].iloc[0] if "plan_months" in part.columns else np.nan
    return _sorted(PricedPlan(plan, float(months), str(own["model"].iloc[0]), table, usd))


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
