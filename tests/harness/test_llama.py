"""A Llama of three frameworks, whole and with adapters: one network in all, that of Hugging Face; its arithmetic."""

import numpy as np
import pytest
from sweetspot.harness.own_networks import arithmetic
from sweetspot.study import transformers
from sweetspot.study.transformers import SHAPES

WHOLE, ADAPTED = SHAPES["tiny_llama"], SHAPES["tiny_llama_lora"]
PARTS = ("query", "key", "value", "project", "gate", "widen", "narrow")
# By hand from config.json of Llama 3.2 1B: 128,256 words of 2048; 16 layers of 2 x 2048^2 + 2 x 2048 x 512 (8 heads of
# 64) + 3 x 2048 x 8192 weights and two scales; a scale at the end. transformers' LlamaForCausalLM has as many.
PARAMETERS = 1_235_814_400
# PEFT's print_trainable_parameters() for its default LoraConfig: 16 layers of 8 x (2048 + 2048) + 8 x (2048 + 512).
TRAINED = 851_968


def test_llama_has_the_published_parameters_and_its_adapters_those_of_peft():
    assert transformers.parameters(SHAPES["llama_1b"]) == PARAMETERS
    assert transformers.adapter_parameters(SHAPES["llama_1b_lora"]) == TRAINED
    assert arithmetic("llama_1b_lora", 1, 1)["parameters"] == PARAMETERS + TRAINED
    assert arithmetic("llama_1b", 2, 4)["samples_per_step"] == 2 * 4 * 2048


def test_adapters_spare_the_gradients_of_frozen_weights():
    # two layers of 128: 2 x 128^2 for queries and project, 2 x 128 x 64 for keys and values, 3 x 128 x 256; the words
    weights = 2 * (2 * 128**2 + 2 * 128 * 64 + 3 * 128 * 256) + 1000 * 128
    attention = 12 * 2 * 128 * 64
    assert transformers.training_flop(WHOLE) == (6 * weights + attention) * 64
    adapters = 2 * (8 * (128 + 128) + 8 * (128 + 64))
    # the first layer's inputs want no gradient: its products with q, k, v, the narrow halves of both pairs, its keys
    spared = 2 * 128 * (128 + 64 + 64) + 2 * 2 * 128 * 8 + 2 * 128 * 64
    assert transformers.training_flop(ADAPTED) == (4 * weights + 6 * adapters + attention - spared) * 64


def drawn(shape):
    """Weights of one network and tokens: the base and the adapters as JAX has them, no part of them zero or one."""
    pytest.importorskip("jax")
    from sweetspot.harness import jax_networks

    random = np.random.default_rng(3)
    draw = lambda sizes, _: random.normal(0, 0.1, sizes).astype("float32")  # noqa: E731
    trained, frozen = jax_networks.start(shape, draw, "float32")
    base, adapters = (frozen, trained) if shape.rank else (trained, [])
    for layer in base["layers"]:
        layer["norms"] = [random.uniform(0.5, 1.5, shape.hidden).astype("float32") for _ in range(2)]
    for layer in adapters:
        for pair in layer.values():
            pair["up"] = random.normal(0, 0.1, pair["up"].shape).astype("float32")
    return base, adapters, random.integers(0, shape.vocabulary, (2, shape.sequence), dtype="int32")


def by_jax(shape, base, adapters, tokens):
    from sweetspot.harness import jax_networks

    trained, frozen = (adapters, base) if shape.rank else (base, [])
    return np.asarray(jax_networks.logits(shape, "float32", trained, frozen, tokens)[0])


@pytest.mark.slow
def test_adapters_add_the_product_of_their_pair_to_the_base():
    base, adapters, tokens = drawn(ADAPTED)
    beside = by_jax(ADAPTED, base, adapters, tokens)
    for layer, pairs in zip(base["layers"], adapters, strict=True):
        for name, pair in pairs.items():
            layer[name] = layer[name] + pair["down"] @ pair["up"]
    merged = by_jax(WHOLE, base, [], tokens)
    np.testing.assert_allclose(beside, merged, atol=1e-3)
    assert np.abs(merged).max() > 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", [WHOLE, ADAPTED], ids=["whole", "adapted"])
def test_tensorflow_computes_what_jax_computes(shape):
    base, adapters, tokens = drawn(shape)
    pytest.importorskip("tensorflow")
    from sweetspot.harness.keras_transformers import llama

    network = llama(shape, "mine")
    made = {"words": base["words"], "norm": base["norm"]}
    for number, layer in enumerate(base["layers"]):
        made |= {f"layer{number}_{name}": layer[name] for name in PARTS}
        first, second = layer["norms"]
        made |= {f"layer{number}_first": first, f"layer{number}_second": second}
    for number, layer in enumerate(adapters):
        made |= {f"layer{number}_{name}_{half}": pair[half] for name, pair in layer.items() for half in pair}
    for name, weight in made.items():
        network.get_layer(name).set_weights([weight])
    assert network.count_params() == transformers.parameters(shape)
    trained = sum(int(np.prod(weight.shape)) for weight in network.trainable_weights)
    assert trained == (transformers.adapter_parameters(shape) or transformers.parameters(shape))
    np.testing.assert_allclose(np.asarray(network(tokens)), by_jax(shape, base, adapters, tokens), atol=2e-3)


