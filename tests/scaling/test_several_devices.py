"""Several devices from the figure of one: what joins them, both errors, and counts beyond what was learned from."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from scaling_tables import ACROSS, one_width
from sweetspot.scaling.several_devices import Scaling, joined_by, several
from sweetspot.warnings import pairs

MEASURED = SimpleNamespace(model="resnet50", batch_size=64.0, precision="fp16", framework="torch")


def test_what_joins_the_devices_of_a_machine_that_is_offered():
    by = {"nvlink": ("H100 SXM", "B200", "MI300X"), "ici": ("TPU v4", "TPU v6e"),
          "pcie": ("H100 PCIe", "A100 PCIE 40GB", "H100 NVL", "H200 NVL", "RTX 4090", "L40S")}  # fmt: skip
    assert {joined: tuple(gpu for gpu in gpus if joined_by(gpu) == joined) for joined, gpus in by.items()} == by


def test_both_errors_and_what_is_beyond_the_evidence():
    """0.9 of 4 x 100; half widths of the logarithm: ln 1.1 of the transfer, 2 x 0.1 of the efficiency."""

    def flat(asked):
        return pd.DataFrame({"efficiency": 0.9, "scale": 0.1}, index=asked.index)

    one = pd.DataFrame([{"gpu": "H100 SXM", "images_per_s": 100.0, "images_per_s_low": 100 / 1.1,
                         "images_per_s_high": 110.0, "warnings": []}])  # fmt: skip
    learnt = Scaling(flat, one_width(1.0, 2.0), ACROSS, 4.0)
    found = several(one, [2, 4, 8, 16], MEASURED, None, learnt).set_index("gpus")
    assert found["interconnect"].tolist() == ["nvlink"] * 4
    assert found.loc[4, "images_per_s"] == pytest.approx(360.0)
    half = math.hypot(math.log(1.1), 0.2)
    assert found.loc[4, "images_per_s_high"] == pytest.approx(360 * math.exp(half))
    assert found.loc[4, "images_per_s_low"] == pytest.approx(360 * math.exp(-half))
    # two nodes of eight: one doubling at 2 %, and 3 % for leaving the node
    assert found.loc[16, "images_per_s"] == pytest.approx(16 * 100 * 0.9 * math.exp(-0.05))
    assert [len(pairs(told)) for told in found["warnings"]] == [0, 0, 1, 1]
    unknown = several(one, [64], MEASURED, "pcie", learnt._replace(most_gpus=math.nan))
    assert pairs(unknown["warnings"].iloc[0]) == [] and unknown["interconnect"].tolist() == ["pcie"]
