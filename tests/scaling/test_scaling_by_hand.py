"""Facts, curves, calibration and validation on tables small enough to work out on paper."""

import math

import numpy as np
import pandas as pd
import pytest
from scaling_tables import ACROSS
from scaling_tables import evidence_table as table
from sweetspot.scaling.machine import LINK_OF, declared_facts, describe, family
from sweetspot.scaling.methods import (
    amdahl,
    fit_law,
    fit_ring,
    ring_allreduce,
    ring_constants,
    ring_step,
    same_device_count,
    scaling_law,
)  # fmt: skip
from sweetspot.scaling.pooled import fit_eras, of_eras, predict_pooled
from sweetspot.scaling.validation import (
    Calibration,
    _with_errors,
    best_method,
    calibrated,
    held_out,
    predict_with_interval,
    validation_table,
)
from sweetspot.study.instances import Instance

# --- facts of a cell ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "as_of", "recent", "later"),
    [
        ("1.14.0", "", 0, 0),
        ("1.15.0", "2018-01", 1, 0),  # a version says more than a date
        ("1.15.3", "", 1, 0),
        ("1.15.4", "", 1, 1),  # a patch release of a vendor's build
        ("2.2.0", "", 1, 0),
        ("2.3.1", "", 1, 1),
        ("2.12", "", 1, 1),
        ("1.13-NGC-19.03", "", 1, 1),
        ("", "2018-07-01", 0, 0),
        ("", "2019-10-14", 1, 0),
        ("", "", 1, 0),  # neither version nor date
        (None, None, 1, 0),
    ],
)
def test_the_age_of_the_software_is_its_versions_else_its_dates(version, as_of, recent, later):
    facts = describe(table({"framework_version": version, "as_of": as_of})).iloc[0]
    assert (facts["recent"], facts["later_build"]) == (recent, later)
    assert describe(table({"framework_version": ""}))["recent"].tolist() == [1.0]  # of a table without dates


@pytest.mark.parametrize(
    ("precision", "bytes_each"), [("fp32", 4), ("tf32", 4), ("fp16", 2), ("bf16", 2), ("mixed", 2)]
)
def test_gradients_are_sent_in_the_precision_of_the_computation(precision, bytes_each):
    facts = describe(table({"precision": precision})).iloc[0]
    assert facts["gradient_gb"] == pytest.approx(25.6e6 * bytes_each / 1e9)
    assert facts["fp16"] == (bytes_each == 2)


def test_an_unstated_batch_is_tf_cnn_benchmarks_own():
    facts = describe(table({"batch_size": math.nan}, {"batch_size": 16.0}))
    assert facts["step_s"].tolist() == [64 / 320, 16 / 320]
    assert facts["known_batch"].tolist() == [False, True]


def test_devices_with_tensor_cores_and_boards_with_bridges():
    names = ["Tesla V100-SXM2", "TITAN V", "RTX 2080 Ti", "Tesla T4", "A100", "H100", "L40S"]
    others = ["GTX 1080 Ti", "Tesla K80", "Tesla P100", "TITAN X"]
    facts = describe(table(*({"gpu": name} for name in [*names, *others])))
    assert facts["tensor_cores"].tolist() == [1.0] * len(names) + [0.0] * len(others)
    link = describe(table({"interconnect": "nvlink_bridge"}, {"interconnect": "nvlink"}, {"nodes": 2}))
    assert link["bridge"].tolist() == [1, 0, 0]
    assert link["nvlink"].tolist() == [0, 1, 0]
    assert link["link"].tolist() == ["bridge", "nvlink", "network"]
    assert LINK_OF["none"] == "pcie"


def test_what_an_instance_declares_counts_before_the_form_of_its_device():
    given = {"title": "x", "provider": "own", "gpus": 8}
    instances = {
        "told": Instance(**given, gpu="V100-SXM2", interconnect="pcie", network="ethernet"),
        "silent": Instance(**given, gpu="V100-SXM2"),
    }
    cells = pd.DataFrame({"instance": ["told", "silent", "unknown"], "gpu": ["V100-SXM2", "V100-SXM2", "GTX 1080"]})
    cells["batch_size"] = 64
    found = declared_facts(cells, instances)
    assert found["interconnect"].tolist() == ["pcie", "nvlink", "pcie"]
    assert found["interconnect_guessed"].tolist() == [False, True, True]
    assert found["network"].dropna().tolist() == ["ethernet"]
    assert found["exchange"].tolist() == [True] * 3


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


