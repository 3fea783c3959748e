"""Each method against hand calculation; all of them on card families they have not seen."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.scaling.curves import amdahl, fit_law, fit_ring, ring_step, same_device_count, scaling_law, usl
from sweetspot.scaling.evidence import from_one_device, sound
from sweetspot.scaling.judge import shipped_evidence
from sweetspot.scaling.machine import describe, eras, family
from sweetspot.scaling.model_facts import network
from sweetspot.scaling.partners import with_partners
from sweetspot.scaling.pooled import (
    EXPLAIN_COLUMNS,
    _objective,
    explain,
    fit_eras,
    fit_pooled,
    of_eras,
    predict_pooled,
    reach,
)
from sweetspot.scaling.validation import best_method, held_out, validation_table
from sweetspot.throughput.calibration import calibrate
from sweetspot.warnings import as_text, pairs


@pytest.fixture(scope="module")
def shipped():
    evidence, rule = shipped_evidence()
    return from_one_device(evidence), rule


@pytest.fixture(scope="module")
def errors(shipped):
    return held_out(*shipped)


@pytest.fixture(scope="module")
def validation(errors):
    return validation_table(errors).set_index(["method", "slice"])


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


def test_the_table_is_split_by_model_precision_and_device_count(validation):
    own = validation.loc["pooled_ring"]
    for column in ("model", "precision", "gpus"):
        parts = own[own.index.str.startswith(f"{column}=")]
        assert parts["rows"].sum() == own.loc["all", "rows"]


def test_no_family_helps_to_predict_itself(shipped, errors):
    evidence, rule = shipped
    for name in ("p100", "rtx 3090"):
        without = sound(evidence[evidence["family"] != name])
        own = evidence[evidence["family"] == name]
        expected = of_eras(fit_eras(without), own, predict_pooled)["efficiency"]
        found = errors[(errors["method"] == "pooled_ring") & (errors["family"] == name)]["raw"]
        assert found.to_numpy() == pytest.approx(expected.to_numpy())
    assert set(rule["family"]) == {"k80", "m60", "v100"}


@pytest.mark.parametrize("name", ["classic", "modern"])
def test_no_other_coefficients_fit_better_and_the_slopes_are_those_of_the_loss(shipped, name):
    from scipy.optimize import approx_fprime

    evidence = sound(shipped[0])
    evidence, fitted = evidence[eras(evidence) == name], fit_eras(evidence)(name)
    objective = _objective(evidence, fitted.groups, fitted.era)
    rng = np.random.default_rng(5)
    away = fitted.coefficients + rng.normal(0, 0.1, len(fitted.coefficients))
    slope = approx_fprime(away, lambda theta: objective(theta).loss, 1e-6)  # numerically, without our derivative
    np.testing.assert_allclose(objective(away).gradient, slope, rtol=1e-3, atol=1e-2)
    least = objective(fitted.coefficients).loss
    for size in (0.3, 0.03, 0.003):
        assert all(
            objective(fitted.coefficients + size * rng.normal(size=len(fitted.coefficients))).loss > least
            for _ in range(20)
        )


def test_laws_by_hand():
    # 1 + 0.02 x 7 + 0.001 x 8 x 7 = 1.196
    assert scaling_law(np.array([8.0]), 0.02, 0.001)[0] == pytest.approx(1 / 1.196)
    # Amdahl with 5 % serial on 4 devices: speed-up 4 / (1 + 0.05 x 3) = 3.478
    assert 4 * scaling_law(np.array([4.0]), 0.05)[0] == pytest.approx(3.478, abs=0.001)


def test_law_fits_find_the_constants_that_made_the_figures():
    devices = np.array([2.0, 4.0, 8.0, 16.0])
    made = 1 / (1 + 0.03 * (devices - 1) + 0.002 * devices * (devices - 1))
    assert fit_law(devices, made, np.ones(4), usl=True) == pytest.approx((0.03, 0.002))
    serial, crosstalk = fit_law(devices, 1 / (1 + 0.04 * (devices - 1)), np.ones(4), usl=False)
    assert (serial, crosstalk) == (pytest.approx(0.04), 0.0)


def figures(rows):
    given = pd.DataFrame(rows, columns=["family", "gpus", "efficiency"])
    return given.assign(model="resnet50", precision="fp32")


def test_same_device_count_means_the_families_not_the_logs():
    # Three logs of card a at 0.9 count once beside one log of card b at 0.7.
    curve = same_device_count(figures([("a", 4, 0.9), ("a", 4, 0.9), ("a", 4, 0.9), ("b", 4, 0.7), ("b", 8, 0.5)]))
    assert curve(pd.DataFrame({"gpus": [4, 8, 16]})).tolist() == pytest.approx([0.8, 0.5, 0.5])


def test_an_unknown_model_takes_the_constants_of_its_precision():
    made = figures([("a", 2, 1 / 1.1), ("a", 4, 1 / 1.3), ("b", 8, 1 / 1.7)])
    cells = pd.DataFrame({"model": ["resnet50", "mystery"], "precision": ["fp32", "fp32"], "gpus": [3, 3]})
    for method in (amdahl, usl):
        assert method(made)(cells).tolist() == pytest.approx([1 / 1.2, 1 / 1.2])


def test_ring_step_by_hand():
    # 2 x 3 x 0.1 ms = 0.6 ms; 2 x 3/4 x 0.1 GB / 10 GB/s = 15 ms; a step of 100 ms becomes 115.6 ms
    args = (np.array([0.1]), np.array([4.0]), np.array([0.1]), 1e-4, 10.0)
    assert ring_step(*args, 0.0)[0] == pytest.approx(0.1156)
    assert ring_step(*args, 0.1)[0] == pytest.approx(0.1056)
    assert ring_step(*args, 0.5)[0] == pytest.approx(0.1)  # hidden behind the computation


def test_ring_fit_finds_latency_and_bandwidth():
    facts = pd.DataFrame({"devices": [2.0, 4.0, 8.0, 8.0], "step_s": [0.1, 0.1, 0.2, 0.1]})
    facts["gradient_gb"] = [0.1, 0.5, 0.1, 0.25]
    took = [0.1 + 2e-4 * n + per for n, per in ((1, 0.1 / 8), (3, 1.5 * 0.5 / 8), (7, 1.75 * 0.25 / 8))]
    efficiency = np.array([0.1 / took[0], 0.1 / took[1], 0.2 / (0.2 + 14e-4 + 1.75 * 0.1 / 8), 0.1 / took[2]])
    latency, bandwidth, overlap = fit_ring(facts, efficiency, np.ones(4))
    assert (latency, bandwidth, overlap) == pytest.approx((1e-4, 8.0, 0.0), rel=1e-6)


def test_calibration_by_hand():
    score = np.arange(1.0, 10.0)
    one = np.array(["a"] * 9)
    # nine scores and the one to come: 9/10 of ten are at or below the ninth
    assert calibrate(score, one, 0.9) == 9.0
    assert calibrate(score, one, 0.5) == 5.0


def test_intervals_widen_where_nothing_similar_was_seen(shipped):
    evidence, _ = shipped
    model = fit_pooled(sound(evidence))
    seen = evidence[(evidence["gpus"] == 8) & (evidence["model"] == "vgg16") & (evidence["family"] == "rtx 2080 ti")]
    scale = predict_pooled(model, seen)["scale"].to_numpy()
    elsewhere = predict_pooled(model, seen.assign(instance="never seen"))["scale"].to_numpy()
    unseen = predict_pooled(model, seen.assign(instance="never seen", family="never seen"))
    assert (elsewhere > scale).all()
    assert (unseen["scale"].to_numpy() > elsewhere).all()
    known = predict_pooled(model, seen.assign(instance="x", family="x", batch_size=64.0))["scale"].to_numpy()
    open_batch = predict_pooled(model, seen.assign(instance="x", family="x", batch_size=np.nan))["scale"].to_numpy()
    assert (open_batch > known).all()
    mystery = predict_pooled(model, seen.assign(instance="x", family="x", model="mystery"))
    assert np.isfinite(mystery).all(axis=None)


def test_larger_batches_and_faster_links_scale_better(shipped):
    evidence, _ = shipped
    model = fit_pooled(sound(evidence))
    cell = evidence[(evidence["family"] == "rtx 3090") & (evidence["gpus"] == 8)].assign(instance="x", family="x")
    slow = predict_pooled(model, cell)["efficiency"]
    # The same images/s at twice the batch: the step takes twice as long, the exchange does not.
    assert (predict_pooled(model, cell.assign(batch_size=cell["batch_size"] * 2))["efficiency"] > slow).all()
    assert (predict_pooled(model, cell.assign(gpu="Tesla V100-SXM2"))["efficiency"] > slow - 0.2).all()
    assert slow.between(0, 1).all()


def row(gpus, images_per_s, **other):
    given = {"gpu": "Card", "instance": "box", "gpus": gpus, "model": "resnet50", "batch_size": 64.0}
    given |= {"precision": "fp32", "dataset": "synthetic", "benchmark": "tf_cnn_benchmarks", "note": "", "source": "s"}
    given |= {"framework": "tensorflow"}
    return given | {"images_per_s": images_per_s, "framework_version": ""} | other


def test_partners_come_from_the_same_instance_and_note_else_by_the_median():
    rows = [row(1, 100.0), row(1, 50.0, instance="b"), row(1, 60.0, instance="c"), row(1, 10.0, precision="fp16")]
    rows += [
        row(2, 180.0),
        row(4, 180.0, instance="other"),
        row(2, 99.0, batch_size=32.0),
        row(2, 9.0, dataset="cifar"),
    ]
    paired, alone = with_partners(pd.DataFrame(rows))
    assert paired["base_images_per_s"].tolist() == [100.0, 60.0]
    assert paired["efficiency"].tolist() == pytest.approx([0.9, 0.75])
    assert alone["batch_size"].tolist() == [32.0]


def test_a_base_slower_than_its_share_is_named_in_every_row_that_rests_on_it():
    paired, _ = with_partners(pd.DataFrame([row(1, 100.0), row(2, 230.0), row(8, 640.0), row(2, 1.0, note="x")]))
    assert [[pair.rule for pair in pairs(value)] for value in paired["warnings"]] == [
        ["super_linear"],
        ["inconsistent"],
        [],
    ]
    assert "efficiency 1.15 is above 1.05" in as_text(paired["warnings"].iloc[0])
    assert "efficiency 1.15 elsewhere" in as_text(paired["warnings"].iloc[1])


def test_explanation_adds_up_and_says_what_would_help(shipped):
    table = explain(shipped[0], fit_eras(sound(shipped[0])))
    assert tuple(table.columns) == EXPLAIN_COLUMNS and table.index.tolist() == list(range(len(table)))
    shares = table[["compute_share", "communication_share", "rest_share"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(len(table)))
    assert (shares >= 0).all(axis=None)
    fine = table["efficiency"] >= 0.9 + 1e-9
    assert (
        table.loc[fine, "batch_for_90"].dropna() == table.loc[fine & table["batch_for_90"].notna(), "batch_size"]
    ).all()
    # An exchange of 0.3 steps fits into 0.1 if it shrinks to a third; into nothing it never fits.
    assert reach(pd.Series([0.3, 0.05, 0.3]), pd.Series([0.1, 0.1, -0.1])).tolist()[:2] == pytest.approx([3.0, 1.0])
    assert reach(pd.Series([0.3, 0.3]), pd.Series([-0.1, 0.0])).isna().all()


def test_rtx_3090_without_nvlink_is_held_up_by_its_gradients(shipped):
    # 8 x RTX 3090 on one PCIe bus, VGG16 fp32: efficiency 0.10 (published); 553 MB of gradients a step.
    table = explain(shipped[0], fit_eras(sound(shipped[0])))
    cell = table[(table["gpu"] == "RTX 3090") & (table["gpus"] == 8) & (table["model"] == "vgg16")].iloc[0]
    assert cell["communication_share"] > 0.5


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("Tesla V100-SXM3-32GB", "v100"),
        ("Tesla V100", "v100"),
        ("GeForce RTX 2080 Ti", "rtx 2080 ti"),
        ("RTX 2080 Super with Max-Q Design", "rtx 2080 super"),
        ("GTX 1080Ti", "gtx 1080 ti"),
        ("Quadro RTX 8000", "rtx 8000"),
        ("RTX A6000", "a6000"),
        ("A100 SXM 80GB", "a100"),
        ("NVIDIA H100-SXM5-80GB", "h100"),
        ("TITAN RTX", "titan rtx"),
        ("Accelerator 7 PCIe 16GB", "accelerator 7"),  # nobody's known chip: its name without its form
        ("80GB", "80gb"),  # and what would leave nothing stays
    ],
)
def test_forms_of_one_chip_are_one_family(gpu, expected):
    assert family(gpu) == expected


def test_physical_facts_by_hand():
    assert network("ResNet50_v1.5") == network("resnet50")
    assert not network("mystery").known
    cell = row(8, 800.0, base_images_per_s=100.0, precision="fp16", nodes=1, interconnect="nvswitch", exchange=True)
    facts = describe(pd.DataFrame([cell | {"xla": True}])).iloc[0]
    # 25.6 M parameters x 2 bytes; 64 images at 100 images/s
    assert (facts["gradient_gb"], facts["step_s"], facts["xla"]) == (pytest.approx(0.0512), 0.64, 1.0)
    assert (facts["link"], facts["nvlink"], facts["bridge"]) == ("nvlink", 1.0, 0.0)
