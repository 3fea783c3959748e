"""Jobs dealt out to machines, and the next number of machines to try: each bound counted on fingers."""

import numpy as np
import pytest
from sweetspot.bills.queue import more_boxes, rounds


@pytest.mark.parametrize(
    ("jobs", "slots", "machines", "longest", "together"),
    [
        (10, 4, 1, 3, 3),  # 4 + 4 + 2
        (10, 4, 2, 2, 4),  # five on each: 4 + 1
        (10, 4, 3, 1, 3),  # 4, 3, 3
        (10, 4, 9, 1, 3),  # three hold them all; six stand idle
        (9, 4, 2, 2, 3),  # five on one (4 + 1), four on the other
        (8, 4, 2, 1, 2),
        (1, 4, 5, 1, 1),
    ],
)
def test_rounds_of_jobs_dealt_out_evenly(jobs, slots, machines, longest, together):
    assert [float(part) for part in rounds(jobs, slots, machines)] == [longest, together]


@pytest.mark.parametrize(
    ("boxes", "hours", "most", "following", "short"),
    [
        (1.0, 100.0, 10.0, 1.0, False),  # one works 100 hours
        (1.0, 101.0, 10.0, 2.0, True),
        (2.0, 340.0, 10.0, 7.0, True),  # 680 hours of work
        (3.0, 101.0, 10.0, 4.0, True),  # 303 hours: four
        (2.0, 340.0, 5.0, 5.0, True),  # no more than there may be
        (5.0, 340.0, 5.0, 5.0, True),
        (2.0, np.inf, 10.0, 2.0, False),  # what never ends takes no more machines
    ],
)
def test_the_next_number_of_machines(boxes, hours, most, following, short):
    found, lacking = more_boxes(np.array([boxes]), np.array([hours]), np.array([100.0]), most)
    assert (found.tolist(), lacking.tolist()) == ([following], [short])
