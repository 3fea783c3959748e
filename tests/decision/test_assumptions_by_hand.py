"""What an answer may rest on, figure by figure: whose it is, its range and where that is from, what it moves."""

from dataclasses import astuple, replace

import numpy as np
import pytest
from sweetspot.decision.decision_problem import Choice, Parameter, ParameterValues, parameters_of, range_of
from sweetspot.decision.options import records
from three_kinds import SHARE, Market, hourly, own, price

BOX = own(capex={"value": 36_000.0, "low": 30_000.0, "high": 40_000.0}, residual=6000.0)
RENTED = hourly("rented", {"value": 6.0, "low": 5.0, "high": 7.0})


def rows_of(*offers, **market):
    """Rows of the options by name."""
    made = price(Market(offers, **market), kind=SHARE)
    return {row["option"]: row for row in records(made.options[made.options["workload"] == "job"])}


def found(*rows, speeds=(), there=(), days=30.5):
    """Assumptions of offers on such rows by (quantity, subject)."""
    offers = [replace(Choice.of(row), already_owned=row["option"] in there) for row in rows]
    return {(one.quantity, one.subject): one for one in parameters_of(offers, speeds, days)}


def ends(one):
    return pytest.approx((one.value, one.low, one.high)), one.range_basis


def told(value, low, high, basis="assumed"):
    return (value, low, high), basis


def test_every_figure_of_two_boxes_and_two_rentals():
    """A declared range is that of the list; else a fifth either way. A machine is sold for no more than it cost."""
    rows = rows_of(BOX, own("other"), RENTED, hourly("nodes", 13.0))
    box, other, rented, nodes = (rows[name] for name in ("box", "other", "rented", "nodes"))
    made = parameters_of([Choice.of(row) for row in (box, other, rented, nodes)], [box, rented], 30.5)
    mine, its, rents = frozenset([box["row"]]), frozenset([other["row"]]), {rented["row"], nodes["row"]}
    a_speed = "images_per_s|card of {}|1|vgg16|100.0"
    expected = [
        ("usd_per_hour", "rented", "price of rented", "USD/hour", 6.0, 5.0, 7.0, "declared", "usd_per_hour",
         frozenset([rented["row"]])),
        ("usd_per_hour", "nodes", "price of nodes", "USD/hour", 13.0, 10.4, 15.6, "assumed", "usd_per_hour",
         frozenset([nodes["row"]])),
        ("rents", "", "all rented prices", "times the plan", 1.0, 0.8, 1.2, "assumed", "usd_per_hour",
         frozenset(rents)),
        ("capex_usd", "box", "price of box", "USD", 36_000.0, 30_000.0, 40_000.0, "declared", "capex_usd", mine),
        ("residual_usd", "box", "resale value of box", "USD", 6000.0, 4800.0, 7200.0, "assumed", "residual_usd", mine,
         36_000.0),
        ("maintenance_usd_per_month", "box", "maintenance of box", "USD/month", 50.0, 40.0, 60.0, "assumed",
         "maintenance_usd_per_month", mine),
        ("kw", "box", "power of box", "kW", 1.0, 0.8, 1.2, "assumed", "kw", mine),
        ("capex_usd", "other", "price of other", "USD", 36_000.0, 28_800.0, 43_200.0, "assumed", "capex_usd", its),
        ("maintenance_usd_per_month", "other", "maintenance of other", "USD/month", 50.0, 40.0, 60.0, "assumed",
         "maintenance_usd_per_month", its),
        ("kw", "other", "power of other", "kW", 1.0, 0.8, 1.2, "assumed", "kw", its),
        ("usd_per_kwh", "list", "electricity price", "USD/kWh", 0.2, 0.16, 0.24, "assumed", "usd_per_kwh", mine | its),
        ("months", "", "length of the project", "months", 36.0, 28.8, 43.2, "assumed", "months", mine | its | rents),
        ("days_per_month", "", "days of use a month", "days/month", 10.0, 8.0, 12.0, "assumed", "days_per_month",
         mine | its, 30.5),
        ("speed", a_speed.format("box"), "speed of card of box on VGG-16", "times the plan", 1.0, 0.8, 1.2, "assumed",
         "images_per_s", mine),
        ("speed", a_speed.format("rented"), "speed of card of rented on VGG-16", "times the plan", 1.0, 0.8, 1.2,
         "assumed", "images_per_s", frozenset([rented["row"]])),
    ]  # fmt: skip
    for one, by_hand in zip(made, expected, strict=True):
        words, numbers = by_hand[:4] + by_hand[7:10], by_hand[4:7]
        figures = astuple(one)
        assert (*figures[:4], *figures[7:10]) == words
        assert figures[4:7] == pytest.approx(numbers) and one.maximum == (by_hand[10] if len(by_hand) > 10 else np.inf)
    lists = {"A": box, "B": other}
    apart = [Choice.of({**row, "price_list": name, "price_list_title": name}) for name, row in lists.items()]
    tariffs = [one.name for one in parameters_of(apart, [box], 30.5) if one.quantity == "usd_per_kwh"]
    assert tariffs == ["electricity price of A", "electricity price of B"]


