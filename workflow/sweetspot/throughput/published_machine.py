"""What a published row says of its machine and its program: interconnect, nodes, XLA; guessed only as a last resort.

A column of the row itself counts first. Published tables mostly lack them and say such things in the names of devices
and machines and in the note, so this module reads names. What it read so is marked in `interconnect_guessed`. A machine
that a study declares never comes here: its own keys say it.
"""

import re
from typing import get_args

import pandas as pd

from sweetspot.study.frameworks import ALWAYS_COMPILED
from sweetspot.study.instances import Interconnect, Network

# Columns that a throughput.csv (and of them `xla` an efficiency.csv) may have, and what each may hold; empty: not said.
STATED: dict[str, tuple[str, ...]] = {"interconnect": get_args(Interconnect), "network": get_args(Network)}
STATED["xla"] = ("yes", "no")
MACHINE_COLUMNS = ("interconnect", "interconnect_guessed", "network", "nodes", "xla", "exchange")
BOARD = re.compile(r"sxm|dgx|hgx|\bp3(dn)?\.|\bp4de?\.|\bp5\.", re.IGNORECASE)  # data-centre boards have full NVLink
SEVERAL_NODES = re.compile(r"num_workers|horovod|multi-node", re.IGNORECASE)
XLA = re.compile(r"(?<!no )(?<!without )\bxla\b", re.IGNORECASE)
INDEPENDENT = re.compile(r"variable_update[= ]independent")


def guessed_interconnect(gpu: str, instance: str = "", note: str = "") -> str:
    """`nvlink` for a data-centre board, `nvlink_bridge` where the words say NVLink, else `pcie`: from names only."""
    if BOARD.search(gpu) or BOARD.search(instance):
        return "nvlink"
    return "nvlink_bridge" if "nvlink" in f"{instance} {note}".lower() else "pcie"


def with_machine_facts(published: pd.DataFrame) -> pd.DataFrame:
    """Published rows with MACHINE_COLUMNS; index kept.

    published: gpu, instance, note, and where known framework and the columns of STATED and `nodes`. Added:
    interconnect (text), interconnect_guessed (bool), network (text, null: not said), nodes (Int64; 1 unless stated,
    null where the words tell of several without a number), xla (bool: stated, a word of the note, or JAX, which always
    compiles), exchange (bool: False where the note says that the devices train independently).
    """
    text = {name: _text(published, name) for name in ("gpu", "instance", "note", "framework", *STATED)}
    stated = text["interconnect"]
    names = zip(text["gpu"], text["instance"], text["note"], strict=True)
    guess = pd.Series([guessed_interconnect(*row) for row in names], published.index, dtype=object)
    several = text["instance"].str.contains("distributed", case=False) | text["note"].str.contains(SEVERAL_NODES)
    nodes = published["nodes"] if "nodes" in published.columns else pd.Series(pd.NA, published.index)
    compiled = text["note"].str.contains(XLA) | text["framework"].str.lower().isin(ALWAYS_COMPILED)
    return published.assign(
        interconnect=stated.where(stated != "", guess),
        interconnect_guessed=(stated == "").astype(bool),
        network=text["network"].where(text["network"] != "", None),
        nodes=nodes.astype("Int64").mask(nodes.isna() & ~several, 1),
        xla=(text["xla"] == "yes") | ((text["xla"] == "") & compiled),
        exchange=~text["note"].str.contains(INDEPENDENT),
    )


def _text(table: pd.DataFrame, name: str) -> pd.Series:
    if name not in table.columns:
        return pd.Series("", table.index, dtype=object)
    return table[name].astype(object).where(table[name].notna(), "").astype(str).astype(object)
