"""Prices just inside and just outside each bound of the lint, and money at its ends; the arithmetic stands beside."""

import math
import warnings
from datetime import date

import numpy as np
import pytest
from price_lists import cell, findings, machines, offers, planned, price_list, priced, spent
from sweetspot.bills.columns import triple
from sweetspot.bills.owning import owned_flow
from sweetspot.bills.renting import billed_months, losing_rate, makespan, overhead, sustained_fraction, wall_time

EURO = {"currency": "XTS", "as_of": "2018-06-01", "source": "bank"}


def rules(*listed, known=None, **keys):
    """The rules of what a list raises, of the list and of its offers."""
    prices = price_list(*listed, **keys)
    return sorted({finding.rule for finding in findings(prices, known or machines(prices))})


# --- lint -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "told"), [(30, []), (29, ["stale"])]
)  # the list is of June 1, the study of July 1: 30 days
def test_a_price_may_be_as_old_as_the_limit(limit, told):
    assert rules({"instance": "x", "per_hour": 1.0}, as_of=date(2018, 6, 1), max_age_days=limit) == told


@pytest.mark.parametrize(("day", "told"), [(8, []), (9, ["future_date"])])
def test_a_price_may_be_a_week_younger_than_the_study(day, told):
    assert rules({"instance": "x", "per_hour": 1.0}, as_of=date(2018, 7, day)) == told


@pytest.mark.parametrize(("last", "told"), [("2018-07-01", []), ("2018-06-30", ["expired"])])
def test_an_offer_holds_on_its_last_day_and_not_after(last, told):
    # the list is of June 1, the study of July 1; of a list judged today no offer of 2018 holds
    offer = {"instance": "x", "per_hour": 1.0, "until": last}
    assert rules(offer, as_of=date(2018, 6, 1)) == told
    assert rules(offer, as_of=date(2018, 6, 1), age_at="today") == ["expired"]


@pytest.mark.parametrize(
    ("rate", "told"),
    [("2018-05-31", []), ("2018-05-30", ["stale_rate"]), ("2018-08-01", []), ("2018-08-02", ["stale_rate"])],
)
def test_a_rate_may_be_a_month_older_or_younger_than_the_price(rate, told):
    # 31 days before July 1 is May 31, 31 days after is August 1
    rates = [EURO | {"usd": 1.2, "as_of": rate}]
    assert rules({"instance": "x", "per_hour": 1.0}, currency="XTS", rates=rates) == told


def spot(usd, **more):
    return {
        "instance": "x",
        "purchase": "spot",
        "per_hour": usd,
        "on_demand_per_hour": 1.0,
        "interruptions": NEVER,
    } | more


NEVER = {"per_hour": 0.0, "checkpoint_s": 60.0, "restore_s": 60.0, "source": "this test"}


@pytest.mark.parametrize(
    ("usd", "told"), [(1.0, []), (1.01, ["spot_above_on_demand"]), (0.12, []), (0.05, ["spot_far_below"])]
)
def test_spot_between_nothing_and_on_demand(usd, told):
    assert rules(spot(usd)) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [(0.3, []), (0.31, []), (0.29, []), (0.315, ["text_against_table"]), (0.71, ["discount_is_fraction_paid"]),
     (0.69, ["discount_is_fraction_paid"]), (0.715, ["text_against_table"]), (0.5, ["text_against_table"])],
)  # fmt: skip
def test_a_printed_discount_is_rounded_to_whole_per_cents(said, told):
    # 0.70 USD of 1.00: a discount of 30 %, 70 % paid; either a per cent off is rounding
    assert rules(spot(0.7, printed={"discount": said})) == told


def test_spot_without_terms_of_interruption_is_noted_once_even_if_the_list_has_them():
    bare = {key: value for key, value in spot(0.5).items() if key != "interruptions"}
    assert rules(bare) == ["spot_terms"]
    assert rules(bare, interruptions=NEVER) == []


@pytest.mark.parametrize(("usd", "told"), [(1.0, []), (1.01, ["reserved_above_on_demand"])])
def test_reserved_may_cost_what_on_demand_does(usd, told):
    assert rules({"instance": "x", "purchase": "reserved", "per_hour": usd, "on_demand_per_hour": 1.0}) == told


