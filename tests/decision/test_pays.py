"""From which factor of an assumption on something pays, and until where, on straight lines that can be drawn."""

import numpy as np
import pytest
from sweetspot.decision.turning import stretch

FACTORS = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
INF = np.inf


@pytest.mark.parametrize(
    ("apart", "jumps", "expected"),
    [
        ([3, 2, 1, -1, -3], (), (1.5, INF)),  # from +1 at 1.0 to -1 at 2.0: half way
        ([3, 1, -1, -2, -3], (), (0.75, INF)),  # it pays as planned: where that stretch begins
        ([-1, -2, -3, -4, -5], (), (0.0, INF)),  # from the least factor on
        ([3, 0, -1, -2, -3], (), (0.5, INF)),  # what costs the same pays
        ([3, 2, 1, 2, 3], (), (INF, INF)),  # at none
        ([3, 1, -1, -2, 1], (), (0.75, 2.0)),  # and with more it is the dearer again
        ([-1, 1, 2, -1, 1], (), (0.0, 0.25)),  # not as planned: the first stretch
        ([3, 2, 1, -1, -3], (3,), (2.0, INF)),  # a further machine is needed there: no straight line leads to it
        ([INF, INF, INF, -1, -3], (), (2.0, INF)),
    ],
)
def test_the_stretch_in_which_it_pays(apart, jumps, expected):
    jump = np.isin(np.arange(FACTORS.size), jumps)
    found, until = stretch(np.array([apart, apart], float), FACTORS, jump)
    assert (found.tolist(), until.tolist()) == ([expected[0]] * 2, [expected[1]] * 2)
