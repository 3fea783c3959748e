"""Several devices from the figure of one: what joins them, and both errors."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from scaling_tables import NODE_SCALING, flat, flat_bounds
from sweetspot.errors import UserError
from sweetspot.scaling import device_predictions
from sweetspot.scaling.device_predictions import predict_throughput, scale_to_devices, usual_interconnect
from sweetspot.scaling.fitted import FittedScaling
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import RATES, Measured

MEASURED = SimpleNamespace(model="resnet50", batch_size=64.0, precision="fp16", framework="torch")


def test_what_joins_the_devices_of_a_machine_that_is_offered():
    by = {"nvlink": ("H100 SXM", "B200", "MI300X"), "ici": ("TPU v4", "TPU v6e"),
          "pcie": ("H100 PCIe", "A100 PCIE 40GB", "H100 NVL", "H200 NVL", "RTX 4090", "L40S")}  # fmt: skip
    assert {
        joined: tuple(gpu for gpu in gpus if usual_interconnect(gpu) == joined) for joined, gpus in by.items()
    } == by


def test_each_device_and_count_has_a_row_in_the_order_asked(monkeypatch):
    """An L40S without a prediction has one row; two H100 do 0.9 of 2 x 100, the efficiency fitted once for both."""
    single = pd.DataFrame({"gpu": ["H100 SXM", "L40S"], "warnings": [[], []]})
    single[RATES] = [[100.0, 100.0, 100.0], [math.nan] * 3]
    fits = []
    scaling = FittedScaling({"sum_of_parts": flat(0.9)}, {}, NODE_SCALING)
    monkeypatch.setattr(device_predictions, "transferred", lambda *_: single)
    monkeypatch.setattr(device_predictions, "learn_devices", lambda _: None)
    monkeypatch.setattr(device_predictions, "fit_shipped_scaling", lambda _: fits.append(1) or scaling)
    own = Measured(shipped_devices().get("RTX 4090"), 1120.0, "resnet50", "fp16", "torch", 256.0)
    for counts, rows in (([2, 1], [1, 1, 2]), ([2], [1, 2]), ([1], [1, 1])):
        found = predict_throughput([own], ["L40S", "H100 SXM"], counts)
        assert found["gpus"].tolist() == rows and found["gpu"].tolist() == ["L40S"] + ["H100 SXM"] * (len(rows) - 1)
        assert found["basis"].tolist() == ["transferred" if gpus == 1 else "extrapolated" for gpus in rows]
    assert len(fits) == 2
    with pytest.raises(UserError, match="expected several devices with one workload"):
        predict_throughput([own, own._replace(precision="fp32")], ["L40S"], [1])


def test_both_errors_count():
    """0.9 of 4 x 100; half widths of the logarithm: ln 1.1 of one device, and that of the efficiency."""
    single = pd.DataFrame([{"gpu": "H100 SXM", "images_per_s": 100.0, "images_per_s_low": 100 / 1.1,
                            "images_per_s_high": 110.0, "warnings": []}])  # fmt: skip
    scaling = FittedScaling({"sum_of_parts": flat(0.9)}, {}, NODE_SCALING)
    found = scale_to_devices(single, [2, 4, 8, 128], MEASURED, scaling).set_index("gpus")
    assert found["interconnect"].tolist() == ["nvlink"] * 4
    assert found.loc[4, "images_per_s"] == pytest.approx(360.0)
    low, high = (math.hypot(math.log(1.1), math.log(bound / 0.9)) for bound in flat_bounds(0.9))
    assert found.loc[4, "images_per_s_high"] == pytest.approx(360 * math.exp(high))
    assert found.loc[4, "images_per_s_low"] == pytest.approx(360 * math.exp(-low))
    # sixteen nodes of eight: four doublings at 2 %, and 3 % for leaving the node
    assert found.loc[128, "images_per_s"] == pytest.approx(128 * 100 * 0.9 * math.exp(-0.11))
