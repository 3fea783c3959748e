"""Published pairs of device counts: a CSV whose rows hold a figure and one of fewer devices to hold it against.

Columns needed: gpu, gpus_base, gpus, value_base, value, unit, model; where known benchmark, precision, seq_len,
batch_per_device, framework and notes. `unit` tells what is counted: `minutes` (to a target, strong scaling), else so
much a second at a fixed batch per device.
"""

import math
import re
from typing import Any

import pandas as pd

from sweetspot.scaling.evidence import super_linear
from sweetspot.scaling.machine import family
from sweetspot.scaling.partners import framework_name
from sweetspot.throughput.published_machine import with_machine_facts

PAIR_NEEDED = ("gpu", "gpus_base", "gpus", "value_base", "value", "unit", "model")
MINUTES = "minutes"
NODE = 8  # devices of one machine where the row does not say
RACK = {"gb200": 72, "gb300": 72}  # devices that fast links join
POD = re.compile(r"\btpu\b", re.IGNORECASE)
BATCHED = ("images", "sequences", "samples")  # what a batch counts; mels and samples of audio are parts of one
BATCHES = re.compile(r"global batch ([\d.]+) -> ([\d.]+)")
HALF = {"amp": "fp16", "amp_bf16": "bf16", "fp16 amp": "fp16", "bfloat16": "bf16", "fp32/tf32": "tf32"}
SHARDED = re.compile(r"fsdp|full_shard|shard_grad_op|zero", re.IGNORECASE)


def is_pair_table(header: list[str]) -> bool:
    """Whether a file's header is that of a table of pairs."""
    return {"value_base", "gpus_base"} <= set(header)


def pairs_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Checked rows as evidence: efficiency, base_*, nodes, family, warnings and what the notes say of batches.

    base_images_per_s is of one device; nodes are those that the devices fill (`NODE`, `RACK`, a TPU's pod is one)
    unless the row has a column `nodes`. `batches`: the ratio of the global batches (NaN: not told).
    """
    table = pd.DataFrame(rows)
    for name in ("benchmark", "framework", "precision", "notes", "seq_len", "batch_per_device", "instance"):
        table[name] = table[name].fillna("").astype(str).str.strip() if name in table else ""
    strong = table["unit"].str.strip().str.lower() == MINUTES
    faster = (table["value"] / table["value_base"]).where(~strong, table["value_base"] / table["value"])
    pods = table["gpu"].str.contains(POD)
    table = table.assign(
        note="",
        variant=table["framework"].map(lambda text: "fsdp" if SHARDED.search(text) else ""),
        framework=table["framework"].map(framework_name),
        framework_version=table["framework"].map(_version),
        precision=table["precision"].map(lambda text: HALF.get(text.lower(), text.lower())),
        batch_size=[_batch(row) for row in table.itertuples()],
        family=table["gpu"].map(family),
        efficiency=faster * table["gpus_base"] / table["gpus"],
        base_images_per_s=table["value_base"] / table["gpus_base"],
        nodes=_nodes(table, "gpus"),
        base_nodes=_nodes(table, "gpus_base"),
        base_gpus=table["gpus_base"],
        interconnect=pd.Series("", table.index).mask(pods, "ici"),
        batches=[_batches(text) for text in table["notes"]],
        strong=strong,
        dataset="synthetic",
        as_of="",
    )
    table["warnings"] = [super_linear(value) for value in table["efficiency"]]
    return with_machine_facts(table)


def _version(framework: str) -> str:
    """What a framework's name says of its version: a vendor's build, or TensorFlow 2 without more."""
    plain = framework.lower()
    return "NGC" if "ngc" in plain else "2.3+" if plain.startswith("tensorflow 2") else ""


def _nodes(table: pd.DataFrame, column: str) -> pd.Series:
    joined = [RACK.get(name, 256 if POD.search(gpu) else NODE) for name, gpu in
              zip(table["gpu"].map(family), table["gpu"], strict=True)]  # fmt: skip
    return pd.Series([math.ceil(gpus / most) for gpus, most in zip(table[column], joined, strict=True)], table.index)


def _batch(row: Any) -> float:
    """Samples a device works on between two exchanges, in the unit that is counted; NaN: not told."""
    batch, length = _told(row.batch_per_device), _told(row.seq_len)
    counted = row.unit.partition("/")[0].strip().lower()
    return batch * length if counted == "tokens" else batch if counted in BATCHED else math.nan


def _batches(text: str) -> float:
    found = BATCHES.search(text)
    return float(found[2]) / float(found[1]) if found else math.nan


def _told(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
