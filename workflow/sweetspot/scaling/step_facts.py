"""The physical facts of a cell with several devices: device family, class of link, software, bytes to exchange."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sweetspot.scaling.networks import with_network_facts
from sweetspot.study.instances import Instance
from sweetspot.throughput.published import guessed_interconnect
from sweetspot.transfer.figures import network_name

CHIP = re.compile(
    r"(?<![a-z0-9])(k\d{2,3}|m\d{2,4}|p\d{1,4}|v100s?|t4|a\d{1,4}g?|h\d{3}|l40s?|l4|gh200|b200|mi\d+"
    r"|rx ?\d+\w*|vega\w*)"
)
CONSUMER = re.compile(r"(?<![0-9a-z])(\d{3,4}) ?(ti|super)?(?![0-9a-z])")
VENDOR = re.compile(r"nvidia|geforce|tesla|quadro|amd|graphics|gpu")
TENSOR_CORES = re.compile(r"v100|titan v|rtx|t4\b|\ba\d{2,3}\b|h100|h200|l40", re.IGNORECASE)
# GeForce boards reach each other through the host: most drivers give them no peer access.
GEFORCE = re.compile(r"gtx .*|rtx [2-5]0[5-9]0.*")
TENSORFLOW_1_15 = "2019-10"  # its month; decides where a row is dated and names no version
RECENT_VERSION = r"1\.15|2\.[2-9]|2\.1\d"
LATER_BUILD = r"1\.15\.[4-9]|2\.[3-9]|2\.1\d"  # a vendor's build or a patch release
DEFAULT_BATCH = 64  # of tf_cnn_benchmarks for most networks, where a row does not state one
USUAL_STEP_S = 0.4  # of PyTorch where no batch is stated: the median of the pool, full of memory
# Below this, batch and rate do not count the same thing (sentences, and tokens per second).
SHORTEST_STEP_S = 0.001
# Two eras of programs, fitted separately: gradients are exchanged one by one, or in buckets beside the computation.
CLASSIC, MODERN = "classic", "modern"
BUCKETED = ("torch", "pytorch", "jax")
NVLINK, BRIDGE, GEFORCE_BUS, BUS, NETWORK = "nvlink", "bridge", "geforce", "pcie", "network"
# Full links between all devices of a board, or a bridge between two of them; else the host's bus.
LINK_BY_INTERCONNECT = dict.fromkeys(("nvlink", "nvswitch", "infinity_fabric", "ici"), NVLINK)
LINK_BY_INTERCONNECT["nvlink_bridge"] = BRIDGE


def device_family(gpu: str) -> str:
    """Return the chip of a device in small letters, e.g. 'v100' for 'Tesla V100-SXM3-32GB', 'rtx 4090', so that
    figures of all its forms count as one family (in averages and when left out for validation).
    """
    name = gpu.lower()
    bare = " ".join(VENDOR.sub(" ", name).replace("-", " ").split())
    consumer = CONSUMER.search(bare)
    if consumer and re.search(r"gtx|rtx|geforce", name):
        series = "rtx" if "rtx" in name else "gtx"
        return " ".join([series, *filter(None, consumer.groups())])
    if chip := CHIP.search(bare):
        return chip[1]
    return re.sub(r"\b(\d+ ?gb|pcie\w*|sxm\d?|10bit)\b", "", bare).strip() or name


def with_declared_facts(cells: pd.DataFrame, instances: Mapping[str, Instance]) -> pd.DataFrame:
    """Add the facts of a study's machines that `with_step_facts` needs to predict scaling: `interconnect`, `exchange`
    (True), `family` and `framework_version` (empty). `cells`: rows with `instance`, `gpu` and `batch_size`. Where the
    instance declares no interconnect, the form of its device (`...-SXM2`) decides; the name of an instance never does.
    """
    declared = [getattr(instances.get(name), "interconnect", None) for name in cells["instance"]]
    guessed = [guessed_interconnect(str(gpu)) for gpu in cells["gpu"]]
    return cells.assign(
        interconnect=[name or guess for name, guess in zip(declared, guessed, strict=True)],
        exchange=True,
        family=cells["gpu"].map(device_family),
        framework_version="",
        batch_size=cells["batch_size"].astype("float64"),
    )


def eras_of(cells: pd.DataFrame) -> pd.Series:
    """Return MODERN for frameworks that exchange gradients in buckets, else CLASSIC; same index."""
    return pd.Series(np.where(cells["framework"].isin(BUCKETED), MODERN, CLASSIC), cells.index, dtype=object)


def link_classes_of(cells: pd.DataFrame) -> pd.Series:
    """Return how the devices of each cell (a job on several devices) reach each other, the main cause of scaling
    losses: `nvlink`, `bridge`, `geforce` (no peer access) or `pcie` on one node, else `network`. `cells`: rows with
    `gpu`, `interconnect` (null: the bus) and `nodes` (null: an unknown number).
    """
    buses = {gpu: GEFORCE_BUS if GEFORCE.fullmatch(device_family(str(gpu))) else BUS for gpu in set(cells["gpu"])}
    links = [
        LINK_BY_INTERCONNECT.get(interconnect, buses[gpu])
        for interconnect, gpu in zip(cells["interconnect"], cells["gpu"], strict=True)
    ]
    single_node = cells["nodes"].fillna(0).to_numpy(dtype=float) == 1
    return pd.Series(np.where(single_node, links, NETWORK), cells.index, dtype=object)


def with_step_facts(cells: pd.DataFrame) -> pd.DataFrame:
    """Add the columns from which scaling methods predict the efficiency of n devices to `cells` (jobs on n devices
    each); those that have them stay as they are. Added: `era` (of software), `link`, `doublings` (log2 n/2), `ring` (2
    (n-1)/n), `step_s` (seconds of a step on one device), `gradient_gb` (1e9 bytes of all gradients, half as many in
    half precision), `slow_half` (bool: half precision with batch normalisation on tensor cores, not compiled),
    `old_software` (bool: before TensorFlow 1.15), `device_group` (text: family and link), `network_group` (text: the
    network's name) and the columns of `with_network_facts`.

    Parameters
    ----------
    cells
        Columns gpus, nodes, model, batch_size (NaN: not stated), precision, gpu, framework, interconnect, xla,
        exchange (whether the devices exchange gradients), framework_version, base_images_per_s (one device), `as_of`.
    """
    if "step_s" in cells:
        return cells
    cells = with_network_facts(cells)
    devices, rate = cells["gpus"].astype(float), cells["base_images_per_s"].astype(float)
    eras = eras_of(cells)
    step_s = cells["batch_size"].astype(float) / rate
    has_step = step_s.ge(SHORTEST_STEP_S)
    usual_step_s = np.where(eras == MODERN, USUAL_STEP_S, DEFAULT_BATCH / rate)
    half = cells["precision"].isin(["fp16", "bf16", "mixed"])
    version = cells["framework_version"].fillna("").astype(str).str.lower()
    dates = cells.get("as_of", pd.Series("", cells.index))
    before = dates.fillna("").astype(str).between("1", TENSORFLOW_1_15)
    later_build = version.str.contains("ngc") | version.str.match(LATER_BUILD)
    recent = later_build | version.str.match(RECENT_VERSION) | ((version == "") & ~before)
    tensor_cores = cells["gpu"].astype(str).str.contains(TENSOR_CORES)
    normalised = cells["normalised"].astype(bool)
    compiled = cells["xla"].astype(bool)
    links = link_classes_of(cells)
    return cells.assign(
        era=eras,
        link=links,
        device_group=cells["gpu"].astype(str).map(device_family) + " " + links,
        network_group=cells["model"].astype(str).map(network_name),
        doublings=np.log2(devices / 2),
        ring=2 * (devices - 1) / devices,
        step_s=step_s.where(has_step, usual_step_s),
        gradient_gb=cells["parameters_millions"] * 4e-3 * np.where(half, 0.5, 1.0),
        slow_half=half & normalised & tensor_cores & ~compiled & ~later_build,
        old_software=~recent,
    )
