"""A plan of phases on a few offers, from its price list to the comparison: what every table says of it, by hand."""

import pandas as pd
from decision_tables import study
from price_lists import cell, list_tables, machines, offers, planned, price_list, priced, works_of
from sweetspot.bills.costs import PRICED_COLUMNS
from sweetspot.bills.schemas import table_of
from sweetspot.commands.reevaluate import PhaseInputs
from sweetspot.decision.compare import Inputs, compare
from sweetspot.decision.options import build_options
from sweetspot.decision.phases_problem import phases_problems
from sweetspot.decision.simulate import simulate
from sweetspot.report.tables import of_plans
from sweetspot.study.settings import Settings

# 36 months of 100 jobs of two hours: 200 hours a month, of the 240 that ten days have.
WORK = {"kind": "plan", "model": "vgg16", "instance": "box", "parallel": 1, "months": 36.0, "renewed": True,
        "phases": [{"name": "jobs", "jobs": 3600, "hours": 2.0}]}  # fmt: skip
JOB = {"kind": "training", "model": "vgg16", "samples": 360000.0}
ANALYSES = ("tornado", "turning_points", "worth_knowing", "break_even")


def beside(tables, of_plans):
    """The tables of one job with those of plans: analyses have the rows of both."""
    both = {
        name: pd.concat([tables[name], rows], ignore_index=True) if name in ANALYSES and name in tables else rows
        for name, rows in of_plans.items()
    }
    return tables | both


RUNNING, CARE = 200 * 0.2, 50.0  # USD a month: electricity of 1 kW, maintenance


def own(name="box", **terms):
    """36,000 USD, 36 months, 1 kW at 0.2 USD/kWh, ten days a month, 50 a month of care."""
    given_ = {"capex": 36000.0, "months": 36.0, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10.0,
              "maintenance_per_month": CARE}  # fmt: skip
    return {"instance": name, "purchase": "own", "own": given_ | terms}


def hourly(usd=6.0, **keys):
    return {"instance": "rented", "per_hour": usd, **keys}


def compared(*rows, work=None, draws=400, facts=None, speeds=None):
    """The comparison of offers that are all as fast, their speeds certain; its analyses of the plan alone.

    `facts`: what the instances file says, by machine; `speeds`: images/s with low and high, of those that differ.
    """
    tables, settings = priced_plan(*rows, work=work, facts=facts, speeds=speeds)
    found = compare(tables, settings, draws)
    return found | {name: of_plans(found, name) for name in ANALYSES}


def priced_plan(*rows, work=None, facts=None, speeds=None):
    """What the comparison reads of such offers."""
    prices = price_list(*rows)
    known = machines(prices, **(facts or {}))
    cells = cells_of(known, speeds)
    works = {"work": WORK | (work or {})}
    costs, _ = priced(prices, cells, known, job=JOB)
    nothing = pd.DataFrame()
    nodes = [known[one["instance"]].nodes for one in cells]
    found = pd.DataFrame(cells).assign(runs=0, warnings=None, nodes=nodes)
    tables = Inputs(
        costs, offers(prices, known).reset_index(), found, found.iloc[:0].assign(headline=True), nothing, nothing,
        planned(prices, cells, known, **works), nothing
    )  # fmt: skip
    reference = next((one["instance"] for one in rows if one.get("purchase") == "own"), None)
    return tables, Settings.of(study(reference=reference))


def best_of(tables, settings, draws=2):
    """The best of the plan by what it is priced at: the option, and nothing else of the comparison."""
    options = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    (whole,) = phases_problems(options, simulate(options, settings.seed, draws), tables.plans, 30.5)
    return whole.table["option"][whole.eligible].iloc[0]


def cells_of(known, speeds=None):
    """A figure of each machine."""
    return [
        cell(name, gpus=machine.gpus, gpu=machine.gpu, **_speed(*(speeds or {}).get(name, (100.0, 100.0, 100.0))))
        for name, machine in known.items()
    ]


def given(*rows, facts=None, speeds=None):
    """What the plan WORK is priced from, and the table of offers, of the same price list."""
    prices = price_list(*rows)
    known = machines(prices, **(facts or {}))
    table, fees = list_tables(prices, known)
    cells = table_of(cells_of(known, speeds), PRICED_COLUMNS)
    plans = works_of({"work": WORK})
    return PhaseInputs(cells, [(table, fees)], plans, known, {}), offers(prices, known).reset_index()


def _speed(value, low, high):
    return {"images_per_s": value, "images_per_s_low": low, "images_per_s_high": high}
