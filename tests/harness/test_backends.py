"""One module a framework with the same functions, found by its name; each process of torch takes its own card."""

import os
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from harness_runs import ROOT, request
from sweetspot.errors import UserError
from sweetspot.harness import launcher
from sweetspot.harness.backends import backend, missing, require_devices, require_supported


def test_choosing_a_backend_imports_no_framework_and_an_unknown_one_is_refused():
    code = (
        "import sys; from sweetspot.harness.backends import FRAMEWORKS, backend; "
        "[backend(name) for name in FRAMEWORKS]; "
        "print(*{'keras', 'tensorflow', 'torch'}.intersection(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    with pytest.raises(UserError, match="--framework is 'cntk'; expected one of tensorflow, torch"):
        backend("cntk")
    for refused in ({"precision": "fp8"}, {"model": "resnet5"}, {"variant": "B"}):
        with pytest.raises(UserError, match="nothing was measured"):
            require_supported(request(**refused))
    with pytest.raises(UserError, match="XLA compiles"):
        require_supported(request("--xla", framework="torch"))
    require_supported(request(framework="command", precision="fp8"))
    assert missing("command") is None


@pytest.mark.parametrize(
    ("device", "names", "refused"),
    [
        ("gpu", ["NVIDIA A100", "NVIDIA A100"], False),
        ("gpu", ["NVIDIA A100"], True),
        ("gpu", [], True),
        ("gpu", ["NVIDIA A100", "NVIDIA H100"], True),
        ("cpu", ["A100 of another maker"], False),  # two parts of one processor
        ("cpu", ["EPYC"], True),
    ],
)
def test_devices_must_be_as_many_and_such_as_requested(device, names, refused):
    asked = request(device=device, gpus=2, expect_gpu="A100")
    if not refused:
        return require_devices(asked, names)
    with pytest.raises(UserError, match="nothing was measured"):
        require_devices(asked, names)


@pytest.mark.parametrize(
    ("precision", "capability", "products"),
    [
        ("fp32", (8, 0), "fp32, tf32 in convolutions"),  # as torch has it by itself
        ("tf32", (8, 0), "tf32"),
        ("fp32", (7, 0), "fp32"),  # before Ampere, whatever is allowed
        ("fp16", (8, 0), None),
    ],
)
def test_each_process_of_torch_takes_its_card_before_it_names_any_and_says_how_fp32_is_multiplied(
    monkeypatch, precision, capability, products
):
    cuda = MagicMock()  # two GPUs in exclusive mode: a process that begins on another's has no room there
    cuda.matmul.allow_tf32, cuda.device_count.return_value = False, 2
    cuda.get_device_name.return_value, cuda.get_device_capability.return_value = "NVIDIA A100-SXM4-80GB", capability
    settings = SimpleNamespace(cuda=cuda, cudnn=SimpleNamespace(allow_tf32=True))
    torch = SimpleNamespace(cuda=cuda, backends=settings, version=SimpleNamespace(cuda="13.0"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("LOCAL_RANK", "1")
    facts = backend("torch").prepare(
        request(framework="torch", model="tiny_cnn", gpus=2, device="gpu", precision=precision)
    )
    asked = [name for name, *_ in cuda.method_calls if name in ("set_device", "get_device_name")]
    assert asked == ["set_device", "get_device_name", "get_device_name"]
    cuda.set_device.assert_called_once_with(1)
    assert facts.get("products") == products
    assert settings.cudnn.benchmark


@pytest.mark.parametrize(("cores", "gpus", "threads"), [(8, 2, 4), (7, 2, 3), (1, 2, 1)])
def test_processes_on_a_processor_share_its_cores_and_each_has_one_at_least(monkeypatch, cores, gpus, threads):
    monkeypatch.setattr(launcher.os, "sched_getaffinity", lambda _: set(range(cores)))
    assert launcher.threads_per_process(request(gpus=gpus, device="cpu")) == threads
