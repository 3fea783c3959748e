"""One module a framework with the same functions, found by its name; each process of torch takes its own card."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness_runs import request
from sweetspot.errors import UserError
from sweetspot.harness.backends import backend, require_supported

ROOT = Path(__file__).parent.parent.parent


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


class Cuda:
    """Two GPUs in exclusive mode: a process that begins on another's has no room there."""

    def __init__(self):
        self.asked, self.current, self.nccl = [], 0, SimpleNamespace(version=None)

    def set_device(self, place):
        self.asked.append(f"set {place}")
        self.current = place

    def device_count(self):
        return 2

    def get_device_name(self, place=None):
        self.asked.append(f"name on {self.current}")
        return "NVIDIA A100-SXM4-80GB"

    def get_device_capability(self):
        return (8, 0)


def test_each_process_of_torch_takes_its_card_before_it_names_any_and_needs_no_nccl_to_do_so(monkeypatch):
    cuda, allowed = Cuda(), SimpleNamespace(allow_tf32=False)
    cudnn = SimpleNamespace(allow_tf32=True, benchmark=False, version=lambda: 91000)
    distributed = SimpleNamespace(is_available=lambda: True, is_nccl_available=lambda: False)
    settings = SimpleNamespace(cuda=SimpleNamespace(matmul=allowed), cudnn=cudnn)
    told = {"cuda": cuda, "backends": settings, "distributed": distributed, "get_num_threads": lambda: 1}
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(**told, version=SimpleNamespace(cuda="13.0")))
    monkeypatch.setenv("LOCAL_RANK", "1")
    asked = request(framework="torch", model="tiny_cnn", gpus=2, variant="ddp", device="gpu")
    chosen = backend("torch")
    chosen.prepare(asked)
    assert chosen.devices(asked) == ["NVIDIA A100-SXM4-80GB"] * 2
    facts = chosen.facts(asked)
    assert cuda.asked[0] == "set 1"
    assert set(cuda.asked[1:]) == {"name on 1"}
    assert facts["products"] == "fp32, tf32 in convolutions"
    assert "nccl" not in facts


@pytest.mark.parametrize(
    ("matrices", "convolutions", "there", "products"),
    [
        (False, True, True, "fp32, tf32 in convolutions"),
        (True, True, True, "tf32"),
        (True, True, False, "fp32"),  # before Ampere, whatever is allowed
        (False, False, True, "fp32"),
    ],
)
def test_by_what_fp32_is_multiplied_is_said(matrices, convolutions, there, products):
    assert backend("torch").products(matrices, convolutions, there) == products
