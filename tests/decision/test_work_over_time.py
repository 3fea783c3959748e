"""Work that grows from month to month, and machines that come later: months that differ, counted by hand."""

import numpy as np
import pytest
from phase_plans import hourly, own
from small_lab import class_of, posed
from sweetspot.decision.decision_problem import ParameterValues
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.mixes.problem import growth_by_month, months_of

MONTHS = np.arange(36)
TWO_MONTHS = 61.0 / 7.0  # weeks, of months of 30.5 days
RENTED = hourly(6.0)


def usd(made):
    """Of the best mix over the project, in every draw."""
    return made.mixes[0].done.usd * made.work.months


def work_of(*offers, jobs=100.0, growth=0.0, job=None, make=posed, **more):
    """Jobs of two hours, rented for 12 USD each."""
    one = class_of("a", jobs, growth_per_month=growth, **(job or {}))
    return make(*(offers or (RENTED,)), jobs=[one], hours={"a": 2.0}, **more)


@pytest.mark.parametrize(("share", "jobs"), [(0.1, [10.0, 11.0, 12.1]), (-0.1, [10.0, 9.0, 8.1])])
def test_ten_jobs_a_tenth_more_or_less_each_month_and_their_urgent_ones(share, jobs):
    """Jobs of 12 USD; of ten two are urgent, which grow with their class."""
    made = work_of(jobs=10.0, growth=share, months=3.0)
    assert made.drawn.jobs[0].tolist() == [pytest.approx(jobs)] * 2
    assert made.central.jobs[0].tolist() == [pytest.approx(jobs)]
    assert usd(made) == pytest.approx(sum(jobs) * 12.0)
    urgent = work_of(jobs=10.0, growth=share, months=3.0, job={"within_hours": 5.0, "urgent_per_month": 2.0})
    assert urgent.numbers[:, 0] == pytest.approx(np.array([jobs, [number / 5 for number in jobs]]))


def test_of_a_project_longer_than_is_drawn_each_month_stands_for_two():
    """72 months at 2 %: (1.02 ** 72 - 1) / 0.02 times the first; a month drawn is the middle of its two."""
    starts, length = months_of(72.0)
    assert (len(starts), length, starts[1], starts[-1]) == (36, 2.0, 2.0, 70.0)
    made = work_of(jobs=10.0, growth=0.02, months=72.0)
    assert usd(made) == pytest.approx((1.02**72 - 1) / 0.02 * 10 * 12.0, rel=1e-4)
    assert growth_by_month(np.array([[0.0, 0.1]]), 2.0) == pytest.approx(np.array([[[1.0, 1.0], [1.0, 1.1]]]))


RANGED = {"value": 0.05, "low": 0.0, "high": 0.1}


def test_growth_is_one_unknown_number_a_project_apart_from_what_is_known_of_the_number():
    """Nine draws of ten between none and a tenth a month; the jobs drawn are those of a month without growth."""
    jobs = work_of(growth=RANGED, draws=1000).numbers[0]
    rate = jobs[:, 1] / jobs[:, 0] - 1
    assert np.quantile(rate, [0.05, 0.5, 0.95]) == pytest.approx([0.0, 0.05, 0.1], abs=0.006)
    assert jobs == pytest.approx(100.0 * (1 + rate[:, None]) ** MONTHS)
    made = work_of(jobs={"value": 10.0, "low": 5.0, "high": 20.0}, growth=RANGED, draws=50, months_alike=1.0)
    drawn = {one.quantity: values for one, values in monthly_problem(made).work_samples}
    assert drawn["per_month"] == pytest.approx(made.numbers[0, :, 0])


def test_what_pays_for_a_growing_work_is_a_machine_that_a_steady_one_does_not_pay():
    """140 hours: rented 840 USD a month, the box 1,078; grown to 236, 184 on average: 1,103 and 1,087."""
    steady, rising = (work_of(own(), RENTED, jobs=70.0, growth=by) for by in (0.0, 0.015))
    assert steady.mixes[0].counts == (0,) and usd(steady) == pytest.approx(36 * 840.0)
    hours = 140.0 * 1.015**MONTHS
    assert rising.mixes[0].counts == (1,) and hours.max() < 240.0
    assert usd(rising) == pytest.approx(36 * 1050.0 + 0.2 * hours.sum())