# --- curves ---------------------------------------------------------------------------------------------------------


def test_law_fits_find_the_constants_that_made_the_figures():
    devices = np.array([2.0, 4.0, 8.0, 16.0])
    made = 1 / (1 + 0.03 * (devices - 1) + 0.002 * devices * (devices - 1))
    assert fit_law(devices, made, np.ones(4), usl=True) == pytest.approx((0.03, 0.002))
    assert scaling_law(devices, 0.03, 0.002) == pytest.approx(made)
    serial, crosstalk = fit_law(devices, 1 / (1 + 0.04 * (devices - 1)), np.ones(4), usl=False)
    assert (serial, crosstalk) == (pytest.approx(0.04), 0.0)


def test_same_device_count_means_the_families_not_the_logs():
    # Three logs of card a at 0.9 count once beside one log of card b at 0.7.
    rows = [("a", 4, 0.9), ("a", 4, 0.9), ("a", 4, 0.9), ("b", 4, 0.7), ("b", 32, 0.5)]
    curve = same_device_count(pd.DataFrame(rows, columns=["family", "gpus", "efficiency"]))
    # 11 is 1.46 doublings above 4 and 1.54 below 32, though nearer to 4 in either way; 12 is 1.58 and 1.42
    assert curve(pd.DataFrame({"gpus": [4, 11, 12, 64]})).tolist() == pytest.approx([0.8, 0.8, 0.5, 0.5])


def test_ring_step_by_hand():
    # 2 x 3 x 0.1 ms = 0.6 ms; 2 x 3/4 x 0.1 GB / 10 GB/s = 15 ms; a step of 100 ms becomes 115.6 ms
    args = (np.array([0.1]), np.array([4.0]), np.array([0.1]), 1e-4, 10.0)
    assert ring_step(*args, 0.0)[0] == pytest.approx(0.1156)
    assert ring_step(*args, 0.1)[0] == pytest.approx(0.1056)
    assert ring_step(*args, 0.5)[0] == pytest.approx(0.1)  # hidden behind the computation


def test_amdahls_share_weighs_a_family_once_and_a_gap_by_its_share():
    # Two devices: 1 / efficiency - 1 is 0.25, 0.25 and 1. Family a's rows weigh 1/2 each, b's 1, each times its
    # efficiency: s = (0.4 x 0.25 + 0.4 x 0.25 + 0.5 x 1) / (0.4 + 0.4 + 0.5) = 0.7 / 1.3
    made = table(
        {"family": "a", "efficiency": 0.8},
        {"family": "a", "efficiency": 0.8},
        {"family": "b", "efficiency": 0.5},
        gpus=2,
    )
    wanted = table({"gpus": 2}, {"gpus": 8})
    assert amdahl(made)(wanted).tolist() == pytest.approx([1 / (1 + 0.7 / 1.3), 1 / (1 + 7 * 0.7 / 1.3)])


def test_a_model_has_its_own_law_else_that_of_its_precision_else_that_of_all():
    made = table(
        {"model": "vgg16", "efficiency": 0.5}, {"precision": "fp16", "efficiency": 0.8}, {"efficiency": 0.9}, gpus=2
    )
    wanted = table({"model": "vgg16"}, {"model": "alexnet", "precision": "fp16"}, {}, {"precision": "fp8"}, gpus=2)
    found = amdahl(made)(wanted)
    assert found[:3].tolist() == pytest.approx([0.5, 0.8, 0.9])
    # all, one family, each weighing by its efficiency: (0.5 x 1 + 0.8 x 0.25 + 0.9 / 9) / (0.5 + 0.8 + 0.9)
    assert found[3] == pytest.approx(1 / (1 + 0.8 / 2.2))


