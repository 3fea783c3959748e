"""Devices by their data sheets, and how people write their names."""

import csv
import math

import numpy as np
import pandas as pd
import pytest
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import OF_DEVICES, STUDIES, figures_file, table
from sweetspot.transfer.figures import shipped_devices, single_device_rows, with_features

DEVICES = shipped_devices()


@pytest.mark.parametrize(
    ("written", "gpu"),
    [
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("4090", "RTX 4090"),
        ("RTX 4090 24GB", "RTX 4090"),  # the table has no memory in this name
        ("1080ti", "GTX 1080 Ti"),
        ("GTX 1080", "GTX 1080"),
        ("h100-sxm", "H100 SXM"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("H100 80GB PCIe Gen5", "H100 PCIe"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"),
        ("A100 40GB SXM4", "A100 SXM 40GB"),
        ("V100 16GB", "Tesla V100-SXM2-16GB"),
        ("GeForce GTX TITAN X", "GeForce GTX TITAN X"),  # Maxwell
        ("TITAN X", "TITAN X Pascal"),
        ("B200 SXM", "B200"),
    ],
)
def test_a_device_is_found_by_the_ways_people_write_it(written, gpu):
    assert DEVICES.get(written).gpu == gpu


@pytest.mark.parametrize("written", ["RTX 9999", "RTX", "", "H1000", "RTX 4090 Mobile Turbo"])
def test_what_nobody_specified_is_refused_in_one_sentence(written):
    with pytest.raises(UserError, match=r"no device of that name is specified; expected one of .*devices\.csv"):
        DEVICES.get(written)


def test_dense_tensor_peaks_follow_from_cores_and_clocks():
    # Cores x FLOP a clock and core x boost clock, by the white papers of Volta, Turing, Ampere (GA100, GA102) and Ada.
    by_hand = {
        "Tesla V100-SXM2-16GB": 640 * 128 * 1.530e-3,
        "Quadro RTX 8000": 576 * 128 * 1.770e-3,
        "RTX 2080 Ti": 544 * 128 * 1.545e-3 / 2,  # GeForce: half the rate with fp32 accumulation
        "A100 SXM 80GB": 432 * 512 * 1.410e-3,
        "A10": 288 * 256 * 1.695e-3,
        "RTX 3090": 328 * 256 * 1.695e-3 / 2,
        "RTX A6000": 336 * 256 * 1.800e-3,
        "RTX 4090": 512 * 256 * 2.520e-3 / 2,
        "RTX 6000 Ada": 568 * 256 * 2.505e-3,
        "RTX 5090": 680 * 256 * 2.407e-3 / 2,
    }
    for gpu, teraflops in by_hand.items():
        assert DEVICES.by_gpu[gpu].peak("fp16") == pytest.approx(teraflops, rel=0.01), gpu


def test_fp32_runs_in_tf32_where_the_device_has_it():
    a100, old = DEVICES.get("A100"), DEVICES.get("GTX 1080 Ti")
    assert a100.peak("fp32") == a100.peak("tf32") == 156
    assert old.peak("fp32") == old.peak("fp16") == 11.34  # pseudo-half computes in fp32
    assert math.isnan(old.peak("bf16")) and math.isnan(a100.peak("fp8"))


def test_the_features_of_a_device_are_logs_of_its_data_sheet():
    """Of a TPU no vector peak is published: it counts as 60 TFLOP/s, as a data-centre device's."""
    cells = {"device": ["TPU v5e", "H100 SXM"], "precision": "bf16", "model": "ResNet-50 v1.5", "unit": "images"}
    rows = with_features(pd.DataFrame(cells))
    sheet = {"peak": [197, 989.4], "bandwidth": [820, 3350], "memory": [16, 80], "vector": [60, 66.91]}
    # the last: 16,896 cores x 2 x 1.98 GHz
    for name, values in sheet.items():
        assert np.exp(rows[name]).tolist() == pytest.approx(values), name
    assert rows[["network", "kind", "bits"]].drop_duplicates().values.tolist() == [["resnet50", "images", 16]]


def test_every_device_says_where_it_comes_from_and_what_it_can():
    for device in DEVICES.by_gpu.values():
        assert device.source.strip() and device.memory_gb > 0 and device.memory_bandwidth_gb_s > 0
        assert any(device.computes(name) for name in ("fp32", "bf16")), device.gpu
        steps = [device.peak_of_unit(name) for name in ("fp16", "fp8", "fp4") if device.peak_of_unit(name) > 0]
        assert steps == sorted(steps), device.gpu  # fewer bits are never slower


def test_every_figure_is_named_in_its_source_or_as_unconfirmed():
    words = {"memory_gb": "memory", "memory_bandwidth_gb_s": "bandwidth"}
    words |= {f"{name}_tflops": name for name in ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")}
    for row in table("devices"):
        told = {word for part in row["source"].split(" ; ") for clause in part.split("; ")
                for word in clause.partition(":")[0].replace(",", " ").split()}  # fmt: skip
        unsure = {name.strip().removesuffix("_tflops") for name in row["unconfirmed"].split(";") if name.strip()}
        given = {word for column, word in words.items() if row[column]}
        assert given - told == unsure and not unsure & told, row["gpu"]


def test_no_name_is_of_two_devices():
    names = [name.strip().casefold() for row in table("devices")
             for name in (row["gpu"], *row["names"].split(";")) if name.strip()]  # fmt: skip
    assert len(names) == len(set(names)) > 150


def test_what_is_learnt_from_are_all_rows_of_one_device_that_neither_host_nor_another_program_decides():
    files = [figures_file(name, STUDIES) for name in OF_DEVICES]
    rows = [row for file in files for row in csv.DictReader(file.read_text().splitlines())]
    assert {"8", "1"} <= {row["gpus"] for row in rows} and any("cuDNN None" in row["framework_version"] for row in rows)
    own = [row for row in rows if row["gpus"] == "1" and "distort" not in row["dataset"]]
    kept = [float(row["images_per_s"]) for row in own if "cuDNN None" not in row["framework_version"]]
    assert sorted(single_device_rows()["images_per_s"]) == pytest.approx(sorted(kept))


@pytest.mark.parametrize("written", ["RTX 4900", "rtx4900"])
def test_exchanged_digits_are_asked_about(written):
    with pytest.raises(UserError, match="did you mean 'RTX 4090'"):
        DEVICES.get(written)
