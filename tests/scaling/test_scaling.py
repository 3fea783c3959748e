"""Efficiencies and the 2018 rule against what the study printed."""

from pathlib import Path

import pandas as pd
import pytest
from scaling_tables import cell, efficiencies
from study_tables import shipped_throughput
from sweetspot.scaling.evidence import average_efficiency, study_efficiency, study_evidence
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.targets import extrapolation_rows, target_cells
from sweetspot.study.instances import Instance, load_instances
from sweetspot.throughput.published import read_efficiency
from sweetspot.warnings import pairs

STUDY = Path(__file__).parent.parent.parent / "config" / "studies" / "parkopedia-2018"
BATCHES = (16, 32, 64)
# Printed in section 3 of the study: the last row of table 1, and table 2's 4 x 1080 Ti.
PRINTED_AVERAGE = {"inception3": (0.80, 0.83, 0.87), "resnet50": (0.76, 0.83, 0.87), "vgg16": (0.67, 0.77, 0.84)}
PRINTED_BOX = {"inception3": (435, 482, 556), "resnet50": (649, 825, 947), "vgg16": (314, 418, 498)}


@pytest.fixture(scope="module")
def study():
    _, declared, throughput = shipped_throughput("parkopedia-2018")
    efficiency = study_efficiency(throughput, read_efficiency(STUDY / "efficiency.csv"), declared)
    return throughput, efficiency, average_efficiency(efficiency)


@pytest.fixture(scope="module")
def box(study):
    asked, declared, throughput = shipped_throughput("parkopedia-2018")
    cells = target_cells(throughput, asked.targets, asked.cells, declared)
    predicted = MeanEfficiency(study[2]).predict(cells)
    return extrapolation_rows(cells, predicted, "mean_efficiency").set_index(["model", "batch_size"])


@pytest.mark.parametrize("model", PRINTED_AVERAGE)
def test_the_printed_averages_come_out(study, model):
    averages = study[2].set_index(["model", "batch_size"])["efficiency"]
    for batch_size, printed in zip(BATCHES, PRINTED_AVERAGE[model], strict=True):
        assert averages[(model, batch_size)] == pytest.approx(printed, abs=0.0051)


@pytest.mark.parametrize("model", PRINTED_BOX)
def test_the_nine_box_figures_come_out_within_the_rounding_of_their_inputs(box, model):
    for batch_size, printed in zip(BATCHES, PRINTED_BOX[model], strict=True):
        row = box.loc[(model, batch_size)]
        assert row["images_per_s"] == pytest.approx(printed, rel=0.0075)
        assert row["images_per_s_low"] < printed < row["images_per_s_high"]
        assert (row["basis"], row["headline"]) == ("extrapolated", False)


@pytest.mark.parametrize(
    ("model", "batch_size", "precision", "efficiency"),
    [
        ("a", 32, "fp32", 0.6),  # 64 is one doubling away, 8 two
        ("a", None, "fp32", 0.65),
        ("a", 8, "fp16", 0.7),  # the model in another precision
        ("z", 8, "fp32", 0.8),  # a and b
        ("z", 8, "fp16", 0.5),
        ("z", 8, "bf16", 0.7),  # a, b and c
        ("d", 31_010, "fp32", 0.4),  # 31,009 is further by 1.5e-9 of a doubling
    ],
)
def test_what_is_missing_takes_the_nearest_that_is_there(model, batch_size, precision, efficiency):
    rows = [("a", 8, "fp32", 0.7), ("a", 64, "fp32", 0.6), ("b", 8, "fp32", 0.9), ("c", 8, "fp16", 0.5),
            ("d", 31_009, "fp32", 0.2), ("d", 31_011, "fp32", 0.4)]  # fmt: skip
    averages = pd.DataFrame(rows, columns=["model", "batch_size", "precision", "efficiency"])
    cells = pd.DataFrame([{"framework": "x", "model": model, "batch_size": batch_size, "precision": precision}])
    found = MeanEfficiency(averages.assign(framework="x", spread=0.1, families=2)).predict(cells)["efficiency"]
    assert found.tolist() == pytest.approx([efficiency])