def test_of_a_machine_that_is_there_its_power_counts_and_no_price():
    """What it cost is spent; months and days of use are those of the team, of what it has and of what it buys."""
    rows = rows_of(BOX, own("other"), RENTED)
    names = found(rows["box"], rows["rented"], there=("box",))
    assert set(names) == {("kw", "box"), ("usd_per_kwh", "list"), ("usd_per_hour", "rented")}
    both = found(rows["box"], rows["other"], there=("box",))
    all_owned = frozenset([rows["box"]["row"], rows["other"]["row"]])
    assert both["months", ""].rows == both["days_per_month", ""].rows == both["usd_per_kwh", "list"].rows == all_owned


def test_what_is_nothing_does_not_move_and_a_machine_is_sold_for_no_more_than_its_price():
    row = rows_of(own(), own("free", capex=0.0, kw=0.0, maintenance_per_month=0.0))["free"]
    assert set(found(row | {"usd_per_kwh": 0.0})) == {("months", ""), ("days_per_month", "")}
    assert set(found(row | {"usd_per_kwh": np.nan, "maintenance_usd_per_month": 0.5})) == {
        ("months", ""), ("days_per_month", ""), ("maintenance_usd_per_month", "free"),
    }  # fmt: skip
    row = rows_of(own(residual=34_000.0))["box"]
    assert ends(found(row)["residual_usd", "box"]) == told(34_000.0, 27_200.0, 36_000.0)


def test_months_are_those_of_the_reference_and_days_at_most_those_of_a_month():
    rows = rows_of(own("first", months=24.0), own("second", months=48.0), RENTED)
    first, second = (rows[name] | {"is_reference": name == "second"} for name in ("first", "second"))
    assert found(first, second)["months", ""].value == 48.0
    assert found(first, second | {"is_reference": False})["months", ""].value == 24.0
    many = rows_of(own(days_per_month=28.0))["box"]
    assert ends(found(many, days=30.5)["days_per_month", ""]) == told(28.0, 22.4, 30.5)


def test_one_price_a_machine_in_whichever_number_of_nodes():
    """That of the smallest; one rental alone has no price of all."""
    row = rows_of(own(), RENTED)["rented"]
    more = row | {"row": 9, "option": "two nodes", "gpus": 2, "usd_per_hour": 12.0, "title": "two nodes"}
    names = found(more, row)
    assert names["usd_per_hour", "rented"].rows == frozenset([9, row["row"]])
    assert ends(names["usd_per_hour", "rented"]) == told(6.0, 5.0, 7.0, "declared")
    assert names["rents", ""].rows == frozenset([9, row["row"]])
    assert ("rents", "") not in found(row)


def test_a_rent_that_moves_is_told_as_its_mean_over_the_project():
    """Three tenths less a year, 36 months by the month; prices that stay are none of it."""
    trend = {"kind": "drift", "change_per_year": -0.3, "low": -0.4, "high": -0.1}
    rows = rows_of(own(), hourly("moves", 6.0, trend=trend), hourly("stays", 7.0))
    one = found(rows["box"], rows["moves"], rows["stays"])["rent_factor", ""]
    assert one.name == "mean rent over the project" and one.unit == "times the plan"
    assert (one.range_basis, one.rows) == ("price paths", frozenset([rows["moves"]["row"]]))

    def mean(change):
        return sum((1 + change) ** (month / 12) for month in range(36)) / 36

    assert one.value == pytest.approx(mean(-0.3))
    assert mean(-0.4) < one.low < one.value < one.high < mean(-0.1)
    certain = rows_of(own(), hourly("moves", 6.0, trend={"kind": "drift", "change_per_year": -0.3}))
    same = found(certain["box"], certain["moves"])["rent_factor", ""]
    assert (same.low, same.high) == (pytest.approx(mean(-0.3)), pytest.approx(mean(-0.3)))


