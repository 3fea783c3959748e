"""DAWNBench entries: a JSON file and the epochs beside it, real ones and short ones written here in their format."""

import json
import shutil

import pytest
from log_files import DAWN, DAWN_JSON, DAWN_TSV, TESTS, read_one, write
from sweetspot.errors import UserError


def dawn(folder, tsv=DAWN_TSV, entry=DAWN_JSON, **stated):
    write(folder, "entry.json", json.dumps(entry))
    write(folder, "entry.tsv", tsv)
    return read_one(folder, **{**DAWN, **stated})


def test_a_dawnbench_entry_gives_samples_over_its_last_hours(tmp_path):
    row = dawn(tmp_path)
    assert row["images_per_s"] == pytest.approx(100.324, rel=1e-5)  # 113 x 1281167 / (400.84185 x 3600)
    assert (row["model"], row["framework"], row["framework_version"]) == ("resnet152", "tensorflow", "1.3")
    assert "entry.tsv line 3, sha256" in row["source"]
    assert "costPerHour 7.2" in row["source"]


@pytest.mark.parametrize(("rows", "epochs"), [("1\t1\t9\n2\t400\t9\n", 2), ("1\t400\t9\n", 1)])
def test_an_epoch_may_take_hours_and_one_is_enough(tmp_path, rows, epochs):
    row = dawn(tmp_path, f"epoch\thours\ttop1Accuracy\n{rows}")
    assert row["images_per_s"] == pytest.approx(epochs * 1_281_167 / (400 * 3600))
    with pytest.raises(UserError, match="line 2: no epoch; expected at least one row"):
        dawn(tmp_path, "epoch\thours\ttop1Accuracy\n0\t0\t0.1\n")
    with pytest.raises(UserError, match=r"line 2: .*expected epoch and hours above 0 in 3 columns"):
        dawn(tmp_path, "epoch\thours\ttop1Accuracy\n1\t0\t0.1\n2\t0.5\t9\n")


def test_epoch_0_after_training_is_one_more_epoch(tmp_path):
    # apple_resnet9_8v100: epochs 0 to 17, the first at 38.54 % (guessing is 10 %), done after 0.0028606 hours. Without
    # the first row's time 112503 images/s came out, 36 % more than 17 epochs in all hours, 29 % more than the 18.
    row = real_dawn(tmp_path, "apple_resnet9_8v100_pytorch", 50_000)
    assert row["images_per_s"] == pytest.approx(18 * 50_000 / (0.0028606314080146453 * 3600))


def test_epoch_0_before_training_is_none(tmp_path):
    # gehc_resnet50_1_p3_16xlarge: epoch 0 at 0.074 % (guessing is 0.1 %), epoch 40 after 2.252502778 hours
    row = real_dawn(tmp_path, "gehc_resnet50_1_p3_16xlarge_tensorflow111", 1_281_167)
    assert row["images_per_s"] == pytest.approx(40 * 1_281_167 / (2.252502778 * 3600))


def real_dawn(folder, name, samples):
    for kind in ("json", "tsv"):
        shutil.copy(TESTS / "data" / "dawnbench" / f"{name}.{kind}", folder / f"entry.{kind}")
    return read_one(folder, **{**DAWN, "gpus": 8, "samples_per_epoch": samples})


@pytest.mark.parametrize(("top1", "samples"), [("", 50_000), ("38.5", 1000)])
def test_epoch_0_of_an_unknown_kind_is_refused(tmp_path, top1, samples):
    with pytest.raises(
        UserError, match=r"line 2: epoch 0 with top1Accuracy .*; expected an accuracy, and samples_per_"
    ):
        dawn(tmp_path, f"epoch\thours\ttop1Accuracy\n0\t0.004\t{top1}\n2\t0.5\t9.1\n", samples_per_epoch=samples)


@pytest.mark.parametrize(
    ("tsv", "line"),
    [
        (DAWN_TSV.replace("400.8418463936779\t113", "2.0\t113"), 3),
        (DAWN_TSV.replace("113\t", "x\t"), 3),
        (DAWN_TSV.replace("113\t", "1\t"), 3),
        (DAWN_TSV.replace("400.8418463936779", "3.5510081636243402"), 3),
        (DAWN_TSV.replace("\t7.21\t19.74", ""), 2),
    ],
)
def test_a_malformed_dawnbench_row_is_refused_with_its_number(tmp_path, tsv, line):
    with pytest.raises(UserError, match=rf"entry.tsv, line {line}: "):
        dawn(tmp_path, tsv)


def test_a_dawnbench_entry_without_hardware_or_json_is_named(tmp_path):
    with pytest.raises(UserError, match=r"entry.json, line 1: key 'hardware' is missing"):
        dawn(tmp_path, entry={"model": "ResNet50", "framework": "TensorFlow"})
    write(tmp_path, "entry.json", "{\n'model': 1}")
    with pytest.raises(UserError, match=r"entry.json, line 2: not JSON"):
        read_one(tmp_path, **DAWN)


@pytest.mark.parametrize(("samples", "top1", "epochs"), [(50_000, 12.0, 2), (50_000, 12.1, 3), (1_281_167, 0.13, 3)])
def test_an_accuracy_a_fifth_above_guessing_is_of_training(tmp_path, samples, top1, epochs):
    """Guessing is right for one of 10 classes, or of 1,000."""
    row = dawn(tmp_path, f"epoch\thours\ttop1Accuracy\n0\t0.004\t{top1}\n2\t0.5\t9.1\n", samples_per_epoch=samples)
    assert row["images_per_s"] == pytest.approx(epochs * samples / 1800)
