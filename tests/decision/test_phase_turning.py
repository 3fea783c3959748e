"""What turns a plan of phases: by hand, put into its price list, in which direction; what it is worth to know.

3,600 jobs of two hours in 36 months. The box: 36,000 USD, 50 a month of care, 1 kW at 0.2 USD/kWh, ten days a month:
8,640 h. It costs 36,000 + 1,800 + 7,200 x 0.2 = 39,240 USD; rented at 6 USD an hour the work is 43,200.
"""

import math
from statistics import NormalDist

import numpy as np
import pytest
from phase_plans import compared, hourly, own

BOX, RENT, HELD, RUNNING = 39_240.0, 43_200.0, 37_800.0, 1440.0
APART = RENT - BOX
# The two machines have other devices: their speeds are off by other errors.
OTHERS = {"rented": {"gpu": "H9"}, "dearer": {"gpu": "H8"}}
DEARER = hourly(7.0) | {"instance": "dearer"}


def points(*rows, **keys):
    table = compared(*rows, **{"facts": OTHERS, "draws": 20, "buying": {}} | keys)["turning_points"]
    return {(row["assumption"], row["side"]): row for row in table.to_dict("records")}


@pytest.fixture(scope="module")
def plain():
    return points(own(), hourly(), DEARER)


def test_every_turning_point_by_hand(plain):
    """Prices are lines; with a fifth more work, or slower, or on fewer days, there are two boxes, and renting pays."""
    expected = {
        ("price of rented", "below"): 6.0 * BOX / RENT,
        ("price of dearer", "below"): 6.0 * BOX / RENT,
        ("all rented prices", "below"): BOX / RENT,
        ("price of box", "above"): 36_000 + APART,
        ("maintenance of box", "above"): 50 + APART / 36,
        ("power of box", "above"): 1 + APART / RUNNING,
        ("electricity price", "above"): 0.2 * (1 + APART / RUNNING),
        # 36 of f x 36 months that 36,000 USD are spread over
        ("length of the project", "below"): 36 * 36_000 / (36_000 + APART),
        ("days of use a month", "below"): 10 * 7200 / 8640,
        ("speed of a card on VGG-16", "below"): 7200 / 8640,
        ("speed of H9 on VGG-16", "above"): RENT / BOX,
        ("speed of H8 on VGG-16", "above"): RENT * 7 / 6 / BOX,
        ("amount of work", "below"): HELD / (RENT - RUNNING),
        ("amount of work", "above"): 8640 / 7200,
    }
    assert {key: row["turning_value"] for key, row in plain.items()} == pytest.approx(expected, rel=1e-5)
    assert {row["to_title"] for key, row in plain.items() if "dearer" not in key[0] and "H8" not in key[0]} == {
        "rented"
    }
    first = next(iter(plain.values()))
    assert (first["best_title"], first["boxes"], first["rented"]) == ("box", 0, "rented")
    assert first["usd_per_month"] == pytest.approx(first["usd"] / 36)


def test_a_dearer_rival_never_helps_itself_and_a_dearer_box_never_the_box(plain):
    asked = ("usd_per_hour", "rents", "capex_usd", "kw", "usd_per_kwh", "maintenance_usd_per_month")
    sides = {name: {row["side"] for row in plain.values() if row["quantity"] == name} for name in asked}
    assert sides.pop("usd_per_hour") == {"below"} == sides.pop("rents")
    assert all(side == {"above"} for side in sides.values())


def test_where_renting_is_the_best_it_is_left_as_it_gets_dearer():
    found = points(own(), hourly(5.0), DEARER)
    rent = found["price of rented", "above"]
    assert rent["turning_value"] == pytest.approx(BOX / 7200) and (rent["to_title"], rent["boxes"]) == ("box", 1)
    assert found["price of box", "below"]["turning_value"] == pytest.approx(36_000 - (BOX - 36_000))
    assert ("days of use a month", "below") not in found  # fewer days make nobody buy


