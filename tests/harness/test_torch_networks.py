"""Networks of torchvision and transformers: how the libraries are asked for them, and what they then hold.

The libraries are an extra. Where they are not installed, stand-ins note what they are asked for, and the tests of the
networks themselves are skipped.
"""

import importlib
import sys
from types import ModuleType
from unittest.mock import MagicMock

import pytest

MODULE = "sweetspot.harness.torch_networks"
NOT_INSTALLED = "torch, torchvision or transformers is not installed here"


@pytest.fixture
def stand_ins(monkeypatch):
    """The module with stand-ins for all libraries, by the name of the library."""
    torch = MagicMock()
    torch.nn.Module = type("Module", (), {"__init__": lambda self: None})
    libraries = {"torch": torch, "torch.nn": torch.nn, "transformers": MagicMock()}
    libraries |= {"torchvision": ModuleType("torchvision"), "torchvision.models": MagicMock()}
    for name, library in libraries.items():
        monkeypatch.setitem(sys.modules, name, library)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE), libraries
    sys.modules.pop(MODULE, None)


def test_torchvision_is_asked_for_new_weights(stand_ins):
    networks, libraries = stand_ins
    get_model = libraries["torchvision.models"].get_model
    made = networks.build_network("resnet50")
    get_model.assert_called_once_with("resnet50", weights=None)
    assert (made.image_size, made.classes, made.is_transformer) == (224, 1000, False)
    get_model.reset_mock()
    made = networks.build_network("inception3")
    get_model.assert_called_once_with("inception_v3", weights=None, aux_logits=False, init_weights=True)
    assert made.image_size == 299


@pytest.mark.parametrize(
    ("name", "network", "config", "fields"),
    [
        ("bert_large", "BertForQuestionAnswering", "BertConfig",
         {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
          "max_position_embeddings": 384, "vocab_size": 30_522, "hidden_dropout_prob": 0.0}),
        ("gpt2_small", "GPT2LMHeadModel", "GPT2Config",
         {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50_257, "resid_pdrop": 0.0}),
        ("llama_1b", "LlamaForCausalLM", "LlamaConfig",
         {"hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
          "intermediate_size": 8192, "vocab_size": 128_256, "tie_word_embeddings": True}),
    ],
)  # fmt: skip
def test_transformers_is_asked_for_the_published_shape(stand_ins, name, network, config, fields):
    networks, libraries = stand_ins
    made = networks.build_network(name)
    asked = getattr(libraries["transformers"], config).call_args.kwargs
    assert asked.items() >= fields.items()
    assert made.module is getattr(libraries["transformers"], network).return_value
    assert made.is_transformer


@pytest.fixture
def networks():
    for package in ("torch", "torchvision", "transformers"):
        pytest.importorskip(package, reason=NOT_INSTALLED)
    return importlib.import_module(MODULE)


# GPT-2's model card; BertForQuestionAnswering of bert-base-uncased has 108,893,186 with 512 positions, of which
# 128 x 768 are not here, bert-large 334,094,338 with 128 x 1024 more; LlamaForCausalLM of Llama 3.2 1B 1,235,814,400.
TRANSFORMERS = {"bert_base": 108_893_186 - 128 * 768, "bert_large": 334_094_338 - 128 * 1024, "gpt2_small": 124_439_808,
                "llama_1b": 1_235_814_400}  # fmt: skip


# torchvision's documentation of the weights.
IMAGES = {"resnet50": 25_557_032, "vgg16": 138_357_544, "efficientnet_b0": 5_288_548, "vit_b_16": 86_567_656}
PARAMETERS = TRANSFORMERS | IMAGES


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_networks_have_the_published_parameters(networks, name):
    assert networks.network_facts(name)["parameters"] == PARAMETERS[name]
