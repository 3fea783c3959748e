"""Renting for some months and then buying, plans of phases and workloads of months: USD by hand, what never pays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from month_tables import LabOfFive
from phase_plans import CARE, RUNNING, compared, hourly, own
from sweetspot.decision.later import of_plan, ways_of
from sweetspot.decision.simulate import Draws
from sweetspot.errors import UserError
from sweetspot.study.needs import Dates, load_plans
from sweetspot.study.workloads import load_monthly, load_workloads


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
    assert found["status"].tolist() == ["is used for 48 months, the work lasts 36", "ok"]
    assert found["option"].tolist() == ["box", "rented"]


def test_a_plan_that_does_not_ask_has_no_rows(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text("work: {kind: plan, months: 36}\nother: {kind: plan, months: 24, buy_after_months: [6]}\n")
    assert load_plans(file) == {"other": Dates("other", 24.0, (6.0,))}
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
    facts = {"option": name, "title": name, "instance": name, "row": 0, "purchase": "on_demand", "trend_kind": None,
             "boxes": 1.0, "hours": 100.0, "usd_possession": np.zeros(3), "term_months": np.nan}  # fmt: skip
    return facts | row | {"usd_running": np.full(3, row["running"])}


NOTHING = np.ones((1, 2))
CERTAIN = Draws(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def ends(capex, residual, care, electricity, rent, change=0.0, months=36.0, after=(6.0, 12.0, 30.0)):
    """USD of buying at once, then after each of `after` months, then never."""
    box = side("box", purchase="own", running=electricity * months, months=months, capex_usd=capex,
               residual_usd=residual * capex, maintenance_usd_per_month=care, staff_usd_per_month=0.0,
               discount_rate=0.0, capex_change=change)  # fmt: skip
    asked = of_plan(Dates("work", months, after), [box, side("rented", running=rent * months)], None)
    return [way.usd[0] for way in ways_of(asked, CERTAIN, 1)]


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


ASKED = {"buy_after_months": [6.0, 12.0]}


def months_of(where, ours=None, rent=None):
    """The rows by months until the purchase; `ours`: keys of the box, `rent`: of the rented RTX 4090."""

    def box(prices):
        next(offer for offer in prices["offers"] if offer["instance"] == "box-4")["own"].update(ours or {})

    def cloud(prices):
        next(offer for offer in prices["offers"] if offer["instance"] == "runpod-1x4090").update(rent or {})

    lab = LabOfFive(where).edit("workloads.yaml", lambda work: work["lab"].update(ASKED))
    found = lab.edit("prices/ours.yaml", box).edit("prices/rent.yaml", cloud).tables(100)
    return found["later"].set_index("after_months"), found


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    return months_of(tmp_path_factory.mktemp("still"))


def test_a_month_of_waiting_costs_the_rent_less_what_the_box_saves_of_it(still):
    table, found = still
    at_once, never = table.loc[0.0, "usd"], table.loc[36.0, "usd"]
    # At once: the purchase and 36 months of care, running and what is rented beside it. Never: 36 months of rent.
    price = 14_900 * 1.1378
    month = (never - (at_once - table.loc[0.0, "box_usd"])) / 36
    assert table.loc[0.0, "box_usd"] == pytest.approx(price, rel=2e-3)  # the mean of the exchange rate's draws
    assert table.loc[6.0, "usd"] == pytest.approx(at_once + 6 * month)
    assert table.loc[12.0, "saved_usd"] == pytest.approx(-12 * month)
    # What is bought at once is the best mix of all.
    assert at_once == pytest.approx(found["choices"]["usd"].iloc[0])
    assert table["machines"].dropna().tolist() == [1, 1, 1]


def test_a_box_that_gets_cheaper_and_a_rent_that_rises(tmp_path, still):
    rises = {"trend": {"kind": "drift", "change_per_year": 0.44}}
    table, _ = months_of(tmp_path, {"capex_change_per_year": {"value": -0.19}}, rises)
    constant = still[0]
    for months, share in ((6.0, 0.9), (12.0, 0.81)):
        assert table.loc[months, "box_usd"] == pytest.approx(share * constant.loc[months, "box_usd"])
        # All that is rented until then is the RTX 4090: its months are 1, q, q^2, ... of today's, q = 1.44^(1/12).
        mean = (1.44 ** (months / 12) - 1) / (months * (1.44 ** (1 / 12) - 1))
        assert table.loc[months, "until"] == "runpod-1x4090"
        assert table.loc[months, "rent_usd"] == pytest.approx(mean * constant.loc[months, "rent_usd"], rel=0.02)


def test_a_box_that_is_used_for_other_months_is_named(tmp_path):
    table, _ = months_of(tmp_path, {"months": 48})
    assert table["status"].tolist() == ["is used for 48 months, the work lasts 36"]


def test_months_beyond_the_work_are_refused(tmp_path):
    lab = LabOfFive(tmp_path).edit("workloads.yaml", lambda work: work["lab"].update(buy_after_months=[12.0, 36.0]))
    with pytest.raises(UserError, match=r"buy_after_months by ascending months, all below 36, found \[12\.0, 36\.0\]"):
        load_monthly(lab.folder / "workloads.yaml")