@pytest.mark.parametrize(("days", "told"), [(10, []), (9.9, ["not_earned"])])
def test_a_commitment_is_earned_on_the_day_of_the_break_even(days, told):
    # 240 USD a month for nothing by the hour, against 1 USD an hour: 10 days
    deal = {"term_months": 12, "per_month": 240.0}
    table = offers(price_list({"instance": "x", "purchase": "reserved", "commitment": deal, "on_demand_per_hour": 1.0},
                              days_per_month=days))  # fmt: skip
    assert [pair["rule"] for pair in table["warnings"].iloc[0]] == told


@pytest.mark.parametrize(
    ("unit", "value"), [("per_hour", 2.0), ("per_day", 48.0), ("per_week", 336.0), ("per_month", 1464.0)]
)
def test_what_a_text_prints_is_a_thousandth_or_half_a_cent_off_at_most(unit, value):
    # 2 USD an hour: 24, 168 and 24 x 30.5 of them
    for off, told in ((1.0009, False), (1.0011, True), (0.9991, False), (0.9989, True)):
        far = abs(off - 1) * value > 0.00505
        printed = {"instance": "x", "per_hour": 2.0, "printed": {unit: value * off}}
        assert rules(printed) == ["text_against_table"] * (told and far)


def test_what_is_printed_in_euro_is_held_against_the_price_in_euro_whatever_the_ends_of_the_rate():
    rates = [EURO | {"usd": {"value": 1.2, "low": 1.0, "high": 1.5}}]
    printed = {"instance": "x", "per_hour": 2.0, "printed": {"per_day": 48.0}}
    assert rules(printed, currency="XTS", rates=rates) == []


@pytest.mark.parametrize(("said", "told"), [(0.505, []), (0.508, ["text_against_table"])])
def test_an_hour_is_printed_to_the_cent(said, told):
    assert rules({"instance": "x", "per_hour": 0.5, "printed": {"per_hour": said}}) == told


OWN = {"capex": 7200.0, "months": 30.0, "kw": 1.0, "per_kwh": 0.1, "days_per_month": 10.0}


@pytest.mark.parametrize(
    ("printed", "told"),
    [({"per_hour": 1.1}, []), ({"per_month": 264.0}, []), ({"per_month": 264.3}, ["text_against_table"]),
     ({"per_hour": 1.13}, ["text_against_table"])],
)  # fmt: skip
def test_what_is_printed_of_an_owned_machine_is_of_its_planned_use(printed, told):
    # 240 USD a month over 240 h and 0.1 USD of power: 1.1 USD an hour, 264 a month
    found = rules({"instance": "x", "purchase": "own", "own": OWN, "printed": printed})
    assert [rule for rule in found if rule == "text_against_table"] == told


# --- money ----------------------------------------------------------------------------------------------------------


def test_no_amount_is_nothing_at_all_ends():
    assert triple(None) == (0.0, 0.0, 0.0)


def test_the_machines_share_of_a_composed_price_does_not_hang_on_the_ends_of_a_rate():
    # 1 EUR of machine beside 3 of devices: a quarter of the price at any rate
    rates = [EURO | {"usd": {"value": 1.2, "low": 1.0, "high": 1.5}}]
    parts = {"machine": {"name": "m", "per_hour": 1.0}, "gpu": {"name": "g", "per_hour": 3.0}, "count": 1}
    sustained = {"tiers": [[1.0, 0.7]], "applies_to": "machine"}
    row = offers(price_list({"instance": "x", "compose": parts, "sustained": sustained}, currency="XTS", rates=rates))
    assert row.loc["x", "sustained_machine_share"] == pytest.approx(0.25)
    assert row.loc["x", ["usd_per_hour", "usd_per_hour_low", "usd_per_hour_high"]].to_list() == pytest.approx(
        [4.8, 4, 6]
    )


