"""Strategies: each class to a machine by expectation, or some machines timed first; by hand and in closed form."""

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
from mix_problems import held, problem, rented, timing, unlimited
from scipy.stats import norm
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.problem import NEVER, SpeedErrors, cost_factors
from sweetspot.mixes.search import BEST, RENTED, Mix, MixSearch, mixes


def of_one_class(*offers, jobs=100.0, trial=0.0, timed=()):
    """So many jobs a month of one class, on offers whose speeds are uncertain and unrelated."""
    amounts = np.full((1, offers[0].usd.shape[1], 1), jobs)
    return timing(problem(amounts, [], offers), timed, trial)


# A job costs 10 on one machine, and 5 or 17 on the other, equally likely: 11 is expected.
SURE, UNSURE = rented("sure", [[10.0, 10.0]]), rented("unsure", [[5.0, 17.0]])


def test_without_a_timing_all_go_where_it_is_cheapest_in_expectation():
    """100 jobs at 10, in both draws: that the other would have been cheaper in the first is known to nobody."""
    assert dispatch(of_one_class(SURE, UNSURE), ()).usd.tolist() == [1000.0, 1000.0]
    assert dispatch(of_one_class(SURE, rented("unsure", [[5.0, 13.0]])), ()).usd.tolist() == [500.0, 1300.0]


def test_with_its_speed_known_each_draw_has_its_own_machine_and_the_trial_is_paid():
    """100 jobs at 5 in the first draw, at 10 in the second, and 20 USD a month of the trial."""
    made = of_one_class(SURE, UNSURE, trial=20.0, timed=["unsure: a"])
    assert dispatch(made, ()).usd.tolist() == [520.0, 1020.0]
    # To time the sure one says nothing.
    assert dispatch(replace(made, timed=frozenset(["sure: a"])), ()).usd.tolist() == [1020.0, 1020.0]
    # Of another class nothing is learned by it: that one goes for 10, and not for 12, in both draws.
    offers = rented("x", [[5.0, 17.0], [10.0, 10.0]]), rented("y", [10.0, 12.0], draws=2)
    both = problem(np.ones((2, 2, 1)), [], offers)
    assert dispatch(timing(both, ["x: a"]), ()).usd.tolist() == [15.0, 20.0]


def test_a_timing_does_not_say_what_prices_will_be():
    """The job takes as long in both draws; what is uncertain is the price."""
    dear = replace(UNSURE, usd_at_speed=np.array([[11.0, 11.0]]))
    made = of_one_class(SURE, dear, timed=["unsure: a"])
    assert dispatch(made, ()).usd.tolist() == [1000.0, 1000.0]
    assert mixes(replace(made, timed=frozenset()), unlimited)[0].timed == frozenset()


@pytest.mark.parametrize(
    ("trial", "timed", "usd"),
    [
        (20.0, {"unsure: a"}, 770.0),  # (5 + 10) / 2 x 100 = 750, and the trial
        (239.0, {"unsure: a"}, 989.0),  # saves 11 of 1,000, more than a hundredth
        (241.0, set(), 1000.0),  # saves 9: nobody sets up a machine for it
    ],
)
def test_the_best_strategy_pays_for_a_timing_that_is_worth_it(trial, timed, usd):
    """A machine for 1,500 USD does all jobs: beside it no timing is paid for."""
    box = held("box", [1.0], [0.0], 100.0, 1500.0, draws=2)
    best, *pure = mixes(replace(of_one_class(SURE, UNSURE, trial=trial), held=(box,)), unlimited)
    assert (best.kind, best.timed, best.expected) == (BEST, timed, pytest.approx(usd))
    assert MixSearch(best.problem, unlimited).rank(best) == pytest.approx(usd / 0.99 if timed else usd)
    assert best.saving == pytest.approx(1000.0 - usd) and best.fixed_usd == pytest.approx(1000.0)
    assert {one.source: one.expected for one in pure} == {"sure": 1000.0, "unsure": 1100.0, "box": 1500.0}
    assert not any(one.timed for one in pure)


def test_machines_that_are_timed_are_those_that_lower_the_expected_cost_most():
    """Costs of 9, of 4 or 16 (10), of 6 or 16 (11), of 2 or 102 (52), independent of each other: eight draws.

    With none known 9. The second known: (4 + 9) / 2 = 6.5. The fourth known: (2 + 9) / 2 = 5.5: it is first, however
    dear on average. Then the second as well: half of 2, quarters of 4 and 9: 4.25. Then the third: half of 2, a quarter
    of 4, eighths of 6 and 9: 3.875. At 0.4 a trial the third costs more than it saves (0.375).
    """
    two = [np.array(each) for each in ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1])]
    costs = {"sure": np.full(8, 9.0), "second": 4.0 + 12 * two[0], "third": 6.0 + 10 * two[1],
             "fourth": 2.0 + 100 * two[2]}  # fmt: skip
    offers = [replace(rented(key, [usd]), speed_keys=(key,)) for key, usd in costs.items()]
    errors = SpeedErrors(tuple(costs), -np.log(np.stack([*costs.values()])))
    case = replace(problem(np.ones((1, 8, 1)), [], offers), errors=errors)
    for trial, chosen in ((0.01, {"second", "third", "fourth"}), (0.4, {"second", "fourth"}), (2.0, {"fourth"}),
                          (4.0, set())):  # fmt: skip
        priced = replace(case, trials=dict.fromkeys(costs, trial))
        assert MixSearch(priced, unlimited).timed == chosen, trial
    assert MixSearch(replace(case, trials={"second": 0.01}), unlimited).timed == {"second"}
    assert MixSearch(replace(case, trials={"second": 0.01}, jobs=np.zeros((1, 8, 1))), unlimited).timed == set()


