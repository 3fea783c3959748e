"""Memory and operations of training, by hand, from papers and configurations, and against published and measured."""

import pytest
from sweetspot.study.instances import GIB, Instance, Needs, is_before_ampere, memory_of
from sweetspot.study.open_models import flop_per_token, memory_need, open_model, open_models
from sweetspot.transformers import SHAPES

from research.transformer_operations import matrix_parameters, training_flop


def test_what_devices_divide_and_what_each_holds_by_hand():
    # ZeRO, figure 1: 7.5 billion parameters x 16 bytes, divided by 64 devices: 1.9 GB each; 10 GiB stay on each.
    need = Needs(gpu_memory_gib=10.0, sharded_memory_gib=7.5e9 * 16 / GIB)
    assert (need.gib(64) - 10) * GIB / 1e9 == pytest.approx(1.9, abs=0.05)
    assert Needs(gpu_memory_gib=12.0).gib(4) == 12 and Needs().gib(4) == 0


def test_what_a_device_holds_is_declared_or_that_of_its_data_sheet():
    def machine(gpu, **more):
        return Instance(title="T", provider="own", gpu=gpu, gpus=1, **more)

    found = memory_of({
        "a": machine("Tesla V100"), "b": machine("Tesla V100", gpu_memory_gib=32.0), "c": machine("H100 SXM"),
        "d": machine("b200 sxm"), "e": machine("A new device"),
    })  # fmt: skip
    assert found == {"a": 16.0, "b": 32.0, "c": 80.0, "d": 180.0}
    old = [is_before_ampere(gpu) for gpu in ("tesla v100", "GTX 1080 Ti", "A100 SXM 80GB", "A new device")]
    assert old == [True, True, False, False]


# Printed by the makers, in billions; their counts have the normalisations, a thousandth.
PRINTED = [
    ("llama-3.1-8b", 8.03),
    ("llama-3.1-405b", 405.9),
    ("llama-3.2-1b", 1.24),
    ("gemma-2-9b", 9.24),
    ("mixtral-8x7b-v0.1", 46.7),
    ("qwen2.5-32b", 32.76),
    ("qwen3-235b-a22b", 235.1),
]


@pytest.mark.parametrize(("name", "billions"), PRINTED)
def test_parameters_are_those_that_the_maker_prints(name, billions):
    assert open_model(name).parameters / 1e9 == pytest.approx(billions, rel=0.005)


def test_operations_of_llama_3_1_8b_by_hand():
    model = open_model("Llama-3.1-8B")
    # 32 layers of q and o 4096 x 4096, k and v 4096 x 1024, three of 4096 x 14336; the head 4096 x 128256.
    weights = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256
    attention = 12 * 32 * 4096 * 2048
    assert flop_per_token(model, "pretrain", 2048) == 6 * weights + attention
    # Adapters of rank 16: at q and o 4096 + 4096, at k and v 4096 + 1024.
    adapters = 32 * 16 * (2 * 8192 + 2 * 5120)
    assert flop_per_token(model, "lora", 2048) == 4 * weights + 6 * adapters + attention
    mixture = open_model("qwen3-30b-a3b")  # computes by its active parameters
    assert mixture.active_parameters / 1e9 == pytest.approx(3.35, rel=0.01)
    assert flop_per_token(mixture, "full", 1) < 6.0 * mixture.active_parameters


def test_memory_of_frozen_weights_by_hand():
    model = open_model("llama-3.1-8b")
    # Frozen 2 bytes; adapters 16; of each layer its input, 2 s h, of one 34 s h; logits 12 s v; 0.8 GiB of the program.
    adapters = 32 * 16 * (2 * 8192 + 2 * 5120)
    activations = (32 * 2 + 34) * 2048 * 4096 + 12 * 2048 * 128256 + 0.8 * GIB
    expected = (2 * 8029995008 + 16 * adapters + activations) / GIB
    assert memory_need(model, "lora", 2048).gib(1) == pytest.approx(expected)
    # 4.127 bits of what is quantised; embedding and head, 128256 x 4096 each, in 32.
    words = 2 * 128256 * 4096
    frozen = 0.515875 * (8029995008 - words) + 4 * words
    assert memory_need(model, "qlora", 2048).gib(1) == pytest.approx(expected + (frozen - 2 * 8029995008) / GIB)


# verl's docs/perf/device_tuning.rst (volcengine/verl@0043240c1766): the fewest devices that its authors ran GRPO of all
# weights on; Qwen2's shapes are Qwen2.5's. H800 has 80 GB, H20 96 GB. (32 H20 of the 70 B one are twice the least.)
VERL = [("qwen2.5-7b", 2, 80), ("qwen2.5-14b", 4, 80), ("qwen2.5-32b", 8, 96), ("qwen2.5-72b", 32, 80)]


