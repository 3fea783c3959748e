"""What a published row says of its machine: card family, link, software; read from names and notes."""

import re

import numpy as np
import pandas as pd

from sweetspot.scaling.model_facts import network

CHIP = re.compile(
    r"(?<![a-z0-9])(k\d{2,3}|m\d{2,4}|p\d{1,4}|v100s?|t4|a\d{1,4}g?|h\d{3}|l40s?|l4|gh200|b200|mi\d+"
    r"|rx ?\d+\w*|vega\w*)"
)
CONSUMER = re.compile(r"(?<![0-9a-z])(\d{3,4}) ?(ti|super)?(?![0-9a-z])")
VENDOR = re.compile(r"nvidia|geforce|tesla|quadro|amd|graphics|gpu")
DATA_CENTRE_LINK = re.compile(r"sxm|dgx|hgx|\bp3(dn)?\.|\bp4de?\.|\bp5\.", re.IGNORECASE)
TENSOR_CORES = re.compile(r"v100|titan v|rtx|t4\b|\ba\d{2,3}\b|h100|h200|l40", re.IGNORECASE)
RECENT = "2019-10"  # month of TensorFlow 1.15; decides where a row is dated and names no version
DEFAULT_BATCH = 64  # tf_cnn_benchmarks' own default for most networks; used where a row does not state one
LINKS = ("nvlink", "bridge", "pcie", "network")


def family(gpu: str) -> str:
    """The card's family, so that all forms of one chip are left out together: `Tesla V100-SXM3-32GB` is `v100`."""
    name = gpu.lower()
    bare = " ".join(VENDOR.sub(" ", name).replace("-", " ").split())
    consumer = CONSUMER.search(bare)
    if consumer and re.search(r"gtx|rtx|geforce", name):
        return " ".join(["rtx" if "rtx" in name else "gtx", *filter(None, consumer.groups())])
    chip = CHIP.search(bare)
    if chip:
        return chip[1]
    return re.sub(r"\b(\d+ ?gb|pcie\w*|sxm\d?|10bit)\b", "", bare).strip() or name


def link(gpu: str, instance: str, note: str) -> str:
    """How the devices talk, one of LINKS: full NVLink of a data-centre board, NVLink bridge, PCIe, network."""
    if "distributed" in instance.lower() or re.search(r"num_workers|horovod|multi-node", note, re.IGNORECASE):
        return "network"
    if DATA_CENTRE_LINK.search(gpu) or DATA_CENTRE_LINK.search(instance):
        return "nvlink"
    return "bridge" if "nvlink" in f"{instance} {note}".lower() else "pcie"


def describe(cells: pd.DataFrame) -> pd.DataFrame:
    """Physical facts of multi-device cells, one row each, same index.

    cells: gpus, model, batch_size (NaN: not stated), precision, gpu, instance, note, framework_version,
    base_images_per_s (one device); as_of (date as text) where known. Returns floats unless said: devices; step_s
    (seconds of one device's step); gradient_gb (1e9 bytes a device sends, half in fp16); tensors; the flags (0 or 1)
    fp16, xla, nvlink, bridge, normalised, recent (TensorFlow 1.15 or later), later_build (a vendor's build or a patch
    release), tensor_cores and exchange (0 where the devices train independently); known_network and known_batch
    (bool); link (text, one of LINKS).
    """
    facts = [network(model) for model in cells["model"]]
    text = {name: cells[name].fillna("").astype(str) for name in ("gpu", "instance", "note", "framework_version")}
    batch = cells["batch_size"].astype(float)
    half = cells["precision"].isin(["fp16", "bf16", "mixed"]).to_numpy()
    version = text["framework_version"].str.lower()
    dated = cells["as_of"].fillna("").astype(str) if "as_of" in cells else pd.Series("", index=cells.index)
    links = [link(*row) for row in zip(text["gpu"], text["instance"], text["note"], strict=True)]
    later = version.str.contains("ngc") | version.str.match(r"1\.15\.[4-9]|2\.[3-9]|2\.1\d")
    flags = {
        "fp16": half,
        "xla": (text["note"] + text["instance"]).str.contains("xla", case=False),
        "nvlink": [kind == "nvlink" for kind in links],
        "bridge": [kind == "bridge" for kind in links],
        "normalised": [fact.normalised for fact in facts],
        "recent": later | version.str.match(r"1\.15|2\.[2-9]|2\.1\d") | ((version == "") & ~dated.between("1", RECENT)),
        "later_build": later,
        "tensor_cores": [bool(TENSOR_CORES.search(gpu)) for gpu in text["gpu"]],
        "exchange": ~text["note"].str.contains(r"variable_update[= ]independent"),
    }
    parameters = np.array([fact.parameters for fact in facts])
    table = pd.DataFrame(
        {
            "devices": cells["gpus"].astype(float),
            "step_s": batch.fillna(DEFAULT_BATCH) / cells["base_images_per_s"].astype(float),
            "gradient_gb": parameters * 4e-3 * np.where(half, 0.5, 1.0),
            "tensors": [float(fact.tensors) for fact in facts],
            "known_network": [fact.known for fact in facts],
            "known_batch": batch.notna(),
            "link": links,
        },
        index=cells.index,
    )
    return table.assign(**{name: np.asarray(value, dtype=float) for name, value in flags.items()})
