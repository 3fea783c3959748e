"""Peak memory of one device: who is asked, and in which order."""

import sys
from types import SimpleNamespace

import pytest
from harness_runs import request
from sweetspot.harness.backends import backend
from sweetspot.harness.facts import peak_memory

GIB = 2**30


def test_tensorflow_is_asked_for_its_fullest_device(monkeypatch):
    read = {"GPU:0": {"current": 1, "peak": 7}, "GPU:1": {"current": 2, "peak": 6}}.__getitem__
    experimental = SimpleNamespace(get_memory_info=read)
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(config=SimpleNamespace(experimental=experimental)))
    assert backend("tensorflow").peak_memory_bytes(request(device="gpu", gpus=2)) == 7


ALL = {"peak_memory_bytes": 3 * GIB, "gpu_memory_peak_bytes": 4 * GIB, "memory_peak_bytes": 5 * GIB}


@pytest.mark.parametrize(
    ("without", "device", "gib", "source"),
    [
        ((), "gpu", 3, "framework"),
        (("peak_memory_bytes",), "gpu", 4, "nvml"),
        (("peak_memory_bytes", "gpu_memory_peak_bytes"), "cpu", 5, "resident"),
        (("peak_memory_bytes", "gpu_memory_peak_bytes"), "gpu", None, None),  # the host's memory is not the device's
    ],
)
def test_the_best_of_three_counts_and_says_which(without, device, gib, source):
    found = peak_memory({name: value for name, value in ALL.items() if name not in without}, device)
    assert (found.get("peak_memory_gib"), found.get("peak_memory_source")) == (gib, source)
