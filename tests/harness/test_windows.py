"""How long a run is and what it times: windows of steps on a device that works behind the program, and what is told."""

import json
import sys
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from harness_runs import request
from sweetspot.harness import supervise
from sweetspot.harness.backends import Step
from sweetspot.harness.request import DIVERGED, NO_MEMORY, REFUSED
from sweetspot.harness.step_times import Interval, duration, half_width, may_stop, mean_step, step_warnings
from sweetspot.harness.train import steps_per_window, time_steps, train


class Device:
    """A device with a queue, in simulated time: the program hands over a step in `host` seconds, it takes `own`."""

    def __init__(self, host, own):
        self.host, self.own, self.now, self.done = host, own, 0.0, 0.0

    def launch(self):
        self.now += self.host
        self.done = max(self.done, self.now) + self.own
        return 0.5

    def finish(self, loss):
        self.now = max(self.now, self.done)
        return loss


def trained(queue, **flags):
    said = []
    rule = {"min_steps": 5, "least_seconds": 2, "min_seconds": 20} | flags
    asked = request(**rule)
    tell = lambda **fact: said.append(fact)  # noqa: E731
    train(asked, Step(queue.launch, queue.finish), tell=tell, clock=lambda: queue.now)
    timed = [Interval(fact["seconds"], fact["steps"]) for fact in said if fact.get("timed")]
    facts = {name: value for fact in said for name, value in fact.get("facts", {}).items()}
    return timed, facts, said


def test_a_queue_of_a_gpu_runs_ahead_and_each_step_of_a_processor_is_waited_for():
    # 4 ms to hand over a step of 10 ms: a user's loop takes 10 ms a step, one that waits for each takes 14.
    timed, facts, _ = trained(Device(0.004, 0.010), device="gpu")
    assert facts["window_steps"] == 36  # half a second of steps of 14 ms
    assert {interval.steps for interval in timed} == {36}
    assert mean_step(timed) == pytest.approx(0.010, rel=0.02)  # and the first hand-over of each window
    timed, facts, _ = trained(Device(0.004, 0.010), device="cpu")
    assert {interval.steps for interval in timed} == {1}
    assert facts["window_steps"] == 1


@pytest.mark.parametrize(("seconds", "steps"), [(0.001, 500), (0.3, 4), (1.9, 4), (2.0, 1), (30.0, 1)])
def test_a_window_is_half_a_second_and_four_steps_unless_a_step_is_long(seconds, steps):
    assert steps_per_window(request(device="gpu"), seconds) == steps


def test_all_processes_make_the_windows_that_the_first_wants():
    wanted, device = iter([7, 3, 0]), Device(0.0, 0.01)
    said, asked = [], []

    def agree(own):
        asked.append(own)
        return next(wanted)

    train(request(device="gpu"), Step(device.launch, device.finish), agree, lambda **fact: said.append(fact))
    assert [fact["steps"] for fact in said if fact.get("timed")] == [7, 3]
    assert len(asked) == 3


def test_no_run_ends_before_its_least_seconds_and_its_mean_weighs_intervals_by_steps():
    quick = [Interval(0.001)] * 1999
    rule = request(target_half_width=0.03)
    assert not may_stop(quick, rule, 1.999)
    assert may_stop([*quick, Interval(0.0011)], rule, 2.0)
    timed, *_ = trained(Device(0.0, 0.01), device="cpu", least_seconds=3)
    assert duration(timed) == pytest.approx(3.0, abs=0.02)
    timed = [Interval(0.005, 20), *[Interval(0.1)] * 4]
    assert (mean_step(timed), duration(timed)) == pytest.approx((0.5 / 24, 0.5))
    # by hand: t(4) 2.776 x sqrt(5/4 x ((20 x -0.015833)² + 4 x 0.079167²)) / 24 / 0.020833
    by_hand = 2.776 * (5 / 4 * (0.3166667**2 + 4 * 0.0791667**2)) ** 0.5 / 0.5
    assert half_width(timed) == pytest.approx(by_hand, rel=1e-4)
    told = {found.rule: found.message for found in step_warnings(timed)}
    assert told["disturbed"].startswith(
        "the mean step is 317% above the median of 0.005 s: 4 of 24 steps took over 1.5"
    )


def test_steps_stand_though_what_comes_after_them_fails(tmp_path, monkeypatch):
    lines = [{"facts": {"unit": "images"}}, *[{"seconds": 1.0, "timed": False, "steps": 1}] * 2]
    lines += [*[{"seconds": 1.0, "timed": True, "steps": 1}] * 5, {"facts": {}, "trained": True}]
    program = f"import sys\nfor line in {[json.dumps(line) for line in lines]!r}: print(line, flush=True)\n"
    program += "raise RuntimeError('no room for an 8192 x 8192 matrix')"
    monkeypatch.setattr(supervise, "missing", lambda *_: None)
    started = SimpleNamespace(launch=lambda _: [sys.executable, "-c", program])
    monkeypatch.setattr(supervise, "backend", lambda _: started)
    monkeypatch.setattr(supervise.signal, "signal", lambda *_: None)
    assert supervise.supervise(request(framework="torch", output=tmp_path / "run.parquet")) == 0
    rows = pq.read_table(tmp_path / "run.parquet").to_pylist()
    assert [row["seconds"] for row in rows] == [1.0] * 5
    assert rows[0]["status"] == "ok"
    said = dict(json.loads(rows[0]["warnings"]))
    assert said["after_steps"].endswith("RuntimeError: no room for an 8192 x 8192 matrix")


def test_a_loss_that_is_no_number_ends_the_run_with_its_reason(capsys):
    with pytest.raises(SystemExit) as ended:
        time_steps(Step(lambda: float("nan")), 1)
    assert ended.value.code == DIVERGED
    assert len({0, 1, REFUSED, DIVERGED, NO_MEMORY}) == 5  # told apart, and from Python's own: an end and an error
    assert capsys.readouterr().err.startswith("the loss is nan: such steps train nothing and are no throughput")
