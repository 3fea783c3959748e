"""Several devices from the transferred figure of one: the scaling model on top of the transfer, with both errors."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import Across, fit_across
from sweetspot.scaling.evidence import from_one_device, from_several_devices
from sweetspot.scaling.judge import shipped_evidence
from sweetspot.scaling.machine import BOARD_GB_S, family
from sweetspot.scaling.methods import LEARNED, Predictor, fit_method
from sweetspot.scaling.targets import beyond_evidence
from sweetspot.scaling.validation import Calibration, held_out, predict_with_interval, widths
from sweetspot.study.frameworks import ALWAYS_COMPILED
from sweetspot.throughput.published import guessed_interconnect
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.transfer.transferring import Measured

NODE = 8  # devices of one node, unless a board of its own holds fewer
JOINED = ("pcie", "nvlink_bridge", "nvlink", "nvswitch", "infinity_fabric", "ici", "none")


class Scaling(NamedTuple):
    """The scaling model fitted to what the project ships: within a node, and beyond it."""

    predictor: Predictor
    width: Calibration
    across: Across
    most_gpus: float


@cache
def learn_scaling(studies: Path) -> Scaling:
    """Fit to the shipped evidence; the width of the interval comes from device families left out."""
    evidence, rule = shipped_evidence(studies)
    one = from_one_device(evidence)
    width = widths(held_out(one, rule, [LEARNED]))[LEARNED]
    across = fit_across(from_several_devices(evidence))
    return Scaling(fit_method(LEARNED, one, rule), width, across, float(evidence["gpus"].max()))


def joined_by(gpu: str) -> str:
    """What joins several of a device in the machines that are offered: by its board, else the bus."""
    if gpu.startswith("TPU"):
        return "ici"
    if "PCI" in gpu.upper():
        return "pcie"
    known = family(gpu) in BOARD_GB_S and not gpu.endswith("NVL")
    return "nvlink" if known else guessed_interconnect(gpu)


def several(
    one: pd.DataFrame, gpus: Sequence[int], figure: "Measured", interconnect: str | None, learnt: Scaling
) -> pd.DataFrame:
    """Throughput of `gpus` devices of each kind from that of one.

    one: gpu, images_per_s with `_low`, `_high` (90 %) and warnings of one device (`transferred`). figure: model, batch,
    precision and framework; interconnect: one of JOINED, None: by the device. Returns one's columns and `gpus`,
    `interconnect`. Half the width of the interval's logarithm is the root of the squares of both halves: the error of
    the transfer and that of the efficiency are taken as independent.
    """
    cells = one.merge(pd.DataFrame({"gpus": list(gpus)}), how="cross")
    cells["interconnect"] = [interconnect or joined_by(name) for name in cells["gpu"]]
    facts = cells.assign(
        interconnect_guessed=interconnect is None, network="infiniband", nodes=-(-cells["gpus"] // NODE),
        family=cells["gpu"].map(family), instance=cells["gpu"], model=figure.model, batch_size=figure.batch_size,
        precision=figure.precision, framework=figure.framework, framework_version="", variant="default",
        dataset="synthetic", xla=figure.framework in ALWAYS_COMPILED, exchange=True,
        base_images_per_s=cells["images_per_s"],
    )  # fmt: skip
    predicted = predict_with_interval(learnt.predictor, facts, learnt.width, learnt.across)
    told = [joined(row.warnings, beyond_evidence(row.gpus, learnt.most_gpus)) for row in cells.itertuples()]
    rate = cells["images_per_s"] * cells["gpus"] * predicted["efficiency"]
    table = cells.assign(warnings=told, images_per_s=rate)
    for name, sign in (("low", -1), ("high", 1)):
        moved = np.log(cells[f"images_per_s_{name}"] / cells["images_per_s"])
        scaled = np.log(predicted[name] / predicted["efficiency"])
        table[f"images_per_s_{name}"] = rate * np.exp(sign * np.hypot(moved, scaled))
    return table
