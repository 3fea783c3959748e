"""A study's published figures, checked row by row, and what a row says of its machine; guessed as a last resort."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from sweetspot.cells import CELL_COLUMNS
from sweetspot.errors import refuse
from sweetspot.frameworks import ALWAYS_COMPILED
from sweetspot.spelling import slipped
from sweetspot.study.base import DateText
from sweetspot.study.instances import Instance, Interconnect, Network
from sweetspot.throughput.csv_table import CsvRow, read_rows, require_distinct, row_origin
from sweetspot.warnings import warning

# A hundred thousand devices of 1e15 FLOP/s make 1e20 FLOP/s, and a sample of the smallest network that anyone trains
# takes 1e5 FLOP: more than 1e15 samples a second is impossible. Less than 1e-12 is one in thirty thousand years.
RATES = (1e-12, 1e15)


class PublishedRow(CsvRow):
    """A row of throughput.csv: a figure (`unit` per second) and what its source says of machine and software."""

    gpu: str
    instance: str = ""
    gpus: int
    framework: str = ""
    framework_version: str = ""
    benchmark: str = ""
    model: str
    batch_size: int | None = None
    precision: str = ""
    variant: str = ""
    dataset: str = ""
    images_per_s: float = Field(ge=RATES[0], le=RATES[1])
    source: str
    note: str = ""
    unit: str = "images"
    interconnect: Literal[Interconnect, ""] = ""
    network: Literal[Network, ""] = ""
    nodes: int | None = None
    xla: Literal["yes", "no", ""] = ""
    as_of: DateText = ""
    """Date of the software, where its version does not tell it"""
    # Where the source itself bounds its figure, such as by rounding; of a count both bounds are the figure.
    images_per_s_low: float | None = None
    images_per_s_high: float | None = None

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message where bounds are not around the speed."""
        low, high = self.images_per_s_low, self.images_per_s_high
        if (low or high) and not (low and high and low <= self.images_per_s <= high):
            yield f"images_per_s_low and images_per_s_high both, around {self.images_per_s:g}, not {low}, {high}"


class EfficiencyRow(CsvRow):
    """A row of efficiency.csv: a scaling efficiency, throughput of n devices / (n x throughput of one)."""

    base_instance: str
    instance: str
    gpus: int
    model: str
    batch_size: int
    precision: str
    variant: str
    efficiency: float = Field(le=1.2)
    source: str

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message if n devices would be slower than one."""
        if self.efficiency * self.gpus < 1:
            yield f"an efficiency of at least 1 / gpus (less than one device does?), not {self.efficiency:g}"


MACHINE_FACTS = ("interconnect", "network", "xla")  # what a source says of a machine; empty: not stated
RATE_BOUNDS = ("images_per_s_low", "images_per_s_high")
GAP = 1.10  # a prediction outside the published figures by more than this factor gets a warning
BOARD = re.compile(r"sxm|dgx|hgx|\bp3(dn)?\.|\bp4de?\.|\bp5\.", re.IGNORECASE)  # data-centre boards have full NVLink
SEVERAL_NODES = re.compile(r"num_workers|horovod|multi-node", re.IGNORECASE)
XLA = re.compile(r"(?<!no )(?<!without )\bxla\b", re.IGNORECASE)
INDEPENDENT = re.compile(r"variable_update[= ]independent")


def read_published(path: Path) -> pd.DataFrame:
    """Read a study's throughput.csv, a column for each field of PublishedRow. Raises UserError for wrong cells."""
    return read_rows(path, PublishedRow)


def read_efficiency(path: Path) -> pd.DataFrame:
    """Read a study's efficiency.csv, published scaling efficiencies (speed of n devices / n x speed of one), from
    which the speed of a multi-device machine is scaled up: columns base_instance, instance, gpus, model, batch_size,
    precision, variant, efficiency, source. No rows if the file is missing.
    """
    if not path.is_file():
        return pd.DataFrame(columns=list(EfficiencyRow.model_fields))
    table = read_rows(path, EfficiencyRow)
    require_distinct(table, [name for name in table.columns if name not in ("efficiency", "source")], path)
    return table


