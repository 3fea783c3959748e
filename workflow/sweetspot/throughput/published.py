"""A study's published figures, checked row by row, and what a row says of its machine; guessed as a last resort."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from sweetspot.errors import Faults, UserError, refuse
from sweetspot.study.frameworks import ALWAYS_COMPILED
from sweetspot.study.instances import Interconnect, Network
from sweetspot.study.spelling import near, slipped
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
OWN = "own"  # as `benchmark`: timed by the person who wrote the row
# Columns that a throughput.csv may have where the source itself bounds its figure: by the rounding of the hours that it
# prints, or not at all where the figure is a count (both ends are the figure).
OWN_ENDS = ("images_per_s_low", "images_per_s_high")
# Columns that an efficiency.csv may have; a row without a framework is of its instance's, else of the study's.
EFFICIENCY_TEXT = {"framework": "", "xla": ""}
MAX_EFFICIENCY = 1.2
OPTIONAL_NUMBERS = frozenset({"batch_size"})
# A hundred thousand devices of 1e15 FLOP/s make 1e20 FLOP/s, and a sample of the smallest network that anyone trains
# takes 1e5 FLOP: more than 1e15 samples a second there cannot be. Less than 1e-12 is one in thirty thousand years.
RATES = (1e-12, 1e15)
MOST = 10**9  # of devices, nodes or samples in a batch
GAP = 1.10  # a prediction this far beyond the published figures is told


def remarks(row: Any) -> list[dict[str, str]]:
    """What is told of a row of a published table: the warnings of the log reader, and the row's note as `note`."""
    note = getattr(row, "note", None)
    return joined(getattr(row, "warnings", None), [warning("note", note)] if isinstance(note, str) and note else [])


class RowFaults(Faults):
    """Gathers what is wrong in the rows of a CSV file, by line and column."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def rows(self, wrong: Any, say: Callable[[int], str]) -> None:
        """A mistake for each row that is `wrong` (bool, one a row); `say`: what stands there, and what may."""
        for row in np.flatnonzero(np.asarray(wrong, dtype=bool)):
            self.add(f"{self.path}, line {row + 2}: {say(int(row))}")

    def cells(self, column: pd.Series, wrong: Any, expected: str) -> None:
        """A mistake for each cell of a column that is `wrong`."""
        told = [f"{value:g}" if isinstance(value, float) else repr(value) for value in column]
        self.rows(wrong, lambda row: f"{column.name} is {told[row]}; expected {expected}")

    def sources(self, table: pd.DataFrame) -> None:
        """The rows that do not say where their figure comes from."""
        self.rows(table["source"].str.strip() == "", lambda _: "source is empty; expected its origin")

    def stated(self, table: pd.DataFrame) -> None:
        """The cells of the columns of STATED that hold something else."""
        for name, allowed in STATED.items():
            if name in table.columns:
                wrong = ~table[name].isin(("", *allowed))
                self.cells(table[name], wrong, f"one of {', '.join(allowed)}, or nothing")

    def numbers(self, column: pd.Series, kind: type, empty_allowed: bool) -> pd.Series:
        """A text column as finite numbers above 0; NaN where a mistake is."""
        stripped = column.str.strip()
        empty = stripped == ""
        numbers = pd.to_numeric(stripped.where(~empty), errors="coerce")
        bad = ~((numbers > 0) & (numbers < math.inf))
        if kind is int:
            bad |= numbers.notna() & ((numbers % 1 != 0) | (numbers > MOST))
        if empty_allowed:
            bad &= ~empty
        self.cells(column, bad, f"a whole number above 0, at most {MOST:,}" if kind is int else "a number above 0")
        return numbers.where(~bad) if bad.any() else numbers.astype("Int64" if empty_allowed and kind is int else kind)


def read_table(
    path: Path, columns: Mapping[str, type], optional: Iterable[str] = (), defaults: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """`read_rows`, ended. Raises UserError with file, line, column and value found, a sentence a mistake."""
    faults = RowFaults(path)
    table = read_rows(faults, columns, optional, defaults)
    faults.end()
    return table


def read_rows(
    faults: RowFaults,
    columns: Mapping[str, type],
    optional: Iterable[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read a CSV whose columns are known; what is wrong in its cells is added to `faults`, and such numbers are NaN.

    Raises UserError where the table has no rows and columns to look at.
    Numbers must be finite and positive; a number in `optional` may be empty. Text is kept as it stands.
    A text column of `defaults` may be absent or empty and then has its default. Further columns are refused: a
    misspelt one would be lost silently.
    """
    path, defaults = faults.path, defaults or {}
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: the file is needed and does not exist") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a CSV table: {' '.join(str(error).split())}") from None
    missing = [name for name in columns if name not in text.columns]
    unknown = [name for name in text.columns if name not in {*columns, *defaults}]
    meant = {name: near(name, missing) or near(name, defaults) for name in unknown}
    expected = f"expected {', '.join(columns)}"
    wrong = [f"'{name}' is missing; {expected}" for name in missing if name not in meant.values()]
    for name, other in meant.items():
        hint = expected if other is None else f"did you mean '{other}'?"
        wrong.append(f"'{name}' is unknown{f' and {other!r} is missing' if other in missing else ''}; {hint}")
    refuse(f"{path}, line 1: column {words}" for words in wrong)
    table = text[list(columns)].copy()
    for name, default in defaults.items():
        table[name] = text[name].replace("", default) if name in text.columns else default
    for name, kind in columns.items():
        if kind is not str:
            table[name] = faults.numbers(text[name], kind, name in optional)
    return table


