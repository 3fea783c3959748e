"""Neighbours on a busy machine: what is left out, that it moves no mean, and that nothing else is left out."""

import os

import numpy as np
import pytest
from busy_machine import BusyMachine
from harness_runs import request
from step_lists import even, half_width
from sweetspot.harness import stop_rule, train
from sweetspot.harness.runfile import write_run
from sweetspot.harness.stop_rule import Look, Span, Stopping, machine_look
from sweetspot.harness.supervise import judged, kept
from sweetspot.throughput.collect import measured_cells, summarise_runs


def ran(machine, work, rule, watched=True):
    """All timed intervals of a run in simulated time, and its facts; `work()` is what a step takes alone."""
    look = {"look": machine.look} if watched else {}
    stopping = Stopping(rule, clock=lambda: machine.now, **look)
    stopping.begin()
    while not stopping.enough():
        stopping.add(machine.step(work()))
    return stopping.timed, stopping.facts()


def seconds_of(timed):
    return [interval.seconds for interval in timed]


def runs(count, mean, spread, rule, rate, length=3.0, pause=0.0, seen=True, watched=True):
    """Kept seconds of many runs and their facts; every so many steps (`pause`) one takes twice as long by itself."""
    found = []
    for seed in range(count):
        dice = np.random.default_rng(seed + 10_000)

        def work(dice=dice):
            return mean * max(0.2, 1 + spread * dice.standard_normal()) * (2 if dice.random() < pause else 1)

        timed, facts = ran(BusyMachine(seed, rate, length, seen), work, rule, watched)
        found.append((seconds_of(kept(timed, facts)), facts))
    return found


FIXED = {"min_steps": 20, "min_seconds": 600}


@pytest.mark.parametrize(("mean", "rate"), [(0.3, 0.1), (0.1, 0.3), (0.6, 0.05)])
def test_bursts_of_neighbours_move_the_mean_by_less_than_a_hundredth_and_the_interval_covers_the_truth(mean, rate):
    rule = request(**FIXED)
    found = runs(100, mean, 0.05, rule, rate)
    cut = [facts for _, facts in found if facts["left_out_share"] > 0]
    clean = [seconds for seconds, facts in found if "disturbed_throughout" not in facts]
    assert len(cut) > 25
    assert len(clean) > 95
    means = np.array([np.mean(seconds) for seconds in clean])
    assert means.mean() == pytest.approx(mean, rel=0.01)
    # 95 of 100 are to be expected, fewer than 89 once in 200 tries (binomial); the seeds are fixed
    covered = sum(abs(np.mean(seconds) - mean) <= half_width(seconds) * np.mean(seconds) for seconds in clean)
    assert covered >= 0.89 * len(clean)
    # ... and all steps of the same machines would be told 4 % too slow or more
    loose = [np.mean(seconds) for seconds, _ in runs(100, mean, 0.05, rule, rate, watched=False)]
    assert np.mean(loose) > 1.04 * mean


def test_pauses_of_the_program_itself_stay_in_the_mean_beside_bursts_of_neighbours():
    # every tenth step twice as long: 0.3 s x 1.1. Leaving out slow steps would give 0.3, 9 % less.
    found = runs(150, 0.3, 0.03, request(min_steps=60, min_seconds=600), rate=0.05, pause=0.1)
    clean = [seconds for seconds, facts in found if "disturbed_throughout" not in facts]
    assert sum(facts["left_out_share"] > 0 for _, facts in found) > 50
    assert len(clean) > 140
    assert np.mean([np.mean(seconds) for seconds in clean]) == pytest.approx(0.33, rel=0.01)


def test_what_a_machine_does_by_itself_is_never_left_out():
    # throttling: from the tenth step on a third slower; nobody else is there
    machine, works = BusyMachine(1, 0, 0), iter([0.3] * 10 + [0.4] * 100)
    timed, facts = ran(machine, lambda: next(works), request(**FIXED))
    assert facts == {"left_out_share": 0.0}
    assert kept(timed, facts) == timed
    assert seconds_of(timed) == pytest.approx([0.3] * 10 + [0.4] * 10)
    assert "throttling" in [found.rule for found in judged(request(), timed, facts)[1]]


def test_bursts_without_evidence_are_in_the_figure():
    for seconds, facts in runs(5, 0.3, 0.05, request(**FIXED), rate=0.1, seen=False):
        assert facts == {"left_out_share": 0.0}
        assert len(seconds) == 20


