"""Shapes and arithmetic of the transformers, by hand from their papers and configurations."""

import pytest
from sweetspot.study.transformers import SHAPES, adapter_parameters, matrix_parameters, parameters, training_flop

# Weights that tokens meet, by hand: layers of four squares of attention and a perceptron of twice four, the head.
LLAMA_1B = 16 * (2 * 2048**2 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 128_256 * 2048  # 8 of 32 heads of 64: 512
TINY_LLAMA = 2 * (2 * 128**2 + 2 * 128 * 64 + 3 * 128 * 256) + 1000 * 128
WEIGHTS = {
    "bert_base": 12 * 12 * 768**2 + 2 * 768,
    "bert_large": 24 * 12 * 1024**2 + 2 * 1024,
    "gpt2_small": 12 * 12 * 768**2 + 50_257 * 768,
    "vit_b16": 12 * 12 * 768**2,
    "llama_1b": LLAMA_1B,
    "llama_1b_lora": LLAMA_1B,
    "tiny_bert": 2 * 12 * 128**2 + 2 * 128,
    "tiny_gpt2": 2 * 12 * 128**2 + 1000 * 128,
    "tiny_vit": 2 * 12 * 128**2,
    "tiny_llama": TINY_LLAMA,
    "tiny_llama_lora": TINY_LLAMA,
}
# GPT-2's model card; torchvision's vit_b_16; BertForQuestionAnswering of bert-base-uncased has 108,893,186 with 512
# positions, of which 128 x 768 are not here, bert-large 334,094,338 with 128 x 1024 more; LlamaForCausalLM of Llama 3.2
# 1B 1,235,814,400, and PEFT's default adapters of it 851,968.
PARAMETERS = {
    "bert_base": 108_893_186 - 128 * 768,
    "bert_large": 334_094_338 - 128 * 1024,
    "gpt2_small": 124_439_808,
    "vit_b16": 86_567_656,
    "llama_1b": 1_235_814_400,
    "llama_1b_lora": 1_235_814_400 + 851_968,
}
# 6 P + 12 L d s a token; of images the class token meets the head and 196 (16) patches of 3 x 16 x 16 two passes.
FLOP = {
    "bert_base": (6 * WEIGHTS["bert_base"] + 12 * 12 * 768 * 384) * 384,
    "bert_large": (6 * WEIGHTS["bert_large"] + 12 * 24 * 1024 * 384) * 384,
    "gpt2_small": (6 * WEIGHTS["gpt2_small"] + 12 * 12 * 768 * 1024) * 1024,
    "vit_b16": (6 * WEIGHTS["vit_b16"] + 12 * 12 * 768 * 197) * 197 + 6 * 768 * 1000 + 4 * 196 * 768 * 768,
    "llama_1b": (6 * LLAMA_1B + 12 * 16 * 2048 * 2048) * 2048,
    "tiny_bert": (6 * WEIGHTS["tiny_bert"] + 12 * 2 * 128 * 64) * 64,
    "tiny_gpt2": (6 * WEIGHTS["tiny_gpt2"] + 12 * 2 * 128 * 64) * 64,
    "tiny_vit": (6 * WEIGHTS["tiny_vit"] + 12 * 2 * 128 * 17) * 17 + 6 * 128 * 10 + 4 * 16 * 768 * 128,
    "tiny_llama": (6 * TINY_LLAMA + 12 * 2 * 128 * 64) * 64,
}
ADAPTERS = {"llama_1b_lora": 851_968, "tiny_llama_lora": 2 * 8 * (128 + 128 + 128 + 64)}


@pytest.mark.parametrize("name", SHAPES)
def test_the_weights_that_tokens_meet(name):
    assert matrix_parameters(SHAPES[name]) == WEIGHTS[name]


@pytest.mark.parametrize(("name", "count"), PARAMETERS.items())
def test_all_parameters_are_the_published_ones(name, count):
    assert parameters(SHAPES[name]) == count


@pytest.mark.parametrize("name", sorted(set(SHAPES) - set(ADAPTERS)))
def test_a_step_costs_six_operations_a_weight_and_attention(name):
    assert training_flop(SHAPES[name]) == FLOP[name]


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
            assert shape.sequence == (shape.image // shape.patch) ** 2 + 1, name  # and the class token
        assert shape.hidden % shape.heads == 0, name
    counted = {name: SHAPES[name].units_per_sample for name in ("gpt2_small", "bert_base", "vit_b16", "llama_1b")}
    assert counted == {"gpt2_small": 1024, "bert_base": 1, "vit_b16": 1, "llama_1b": 2048}