def ring_figures(kinds):
    """Exact efficiencies of a ring: by link class the latency (s), bandwidth (GB/s) and hidden share."""
    cells = [
        {"interconnect": kind, "gpus": gpus, "model": model, "base_images_per_s": speed, "family": f"{kind}{gpus}"}
        for kind in kinds
        for gpus, model, speed in ((2, "vgg16", 100.0), (4, "vgg16", 200.0), (8, "resnet50", 300.0), (8, "vgg16", 50.0))
    ]
    made = table(*cells)
    facts, efficiency = describe(made), []
    for kind, (_, fact) in zip(made["interconnect"], facts.iterrows(), strict=True):
        latency, bandwidth, hidden = kinds[kind]
        n, step = fact["devices"], fact["step_s"]
        took = step + 2 * (n - 1) * latency + 2 * (n - 1) / n * fact["gradient_gb"] / bandwidth - hidden * step
        assert took > step
        efficiency.append(step / took)
    return made.assign(efficiency=efficiency)


def test_each_link_class_has_its_own_ring_and_an_unseen_one_takes_that_of_all():
    kinds = {"pcie": (2e-3, 2.0, 0.1), "nvlink": (3e-3, 10.0, 0.0)}
    made = ring_figures(kinds)
    constants = ring_constants(made)
    assert set(constants) == {"pcie", "nvlink", "any"}
    for kind, expected in kinds.items():
        assert constants[kind] == pytest.approx(expected, rel=1e-6)
    assert ring_allreduce(made)(made) == pytest.approx(made["efficiency"].to_numpy())
    bridge = made.assign(interconnect="nvlink_bridge")
    facts = describe(bridge)
    expected = facts["step_s"] / ring_step(
        facts["step_s"].to_numpy(), facts["devices"].to_numpy(), facts["gradient_gb"].to_numpy(), *constants["any"]
    )
    assert ring_allreduce(made)(bridge) == pytest.approx(expected.to_numpy())


def test_a_ring_without_a_share_of_bandwidth_is_as_fast_as_can_be():
    facts = pd.DataFrame({"devices": [2.0, 4.0], "step_s": [0.1, 0.1], "gradient_gb": [0.0, 0.0]})
    latency, bandwidth, overlap = fit_ring(facts, np.array([0.1 / 0.102, 0.1 / 0.106]), np.ones(2))
    assert (latency, bandwidth, overlap) == (pytest.approx(1e-3), pytest.approx(1e6), 0.0)


def test_a_ring_weighs_its_figures():
    # One device count and one network, so bytes alone cannot be told from starts: a single constant x with
    # 1/e - 1 = 0.25 (weight 3) and 1 (weight 1), each by its squared efficiency: the mean is
    # (3 x 0.64 x 0.25 + 0.25 x 1) / (3 x 0.64 + 0.25) = 0.73 / 2.17
    facts = pd.DataFrame({"devices": [2.0, 2.0], "step_s": [0.1, 0.1], "gradient_gb": [0.1, 0.1]})
    latency, bandwidth, overlap = fit_ring(facts, np.array([0.8, 0.5]), np.array([3.0, 1.0]))
    took = ring_step(np.array([0.1]), np.array([2.0]), np.array([0.1]), latency, bandwidth, overlap)[0]
    assert took / 0.1 - 1 == pytest.approx(0.73 / 2.17, rel=1e-5)


# --- intervals and validation ---------------------------------------------------------------------------------------


PLACE = {"gpus": 1, "framework": "tensorflow", "interconnect": "pcie", "nodes": 1}


def test_errors_and_what_the_intervals_of_the_others_hold():
    # Scores: |log ratio| / scale = 1, 2, 3 and 9 in families a, b, b and c.
    evidence = pd.DataFrame({"family": list("abbc"), "efficiency": [0.8] * 4, "warnings": [[]] * 4}).assign(**PLACE)
    off = np.exp(np.array([0.1, -0.2, 0.3, 0.9]))
    predicted = pd.DataFrame({"efficiency": 0.8 * off, "scale": 0.1})
    found = _with_errors(evidence, predicted, "amdahl")
    assert found["error"].to_numpy() == pytest.approx(off - 1)
    # For a: b, b, c (2, 3, 9) weigh 0.71, 0.71, 1 of 3.22: shares 0.22, 0.44, 0.75: widths 9 and 9. For b: 1 and 9 of
    # 3: 0.33, 0.67: 9, 9. For c: 1, 2, 3 weigh 1, 0.71, 0.71 of 3.22: 0.31, 0.53: 2, and 3 as the largest.
    assert found["inside50"].tolist() == [True, True, True, False]
    assert found["inside90"].tolist() == [True, True, True, False]


