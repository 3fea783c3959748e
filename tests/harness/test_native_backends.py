"""Every way of TensorFlow and PyTorch trains, and several devices agree with one.

The CPU build of PyTorch is on no common registry: where it is not installed its tests are skipped.
"""

import functools
import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from harness_runs import ROOT, measure, request
from sweetspot.harness.backends import backend
from sweetspot.harness.facts import instruction_sets
from sweetspot.harness.runfile import run_facts
from sweetspot.transformers import SHAPES, unit_of

pytestmark = pytest.mark.slow
PATHS = os.pathsep.join(str(ROOT / part) for part in ("workflow", "tests/support"))
ENV = {**os.environ, "PYTHONPATH": PATHS, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
ENV |= {"TF_CPP_MIN_LOG_LEVEL": "3"}
QUICK = {"least_seconds": 0, "least_seconds_power": 0}
NOT_HERE = "the CPU build of torch is not installed here"


TWO = {"gpus": 2}
MODELS = ("tiny_cnn", "tiny_bert", "tiny_gpt2", "tiny_llama")
# What one process, or one group of two, trains one after the other: starting a framework takes longer than all steps.
CELLS = {
    ("tensorflow", 2): {variant: TWO | {"model": "tiny_cnn", "variant": variant} for variant in ("default", "A", "C")},
    ("tensorflow", 1): {number: {"model": "tiny_cnn", "precision": number} for number in ("fp32", "bf16", "fp16")}
    | {"xla": {"model": "tiny_cnn", "xla": True}},
    ("torch", 2): {model: TWO | {"model": model} for model in MODELS},
    ("torch", 1): {variant: {"variant": variant} for variant in ("default", "compile")}
    | {number: {"model": "tiny_bert", "precision": number} for number in ("fp32", "bf16")},
}


def asked(framework, **changes):
    given = {"model": "tiny_gpt2", "batch_size": 4, "min_steps": 6, "min_seconds": 1000} | QUICK | changes
    return request(*(["--xla"] if given.pop("xla", False) else []), framework=framework, **given)


@functools.cache
def told(framework, gpus):
    """What the training process, or the processes, of these cells say, by the name of the cell."""
    pytest.importorskip(framework, reason=NOT_HERE)
    cells = CELLS[framework, gpus]
    requests = [asked(framework, **changes) for changes in cells.values()]
    command = backend(framework).launch(requests[0])
    assert command[-2:] == ["sweetspot.harness.train", requests[0].to_json()]
    command = [*command[:-2], "many_cells", *(request.to_json() for request in requests)]
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, number = {name: [] for name in cells}, 0
    for line in done.stdout.splitlines():
        entry = json.loads(line)
        number = entry.get("cell", number)
        found[list(cells)[number]].append(entry)
    return found


def losses(framework, gpus, cell):
    return [entry["loss"] for entry in told(framework, gpus)[cell] if "loss" in entry]


def learns(framework, gpus, cell):
    found = losses(framework, gpus, cell)
    assert len(found) == 8  # two of warm-up
    assert np.mean(found[-2:]) < found[0]
    return found


@pytest.mark.parametrize("model", MODELS)
def test_torch_trains_every_kind_of_network_on_two_devices(model):
    learns("torch", 2, model)
    facts = {name: value for entry in told("torch", 2)[model] for name, value in entry.get("facts", {}).items()}
    shape = SHAPES.get(model)
    assert facts["samples_per_step"] == 4 * 2 * (shape.units_per_sample if shape else 1)
    assert facts["unit"] == unit_of(model)


@pytest.mark.parametrize("variant", ["A", "C"])
def test_every_variant_of_tensorflow_computes_the_same_update_of_two_devices(variant):
    np.testing.assert_allclose(losses("tensorflow", 2, variant), learns("tensorflow", 2, "default"), rtol=1e-4)


@pytest.mark.parametrize("other", ["bf16", "fp16", "xla"])
def test_precision_and_compilation_change_speed_not_what_is_learnt(other):
    found = losses("tensorflow", 1, other)
    assert found != losses("tensorflow", 1, "fp32") or other == "xla"
    np.testing.assert_allclose(found, losses("tensorflow", 1, "fp32"), rtol=0.02)


def test_torch_computes_the_same_compiled():
    alone = learns("torch", 1, "default")
    np.testing.assert_allclose(learns("torch", 1, "compile"), alone, rtol=1e-3)
    assert learns("torch", 2, "tiny_gpt2")[-1] != alone[-1]  # the other process's data were in the gradients


def test_a_run_on_two_devices_is_a_run_file_with_its_efficiency_to_be_had(tmp_path):
    pytest.importorskip("torch", reason=NOT_HERE)
    cell = "--instance here --framework torch --model tiny_bert --batch-size 4 --precision bf16 --variant default"
    done = measure(tmp_path / "run~1.parquet", "--min-steps", "5", cell=cell, gpus=2)
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert set(table["status"]) <= {"ok", "unstable"}
    assert table[["unit", "samples_per_step", "logical"]].iloc[0].tolist() == ["sequences", 8, True]
    native = {"avx512_bf16", "amx_bf16", "bf16"} & set(instruction_sets())
    assert ("emulation" in dict(json.loads(table["warnings"].iloc[0] or "[]"))) is not bool(native)
    facts = run_facts(tmp_path / "run~1.parquet")
    assert facts["program"] == "torch"
    assert "torch" in facts["versions"]
