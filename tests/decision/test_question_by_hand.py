"""Questions whose costs stand in the test: who is the best, the rival, what competes, and where another is cheapest."""

from dataclasses import replace

import numpy as np
import pytest
from sweetspot.decision.decision_problem import Choice, Costs, DecisionProblem, ParameterValues, all_of

WORK = all_of("amount of work")  # at factors of 1


def choices(*names, taken=(), alternatives=None):
    """Choices by name; all may be taken but those that `taken` leaves out, where it names some."""
    return tuple(
        Choice(
            name, name, {"row": row, "option": name, "model": "net"}, of, frozenset([row]), not taken or name in taken
        )
        for row, (name, of) in enumerate(zip(names, alternatives or names, strict=True))
    )


def question(made, *costs, drawn=None, assumptions=(WORK,)):
    """`costs`: USD of each choice by a factor of the work."""

    def cost(moved: ParameterValues) -> Costs:
        factors = next(iter(moved.values.values()), np.ones(1)) * np.ones(moved.cases)
        usd = np.stack([np.array([one(factor) for factor in factors], float) for one in costs])
        counts = np.array([[float(place + 1) for _ in factors] for place in range(len(costs))])
        return Costs(usd, counts)

    class ByHand(DecisionProblem):
        def cost_usd(self, values):
            return cost(values)

    samples = np.zeros((len(made), 2)) if drawn is None else np.array(drawn, float)
    return ByHand(workload="work", months=12.0, choices=tuple(made), parameters=tuple(assumptions),
                  samples_usd=samples)  # fmt: skip


def flat(usd):
    return lambda factor: usd


def two(other, **more):
    """A question of two choices, of which the first is the best as planned."""
    return question(choices("a", "b"), flat(10.0), other, **more)


def falling(x):
    """Less than 10 from 1.2 times the work on."""
    return 16 - 5 * x


def turns(asked, assumption=WORK):
    return {(turn.factor > 1): turn for turn in asked.turning_points[assumption]}


def test_the_best_is_the_first_that_may_be_taken_and_the_rival_the_first_of_another_alternative():
    made = choices("spot", "ours", "ours too", "other", taken=("ours", "ours too", "other"),
                   alternatives=("spot", "ours", "ours", "other"))  # fmt: skip
    asked = question(made, *map(flat, (1, 2, 3, 4)))
    assert (asked.best, asked.runner_up, asked.eligible.tolist()) == (1, 3, [False, True, True, True])
    assert asked.incumbents.tolist() == [False, True, True, False]
    assert asked.rivals.tolist() == [False, False, False, True]
    assert question(made[:3], *map(flat, (1, 2, 3))).runner_up is None
    assert asked.baseline.usd.tolist() == [[1], [2], [3], [4]] and asked.title_at(asked.baseline, 1, 0) == "2 × ours"


def test_what_competes_ends_in_every_draw_and_may_be_taken_cheapest_first():
    made = choices("taken away", "dear", "late", "cheap", "tied", taken=("dear", "late", "cheap", "tied"))
    drawn = [[1, 1], [8, 10], [1, np.inf], [5, 7], [7, 5]]
    assert question(made, *map(flat, range(5)), drawn=drawn).competing.tolist() == [3, 4, 1]


def test_the_nearest_turning_point_of_each_side_to_a_billionth():
    """10 for all work; 4 + 24 a time the work is dearer from 0.25 on; 16 - 5 a time: below 10 from 1.2 on."""
    asked = question(choices("flat", "falls", "rises"), flat(10.0), falling, lambda x: 4 + 24 * x)
    found = turns(asked)
    assert found[True].factor == pytest.approx(1.2, rel=1e-9) and found[False].factor == pytest.approx(0.25, rel=1e-9)
    assert (found[True].to, found[True].machines) == (1, 2.0)
    assert (found[False].to, found[False].machines) == (2, 3.0)
    assert asked.nearest(WORK) == pytest.approx(1.2)  # ln 1.2 is nearer than ln 4
    assert np.isnan(two(flat(20.0)).nearest(WORK))
    at = asked.at(WORK, np.array([0.2, 0.3, 1.0, 1.1, 1.3]))
    assert asked.is_changed(at).tolist() == [True, False, False, False, True]


@pytest.mark.parametrize("asked", [
    two(flat(10.0)),  # what is as dear
    question(choices("a", "b", taken=("a",)), flat(10.0), flat(1.0)),  # what may not be taken
    two(lambda x: 10.0 if 1 / 5.01 < x < 5.01 else 9.0),  # nothing beyond five times
    question(choices("a", "a too", "b", alternatives=("a", "a", "b")), lambda x: 10 * x, flat(11.0), flat(12.0)),
])  # fmt: skip
def test_what_turns_nothing(asked):
    assert asked.turning_points == {WORK: []}


@pytest.mark.parametrize(("bound", "cost", "expected"), [
    ({}, lambda x: 10.0 if 1 / 4.99 < x < 4.99 else 9.0, {True: 4.99, False: 1 / 4.99}),
    ({"maximum": 1.5}, falling, {True: 1.2}),
    ({"value": 20.0, "maximum": 22.0}, falling, {}),  # factors up to 1.1
    ({"value": 20.0, "maximum": 26.0}, falling, {True: 1.2}),
    ({"maximum": 1.0}, falling, {}),
])  # fmt: skip
def test_nothing_is_looked_for_beyond_five_times_nor_beyond_what_a_figure_can_be(bound, cost, expected):
    bounded = replace(WORK, **bound)
    found = turns(two(cost, assumptions=(bounded,)), bounded)
    assert {side: turn.factor for side, turn in found.items()} == pytest.approx(expected, rel=1e-9)
