"""A study's published figures, checked row by row, and what a row says of its machine; guessed as a last resort."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.frameworks import ALWAYS_COMPILED
from sweetspot.spelling import slipped
from sweetspot.study.instances import Interconnect, Network
from sweetspot.throughput.csv_table import CsvFaults, read_rows
from sweetspot.throughput.stand_in import AS_OF
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance


THROUGHPUT_CSV = {
    "gpu": str, "instance": str, "gpus": int, "framework": str, "framework_version": str, "benchmark": str,
    "model": str, "batch_size": int, "precision": str, "variant": str, "dataset": str, "images_per_s": float,
    "source": str, "note": str,
}  # fmt: skip
EFFICIENCY_CSV = {
    "base_instance": str, "instance": str, "gpus": int, "model": str, "batch_size": int, "precision": str,
    "variant": str, "efficiency": float, "source": str,
}  # fmt: skip
# Columns that a throughput.csv may have: what is counted per second, what the source says of the machine, and the date
# of the software, where its version does not tell it (stand_in.py).
OPTIONAL_TEXT = {"unit": "images", "interconnect": "", "network": "", "nodes": "", "xla": "", "as_of": ""}
USER_BENCHMARK = "own"  # as `benchmark`: timed by the person who wrote the row
# Columns that a throughput.csv may have where the source itself bounds its figure: by the rounding of the hours that it
# prints, or not at all where the figure is a count (both bounds are the figure).
RATE_BOUNDS = ("images_per_s_low", "images_per_s_high")
# What optional columns may hold; empty: not stated.
FACT_CHOICES: dict[str, tuple[str, ...]] = {
    "interconnect": get_args(Interconnect),
    "network": get_args(Network),
    "xla": ("yes", "no"),
}
MAX_EFFICIENCY = 1.2
# A hundred thousand devices of 1e15 FLOP/s make 1e20 FLOP/s, and a sample of the smallest network that anyone trains
# takes 1e5 FLOP: more than 1e15 samples a second is impossible. Less than 1e-12 is one in thirty thousand years.
RATES = (1e-12, 1e15)
GAP = 1.10  # a prediction outside the published figures by more than this factor gets a warning
BOARD = re.compile(r"sxm|dgx|hgx|\bp3(dn)?\.|\bp4de?\.|\bp5\.", re.IGNORECASE)  # data-centre boards have full NVLink
SEVERAL_NODES = re.compile(r"num_workers|horovod|multi-node", re.IGNORECASE)
XLA = re.compile(r"(?<!no )(?<!without )\bxla\b", re.IGNORECASE)
INDEPENDENT = re.compile(r"variable_update[= ]independent")


def row_warnings(row: Any) -> list[dict[str, str]]:
    """List the warnings of a row of a published table: those of the log reader, and its note as `note`."""
    note = getattr(row, "note", None)
    return joined(getattr(row, "warnings", None), [warning("note", note)] if isinstance(note, str) and note else [])


def read_published(path: Path) -> pd.DataFrame:
    """Read a study's throughput.csv: the columns of THROUGHPUT_CSV, OPTIONAL_TEXT and RATE_BOUNDS.

    Raises UserError, one sentence for each mistake, for a row without a source, with a machine fact that is not in
    FACT_CHOICES, a figure outside RATES, a wrong date, or bounds that do not enclose the figure.
    """
    faults = CsvFaults(path)
    table = read_rows(faults, THROUGHPUT_CSV, ("batch_size",), OPTIONAL_TEXT | dict.fromkeys(RATE_BOUNDS, ""))
    faults.require_choices(table, FACT_CHOICES)
    rates, dates = table["images_per_s"], table["as_of"]
    outside = rates.notna() & ~rates.between(*RATES)
    faults.add_cells(rates, outside, "{:g} to {:g}, what machines can do".format(*RATES))
    faults.add_cells(dates, (dates != "") & ~dates.str.fullmatch(AS_OF), "YYYY, YYYY-MM or YYYY-MM-DD, or nothing")
    table["nodes"] = faults.parse_numbers(table["nodes"], int, True)
    count = len(faults.sentences)
    for name in RATE_BOUNDS:
        table[name] = faults.parse_numbers(table[name], float, True)
    low, high = (table[name] for name in RATE_BOUNDS)
    if len(faults.sentences) == count:  # A bound that is no number would be missed beside the other.
        has_bounds = rates.notna() & (low.notna() | high.notna())
        for row in table[has_bounds & ~((low <= rates) & (rates <= high))].itertuples():
            bounds = f"{row.images_per_s_low:g}, {row.images_per_s_high:g}"
            message = f"{' and '.join(RATE_BOUNDS)} are {bounds}; expected both, around {row.images_per_s:g}"
            faults.add_row(row.Index, message)
    faults.require_sources(table)
    faults.end()
    return table


def basis_of(benchmark: str) -> str:
    """Return the basis of a row of throughput.csv: `own` where its benchmark is that, else `published`."""
    return USER_BENCHMARK if benchmark.strip().lower() == USER_BENCHMARK else "published"


def units_of(published: pd.DataFrame, path: Path) -> dict[str, str]:
    """Return the unit of each model. Raises UserError where two rows of a model count different things."""
    for model, units in published.groupby("model")["unit"].unique().items():
        if len(units) > 1:
            raise UserError(f"{path}: {model} is counted in {units[0]} and in {units[1]}; expected one unit a model")
    return dict(zip(published["model"], published["unit"], strict=True))


def read_efficiency(path: Path) -> pd.DataFrame:
    """Read a study's efficiency.csv; empty if it is missing.

    Raises UserError above MAX_EFFICIENCY, or for a repeated cell.
    """
    if not path.is_file():
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in EFFICIENCY_CSV.items()})
    faults = CsvFaults(path)
    table = read_rows(faults, EFFICIENCY_CSV)
    efficiency = table["efficiency"]
    faults.add_cells(efficiency, efficiency > MAX_EFFICIENCY, f"at most {MAX_EFFICIENCY}, one device's share is 1")
    faults.require_distinct(table, [name for name in table.columns if name not in ("efficiency", "source")])
    faults.end()
    return table


def published_cells(published: pd.DataFrame, instances: Mapping[str, "Instance"], path: Path) -> pd.DataFrame:
    """Select the rows of declared instances with a stated batch: the study's own figures.

    Parameters
    ----------
    published
        Rows of `read_published`; those of other instances may only stand in.
    instances
        The study's machines by name.
    path
        File for error messages.

    Raises
    ------
    UserError
        If a cell stands twice, uses more devices than its instance has, or names a misspelt instance.

    """
    is_declared = published["instance"].isin(list(instances))
    cells, faults = published[is_declared & published["batch_size"].notna()], CsvFaults(path)
    faults.require_distinct(cells, ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant"])
    for row in cells.itertuples():
        if row.gpus > instances[row.instance].gpus:
            message = f"gpus is {row.gpus}; {row.instance} has {instances[row.instance].gpus}"
            faults.add(f"{faults.row_origin(cells, row.Index)}: {message}")
    for row in published[~is_declared].itertuples():
        # Only a machine of the same device, spelt alike but for a slip, is surely meant.
        twins = [name for name, machine in instances.items() if machine.gpu.casefold() == str(row.gpu).casefold()]
        intended = slipped(row.instance, twins) or next((name for name in twins if slipped(name, [row.instance])), None)
        if intended is not None:
            message = f"instance is {row.instance!r}; did you mean '{intended}'?"
            faults.add(f"{faults.row_origin(published, row.Index)}: {message}")
    faults.end()
    return cells


def against_published(predicted: float, devices: str, published: pd.Series, batches: pd.Series) -> list[dict[str, str]]:
    """Warn of a prediction that lies outside the published figures by more than GAP.

    Parameters
    ----------
    predicted
        Images/s of all devices.
    devices
        In words, such as `8 x Tesla V100`.
    published
        Images/s of the same devices, model, framework and precision; may be empty.
    batches
        Their batch per device.

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
    """Guess from names: `nvlink` for a data-centre board, `nvlink_bridge` where the text says NVLink, else `pcie`.

    Parameters
    ----------
    gpu, instance, note
        As a published row names device and machine, and what it notes.
    """
    if BOARD.search(gpu) or BOARD.search(instance):
        return "nvlink"
    return "nvlink_bridge" if "nvlink" in f"{instance} {note}".lower() else "pcie"


