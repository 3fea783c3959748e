"""Renting for some months and then buying, every column by hand: of a plan of phases, and of work of months."""

from dataclasses import replace

import numpy as np
import pytest
from phase_plans import compared, hourly, own
from small_lab import class_of, same, small_lab
from sweetspot.decision.later import TABLE, buying_later, of_months, of_plan, why_not
from sweetspot.decision.simulate import Draws
from sweetspot.study.settings import Dates

EMPTY = np.ones((1, 3))
DRAWS = Draws(*[EMPTY] * 7)


def option(name, running, **more):
    """An option of a plan; `running`: USD by use, at central figures and in three draws."""
    return {"option": name, "title": name.title(), "instance": f"{name}-1", "row": 0, "purchase": "on_demand",
            "trend_kind": None, "boxes": 1.0, "hours": 360.0, "usd_possession": np.zeros(4), "term_months": np.nan,
            "usd_running": np.array(running, float)} | more  # fmt: skip


def machine(name, capex, running=(0.0,) * 4, **more):
    """One that is owned for 36 months, of which nothing but its price is paid."""
    terms = {"purchase": "own", "months": 36.0, "capex_usd": capex, "residual_usd": 0.0, "row": 1,
             "maintenance_usd_per_month": 0.0, "staff_usd_per_month": 0.0, "discount_rate": 0.0}  # fmt: skip
    return option(name, running, **(terms | more))


def table_of(*rows, after=(12.0,), months=36.0):
    found, among = buying_later([of_plan(Dates("work", months, after), rows, None)], DRAWS, 1)
    assert found.columns.tolist() == list(TABLE)
    return found, among


def test_every_column_of_each_way_by_hand():
    """Renting takes 3,600 of the plan, in the draws 3,000 to 5,400; two boxes of 1,500, their power 360 of the plan.

    At once 3,360. After a year: a third of the rent, 3,000 and two thirds of the power; in the draws as much more.
    """
    boxes = machine("box", 1500.0, [360.0] * 4, boxes=2.0, hours=180.0)
    cloud = option("cloud", [3600.0, 3000.0, 4200.0, 5400.0])
    found, among = table_of(boxes, option("dear", [9000.0] * 4), cloud)
    at_once, later, never = found.to_dict("records")
    plan = {"workload": "work", "months": 36.0, "status": "ok"}
    bought = {"box": "box", "box_title": "Box", "machines": 2.0, "box_usd": 3000.0, "box_usd_low": 3000.0,
              "box_usd_high": 3000.0}  # fmt: skip
    same(at_once, plan | bought | {
        "after_months": 0.0, "option": "box", "title": "Box", "until": None, "until_title": None, "rent_usd": 0.0,
        "usd": 3360.0, "usd_low": 3360.0, "usd_high": 3360.0, "saved_usd": None, "saved_usd_low": None,
        "saved_usd_high": None, "p_saves": None, "confidence": None, "p_cheapest": 2 / 3,
    })  # fmt: skip
    same(later, plan | bought | {
        "after_months": 12.0, "option": "box after 12 months", "title": "Box in 12 months, Cloud until then",
        "until": "cloud", "until_title": "Cloud", "rent_usd": 1200.0, "usd": 4440.0, "usd_low": 4240.0,
        "usd_high": 5040.0, "saved_usd": -1080.0, "saved_usd_low": -1680.0, "saved_usd_high": -880.0, "p_saves": 0.0,
        "confidence": "clear", "p_cheapest": 0.0,
    })  # fmt: skip
    same(never, plan | {
        "after_months": 36.0, "option": "cloud", "title": "Cloud", "box": None, "box_title": None, "machines": None,
        "until": "cloud", "until_title": "Cloud", "box_usd": None, "rent_usd": 3600.0, "usd": 3600.0, "usd_low": 3000.0,
        "usd_high": 5400.0, "saved_usd": None, "p_saves": None, "confidence": None, "p_cheapest": 1 / 3,
    })  # fmt: skip
    table, usd = among["work"]
    (row,) = table.to_dict("records")
    same(row, {
        "option": "box after 12 months", "box": "box", "instance": "box-1", "after_months": 12.0, "machines": 2.0,
        "title": "Box in 12 months, Cloud until then", "usd": 4440.0, "persistent": True, "boxes": 1.0,
        "purchase": "own", "planned_hours": None, "hours": 360 / 3 + 180 * 2 / 3,
    })  # fmt: skip
    assert usd.tolist() == [pytest.approx([3000 + 240 + part / 3 for part in (3000, 4200, 5400)])]


