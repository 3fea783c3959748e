"""Operations and memory of training on tokens, against counts by hand."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.memory import GIB
from sweetspot.study.open_models import flop_per_token, memory_need, open_model, open_models

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


def test_a_mixture_of_experts_computes_by_its_active_parameters():
    model = open_model("qwen3-30b-a3b")
    assert model.active_parameters / 1e9 == pytest.approx(3.35, rel=0.01)
    assert flop_per_token(model, "full", 1) < 6.0 * model.active_parameters


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


def test_memory_of_grpo_by_hand():
    """16 bytes a parameter are trained, two are of the reference policy; where both stay, two of what generates."""
    model, bare = open_model("llama-3.1-8b"), memory_need(open_model("llama-3.1-8b"), "pretrain", 2048)
    assert memory_need(model, "grpo", 2048).gib(8) - bare.gib(8) == pytest.approx(2 * model.parameters / 8 / GIB)
    kept = memory_need(model, "grpo", 2048, kept=True).gib(8) - memory_need(model, "pretrain", 2048, kept=True).gib(8)
    assert kept == pytest.approx(4 * model.parameters / 8 / GIB)


def test_an_unknown_model_is_refused_with_its_kin():
    with pytest.raises(UserError, match=r"'llama-9' is not known; expected one of llama-2-7b"):
        open_model("llama-9")


def test_every_model_is_whole():
    for model in open_models().values():
        assert model.active_parameters <= model.parameters and model.heads % model.kv_heads == 0 and model.source


def test_operations_and_memory_of_a_tied_head_by_hand():
    """Llama 3.2 1B: 16 layers of 2048 with 512 wide keys, perceptrons of 8192, a head that is the embedding."""
    model, words = open_model("meta-llama/Llama-3.2-1B-Instruct"), 128256 * 2048
    weights = 16 * (2 * 2048**2 + 2 * 2048 * 512 + 3 * 2048 * 8192) + words
    assert flop_per_token(model, "full", 512) == 6 * weights + 12 * 16 * 2048 * 512
    assert flop_per_token(model, "grpo", 512) == 2 * flop_per_token(model, "full", 512)
    frozen = (0.515875 * (model.parameters - words) + 4 * words) / model.parameters
    assert memory_need(model, "qlora", 512).frozen_bytes == pytest.approx(frozen, rel=1e-12)
    # Kept: 34 bytes of each value of all layers, none again; of two sequences twice as much.
    kept = memory_need(model, "full", 512, batch_size=2, kept=True)
    assert kept.activations_gib - 0.8 == pytest.approx(2 * 512 * (16 * 34 * 2048 + 12 * 128256) / GIB, rel=1e-9)
    adapted = memory_need(model, "lora", 512)
    parts = memory_need(model, "lora", 512, chunked=True)  # of the 12 bytes of a logit two
    assert adapted.activations_gib - parts.activations_gib == pytest.approx(10 * 512 * 128256 / GIB)
    assert (kept.parameters, adapted.parameters) == (model.parameters, model.parameters + model.adapters(16))


def test_shapes_by_name():
    """nanochat's d32: 32 x 12 x 2048^2 + 2 x 65,536 x 2048 parameters; heads of 128, rounded up."""
    nanochat = open_model("nanochat-d32")
    assert nanochat[1:11] == (1_879_048_192, 1_879_048_192, False, 32, 2048, 16, 16, 128, 65_536, 2048)
    assert open_model("nanochat-d3")[4:9] == (3, 192, 2, 2, 96) and open_model("nanochat-d2").layers == 2
    own = open_model("own-8030m-32l-4096w-32h-8k-128256v")
    assert own[1:11] == (8_030_000_000, 8_030_000_000, False, 32, 4096, 32, 8, 128, 128256, 2048)
    mixture = open_model("own-30532m-3353a-48l-2048w-32h-4k-151936v")
    assert mixture[1:3] == (30_532_000_000, 3_353_000_000) and mixture.mixture and not own.mixture
    assert open_model("own-1m-1a-1l-64w-64h-64k-100v").head_width == 1  # each as small as it can be


def test_numbers_of_no_model_are_refused():
    """No single layer; more a token than there is; no layer; more heads than width, than keys; words alone fill it."""
    for name in ("nanochat-d1", "own-1m-2a-1l-64w-4h-4k-100v", "own-1m-0l-64w-4h-4k-100v", "own-1m-1l-4w-8h-4k-100v",
                 "own-1m-1l-64w-4h-8k-100v", "own-1m-1l-1000w-10h-10k-1000v"):  # fmt: skip
        with pytest.raises(UserError, match="of no model" if name.startswith("own") else "is not known"):
            open_model(name)
