"""Two programs compared (research/performance/turns.py): the interval by hand, and two loops of a known cost."""

import math
import os
import sys

import pytest
from harness_runs import ROOT

# Burns so many CPU-seconds a step, whatever else runs here.
LOOP = """
import sys, time
end = time.process_time()
for step in range(10**6):
    end += float(sys.argv[1])
    while time.process_time() < end:
        pass
    print("step", step, flush=True)
    if step == int(sys.argv[2]):
        sys.exit("no more")
"""


@pytest.fixture
def turns(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "research" / "performance"))
    import turns

    return turns


def loop(turns, cpu_s, last=10**6):
    def is_step(line):
        return line.startswith("step")

    command = [sys.executable, "-c", LOOP, str(cpu_s), str(last)]
    return lambda: turns.Contender(command, ROOT, dict(os.environ), is_step, sorted(os.sched_getaffinity(0))[:1])


def test_the_ratio_and_its_interval_by_hand(turns):
    # Ratios 2 and 4: logarithms ln 2 and 2 ln 2, mean 1.5 ln 2, deviation ln 2 / sqrt(2), error ln 2 / 2;
    # Student's t of one degree of freedom 12.706.
    found = turns.ratio([2.0, 8.0], [1.0, 2.0])
    half = 12.706 * math.log(2) / 2
    assert found == pytest.approx((2**1.5, 2**1.5 * math.exp(-half), 2**1.5 * math.exp(half)))


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_two_loops_cost_what_they_burn(turns, turned):
    cost = turns.round_of([loop(turns, 0.015), loop(turns, 0.010)], 2, 0.1, turned)
    assert cost.steps >= 4  # a turn has a step at least, and each has four turns
    assert cost.ours.cpu_s == pytest.approx(0.015, rel=0.05)
    assert cost.peer.cpu_s == pytest.approx(0.010, rel=0.05)


@pytest.mark.slow
def test_a_program_that_ends_is_told_by_its_last_words(turns):
    with pytest.raises(RuntimeError, match="no more"):
        turns.round_of([loop(turns, 0.001), loop(turns, 0.001, last=5)], 50, 0.05, False)
