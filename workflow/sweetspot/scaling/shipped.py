"""The scaling model fitted to what the library ships, and the throughput of n devices from that of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.scaling.across_nodes import (
    NodeScaling,
    extend_across_nodes,
    fit_node_scaling,
    part_within_node,
)
from sweetspot.scaling.calibration import (
    LEARNED_METHOD,
    METHODS,
    CalibratedMethod,
    left_out_errors,
)
from sweetspot.scaling.evidence import (
    concat_evidence,
    learnable,
    multi_device_bases,
    single_device_bases,
)
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.scaling.step_facts import device_family
from sweetspot.scaling.targets import count_warnings
from sweetspot.study.frameworks import ALWAYS_COMPILED
from sweetspot.throughput.published import guessed_interconnect, read_published
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.transfer.transferring import Measured

POOLS = ("scaling-2020", "scaling-2026")
DEVICES_PER_NODE = 8
INTERCONNECTS = ("pcie", "nvlink_bridge", "nvlink", "nvswitch", "infinity_fabric", "ici", "none")
# Families whose boards have full links between all devices.
BOARD_FAMILIES = frozenset(
    "p100 v100 a100 h100 h200 gh200 b200 b300 mi250 mi300 mi325 mi350 mi355".split()
)


@dataclass(frozen=True)
class ShippedScaling:
    """What the shipped evidence teaches: within a node, beyond it, and its largest count."""

    method: CalibratedMethod
    node_scaling: NodeScaling
    maximum_gpus: float


def shipped_evidence(studies: Path = STUDIES) -> pd.DataFrame:
    """Return the evidence (EVIDENCE_COLUMNS) of the shipped pools.

    A folder of `studies` that has the name of a pool comes before what is shipped.
    """
    tables = [
        published_evidence(name, read_published(figures_file(name, studies))) for name in POOLS
    ]
    return concat_evidence(tables)


@cache
def fit_shipped_scaling(studies: Path) -> ShippedScaling:
    """Fit the learned method and the losses between nodes to the shipped evidence."""
    evidence = shipped_evidence(studies)
    rows = learnable(single_device_bases(evidence))
    kind = METHODS[LEARNED_METHOD]
    method = CalibratedMethod.fit(kind, rows, left_out_errors(kind, rows))
    node_scaling = fit_node_scaling(multi_device_bases(evidence))
    return ShippedScaling(method, node_scaling, float(evidence["gpus"].max()))


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
    scaling: ShippedScaling,
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
    predicted = scaling.method.predict(part_within_node(facts))
    predicted = extend_across_nodes(predicted, facts, scaling.node_scaling)
    rate = cells["images_per_s"] * cells["gpus"] * predicted["efficiency"]
    table = cells.assign(
        images_per_s=rate,
        warnings=[
            joined(row.warnings, count_warnings(row.gpus, scaling.maximum_gpus))
            for row in cells.itertuples()
        ],
    )
    for name, sign in (("low", -1), ("high", 1)):
        of_single = np.log(cells[f"images_per_s_{name}"] / cells["images_per_s"])
        of_efficiency = np.log(predicted[name] / predicted["efficiency"])
        table[f"images_per_s_{name}"] = rate * np.exp(sign * np.hypot(of_single, of_efficiency))
    return table
