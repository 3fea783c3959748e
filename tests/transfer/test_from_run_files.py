"""One's own runs as the known figure: its spread, and which runs say nothing of a device."""

import math

import pytest
from run_files import CELL, write_run
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.throughput.gather import measured_table
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import Measured, learn_devices, measured_from_run_files, transferred

DEVICES, OWN = shipped_devices(), CELL._replace(framework="torch", batch_size=64, precision="fp16")


def runs(folder, *steps, cell=OWN, **columns):
    return [
        write_run(folder, cell, run, [seconds] * 4, gpu="NVIDIA GeForce RTX 4090", **columns)
        for run, seconds in enumerate(steps, 1)
    ]


def test_a_single_run_is_taken_as_it_stands(tmp_path):
    known = measured_from_run_files(runs(tmp_path, 0.05), DEVICES)
    assert known[1:] == (pytest.approx(1280.0), "resnet50", "fp16", "torch", 64.0, "images", 0.0, ())
    assert known.device.gpu == "RTX 4090"


def test_the_spread_of_several_runs_is_a_half_of_their_95_per_cent_interval_over_1_96(tmp_path):
    files = runs(tmp_path, 0.05, 0.052, 0.054)
    cell = measured_table(files, {}).iloc[0]
    spread = math.log(cell["images_per_s_high"] / cell["images_per_s"]) / 1.959964
    assert spread > 0.01
    assert measured_from_run_files(files, DEVICES).log_sd == pytest.approx(spread)


@pytest.mark.parametrize(("steps", "own"), [((0.05,), False), ((0.05, 0.08), True)])
def test_what_is_not_steady_has_a_spread_of_a_twentieth_at_least_and_is_told(tmp_path, steps, own):
    files = runs(tmp_path, *steps, status="unstable")
    cell, known = measured_table(files, {}).iloc[0], measured_from_run_files(files, DEVICES)
    of_runs = math.log(cell["images_per_s_high"] / cell["images_per_s"]) / 1.959964
    assert known.log_sd == pytest.approx(of_runs if own else 0.05) and known.log_sd >= 0.05
    assert known.warnings == ({"rule": "unstable", "message": "the measured figure is not steady"},)


@pytest.mark.parametrize(
    ("columns", "words"),
    [({"logical": True}, "a figure of 1 logical devices; expected one of a single device"),
     ({"cell": OWN._replace(gpus=2)}, "a figure of 2 devices; expected one of a single device"),
     ({"status": "oom"}, "the run has the status 'oom' and no figure; expected one that ran")],
)  # fmt: skip
def test_a_run_that_says_nothing_of_one_device(tmp_path, columns, words):
    with pytest.raises(UserError, match=words):
        measured_from_run_files(runs(tmp_path, 0.05, **columns), DEVICES)


def test_runs_of_two_cells_are_no_one_figure(tmp_path):
    files = runs(tmp_path, 0.05) + runs(tmp_path, 0.05, cell=OWN._replace(batch_size=32))
    with pytest.raises(UserError, match=r"the run files are of 2 cells .*; expected one"):
        measured_from_run_files(files, DEVICES)


@pytest.mark.parametrize(
    ("rate", "batch", "unit", "rules"),
    [
        (6400.0, 64.0, "images", set()),  # 10 ms
        (6500.0, 64.0, "images", {"short_step"}),
        (6500.0, 64.0, "samples", {"short_step"}),
        (6500.0, 64.0, "tokens", set()),  # a sample is many tokens: the step is not known
        (6500.0, 0.0, "images", {"batch_unknown"}),
        (6500.0, math.nan, "tokens", set()),
        (64_000.0, 64.0, "images", {"short_step"}),  # 1 ms
    ],
)
def test_a_step_shorter_than_those_learnt_from_is_told(rate, batch, unit, rules):
    learnt = learn_devices(STUDIES)
    known = Measured(DEVICES.get("RTX 4090"), rate, "resnet50", "fp16", "torch", batch, unit)
    told = transferred([known], [DEVICES.get("GTX 1080 Ti")], learnt).iloc[0]
    assert {pair["rule"] for pair in told["warnings"]} == rules