def held_out_errors():
    rows = [
        ("m1", "resnet50", "fp32", 2, "a", 0.10, True, True), ("m1", "resnet50", "fp16", 2, "b", -0.20, False, True),
        ("m1", "alexnet", "fp32", 4, "b", 0.40, False, False), ("m2", "alexnet", "fp32", 4, "b", 0.10, True, True),
    ]  # fmt: skip
    names = ["method", "model", "precision", "gpus", "family", "error", "inside50", "inside90"]
    return pd.DataFrame(rows, columns=names)


def test_the_summary_of_a_slice_by_hand():
    found = validation_table(held_out_errors()).set_index(["method", "slice"])
    every = found.loc[("m1", "all")]
    # 0.1, 0.2 and 0.4 sorted; nine tenths of the way over two gaps: 0.2 + 0.8 x 0.2
    assert every.to_dict() == {
        "rows": 3, "median_abs_error": 0.2, "p90_abs_error": pytest.approx(0.36), "bias": pytest.approx(0.1),
        "coverage50": pytest.approx(1 / 3), "coverage90": pytest.approx(2 / 3),
    }  # fmt: skip
    assert found.loc[("m1", "study_models"), "rows"] == 2
    slices = ["all", "study_models", "model=alexnet", "model=resnet50", "precision=fp16", "precision=fp32"]
    slices += ["gpus=2", "gpus=4", "family=a", "family=b"]
    assert found.loc["m1"].index.tolist() == slices
    assert ("m2", "study_models") not in found.index  # it has no such row
    assert best_method(found.reset_index()) == "m2"  # 0.1 against 0.2
    other_way = validation_table(held_out_errors()[::-1])  # methods in the order of the errors
    assert other_way["method"].drop_duplicates().tolist() == ["m2", "m1"]


def left_out(raw, family, efficiency=0.5, **changes):
    """Errors of one method: efficiencies, what it says of each, the families left out; a scale of 0.1."""
    table = pd.DataFrame({"raw": raw, "family": list(family), "efficiency": efficiency, "scale": 0.1})
    return table.assign(warnings=[[]] * len(raw), **(PLACE | changes))


def test_a_width_is_that_of_the_class_of_its_era_or_of_all():
    # Of pcie three families, of nvlink two: too few for a class of its own, so the era's five count (0.1 to 0.5 off).
    torch = {"framework": "torch"}
    pcie = left_out(0.5 * np.exp([0.1, 0.2, 0.3]), "abc", **torch)
    nvlink = left_out(0.5 * np.exp([0.4, 0.5]), "de", interconnect="nvlink", **torch)
    old = left_out(0.5 * np.exp([0.9]), "f")
    found = calibrated(pd.concat([pcie, nvlink, old]), "amdahl")
    # each one weighs 1, and one more is to come: 90 % of four, of six and of seven are the last of each
    assert found.width[0.9] == pytest.approx({"modern pcie": 3.0, "modern": 5.0, "": 9.0})
    assert found.width[0.5] == pytest.approx({"modern pcie": 2.0, "modern": 3.0, "": 4.0})
    asked = pd.concat([pcie.head(1), nvlink.head(1), old])
    assert found.of(asked, 0.9)[1].tolist() == pytest.approx([3.0, 5.0, 9.0])
    assert found.of(asked, 0.9)[0].tolist() == [1.0, 1.0, 1.0]  # only the learned method gives a share away


@pytest.mark.parametrize(
    ("said", "share"),
    [
        (0.5, 1.0),  # right: all of it
        (0.25, 0.5),  # twice the loss in logarithms
        (0.5**4, 0.25),
        (0.5 ** (4 / 3), 0.75),
        (0.999**2, 1.0),  # hardly any loss where half is lost: less of it would be worse
    ],
)
def test_the_learned_method_takes_the_share_of_its_loss_that_was_best(said, share):
    errors = left_out([said] * 3, "abc")
    assert set(calibrated(errors, "pooled_ring").share.values()) == {share}
    assert set(calibrated(errors, "amdahl").share.values()) == {1.0}


