"""Properties of the functions that make bills: finer is never dearer, more use never cheaper, no money is created."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from price_lists import offers
from project_copy import ROOT
from sweetspot.bills.offers import FEE_COLUMNS, OFFER_COLUMNS
from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.bills.renting import Bill, bill_lines
from sweetspot.bills.schemas import table_of
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import load_price_list

LISTS = sorted((ROOT / "config" / "studies").glob("*/prices/*.yaml"))
PERSISTENT = {"month_days": 30.5, "usd_per_hour": 1.0, "prorated": True, "granularity_s": 0.0, "minimum_s": 0.0}
MACHINE = {"instance": "x", "purchase": "on_demand"}
EACH_UNIT = ("per_start", "per_hour", "per_month")

usd = st.floats(0, 1000)
hours = st.floats(0.001, 3000)
starts = st.integers(1, 40)


def bills(*jobs: dict[str, Any], due: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Bill:
    """The bills of jobs of one machine, on one table; `due`: its fees per start, per hour and per month."""
    names = (*OFFER_COLUMNS, "work_hours", "starts", "in_a_row", "share", "spread_months")
    alone = PERSISTENT | MACHINE | {"starts": 1.0, "in_a_row": 1.0, "share": 1.0, "gpus": 1}
    table = table_of([alone | job for job in jobs], names)
    fees = [MACHINE | {"name": unit, "unit": unit, "usd": fee} for unit, fee in zip(EACH_UNIT, due, strict=True)]
    return bill_lines(table, table_of(fees, FEE_COLUMNS))


@settings(max_examples=20)
@given(floor=usd, work=st.floats(0.1, 800), months=st.none() | st.floats(0.5, 3), prorated=st.booleans())
def test_a_month_costs_its_minimum_or_its_use_whichever_is_more(floor, work, months, prorated):
    job = {"work_hours": work, "monthly_minimum_usd": floor, "spread_months": months, "prorated": prorated}
    elapsed = work / 732 if months is None else months  # 30.5 days of 24 hours
    due = elapsed if prorated else max(1, np.ceil(elapsed - 1e-9))
    assert bills(job).usd[0] == pytest.approx(max(work * 1.0, floor * due))


@settings(max_examples=20)
@given(work=hours, starts=starts, fixed=usd, energy=st.floats(0, 5), days=st.floats(0.5, 31), down=st.floats(0, 0.9))
def test_an_owned_machine_is_billed_its_share_of_the_month_and_its_power(work, starts, fixed, energy, days, down):
    hour = usd_per_hour_of_use(fixed, energy, days, down)
    bill = bills({"purchase": "own", "work_hours": work, "starts": starts, "usd_per_hour": hour,
                  "energy_usd_per_hour": energy})  # fmt: skip
    used = work * starts
    assert bill.lines["electricity"][0] == pytest.approx(used * energy)
    assert bill.lines["possession"][0] == pytest.approx(fixed * used / (24 * days * (1 - down)), rel=1e-6, abs=1e-6)
    assert bill.usd[0] == pytest.approx(used * hour)


@pytest.mark.parametrize("file", LISTS, ids=lambda file: f"{file.parent.parent.name}/{file.stem}")
def test_the_hour_of_every_shipped_offer_follows_from_its_columns(file):
    folder = file.parent.parent
    known = load_instances(ROOT / "config" / "instances.yaml", folder / "instances.yaml")
    rows = offers(load_price_list(file), known)
    assert len(rows)
    for row in rows.to_dict("records"):
        hour = row["variable_usd_per_hour"]
        if row["purchase"] == "own":
            rate, years = np.nan_to_num(row["discount_rate"]), row["months"] / 12
            # An annuity: so many payments of 1 at the end of each month are worth what is spent today.
            payments = (1 - (1 + rate) ** -years) / ((1 + rate) ** (1 / 12) - 1) if rate else row["months"]
            spread = (row["capex_usd"] - row["residual_usd"] / (1 + rate) ** years) / payments
            month = spread + row["maintenance_usd_per_month"] + row["staff_usd_per_month"]
            assert row["fixed_usd_per_month"] == pytest.approx(month)
            assert hour == row["energy_usd_per_hour"] == pytest.approx(row["kw"] * row["pue"] * row["usd_per_kwh"])
            hour += row["fixed_usd_per_month"] / (24 * row["days_per_month"] * (1 - row["downtime_share"]))
        elif row["purchase"] in ("reserved", "committed"):
            assert row["fixed_usd_per_month"] > 0
            hour += row["fixed_usd_per_month"] / (24 * row["days_per_month"])
        else:
            assert row["fixed_usd_per_month"] == row["energy_usd_per_hour"] == 0
        assert row["usd_per_hour"] == pytest.approx(hour)
