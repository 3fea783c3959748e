"""Memory and operations of training, by hand, from papers and configurations, and against published and measured."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance
from sweetspot.study.memory import GIB, Memory, is_before_ampere, memory_of
from sweetspot.study.open_models import flop_per_token, memory_need, open_model, open_models
from sweetspot.study.transformers import SHAPES, adapter_parameters, matrix_parameters, training_flop

PLAIN = {"precision": "mixed", "optimizer": "adam", "activations_gib": 0.0, "source": "by hand"}


def memory(**more):
    return Memory(**(PLAIN | more))


@pytest.mark.parametrize(
    ("sharding", "gigabytes"), [("none", 120.0), ("optimizer", 31.4), ("gradients", 16.6), ("parameters", 1.9)]
)
def test_sharding_as_the_paper_prints_it(sharding, gigabytes):
    # ZeRO, figure 1: 7.5 billion parameters on 64 devices
    assert memory(parameters=7.5e9, sharding=sharding).gib(64) * GIB / 1e9 == pytest.approx(gigabytes, abs=0.05)


@pytest.mark.parametrize(
    ("precision", "optimizer", "size"),
    # weight + gradient + 32-bit copy + states
    # ZeRO, sec. 3.1: mixed precision with Adam takes sixteen
    [("mixed", "adam", 2 + 2 + 4 + 8), ("fp32", "adam", 4 + 4 + 8), ("fp32", "sgd", 8), ("fp32", "momentum", 12),
     ("mixed", "momentum", 2 + 2 + 4 + 4),
     ("mixed", "sgd", 8), ("bf16", "adam", 2 + 2 + 4), ("bf16", "sgd", 4)],
)  # fmt: skip
def test_bytes_of_a_parameter(precision, optimizer, size):
    assert memory(parameters=1e9, precision=precision, optimizer=optimizer).gib(1) * GIB == size * 1e9


def test_adapters_keep_gradients_and_states_of_what_is_trained_alone():
    # 7e9 frozen in 16 bits: 14 GB; 40e6 trained: 16 x 40e6 = 0.64 GB; of 4 bits 3.48 GB instead
    frozen = {"parameters": 7.04e9, "trained_parameters": 40e6}
    assert memory(**frozen).gib(1) * GIB == pytest.approx(14e9 + 0.64e9)
    assert memory(**frozen, frozen_bytes=0.5).gib(1) * GIB == pytest.approx(3.5e9 + 0.64e9)
    # sharded over eight: an eighth of all; of optimizer states alone, of 12 bytes of what is trained
    assert memory(**frozen, sharding="parameters").gib(8) * GIB == pytest.approx(14.64e9 / 8)
    assert memory(**frozen, sharding="optimizer").gib(8) * GIB == pytest.approx(14e9 + 40e6 * (4 + 12 / 8))


def test_activations_of_a_transformer():
    # GPT-3 (Korthikanti et al. 2022, table 3): 96 layers, h 12288, a 96, s 2048. 5 a s / h = 80 of 114 a value: 70 %
    # of them are attention scores, as the paper says
    shape = {"layers": 96, "width": 12288, "heads": 96, "sequence": 2048, "batch_size": 1}
    value = 2048 * 12288 * 96
    sizes = {"none": 114 * value, "selective": 34 * value, "full": 2 * value}
    for recompute, size in sizes.items():
        made = memory(parameters=1.0, activations_gib=None, transformer=shape | {"recompute": recompute})
        assert made.gib(1) * GIB == pytest.approx(size + 16)
    assert pytest.approx(0.70, abs=0.005) == 1 - 34 / 114
    # the loss keeps four bytes a token and word of the vocabulary of 51,200 (sec. 4.3)
    made = memory(parameters=1.0, activations_gib=None, transformer=shape | {"vocabulary": 51_200})
    assert made.gib(1) * GIB == pytest.approx(114 * value + 4 * 2048 * 51_200 + 16)


# `parameters` and `memory_peak_bytes` of our own run files (TensorFlow 2, fp32, plain SGD, batch 16, the processor's
# main memory; both runs of each), and what the layers put out for one image, in millions: convolutions,
# normalisations, activations, pools. By hand from the papers' shapes: VGG16 13.55 + 1.5; ResNet-50 11.1 convolutions,
# as many normalised, 9.1 after ReLU; counted from Keras' layers: Inception3 3 x 8.97 and pools 2.71.
PEAKS = {
    "vgg16": (138_361_641, 15.05, (3_803_717_632, 3_788_673_024)),
    "resnet50": (25_612_201, 31.3, (2_528_407_552, 2_535_931_904)),
    "inception3": (23_853_833, 29.62, (2_807_558_144, 2_849_296_384)),
}


def ruled(model):
    """GiB by the rule: weights and gradients of 4 bytes, and all outputs of the layers once."""
    parameters, outputs, _ = PEAKS[model]
    stated = {"precision": "fp32", "optimizer": "sgd", "activations_gib": outputs * 1e6 * 16 * 4 / GIB}
    return memory(parameters=float(parameters), **stated).gib(1)


@pytest.mark.parametrize("model", PEAKS)
def test_the_rule_is_a_lower_bound_that_measured_peaks_exceed_by_less_than_2_gib(model):
    # On top come TensorFlow itself, compiled programs, workspace: 0.3 GiB (ResNet-50), 0.7 (Inception3), 1.6 (VGG16).
    # Coarse: it notices activations kept twice (a further 1.9 GiB for ResNet-50, 1.8 for Inception3), not a state of
    # the optimizer too many (0.1 GiB).
    for peak in PEAKS[model][2]:
        assert 0.25 <= peak / GIB - ruled(model) <= 2.0
        assert 1.1 <= peak / GIB / ruled(model) <= 1.9


# Peaks of our own runs of gpt2_small in GiB by batch size (torch 2.13, bf16 by autocast, AdamW, sequence 1024, main
# memory, glibc's own settings, 2026-11-22): weights, gradients and states of 4 bytes, 16 in all; no attention scores.
GPT2_PEAKS = {1: 2.846, 4: 5.537}


@pytest.mark.parametrize("batch_size", GPT2_PEAKS)
def test_a_transformers_peak_exceeds_the_rule_by_less_than_2_gib(batch_size):
    shape = {"layers": 12, "width": 768, "heads": 12, "sequence": 1024, "recompute": "selective"}
    shape |= {"vocabulary": 50_257, "batch_size": batch_size}
    rule = memory(parameters=124_439_808.0, activations_gib=None, transformer=shape).gib(1)
    # by hand: 124.4 M x 16, 12 x 1024 x 768 x 34 a sequence, 4 x 1024 x 50,257 a sequence
    assert rule * GIB == pytest.approx(1.9910e9 + batch_size * (0.32086e9 + 0.20585e9), rel=1e-3)
    assert 0.3 <= GPT2_PEAKS[batch_size] - rule <= 2.0  # PyTorch itself is 0.34 GiB, copies of the logits the rest


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


def test_memory_of_grpo_by_hand():
    """16 bytes a parameter are trained, two are of the reference policy; where both stay, two of what generates."""
    model, bare = open_model("llama-3.1-8b"), memory_need(open_model("llama-3.1-8b"), "pretrain", 2048)
    assert memory_need(model, "grpo", 2048).gib(8) - bare.gib(8) == pytest.approx(2 * model.parameters / 8 / GIB)
    kept = memory_need(model, "grpo", 2048, kept=True).gib(8) - memory_need(model, "pretrain", 2048, kept=True).gib(8)
    assert kept == pytest.approx(4 * model.parameters / 8 / GIB)


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
    with pytest.raises(UserError, match=r"'llama-9' is not known; expected one of llama-2-7b"):
        open_model("llama-9")


# Weights that tokens meet, by hand: layers of four squares of attention and a perceptron of twice four, the head.
LLAMA_1B = 16 * (2 * 2048**2 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 128_256 * 2048  # 8 of 32 heads of 64: 512
TINY_LAYER = 4 * 129 * 128 + 129 * 512 + 513 * 128 + 4 * 128  # with biases, two normalisations
TINY_LLAMA = 2 * (2 * 128**2 + 2 * 128 * 64 + 3 * 128 * 256) + 1000 * 128
# Those weights P, layers L, width d, tokens s of a sample: (6 P + 12 L d s) s operations a step. Of images the class
# token meets the head and 196 (16) patches of 3 x 16 x 16 two passes beside that.
STEPS = {
    "bert_base": (12 * 12 * 768**2 + 2 * 768, 12, 768, 384, 0),
    "bert_large": (24 * 12 * 1024**2 + 2 * 1024, 24, 1024, 384, 0),
    "gpt2_small": (12 * 12 * 768**2 + 50_257 * 768, 12, 768, 1024, 0),
    "vit_b16": (12 * 12 * 768**2, 12, 768, 197, 6 * 768 * 1000 + 4 * 196 * 768 * 768),
    "llama_1b": (LLAMA_1B, 16, 2048, 2048, 0),
    "tiny_bert": (2 * 12 * 128**2 + 2 * 128, 2, 128, 64, 0),
    "tiny_gpt2": (2 * 12 * 128**2 + 1000 * 128, 2, 128, 64, 0),
    "tiny_vit": (2 * 12 * 128**2, 2, 128, 17, 6 * 128 * 10 + 4 * 16 * 768 * 128),
    "tiny_llama": (TINY_LLAMA, 2, 128, 64, 0),
}
ADAPTERS = {"llama_1b_lora": 851_968, "tiny_llama_lora": 2 * 8 * (128 + 128 + 128 + 64)}


@pytest.mark.parametrize("name", sorted(set(SHAPES) - set(ADAPTERS)))
def test_a_step_costs_six_operations_a_weight_and_attention(name):
    weights, layers, width, tokens, of_images = STEPS[name]
    assert matrix_parameters(SHAPES[name]) == weights
    assert training_flop(SHAPES[name]) == (6 * weights + 12 * layers * width * tokens) * tokens + of_images


def test_adapters_spare_the_gradients_of_frozen_weights():
    """Four passes a frozen weight; the first layer spares one for q, k, v, the narrow halves of two pairs, its keys."""
    for name, count in ADAPTERS.items():
        assert adapter_parameters(SHAPES[name]) == count
    spared = 2 * 2048 * (2048 + 512 + 512) + 2 * 2 * 2048 * 8 + 2 * 2048 * 2048
    whole = (4 * LLAMA_1B + 6 * 851_968 + 12 * 16 * 2048 * 2048 - spared) * 2048
    assert training_flop(SHAPES["llama_1b_lora"]) == whole
    spared = 2 * 128 * (128 + 64 + 64) + 2 * 2 * 128 * 8 + 2 * 128 * 64
    tiny = (4 * TINY_LLAMA + 6 * ADAPTERS["tiny_llama_lora"] + 12 * 2 * 128 * 64 - spared) * 64
    assert training_flop(SHAPES["tiny_llama_lora"]) == tiny


def test_images_are_cut_into_patches_and_what_is_counted_follows():
    for name, shape in SHAPES.items():
        assert (shape.kind == "vision") == (shape.image > 0), name
        if shape.image:
            assert shape.sequence == (shape.image / shape.patch) ** 2 + 1, name  # and the class token
        assert shape.hidden % shape.heads == 0, name
    counted = {name: SHAPES[name].units_per_sample for name in ("gpt2_small", "bert_base", "vit_b16", "llama_1b")}
    assert counted == {"gpt2_small": 1024, "bert_base": 1, "vit_b16": 1, "llama_1b": 2048}
