"""The physical facts of a multi-device cell: device family, link class, software, bytes to exchange."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sweetspot.scaling.model_facts import Network, networks_of
from sweetspot.throughput.published import guessed_interconnect

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

CHIP = re.compile(
    r"(?<![a-z0-9])(k\d{2,3}|m\d{2,4}|p\d{1,4}|v100s?|t4|a\d{1,4}g?|h\d{3}|l40s?|l4|gh200|b200|mi\d+"
    r"|rx ?\d+\w*|vega\w*)"
)
CONSUMER = re.compile(r"(?<![0-9a-z])(\d{3,4}) ?(ti|super)?(?![0-9a-z])")
VENDOR = re.compile(r"nvidia|geforce|tesla|quadro|amd|graphics|gpu")
TENSOR_CORES = re.compile(r"v100|titan v|rtx|t4\b|\ba\d{2,3}\b|h100|h200|l40", re.IGNORECASE)
RECENT = "2019-10"  # month of TensorFlow 1.15; decides where a row is dated and names no version
# Nominal GB/s between the devices of a family, both directions together: NVLink of the SXM board, else the bus of the
# host that its generation allows (x16: PCIe 3.0 32, 4.0 64, 5.0 128). Data sheets of NVIDIA and AMD.
BOARD_GB_S = {"p100": 160, "v100": 300, "a100": 600, "h100": 900, "h200": 900, "gh200": 900, "b200": 1800, "b300": 1800}
BOARD_GB_S |= {"mi250": 800, "mi300": 896, "mi325": 896, "mi350": 1075, "mi355": 1075}
BUS_GB_S = {"a100": 64, "a10": 64, "a30": 64, "a40": 64, "a4000": 64, "a5000": 64, "a6000": 64, "l4": 64, "l40": 64}
BUS_GB_S |= {"l40s": 64, "rtx 3080": 64, "rtx 3090": 64, "rtx 4090": 64, "rtx 6000 ada": 64}
BUS_GB_S |= {"h100": 128, "h200": 128, "rtx 5090": 128}
BOARD_2018, BUS_2018 = 300, 32  # of the V100, and of PCIe 3.0: what most figures of the pools were taken on
DEFAULT_BATCH = 64  # tf_cnn_benchmarks' own default for most networks; used where a row does not state one
USUAL_STEP = 0.4  # seconds of a PyTorch step where no batch is stated: the median of the pool's own, full of memory
SHORTEST_STEP = 0.001  # seconds; below it batch and rate do not count the same thing (sentences, and tokens a second)
# Two eras of programs, learnt apart: gradients sent one by one, or in buckets while the rest is computed.
CLASSIC, MODERN = "classic", "modern"
BUCKETED = ("torch", "pytorch", "jax")
LINKS = ("nvlink", "bridge", "pcie", "network")
# Link class of an interconnect: full links between all devices of a board, a bridge between two of them, or the bus
# of the host, which is also what devices have that nothing joins.
LINK_OF = dict.fromkeys(("nvlink", "nvswitch", "infinity_fabric", "ici"), "nvlink")
LINK_OF |= {"nvlink_bridge": "bridge", "pcie": "pcie", "none": "pcie"}


def family(gpu: str) -> str:
    """The device's family, so that all forms of one chip are left out together: `Tesla V100-SXM3-32GB` is `v100`."""
    name = gpu.lower()
    bare = " ".join(VENDOR.sub(" ", name).replace("-", " ").split())
    consumer = CONSUMER.search(bare)
    if consumer and re.search(r"gtx|rtx|geforce", name):
        return " ".join(["rtx" if "rtx" in name else "gtx", *filter(None, consumer.groups())])
    chip = CHIP.search(bare)
    if chip:
        return chip[1]
    return re.sub(r"\b(\d+ ?gb|pcie\w*|sxm\d?|10bit)\b", "", bare).strip() or name