@pytest.mark.parametrize(("name", "devices", "gb"), VERL)
def test_grpo_fits_the_fewest_devices_that_verl_ran_it_on(name, devices, gb):
    need, room = memory_need(open_model(name), "grpo", 2048), gb * 1e9 / GIB
    assert need.gib(devices) <= room < need.gib(devices // 2)


def test_memory_of_grpo_by_hand_and_every_model_is_whole():
    # 16 bytes a parameter are trained, two are of the reference policy; where both stay, two of what generates.
    model, bare = open_model("llama-3.1-8b"), memory_need(open_model("llama-3.1-8b"), "pretrain", 2048)
    grpo = memory_need(model, "grpo", 2048)
    assert grpo.gib(8) - bare.gib(8) == pytest.approx(2 * model.parameters / 8 / GIB)
    grpo, bare = (memory_need(model, method, 2048, kept=True) for method in ("grpo", "pretrain"))
    assert grpo.gib(8) - bare.gib(8) == pytest.approx(4 * model.parameters / 8 / GIB)
    for model in open_models().values():
        assert model.active_parameters <= model.parameters and model.heads % model.kv_heads == 0 and model.source


def test_operations_and_memory_of_a_tied_head_by_hand():
    """Llama 3.2 1B: 16 layers of 2048 with 512 wide keys, perceptrons of 8192, a head that is the embedding."""
    model, words = open_model("meta-llama/Llama-3.2-1B-Instruct"), 128256 * 2048
    weights = 16 * (2 * 2048**2 + 2 * 2048 * 512 + 3 * 2048 * 8192) + words
    assert flop_per_token(model, "full", 512) == 6 * weights + 12 * 16 * 2048 * 512
    assert flop_per_token(model, "grpo", 512) == 2 * flop_per_token(model, "full", 512)
    state_bytes = 0.515875 * (model.parameters - words) + 4 * words + 16 * model.adapters(16)
    assert memory_need(model, "qlora", 512).sharded_memory_gib * GIB == pytest.approx(state_bytes, rel=1e-12)
    # Kept: 34 bytes of each value of all layers, none again; of two sequences twice as much.
    kept = memory_need(model, "full", 512, batch_size=2, kept=True)
    assert kept.gpu_memory_gib - 0.8 == pytest.approx(2 * 512 * (16 * 34 * 2048 + 12 * 128256) / GIB, rel=1e-9)
    adapted = memory_need(model, "lora", 512)
    parts = memory_need(model, "lora", 512, chunked=True)  # of the 12 bytes of a logit two
    assert adapted.gpu_memory_gib - parts.gpu_memory_gib == pytest.approx(10 * 512 * 128256 / GIB)
    # In 16 bits throughout: 2 + 2 + 2 + 2 bytes of a parameter. Of adapters 16, beside 2 of each frozen weight.
    assert kept.sharded_memory_gib * GIB == 8 * model.parameters
    assert adapted.sharded_memory_gib * GIB == 2 * model.parameters + 16 * model.adapters(16)


# Weights that tokens meet, by hand: layers of four squares of attention and a perceptron of twice four, the head.
LLAMA_1B = 16 * (2 * 2048**2 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 128_256 * 2048  # 8 of 32 heads of 64: 512
TINY_LLAMA = 2 * (2 * 128**2 + 2 * 128 * 64 + 3 * 128 * 256) + 1000 * 128
# Those weights P, layers L, width d, tokens s of a sample: (6 P + 12 L d s) s operations a step.
STEPS = {
    "bert_base": (12 * 12 * 768**2 + 2 * 768, 12, 768, 384),
    "bert_large": (24 * 12 * 1024**2 + 2 * 1024, 24, 1024, 384),
    "gpt2_small": (12 * 12 * 768**2 + 50_257 * 768, 12, 768, 1024),
    "llama_1b": (LLAMA_1B, 16, 2048, 2048),
    "tiny_bert": (2 * 12 * 128**2 + 2 * 128, 2, 128, 64),
    "tiny_gpt2": (2 * 12 * 128**2 + 1000 * 128, 2, 128, 64),
    "tiny_llama": (TINY_LLAMA, 2, 128, 64),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_step_costs_six_operations_a_weight_and_attention(name):
    weights, layers, width, tokens = STEPS[name]
    assert matrix_parameters(SHAPES[name]) == weights
    assert training_flop(SHAPES[name]) == (6 * weights + 12 * layers * width * tokens) * tokens
