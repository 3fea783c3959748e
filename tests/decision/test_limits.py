"""What a team allows itself up front, and what that limit costs."""

import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, small_lab
from sweetspot.decision.analyses import tornado_rows
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.priced_works import works
from sweetspot.decision.verdict import choice_table, verdict_table

SIGNED = {"instance": "signed", "purchase": "reserved",
          "commitment": {"term_months": 12.0, "per_month": 800.0, "upfront": 1200.0}}  # fmt: skip
BOX = own()  # 1,090 a month for 200 hours, 36,000 of it up front


def lab(*offers, jobs=100.0, usd_per_unit=1.0, have=(), **limits):
    """200 hours of work a month, and what else `small_lab` makes."""
    made, *rest = small_lab(*offers, jobs=[class_of("a", jobs)], hours={"a": 2.0}, have=list(have), **limits)
    return made.within_budget(usd_per_unit), *rest


def table_of(made, options, drawn, settings):
    """The choices, their work and the verdict."""
    (work,) = works(options, drawn, [], [made], settings, {})
    told = verdict_table([work], "lab", pd.DataFrame(), {})
    return choice_table([work], ()).set_index("choice"), work, told.iloc[0] if len(told) else None


def test_what_is_paid_up_front_is_the_price_of_machines_and_the_upfront_part_of_contracts():
    made = lab(own(), own("old", capex=0.0), SIGNED, hourly(6.0), have=["old"])[0]
    names, up_front = [kind.name for kind in made.drawn.held], made.up_front
    at = {name: tuple(int(one == name) + (one == "old") for one in names) for name in names}
    assert up_front(at["box"]) == 36_000.0
    assert up_front(next(counts for name, counts in at.items() if "signed" in name)) == 1200.0
    assert up_front(made.drawn.owned) == 0.0  # what is there is paid for


@pytest.mark.parametrize(("rentals", "for_sale"), [(60, 6), (10, 12)])
def test_many_machines_and_classes_take_less_than_a_gigabyte(rentals, for_sale):
    """Arrays of offers x six classes x 1,000 samples x 36 months took 8.5 GB."""
    offers = [hourly(6.0 + number) | {"instance": f"rented-{number}"} for number in range(rentals)]
    offers += [own(f"box-{number}", capex=36_000.0 + number) for number in range(for_sale)]
    hours, limits = dict(zip("abcdef", range(2, 8), strict=True)), resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**30, limits[1]))
    try:
        made = small_lab(*offers, jobs=[class_of(name, 100.0) for name in hours], hours=hours, draws=1000)[0]
        assert sum(made.mixes[0].counts) > 0
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_a_contract_costs_its_monthly_fee_and_its_storage_too():
    """800 USD a month and 1,200 a year, a flat fee of 5, 100 GB at 0.10: 915."""
    billing = {"monthly": 5.0, "storage": {"gb": 100.0, "per_gb_month": 0.1}}
    (kind,) = lab(SIGNED | {"billing": billing}, hourly(6.0))[0].drawn.held
    assert kind.fixed == pytest.approx(915.0)


@pytest.mark.parametrize(
    ("most", "rate", "boxes"), [(36_000.0, 1.0, 1), (30_000.0, 1.0, 0), (30_000.0, 1.25, 1), (30_000.0, 1.19, 0)]
)
def test_an_exact_limit_is_kept_and_counts_in_the_money_of_the_study(most, rate, boxes):
    """30,000 of a currency of 1.25 USD are 37,500."""
    made = lab(BOX, hourly(6.0), usd_per_unit=rate, at_most_up_front=most)[0]
    assert made.mixes[0].counts == (boxes,) and made.budget_usd == most * rate


def test_a_box_beyond_the_money_up_front_is_not_the_answer_and_says_so():
    """The box costs 1,090 a month, 36,000 up front, rented 1,200, the next 1.5 times as much; no way has the box."""
    made, *rest = lab(BOX, hourly(6.0), hourly(9.0) | {"instance": "dear"}, at_most_up_front=30_000.0)
    table, _, told = table_of(made, *rest)
    assert table.loc["box", ["why_not", "reasons"]].tolist() == [
        "limit", [{"limit": "at_most_up_front", "allowed": 30_000.0, "actual": 36_000.0}],
    ]  # fmt: skip
    assert table.loc[["box", "best"], "usd_per_month"].tolist() == pytest.approx([1090.0, 1200.0])
    assert table["alternative"].drop("box").tolist() == ["rented", "dear"]
    assert (told["kind"], told["rival_title"], told["ratio"]) == ("rent", "dear", pytest.approx(1.5))
    question = monthly_problem(made)
    rows = pd.DataFrame(tornado_rows(question))
    assert rows["margin"].tolist() == [pytest.approx(1.5)] * len(rows) and rows["margin_high"].notna().all()
    assert "box" not in [choice.option for choice in question.choices]


def test_of_several_machines_as_many_as_the_money_reaches_for():
    """600 hours: three boxes would do all, two are paid for, 480 hours; the rest is rented. No case of the question
    buys more: at five times the work the way with the box has two of them.
    """
    made = lab(BOX, hourly(12.0), jobs=300.0, at_most_up_front=80_000.0)[0]
    assert made.mixes[0].counts == (2,)
    assert made.mixes[0].expected == pytest.approx(2 * 1050 + 480 * 0.2 + 120 * 12.0)
    question = monthly_problem(lab(BOX, hourly(12.0), at_most_up_front=80_000.0)[0])
    jobs = next(one for one in question.parameters if one.quantity == "per_month")
    box = [choice.option for choice in question.choices].index("box")
    assert question.at(jobs, np.array([5.0])).counts[box, 0] == 2.0
