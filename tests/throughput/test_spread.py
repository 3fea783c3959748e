"""Intervals by hand: of cells that share the spread of their machine, and of errors on what was left out."""

import math

import numpy as np
import pytest
from run_files import CELL, cells_of, rules_of, write_run
from scipy import stats
from sweetspot.throughput.calibration import calibrate
from sweetspot.throughput.spread import outlying
from sweetspot.warnings import pairs

T = {1: 12.706, 2: 4.303, 3: 3.182}  # 97.5 % quantiles of Student's t, from the printed tables


def measured(folder, means, **columns):
    """The table of cells at batch 1, 2, ... whose runs have these mean step times."""
    files = [
        write_run(folder, CELL._replace(batch_size=batch), run=run, seconds=[mean] * 4, **columns)
        for batch, own in enumerate(means, start=1)
        for run, mean in enumerate(own, start=1)
    ]
    return cells_of(files).set_index("batch_size")


def factor(row):
    """How far the interval reaches either side; it is symmetric in the logarithm."""
    assert row["images_per_s"] ** 2 == pytest.approx(row["images_per_s_low"] * row["images_per_s_high"])
    return row["images_per_s_high"] / row["images_per_s"]


def test_two_cells_of_two_runs_share_their_spread(tmp_path):
    # ln(2.2 / 2.0) = 0.0953102, ln(1.05 / 1.00) = 0.0487902: of two values the sum of squares is half of the square
    # of their difference, 0.0045420 and 0.0011902; pooled sqrt((0.0045420 + 0.0011902) / 2) = 0.0535362, t of 2: 4.303
    table = measured(tmp_path, [(2.0, 2.2), (1.0, 1.05)])
    half = T[2] * 0.0535362 / math.sqrt(2)
    assert [factor(row) for _, row in table.iterrows()] == pytest.approx([math.exp(half)] * 2, rel=1e-4)
    assert table["images_per_s"].tolist() == pytest.approx([1 / 2.1, 2 / 1.025])
    assert table["interval_df"].tolist() == [2, 2]
    assert [rules_of(row) for _, row in table.iterrows()] == [[], []]


def test_cells_of_unequal_numbers_of_runs_weigh_by_their_degrees_of_freedom(tmp_path):
    # three runs at -0.1, 0, 0.1: sum of squares 0.02 on 2; two at 0, 0.06: 0.0018 on 1; pooled sqrt(0.0218 / 3)
    table = measured(tmp_path, [np.exp([-0.1, 0, 0.1]), np.exp([0, 0.06])])
    pooled = math.sqrt(0.0218 / 3)
    assert factor(table.loc[1]) == pytest.approx(math.exp(T[3] * pooled / math.sqrt(3)), rel=1e-4)
    assert factor(table.loc[2]) == pytest.approx(math.exp(T[3] * pooled / math.sqrt(2)), rel=1e-4)


def test_a_cell_that_varies_more_keeps_its_own_spread_and_says_so(tmp_path):
    # sums of squares 0.00005, 0.0002 and 0.32: 0.32 against 0.00025 / 2 is 2,560 times (58.4 is the bound, below)
    table = measured(tmp_path, [np.exp([0, 0.01]), np.exp([0, 0.8]), np.exp([0, 0.02])])
    for batch in (1, 3):
        half = T[2] * math.sqrt(0.00025 / 2) / math.sqrt(2)
        assert factor(table.loc[batch]) == pytest.approx(math.exp(half), rel=1e-4)
        assert rules_of(table.loc[batch]) == []
    assert factor(table.loc[2]) == pytest.approx(math.exp(T[1] * math.sqrt(0.32) / math.sqrt(2)), rel=1e-4)  # 161 times
    assert (table["interval_df"].tolist(), rules_of(table.loc[2])) == ([2, 1, 2], ["own_spread"])


def test_the_spread_is_at_least_what_the_steps_show(tmp_path):
    # steps 1.9 and 2.1: standard deviation 0.141421, of their mean 0.1, 5 % of 2; runs that agree by luck
    files = [write_run(tmp_path, run=run, seconds=[1.9, 2.1]) for run in (1, 2, 3)]
    row = cells_of(files).iloc[0]
    assert factor(row) == pytest.approx(math.exp(T[2] * 0.05 / math.sqrt(3)), rel=1e-4)


def test_the_steps_of_runs_count_by_the_mean_of_their_squares(tmp_path):
    # relative standard errors of the mean step: 0.1 / 2 = 0.05 for 1.9 and 2.1, 1 / 2 = 0.5 for 1 and 3
    files = [write_run(tmp_path, run=1, seconds=[1.9, 2.1]), write_run(tmp_path, run=2, seconds=[1, 3])]
    half = T[1] * math.sqrt((0.05**2 + 0.5**2) / 2) / math.sqrt(2)
    assert factor(cells_of(files).iloc[0]) == pytest.approx(math.exp(half), rel=1e-4)