def in_torch(shape, base, adapters):
    import torch
    from sweetspot.harness.torch_networks import Llama

    network = Llama(shape, torch.float32)
    made = {"words.weight": base["words"], "norm.weight": base["norm"]}
    for number, layer in enumerate(base["layers"]):
        for name in PARTS:
            inner = ".base" if adapters and name in adapters[number] else ""
            made[f"layers.{number}.{name}{inner}.weight"] = layer[name].T
        made |= {f"layers.{number}.norms.{place}.weight": scale for place, scale in enumerate(layer["norms"])}
    for number, layer in enumerate(adapters):
        made |= {f"layers.{number}.{name}.{half}.weight": pair[half].T for name, pair in layer.items() for half in pair}
    network.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(weight)) for name, weight in made.items()})
    return network


@pytest.mark.slow
@pytest.mark.parametrize("shape", [WHOLE, ADAPTED], ids=["whole", "adapted"])
def test_torch_computes_what_jax_computes(shape):
    torch = pytest.importorskip("torch", reason="the CPU build of torch is not installed here")
    base, adapters, tokens = drawn(shape)
    network = in_torch(shape, base, adapters)
    assert sum(weight.numel() for weight in network.parameters()) == transformers.parameters(shape)
    trained = sum(weight.numel() for weight in network.parameters() if weight.requires_grad)
    assert trained == (transformers.adapter_parameters(shape) or transformers.parameters(shape))
    with torch.no_grad():
        found = network(torch.from_numpy(tokens).long()).numpy()
    np.testing.assert_allclose(found, by_jax(shape, base, adapters, tokens), atol=2e-3)


@pytest.mark.slow
def test_torch_computes_what_hugging_faces_llama_computes():
    torch = pytest.importorskip("torch", reason="the CPU build of torch is not installed here")
    hf = pytest.importorskip("transformers", reason="Hugging Face's transformers are not installed here")
    base, _, tokens = drawn(WHOLE)
    same = {"vocab_size": 1000, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2}
    same |= {"num_attention_heads": 4, "num_key_value_heads": 2, "rope_theta": 500_000.0, "rms_norm_eps": 1e-5}
    theirs = hf.LlamaForCausalLM(hf.LlamaConfig(**same, tie_word_embeddings=True)).eval()
    names = {"query": "self_attn.q_proj", "key": "self_attn.k_proj", "value": "self_attn.v_proj"}
    names |= {"project": "self_attn.o_proj", "gate": "mlp.gate_proj", "widen": "mlp.up_proj", "narrow": "mlp.down_proj"}
    names |= {"norms.0": "input_layernorm", "norms.1": "post_attention_layernorm"}
    words = dict.fromkeys(("model.embed_tokens.weight", "lm_head.weight"), "words.weight")
    made = words | {"model.norm.weight": "norm.weight"}
    for number in range(2):
        made |= {f"model.layers.{number}.{its}.weight": f"layers.{number}.{own}.weight" for own, its in names.items()}
    network = in_torch(WHOLE, base, [])
    own = network.state_dict()
    theirs.load_state_dict({its: own[name] for its, name in made.items()})
    values = torch.from_numpy(tokens).long()
    with torch.no_grad():
        torch.testing.assert_close(network(values), theirs(values).logits, atol=2e-3, rtol=1e-3)


@pytest.mark.slow
def test_hugging_face_and_peft_count_as_many_parameters():
    torch = pytest.importorskip("torch", reason="the CPU build of torch is not installed here")
    hf = pytest.importorskip("transformers", reason="Hugging Face's transformers are not installed here")
    peft = pytest.importorskip("peft", reason="PEFT is not installed here")
    shape = SHAPES["llama_1b"]
    same = {"vocab_size": shape.vocabulary, "hidden_size": shape.hidden, "intermediate_size": shape.wide}
    same |= {"num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": 8}
    with torch.device("meta"):
        network = hf.LlamaForCausalLM(hf.LlamaConfig(**same, tie_word_embeddings=True))
        assert sum(weight.numel() for weight in network.parameters()) == PARAMETERS
        adapted = peft.get_peft_model(network, peft.LoraConfig(task_type="CAUSAL_LM"))
    assert adapted.get_nb_trainable_parameters() == (TRAINED, PARAMETERS + TRAINED)
