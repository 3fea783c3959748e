"""The problem of work of months on a few certain offers, every figure by hand, and what moves it; fallbacks."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, small_lab
from sweetspot.decision.decision_problem import Parameter, ParameterValues
from sweetspot.decision.monthly_work import Source
from sweetspot.mixes.problem import NEVER

WHOLE = 30.5 * 24  # hours of a month
FACTS = {"old": {"gpus": 2}, "box": {"gpus": 2}, "quick": {"gpus": 4}, "term": {"gpus": 2}}
SPEEDS = {"quick": (200.0, 200.0, 200.0)}
OLD = own("old", capex=4000.0, downtime_share=0.25)  # 180 of 240 hours a month, 50 USD of care
BOX = own(downtime_share=0.1, days_per_month=40.0 / 24)  # 36 of 40 hours a month
TERM = {"instance": "term", "purchase": "reserved",
        "commitment": {"term_months": 24.0, "per_month": 300.0, "per_hour": 0.5, "charged": "used"}}  # fmt: skip
FLAT = {"instance": "flat", "purchase": "on_demand", "per_month": 900.0}
A, B = class_of("a", 30.0, within_hours=1.5, urgent_per_month=6.0), class_of("b", 10.0)
HOURS = {"a": 2.0, "b": 8.0}


def side_by_side(options):
    """Two jobs at once on the machines of two devices, each in its own hours and for half of the money."""
    several = options["gpus"].isin([2, 4]) & (options["instance"] != "quick")
    at_once = np.where(options["instance"] == "quick", 4.0, np.where(several, 2.0, 1.0))
    return options.assign(jobs_at_once=at_once, usd=options["usd"] / at_once)


def lab(*offers, **more):
    given = {"jobs": [A, B], "hours": HOURS, "facts": FACTS, "speeds": SPEEDS, "change": side_by_side, "have": ["old"]}
    return small_lab(*offers, **(given | more))


@pytest.fixture(scope="module")
def market():
    return lab(OLD, BOX, TERM, FLAT, hourly(6.0), hourly(20.0) | {"instance": "quick"})


def held(problem, name):
    return next(one for one in (*problem.held, *problem.rented) if one.name == name)


@pytest.mark.parametrize(("name", "fixed", "capacity", "hour"), [
    ("old", 50.0, 180.0, 0.2),  # what it cost is spent
    ("box", 1050.0, 36.0, 0.2),  # possession is paid by the month, broken or not
    ("term (reserved)", 300.0 * 48 / 36, WHOLE, 0.5),  # two terms of 24 months for 36
    ("flat", 900.0, WHOLE, 0.0),
])  # fmt: skip
def test_what_is_held_by_hand(market, name, fixed, capacity, hour):
    """A job of a takes 2 h on its half of the machine, a whole hour of it; none of them is urgent there."""
    kind, at_once = held(market[0].central, name), 1.0 if name == "flat" else 2.0
    assert (kind.fixed.tolist(), kind.capacity.tolist()) == (pytest.approx([fixed]), pytest.approx([capacity]))
    assert kind.hours.tolist() == [[2 / at_once], [NEVER], [8 / at_once]]
    assert kind.running.ravel().tolist() == pytest.approx([hour * 2 / at_once, 0.0, hour * 8 / at_once])


def test_what_is_rented_by_hand(market):
    """The quick one works on four jobs at once, each in half of the hours; an urgent one has it for itself."""
    quick, plain = (held(market[0].central, name) for name in ("quick", "rented"))
    assert quick.usd.ravel().tolist() == pytest.approx([5.0, 20.0, 20.0])
    assert quick.device_hours.ravel().tolist() == pytest.approx([1.0, 4.0, 4.0])
    assert plain.usd.ravel().tolist() == pytest.approx([12.0, NEVER, 48.0])
    assert plain.device_hours.ravel().tolist() == pytest.approx([2.0, 0.0, 8.0])
    for one, usd in ((quick, [[5.0], [20.0], [20.0]]), (plain, [[12.0], [NEVER], [48.0]])):
        assert one.expected_usd.tolist() == [pytest.approx(row) for row in usd] == one.usd_at_speed.tolist()


def test_the_rent_that_is_expected_is_that_of_the_months_with_work():
    """All ten jobs of two months are due in the second, in which the hour of 6 costs 6 x 0.9^(1/12)."""
    falling = hourly(6.0, trend={"kind": "drift", "change_per_year": -0.1})
    one = small_lab(falling, own(), jobs=[class_of("a", 10.0)], hours={"a": 2.0}, months=2.0)[0].central_work
    offer = held(replace(one, numbers=np.array([[[0.0, 10.0]]])).drawn, "rented")
    assert offer.expected_usd.tolist() == [[pytest.approx(12 * 0.9 ** (1 / 12))]] == offer.usd_at_speed.tolist()


def test_sources_are_what_may_be_the_answer_and_stays_and_the_machines_that_are_there():
    """In the order of the options; a speed is timed on the cheapest machine with its device, half an hour of it."""

    def change(options):
        named, left_out = options["instance"], ["old", "other"]
        return pd.concat([
            options.assign(in_answer=~named.isin(left_out), persistent=named != "spot"),
            options[named == "one"].assign(workload="elsewhere.a", option="of other work"),
        ], ignore_index=True)  # fmt: skip

    offers = [hourly(usd) | {"instance": name} for name, usd in (("one", 2.0), ("four", 9.0), ("other", 1.0),
                                                                 ("spot", 0.5), ("exact", 3.0))]  # fmt: skip
    facts = {"one": {"gpu": "X"}, "four": {"gpu": "X", "gpus": 4}, "exact": {"gpu": "Z"}}
    speeds = dict.fromkeys(("one", "four"), (100.0, None, None))
    made = small_lab(*offers, own("zeta"), OLD, jobs=[class_of("a", 10.0)], hours={"a": 2.0}, facts=facts,
                     speeds=speeds, change=change, have=["old"])[0]  # fmt: skip
    kinds = {source.offer["option"]: (source.kind, source.there) for source in made.sources}
    assert kinds == {"one": ("rented", 0), "exact": ("rented", 0), "four": ("rented", 0), "zeta": ("bought", 0),
                     "old": ("there", 1)}  # fmt: skip
    assert list(made.trials.values()) == [(1.0, "one")] and len(set(made.speed_keys.values())) == 1


def test_care_staff_and_resale_of_what_is_there():
    """20 USD of care and 5 of staff a month, sold for 720 after 36 months."""

    def change(options):
        mine = options["instance"] == "old"
        said = {"maintenance_usd_per_month": 20.0, "staff_usd_per_month": 5.0, "residual_usd": 720.0}
        return side_by_side(options.assign(**{name: options[name].mask(mine, value) for name, value in said.items()}))

    problem = lab(OLD, hourly(6.0), change=change)[0].central
    assert held(problem, "old").fixed.tolist() == pytest.approx([20 + 5 - 720 / 36])


def test_a_dearer_draw_makes_a_contract_and_a_flat_month_dearer(market):
    """The drawn price of an hour over the planned one is that of the term and of the month."""
    one = market[0]
    drawn = replace(one, figures=one.figures | {"variable": one.figures["variable"] * 1.5}).drawn
    assert held(drawn, "term (reserved)").fixed.tolist() == pytest.approx([600.0] * 2)
    assert held(drawn, "term (reserved)").running[0].tolist() == pytest.approx([0.75] * 2)
    assert held(drawn, "flat").fixed.tolist() == pytest.approx([1350.0] * 2)
    uneven = replace(one, figures=one.figures | {"variable": one.figures["variable"] * [1.0, 3.0]}).drawn
    kind = held(uneven, "term (reserved)")  # what an hour costs does not hang on how fast it is: 0.5 USD twice over
    assert [kind.running[0], kind.running_at_speed[0]] == [pytest.approx([0.5, 1.5]), pytest.approx([1.0, 1.0])]
    longer = replace(one, figures=one.figures | {"days": one.figures["days"] * 12}).drawn  # 20 days; 120 are no month
    assert held(longer, "box").capacity.tolist() == pytest.approx([20 * 24 * 0.9] * 2)
    assert held(longer, "old").capacity.tolist() == pytest.approx([WHOLE * 0.75] * 2)


def moved(one, quantity, factor, name, figure=None, subject=""):
    labels = frozenset() if name is None else frozenset(one.source_by_name[name].rows_by_label)
    about = Parameter(quantity, subject, "", "", 1.0, 0.5, 2.0, "", figure or quantity, labels)
    return one.moved(ParameterValues(1, {about: factor}))


def test_each_figure_moves_what_rests_on_it(market):
    one, now = market[0], market[0].drawn
    fast = held(moved(one, "images_per_s", 2.0, "rented"), "rented")
    # In time now, in one hour; an urgent job pays for the machine, as any does that is alone there.
    assert fast.usd.ravel().tolist() == pytest.approx([6.0, 6.0, 6.0, 6.0, 24.0, 24.0])
    assert fast.device_hours.tolist() == [[1.0] * 2, [1.0] * 2, [4.0] * 2]
    quick = held(moved(one, "images_per_s", 2.0, "rented"), "quick")
    assert quick.usd.tolist() == held(now, "quick").usd.tolist()
    dear = held(moved(one, "usd_per_hour", 1.5, "rented"), "rented")
    assert dear.usd[0].tolist() == pytest.approx([18.0] * 2)
    assert dear.device_hours.tolist() == held(now, "rented").device_hours.tolist()
    for quantity, factor, fixed, running, capacity in (
        ("kw", 3.0, 1050.0, 0.6, 36.0), ("capex_usd", 2.0, 2050.0, 0.2, 36.0), ("months", 2.0, 550.0, 0.2, 36.0),
        ("maintenance_usd_per_month", 3.0, 1150.0, 0.2, 36.0), ("days_per_month", 2.0, 1050.0, 0.2, 72.0),
        ("images_per_s", 0.5, 1050.0, 0.4, 36.0),
    ):  # fmt: skip
        box = held(moved(one, quantity, factor, "box"), "box")
        found = box.fixed.tolist(), box.running[0].tolist(), box.capacity.tolist()
        assert found == tuple(pytest.approx([value] * 2) for value in (fixed, running, capacity)), quantity
    assert box.hours.tolist()[::2] == [[2.0] * 2, [8.0] * 2]  # at half the speed


def test_a_moved_price_stands_on_the_drawn_one(market):
    """Drawn at twice its price the box costs 2,050 a month; at one and a half times of that, 3,050."""
    one = market[0]
    label = one.source_by_name["box"].offer["row"]
    for name, factor, fixed in (
        ("capex_usd", 1.5, [3050.0, 1550.0]),
        ("maintenance_usd_per_month", 2.0, [2100.0, 2050.0]),
    ):
        sampled = replace(one, offer_samples={(name, label): np.array([2.0, 1.0])})  # times what is planned
        assert held(moved(sampled, "capex_usd", factor, "box"), "box").fixed.tolist() == pytest.approx(fixed)


def test_more_of_a_class_are_not_more_urgent_ones(market):
    one = market[0]
    for quantity, factor, subject, expected in (
        ("per_month", 2.0, "a", [54.0, 6.0, 10.0]), ("jobs", 2.0, "", [48.0, 12.0, 20.0]),
        ("per_month", 0.1, "a", [0.0, 3.0, 10.0]), ("per_month", 2.0, "b", [24.0, 6.0, 20.0]),
    ):  # fmt: skip
        jobs = moved(one, quantity, factor, None, subject=subject).jobs
        assert jobs.shape == (3, 2, 36)
        assert jobs[:, 1, 35].tolist() == pytest.approx(expected), (quantity, factor)


@pytest.mark.parametrize(
    ("hours", "usd", "faster", "expected"),
    [(1.5, 1.0, 1.0, True), (1.6, 1.0, 1.0, False), (3.0, 1.0, 2.0, True), (1.0, np.inf, 1.0, False)],
)
def test_a_job_is_in_time_up_to_its_last_minute(market, hours, usd, faster, expected):
    row = {"row": 0, "hours": hours, "usd": usd}  # of an urgent job, the second class, which has an hour and a half
    source = Source({}, tuple(row if index == 1 else None for index in range(len(market[0].classes))), 0)
    found = market[0]._rows_in_time(source, SimpleNamespace(factor=lambda *_: faster))
    assert list(found) == ([(1, row, faster)] if expected else [])
