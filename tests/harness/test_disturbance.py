"""What others took of a run's CPU time: by the kernel's counters, told and not corrected."""

from types import SimpleNamespace

import psutil
import pytest
from harness_runs import request
from sweetspot.harness import stop_rule
from sweetspot.harness.runfile import write_run
from sweetspot.harness.step_times import Interval
from sweetspot.harness.stop_rule import CpuSample, neighbour_share, sample_cpu
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
        ({}, 0.0),
        ({"busy_s": 20, "moment_s": 0.4}, None),  # too short for counters of hundredths
    ],
)
def test_the_share_that_others_took_by_hand(after, share):
    assert neighbour_share(sample(), sample(**{"moment_s": 10.0} | after)) == pytest.approx(share)
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
            return [Process(4), Process(9)]

    monkeypatch.setenv(stop_rule.ROOT_VARIABLE, "7")
    monkeypatch.setattr(stop_rule.psutil, "Process", Process)
    monkeypatch.setattr(stop_rule.psutil, "cpu_times", lambda percpu: [cpu(10, 0.5), cpu(1000, 9), cpu(20, 0.25)])
    monkeypatch.setattr(stop_rule.os, "sched_getaffinity", lambda process: {0, 2})
    seen = sample_cpu()
    # CPUs 0 and 2: 10 + 20 user, twice 1 nice and 2 system; the processes 7 + 1 and 4 + 1
    assert (seen.stolen_s, seen.busy_s, seen.idle_s, seen.run_s) == (0.75, 36.0, 66.0, 13.0)


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