def with_machine_facts(published: pd.DataFrame) -> pd.DataFrame:
    """Add what published rows say of their machines.

    Parameters
    ----------
    published
        Columns gpu, instance, note, and where known framework, nodes and those of FACT_CHOICES.

    Returns
    -------
    DataFrame
        With interconnect (text), interconnect_guessed (bool), network (null: not stated), nodes (Int64; 1 unless
        stated, null where the text tells of several without a number), xla (bool: stated, in the note, or of a
        framework that always compiles) and exchange (False where the note says that devices train independently).

    """
    columns = published.reindex(columns=["gpu", "instance", "note", "framework", *FACT_CHOICES]).astype(object)
    text = columns.where(columns.notna(), "").astype(str)
    interconnect, note = text["interconnect"], text["note"]
    guess = [guessed_interconnect(*row) for row in text[["gpu", "instance", "note"]].itertuples(index=False)]
    several = text["instance"].str.contains("distributed", case=False) | note.str.contains(SEVERAL_NODES)
    nodes = published["nodes"] if "nodes" in published.columns else pd.Series(pd.NA, published.index)
    compiled = note.str.contains(XLA) | text["framework"].str.lower().isin(ALWAYS_COMPILED)
    return published.assign(
        interconnect=interconnect.where(interconnect != "", pd.Series(guess, published.index, dtype=object)),
        interconnect_guessed=interconnect == "",
        network=text["network"].where(text["network"] != "", None),
        nodes=nodes.astype("Int64").mask(nodes.isna() & ~several, 1),
        xla=(text["xla"] == "yes") | ((text["xla"] == "") & compiled),
        exchange=~note.str.contains(INDEPENDENT),
    )