def declared_facts(cells: pd.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """Cells of a study with the facts that methods read: family, and what its instances declare.

    cells: instance, gpu, batch_size. Added: interconnect, interconnect_guessed, network, exchange, family; no version
    of the software. Where an instance declares no interconnect, the form of its device (`...-SXM2`) is read and
    the guess marked; the name that a study gives to an instance never decides.
    """
    known = [instances.get(name) for name in cells["instance"]]
    stated = [instance.interconnect if instance else None for instance in known]
    guess = [guessed_interconnect(str(gpu)) for gpu in cells["gpu"]]
    return cells.assign(
        interconnect=[own or other for own, other in zip(stated, guess, strict=True)],
        interconnect_guessed=[own is None for own in stated],
        network=[instance.network if instance else None for instance in known],
        exchange=True, family=cells["gpu"].map(family), framework_version="", dataset="synthetic",
        batch_size=cells["batch_size"].astype("float64"),
    )  # fmt: skip


def eras(cells: pd.DataFrame) -> pd.Series:
    """MODERN for frameworks that send gradients in buckets (PyTorch's DDP, XLA's own), else CLASSIC; same index."""
    return pd.Series(np.where(cells["framework"].isin(BUCKETED), MODERN, CLASSIC), cells.index, dtype=object)


def links(cells: pd.DataFrame) -> pd.Series:
    """Link class of each cell, one of LINKS: `network` on several nodes, else by its interconnect.

    cells: interconnect (null: the bus), nodes (null: several, their number is not said).
    """
    one = cells["nodes"].fillna(0).to_numpy(dtype=float) == 1
    kinds = [LINK_OF.get(name, "pcie") for name in cells["interconnect"]]
    return pd.Series(np.where(one, kinds, "network"), cells.index, dtype=object)


def describe(cells: pd.DataFrame) -> pd.DataFrame:
    """Physical facts of multi-device cells, one row each, same index.

    cells: gpus, nodes, model, batch_size (NaN: not stated), precision, gpu, framework, interconnect, xla, exchange
    (bool: the devices exchange gradients), framework_version, base_images_per_s (one device); as_of (date as text)
    where known; those of `with_networks` where a study declares networks. No name of an instance and no note is read.
    Returns floats unless said: devices; step_s
    (seconds of one device's step); gradient_gb (1e9 bytes a device sends, half in fp16); tensors; the flags (0 or 1)
    fp16, xla, nvlink, bridge, normalised, recent (TensorFlow 1.15 or later), later_build (a vendor's build or a patch
    release), tensor_cores and exchange (0 where the devices train independently); known_network and known_batch (bool;
    a step below SHORTEST_STEP has none); link (text, one of LINKS).
    """
    facts = pd.DataFrame(networks_of(cells), cells.index, Network._fields)
    batch, rate = cells["batch_size"].astype(float), cells["base_images_per_s"].astype(float)
    half = cells["precision"].isin(["fp16", "bf16", "mixed"])
    version = cells["framework_version"].fillna("").astype(str).str.lower()
    dated = cells["as_of"].fillna("").astype(str) if "as_of" in cells else pd.Series("", index=cells.index)
    kind = links(cells)
    later = version.str.contains("ngc") | version.str.match(r"1\.15\.[4-9]|2\.[3-9]|2\.1\d")
    recent = version.str.match(r"1\.15|2\.[2-9]|2\.1\d") | ((version == "") & ~dated.between("1", RECENT))
    usual = np.where(eras(cells) == MODERN, USUAL_STEP, DEFAULT_BATCH / rate)
    known = (batch / rate).ge(SHORTEST_STEP)
    numbers = {
        "devices": cells["gpus"],
        "step_s": (batch / rate).where(known, usual),
        "gradient_gb": facts["parameters"] * 4e-3 * np.where(half, 0.5, 1.0),
        "tensors": facts["tensors"],
        "faster": _faster(cells, kind),
        "fp16": half,
        "xla": cells["xla"],
        "nvlink": kind == "nvlink",
        "bridge": kind == "bridge",
        "normalised": facts["normalised"],
        "recent": later | recent,
        "later_build": later,
        "tensor_cores": cells["gpu"].astype(str).str.contains(TENSOR_CORES),
        "exchange": cells["exchange"],
    }
    table = pd.DataFrame({name: np.asarray(value, dtype=float) for name, value in numbers.items()}, cells.index)
    return table.assign(known_network=facts["known"].astype(bool), known_batch=known, link=kind)


def _faster(cells: pd.DataFrame, kind: pd.Series) -> list[float]:
    """Log of the link's nominal bandwidth over that of 2018 (`BOARD_2018`, `BUS_2018`); 0 where nobody says."""
    nominal = {"nvlink": (BOARD_GB_S, BOARD_2018), "pcie": (BUS_GB_S, BUS_2018)}
    told = zip(cells["gpu"].astype(str).map(family), kind.map(lambda link: nominal.get(link, ({}, 1))), strict=True)
    return [math.log(gb_s.get(name, usual) / usual) for name, (gb_s, usual) in told]