def test_a_disturbed_run_goes_on_until_the_undisturbed_part_satisfies_the_rule():
    found = [both for both in runs(30, 0.3, 0.0, request(**FIXED), rate=0.1) if both[1]["left_out_share"]]
    assert found
    for seconds, facts in found:
        assert len(seconds) >= 20
        assert sum(took for _, took in facts["left_out"]) / (
            sum(took for _, took in facts["left_out"]) + sum(seconds)
        ) == pytest.approx(facts["left_out_share"])
        assert facts["disturbed_reason"].startswith("other processes took ")


class Always:
    """A machine whose neighbour never leaves."""

    def __init__(self):
        self.now = 0.0

    def step(self, seconds):
        self.now += seconds
        return seconds

    def look(self):
        return Look(self.now, 0.25 * self.now, 1.25 * self.now, 0.5 * self.now, self.now)


def test_patience_ends_and_then_all_steps_count_and_the_run_is_unstable():
    timed, facts = ran(Always(), lambda: 1.0, request(min_steps=5, min_seconds=100))
    assert len(timed) == 20  # four times the five steps that the rule asks for
    # in 2 s: 0.5 stolen, 2.5 busy of which 2 own, 1 idle: 4 CPU seconds. Idle is a quarter: others took nothing
    assert facts["disturbed_reason"] == (
        "other processes took 12% of the CPUs' time and other virtual machines took 12% of the CPUs' time "
        "in 20 of 20 looks"
    )
    assert kept(timed, facts) == timed
    status, (told, *_) = judged(request(), timed, dict(facts))
    assert status == "unstable"
    assert told.rule == "disturbed"
    assert told.message.endswith("all steps count: 0 of 20 steps were not, too few")


@pytest.mark.parametrize(("least", "steps"), [(100, 80), (2, 32)])
def test_patience_is_five_seconds_at_least_where_the_protocol_asks_for_as_many(least, steps):
    # five steps of a sixteenth of a second would be enough: four times that is 1.25 s
    timed, _ = ran(Always(), lambda: 0.0625, request(min_steps=5, min_seconds=least, least_seconds=0))
    assert len(timed) == steps


def test_half_the_time_limit_ends_patience_too():
    timed, _ = ran(Always(), lambda: 1.0, request(min_steps=5, min_seconds=100, time_limit_s=20))
    assert len(timed) == 10


@pytest.mark.parametrize(
    ("stolen", "others", "idle", "taken_s", "disturbed"),
    [
        (0.05, 0.0, 0.0, 0.1, True),
        (0.049, 0.0, 0.0, 0.1, False),
        (0.0, 0.05, 0.2, 0.1, True),
        (0.0, 0.30, 0.21, 0.6, False),  # it ran where there was room
        (0.05, 0.30, 0.5, 0.6, True),  # what the host takes is never room
        (0.03, 0.03, 0.0, 0.1, True),
        (0.5, 0.5, 0.0, 0.02, False),  # two ticks
    ],
)
def test_a_span_is_disturbed_from_a_twentieth_of_the_cpus_on(stolen, others, idle, taken_s, disturbed):
    assert Span(0, 1, stolen, others, idle, taken_s).disturbed == disturbed


def test_own_time_is_no_neighbours_even_where_counters_disagree():
    before, after = Look(0, 0, 10, 5, 9), Look(1, 0, 11.9, 5.1, 11)  # 1.9 busy, 2.0 own
    assert stop_rule.span_between(before, after, 0, 3) == pytest.approx((0, 3, 0, 0, 0.05, 0))
    assert not stop_rule.span_between(before, before, 0, 3).disturbed


def test_leaving_out_is_bounded_by_what_long_steps_suffer_more():
    watch = stop_rule.Neighbours(lambda: None)
    watch.spans = [Span(at, at + 1, 0.5 * (at in (2, 3, 7)), 0, 0, 1) for at in range(12)]
    assert watch.disturbed() == {2, 3, 7}
    # steps alike: 2 / 9 x 0.3²; of 1 and 3 in turn, eight of them: variance 8/7, mean 2: 2 / 8 x 2/7
    assert watch.shortened_by([1.0] * 9) == pytest.approx(0.02)
    assert watch.shortened_by([1.0, 3.0] * 4) == pytest.approx(0.0714, abs=1e-4)


def process(proc, pid, ticks, children=()):
    """As proc(5) has them: utime, stime, cutime and cstime are the fields 14 to 17; the name may hold anything."""
    (proc / str(pid) / "task" / str(pid)).mkdir(parents=True)
    fields = ["S", *["0"] * 10, *map(str, ticks), "20", "0"]
    (proc / str(pid) / "stat").write_text(f"{pid} (a) b) {' '.join(fields)}\n")
    (proc / str(pid) / "task" / str(pid) / "children").write_text(" ".join(map(str, children)))


