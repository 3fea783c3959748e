"""The measuring harness: a real run of a tiny network, when a run ends, and every bad end."""

import json
import math

import pandas as pd
import pyarrow.parquet as pq
import pytest
from harness_runs import measure, request
from sweetspot.harness import stop_rule
from sweetspot.harness.step_times import Interval, may_stop
from sweetspot.harness.stop_rule import MeasuredSteps
from sweetspot.harness.supervise import assess, outcome


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "run~1.parquet"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MALLOC_TOP_PAD_", "1048576")
        done = measure(output, "--min-steps", "7")
    assert done.returncode == 0, done.stderr
    return output, done.stderr


@pytest.mark.slow
def test_a_run_tells_its_progress_and_its_file_has_one_row_a_timed_step_and_the_facts(run_file):
    output, progress = run_file
    assert all(word in progress for word in ("tiny_cnn batch 8 x 1 on here, run 1", "step 7 of at least 7", "s spent"))
    table = pd.read_parquet(output)
    assert list(table["step"]) == list(range(7))
    assert (table["seconds"] > 0).all()
    assert set(table["status"]) <= {"ok", "unstable"}  # a neighbour may slow a step
    assert (table["batch_size"].iloc[0], table["gpus"].iloc[0], table["model"].iloc[0]) == (8, 1, "tiny_cnn")
    facts = json.loads(pq.read_schema(output).metadata[b"sweetspot"])
    told = "protocol versions device_name device_count cpu memory_peak_bytes host started_at command"
    assert all(facts[name] for name in told.split())
    assert {"tensorflow", "keras", "python"} <= set(facts["versions"])
    assert facts["settings"]["MALLOC_MMAP_MAX_"] == "0"  # what makes it faster than by default is told
    assert facts["settings"]["MALLOC_TOP_PAD_"] == "1048576"  # one's own setting wins


def test_of_many_quick_steps_not_each_is_followed_by_a_look_at_all_of_them(monkeypatch):
    asked = []
    monkeypatch.setattr(stop_rule, "may_stop", lambda *given: asked.append(given) or may_stop(*given))
    rule = request(min_steps=10**6, min_seconds=2, min_steps_slow=3, warmup_steps=1)
    measured, now = MeasuredSteps(rule, lambda **_: None), 0.0
    while not measured.enough():
        now += 0.0001
        measured.add(Interval(0.0001), None, now)
    assert 20_000 <= len(measured.timed) <= 20_101  # 2 s, and at most half a hundredth more
    # each of the first 200 (none twice), then every k-th of the next 200, k = 1, 2, ... 99, and one or two hundreds
    assert len(asked) - 200 - sum(math.ceil(200 / k) for k in range(1, 100)) in (2, 3)


def test_the_limits_count_the_clock_and_not_what_a_script_says_a_step_takes():
    """A line each second tells of 10 ms: after 20 s the run ends, not after 2,000 lines."""
    rule = request(min_steps=10**6, min_seconds=20, min_steps_slow=3, warmup_steps=1)
    measured, now = MeasuredSteps(rule, lambda **_: None), 0.0
    while not measured.enough():
        now += 1.0
        measured.add(Interval(0.01), None, now)
    assert len(measured.timed) == 20
    assert measured.facts()["timed_seconds"] == 20
    # 0.2 s of steps, but 20 s of the clock: no run that was too short
    _, warnings = assess(rule._replace(least_seconds=2), measured.timed, measured.facts())
    assert "short_run" not in [warning.rule for warning in warnings]


@pytest.mark.parametrize(
    ("code", "errors", "timed_out", "status", "word"),
    [
        (0, "", False, "ok", None),
        (-9, "", False, "oom", "killed"),
        (-9, "", True, "failed", "time limit of 1800 s"),
        # as JAX, cuBLAS, TensorFlow, torch, numpy and the C++ library say it
        (1, "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 123 bytes", False, "oom", "123"),
        (1, "XlaRuntimeError: INTERNAL: cublas error\nCUBLAS_STATUS_ALLOC_FAILED", False, "oom", "CUBLAS"),
        (1, "InternalError: Failed copying: Dst tensor is not initialized.", False, "oom", "Dst tensor"),
        (1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", False, "oom", "2 GiB"),
        (-6, "terminate called after throwing an instance of 'std::bad_alloc'\n  what(): x", False, "oom", "bad_alloc"),
        # TensorFlow's allocator tried less next; another error ended the process
        (1, "Allocator ran out of memory: this is not a failure\nValueError: no", False, "failed", "no"),
        (1, "MemoryError: first\nTraceback\nValueError: while that was handled", False, "failed", "handled"),
        (4, "the script ended; its last words: x", False, "oom", "x"),
        (3, "steps\nthe loss is nan", False, "failed", "the loss is nan"),
        (-11, "", False, "failed", "signal 11"),
    ],
)
def test_every_end_of_the_training_process_is_an_outcome(code, errors, timed_out, status, word):
    found, message = outcome(code, errors, timed_out, request())
    assert found == status
    assert message is None if word is None else word in message


@pytest.mark.slow
def test_variants_are_tensorflows_own_cross_device_operations():
    from sweetspot.harness.tensorflow_training import CROSS_DEVICE_OPERATIONS

    names = {variant: type(make()).__name__ for variant, make in CROSS_DEVICE_OPERATIONS.items() if variant != "B"}
    assert names == {"A": "ReductionToOneDevice", "C": "HierarchicalCopyAllReduce"}
