"""Cells, efficiencies and widths of scaling, as small as a test wants them."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.scaling.across_nodes import NodeScaling
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.scaling.intervals import CalibratedMethod
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.throughput.published import read_efficiency, read_published

ROW = {
    "gpus": 4, "nodes": 1, "model": "resnet50", "batch_size": 64.0, "precision": "fp32", "gpu": "GTX 1080 Ti",
    "interconnect": "pcie", "xla": False, "exchange": True, "framework_version": "1.15.0", "base_images_per_s": 320.0,
    "family": "gtx 1080 ti", "instance": "box", "framework": "tensorflow"
}  # fmt: skip
# 2 % lost a doubling, 3 % on leaving the node, 90 % within 4 % at one doubling
NODE_SCALING = NodeScaling({"": 0.02, "network": 0.02}, 0.03, 0.04)


class FlatMethod:
    """A method that says the same efficiency of every cell that exchanges gradients."""

    def __init__(self, efficiency):
        self.value = efficiency

    def efficiency(self, cells):
        return np.where(cells["exchange"].astype(bool), self.value, 1.0)


def flat(efficiency, width=0.2):
    """A calibrated method with one efficiency and one half width of log(overhead + 0.06)."""
    return CalibratedMethod(FlatMethod(efficiency), {"": width}, {})


def flat_bounds(efficiency, width=0.2):
    """The 90 % interval of `flat`: the overhead times e^width either way, 0.06 added to it before."""
    floored = 1 / efficiency - 1 + 0.06
    return 1 / (0.94 + floored * math.exp(width)), 1 / (0.94 + floored * math.exp(-width))


def evidence_table(*changes, **other):
    """Evidence, a row for each of the changes to ROW."""
    return pd.DataFrame([ROW | other | change for change in changes])


def cell(instance, gpus, images_per_s, basis="measured", **other):
    """A cell of throughput.parquet, without ends: a base is taken as it stands."""
    given = {"instance": instance, "framework": "tensorflow", "model": "resnet50", "batch_size": 32, "gpus": gpus}
    given |= {"precision": "fp32", "variant": "default", "images_per_s": images_per_s, "basis": basis}
    given |= {"gpu": "GTX 1080 Ti", "as_of": "2018-01-01", "source": f"{instance} x {gpus}", "nodes": 1, "xla": False}
    return given | dict.fromkeys(("images_per_s_low", "images_per_s_high"), math.nan) | {
        "status": "ok", "warnings": [], "logical": False
    } | other  # fmt: skip


def efficiencies(rows, instances=None):
    """`study_efficiency` of cells, where the study prints none."""
    return study_efficiency(pd.DataFrame(rows), read_efficiency(Path("no such file")), instances or {})


@cache
def pool_of_2026():
    """The evidence of the pool scaling-2026; nobody changes it."""
    return published_evidence("scaling-2026", read_published(POOLS / "scaling-2026" / "throughput.csv"))