def test_waiting_that_saves_in_some_draws_says_in_how_many():
    """A fall to a quarter of the price in a year: 1,000 of 4,000; the rent of that year is 1,000, 2,999 and 3,000."""
    cloud = option("cloud", [3000.0, 3000.0, 8997.0, 9000.0])
    found, _ = table_of(machine("box", 4000.0, capex_change=-0.75), cloud)
    later = found.iloc[1]
    same(later, {"box_usd": 1000.0, "usd": 2000.0, "saved_usd": 2000.0, "saved_usd_low": 0.0, "saved_usd_high": 2000.0,
                 "p_saves": 2 / 3, "confidence": "too close to call"})  # fmt: skip
    assert [row["box_usd"] for _, row in found.iterrows()][:2] == pytest.approx([4000.0, 1000.0])
    # More than half of a year that loses nothing is as sure as its other side.
    losing, _ = table_of(machine("box", 4000.0), option("cloud", [3000.0] * 4))
    same(losing.iloc[1], {"p_saves": 0.0, "confidence": "clear"})


def test_machines_come_by_what_they_cost_at_once_and_then_by_name():
    rows = [machine("c", 500.0), machine("b", 900.0), machine("a", 900.0), machine("z", 1.0, months=24.0)]
    found, _ = table_of(*rows, option("cloud", [3600.0] * 4))
    assert found["option"].tolist() == [
        "c", "c after 12 months", "a", "a after 12 months", "b", "b after 12 months", "z", "cloud",
    ]  # fmt: skip
    same(found.iloc[6], {"after_months": 0.0, "status": "is used for 24 months, the work lasts 36", "box_title": "Z",
                         "machines": 1.0, "usd": None, "p_cheapest": None})  # fmt: skip


def test_where_nobody_can_rent_the_work_is_bought_at_once():
    """A contract of two years is no way through one: what is bought later then has no row; after two it has."""
    term = option("term", [0.0] * 4, purchase="reserved", term_months=24.0, usd_possession=np.full(4, 4800.0))
    found, _ = table_of(machine("box", 4000.0), term, after=(12.0, 24.0))
    assert found["after_months"].tolist() == [0.0, 24.0, 36.0]
    assert found["rent_usd"].tolist() == pytest.approx([0.0, 2400.0, 4800.0])  # one of the two terms
    alone, among = table_of(machine("box", 4000.0))
    assert alone["option"].tolist() == ["box"] and among == {}
    assert buying_later([], DRAWS, 1)[0].empty
    # What does not end in one of the draws does not do the work until then.
    late, _ = table_of(machine("box", 4000.0), option("cloud", [3600.0, 3600.0, np.inf, 3600.0]))
    same(late.iloc[1], {"after_months": 12.0, "usd": None, "rent_usd": None,
                        "status": "what you have and what is rented do not do the work until then"})  # fmt: skip


def test_the_drawn_price_of_this_machine_is_what_is_paid():
    class Figure:
        def __init__(self, name, values, rows):
            self.name, self.values, self.rows = name, np.array(values, float), rows

    draws = replace(DRAWS, figures=(
        Figure("capex_usd", [3000, 4000, 6000], [1]), Figure("capex_usd", [1, 1, 1], [7]),
        Figure("residual_usd", [300, 400, 600], [1]),
    ))  # fmt: skip
    box = machine("box", 4000.0, residual_usd=400.0)
    dates = Dates("work", 36.0, (12.0,))
    found, _ = buying_later([of_plan(dates, [box, option("cloud", [3600.0] * 4)], None)], draws, 1)
    same(found.iloc[0], {"box_usd": 4000.0, "box_usd_low": 3000.0, "box_usd_high": 6000.0, "usd": 3600.0,
                         "usd_low": 2700.0, "usd_high": 5400.0})  # fmt: skip


def test_reasons_not_to_wait():
    own, deal = machine("box", 1.0), option("deal", [1.0] * 4, purchase="reserved")
    assert why_not([(own, 1.0)], 36.0) == ""
    assert why_not([(own, 1.0)], 24.0) == "is used for 36 months, the work lasts 24"
    assert why_not([(own, 1.0), (deal, 1.0)], 36.0) == "the mix has contracts, which are signed for the whole project"


def ways(*rows, **keys):
    """The rows of the table by months until the purchase: 200 hours a month, 40 of electricity, 50 of care."""
    return compared(*rows, **keys)["later"].set_index("after_months")


