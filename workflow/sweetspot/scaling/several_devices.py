"""The throughput of n devices of any kind, from that of one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.frameworks import ALWAYS_COMPILED
from sweetspot.scaling.fitted import FittedScaling, combined_limit
from sweetspot.scaling.intervals import LEARNED_METHOD
from sweetspot.scaling.step_facts import device_family
from sweetspot.throughput.published import guessed_interconnect

if TYPE_CHECKING:
    from sweetspot.transfer.transferring import Measured

DEVICES_PER_NODE = 8
INTERCONNECTS = ("pcie", "nvlink_bridge", "nvlink", "nvswitch", "infinity_fabric", "ici", "none")
# Families whose boards have full links between all devices.
BOARD_FAMILIES = (
    "p100", "v100", "a100", "h100", "h200", "gh200", "b200", "b300", "mi250", "mi300", "mi325", "mi350", "mi355",
)  # fmt: skip


def usual_interconnect(gpu: str) -> str:
    """Return what joins several of a device in the machines that are offered."""
    if gpu.startswith("TPU"):
        return "ici"
    if "PCI" in gpu.upper():
        return "pcie"
    has_board = device_family(gpu) in BOARD_FAMILIES and not gpu.endswith("NVL")
    return "nvlink" if has_board else guessed_interconnect(gpu)


def scale_to_devices(
    single: pd.DataFrame,
    counts: Sequence[int],
    figure: "Measured",
    interconnect: str | None,
    scaling: FittedScaling,
) -> pd.DataFrame:
    """Predict the throughput of n devices of each kind from that of one.

    Parameters
    ----------
    single
        gpu, images_per_s with `_low`, `_high` (90 %) and warnings of one device.
    counts
        Numbers of devices.
    figure
        Model, batch, precision and framework of the workload.
    interconnect
        One of INTERCONNECTS; None: the usual one of each device.
    scaling
        The fitted model. Its error and that of `single` count as independent.

    Returns
    -------
    pd.DataFrame
        The columns of `single`, `gpus` and `interconnect`; one row per device and count.
    """
    cells = single.merge(pd.DataFrame({"gpus": list(counts)}), how="cross")
    cells["interconnect"] = [interconnect or usual_interconnect(gpu) for gpu in cells["gpu"]]
    facts = cells.assign(
        nodes=-(-cells["gpus"] // DEVICES_PER_NODE),
        model=figure.model,
        batch_size=figure.batch_size,
        precision=figure.precision,
        framework=figure.framework,
        framework_version="",
        xla=figure.framework in ALWAYS_COMPILED,
        exchange=True,
        base_images_per_s=cells["images_per_s"],
    )
    predicted = scaling.predict(LEARNED_METHOD, facts)
    rate = cells["images_per_s"] * cells["gpus"] * predicted["efficiency"]
    warnings = scaling.add_count_warnings(cells["warnings"], facts)
    table = cells.assign(images_per_s=rate, warnings=warnings)
    for name, sign in (("low", -1), ("high", 1)):
        single_limit = cells[f"images_per_s_{name}"] / cells["images_per_s"]
        efficiency_limit = predicted[name] / predicted["efficiency"]
        table[f"images_per_s_{name}"] = combined_limit(rate, single_limit, efficiency_limit, sign=sign)
    return table
