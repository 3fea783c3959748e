"""Runs within a budget of time or money: what decides the ranking first, and a report of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweetspot.cells import Cell
from sweetspot.matrix.schedule import Budget, by_weight, estimated_seconds, order_within_budget, report_lines


def cell(instance="a", model="resnet50", batch_size=16, gpus=1):
    return Cell(instance, "tensorflow", model, batch_size, gpus, "fp32", "default")


HEADLINE = [cell("a"), cell("b")]
OTHERS = [cell("a", batch_size=64), cell("b", batch_size=64)]


def decides(one):
    return one.batch_size == 16


def test_first_runs_of_headline_cells_come_before_second_runs_and_other_cells():
    order = by_weight([*OTHERS, *HEADLINE], 2, decides)
    assert [(run.cell.instance, run.cell.batch_size, run.run) for run in order] == [
        ("a", 16, 1), ("b", 16, 1), ("a", 16, 2), ("b", 16, 2),
        ("a", 64, 1), ("b", 64, 1), ("a", 64, 2), ("b", 64, 2),
    ]  # fmt: skip


def test_a_budget_of_minutes_keeps_what_fits_and_reports_the_rest():
    estimates = dict.fromkeys(HEADLINE, 120.0) | dict.fromkeys(OTHERS, 300.0)
    choice = order_within_budget([*OTHERS, *HEADLINE], estimates, Budget(minutes=10), 1, decides)
    # 2 + 2 minutes of the headline, 5 of one other: 9; the second other would make 14
    assert [run.cell for run in choice.kept] == [*HEADLINE, OTHERS[0]]
    assert choice.minutes == pytest.approx(9)
    assert [left.run.cell for left in choice.left_out] == [OTHERS[1]]
    assert "would bring the matrix to 14.0 of budget_minutes 10" in report_lines(choice)[1]


def test_a_budget_of_money_uses_the_price_of_the_instance_and_ones_own_costs_nothing():
    estimates = dict.fromkeys(HEADLINE, 3600.0)
    choice = order_within_budget(HEADLINE, estimates, Budget(usd=5), 2, usd_per_hour={"a": 3.0})
    # a: 3 USD a run, so one fits into 5; b has no price
    assert [(run.cell.instance, run.run) for run in choice.kept] == [("a", 1), ("b", 1), ("b", 2)]
    assert choice.usd == pytest.approx(3.0)
    assert "6.00 of budget_usd 5" in choice.left_out[0].reason


def test_a_run_too_long_does_not_stop_shorter_ones_behind_it():
    estimates = {HEADLINE[0]: 6000.0, HEADLINE[1]: 60.0}
    choice = order_within_budget(HEADLINE, estimates, Budget(minutes=2))
    assert [run.cell for run in choice.kept] == [HEADLINE[1]]


@given(st.lists(st.floats(1, 1e4), min_size=1, max_size=12), st.floats(0.1, 500), st.integers(1, 3))
def test_no_budget_is_ever_exceeded_and_no_run_is_lost(seconds, minutes, runs):
    cells = [cell(batch_size=number + 1) for number in range(len(seconds))]
    choice = order_within_budget(cells, dict(zip(cells, seconds, strict=True)), Budget(minutes), runs)
    assert choice.minutes <= minutes * (1 + 1e-6)
    assert {*choice.kept, *(left.run for left in choice.left_out)} == {*by_weight(cells, runs, decides)}


def test_the_estimate_follows_the_stop_rule():
    # 16 samples x 0.1 s = 1.6 s a step: 30 + 2 x 1.6 + 5 x 1.6
    assert estimated_seconds(cell(), 0.1) == pytest.approx(41.2)
    # 16 s a step: three steps, 48 s, are more than twenty seconds; at most one more than needed
    assert estimated_seconds(cell(), 1.0) == pytest.approx(30 + 32 + 64)