def test_the_tornado_by_hand():
    """The margin at either end of a range; at eight days a month there are two boxes."""
    days = {"value": 10.0, "low": 8.0, "high": 12.0}
    table = compared(own(days_per_month=days), hourly(), facts=OTHERS, draws=20, buying={})["tornado"]
    rows = table.set_index("assumption")
    fewer = rows.loc["days of use a month"]
    assert fewer[["margin_low", "margin", "margin_high"]].tolist() == pytest.approx(
        [RENT / (2 * HELD + RUNNING), RENT / BOX, RENT / BOX]
    )
    assert (fewer["range_basis"], bool(fewer["flips"]), fewer["winner_low"]) == ("declared", True, "rented")
    rent = rows.loc["price of rented"]
    assert (rent["margin_low"], rent["margin_high"]) == pytest.approx((0.8 * RENT / BOX, 1.2 * RENT / BOX))
    assert (rent["usd_low"], rent["usd_per_month"]) == pytest.approx((BOX, BOX / 36))
    work = rows.loc["amount of work"]
    assert work["margin_low"] == pytest.approx(0.8 * RENT / (HELD + 0.8 * RUNNING))
    assert work["margin_high"] == pytest.approx(1.2 * RENT / (HELD + 1.2 * RUNNING))  # just what one box can do
    assert rows["swing"].is_monotonic_decreasing and rows["margin"].nunique() == 1


def test_more_nodes_of_the_best_get_dearer_with_it():
    """Rented at 0.5, two nodes at 1.1 for 1.8 times the work, the next at 0.9 for 1.2: left at 0.75 of an hour."""
    facts = {"rented": {"gpu": "H9", "gpus": 8}, "nodes": {"gpu": "H9", "gpus": 16, "nodes": 2},
             "other": {"gpu": "H9", "gpus": 8, "provider": "cloudier"}}  # fmt: skip
    speeds = {"nodes": (180.0, 180.0, 180.0), "other": (120.0, 120.0, 120.0)}
    rows = (own(), hourly(0.5), hourly(1.1) | {"instance": "nodes"}, hourly(0.9) | {"instance": "other"})
    found = points(*rows, facts=facts, speeds=speeds)
    rent = found["price of rented", "above"]
    assert (rent["turning_value"], rent["to_title"]) == (pytest.approx(0.75), "other")
    assert not any("nodes" in row["to_title"] for row in found.values())


def test_from_how_much_work_and_on_how_many_days_owning_pays():
    table = compared(own(), hourly(), facts=OTHERS, draws=20, buying={})["break_even"].set_index("quantity")
    assert table.loc["jobs", "pays_from"] == pytest.approx(3600 * HELD / (RENT - RUNNING), rel=1e-3)
    assert table.loc["days_per_month", "pays_from"] == pytest.approx(10 * 7200 / 8640, rel=1e-3)
    # With a fifth more there are two boxes: 77,040 USD against 51,840.
    assert table.loc["jobs", "pays_until"] == pytest.approx(3600 * 8640 / 7200, rel=1e-3)
    assert table.loc["jobs", "text"].startswith("box pays from 3,259 to 4,3")
    assert table["assumption"].to_dict() == {
        "jobs": "the work of the plan", "days_per_month": "days of use a month"}  # fmt: skip
    assert math.isnan(table.loc["days_per_month", "pays_until"])
    # All draws are the central ones, and so are the ends.
    days = table.loc["days_per_month"]
    assert days["pays_from_low"] == days["pays_from_high"] == days["pays_from"]
    assert table["p_pays"].tolist() == [1.0, 1.0]
    dear = compared(own(), hourly(1.0), facts=OTHERS, draws=20, buying={})["break_even"].set_index("quantity")
    # A box does 1.2 times the work: 37,800 USD are never less than 1.2 x 7,200 x 0.8.
    assert dear["pays_from"].isna().all() and (dear["p_pays"] == 0).all()
    assert dear.loc["days_per_month", "text"] == "box pays at no number up to 30.5 days/month"


def test_the_ends_of_the_break_even_are_those_of_the_rent():
    """From 5.2 to 7.2 USD an hour: 37,800 / (7,200 x rent - 1,440) of the jobs."""
    ranged = hourly({"value": 6.0, "low": 5.2, "high": 7.2})
    table = compared(own(), ranged, facts=OTHERS, draws=4000, buying={})["break_even"].set_index("quantity")
    low, high = (3600 * HELD / (7200 * rent - RUNNING) for rent in (7.2, 5.2))
    assert table.loc["jobs", ["pays_from_low", "pays_from_high"]].tolist() == pytest.approx([low, high], rel=0.01)


