"""Cells that no run can measure are refused while the plan is read, in one sentence; those that one can are not."""

from pathlib import Path

import pytest
from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.matrix.model_names import APPLICATIONS, NAMES, OWN, SMALL, architecture, is_known
from sweetspot.matrix.possible import require_possible
from sweetspot.study.frameworks import FRAMEWORKS, VARIANTS
from sweetspot.study.instances import Instance

CELL = Cell("here", "tensorflow", "vgg16", 16, 1, "fp32", "default")

OVER_NODES = "tensorflow with default or B; jax with default or fsdp; torch with default, ddp or fsdp"


def check(where="local", device="gpu", has=4, xla=False, per_node=None, gpu="V100", **changes):
    measure = {"where": where, "device": device, "gpus_per_node": per_node}
    measure |= {"partition": "big"} if where == "slurm" else {}
    instance = Instance(title="Here", provider="own", gpu=gpu, gpus=has, measure=measure)
    require_possible([CELL._replace(**changes)], {"here": instance}, xla, Path("config.yaml"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"model": "vgg61"}, ["matrix.model holds 'vgg61'", "inception3, resnet50", "nearest: vgg19, vgg16"]),
        ({"model": "keras"}, ["matrix.model holds 'keras'", "keras.applications"]),
        ({"gpus": 8}, ["here with gpus 8", "the instance has 4"]),
        ({"variant": "B", "device": "cpu"}, ["variant 'B'", "NCCL", "default, A or C"]),
        ({"variant": "ddp"}, ["variant 'ddp' and framework tensorflow", "default, towers, A, B, C only"]),
        ({"variant": "zero3"}, ["variant 'zero3'", "expected one of default, towers, A, B, C, compile, ddp, fsdp"]),
        (
            {"framework": "torch", "variant": "A"},
            ["variant 'A' and framework torch", "default, compile, ddp, fsdp only"],
        ),
        ({"framework": "jax", "variant": "ddp"}, ["variant 'ddp' and framework jax", "default, fsdp only"]),
        ({"framework": "torch", "model": "vgg19"}, ["model 'vgg19' with framework torch", "framework tensorflow"]),
        ({"precision": "fp8"}, ["precision fp8 with framework tensorflow", "fp32, tf32, fp16, bf16"]),
        ({"precision": "tf32", "device": "cpu"}, ["precision tf32 on here, a processor", "expected fp32"]),
        ({"precision": "tf32"}, ["precision tf32 on here, whose V100 has none", "expected fp32 or fp16"]),
        ({"precision": "bf16", "gpu": "Tesla P100"}, ["precision bf16 on here, whose Tesla P100 has none"]),
        ({"xla": True, "gpus": 2}, ["measure.xla", "variant 'default', gpus 2", "its variant towers"]),
        ({"xla": True, "variant": "C", "gpus": 2}, ["measure.xla", "variant 'C'"]),
        ({"xla": True, "framework": "torch"}, ["measure.xla", "framework torch"]),
        ({"where": "slurm", "per_node": 4, "gpus": 6}, ["gpus 6, more than its gpus_per_node 4", "multiple"]),
        ({"where": "slurm", "per_node": 4, "gpus": 8, "variant": "A"}, ["variant A", OVER_NODES]),
        (
            {"where": "slurm", "per_node": 4, "gpus": 8, "framework": "torch", "variant": "compile"},
            ["torch", OVER_NODES],
        ),
        ({"where": "slurm", "per_node": 4, "gpus": 8, "xla": True}, ["measure.xla", "gpus 8"]),
    ],
)
def test_a_cell_that_no_run_can_measure_is_one_sentence(asked, words):
    with pytest.raises(UserError) as caught:
        check(**asked)
    message = str(caught.value)
    assert message.startswith("config.yaml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "asked",
    [
        {"gpus": 4, "variant": "B"},
        {"device": "cpu", "has": 1, "gpus": 8, "variant": "C"},  # logical devices of one processor
        {"where": "slurm", "per_node": 4, "gpus": 8, "variant": "B"},
        {"where": "slurm", "per_node": 4, "gpus": 4, "variant": "A"},
        {"framework": "jax", "xla": True},  # compiles always
        {"framework": "jax", "xla": True, "gpus": 2},
        {"xla": True},  # one device
        {"xla": True, "where": "slurm", "per_node": 4, "gpus": 4, "variant": "towers"},  # one node
        {"framework": "torch", "has": 8, "gpus": 8, "variant": "fsdp"},
        {"xla": True, "variant": "towers", "gpus": 2},
        {"model": "bert_base", "precision": "tf32", "gpu": "A100"},
        {"model": "EfficientNetB0"},
        {"model": "mobilenet_v2"},
        {"model": "tweet_bilstm"},
    ],
)
def test_a_cell_that_a_run_can_measure_is_none(asked):
    check(**asked)


def test_every_framework_that_a_matrix_may_name_says_what_it_can_do():
    assert all(set(ability.variants) <= set(VARIANTS) for ability in FRAMEWORKS.values())


@pytest.mark.slow
def test_the_names_are_those_of_the_keras_that_is_installed_and_of_the_networks_built_here():
    keras = pytest.importorskip("keras")
    from sweetspot.harness import keras_networks

    assert tuple(name for name in dir(keras.applications) if name[0].isupper()) == tuple(sorted(APPLICATIONS))
    assert tuple(keras_networks.SMALL) == SMALL
    assert set(NAMES.values()) <= set(APPLICATIONS)
    assert all(is_known(name) for name in (*NAMES, *OWN, *SMALL))
    assert (architecture("inception3"), architecture("resnet50v2"), architecture("keras")) == (
        "InceptionV3",
        "ResNet50V2",
        None,
    )