def test_the_rent_until_then_is_that_of_its_own_months():
    found = ways(own(), hourly(2.0, trend={"kind": "drift", "change_per_year": -0.36}), draws=2)
    months = 400 * 0.64 ** (np.arange(36) / 12)  # 0.8 of today's after half a year
    assert found.loc[[6.0, 12.0], "rent_usd"].tolist() == pytest.approx([months[:6].sum(), months[:12].sum()])
    assert found.loc[36.0, "usd"] == pytest.approx(months.sum())
    # A path without spread: every draw is the central one.
    ends = found.loc[[6.0, 12.0], ["usd_low", "usd", "usd_high"]].to_numpy()
    assert ends == pytest.approx(np.repeat(ends[:, 1:2], 3, axis=1))


def test_at_the_end_it_is_sold_as_old_as_one_bought_at_once():
    curve = {"points": [[1.0, 0.8, 0.8, 0.8], [2.0, 0.7, 0.7, 0.7], [3.0, 0.5, 0.5, 0.5]], "share": 1.0}
    found = ways(own(residual=curve), hourly(), draws=2)
    # Half of 36,000 comes back after three years, not the 0.7 of a machine of two.
    assert found.loc[0.0, "usd"] == pytest.approx(36_000 - 18_000 + 36 * 90)
    assert found.loc[12.0, "usd"] == pytest.approx(14_400 + 36_000 - 18_000 + 24 * 90)
    cheap = ways(own(residual=curve, capex_change_per_year={"value": -0.6}), hourly(), draws=2)
    # Bought for 14,400, it is sold for no more than that.
    assert cheap.loc[12.0, "usd"] == pytest.approx(14_400 + 24 * 90)


def test_with_a_discount_rate_buying_at_once_is_the_plan_s_own_row():
    found = compared(own(discount_rate=0.08, residual=9000.0), hourly(), draws=2)
    total = found["choices"].query("cost == 'rounds'").iloc[0]
    assert (total["choice"], total["usd"]) == ("box", pytest.approx(found["later"].iloc[0]["usd"]))


def test_draws_of_later_prices_are_those_of_their_range_which_machines_share_and_rents_stay_with_their_parts():
    """A year's change of the price of 0.7 to 1.1; rented at 6 USD drawn 4 to 9 an hour: a year of 2,400 hours."""
    change = {"capex_change_per_year": {"value": -0.1, "low": -0.3, "high": 0.1}}
    other = own("other", capex=72_000.0, **change)
    table = compared(own(**change), other, hourly({"value": 6.0, "low": 4.0, "high": 9.0}), draws=4000)["later"]
    rows = table[table["box"] == "box"].set_index("after_months")
    assert rows.loc[12.0, ["box_usd_low", "box_usd_high"]].tolist() == pytest.approx([25_200, 39_600], rel=0.01)
    assert rows.loc[12.0, "usd"] == pytest.approx(14_400 + 32_400 + 24 * 90)
    assert rows.loc[12.0, "rent_usd"] == pytest.approx(14_400)
    assert rows.loc[12.0, "usd_low"] < 9600 + 32_400 + 24 * 90 < 21_600 + 32_400 + 24 * 90 < rows.loc[12.0, "usd_high"]
    assert rows.loc[0.0, ["usd_low", "usd_high"]].tolist() == pytest.approx([39_240.0] * 2)
    # Twice as dear in every draw: with noise of its own its percentiles would be off by some per cent.
    theirs = table[table["box"] == "other"].set_index("after_months").loc[12.0]
    assert theirs[["box_usd_low", "box_usd_high"]].tolist() == pytest.approx(
        (2 * rows.loc[12.0, ["box_usd_low", "box_usd_high"]]).tolist(), rel=1e-12
    )


def test_buying_later_is_among_the_options_of_the_plan_beside_what_stays():
    spot = {"instance": "taken", "purchase": "spot", "per_hour": 0.5}
    found = compared(own(capex_change_per_year={"value": -0.6}), hourly(4.0), spot, draws=2)
    # 12 x 800 + 14,400 + 2,160 = 26,160; never: 28,800
    whole = found["choices"].query("cost == 'rounds' and is_best").iloc[0]
    assert (whole["choice"], whole["title"], whole["hours"]) == (
        "box after 12 months", "box in 12 months, rented until then", pytest.approx(7200))  # fmt: skip
    assert found["later"]["until"].dropna().unique().tolist() == ["rented"]
    assert compared(own(), hourly(6.0), buying={}, draws=2)["later"].empty