def test_the_kernels_counters_are_those_of_the_usable_cpus_and_of_this_runs_processes(tmp_path):
    cpu = "cpu0 100 10 20 300 5 7 8 40 9 9\ncpu1 1000 0 0 0 0 0 0 0 0 0\ncpu2 200 0 30 400 0 0 0 2 0 0\n"
    (tmp_path / "stat").write_text(f"cpu  9 9 9 9 9 9 9 9 0 0\n{cpu}intr 5 5\nctxt 1\n")
    process(tmp_path, 50, (1, 2, 3, 4), [51, 53])
    process(tmp_path, 51, (10, 0, 0, 0), [52])
    process(tmp_path, 52, (0, 20, 0, 0))
    process(tmp_path, 60, (5000, 0, 0, 0))  # somebody else's; 53 has ended meanwhile
    assert sorted(stop_rule.family(50, tmp_path)) == [50, 51, 52, 53]
    tick = os.sysconf("SC_CLK_TCK")
    seen = machine_look(50, tmp_path, {0, 2})()
    assert [value * tick for value in seen[1:]] == pytest.approx([42, 360, 705, 40])
    assert machine_look(50, tmp_path / "absent", {0})() is None
    assert machine_look(50, tmp_path, {9})() is None


def test_the_supervisor_is_the_root_where_this_process_came_from_it(monkeypatch):
    monkeypatch.setenv(stop_rule.ROOT_VARIABLE, str(os.getppid()))
    assert stop_rule.root_process() == os.getppid()
    monkeypatch.setenv(stop_rule.ROOT_VARIABLE, "999999999")
    assert stop_rule.root_process() == os.getpid()
    assert stop_rule.watcher(request(gpus_per_node="1", gpus=2))() is None  # its workers may share a host
    assert stop_rule.watcher(request()._replace(all_steps=True))() is None


def test_the_training_loop_leaves_out_and_tells_it(monkeypatch):
    monkeypatch.setattr(stop_rule, "SPAN_S", 0.0)
    monkeypatch.setattr(train, "timed_steps", lambda step, count, clock: (1.0, step()))
    stolen, said, count = 0.0, [], 0

    def look():
        return Look(0.0, stolen, 1.0 * count, 0.0, 1.0 * count)

    def step():
        nonlocal stolen, count
        count += 1
        stolen += 5.0 if count in (4, 5) else 0.0
        return 1.0

    rule = request(min_steps=3, min_seconds=1000, min_steps_slow=3, warmup_steps=1)
    train.train(rule, step, lambda **fact: said.append(fact), look=look)
    timed = [fact["seconds"] for fact in said if fact.get("timed")]
    (facts,) = (fact["facts"] for fact in said if "left_out" in fact.get("facts", {}))
    assert [number for number, _ in facts["left_out"]] == [2, 3]
    assert len(kept(even(timed), facts)) == len(timed) - 2
    # (1 burst of n steps) x 0.3² is at most a hundredth from nine quiet steps on
    assert len(timed) == 11
    news = [fact["news"] for fact in said if "news" in fact]
    assert len(news) == 1 and news[0].endswith("measuring on until the undisturbed part is long enough")


def test_what_is_left_out_stands_in_the_run_file_and_in_the_throughput_table(tmp_path):
    reason = "other processes took 40% of the CPUs' time in 2 of 9 looks"
    for run, share in ((1, 0.5), (2, 0.0)):
        rule = request(output=tmp_path / f"run~{run}.parquet", run=run)
        timed = even([2.0, 4.0, 2.0, 2.0, 4.0])
        left = {"left_out": [[1, 4.0], [4, 4.0]], "disturbed_reason": reason} if share else {}
        facts = {**left, "left_out_share": share}
        counted = kept(timed, facts)
        status, warnings = judged(rule, counted, facts)
        write_run(rule, counted, facts, status, None, warnings)
    told = summarise_runs([str(tmp_path / f"run~{run}.parquet") for run in (1, 2)]).to_dicts()
    assert [row["seconds"] for row in told] == [2.0, 2.8]
    (cell,) = measured_cells(summarise_runs([row["path"] for row in told]), {}).to_dict("records")
    assert (cell["left_out_share"], cell["disturbed_reason"]) == (0.25, reason)
    said = [found["message"] for found in cell["warnings"] if found["rule"] == "neighbours"]
    assert said == [f"2 of 5 steps, 50% of their time, are left out: {reason}"]