@pytest.mark.parametrize(("jobs", "growth", "boxes"), [(7.0, 0.3, 1), (30.0, 0.25, 2)])
def test_work_that_grows_a_thousandfold_buys_what_it_fills_long_enough(jobs, growth, boxes):
    """A box does 120 jobs a month and saves 11.60 USD on each; its 37,800 USD are 3,259 jobs, of those above the boxes
    before it: 3,395, then 2,781 for a second; of 30 jobs 3,305 for a second, 3,028 for a third.
    """
    assert work_of(own(), RENTED, jobs=jobs, growth=growth).mixes[0].counts == (boxes,)


def late(weeks=TWO_MONTHS, draws=2, **terms):
    """200 hours a month on a box that is there after some weeks, else for 6 USD an hour."""
    return work_of(own(**terms) | {"available_from_weeks": weeks}, RENTED, draws=draws)


@pytest.mark.parametrize(("months", "box", "usd_of_all"), [
    (2.0, 1, 36_000 + 34 * 50 + 2 * 1200 + 34 * 40),  # two months of 200 hours for 6 USD, then 0.2 an hour
    (0.5, 1, 36_000 + 35.5 * 50 + 120 * 0.2 + 80 * 6.0 + 35 * 40),  # half of the 240 hours of the first month
    (40.0, 0, 36 * 1200.0),  # it comes after the project
])  # fmt: skip
def test_until_a_machine_is_there_the_work_is_rented(months, box, usd_of_all):
    made = late(TWO_MONTHS * months / 2)
    assert made.mixes[0].counts == (box,) and usd(made) == pytest.approx(usd_of_all)
    assert float(made.mixes[0].at(made.central).usd[0]) * 36 == pytest.approx(usd_of_all)
    assert np.isfinite([one.expected for one in made.mixes]).all()


def test_a_machine_that_comes_late_is_sold_on_the_same_day():
    """At a tenth a year: the level payment of 34 months of 36,000 less 6,000 of then, of which 34 are paid."""
    rate = 1.1 ** (1 / 12) - 1
    factor = (1 - (1 + rate) ** -34) / rate
    paid = (36_000 - 6_000 / (1 + rate) ** 34) / factor + 50
    made = late(discount_rate=0.1, residual=6000.0)
    assert usd(made) == pytest.approx(34 * paid + 2 * 1200 + 34 * 40)


def test_weeks_may_have_a_range_and_each_draw_waits_its_own():
    made = late({"value": 12.0, "low": 6.0, "high": 24.0}, draws=1000)
    (weeks,) = (wait * 30.5 / 7 for (name, _), wait in made.offer_samples.items() if name == "delivery_months")
    assert np.quantile(weeks, [0.05, 0.5, 0.95]) == pytest.approx([6.0, 12.0, 24.0], rel=0.06)
    # each month later costs 160 hours' worth of renting more: 200 x 5.8, less 50 of care
    assert np.ptp(usd(made) - weeks * 7 / 30.5 * (1160 - 50)) < 350  # the month of delivery has 240 hours for 200


def test_a_contract_begins_when_it_is_there():
    """A year for 1,000 a month, three times; from the 24th month on once."""
    deal = {"instance": "signed", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 1000.0}}
    now, then = (work_of(deal | more, RENTED) for more in ({}, {"available_from_weeks": 12 * TWO_MONTHS}))
    assert [usd(now), usd(then)] == pytest.approx([36 * 1000.0, 12 * 1000.0 + 24 * 1200.0])