def speed(*rows):
    return [one for key, one in found(*rows, speeds=rows).items() if key[0] == "speed"]


def test_speeds_with_one_error_move_together_and_have_the_range_of_the_first():
    row = rows_of(RENTED, own())["rented"]
    box = row | {"images_per_s": 50.0, "images_per_s_low": 40.0, "images_per_s_high": 75.0}
    (one,) = speed(box, box | {"row": 9, "option": "twin"})
    assert (one.rows, ends(one)) == (frozenset([row["row"], 9]), told(1.0, 0.8, 1.5, "interval"))
    (assumed,) = speed(box | {"assumed_interval": True})
    assert assumed.range_basis == "assumed" and assumed.high == 1.5
    assert assumed.subject == f"card|{row['gpu']}|{row['framework']}"
    (predicted,) = speed(row | {"throughput_basis": "extrapolated"})
    assert predicted.name == "speed of rented on VGG-16"  # the error is the machine's, not that of its card
    (timed,) = speed(row | {"throughput_basis": "measured", "figure_gpus": 2.0})
    assert timed.name == "speed of 2 × card of rented on VGG-16"  # two together have a figure of their own
    # What has no speed has none to move, and the next does.
    made = speed(row | {"images_per_s": np.nan, "gpu": "none"}, row | {"row": 9, "images_per_s": 0.0, "gpu": "nought"},
                 row | {"row": 10, "images_per_s": 0.5})  # fmt: skip
    assert [one.rows for one in made] == [frozenset([10])]


@pytest.mark.parametrize(("figure", "low", "high", "expected"), [
    ("kw", 0.5, 2.0, (0.5, 2.0, "declared")),
    ("kw", None, None, (0.8, 1.2, "assumed")), ("kw", np.nan, np.nan, (0.8, 1.2, "assumed")),
    ("kw", 1.0, None, (0.8, 1.2, "assumed")), ("kw", None, 2.0, (0.8, 1.2, "assumed")),
    ("kw", 1.0, 1.0, (0.8, 1.2, "assumed")),
    ("images_per_s", 0.5, 2.0, (0.5, 2.0, "interval")),
])  # fmt: skip
def test_a_range_is_the_declared_one_or_a_fifth_either_way(figure, low, high, expected):
    row = {f"{figure}_low": low, f"{figure}_high": high, "assumed_interval": False}
    assert range_of(row, figure, 1.0) == (*map(pytest.approx, expected[:2]), expected[2])
    assert range_of({"assumed_interval": False}, "kw", 10.0) == (8.0, 12.0, "assumed")


def test_values_move_the_rows_that_they_are_of_and_multiply():
    def a(figure, rows, subject=""):
        return Parameter(figure, subject, f"{figure} {sorted(rows)}", "", 1.0, 1.0, 1.0, "", figure, frozenset(rows))

    work, jobs = a("jobs", (), ""), a("jobs", (), "a")
    moved = ParameterValues(
        2, {a("kw", (1, 2)): 2.0, a("kw", (2,)): 3.0, a("months", (2,)): 5.0, work: 7.0, jobs: 11.0}
    )
    assert [moved.of(label)("kw") for label in (1, 2, 3, None)] == [2.0, 6.0, 1.0, 1.0]
    assert (moved.of(1)("months"), moved.of(2)("months")) == (1.0, 5.0)
    assert [label in moved.rows for label in (1, 2, 3)] == [True, True, False]
    assert (moved.work("jobs"), moved.work("jobs", "a"), moved.work("jobs", "b")) == (77.0, 77.0, 7.0)
    assert moved.work("kw") == 6.0 and moved.work("days") == 1.0
    single = ParameterValues(3, {work: np.array([1.0, 2.0, 3.0])})
    assert single.cases == 3 and single.work("jobs").tolist() == [1.0, 2.0, 3.0]