def mean_of_the_smaller(first, second, spreads):
    """E[min] of two independent log-normal costs with these means: by Margrabe's formula for the option to exchange one
    for the other (Margrabe 1978), E[min] = m1 - E[max(X1 - X2, 0)] = m1 (1 - N(d)) + m2 N(d - s).
    """
    spread = sqrt(spreads[0] ** 2 + spreads[1] ** 2)
    edge = (log(first / second) + spread**2 / 2) / spread
    return first * (1 - norm.cdf(edge)) + second * norm.cdf(edge - spread)


@pytest.mark.parametrize(("means", "spreads"), [((10.0, 10.0), (0.3, 0.3)), ((10.0, 12.0), (0.5, 0.2))])
def test_two_log_normal_speeds_cost_the_closed_form(means, spreads):
    """Nothing timed: the lower mean. Both timed: E[min], of equal means and 0.3 of either 20 (1 - N(0.2121)) = 8.32."""
    noise = np.random.default_rng(53).standard_normal((2, 200_000))
    logs = np.array(spreads)[:, None] * noise
    costs = np.array(means)[:, None] * np.exp(-logs - np.square(spreads)[:, None] / 2)  # the mean is kept
    offers = [replace(rented(name, [usd]), speed_keys=(name,)) for name, usd in zip("xy", costs, strict=True)]
    errors = SpeedErrors(("x", "y"), logs)
    made = replace(problem(np.ones((1, 200_000, 1)), [], offers), errors=errors, trials={"x": 0.0, "y": 0.0})
    fixed, timed = (dispatch(replace(made, timed=frozenset(keys)), ()).usd for keys in ("", "xy"))
    assert fixed.mean() == pytest.approx(min(means), rel=5e-3)
    assert timed.mean() == pytest.approx(mean_of_the_smaller(*means, spreads), rel=5e-3)
    # All timed for nothing: in each draw the cheaper one, which is what hindsight would be.
    assert timed == pytest.approx(costs.min(axis=0))


def test_one_timing_says_of_another_machine_what_they_have_in_common():
    """log speeds: common + own error, variances 3 and 1. Of one that is timed the other's is expected to be 3 / 4 of
    what it is off (linear regression: covariance 3 over variance 4); an unrelated one stays as it is.
    """
    source = np.random.default_rng(7)
    common, own, other, apart = source.standard_normal((4, 100_000))
    first = sqrt(3) * common + own
    logs = np.stack([first, sqrt(3) * common + other, apart, apart + 0.076 * first])  # The last: a correlation of 0.15.
    errors = SpeedErrors(("a", "b", "c", "d"), logs / 10)
    factors = cost_factors(errors, frozenset(["a"]))
    assert set(factors) == {"a", "b", "d"} and cost_factors(errors, frozenset()) == {}
    for key, share in (("a", 1.0), ("b", 0.75), ("d", 0.076)):
        slope = np.polyfit(errors.logs[0], np.log(factors[key]), 1)[0]
        assert slope == pytest.approx(-share, abs=0.02) and factors[key].mean() == pytest.approx(1.0)


def test_a_machine_is_thought_to_be_off_as_a_related_one_that_was_timed():
    """Both are twice as fast in the first draw, half in the second: y costs 10 x 0.5 / 1.25 and 10 x 2 / 1.25, x 10."""
    x, y = (replace(rented(key, [usd]), speed_keys=(key,)) for key, usd in (("x", [10.0, 10.0]), ("y", [4.0, 16.0])))
    known = {"errors": SpeedErrors(("x", "y"), np.log([[2.0, 0.5]] * 2)), "timed": frozenset("x"), "trials": {"x": 0.0}}
    assert dispatch(replace(problem(np.ones((1, 2, 1)), [], [x, y]), **known), ()).usd.tolist() == [4.0, 10.0]


def test_all_on_one_offer_leaves_to_the_others_what_it_cannot_do():
    """Class b runs on the other two alone: 4 on one, 3 or 7 on the other (5): it goes to the first in both draws."""
    first = rented("first", [[1.0, 1.0], [NEVER, NEVER]])
    second = rented("second", [9.0, 4.0], draws=2)
    third = rented("third", [[9.0, 9.0], [3.0, 7.0]])
    made = timing(problem(np.ones((2, 2, 1)), [], [first, second, third]))
    search = MixSearch(made, unlimited)
    assert search.timed == search.with_timings(search.mix(())).timed == {"third: b"}
    for source, usd in (("first", [5.0, 5.0]), ("third", [12.0, 16.0])):
        mix = Mix(RENTED, source, dispatch(replace(made, first=source), ()))
        assert mix.done.usd.tolist() == mix.at(made).usd.tolist() == usd
        assert search.with_timings(mix) is mix  # though class b would gain