FALLING = hourly(6.0, trend={"kind": "drift", "change_per_year": -0.1})  # p(t) = 6 x 0.9 ^ (t / 12), at month t
DEAR_BOX = own(capex=3_600_000.0)  # whose 36 months are those of the project; nobody buys it
FIRST = 200.0 / 12.0  # jobs of two hours: 200 USD in the first month


@pytest.mark.parametrize(("work", "total"), [
    # sum of 200 x 1.05^t x 0.9^(t/12): q = 1.05 x 0.991258 = 1.040821, (q^36 - 1) / (q - 1) = 78.93
    # (the sums of both apart, 95.84 months of work at 0.8611 of the rent, would be 16,506)
    ({"growth": 0.05}, 15_787.0),
    # as much in each month: 200 x (1 - 0.9^3) / (1 - 0.9^(1/12)) = 200 x 31.00
    ({}, 6_200.0),
])  # fmt: skip
def test_each_month_pays_its_own_rent_for_its_own_work(work, total):
    made = work_of(FALLING, DEAR_BOX, jobs=FIRST, **work)
    assert (made.mixes[0].bought, usd(made)) == ({}, pytest.approx([total] * 2, abs=0.6))
    central = made.mixes[0].at(made.central)
    assert central.usd * 36 == pytest.approx([total], abs=0.6)
    question = monthly_problem(made)
    assert question.baseline.usd[0, 0] == pytest.approx(total, abs=0.6)


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_in_a_longer_project_rents_fall_and_work_grows_for_longer(length):
    """As above with q = 1.05 x 0.991258, for 18 and 72 months: 200 (q^n - 1) / (q - 1)."""
    made = work_of(FALLING, DEAR_BOX, jobs=FIRST, growth=0.05)
    months = next(one for one in monthly_problem(made).parameters if one.quantity == "months")
    longer = made.moved(ParameterValues(1, {months: length}))
    q, count = 1.05 * 0.9 ** (1 / 12), round(36 * length)
    assert made.mixes[0].at(longer).usd * count == pytest.approx([200 * (q**count - 1) / (q - 1)] * 2, rel=1e-3)


def test_until_a_machine_comes_the_rents_of_the_first_months_are_paid():
    """Two hundred hours a month, rented for 1 USD in the first months, 10 % less a year later. The box comes after six
    months (26.14 weeks), costs 3,600 USD over the other thirty, used or not, and 0.2 x 200 = 40 a month of running.
    Rent of six months: 200 x sum of 0.991258^t, t = 0 to 5 = 200 x 5.8708 = 1,174.2 (six of the mean month: 1,033.4).
    Possession of a box that is there for 30 of 36 months: 3,600 of price, no care. 3,600 + 30 x 40 + 1,174.2 = 5,974.2.
    """
    rent = hourly(1.0, trend={"kind": "drift", "change_per_year": -0.1})
    box = own(capex=3600.0, maintenance_per_month=0.0) | {"available_from_weeks": 3 * TWO_MONTHS}
    made = work_of(rent, box, jobs=100.0)
    bought = next(one for one in made.mixes if one.bought == {"box": 1})
    assert bought.at(made.central).usd * 36 == pytest.approx([5974.2], abs=0.6)  # the date is uncertain by draw


def test_two_sellers_are_held_against_each_other_over_the_work_of_all_months():
    """The first is dearer today, 6 to 5.5, and falls by a tenth a year. Its mean rent is 6 x 0.8611 = 5.17: it is taken
    where the work stays. Where the work falls by 20 % a month nearly all of it is due at once: sum of 0.8^t x 0.99126^t
    over that of 0.8^t is (1 - q^36) / (1 - q), q = 0.793006: 4.8300 to 4.9984, that is 0.9663: 5.80 USD; the other is.
    """
    falling = hourly(6.0, trend={"kind": "drift", "change_per_year": -0.1})
    steady = hourly(5.5) | {"instance": "steady"}
    for growth, lead in ((0.0, "rented"), (-0.2, "steady")):
        made = work_of(falling, steady, DEAR_BOX, jobs=FIRST, growth=growth)
        assert made.mixes[0].done.lead == lead