OLD = own("old", capex=0.0)


def months_of(*offers, per_month, change=lambda one: one, **more):
    made = small_lab(*offers, jobs=[class_of("a", per_month)], hours={"a": 2.0}, buy_after_months=[6.0, 12.0], **more)
    asked = list(of_months([change(made[0])], made[2]))
    found, among = buying_later(asked, made[2], 1)
    return asked, found, among


def test_a_box_of_months_by_hand():
    """Ours does 240 of 480 hours for 48 USD and 50 of care; the other 240 are 1,440 USD rented, or a box.

    A box: 36,000, 50 a month of care and 48 of power; renting until then.
    """
    asked, found, among = months_of(OLD, own(), hourly(6.0), per_month=240.0, have=["old"])
    rented, running, box = 48 + 50 + 1440, 48 + 50 + 48, 36_000 + 36 * 50
    rows = found.set_index("after_months")
    assert rows["option"].tolist() == ["best", "best after 6 months", "best after 12 months", "never"]
    for after in (0.0, 6.0, 12.0):
        usd = after * rented + (36 - after) * (running + 50) + 36_000
        same(rows.loc[after], {
            "workload": "lab", "title": "box" if not after else f"box in {after:g} months, rented until then",
            "box": "best", "box_title": "box", "machines": 1.0, "until": "rented" if after else None, "months": 36.0,
            "until_title": "rented" if after else None, "box_usd": 36_000.0, "rent_usd": after * 1440.0, "usd": usd,
            "usd_low": usd, "usd_high": usd, "status": "ok", "p_saves": 0.0 if after else None,
            "saved_usd": -after * (rented - running - 50) if after else None,
        })  # fmt: skip
    same(rows.loc[36.0], {"title": "rented", "until": "rented", "box": None, "usd": 36 * rented,
                          "rent_usd": 36 * 1440.0})  # fmt: skip
    assert box == 37_800 and asked[0].mixed
    assert among["lab"][0]["hours"].isna().all()


def test_what_is_rented_beside_the_boxes_is_paid_at_the_prices_of_its_months():
    """Rents fall by 0.3 a year. 600 hours at 12 USD for a year; then two boxes do 480 and 120 are rented at the prices
    of the second and third year. A box: 36,000, 50 a month of care, 48 of power.
    """
    falls = hourly(12.0, trend={"kind": "drift", "change_per_year": -0.3})
    _, found, _ = months_of(own(), falls, per_month=300.0)
    monthly = [12.0 * 0.7 ** (month / 12) for month in range(36)]
    rows = found.set_index("after_months")
    assert rows.loc[0.0, "machines"] == 2.0
    boxes, until = 72_000 + 2 * (50 + 48) * 24, 600 * sum(monthly[:12])
    same(rows.loc[12.0], {"rent_usd": until, "usd": until + 120 * sum(monthly[12:]) + boxes})
    same(rows.loc[0.0], {"usd": 120 * sum(monthly) + 72_000 + 2 * (50 + 48) * 36})


def test_a_mix_that_buys_nothing_or_does_not_ask_has_no_row():
    assert months_of(OLD, own(), hourly(6.0), per_month=100.0, have=["old"])[0] == []
    made = small_lab(own(), hourly(6.0), jobs=[class_of("a", 240.0)], hours={"a": 2.0})
    assert made[0].mixes[0].bought and list(of_months([made[0]], made[2])) == []


def test_nothing_does_the_work_until_then():
    """A box and nothing to rent: it is bought at once, or the work is not done."""
    _, found, _ = months_of(own(), per_month=120.0)
    rows = found.set_index("after_months")
    assert rows["option"].tolist() == ["best", "best after 6 months", "best after 12 months"]
    same(rows.loc[6.0], {"status": "what you have and what is rented do not do the work until then", "rent_usd": None,
                         "usd": None, "until_title": "what you have", "until": None})  # fmt: skip
    assert rows["status"].tolist()[0] == "ok"


def test_a_contract_in_the_mix_is_not_put_off():
    deal = {"instance": "term", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 400.0}}
    _, found, _ = months_of(deal, hourly(6.0), per_month=240.0)
    assert found["status"].tolist() == ["the mix has contracts, which are signed for the whole project"]
    assert found["after_months"].tolist() == [0.0]
