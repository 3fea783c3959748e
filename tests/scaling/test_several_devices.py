"""Several devices from the figure of one: what joins them, and both errors."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from scaling_tables import NODE_SCALING, flat, flat_bounds
from sweetspot.scaling.device_predictions import scale_to_devices, usual_interconnect
from sweetspot.scaling.fitted import FittedScaling

MEASURED = SimpleNamespace(model="resnet50", batch_size=64.0, precision="fp16", framework="torch")


def test_what_joins_the_devices_of_a_machine_that_is_offered():
    by = {"nvlink": ("H100 SXM", "B200", "MI300X"), "ici": ("TPU v4", "TPU v6e"),
          "pcie": ("H100 PCIe", "A100 PCIE 40GB", "H100 NVL", "H200 NVL", "RTX 4090", "L40S")}  # fmt: skip
    assert {
        joined: tuple(gpu for gpu in gpus if usual_interconnect(gpu) == joined) for joined, gpus in by.items()
    } == by


def test_both_errors_count():
    """0.9 of 4 x 100; half widths of the logarithm: ln 1.1 of one device, and that of the efficiency."""
    single = pd.DataFrame([{"gpu": "H100 SXM", "images_per_s": 100.0, "images_per_s_low": 100 / 1.1,
                            "images_per_s_high": 110.0, "warnings": []}])  # fmt: skip
    scaling = FittedScaling({"sum_of_parts": flat(0.9)}, {}, NODE_SCALING)
    found = scale_to_devices(single, [2, 4, 8, 16], MEASURED, scaling).set_index("gpus")
    assert found["interconnect"].tolist() == ["nvlink"] * 4
    assert found.loc[4, "images_per_s"] == pytest.approx(360.0)
    low, high = (math.hypot(math.log(1.1), math.log(bound / 0.9)) for bound in flat_bounds(0.9))
    assert found.loc[4, "images_per_s_high"] == pytest.approx(360 * math.exp(high))
    assert found.loc[4, "images_per_s_low"] == pytest.approx(360 * math.exp(-low))
    # two nodes of eight: one doubling at 2 %, and 3 % for leaving the node
    assert found.loc[16, "images_per_s"] == pytest.approx(16 * 100 * 0.9 * math.exp(-0.05))
