"""A plan of phases at another use or with more or fewer jobs: priced and decided anew, as the page was."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.columns import Columns, to_arrow
from sweetspot.bills.plans import PLAN_COLUMNS, plan_table
from sweetspot.decision.asked import at_days, readable, verdict_anew
from sweetspot.decision.buying_later import buying_later
from sweetspot.decision.fits import Needs, apart, fitting_plans
from sweetspot.decision.later_costs import Plan as Later
from sweetspot.decision.phase_options import option_table
from sweetspot.decision.phases import phases
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import DRAWS, simulate
from sweetspot.study.instances import Instance
from sweetspot.study.workloads import Plan

ROUNDING = 1e-9  # so that a whole number of jobs is not one more


class Given(NamedTuple):
    """What a plan of phases is priced from: `cells` with their speeds, `lists`: offers and fees of each price list,
    `plans` of workloads.yaml, the machines by name, what the plans `need` of memory, and those that ask for buying
    `later`.
    """

    cells: Columns
    lists: Sequence[tuple[Columns, Columns]]
    plans: Mapping[str, Plan]
    instances: Mapping[str, Instance]
    needs: Needs
    later: Mapping[str, Later]


def ask_phases(
    given: Given,
    options: pd.DataFrame,
    offers: pd.DataFrame,
    settings: Settings,
    days: float | None = None,
    jobs: float = 1.0,
    draws: int = DRAWS,
) -> dict[str, pd.DataFrame]:
    """The tables `plan_options` of every plan and `verdict`; with no `days` and `jobs` of 1 the page's.

    options: comparison/options.parquet; offers: all of results/<study>/offers/. days: that every owned machine works a
    month, at most: fewer days take more machines. jobs: so many times as many in every phase, whole ones.
    """
    every = readable(options)
    if days is not None:
        every, offers = at_days(every, days), _at_days(offers, days)
    rows, _ = apart(every)
    drawn = simulate(rows, settings.seed, draws)
    more = {name: _with_jobs(plan, jobs) for name, plan in given.plans.items()}
    tables = [
        to_arrow(plan_table(given.cells, _used(own, days), fees, more, given.instances), PLAN_COLUMNS).to_pandas()
        for own, fees in given.lists
    ]
    planned = fitting_plans(pd.concat(tables, ignore_index=True), settings, given.needs)
    waited = buying_later(given.later, planned, rows, drawn, offers, settings.seed)
    found = phases(rows, drawn, planned, {}, waited.options)
    return {"plan_options": option_table(found), "verdict": verdict_anew(rows, drawn, settings, phases=found)}


def _at_days(offers: pd.DataFrame, days: float) -> pd.DataFrame:
    own = offers["purchase"] == "own"
    return offers.assign(days_per_month=offers["days_per_month"].where(~own, days))


def _used(offers: Columns, days: float | None) -> Columns:
    """Offers whose owned machines work so many days a month."""
    if days is None:
        return offers
    return offers | {"days_per_month": np.where(offers["purchase"] == "own", days, offers["days_per_month"])}


def _with_jobs(plan: Plan, factor: float) -> Plan:
    more = [phase.model_copy(update={"jobs": math.ceil(phase.jobs * factor - ROUNDING)}) for phase in plan.phases]
    return plan.model_copy(update={"phases": more})