def read_published(path: Path) -> pd.DataFrame:
    """A study's throughput.csv as a table of the columns of THROUGHPUT_CSV, OPTIONAL_TEXT and OWN_ENDS.

    Raises UserError for a row without a source, whose interconnect, network, xla or nodes is none that there is, whose
    figure no machine can reach, whose date is none, or whose ends do not enclose its figure.
    """
    faults = RowFaults(path)
    table = read_rows(faults, THROUGHPUT_CSV, OPTIONAL_NUMBERS, OPTIONAL_TEXT | dict.fromkeys(OWN_ENDS, ""))
    faults.stated(table)
    rates = table["images_per_s"]
    low, high = RATES
    wrong = rates.notna() & ~rates.between(low, high)
    faults.cells(rates, wrong, f"{low:g} to {high:g}, what machines can do")
    dated = (table["as_of"] == "") | table["as_of"].str.fullmatch(AS_OF)
    faults.cells(table["as_of"], ~dated, "YYYY, YYYY-MM or YYYY-MM-DD, or nothing")
    _read_ends(table, faults)
    table["nodes"] = faults.numbers(table["nodes"], int, True)
    faults.sources(table)
    faults.end()
    return table


def _read_ends(table: pd.DataFrame, faults: RowFaults) -> None:
    """Make the ends of a source's own figures numbers; add those that do not enclose the figure."""
    unreadable = len(faults.sentences)
    for name in OWN_ENDS:
        table[name] = faults.numbers(table[name], float, True)
    if len(faults.sentences) > unreadable:  # an end that is no number would be missed beside the other
        return
    (low, high), rates = (table[name] for name in OWN_ENDS), table["images_per_s"]
    told = " and ".join(OWN_ENDS)
    faults.rows(
        rates.notna() & (low.notna() | high.notna()) & ~((low <= rates) & (rates <= high)),
        lambda at: f"{told} are {low.iloc[at]:g}, {high.iloc[at]:g}; expected both, around {rates.iloc[at]:g}",
    )


def basis_of(benchmark: str) -> str:
    """The basis of a row of throughput.csv: `own` where its benchmark is that, else `published`."""
    return OWN if benchmark.strip().lower() == OWN else "published"


def units_of(published: pd.DataFrame, path: Path) -> dict[str, str]:
    """The unit of each model. published: model, unit, index of the rows of `path`.

    Raises UserError where two rows of a model count different things.
    """
    for model, units in published.groupby("model")["unit"].unique().items():
        if len(units) > 1:
            words = f"{model} is counted in {units[0]} and in {units[1]}; expected one unit a model"
            raise UserError(f"{path}: {words}")
    return dict(zip(published["model"], published["unit"], strict=True))


