"""All methods on the device families of what the project ships, each predicted without its own."""

import pytest
from sweetspot.scaling.evidence import from_one_device
from sweetspot.scaling.judge import shipped_evidence
from sweetspot.scaling.validation import best_method, held_out, validation_table

pytestmark = pytest.mark.slow  # six methods are fitted without each of the families


@pytest.fixture(scope="module")
def validation():
    evidence, rule = shipped_evidence()
    assert set(rule["family"]) == {"k80", "m60", "v100"}
    return validation_table(held_out(from_one_device(evidence), rule)).set_index(["method", "slice"])


@pytest.mark.parametrize("where", ["all", "study_models"])
def test_the_headline_halves_the_error_of_the_2018_rule_on_unseen_families(validation, where):
    ours, rule = validation.loc[("pooled_ring", where)], validation.loc[("mean_efficiency", where)]
    assert ours["rows"] == rule["rows"] > 400
    assert ours["median_abs_error"] <= rule["median_abs_error"] / 2
    assert ours["p90_abs_error"] < rule["p90_abs_error"]
    assert 0.85 <= ours["coverage90"] <= 0.95
    assert 0.40 <= ours["coverage50"] <= 0.60


def test_the_headline_is_the_method_with_the_best_held_out_error(validation):
    overall = validation.xs("all", level="slice")["median_abs_error"]
    assert best_method(validation.reset_index()) == overall.idxmin() == "pooled_ring"