def test_machines_share_nothing_with_each_other(tmp_path):
    other = CELL._replace(instance="laptop")
    files = [write_run(tmp_path, run=run, seconds=[mean] * 3) for run, mean in ((1, 1.0), (2, 1.1))]
    files += [write_run(tmp_path, other, run=run, seconds=[mean] * 3) for run, mean in ((1, 1.0), (2, 1.01))]
    table = cells_of(files).set_index("instance")
    assert table["interval_df"].tolist() == [1, 1]
    assert factor(table.loc["laptop"]) == pytest.approx(math.exp(T[1] * math.log(1.01) / 2), rel=1e-4)


def test_one_run_has_no_interval_whatever_the_others_show(tmp_path):
    table = measured(tmp_path, [(2.0,), (1.0, 1.05)])
    assert math.isnan(table.loc[1, "images_per_s_low"]) and math.isnan(table.loc[1, "interval_df"])
    assert pairs(table.loc[1, "warnings"]) == [("n_is_1", "one run, no interval")]
    assert table.loc[2, "interval_df"] == 1
    assert factor(table.loc[2]) == pytest.approx(math.exp(T[1] * math.log(1.05) / 2), rel=1e-4)


@pytest.mark.parametrize(("ratio", "apart"), [(58.0, False), (59.0, True)])
def test_the_bound_is_fishers_at_five_per_cent_over_the_number_of_cells(ratio, apart):
    # one cell of 1 degree of freedom against two: P(F(1, 2) > r) = 1 - sqrt(r / (2 + r)), below 0.05 / 3 from r = 58.4
    assert outlying(np.array([1.0, ratio, 1.0]), np.ones(3)).tolist() == [False, apart, False]


@pytest.mark.parametrize(("ratio", "apart"), [(7.0, False), (7.3, True)])
def test_cells_of_more_runs_weigh_more_in_what_the_others_vary_by(ratio, apart):
    # 2 degrees of freedom against 4 + 4: P(F(2, 8) > r) = (1 + 2 r / 8)^-4, below 0.05 / 3 from r = 4 (60^(1/4) - 1) =
    # 7.13; the two others are the least unlikely
    assert outlying(np.array([1.0, ratio, 1.0]), np.array([4.0, 2.0, 4.0])).tolist() == [False, apart, False]
    # three variances of 1, 1 and 0.5 on 4, 4 and 8: pooled 0.75, so that the bound is on 0.75 r; P = (1 + 2 r / 16)^-8,
    # below 0.05 / 4 from r = 8 (80^(1/8) - 1) = 5.834
    far = 0.75 * (6.0 if apart else 5.7)
    found = outlying(np.array([1.0, far, 1.0, 0.5]), np.array([4.0, 2.0, 4.0, 8.0]))
    assert found.tolist() == [False, apart, False, False]


def test_several_cells_may_stand_apart_and_few_of_a_sound_machine_do():
    assert outlying(np.array([1.0] * 8 + [1e4, 1e6]), np.ones(10)).tolist() == [False] * 8 + [True, True]
    random = np.random.default_rng(3)
    alarms = sum(outlying(random.chisquare(1, 6), np.ones(6)).any() for _ in range(2000))
    # 5 % of such machines: 100 +- 3 x sqrt(2000 x 0.05 x 0.95)
    assert alarms == pytest.approx(100, abs=30)


def test_cells_without_any_spread_are_alike():
    assert not outlying(np.zeros(4), np.ones(4)).any() and not outlying(np.ones(1), np.ones(1)).any()
    assert outlying(np.array([0.0, 0.0, 1e-9]), np.ones(3)).tolist() == [False, False, True]
    assert outlying(np.array([1e-6, 1.0]), np.full(2, 5.0)).tolist() == [False, True]  # a million times the other
    assert stats.f.sf(58.4, 1, 2) == pytest.approx(0.05 / 3, rel=2e-3)  # the closed form above


@pytest.mark.parametrize(
    ("level", "reached"),
    [(0.13, 1.0), (0.14, 2.0), (0.27, 2.0), (0.28, 3.0), (0.41, 3.0), (0.42, 4.0), (0.55, 4.0), (0.56, 5.0),
     (0.9, 5.0)],
)  # fmt: skip
def test_a_family_of_four_weighs_as_two_and_the_next_figure_is_beyond_all(level, reached):
    """Weights of 1/2 each and 1, their mean of 0.6 for the next: shares 0.139, 0.278, 0.417, 0.556, 0.833."""
    assert calibrate(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([*"aaaab"]), level) == reached


def test_without_an_error_there_is_no_width():
    assert math.isnan(calibrate(np.array([]), np.array([]), 0.9))
    assert calibrate(np.arange(1.0, 10.0), np.arange(9), 0.5) == 5  # of nine and the next one half are 1 to 5