def test_measured_pairs_give_efficiencies_and_scaled_ones_do_not():
    declared = load_instances(STUDY / "instances.yaml")
    rows = [
        cell("box", 1, 100.0), cell("box", 4, 300.0), cell("p2.xlarge", 1, 50.0, "published"),
        cell("p2.8xlarge", 8, 360.0), cell("p3.2xlarge", 1, 300.0, "stand_in"), cell("p3.8xlarge", 4, 900.0, "scaled"),
        cell("box", 8, 1.0, status="oom"),
    ]  # fmt: skip
    table = efficiencies(rows, declared).set_index("instance")
    named = table.loc["p2.8xlarge", ["efficiency", "basis", "base_instance"]]
    assert named.tolist() == [0.9, "published", "p2.xlarge"]
    assert table["efficiency"].drop("p2.8xlarge").to_dict() == {"box": 0.75}


def test_the_single_device_of_the_same_variant_is_the_base_and_else_the_first():
    rows = [
        cell("box", 1, 100.0), cell("box", 1, 80.0, variant="A"), cell("box", 1, 10.0, precision="fp16"),
        cell("box", 1, 10.0, batch_size=64), cell("box", 1, 10.0, framework="jax"), cell("box", 4, 320.0),
        cell("box", 4, 240.0, variant="A"), cell("box", 4, 200.0, variant="C"),
        # of its own instance before one of the declared base, whatever the variant: 160 of 4 x 50
        cell("twin", 4, 160.0, variant="D"), cell("twin", 1, 50.0), cell("box", 1, 90.0, variant="D"),
    ]  # fmt: skip
    twin = Instance(title="x", provider="own", gpu="GTX 1080 Ti", gpus=4, base_instance="box")
    table = efficiencies(rows, {"twin": twin}).set_index("variant")["efficiency"]
    assert table.to_dict() == {"default": 0.8, "A": 0.75, "C": 0.5, "D": 0.8}


def test_fp32_by_tf32_products_is_no_pair_of_fp32():
    """On a card with both, 4 x 100 by TF32 against 70 without it would be an efficiency of 1.43, of no machine."""
    rows = [cell("a", 1, 70.0, products="fp32"), cell("a", 4, 400.0, products="tf32")]
    rows += [cell("b", 1, 100.0, products="tf32"), cell("b", 4, 360.0, products="tf32")]
    rows += [cell("c", 1, 100.0), cell("c", 4, 320.0, products="tf32")]  # a published figure does not say
    table = efficiencies(rows)
    assert dict(zip(table["instance"], table["efficiency"], strict=True)) == {"b": 0.9, "c": 0.8}


def test_logical_devices_are_no_evidence_and_their_row_says_why():
    """JAX 0.71 of two parts of a processor: one such pair moved another machine's predictions by up to 1.2 %."""
    rows = [cell("a", 1, 100.0), cell("a", 2, 142.0, logical=True), cell("b", 1, 100.0), cell("b", 2, 180.0),
            cell("c", 1, 100.0), cell("c", 2, 260.0)]  # fmt: skip
    table = efficiencies(rows)
    told = table.set_index("instance")["warnings"]
    assert pairs(told["b"]) == [] and [pair.rule for pair in pairs(told["c"])] == ["super_linear"]
    (said,) = pairs(told["a"])
    assert said == ("logical_devices", "parts of one processor, not separate devices: no evidence of scaling")
    evidence = study_evidence("mine", table, pd.DataFrame(rows), {})
    assert evidence["efficiency"].tolist() == [0.9, 1.3]
    assert average_efficiency(table)[["efficiency", "families"]].to_numpy().tolist() == [[0.9, 1]]