def published_cells(published: pd.DataFrame, instances: Mapping[str, Instance], path: Path) -> pd.DataFrame:
    """Select the published speeds that can be used as they are: those of a machine of the study itself, with a stated
    batch. Other rows only help to estimate missing figures.

    Parameters
    ----------
    published, instances, path
        Rows of throughput.csv (`read_published`); the study's machines by name; the file, for error messages.
        UserError if a cell occurs twice, uses more devices than its machine has or names a misspelt machine, or if
        rows of one model count different things (images and tokens, say).
    """
    is_declared = published["instance"].isin(list(instances))
    cells = published[is_declared & published["batch_size"].notna()]
    require_distinct(cells, list(CELL_COLUMNS), path)
    refuse(
        f"{path}: {model} is counted in {' and in '.join(units)}; expected one unit a model"
        for model, units in published.groupby("model")["unit"].unique().items()
        if len(units) > 1
    )
    faults = []
    for row in cells.itertuples():
        machine = instances[row.instance]
        if row.gpus > machine.gpus:
            faults.append((row.Index, f"gpus is {row.gpus}; {row.instance} has {machine.gpus}"))
        if row.gpu.casefold() != machine.gpu.casefold():
            faults.append((row.Index, f"gpu is {row.gpu!r}; {row.instance} has {machine.gpu!r}"))
    for row in published[~is_declared].itertuples():
        # Only a machine of the same device, spelt alike but for a slip, is surely meant.
        candidates = [name for name, machine in instances.items() if machine.gpu.casefold() == str(row.gpu).casefold()]
        intended = [name for name in candidates if slipped(row.instance, [name]) or slipped(name, [row.instance])]
        if intended:
            faults.append((row.Index, f"instance is {row.instance!r}; did you mean '{intended[0]}'?"))
    refuse(f"{row_origin(published, row, path)}: {message}" for row, message in faults)
    return cells


def against_published(predicted: float, devices: str, published: pd.Series, batches: pd.Series) -> list[dict[str, str]]:
    """Check a scaled-up speed against published ones of the same machine, and return [one warning] for the report if
    it lies outside their range by more than the factor GAP, else [].

    Parameters
    ----------
    predicted, devices, published, batches
        Predicted images/s of all devices together; their number and name, such as `8 x Tesla V100`; images/s of the
        same devices, model, framework and precision (may be empty), and their batches per device.
    """
    if published.empty:
        return []
    low, high = float(published.min()), float(published.max())
    if low / GAP <= predicted <= high * GAP:
        return []
    batch_texts = [f"{batch:.0f}" for batch in sorted(batches.dropna().unique())]
    batch_texts += ["not stated"] if batches.isna().any() else []
    span = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    extreme, value = ("highest", high) if predicted > high else ("lowest", low)
    message = f"published of {devices} are {span} (batch {', '.join(batch_texts)}), at {predicted:,.0f} predicted: "
    return [warning("against_published", f"{message}{predicted / value:.2f} times the {extreme}")]


def guessed_interconnect(gpu: str, instance: str = "", note: str = "") -> str:
    """Guess how a machine's devices are linked, which limits scaling: `nvlink`, `nvlink_bridge` or `pcie`, by names.

    Parameters
    ----------
    gpu, instance, note
        Name of the device, name of the machine and note of a published row.
    """
    if BOARD.search(gpu) or BOARD.search(instance):
        return "nvlink"
    return "nvlink_bridge" if "nvlink" in f"{instance} {note}".lower() else "pcie"


def with_machine_facts(published: pd.DataFrame) -> pd.DataFrame:
    """Add what the scaling model must know of each published row's machine (link, network, number of nodes, XLA), as
    the row states it or else guessed from names and notes. Read: gpu, instance, note, and where given framework, nodes
    and MACHINE_FACTS. Added: interconnect, network (null: not stated), nodes (Int64; 1 unless stated, null where the
    text tells of several without a number), xla (bool: stated, in the note, or of a framework that always compiles)
    and exchange (False where the note says that the devices train independently).
    """
    names = ["gpu", "instance", "note"]
    text = published.reindex(columns=[*names, "framework", *MACHINE_FACTS]).astype(object).fillna("").astype(str)
    note = text["note"]
    guesses = [guessed_interconnect(*row) for row in text[names].itertuples(index=False)]
    several = text["instance"].str.contains("distributed", case=False) | note.str.contains(SEVERAL_NODES)
    nodes = published.reindex(columns=["nodes"])["nodes"].astype("Int64")
    compiled = note.str.contains(XLA) | text["framework"].str.lower().isin(ALWAYS_COMPILED)
    return published.assign(
        interconnect=text["interconnect"].where(
            text["interconnect"] != "", pd.Series(guesses, published.index, dtype=object)
        ),
        network=text["network"].replace("", None),
        nodes=nodes.mask(nodes.isna() & ~several, 1),
        xla=(text["xla"] == "yes") | ((text["xla"] == "") & compiled),
        exchange=~note.str.contains(INDEPENDENT),
    )