def test_every_sum_of_the_terms_is_in_dollars():
    # 2 USD for a euro; the ends of that rate are the ends of prices only
    terms = {"setup": 3.0, "monthly": 5.0, "monthly_minimum": 7.0, "storage": {"gb": 10.0, "per_gb_month": 0.11}}
    terms |= {"egress": {"gb": 10.0, "per_gb": 0.13}, "fees": [{"name": "f", "per_hour": 0.17, "count": 2.0}]}
    prices = price_list({"instance": "x", "per_month": 19.0, "billing": terms}, currency="XTS",
                        title="In euro", rates=[EURO | {"usd": {"value": 2.0, "low": 1.5, "high": 3.0}}])  # fmt: skip
    row = offers(prices).loc["x"]
    assert row["price_list_title"] == "In euro"
    names = ("setup_usd", "monthly_usd", "monthly_minimum_usd", "storage_usd_per_month", "egress_usd",
             "fees_usd_per_hour", "month_usd")  # fmt: skip
    assert [row[name] for name in names] == pytest.approx([6, 10, 14, 2.2, 2.6, 0.68, 38])


def test_what_spot_is_held_against_is_the_middle_of_the_price_on_demand():
    rates = [EURO | {"usd": {"value": 2.0, "low": 1.5, "high": 3.0}}]
    spot = {"instance": "x", "purchase": "spot", "per_hour": 0.5}
    usual = {"instance": "x", "per_hour": {"value": 1.0, "low": 0.8, "high": 1.3}}
    for listed in ((spot | {"on_demand_per_hour": 1.0},), (spot, usual)):
        row = offers(price_list(*listed, currency="XTS", rates=rates)).iloc[0]
        assert row["on_demand_usd_per_hour"] == pytest.approx(2.0)


def test_spot_beats_on_demand_by_the_middle_of_its_own_price():
    ends = {"value": 1.1, "low": 0.5, "high": 1.5}  # on demand 1.00
    row = offers(price_list(spot(ends))).iloc[0]
    assert not row["spot_beats_on_demand"] and math.isnan(row["losing_interruptions_per_hour"])


def test_a_commitment_of_ranges_has_its_values_in_the_middle():
    def around(value):
        return {"value": value, "low": value / 2, "high": value * 3}

    deal = {"term_months": around(12.0), "upfront": around(120.0), "per_month": around(24.0), "per_hour": around(0.1)}
    offer = {
        "instance": "x",
        "purchase": "reserved",
        "commitment": deal | {"charged": "used"},
        "on_demand_per_hour": 1.0,
    }
    row = offers(price_list(offer, days_per_month=around(10.0))).loc["x"]
    names = ("upfront_usd", "term_months", "commitment_usd_per_month", "commitment_usd_per_hour", "days_per_month")
    assert [row[name] for name in names] == pytest.approx([120, 12, 24, 0.1, 10])
    # (10 + 24) USD a month / (24 x 0.9)
    assert row["earning_days_per_month"] == pytest.approx(34 / 21.6)


def test_a_month_and_a_last_digit_is_a_month():
    hours = np.array([732.0 * (1 + 1e-12), 732.0 * (1 + 1e-6)])
    assert billed_months(hours, 30.5, False).tolist() == [1, 2]


def test_more_than_the_whole_month_is_the_whole_month():
    # 0 to a half at the full price, the rest at half of it: (0.5 + 0.25) / 1
    assert sustained_fraction([1.0, 1.5], [(0.5, 1.0), (1.0, 0.5)]).tolist() == [0.75, 0.75]


def test_a_part_of_a_last_month_and_money_that_comes_back():
    offer = {"days_per_month": 10.0, "downtime_share": 0.5, "maintenance_usd_per_month": 5.0, "boxes": 3,
             "staff_usd_per_month": 7.0, "energy_usd_per_hour": 0.1, "capex_usd": 100.0, "months": 1.25,
             "residual_usd": 4.0, "discount_rate": 0.0}  # fmt: skip
    # half of 240 h at 0.1: 12 + 12 = 24 a month and box
    assert owned_flow(offer)["usd"].tolist() == pytest.approx([300, 72, 18 - 12])


def test_only_what_is_owned_or_committed_to_is_paid_month_by_month():
    deal = {"term_months": 2, "upfront": 10.0, "per_month": 3.0, "per_hour": 0.5, "charged": "used"}
    committed = {"instance": "y", "purchase": "reserved", "commitment": deal}
    flow = spent(price_list({"instance": "x", "per_hour": 1.0}, committed, days_per_month=31))
    # 31 planned days of a month that has 30.5: 732 h
    assert flow["instance"].tolist() == ["y"] * 3
    assert flow["usd"].tolist() == pytest.approx([10, 3 + 366, 3 + 366])
    assert flow["npv_usd"].tolist() == flow["cumulative_usd"].tolist()  # a term is not discounted


