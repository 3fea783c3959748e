"""Renting for some months of a plan and then buying: USD by hand, what never pays, and what the draws share."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phase_plans import CARE, RUNNING, compared, hourly, own
from sweetspot.decision.buying_later import later_in_words, load_plans
from sweetspot.decision.later_costs import Plan, Side, at_once, never, rent_then_buy
from sweetspot.decision.simulate import Draws
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_workloads


def ways(*rows, **keys):
    """The rows of the table by months until the purchase."""
    return compared(*rows, **keys)["later"].set_index("after_months")


def test_a_constant_price_and_a_constant_rent_by_hand():
    found = ways(own(), hourly())
    # At once 36,000 + 36 x 90; renting is 1,200 a month; each month of waiting costs 1,200 - 90 more.
    assert found["usd"].to_dict() == pytest.approx(
        {0.0: 39_240.0, 6.0: 39_240 + 6 * 1110, 12.0: 39_240 + 12 * 1110, 36.0: 36 * 1200.0}
    )
    assert found["rent_usd"].to_dict() == pytest.approx({0.0: 0.0, 6.0: 7200.0, 12.0: 14_400.0, 36.0: 43_200.0})
    assert found.loc[[6.0, 12.0], "saved_usd"].tolist() == pytest.approx([-6660.0, -13_320.0])
    assert found.loc[[6.0, 12.0], "p_saves"].tolist() == [0.0, 0.0]
    assert found["p_cheapest"].to_dict() == {0.0: 1.0, 6.0: 0.0, 12.0: 0.0, 36.0: 0.0}


def test_a_machine_that_gets_cheaper_is_bought_at_its_price_of_that_day():
    found = ways(own(capex_change_per_year={"value": -0.19}), hourly(2.0))
    # 0.81 of 36,000 after a year, 0.9 after half of it; renting is 400 a month.
    assert found.loc[[6.0, 12.0], "box_usd"].tolist() == pytest.approx([32_400.0, 29_160.0])
    assert found.loc[6.0, "usd"] == pytest.approx(6 * 400 + 32_400 + 30 * (RUNNING + CARE))
    assert found.loc[12.0, "usd"] == pytest.approx(12 * 400 + 29_160 + 24 * (RUNNING + CARE))
    assert found.loc[12.0, "saved_usd"] == pytest.approx(36_000 - 29_160 - 12 * (400 - 90))


@pytest.mark.parametrize("change", [-0.36, 0.44])
def test_the_rent_until_then_is_that_of_its_own_months(change):
    trend = {"kind": "drift", "change_per_year": change}
    found = ways(own(), hourly(2.0, trend=trend))
    months = 400 * (1 + change) ** (np.arange(36) / 12)  # -36 %: 0.8 of today's after half a year
    assert found.loc[6.0, "rent_usd"] == pytest.approx(months[:6].sum())
    assert found.loc[12.0, "rent_usd"] == pytest.approx(months[:12].sum())
    assert found.loc[36.0, "usd"] == pytest.approx(months.sum())
    # A path without spread: every draw is the central one.
    ends = found.loc[[6.0, 12.0], ["usd_low", "usd", "usd_high"]].to_numpy()
    assert ends == pytest.approx(np.repeat(ends[:, 1:2], 3, axis=1))


def test_at_the_end_it_is_sold_as_old_as_one_bought_at_once():
    curve = {"points": [[1.0, 0.8, 0.8, 0.8], [2.0, 0.7, 0.7, 0.7], [3.0, 0.5, 0.5, 0.5]], "share": 1.0}
    found = ways(own(residual=curve), hourly())
    # Half of 36,000 comes back after three years, not the 0.7 of a machine of two.
    assert found.loc[0.0, "usd"] == pytest.approx(36_000 - 18_000 + 36 * 90)
    assert found.loc[12.0, "usd"] == pytest.approx(14_400 + 36_000 - 18_000 + 24 * 90)
    cheap = ways(own(residual=curve, capex_change_per_year={"value": -0.6}), hourly())
    # Bought for 14,400, it is sold for no more than that.
    assert cheap.loc[12.0, "usd"] == pytest.approx(14_400 + 24 * 90)


def test_with_a_discount_rate_buying_at_once_is_the_plan_s_own_row():
    found = compared(own(discount_rate=0.08, residual=9000.0), hourly())
    total = found["choices"][found["choices"]["cost"] == "rounds"].iloc[0]
    first = found["later"].iloc[0]
    assert (total["choice"], total["usd"]) == ("box", pytest.approx(first["usd"]))


def test_a_contract_until_then_is_of_whole_terms():
    deal = {"instance": "reserved", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 700.0}}
    found = ways(own(), hourly(), deal)
    told = found["until"].drop(0.0).to_dict()
    assert told == {6.0: "rented", 12.0: "reserved (reserved)", 36.0: "reserved (reserved)"}
    assert found.loc[12.0, "rent_usd"] == pytest.approx(12 * 700)
    assert found.loc[36.0, "usd"] == pytest.approx(36 * 700)


def test_the_draws_of_the_later_price_are_those_of_its_range():
    change = {"value": -0.1, "low": -0.3, "high": 0.1}
    found = ways(own(capex_change_per_year=change), hourly(), draws=20_000)
    rest = 14_400 + 24 * 90
    # 5th and 95th percentile of the year's change: 0.7 and 1.1 of 36,000.
    assert found.loc[12.0, "usd_low"] == pytest.approx(36_000 * 0.7 + rest, rel=0.01)
    assert found.loc[12.0, "usd_high"] == pytest.approx(36_000 * 1.1 + rest, rel=0.01)
    assert found.loc[0.0, "usd_low"] == found.loc[0.0, "usd_high"] == pytest.approx(39_240)


def test_two_machines_share_how_prices_of_machines_go():
    change = {"value": 0.0, "low": -0.3, "high": 0.3}
    other = own(capex_change_per_year=change, capex=72000.0) | {"instance": "other"}
    table = compared(own(capex_change_per_year=change), other, hourly())["later"]
    later = table[table["after_months"] == 12].set_index("box")
    # Twice as dear in every draw: with noise of its own its percentiles would be off by some per cent.
    for end in ("low", "high"):
        assert later.loc["other", f"box_usd_{end}"] == pytest.approx(2 * later.loc["box", f"box_usd_{end}"], rel=1e-12)


def test_buying_later_is_among_the_options_of_the_plan():
    found = compared(own(capex_change_per_year={"value": -0.6}), hourly(2.0))
    # 12 x 400 + 36,000 x 0.4 + 24 x 90 = 21,360; never: 14,400
    whole = found["verdict"].set_index("workload").loc["work"]
    assert (whole["best"], whole["rival"]) == ("rented", "box after 12 months")
    assert whole["ratio"] == pytest.approx(21_360 / 14_400)
    dear = compared(own(capex_change_per_year={"value": -0.6}), hourly(4.0))
    # 12 x 800 + 14,400 + 2,160 = 26,160; never: 28,800
    whole = dear["choices"][dear["choices"]["cost"] == "rounds"].iloc[0]
    assert whole["choice"] == "box after 12 months"
    assert whole["title"] == "box in 12 months, rented until then"
    assert whole["hours"] == pytest.approx(7200)


def test_a_machine_of_other_months_is_named_and_not_reckoned():
    found = compared(own(months=48.0), hourly())["later"]
    assert found["status"].tolist() == ["is used for 48 months, the plan has 36", "ok"]
    assert found["option"].tolist() == ["box", "rented"]


def test_a_plan_that_does_not_ask_has_no_rows(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text("work: {kind: plan, months: 36}\nother: {kind: plan, months: 24, buy_after_months: [6]}\n")
    assert load_plans(file) == {"other": Plan("other", 24.0, (6.0,))}
    assert load_plans(tmp_path / "none.yaml") == {}


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("months: 36.0, renewed: true, buy_after_months: [12.0, 6.0]", "ascending months, all below months"),
        ("months: 12.0, renewed: true, buy_after_months: [12.0]", "found \\[12.0\\] and months 12"),
        ("renewed: true, buy_after_months: [6.0]", "and no months"),
        ("months: 36.0, buy_after_months: [6.0]", "renewed: true with buy_after_months"),
        ("months: 36.0, renewed: true, buy_after_months: [0.0]", "buy_after_months"),
    ],
)
def test_months_that_mean_nothing_are_refused(tmp_path, keys, reason):
    file = tmp_path / "workloads.yaml"
    phases = "phases: [{name: jobs, jobs: 1, hours: 1.0}]"
    file.write_text(f"work: {{kind: plan, model: vgg16, instance: box, parallel: 1, {keys}, {phases}, source: here}}\n")
    with pytest.raises(UserError, match=reason):
        load_workloads(file)


def side(name, **row):
    """An option of a plan whose figures are all certain."""
    facts = {"option": name, "row": 0, "purchase": "on_demand", "trend_kind": None, "trend_change": np.nan}
    held = row.pop("held", 0.0)
    running, term = row.pop("running"), row.pop("term", np.nan)
    ones = np.ones(2)
    return Side(facts | row, name, 100.0, running, held, ones, ones, 1.0, term)


NOTHING = np.ones((1, 2))
CERTAIN = Draws(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def ends(capex, residual, care, electricity, rent, change=0.0, months=36.0, after=(6.0, 12.0, 30.0)):
    """USD of buying at once, then after each of `after` months, then never."""
    plan = Plan("work", months, after)
    box = side("box", purchase="own", running=electricity * months, months=months, capex_usd=capex,
               residual_usd=residual * capex, maintenance_usd_per_month=care, staff_usd_per_month=0.0,
               discount_rate=0.0, capex_change=change)  # fmt: skip
    rented = [side("rented", running=rent * months)]
    later = [next(rent_then_buy(plan, box, rented, month, CERTAIN, 1)).usd for month in after]
    return [at_once(plan, box, CERTAIN, 1).usd, *later, next(never(plan, rented)).usd]


AMOUNT = st.floats(1.0, 1e5)


@given(AMOUNT, st.floats(0.0, 1.0), st.floats(0.0, 1e3), st.floats(0.0, 1e3), st.floats(1.0, 1e4))
def test_with_constant_prices_waiting_never_pays_where_buying_at_once_pays(capex, residual, care, electricity, rent):
    at, *later, without = ends(capex, residual, care, electricity, rent)
    if at <= without:
        assert all(one >= at * (1 - 1e-12) for one in later)


@given(AMOUNT, st.floats(0.0, 1e3), st.floats(0.0, 1e3), st.floats(1.0, 1e4))
def test_where_the_price_stays_all_ways_lie_between_now_and_never(capex, care, electricity, rent):
    at, *later, without = ends(capex, 0.0, care, electricity, rent)
    # Nothing comes back, so just before the end the purchase is still paid for, and all of the rent.
    assert all(one >= min(at, without) * (1 - 1e-12) for one in later)
    steps = np.diff([at, *later])
    assert (steps >= -1e-9 * capex).all() or (steps <= 1e-9 * capex).all()


@given(AMOUNT, st.floats(0.0, 0.5), st.floats(1.0, 1e4), st.lists(st.floats(-0.8, 0.5), min_size=2, max_size=4))
def test_the_cheaper_the_later_price_the_cheaper_is_waiting(capex, residual, rent, changes):
    found = [ends(capex, residual, 10.0, 10.0, rent, change) for change in sorted(changes)]
    for fallen, risen in pairwise(found):
        assert all(one <= other * (1 + 1e-12) for one, other in zip(fallen[1:4], risen[1:4], strict=True))
        assert fallen[0] == risen[0]
        assert fallen[4] == risen[4]


def test_the_sentences_say_what_waiting_costs_and_what_is_cheapest():
    found = compared(own(), hourly())["later"]
    assert later_in_words(found) == [
        "box, bought at once: 39,240 USD over 36 months.",
        "Bought in 6 months, renting rented until then: 45,900 USD, 6,660 more (6,660 to 6,660), almost "
        "certain (over 99 %).",
        "Bought in 12 months, renting rented until then: 52,560 USD, 13,320 more (13,320 to 13,320), almost "
        "certain (over 99 %).",
        "Cheapest of these is box, bought at once, almost certain (over 99 %).",
        "Never to buy costs 43,200 USD.",
    ]


def test_a_saving_and_never_buying_in_words():
    falling = compared(own(capex_change_per_year={"value": -0.6}), hourly(2.0))["later"]
    # 6 months: 2,400 + 36,000 x 0.4^0.5 + 30 x 90 = 27,868; 12 months: 21,360
    first, half, year, least = later_in_words(falling, "EUR")
    assert first == "box, bought at once: 39,240 EUR over 36 months."
    assert half.startswith("Bought in 6 months, renting rented until then: 27,868 EUR, 11,372 less (")
    assert year.startswith("Bought in 12 months, renting rented until then: 21,360 EUR, 17,880 less (")
    assert (
        least == "Cheapest of these is never to buy: rented for all 36 months, 14,400 EUR, almost certain (over 99 %)."
    )


def test_without_such_a_plan_nothing_is_said():
    assert later_in_words(pd.DataFrame()) == []
