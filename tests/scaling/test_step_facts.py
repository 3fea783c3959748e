"""The facts of a cell with several devices: software, bytes, step, link, family."""

import math

import pandas as pd
import pytest
from scaling_tables import evidence_table as table
from sweetspot.scaling.step_facts import device_family, link_classes_of, with_declared_facts, with_step_facts
from sweetspot.study.instances import Instance


@pytest.mark.parametrize(
    ("version", "as_of", "recent", "later"),
    [
        ("1.14.0", "", 0, 0),
        ("1.15.0", "2018-01", 1, 0),  # a version says more than a date
        ("1.15.3", "", 1, 0),
        ("1.15.4", "", 1, 1),  # a patch release of a vendor's build
        ("2.2.0", "", 1, 0),
        ("2.3.1", "", 1, 1),
        ("1.13-NGC-19.03", "", 1, 1),
        ("", "2018-07-01", 0, 0),
        ("", "2019-10-14", 1, 0),
        ("", "", 1, 0),  # neither version nor date
    ],
)
def test_the_age_of_the_software_is_its_versions_else_its_dates(version, as_of, recent, later):
    row = {"framework_version": version, "as_of": as_of, "precision": "fp16", "gpu": "Tesla V100"}
    facts = with_step_facts(table(row)).iloc[0]
    assert (not facts["old_software"], not facts["slow_half"]) == (bool(recent), bool(later))
    assert not with_step_facts(table({"framework_version": ""}))["old_software"].any()  # a table without dates


@pytest.mark.parametrize(
    ("precision", "bytes_each"), [("fp32", 4), ("tf32", 4), ("fp16", 2), ("bf16", 2), ("mixed", 2)]
)
def test_gradients_are_sent_in_the_precision_of_the_computation(precision, bytes_each):
    facts = with_step_facts(table({"precision": precision})).iloc[0]
    assert facts["gradient_gb"] == pytest.approx(25.6e6 * bytes_each / 1e9)


def test_an_unstated_batch_is_tf_cnn_benchmarks_own():
    facts = with_step_facts(table({"batch_size": math.nan}, {"batch_size": 16.0}))
    assert facts["step_s"].tolist() == [64 / 320, 16 / 320]
    # of PyTorch a step of less than a millisecond is none: then batch and rate count different things
    quick = table({"base_images_per_s": 40_000.0}, {"base_images_per_s": 70_000.0}, framework="torch")
    assert with_step_facts(quick)["step_s"].tolist() == [64 / 40_000, 0.4]


def test_half_precision_is_slow_on_tensor_cores_with_batch_normalisation_and_without_xla():
    names = ["Tesla V100-SXM2", "TITAN V", "RTX 2080 Ti", "Tesla T4", "A100", "H100", "L40S"]
    others = ["GTX 1080 Ti", "Tesla K80", "Tesla P100", "TITAN X"]
    facts = with_step_facts(table(*({"gpu": name} for name in [*names, *others]), precision="fp16"))
    assert facts["slow_half"].tolist() == [True] * len(names) + [False] * len(others)
    fast = [{"precision": "fp32"}, {"model": "vgg16"}, {"xla": True}]
    v100 = [{"gpu": "V100", "precision": "fp16"} | change for change in fast]
    assert not with_step_facts(table(*v100))["slow_half"].any()


@pytest.mark.parametrize(
    ("gpu", "interconnect", "nodes", "link"),
    [
        ("RTX 3090", "nvlink_bridge", 1, "bridge"),
        ("V100", "nvlink", 1, "nvlink"), ("H200", "nvswitch", 1, "nvlink"), ("MI300X", "infinity_fabric", 1, "nvlink"),
        ("TPU v6e", "ici", 1, "nvlink"),
        ("A100 PCIe", "pcie", 1, "pcie"), ("A100 PCIe", "none", 1, "pcie"), ("A100 PCIe", None, 1, "pcie"),
        ("V100", "nvlink", 2, "network"), ("A100 PCIe", "pcie", None, "network"),
        # boards of the GeForce series, mostly without peer access; not those of workstations
        ("GTX 1080 Ti", "pcie", 1, "geforce"), ("RTX 2080 Ti", "pcie", 1, "geforce"), ("RTX 4090", None, 1, "geforce"),
        ("Quadro RTX 6000", "pcie", 1, "pcie"), ("RTX 6000 Ada", "pcie", 1, "pcie"), ("RTX A4000", "pcie", 1, "pcie"),
        ("RTX 8000", "pcie", 1, "pcie"),
    ],
)  # fmt: skip
def test_the_class_of_link(gpu, interconnect, nodes, link):
    cells = pd.DataFrame({"gpu": [gpu], "interconnect": [interconnect], "nodes": pd.array([nodes], dtype="Int64")})
    assert link_classes_of(cells).tolist() == [link]


def test_ring_and_doublings_of_the_devices():
    facts = with_step_facts(table({"gpus": 2}, {"gpus": 8}))
    assert facts["ring"].tolist() == [1.0, 1.75]  # 2 x 1/2 and 2 x 7/8
    assert facts["doublings"].tolist() == [0.0, 2.0]


def test_what_an_instance_declares_counts_before_the_form_of_its_device():
    given = {"title": "x", "provider": "own", "gpus": 8}
    instances = {
        "told": Instance(**given, gpu="V100-SXM2", interconnect="pcie", network="ethernet"),
        "silent": Instance(**given, gpu="V100-SXM2"),
    }
    cells = pd.DataFrame({"instance": ["told", "silent", "unknown"], "gpu": ["V100-SXM2", "V100-SXM2", "GTX 1080"]})
    cells["batch_size"] = 64
    found = with_declared_facts(cells, instances)
    assert found["interconnect"].tolist() == ["pcie", "nvlink", "pcie"]
    assert found["exchange"].tolist() == [True] * 3


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("Tesla V100-SXM3-32GB", "v100"),
        ("GeForce RTX 2080 Ti", "rtx 2080 ti"),
        ("GTX 1080Ti", "gtx 1080 ti"),
        ("Quadro RTX 8000", "rtx 8000"),
        ("RTX A6000", "a6000"),
        ("A100 SXM 80GB", "a100"),
        ("Accelerator 7 PCIe 16GB", "accelerator 7"),  # nobody's known chip: its name without its form
        ("80GB", "80gb"),  # and what would leave nothing stays
    ],
)
def test_forms_of_one_chip_are_one_family(gpu, expected):
    assert device_family(gpu) == expected
