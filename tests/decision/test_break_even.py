"""From how many days, and months, a box pays: whole rows on drawn values that stand in the test; curve and surface."""

import math

import numpy as np
import pytest
from decision_tables import BOX, RENTED, asked, box_offer, drawn, offer, options_of
from sweetspot.decision.breakeven import Month, break_even, crossing, surface, utilisation
from three_kinds import Market, hourly, own, price

HOUR = 3.06 * 498 / 225  # USD that p3.2xlarge asks for the work of one box hour: 6.7728
FIXED = 6500 / 30
TWO = (box_offer(), 498.0, 4), (offer(RENTED, "on_demand", 3.06), 225.0, 1)
STEPS = [100 + 10 * step for step in range(21)]  # of 21 draws the 5 % and 95 % are the second and the last but one


def second(rate=400.0, **terms):
    """Another box."""
    return box_offer(**terms) | {"instance": "second"}, rate, 4


def row_of(*entries, price_p3=3.06, **changes):
    """The first row of days, in draws that are given; against what is rented, unless offers are given."""
    entries = entries or (TWO[0], (offer(RENTED, "on_demand", price_p3), 225.0, 1))
    options = options_of(*entries)
    return break_even(options, drawn(options, **changes), 30.5).iloc[0]


def test_a_row_of_days_by_hand():
    row = row_of(fixed={BOX: STEPS})
    expected = {
        "workload": "vgg16", "model": "vgg16", "title": BOX, "quantity": "days_per_month", "unit": "days/month",
        "assumption": "days of use a month", "planned": 10.0, "reference": BOX, "option": RENTED, "instance": RENTED,
        "purchase": "on_demand", "price_list": "on_demand", "persistent": True, "basis": "published", "p_pays": 1.0,
        "p_cheaper": 1.0, "verdict": "from 1.4 days a month (0.7 to 1.8); pays at the planned use of 10",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    days, twice = ([fixed / 24 / (hour - 0.2) for fixed in (FIXED, 110, 290)] for hour in (HOUR, HOUR / 2))
    assert row[["days", "days_low", "days_high"]].tolist() == pytest.approx(days)
    assert row[["break_even_value", "break_even_low", "break_even_high"]].tolist() == pytest.approx(days)
    assert row[["twice_as_cheap_days", "twice_low", "twice_high"]].tolist() == pytest.approx(twice)
    assert row["gain_at_use"] == pytest.approx(HOUR / (FIXED / 240 + 0.2))
    # 1 box hour at full use: 216.667 / 732 + 0.2; the rental that costs as much for the same work
    assert row["never_below_usd_per_hour"] == pytest.approx((FIXED / 732 + 0.2) * 225 / 498)
    assert row["never_above_usd_per_kwh"] == pytest.approx(HOUR - FIXED / 732)  # 1 kW
    assert row["months_needed"] == pytest.approx(6500 / (240 * (HOUR - 0.2)))


def test_the_share_of_draws_in_which_the_box_is_cheaper_and_in_which_it_ever_pays():
    centre = options_of(*TWO).set_index("option")["images_per_usd"]
    # gain 2, 1.1, 1 (a tie: half), 0.5; and 720 USD a month: 30 / 6.5728 = 4.6 days; 24,000: 152 days, beyond the month
    images = {BOX: [centre[RENTED] * gain for gain in (2, 1.1, 1, 0.5)]}
    row = row_of(images_per_usd=images, fixed={BOX: [720, 720, 24_000, 24_000]})
    assert (row["p_cheaper"], row["p_pays"]) == (0.625, 0.5)
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((0.5, 2))
    assert row["verdict"] == "from 1.4 days a month (4.6 to never); pays at the planned use of 10"


def exact(**box):
    """A box at 1 image/s and 0 USD an hour of electricity, against a rival that asks 1 USD for each of its hours."""
    options = options_of((box_offer(kw=0.0), 498.0, 4), TWO[1])
    own = {"images_per_s": 1.0, "variable_usd_per_hour": 0.0, "fixed_usd_per_month": 732.0, **box}
    for name, value in own.items():
        options.loc[options["option"] == BOX, name] = value
    options.loc[options["option"] == RENTED, "images_per_usd"] = 3600.0
    return options


def test_the_last_day_of_the_month_still_pays():
    # 732 USD a month / (24 x 1 USD) = 30.5 days: the whole month, in all draws; 240 USD: 10 days, which are planned
    row, tenth = (break_even(each, drawn(each), 30.5).iloc[0] for each in (exact(), exact(fixed_usd_per_month=240.0)))
    assert (row["days"], row["days_low"], row["p_pays"]) == (30.5, 30.5, 1.0)
    assert row["verdict"] == "from 30.5 days a month (30.5 to 30.5); does not pay at the planned use of 10"
    assert tenth["verdict"].endswith("; pays at the planned use of 10")
    assert math.isnan(tenth["never_above_usd_per_kwh"])  # free electricity


def test_a_row_against_another_box_by_hand():
    # the second for the work of 498 images/s: 1.245 x 100 USD a month and 1.245 x 0.3 an hour
    options = options_of(TWO[0], second(capex_usd=3000.0, kw=1.5))
    draws = drawn(options, fixed={"second": [90 + step for step in range(21)]})
    row = break_even(options, draws, 30.5).iloc[0]
    ends = [(FIXED - 1.245 * fixed) / 24 / (1.245 * 0.3 - 0.2) for fixed in (100, 109, 91)]
    assert row[["days", "days_low", "days_high"]].tolist() == pytest.approx(ends)
    gain = (124.5 / 240 + 0.3735) / (FIXED / 240 + 0.2)
    assert (row["gain_at_use"], row["p_cheaper"], row["p_pays"]) == (pytest.approx(gain), 0.0, 1.0)
    assert row[["never_below_usd_per_hour", "never_above_usd_per_kwh"]].isna().all()
    # half of that costs less an hour than the box: never
    assert row[["twice_as_cheap_days", "twice_low", "twice_high"]].isna().all()
    curve = utilisation(options, draws, 30.5).set_index("days").loc[10.0]
    assert curve["gain"] == pytest.approx(gain)
    assert [curve["gain_low"], curve["gain_high"]] == pytest.approx(
        [(1.245 * fixed / 240 + 0.3735) / (FIXED / 240 + 0.2) for fixed in (91, 109)]
    )


@pytest.mark.parametrize(
    ("box", "rival", "factor", "days"),
    [
        (Month(240.0, 0.0), Month(0.0, 1.0), 1.0, 10.0),
        (Month(240.0, 0.0), Month(240.0, 2.0), 2.0, 5.0),  # half the rival's month and hour: 120 / (24 x 1)
        (Month(0.0, 2.0), Month(240.0, 1.0), 1.0, 0.0),  # on ten days both take 2 USD an hour: it reaches the planned
        (Month(1.0, 2.0), Month(240.0, 1.0), 1.0, math.inf),
        (Month(100.0, 1.0), Month(100.0, 1.0), 1.0, 0.0),  # the same machine
        (Month(101.0, 1.0), Month(100.0, 1.0), 1.0, math.inf),
        (Month(100.0, 1.0), Month(101.0, 1.0), 1.0, 0.0),
        (Month(100.0, 1.0), Month(101.0, 2.0), 1.0, 0.0),  # cheaper on all days
    ],
)
def test_days_from_which_a_box_costs_no_more(box, rival, factor, days):
    assert float(crossing(box, rival, 10.0, factor)) == pytest.approx(days)


def signed(usd):
    """A contract by the month."""
    terms = {"term_months": 12.0, "per_month": usd}
    return {"instance": "signed", "purchase": "reserved", "commitment": terms, "days_per_month": 10.0}


@pytest.mark.parametrize(("month", "days", "months"), [(1200.0, 0.0, 36_000 / (1200 - 50 - 48)), (900.0, None, None)])
def test_beside_a_contract_a_box_pays_on_the_days_planned_or_on_none(month, days, months):
    """1,050 and 48 USD of running in ten days; on more days the box costs more and the contract does not."""
    made = price(Market((own(), hourly("rented", 6.0), signed(month))))
    table = break_even(made.options, made.draws, 30.5).set_index("option")
    row = table.loc["signed (reserved)"]
    assert (None if np.isnan(row["days"]) else row["days"]) == days
    assert row["p_pays"] == (days == 0.0) and np.isnan(row["never_below_usd_per_hour"])
    if months is not None:
        assert row["months_needed"] == pytest.approx(months)
    curve = utilisation(made.options, made.draws, 30.5).set_index(["option", "days"])["gain"]
    assert curve["signed (reserved)", 20.0] == pytest.approx(month / (1050 + 20 * 4.8))
    assert table.loc["rented", "days"] == pytest.approx(1050 / (24 * 5.8))


def months_needed(*entries):
    return row_of(*entries)["months_needed"]


@pytest.mark.parametrize(
    ("months", "beyond", "needed"),
    [
        (30.0, 12.5, 13), (30.0, 47.5, 48), (1.0, 12.5, 13), (0.5, 12.5, 13), (30.0, -1.0, 1), (700.0, 599.9, 600),
        (30.0, 599.9, 600), (30.0, 600.9, None),  # nobody plans for more than 600 months
    ],
)  # fmt: skip
def test_months_from_which_a_dear_box_of_little_power_pays(months, beyond, needed):
    """240 h a month x 0.05 USD are 12 USD a month: so many times that dearer, `beyond` months are needed."""
    box = box_offer(capex_usd=1000.0 + 12.0 * beyond, months=months)
    found = months_needed((box, 498.0, 4), second(498.0, capex_usd=1000.0, kw=1.25, months=months))
    assert found == needed or (needed is None and math.isnan(found))


def test_months_needed_where_short_projects_pay_or_money_has_a_rate_or_the_box_stands_still():
    """18 USD cheaper and 12 a month dearer: up to a month and a half. The annuity of 6500 USD at 10 % a year; and a
    month of 220 USD that nine hours of ten bear.
    """
    box = box_offer(capex_usd=1000.0, kw=1.25, months=1.0)
    assert months_needed((box, 498.0, 4), second(498.0, capex_usd=1018.0, months=1.0)) == 1.0
    rate = 1.1 ** (1 / 12) - 1
    annuity = {months: 6500 * rate / (1 - (1 + rate) ** -months) for months in range(1, 601)}
    box = box_offer(discount_rate=0.1) | {"fixed_usd_per_month": annuity[30]}
    room = 240 * (0.3 * 498 / 225 - 0.2)
    needed = min(months for months, usd in annuity.items() if usd <= room)
    assert months_needed((box, 498.0, 4), (offer(RENTED, "on_demand", 0.3), 225.0, 1)) == needed > 30
    still = box_offer(downtime_share=0.1, residual_usd=500.0, maintenance_usd_per_month=20.0)
    found = months_needed((still | {"fixed_usd_per_month": 220.0}, 498.0, 4), TWO[1])
    assert found == pytest.approx(6000 / 0.9 / (240 * (HOUR - 0.2) - 20 / 0.9))


def images(options):
    return options.set_index("instance")["images_per_usd"]


@pytest.mark.parametrize(("month", "days"), [(30.5, [*range(1, 31), 30.5]), (31.0, list(range(1, 32)))])
def test_the_curve_of_use_goes_from_the_first_day_to_the_whole_month(month, days):
    """At d days a box hour costs 216.667 / (24 d) + 0.20 USD against 6.7728; ends of the first thousand draws.

    Fixed sums of 100, 101, ... USD: the 51st and the 950th are 150 and 1049 USD.
    """
    options = options_of(*TWO)
    curve = utilisation(options, drawn(options, fixed={BOX: 100.0 + np.arange(1500)}), month)
    assert curve["days"].tolist() == days
    assert curve["gain"].tolist() == pytest.approx([HOUR / (FIXED / 24 / day + 0.20) for day in days])
    tenth = curve.set_index("days").loc[10, ["gain_low", "gain_high"]].tolist()
    assert tenth == pytest.approx([HOUR / (fixed / 240 + 0.2) for fixed in (1049, 150)])


def test_the_surface_by_its_axes():
    table = surface(asked(options_of(*TWO)), 30.5)
    assert sorted(set(table["days"])) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30.5]
    assert sorted(set(table["months"])) == pytest.approx([3.0 * tenth for tenth in range(1, 21)])
    assert sorted(set(table["usd_per_kwh"])) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.6])
    for row in table.iloc[::97].itertuples():
        ratio = HOUR / (6500 / row.months / (24 * row.days) + row.usd_per_kwh)
        assert row.ratio == pytest.approx(ratio)
        assert row.winner == (BOX if ratio > 1 else RENTED)
        days = 6500 / row.months / 24 / (HOUR - row.usd_per_kwh)
        assert row.break_even_days == pytest.approx(days) if days <= 30.5 else math.isnan(row.break_even_days)
    assert 7.0 in set(surface(asked(options_of((box_offer(days_per_month=7.0), 498.0, 4), TWO[1])), 30.5)["days"])
    assert max(surface(asked(options_of(*TWO), 24.0), 24.0)["days"]) == 24.0


def test_at_a_tie_the_rental_wins_and_the_last_day_of_the_month_breaks_even():
    """1.125 USD for 3600 x 312.5 images either way: 240 USD a month / 240 h + 0.5 kW x 0.25 USD/kWh of the box, in a
    month of ten days. That is what the rental asks: it would pay above that, and does not at it.
    """
    options = options_of((box_offer(kw=0.5, usd_per_kwh=0.25, capex_usd=7200.0), 312.5, 4), TWO[1])
    table = surface(asked(options.assign(images_per_usd=1e6), 10.0), 10.0)
    row = table.set_index(["days", "months", "usd_per_kwh"]).loc[(10.0, 30.0, 0.25)]
    assert (row["ratio"], row["winner"], row["break_even_days"]) == (1.0, RENTED, 10.0)
    assert row["condition"] == (
        f"Even used every day, {BOX} never pays for VGG-16: {RENTED} costs 3.06 USD an hour, it would pay above 3.06"
    )