# --- interruptions --------------------------------------------------------------------------------------------------


def test_a_job_that_never_finishes_is_infinite_without_a_word():
    # a thousand interruptions an hour: e^(1000 x (1 + 1/12)); no warning of numpy either
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isinf(float(overhead(1000.0, 1 / 12, 0.1, 1.0)))
        assert math.isinf(float(wall_time(10.0, 1000.0, 1 / 12, 0.1, 1.0)))
        assert math.isinf(float(overhead(1000.0, 0.0, 2.0, 0.0001)))


def test_a_job_that_never_finishes_has_no_cheap_end_and_a_cell_that_failed_no_price_at_all():
    # a hundred interruptions an hour and a checkpoint every hour: never; none at the cheap end
    often = NEVER | {"per_hour": {"value": 100.0, "low": 0.0, "high": 100.0}, "every_s": 3600.0}
    work = {"kind": "runs", "runs": 1, "hours": 10.0}
    costs, _ = priced(price_list(spot(0.5, interruptions=often)), [cell("x")], work=work)
    assert costs["status"].tolist() == ["never finishes"]
    assert costs[["hours", "hours_low", "usd", "usd_low", "usd_high"]].isna().all(axis=None)
    costs, _ = priced(price_list({"instance": "x", "per_hour": 1.0}), [cell("x", status="oom")], work=work)
    assert costs["status"].tolist() == ["oom"]
    assert costs[["hours", "usd", "machine_hours", "images_per_usd"]].isna().all(axis=None)


@pytest.mark.parametrize(("runs", "status"), [(974, "ok"), (975, "never finishes")])
def test_runs_one_after_the_other_that_take_a_century_never_finish(runs, status):
    # 974 x 900 h are 876,600 h, a hundred years
    work = {"kind": "runs", "runs": runs, "hours": 900.0}
    costs, _ = priced(price_list({"instance": "x", "per_hour": 1.0}), [cell("x")], work=work)
    assert costs["status"].tolist() == [status]


@pytest.mark.parametrize(("hours", "months", "paid"), [(366.0, None, 366.0), (732.0, 2.0, 732.0), (732.0, 1.0, 549.0)])
def test_sustained_use_is_counted_over_whole_months(hours, months, paid):
    # beyond half of the month an hour costs half: of half a month, or of a month spread over two, none is; of a whole
    # month 366 h + 366 h / 2
    sustained = {"tiers": [[0.5, 1.0], [1.0, 0.5]]}
    work = {"kind": "runs", "runs": 1, "hours": hours} | ({} if months is None else {"months": months})
    costs, _ = priced(price_list({"instance": "x", "per_hour": 1.0, "sustained": sustained}), [cell("x")], work=work)
    assert costs["usd"].tolist() == pytest.approx([paid])


def test_a_commitment_of_a_week_is_possessed_once_unless_it_is_renewed():
    deal = {"term_months": 0.25, "upfront": 50.0}
    prices = price_list({"instance": "x", "purchase": "reserved", "commitment": deal})
    phases = [{"name": "search", "jobs": 1, "hours": 3.0, "gpus_per_job": "all"}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 1, "phases": phases}
    for more, terms in (({}, 1), ({"months": 2.0, "renewed": True}, 8)):
        rows = planned(prices, [cell("x")], machines(prices), p=plan | more).set_index("phase")
        assert rows.loc["possession", "usd"] == pytest.approx(50 * terms)


def test_work_of_no_hours_takes_none_and_waiting_none_of_it():
    assert float(wall_time(0.0, 0.5, 0.1, 0.1, 1.0)) == 0.0
    assert float(makespan(0.0, 0.5, 1.0)) == 0.0


def test_rates_beyond_sense_are_not_looked_for():
    # nothing but the work of the last ten-billionth of an hour is lost: (e^x - 1) / x = 2 at x = 1.26, 12.6 thousand
    # million interruptions an hour; the search doubles from 1 and ends beyond a thousand million
    assert losing_rate(0.5, 1.0, 0.0, 0.0, 1e-10) == 2.0**30
