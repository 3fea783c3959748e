"""What a run is asked to do: flags, defaults, refusals, and that it travels as text."""

import os

import pytest
from sweetspot.errors import UserError
from sweetspot.harness.devices import leased_devices
from sweetspot.harness.request import parse_request
from sweetspot.study.config import Measure

CELL = ["--instance", "here", "--framework", "tensorflow", "--model", "vgg16", "--batch-size", "16", "--gpus", "2"]
CELL += ["--precision", "fp32", "--variant", "default", "--run", "3", "--output", "run~3.parquet"]


def request(*more):
    return parse_request([*CELL, *more])


def test_a_request_without_flags_of_the_protocol_follows_the_configurations_defaults():
    asked, measure = request(), Measure()
    for name in ("protocol", "warmup_steps", "min_steps", "min_seconds", "min_steps_slow", "target_half_width",
                 "time_limit_s", "xla"):  # fmt: skip
        assert getattr(asked, name) == getattr(measure, name)
    assert (asked.device, asked.where, asked.expect_gpu) == ("cpu", "local", "")
    assert (asked.run, asked.cell.batch_size, asked.cell.gpus, asked.cell.model) == (3, 16, 2, "vgg16")
    assert request(*measure.flags().split()) == asked


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--batch-size", -1, "--batch-size is -1 on a cpu; expected 1 to 100000"),
        ("--gpus", 0, "--gpus is 0 on a cpu; expected 1 to "),
        ("--run", 0, "--run is 0"),
        ("--run", 10_001, "--run is 10001 on a cpu; expected 1 to 10000"),
        ("--warmup-steps", 1001, "--warmup-steps is 1001 on a cpu; expected 1 to 1000"),
        ("--instance", "../x", "--instance is '../x'; expected letters, digits"),
        ("--variant", "", "--variant is ''"),
    ],
)
def test_what_no_path_may_be_named_after_is_refused(flag, value, words):
    with pytest.raises(UserError) as caught:
        request(flag, str(value), "--framework", "command")
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("cpus", "device", "most"), [(None, "cpu", 64), (16, "cpu", 64), (128, "cpu", 128), (128, "gpu", 4096)]
)
def test_a_processor_is_as_many_devices_as_it_has_cpus_or_64(monkeypatch, cpus, device, most):
    monkeypatch.setattr(os, "cpu_count", lambda: cpus)
    assert request("--device", device, "--gpus", str(most), "--run", "10000").cell.gpus == most
    with pytest.raises(UserError, match=f"--gpus is {most + 1} on a {device}; expected 1 to {most}"):
        request("--device", device, "--gpus", str(most + 1))


def test_a_run_of_a_kubernetes_instance_outside_a_pod_is_refused(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UserError, match="this is no pod"), leased_devices(request("--where", "kubernetes")):
        pass