def test_a_method_that_does_not_beat_the_plain_ratio_becomes_it():
    found = calibrated(left_out([0.5, 0.6, 0.4], "abc", efficiency=1.0), "pooled_ring")
    assert set(found.share.values()) == {0.0}
    cells = left_out([0.5], "z")
    told = predict_with_interval(lambda cells: cells.assign(efficiency=0.5), cells, found, ACROSS).iloc[0]
    assert told["efficiency"] == 1.0
    assert told["low"] == told["high"] == 1.0  # and is never wrong, as far as these three tell


def test_a_share_must_win_by_a_tenth_and_a_flawed_figure_does_not_choose_it():
    # Logs of what is said and of what was: at all 0.30 and 0.30 off; at three quarters 0.05 and 0.55: no better.
    even = left_out(np.exp([-1.0, -1.0]), "ab", efficiency=np.exp([-0.7, -1.3]))
    # 0.2 and 0.2 off at all, 0.05 and 0.32 at three quarters: 0.37 of 0.40 is no clear win; of 0.42 it would be.
    hardly = left_out(np.exp([-1.0, -0.48]), "ab", efficiency=np.exp([-0.8, -0.68]))
    clearly = left_out(np.exp([-1.0, -0.48]), "ab", efficiency=np.exp([-0.78, -0.68]))
    shares = [calibrated(errors, "pooled_ring").share[""] for errors in (even, hardly, clearly)]
    assert shares == [1.0, 1.0, 0.75]
    flawed = left_out([0.5**4], "c").assign(warnings=[[{"rule": "super_linear", "message": ""}]])
    found = calibrated(pd.concat([even, flawed]), "pooled_ring")
    assert set(found.share.values()) == {1.0}
    assert found.width[0.9][""] == pytest.approx(3 * math.log(2) / 0.1)  # but it counts in the width


def test_a_family_with_many_figures_does_not_choose_the_share_alone():
    # 16 figures of a weigh 4 and are best at half; 9 of b weigh 3 each right as they stand; alone b would keep all.
    errors = left_out([0.25] * 16 + [0.5] * 9, "a" * 16 + "b" * 9)
    # lost at all: 4 x 0.693; at half: 3 x 0.347; at three quarters: 4 x 0.347 + 3 x 0.173
    assert set(calibrated(errors, "pooled_ring").share.values()) == {0.5}
    assert set(calibrated(errors.iloc[15:], "pooled_ring").share.values()) == {1.0}


def test_errors_are_those_of_the_share_that_the_others_teach():
    # All say twice the loss, but c said so of 0.6: half of it is best for any two, and c is told 0.5.
    told = left_out([1, 1, 1], "abc", efficiency=[0.5, 0.5, 0.6])
    found = _with_errors(told, pd.DataFrame({"efficiency": [0.25] * 3, "scale": 0.1}))
    assert found["predicted"].to_numpy() == pytest.approx([0.5, 0.5, 0.5])
    assert found["error"].to_numpy() == pytest.approx([0, 0, -1 / 6])
    assert found["raw"].tolist() == [0.25] * 3


def test_the_interval_of_a_prediction_by_hand():
    cells = left_out([0.5], "a")
    taught = Calibration({"": 0.5}, {0.5: {"": 1.0}, 0.9: {"": 2.0}})
    found = predict_with_interval(lambda cells: cells.assign(efficiency=0.64), cells, taught, ACROSS).iloc[0]
    assert found["efficiency"] == pytest.approx(0.8)
    assert (found["low"], found["high"]) == pytest.approx((0.8 * math.exp(-0.2), 0.8 * math.exp(0.2)))


def test_no_family_helps_to_predict_itself():
    rows = [(name, gpus, 0.9 - 0.05 * at - 0.01 * gpus) for at, name in enumerate("abc") for gpus in (2, 4, 8)]
    evidence = pd.concat(
        [table({"family": name, "gpus": gpus, "efficiency": value, "warnings": []}) for name, gpus, value in rows],
        ignore_index=True,
    )
    found = held_out(evidence, evidence.head(0), ["pooled_ring"])
    for name, own in evidence.groupby("family"):
        expected = of_eras(fit_eras(evidence[evidence["family"] != name]), own, predict_pooled)["efficiency"]
        assert found.loc[found["family"] == name, "raw"].tolist() == pytest.approx(expected.tolist())