def test_the_worth_of_knowing_the_rent_by_its_closed_form():
    """The box is certain, the rent log-normal: E min(R, B) is Black's formula (docs/decision.md)."""
    ranged = hourly({"value": 5.6, "low": 5.6 / 1.2, "high": 5.6 * 1.2})
    found = compared(own(), ranged, facts=OTHERS, draws=20_000, buying={})["worth_knowing"]
    row = found.set_index("assumption").loc["price of rented"]
    normal, mu, s = NormalDist(), np.log(7200 * 5.6), np.log(1.2) / 1.6449
    mean = np.exp(mu + s * s / 2)
    least = mean * normal.cdf((np.log(BOX) - mu - s * s) / s) + BOX * normal.cdf((mu - np.log(BOX)) / s)
    assert row["project_usd"] == pytest.approx(min(mean, BOX), rel=0.01)
    assert row["evppi_usd"] == pytest.approx(min(mean, BOX) - least, abs=4 * row["evppi_se_usd"])
    assert row["evppi_usd"] > 500
    assert row["turning_point"] == pytest.approx(BOX / 7200)
    assert (
        found["evppi_usd"].drop(row.name if row.name in found.index else [], errors="ignore").max() == row["evppi_usd"]
    )


def test_a_contract_works_all_hours_of_its_terms_and_a_second_is_signed_beyond():
    """One month of 732 h for 700 USD, 36 times: 26,352 h. Of 36,000 h two contracts do each half."""
    deal = {"instance": "rented", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 700.0}}
    more = {"phases": [{"name": "jobs", "jobs": 3600, "hours": 10.0}]}
    for work, count, title in (({}, 1, "rented (reserved)"), (more, 2, "2 × rented (reserved)")):
        table = compared(own(), deal, work=work, facts=OTHERS, draws=20, buying={})["choices"]
        row = table[table["cost"] == "rounds"].set_index("choice").loc["rented (reserved)"]
        assert (row["usd"], row["title"]) == (pytest.approx(count * 36 * 700), title)


@pytest.mark.parametrize(("month", "pays"), [(1060.0, False), (1120.0, True)])
def test_a_box_that_pays_beside_rent_has_a_contract_to_beat_too(month, pays):
    """37,800 and 1,440 USD of running, beside 43,200 of rent: from 37,800 / 41,760 of the work, until a second box. A
    contract of 36 x 1,060 = 38,160 is the cheaper from a quarter of the work on; 36 x 1,120 = 40,320 from 1.75 times.
    """
    deal = {"instance": "signed", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": month}}
    table = compared(own(), hourly(), deal, draws=20, buying={})["break_even"].set_index("quantity")
    least = pytest.approx(3600 * 37_800 / 41_760, rel=1e-3)
    assert table.loc["jobs", "pays_from"] == least if pays else math.isnan(table.loc["jobs", "pays_from"])
    assert table.loc["jobs", "p_pays"] == pays


def test_more_work_than_a_contract_has_hours_for_is_no_bargain():
    """Rented at 2 USD an hour; a machine half as fast for 1,000 USD a month does 26,352 / 14,400 of the work.

    Signed twice it costs 72,000 USD: where the box overtakes the rent, at 37,800 / (14,400 - 1,440) of the work, once
    for all work it would be the cheapest.
    """
    deal = {"instance": "slow", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 1000.0}}
    facts, slow = OTHERS | {"slow": {"gpu": "H7"}}, {"slow": (50.0, 50.0, 50.0)}
    box = own(days_per_month=30.5)
    table = compared(box, hourly(2.0), deal, speeds=slow, facts=facts, draws=20, buying={})["break_even"]
    row = table.set_index("quantity").loc["jobs"]
    expected = pytest.approx(3600 * HELD / (14_400 - RUNNING), rel=1e-3)
    assert (row["pays_from"], row["pays_from_low"], row["pays_from_high"]) == (expected, expected, expected)
