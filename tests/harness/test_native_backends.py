"""PyTorch and JAX as their users have them: every way trains, several devices agree with one, counters agree.

JAX is in the tests' lock. The CPU build of PyTorch is on no common registry: where it is not installed its tests are
skipped, and docs/measuring.md says when they ran.
"""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from harness_runs import ROOT, measure
from sweetspot.harness.backends import backend
from sweetspot.harness.own_networks import ADAMW, arithmetic
from sweetspot.harness.request import parse_request
from sweetspot.throughput.old_run_files import run_facts

pytestmark = pytest.mark.slow
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
ENV |= {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
NOT_HERE = "the CPU build of torch is not installed here"


def told(framework, **changes):
    """What the training process, or the processes, of a cell say."""
    flags = {"instance": "here", "framework": framework, "model": "tiny_gpt2", "batch-size": 4, "gpus": 1, "run": 1}
    flags |= {"precision": "fp32", "variant": "default", "output": "x", "min-steps": 6, "min-seconds": 1000} | changes
    request = parse_request([part for name, value in flags.items() for part in (f"--{name}", str(value))])
    command, environment = backend(framework).launch(request)
    environment = ENV if environment is None else environment | ENV
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def losses(framework, **changes):
    return [entry["loss"] for entry in told(framework, **changes) if "loss" in entry]


def learns(framework, **changes):
    found = losses(framework, **changes)
    assert len(found) == 8  # two of warm-up
    assert np.mean(found[-2:]) < found[0]
    return found


@pytest.mark.parametrize("model", ["tiny_cnn", "tiny_bert", "tiny_gpt2", "tiny_vit"])
@pytest.mark.parametrize("framework", ["tensorflow", "jax", "torch"])
def test_every_framework_trains_every_kind_of_network_on_two_devices(framework, model):
    pytest.importorskip(framework, reason=NOT_HERE)
    entries = told(framework, model=model, gpus=2)
    found = [entry["loss"] for entry in entries if "loss" in entry]
    assert np.mean(found[-2:]) < found[0]
    facts = {name: value for entry in entries for name, value in entry.get("facts", {}).items()}
    expected = arithmetic(model, 4, 2)
    assert (facts["unit"], facts["samples_per_step"]) == (expected["unit"], expected["samples_per_step"])
    # Keras counts its layers, and its encoder has no vectors of segments; its small CNN has a bias a filter more
    assert facts["training_flop_per_sample"] == pytest.approx(expected["training_flop_per_sample"])
    assert facts["parameters"] == pytest.approx(expected["parameters"], rel=0.01 if model != "tiny_cnn" else 0.1)
    assert facts["machine_matmul_flops"] > 0


@pytest.mark.parametrize("model", ["tiny_gpt2", "tiny_bert", "tiny_vit"])
def test_jax_computes_the_same_on_one_device_on_two_and_in_shards(model):
    pytest.importorskip("jax")
    one = losses("jax", model=model, **{"batch-size": 8})
    two = losses("jax", model=model, gpus=2)
    shards = losses("jax", model=model, gpus=2, variant="fsdp")
    np.testing.assert_allclose(two, one, rtol=1e-4)
    np.testing.assert_allclose(shards, one, rtol=1e-4)


def test_torch_computes_the_same_replicated_in_shards_and_compiled():
    pytest.importorskip("torch", reason=NOT_HERE)
    replicated = learns("torch", gpus=2)
    np.testing.assert_allclose(learns("torch", gpus=2, variant="fsdp"), replicated, rtol=1e-4)
    np.testing.assert_allclose(learns("torch", gpus=2, variant="ddp"), replicated, rtol=1e-4)
    alone = learns("torch")
    np.testing.assert_allclose(learns("torch", variant="compile"), alone, rtol=1e-3)
    np.testing.assert_allclose(learns("torch", variant="fsdp"), alone, rtol=1e-4)
    assert replicated[-1] != alone[-1]  # the other process's data were in the gradients


@pytest.mark.parametrize("variant", ["default", "fsdp"])
def test_networks_with_normalisation_train_in_shards_too(variant):
    pytest.importorskip("torch", reason=NOT_HERE)
    learns("torch", model="tiny_cnn", gpus=2, variant=variant)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_sixteen_bits_train(framework):
    pytest.importorskip(framework, reason=NOT_HERE)
    plain = losses(framework, model="tiny_bert")
    half = learns(framework, model="tiny_bert", precision="bf16")
    assert half != plain
    np.testing.assert_allclose(half, plain, rtol=0.05)


COUNTS = [
    (model, counter)
    for model in ("resnet50", "vgg16", "bert_base", "gpt2_small", "vit_b16")
    for counter in ("jax", "torch")
]


@pytest.mark.parametrize(("model", "counter"), COUNTS)
def test_recorded_arithmetic_is_what_the_frameworks_counter_counts(model, counter):
    pytest.importorskip(counter, reason=NOT_HERE)
    from sweetspot.commands.flop import comparable
    from sweetspot.harness.flop_counters import COUNTERS

    facts = arithmetic(model, 1, 1)
    own = comparable(model, counter, facts["training_flop_per_sample"] * facts["samples_per_step"])
    assert COUNTERS[counter](model) == pytest.approx(own, rel=0.02)


def by_hand(value, gradients):
    """AdamW, algorithm 2 of Loshchilov & Hutter 2019 with a constant schedule, in float64."""
    rate, beta1, beta2, small, decay = (ADAMW[name] for name in ("lr", "beta1", "beta2", "epsilon", "weight_decay"))
    first = second = 0.0
    for step, gradient in enumerate(gradients, start=1):
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        moved = (first / (1 - beta1**step)) / (np.sqrt(second / (1 - beta2**step)) + small)
        value = value - rate * (moved + decay * value)
    return value


def gradients_and_start():
    random = np.random.default_rng(5)
    return random.normal(size=(4, 3)), random.normal(size=3)


def test_jax_moves_parameters_as_adamw_does():
    jax = pytest.importorskip("jax")
    from sweetspot.harness.jax_training import _start, _updated

    gradients, start = gradients_and_start()
    values = {"a": start.astype("float32")}
    state = _start(values, adamw=True)
    for gradient in gradients:
        values, state = _updated(values, {"a": gradient.astype("float32")}, state)
    np.testing.assert_allclose(jax.device_get(values["a"]), by_hand(start, gradients), rtol=1e-5)


def test_tensorflow_moves_variables_as_adamw_does():
    tf = pytest.importorskip("tensorflow")
    from sweetspot.harness.backends.tensorflow_updates import updater

    gradients, start = gradients_and_start()
    variable = tf.Variable(start.astype("float32"))
    move = updater([variable], True, 0.0)
    for gradient in gradients:
        move(0, tf.constant((2 * gradient).astype("float32")), 0.5)  # two devices' gradients, summed
    np.testing.assert_allclose(variable.numpy(), by_hand(start, gradients), rtol=1e-5)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_a_run_on_two_devices_is_a_run_file_with_its_efficiency_to_be_had(framework, tmp_path):
    pytest.importorskip(framework, reason=NOT_HERE)
    cell = (
        f"--instance here --framework {framework} --model tiny_bert --batch-size 4 --precision fp32 --variant default"
    )
    done = measure(tmp_path / "run~1.parquet", "--min-steps", "5", cell=cell, gpus=2)
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "run~1.parquet")
    assert set(table["status"]) <= {"ok", "unstable"}
    assert (table["unit"].iloc[0], table["samples_per_step"].iloc[0], bool(table["logical"].iloc[0])) == (
        "sequences",
        8,
        True,
    )
    facts = run_facts(tmp_path / "run~1.parquet")
    assert facts["program"] == framework
    assert framework in facts["versions"]


def test_a_process_of_a_group_that_fails_is_an_outcome_with_its_reason(tmp_path):
    pytest.importorskip("torch", reason=NOT_HERE)
    cell = "--instance here --framework torch --model vgg19 --batch-size 4 --precision fp32 --variant default"
    done = measure(tmp_path / "run~1.parquet", cell=cell, gpus=2)
    assert done.returncode == 2
    assert "--model is 'vgg19'; expected one of tiny_cnn" in done.stderr
    assert not (tmp_path / "run~1.parquet").exists()
