"""Networks that a study declares: what they exchange is taken as said, and one that nobody declares is asked for."""

import math

import pandas as pd
import pytest
from scaling_tables import ACROSS, ROW, one_width
from sweetspot.scaling.machine import describe
from sweetspot.scaling.methods import METHODS
from sweetspot.scaling.model_facts import networks_of, with_networks
from sweetspot.scaling.targets import Fitted, extrapolate_all
from sweetspot.study.study import DeclaredNetwork
from sweetspot.warnings import pairs

BERT = DeclaredNetwork(parameters_millions=110.0, tensors=199)
CELL = ROW | {
    "model": "bert_mine", "batch_size": 32.0, "precision": "fp16", "gpu": "RTX 4090", "framework": "torch",
    "framework_version": "2.5", "base_images_per_s": 160.0, "family": "rtx 4090",
}  # fmt: skip
TARGET_CELL = CELL | {
    "base_instance": "one", "variant": "default", "source": "own", "basis": "measured",
    "warnings": [], "base_images_per_s_low": math.nan,
    "base_images_per_s_high": math.nan,
}  # fmt: skip


def cells(*models):
    return pd.DataFrame([CELL | {"model": model} for model in models])


def test_what_is_declared_is_exchanged_at_each_step():
    facts = describe(with_networks(cells("bert_mine", "bert_mine2", "resnet50"), {"bert_mine": BERT})).set_index(
        "tensors"
    )
    # 110e6 gradients of 2 bytes (fp16) are 0.22e9 bytes; a middling network is 30e6, ResNet-50 25.6e6.
    assert facts["gradient_gb"].to_dict() == pytest.approx({199.0: 0.22, 160.0: 0.06, 161.0: 0.0512})
    assert facts["known_network"].to_dict() == {199.0: True, 160.0: False, 161.0: True}
    assert facts["normalised"].to_dict() == {199.0: 0.0, 160.0: 1.0, 161.0: 1.0}


def test_a_declaration_counts_before_the_table():
    (own,) = networks_of(with_networks(cells("resnet50"), {"resnet50": BERT}))
    assert (own.parameters, own.tensors, own.normalised, own.known) == (110.0, 199, False, True)


def by_method(table):
    """Efficiency and rules of warnings by method: every method told apart, each predicting 80 %."""
    predictor = lambda facts: pd.DataFrame({"efficiency": 0.8, "scale": 1.0}, index=facts.index)  # noqa: E731
    widths = {name: one_width(0.1, 0.2) for name in METHODS}
    fitted = Fitted(dict.fromkeys(METHODS, predictor), widths, pd.DataFrame(), 8.0, ACROSS, 8.0)
    found = extrapolate_all(table, table, fitted, "pooled_ring")
    return {row.method: [pair for pair in pairs(row.warnings)] for row in found.itertuples()}


def test_the_methods_that_ask_for_the_network_say_that_they_do_not_know_it():
    told = by_method(pd.DataFrame([TARGET_CELL]))
    assert {method for method, warned in told.items() if warned} == {"ring_allreduce", "pooled_ring"}
    ((rule, words),) = told["pooled_ring"]
    assert rule == "network_unknown"
    assert "bert_mine" in words
    assert "30 million parameters in 160 tensors" in words
    assert "networks: {bert_mine: {parameters_millions: ..., tensors: ...}}" in words


def test_a_declared_network_is_asked_for_no_more():
    assert not any(by_method(with_networks(pd.DataFrame([TARGET_CELL]), {"bert_mine": BERT})).values())
