"""The iterator for training scripts of one's own: what it tells, who tells, and what it waits for."""

import json
import sys
from types import SimpleNamespace

import pytest
from sweetspot.steps import VARIABLE, steps


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The file to which steps are told; nothing is set beside it."""
    for name in ("RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "steps.jsonl"))
    monkeypatch.setitem(sys.modules, "torch", None)
    return tmp_path / "steps.jsonl"


def test_each_step_is_told_when_the_next_is_asked_for(told):
    seen = steps("abc")
    assert (next(seen), told.read_text()) == ("a", "")
    assert next(seen) == "b" and len(told.read_text().splitlines()) == 1  # at once, not when the file is closed
    assert list(seen) == ["c"]
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1, 2] and all(line["seconds"] >= 0 for line in lines)


@pytest.mark.parametrize(
    ("place", "tells"),
    [({"RANK": "0"}, True), ({"RANK": "1"}, False), ({"SLURM_PROCID": "3"}, False), ({"SLURM_PROCID": "0"}, True),
     ({"RANK": "0", "SLURM_PROCID": "1"}, True)]
)  # fmt: skip
def test_of_several_processes_the_first_tells(told, monkeypatch, place, tells):
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    assert list(steps(range(2))) == [0, 1]
    assert told.exists() == tells


def test_outside_of_a_measurement_it_only_iterates(told, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    assert list(steps(iter("ab"), finish=lambda: pytest.fail("nothing is waited for"))) == ["a", "b"]
    assert not told.exists()


@pytest.mark.parametrize(("there", "begun", "waits"), [(True, True, 2), (True, False, 0), (False, True, 0)])
def test_a_device_that_torch_uses_is_waited_for(told, monkeypatch, there, begun, waits):
    calls = []
    cuda = SimpleNamespace(
        is_available=lambda: there, is_initialized=lambda: begun, synchronize=lambda: calls.append("cuda")
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    list(steps("ab"))
    assert len(calls) == waits
    list(steps("a", finish=lambda: calls.append("own")))  # what the script waits for itself
    assert calls[waits:] == ["own"]