def read_efficiency(path: Path) -> pd.DataFrame:
    """A study's efficiency.csv with `framework` and `xla` (text, may be empty); empty where the study has none.

    Raises UserError above 1.2, for an xla that is neither yes nor no, or for a repeated cell.
    """
    if not path.is_file():
        columns = EFFICIENCY_CSV | dict.fromkeys(EFFICIENCY_TEXT, str)
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in columns.items()})
    faults = RowFaults(path)
    table = read_rows(faults, EFFICIENCY_CSV, defaults=EFFICIENCY_TEXT)
    faults.stated(table)
    too_high = table["efficiency"] > MAX_EFFICIENCY
    faults.cells(table["efficiency"], too_high, f"at most {MAX_EFFICIENCY}, one device's share is 1")
    _add_repeats(faults, table, [name for name in table.columns if name not in ("efficiency", "source", "xla")])
    faults.end()
    return table


def frameworks_of(table: pd.DataFrame, instances: Mapping[str, "Instance"], asked: str) -> list[str]:
    """The framework of each row of `read_efficiency`: as stated, else its instance's, else the study's (`asked`)."""
    of_instance = {name: instance.framework or asked for name, instance in instances.items()}
    stated = table["framework"] if "framework" in table.columns else [""] * len(table)
    return [name or of_instance.get(instance, asked) for name, instance in zip(stated, table["instance"], strict=True)]


def _add_repeats(faults: RowFaults, table: pd.DataFrame, key: list[str]) -> None:
    cells = table[key].dropna()  # a number that could not be read makes no cell
    repeated = cells.duplicated().reindex(table.index, fill_value=False).to_numpy()
    for row in map(int, np.flatnonzero(repeated)):
        found = table[key].iloc[row]
        first = int((table[key] == found).all(axis=1).to_numpy().argmax())
        what = ", ".join(f"{name}={value}" for name, value in found.items())
        here, there = _place(faults.path, table, row), _place(faults.path, table, first)
        there = there.removeprefix(f"{faults.path}, ") if here.startswith(f"{faults.path}, ") else there
        faults.add(f"{here}: the cell {what} stands in {there} too; keep one")


def _place(path: Path, table: pd.DataFrame, row: int) -> str:
    """Where a row was read: the log that it says, else the line of the CSV file (whose rows keep their index)."""
    log = table["log"].iloc[row] if "log" in table.columns else None
    return str(log) if isinstance(log, str) else f"{path}, line {table.index[row] + 2}"


def published_cells(published: pd.DataFrame, instances: Mapping[str, "Instance"], path: Path) -> pd.DataFrame:
    """Rows of declared instances with a stated batch: the study's own figures (`basis_of`).

    Rows of instances that the study does not declare are only a pool for stand-ins. Raises UserError
    where a cell stands twice, uses more devices than its instance has, or names one that is misspelt.
    """
    declared = published["instance"].isin(list(instances))
    own, pool, faults = published[declared & published["batch_size"].notna()], published[~declared], RowFaults(path)
    _add_repeats(faults, own, ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant"])
    for number, row in enumerate(own.itertuples()):
        has = instances[row.instance].gpus
        if row.gpus > has:
            faults.add(f"{_place(path, own, number)}: gpus is {row.gpus}; {row.instance} has {has}")
    for number, (name, gpu) in enumerate(zip(pool["instance"], pool["gpu"], strict=True)):
        # one that surely means a declared machine: of its device, and spelt like it but for a slip
        alike = [key for key, machine in instances.items() if machine.gpu.casefold() == str(gpu).casefold()]
        meant = slipped(name, alike) or next((key for key in alike if slipped(key, [name])), None)
        if meant is not None:
            faults.add(f"{_place(path, pool, number)}: instance is {name!r}; did you mean '{meant}'?")
    faults.end()
    return own


def against_published(predicted: float, devices: str, published: pd.Series, batches: pd.Series) -> list[dict[str, str]]:
    """The warning `against_published`, or none where the prediction lies within the published figures (GAP).

    predicted: images/s of all devices. devices: in words, such as `8 x Tesla V100`. published: comparable figures
    (images/s; same device, count, model, framework and precision), empty where there are none; batches: per device.
    """
    if published.empty:
        return []
    low, high = float(published.min()), float(published.max())
    if low / GAP <= predicted <= high * GAP:
        return []
    known = sorted({int(batch) for batch in batches.dropna()})
    stated = [str(batch) for batch in known] + (["not stated"] if batches.isna().any() else [])
    span = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    far = f"{predicted / high:.2f} times the highest" if predicted > high else f"{predicted / low:.2f} times the lowest"
    words = f"published of {devices} are {span} (batch {', '.join(stated)}), at {predicted:,.0f} predicted: {far}"
    return [warning("against_published", words)]


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
