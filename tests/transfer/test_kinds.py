"""Kinds of networks: by name, by unit, and what it costs not to know."""

import math

import pytest
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.transfer.figures import IMAGES, SPEECH, TEXT, UNKNOWN, kind_of, network_name, shipped_figures
from sweetspot.transfer.transferring import Measured, learn_devices, transferred

LEARNT = learn_devices(STUDIES)


@pytest.mark.parametrize(
    ("model", "unit", "kind"),
    [
        ("ResNet-50 v1.5", "images", IMAGES),
        ("tf_efficientnetv2_b0", "images", IMAGES),
        ("BERT-large SQuAD fine-tune", "sequences", TEXT),
        ("Transformer-XL base", "tokens", TEXT),
        ("Llama-3.1-8B", "tokens", TEXT),
        ("WaveGlow", "mels", SPEECH),
        ("our_net", "tokens", TEXT),
        ("our_net", "images", UNKNOWN),  # also what a figure counts whose unit nobody stated
    ],
)
def test_a_kind_follows_from_the_name_else_from_the_unit(model, unit, kind):
    assert kind_of(network_name(model), unit) == kind


def test_every_network_that_is_learnt_from_has_a_kind():
    assert set(shipped_figures(STUDIES)["kind"]) == {IMAGES, TEXT, SPEECH}


def test_of_a_network_of_no_known_kind_the_interval_is_wider_and_says_why():
    def row(model):
        known = Measured(LEARNT.devices.get("V100"), 100.0, model, "fp16", "torch", 64.0)
        return transferred([known], [LEARNT.devices.get("H100")], LEARNT).iloc[0]

    images, unknown = row("resnet18"), row("our_net")
    spans = [math.log(one["images_per_s_high"] / one["images_per_s_low"]) for one in (images, unknown)]
    assert spans[1] > 1.05 * spans[0]
    assert [pair["rule"] for pair in unknown["warnings"]] == ["kind_unknown"] and images["warnings"] == []
