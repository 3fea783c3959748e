"""What is left out of the transfer is predicted without it; the shipped widths; a file of somebody else's figures."""

import json

import numpy as np
import pandas as pd
import pytest
from sweetspot.transfer.figures import as_figures, shipped_devices, shipped_figures
from sweetspot.transfer.relation import fit_relation, predict
from sweetspot.transfer.transferring import RATIO_HALF_WIDTH, RELATION_WIDTH

from research.__main__ import main
from research.transfer_errors import (
    DEVICE_AND_PROGRAM,
    DEVICE_AND_WORKLOAD,
    RATIO,
    RELATION,
    WORKLOAD,
    calibrated_widths,
    errors,
    predict_without,
    summarize,
    with_methods,
)

FIGURES, DEVICES = shipped_figures(), shipped_devices()
WORLD = ("RTX 3090", "RTX 4090", "A100 SXM 80GB", "H100 SXM", "RTX A6000", "Tesla V100-SXM2-16GB")


def world(rate, names=WORLD, workloads=6):
    """Figures of a made-up benchmark: rate(number of the workload, Device)."""
    rows = [
        {"benchmark": "made up", "framework": "tensorflow", "model": f"net{number}", "batch_size": np.nan,
         "precision": "fp16", "dataset": "", "xla": False, "gpu": name, "unit": "images",
         "images_per_s": rate(number, DEVICES.get(name))}
        for number in range(workloads)
        for name in names
    ]  # fmt: skip
    return as_figures(pd.DataFrame(rows))


def test_rows_left_out_are_predicted_as_by_a_fit_without_them():
    rows = np.flatnonzero((FIGURES["workload"] == FIGURES["workload"][7]) | (FIGURES["device"] == "B200"))
    rest = FIGURES.drop(index=rows).reset_index(drop=True)
    direct = predict(fit_relation(rest), FIGURES.iloc[rows])
    quick = predict_without(fit_relation(FIGURES), rows)
    # Only differences within a workload are determined: its level may be anything.
    same = FIGURES["workload"].to_numpy()[rows]
    first = np.array([np.flatnonzero(same == name)[0] for name in same])
    assert direct.mean - direct.mean[first] == pytest.approx(quick.mean - quick.mean[first], abs=1e-6)
    np.testing.assert_allclose(direct.covariance, quick.covariance, rtol=1e-5, atol=1e-5)


def test_in_a_world_of_bandwidths_the_plain_ratio_is_exact():
    table = errors(world(lambda number, device: (number + 1) * device.memory_bandwidth_gb_s), WORKLOAD)
    assert table[RATIO].abs().max() < 1e-9
    assert len(table) == 6 * 6 * 5  # every ordered pair of six devices in six workloads


def test_a_device_unlike_its_data_sheet_is_learnt_from_its_figures():
    half = {"RTX A6000": 0.5}
    figures = world(lambda number, device: (number + 1) * device.peak("fp16") * half.get(device.gpu, 1.0))
    known, blind = errors(figures, WORKLOAD), errors(figures, DEVICE_AND_WORKLOAD)
    slow = [float(np.expm1(table.loc[table["device"] == "RTX A6000", RELATION]).median()) for table in (known, blind)]
    assert abs(slow[0]) < 0.1 and slow[1] > 0.4  # twice too fast, less what its architecture pulls


def test_the_shipped_widths_are_those_of_the_shipped_figures():
    relation, ratio = calibrated_widths(FIGURES)
    assert relation == pytest.approx(RELATION_WIDTH, abs=1e-6)
    assert ratio == pytest.approx(RATIO_HALF_WIDTH, abs=5e-4)


@pytest.mark.parametrize("left_out", [WORKLOAD, DEVICE_AND_PROGRAM])
def test_intervals_hold_what_was_left_out(left_out):
    table = errors(FIGURES, left_out)
    table = with_methods(table, pd.Series(left_out == WORKLOAD, table.index))
    used = summarize(table, RELATION if left_out == WORKLOAD else RATIO)
    assert 0.85 <= used["coverage90"] <= 0.97


def test_a_file_gives_headline_and_methods(tmp_path, capsys):
    file = tmp_path / "figures.csv"
    file.write_text(
        "gpu,gpus,model,precision,value,unit\n"
        "RTX 3090,1,mynet,fp16,100,images/s\n"  # 936 GB/s
        "L40S,1,mynet,fp16,110,images/s\n"  # 864 GB/s, not in the pool: predicted 92.3, and the RTX 3090 from it 119.2
        "RTX 3090,2,mynet,fp16,190,images/s\n"
        "Abacus,1,mynet,fp16,1,images/s\n"
        "RTX 3090,1,mynet,fp16,much,images/s\n"
    )
    assert main(["validate-transfer", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    (headline,) = [row for row in result["methods"] if row["method"] == result["headline"]]
    # |92.3 / 110 - 1| = 0.1609 and |119.2 / 100 - 1| = 0.1917: the median of two is their mean
    assert (headline["rows"], headline["coverage90"]) == (2, 1.0)
    assert headline["median_abs_error"] == pytest.approx((0.1609 + 0.1917) / 2, abs=1e-3)
    assert (result["unspecified"], result["several_devices"], len(result["bad_rows"])) == (["Abacus"], 1, 1)
    assert "line 6" in err
