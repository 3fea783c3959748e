"""What others took of a run's CPU time: by the kernel's counters, told and not corrected."""

from types import SimpleNamespace

import psutil
import pytest
from harness_runs import request
from sweetspot.harness import stop_rule
from sweetspot.harness.runfile import write_run
from sweetspot.harness.step_times import Interval
from sweetspot.harness.stop_rule import CpuSample, MeasuredSteps, neighbour_share, sample_cpu
from sweetspot.harness.supervise import assess
from sweetspot.throughput.collect import measured_cells
from sweetspot.throughput.run_files import summarise_runs


def sample(moment_s=0.0, stolen_s=0.0, busy_s=0.0, idle_s=0.0, run_s=0.0):
    return CpuSample(moment_s, stolen_s, busy_s, idle_s, run_s)


@pytest.mark.parametrize(
    ("after", "share"),
    [
        # 20 CPU seconds in all, of which the run had 12, others 8, and nothing was idle
        ({"busy_s": 20, "run_s": 12}, 8 / 20),
        # the same with 5 of 25 idle, a fifth: others still count
        ({"busy_s": 20, "run_s": 12, "idle_s": 5}, 8 / 25),
        # with 6 of 26 idle others ran where the run left room
        ({"busy_s": 20, "run_s": 12, "idle_s": 6}, 0.0),
        # what the host took counts however much was idle
        ({"busy_s": 10, "run_s": 10, "idle_s": 8, "stolen_s": 2}, 2 / 20),
        # counters of processes and of CPUs are a few ticks apart: not less than nothing
        ({"busy_s": 10, "run_s": 10.5}, 0.0),
        ({"busy_s": 10}, 1.0),
        ({"busy_s": 0.5, "run_s": 0.25}, 0.5),
        ({}, 0.0),
        ({"busy_s": 20, "run_s": 12, "moment_s": 0.5}, 8 / 20),
        ({"busy_s": 20, "moment_s": 0.4}, None),  # too short for counters of hundredths
    ],
)
def test_the_share_that_others_took_by_hand(after, share):
    before, passed = sample(7.0, 1.0, 2.0, 3.0, 4.0), sample(**{"moment_s": 10.0} | after)
    assert neighbour_share(before, CpuSample(*map(sum, zip(before, passed, strict=True)))) == pytest.approx(share)
    assert neighbour_share(None, sample()) is None


def test_counters_are_those_of_the_usable_cpus_and_of_the_processes_of_this_run(monkeypatch):
    def cpu(user, steal):
        return SimpleNamespace(user=user, nice=1.0, system=2.0, idle=30.0, iowait=3.0, steal=steal)

    class Process:
        def __init__(self, pid):
            self.pid = pid

        def cpu_times(self):
            if self.pid == 9:  # it has gone
                raise psutil.NoSuchProcess(9)
            return (float(self.pid), 0.25, 0.5, 0.25, 100.0)  # user, system, those of children, waiting for disks

        def children(self, recursive):
            return [Process(4), Process(9)] if recursive else []

    monkeypatch.setenv(stop_rule.ROOT_VARIABLE, "7")
    monkeypatch.setattr(stop_rule.psutil, "Process", Process)
    monkeypatch.setattr(
        stop_rule.psutil, "cpu_times", lambda percpu: [cpu(10, 0.5), cpu(1000, 9), cpu(20, 0.25)][: 3 * percpu]
    )
    monkeypatch.setattr(stop_rule.os, "sched_getaffinity", lambda process: {process, 2})
    seen = sample_cpu()
    # CPUs 0 and 2: 10 + 20 user, twice 1 nice and 2 system; the processes 7 + 1 and 4 + 1
    assert (seen.stolen_s, seen.busy_s, seen.idle_s, seen.run_s) == (0.75, 36.0, 66.0, 13.0)


def test_time_and_the_share_of_others_count_from_the_end_of_the_warm_up(monkeypatch):
    """Two steps of warm-up, the second until 10 s, and two timed ones until 13 s, in which others took 8 of 20."""
    taken, seen = iter([None, sample(10.0), sample(13.0, busy_s=20, run_s=12)]), []
    monkeypatch.setattr(stop_rule, "sample_cpu", lambda: seen.append(steps.warmup) or next(taken))
    steps = MeasuredSteps(request(warmup_steps=2), lambda **_: None)
    assert steps.facts() == {"timed_seconds": 0.0}
    for now in (4.0, 10.0, 11.0, 13.0):
        steps.add(Interval(1.0), None, now)
    assert (steps.facts(), seen) == ({"timed_seconds": 3.0, "others_cpu_share": 0.4}, [0, 2, 2])


@pytest.mark.parametrize(("share", "status", "rules"), [(0.04, "ok", []), (0.05, "unstable", ["disturbed"])])
def test_a_run_that_others_disturbed_keeps_all_its_steps_and_says_the_share(tmp_path, share, status, rules):
    facts = {"others_cpu_share": share}
    rule = request(output=tmp_path / "run~1.parquet", least_seconds=0)
    timed = [Interval(2.0)] * 5
    found, warnings = assess(rule, timed, facts)
    assert (found, [warning.rule for warning in warnings]) == (status, rules)
    write_run(rule, timed, facts, found, None, warnings)
    (cell,) = measured_cells(summarise_runs([str(tmp_path / "run~1.parquet")]), {}).to_dict("records")
    assert cell["others_cpu_share"] == share
    assert cell["images_per_s"] == pytest.approx(16 / 2.0)
    assert ("disturbed" in [warning["rule"] for warning in cell["warnings"]]) is bool(rules)
