"""Work of months on a few offers, posed from its price list on, with certain figures that stand in the test."""

import pandas as pd
import pytest
from phase_plans import priced_plan
from price_lists import works_of
from sweetspot.decision.monthly_work import MonthlyWork, monthly_work
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate

MONTH_DAYS = 30.5


def class_of(name, per_month, **more):
    """A class of jobs, of one device each."""
    return {"name": name, "model": "vgg16", "samples": 1.0, "per_month": per_month, "devices_per_job": 1,
            "source": "this test"} | more  # fmt: skip


def small_lab(*offers, jobs, hours, draws=2, change=lambda options: options, facts=None, speeds=None, **work):
    """The problem and its options; `hours` of one job by class, on a machine of 100 images/s; `change` the options."""
    tables, settings = priced_plan(*offers, facts=facts, speeds=speeds)
    every = build_options(tables.costs, tables.offers, tables.throughput, tables.extrapolation, settings)
    one = every[every["workload"] == "job"]
    rows = [one.assign(workload=f"lab.{name}", hours=one["hours"] * took, usd=one["usd"] * took)
            for name, took in hours.items()]  # fmt: skip
    options = change(pd.concat(rows, ignore_index=True))
    lab = {"kind": "monthly", "months": 36.0, "jobs": jobs, "source": "this test"} | work
    monthly = works_of({"lab": lab})["lab"]
    drawn = simulate(options, 1, draws)
    return monthly_work("lab", monthly, options, drawn, tables.offers, MONTH_DAYS, 5), options, drawn, settings


def posed(*offers, **more) -> MonthlyWork:
    """The problem alone."""
    return small_lab(*offers, **more)[0]


def same(row, expected):
    """Each value of a row as it is expected; None: there is none."""
    for name, value in expected.items():
        if value is None:
            assert pd.isna(row[name]), name
        else:
            exact = isinstance(value, str | bool | list)
            assert row[name] == (value if exact else pytest.approx(value)), name
