"""The question of one job: as much as the box's use allows, or the bills of all its workloads; by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from three_kinds import MONTH_DAYS, SHARE, Market, hourly, own, price

# A box of 36,000 USD and 50 a month for 36 months, ten days of use: 240 hours a month, 8,640 in all, at 0.2 an hour.
HELD, RUNNING, RENTED = 37_800.0, 1728.0, 8640 * 6.0


def signed(usd):
    """A contract by the month."""
    terms = {"term_months": 12.0, "per_month": usd}
    return {"instance": "signed", "purchase": "reserved", "commitment": terms, "days_per_month": 10.0}


def made(*offers, draws=2, kind=SHARE, **market):
    return price(Market(offers or (own(), hourly("rented", 6.0)), **market), draws, kind)


def planned(question):
    return dict(zip((one.option for one in question.choices), question.baseline.usd[:, 0].tolist(), strict=True))


def drawn(question):
    return dict(zip((one.option for one in question.choices), question.samples_usd, strict=True))


def figure(priced, name):
    """The draws of an uncertain figure."""
    (found,) = (one for one in priced.draws.figures if one.name == name)
    assert np.ptp(found.values) > 0
    return found.values


def test_what_the_box_does_in_its_days_of_use_is_the_work():
    question = made().share()
    assert planned(question) == pytest.approx({"box": HELD + RUNNING, "rented": RENTED})
    assert (question.workload, question.model, question.months) == ("vgg16", "vgg16", 36.0)
    assert question.choices[0].row["row"] == question.reference
    # A box that is broken a tenth of the time does so much less.
    question = made(own(downtime_share=0.1), hourly("rented", 6.0)).share()
    assert planned(question) == pytest.approx({"box": HELD + 0.9 * RUNNING, "rented": 0.9 * RENTED})


@pytest.mark.parametrize(("quantity", "subject", "box", "rented"), [
    ("days_per_month", "", HELD + 2 * RUNNING, 2 * RENTED),
    ("months", "", 36_000 + 72 * 50 + 2 * RUNNING, 2 * RENTED),
    ("speed", "card of rented", HELD + RUNNING, RENTED / 2),
    ("speed", "card of box", (HELD + RUNNING) / 2, RENTED),
    ("usd_per_hour", "rented", HELD + RUNNING, 2 * RENTED),
    ("usd_per_kwh", "", HELD + 2 * RUNNING, RENTED),
    ("capex_usd", "box", HELD + 36_000 + RUNNING, RENTED),
    ("maintenance_usd_per_month", "box", HELD + 1800 + RUNNING, RENTED),
])  # fmt: skip
def test_each_figure_doubled_moves_the_cost(quantity, subject, box, rented):
    question = made().share()
    (one,) = (one for one in question.parameters if one.quantity == quantity and subject in one.subject)
    usd = question.at(one, np.array([1.0, 2.0])).usd
    assert usd.T.tolist() == [pytest.approx([HELD + RUNNING, RENTED]), pytest.approx([box, rented])]


def test_more_months_are_more_work_and_the_price_of_the_box_once():
    priced = made(own(months={"value": 36.0, "low": 24.0, "high": 54.0}), hourly("rented", 6.0), draws=50)
    months, found = figure(priced, "months"), drawn(priced.share())
    assert found["rented"] == pytest.approx(240 * 6 * months)
    assert found["box"] == pytest.approx(36_000 + (50 + 48) * months)


def test_more_days_are_more_work_up_to_those_of_a_month_and_what_is_paid_by_the_month_stays():
    """28 days planned, 25 to 31; a month has 30.5. A contract of 900 a month for all of them."""
    days = {"value": 28.0, "low": 25.0, "high": 31.0}
    priced = made(own(days_per_month=days), hourly("rented", 6.0), signed(900.0), draws=50)
    use, found = np.minimum(figure(priced, "days_per_month"), MONTH_DAYS) / 28.0, drawn(priced.share())
    assert (use.max(), found["rented"]) == (MONTH_DAYS / 28.0, pytest.approx(28 * 24 * 36 * 6 * use))
    assert found["box"] == pytest.approx(HELD + 28 * 24 * 36 * 0.2 * use)
    assert np.ptp(found["signed (reserved)"]) == pytest.approx(0.0, abs=1e-6)


def test_a_device_that_is_faster_in_a_draw_is_paid_for_less_long():
    priced = made()
    faster = np.array([[1.0, 1.0], [2.0, 4.0]]) * 100.0
    (question,) = shared_machine_problems(priced.options, replace(priced.draws, images_per_s=faster), MONTH_DAYS)
    assert drawn(question)["rented"].tolist() == pytest.approx([RENTED / 2, RENTED / 4])
    assert drawn(question)["box"].tolist() == pytest.approx([HELD + RUNNING] * 2)


def by_bills(options, draws):
    """Without a reference that is owned."""
    return shared_machine_problems(options.assign(is_reference=False), draws, MONTH_DAYS)


def hours_of(usd):
    """USD of one job of two hours, on the box and rented."""
    return {"box": 2 * usd * ((HELD / 8640) + 0.2), "rented": 2 * usd * 6.0}


def test_without_a_box_of_ones_own_all_workloads_that_everything_does_are_the_work_once_each():
    priced = made(kind=None)
    (question,) = by_bills(priced.options, priced.draws)
    assert planned(question) == pytest.approx(hours_of(2))
    assert drawn(question)["rented"].tolist() == pytest.approx([24.0, 24.0])
    assert np.isnan(question.months) and question.reference is None
    rented = priced.options.assign(is_reference=priced.options["purchase"].eq("on_demand"))
    (also,) = shared_machine_problems(rented, priced.draws, MONTH_DAYS)  # a rented reference has no days of use
    assert planned(also) == planned(question)


def test_what_one_of_them_cannot_do_is_no_part_of_the_work():
    priced = made(kind=None)
    options = priced.options
    both = options[~(options["option"].eq("rented") & options["workload"].eq("lab.jobs"))]
    (question,) = by_bills(both, priced.draws)
    assert planned(question) == pytest.approx(hours_of(1))
    apart = options.assign(workload=[f"{name} {number}" for number, name in enumerate(options["workload"])])
    (question,) = by_bills(apart, priced.draws)
    assert planned(question) == pytest.approx(hours_of(1))


def test_a_model_with_one_option_asks_nothing_and_an_option_with_a_draw_that_never_ends_does_not_compete():
    priced = made(own(), hourly("rented", 6.0), hourly("late", 5.0))
    speeds = priced.draws.images_per_s.copy()
    speeds[priced.options["option"].eq("late"), 0] = 0.0
    draws = replace(priced.draws, images_per_s=speeds)
    alone = pd.concat([priced.options, priced.options.iloc[:1].assign(model="alone")], ignore_index=True)
    with np.errstate(divide="ignore"):
        (question,) = shared_machine_problems(alone, draws, MONTH_DAYS)
        assert question.model == "vgg16" and sorted(planned(question)) == ["box", "rented"]
        assert shared_machine_problems(priced.options[priced.options["option"].ne("rented")], draws, MONTH_DAYS) == []
