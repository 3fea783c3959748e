"""Cells, efficiencies and widths of scaling, as small as a test wants them."""

import math
from pathlib import Path

import pandas as pd
from sweetspot.scaling.across_nodes import Across
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.scaling.validation import Calibration
from sweetspot.throughput.published import read_efficiency

ROW = {
    "gpus": 4, "nodes": 1, "model": "resnet50", "batch_size": 64.0, "precision": "fp32", "gpu": "GTX 1080 Ti",
    "interconnect": "pcie", "xla": False, "exchange": True, "framework_version": "1.15.0", "base_images_per_s": 320.0,
    "family": "gtx 1080 ti", "instance": "box", "framework": "tensorflow",
}  # fmt: skip
# 2 % lost a doubling, 3 % on leaving the node, 90 % within 4 % at one doubling
ACROSS = Across({"": 0.02, "network": 0.02}, 0.03, 0.04, 40)


def one_width(half: float, nine_tenths: float, share: float = 1.0) -> Calibration:
    """Widths of the 50 % and 90 % intervals, in scales, of every class."""
    return Calibration({"": share}, {0.5: {"": half}, 0.9: {"": nine_tenths}})


def evidence_table(*changes, **other):
    """Evidence, a row for each of the changes to ROW."""
    return pd.DataFrame([ROW | other | change for change in changes])


def cell(instance, gpus, images_per_s, basis="measured", **other):
    """A cell of throughput.parquet, without ends: a base is taken as it stands."""
    given = {"instance": instance, "framework": "tensorflow", "model": "resnet50", "batch_size": 32, "gpus": gpus}
    given |= {"precision": "fp32", "variant": "default", "images_per_s": images_per_s, "basis": basis}
    given |= {"gpu": "GTX 1080 Ti", "as_of": "2018-01-01", "source": f"{instance} x {gpus}", "nodes": 1, "xla": False}
    return given | dict.fromkeys(("images_per_s_low", "images_per_s_high"), math.nan) | {
        "status": "ok", "warnings": [], "logical": False,
    } | other  # fmt: skip


def efficiencies(rows, instances=None):
    """`study_efficiency` of cells, where the study prints none."""
    return study_efficiency(pd.DataFrame(rows), read_efficiency(Path("no such file")), instances or {})
