"""A study's published figures: throughput.csv and efficiency.csv, checked row by row."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.errors import Faults, UserError, refuse
from sweetspot.study.spelling import near, slipped
from sweetspot.throughput.published_machine import check_stated
from sweetspot.throughput.software_dates import AS_OF
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

THROUGHPUT_CSV = {
    "gpu": str,
    "instance": str,
    "gpus": int,
    "framework": str,
    "framework_version": str,
    "benchmark": str,
    "model": str,
    "batch_size": int,
    "precision": str,
    "variant": str,
    "dataset": str,
    "images_per_s": float,
    "source": str,
    "note": str,
}
EFFICIENCY_CSV = {
    "base_instance": str,
    "instance": str,
    "gpus": int,
    "model": str,
    "batch_size": int,
    "precision": str,
    "variant": str,
    "efficiency": float,
    "source": str,
}
# Columns that a throughput.csv may have: what is counted per second, what the source says of the machine, and the date
# of the software, where its version does not tell it (software_dates.py).
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


def noted(note: str | float | None) -> list[dict[str, str]]:
    """The remark of a published row as a warning of the rule `note`; none where it is empty or missing."""
    return [warning("note", note)] if isinstance(note, str) and note else []


def remarks(row: Any) -> list[dict[str, str]]:
    """What is told of a row of a published table: the warnings of the log reader, and the row's note."""
    return joined(getattr(row, "warnings", None), noted(getattr(row, "note", None)))


def read_table(
    path: Path, columns: Mapping[str, type], optional: Iterable[str] = (), defaults: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """`read_rows`, ended. Raises UserError with file, line, column and value found, a sentence a mistake."""
    faults = Faults()
    table = read_rows(path, columns, faults, optional, defaults)
    faults.end()
    return table


def read_rows(
    path: Path,
    columns: Mapping[str, type],
    faults: Faults,
    optional: Iterable[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read a CSV whose columns are known; what is wrong in its cells is added to `faults`, and such numbers are NaN.

    Raises UserError where the table has no rows and columns to look at.
    Numbers must be finite and positive; a number in `optional` may be empty. Text is kept as it stands.
    A text column of `defaults` may be absent or empty and then has its default. Further columns are refused: a
    misspelt one would be lost silently.
    """
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: the file is needed and does not exist") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a CSV table: {' '.join(str(error).split())}") from None
    missing = [name for name in columns if name not in text.columns]
    unknown = [name for name in text.columns if name not in {*columns, *(defaults or {})}]
    meant = {name: near(name, missing) or near(name, defaults or ()) for name in unknown}
    expected = f"expected {', '.join(columns)}"
    wrong = [f"'{name}' is missing; {expected}" for name in missing if name not in meant.values()]
    for name, other in meant.items():
        hint = expected if other is None else f"did you mean '{other}'?"
        wrong.append(f"'{name}' is unknown{f' and {other!r} is missing' if other in missing else ''}; {hint}")
    refuse(f"{path}, line 1: column {words}" for words in wrong)
    table = text[list(columns)].copy()
    for name, default in (defaults or {}).items():
        table[name] = text[name].replace("", default) if name in text.columns else default
    for name, kind in columns.items():
        if kind is not str:
            table[name] = _numbers(path, text[name], kind, name in optional, faults)
    return table


def add_rows(faults: Faults, path: Path, wrong: Any, say: Callable[[int], str]) -> None:
    """A mistake for each row of a table that is `wrong` (bool, one a row); `say`: what stands there, and what may."""
    for row in np.flatnonzero(np.asarray(wrong, dtype=bool)):
        faults.add(f"{path}, line {row + 2}: {say(int(row))}")


def _numbers(path: Path, column: pd.Series, kind: type, empty_allowed: bool, faults: Faults) -> pd.Series:
    stripped = column.str.strip()
    empty = stripped == ""
    numbers = pd.to_numeric(stripped.where(~empty), errors="coerce")
    bad = ~((numbers > 0) & (numbers < math.inf))
    if kind is int:
        bad |= numbers.notna() & ((numbers % 1 != 0) | (numbers > MOST))
    if empty_allowed:
        bad &= ~empty
    if bad.any():
        expected = f"a whole number above 0, at most {MOST:,}" if kind is int else "a number above 0"
        add_rows(faults, path, bad, lambda row: f"{column.name} is {column.iloc[row]!r}; expected {expected}")
        return numbers.where(~bad)
    return numbers.astype("Int64" if empty_allowed and kind is int else kind)


def read_published(path: Path) -> pd.DataFrame:
    """A study's throughput.csv as a table of the columns of THROUGHPUT_CSV, OPTIONAL_TEXT and OWN_ENDS.

    Raises UserError for a row without a source, whose interconnect, network, xla or nodes is none that there is, whose
    figure no machine can reach, whose date is none, or whose ends do not enclose its figure.
    """
    faults = Faults()
    optional = OPTIONAL_TEXT | dict.fromkeys(OWN_ENDS, "")
    table = read_rows(path, THROUGHPUT_CSV, faults, OPTIONAL_NUMBERS, optional)
    with faults.gather():
        check_stated(path, table)
    _check_rates(path, table, faults)
    dated = (table["as_of"] == "") | table["as_of"].str.fullmatch(AS_OF)
    said = "expected YYYY, YYYY-MM or YYYY-MM-DD, or nothing"
    add_rows(faults, path, ~dated, lambda row: f"as_of is {table['as_of'].iloc[row]!r}; {said}")
    _check_ends(path, table, faults)
    table["nodes"] = _numbers(path, table["nodes"], int, True, faults)
    check_sources(path, table, faults)
    faults.end()
    return table


def basis_of(benchmark: str) -> str:
    """The basis of a row of throughput.csv: `own` where its benchmark is that, else `published`."""
    return OWN if benchmark.strip().lower() == OWN else "published"


def units_of(published: pd.DataFrame, path: Path) -> dict[str, str]:
    """The unit of each model. published: model, unit, index of the rows of `path`.

    Raises UserError where two rows of a model count different things.
    """
    for model, rows in published.groupby("model"):
        other = rows[rows["unit"] != rows["unit"].iloc[0]]
        if len(other):
            raise UserError(
                f"{path}: {model} is counted in {rows['unit'].iloc[0]} and in {other['unit'].iloc[0]}; "
                "expected one unit a model"
            )
    return dict(zip(published["model"], published["unit"], strict=True))


def check_sources(path: Path, table: pd.DataFrame, faults: Faults) -> None:
    """Add the rows that do not say where their figure comes from."""
    add_rows(faults, path, table["source"].str.strip() == "", lambda _: "source is empty; expected its origin")


def _check_rates(path: Path, table: pd.DataFrame, faults: Faults) -> None:
    low, high = RATES
    rates = table["images_per_s"]
    said = f"expected {low:g} to {high:g}, what machines can do"
    wrong = rates.notna() & ~rates.between(low, high)
    add_rows(faults, path, wrong, lambda row: f"images_per_s is {rates.iloc[row]:g}; {said}")


def _check_ends(path: Path, table: pd.DataFrame, faults: Faults) -> None:
    """Make the ends of a source's own figures numbers; add those that do not enclose the figure."""
    unreadable = len(faults.sentences)
    for name in OWN_ENDS:
        table[name] = _numbers(path, table[name], float, True, faults)
    if len(faults.sentences) > unreadable:  # an end that is no number would be missed beside the other
        return
    (low, high), rates = (table[name] for name in OWN_ENDS), table["images_per_s"]
    wrong = rates.notna() & (low.notna() | high.notna()) & ~((low <= rates) & (rates <= high))
    add_rows(
        faults,
        path,
        wrong,
        lambda row: (
            f"images_per_s_low and images_per_s_high are {low.iloc[row]:g}, {high.iloc[row]:g}; "
            f"expected both, around {rates.iloc[row]:g}"
        ),
    )


def read_efficiency(path: Path) -> pd.DataFrame:
    """A study's efficiency.csv with `framework` and `xla` (text, may be empty); empty where the study has none.

    Raises UserError above 1.2, for an xla that is neither yes nor no, or for a repeated cell.
    """
    if not path.is_file():
        columns = EFFICIENCY_CSV | dict.fromkeys(EFFICIENCY_TEXT, str)
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in columns.items()})
    faults = Faults()
    table = read_rows(path, EFFICIENCY_CSV, faults, defaults=EFFICIENCY_TEXT)
    with faults.gather():
        check_stated(path, table)
    said = f"expected at most {MAX_EFFICIENCY}, one device's share is 1"
    shares = table["efficiency"]
    add_rows(faults, path, shares > MAX_EFFICIENCY, lambda row: f"efficiency is {shares.iloc[row]:g}; {said}")
    with faults.gather():
        _refuse_repeats(path, table, [name for name in table.columns if name not in ("efficiency", "source", "xla")])
    faults.end()
    return table


def frameworks_of(table: pd.DataFrame, instances: Mapping[str, "Instance"], asked: str) -> list[str]:
    """The framework of each row of `read_efficiency`: as stated, else its instance's, else the study's (`asked`)."""
    of_instance = {name: instance.framework or asked for name, instance in instances.items()}
    stated = table["framework"] if "framework" in table.columns else [""] * len(table)
    return [name or of_instance.get(instance, asked) for name, instance in zip(stated, table["instance"], strict=True)]


def _refuse_repeats(path: Path, table: pd.DataFrame, key: list[str]) -> None:
    cells = table[key].dropna()  # a number that could not be read makes no cell
    repeated = cells.duplicated().reindex(table.index, fill_value=False).to_numpy()
    faults = Faults()
    for row in map(int, np.flatnonzero(repeated)):
        found = table[key].iloc[row]
        first = int((table[key] == found).all(axis=1).to_numpy().argmax())
        what = ", ".join(f"{name}={value}" for name, value in found.items())
        here, there = _place(path, table, row), _place(path, table, first)
        there = there.removeprefix(f"{path}, ") if here.startswith(f"{path}, ") else there
        faults.add(f"{here}: the cell {what} stands in {there} too; keep one")
    faults.end()


def _place(path: Path, table: pd.DataFrame, row: int) -> str:
    """Where a row was read: the log that it says, else the line of the CSV file (whose rows keep their index)."""
    log = table["log"].iloc[row] if "log" in table.columns else None
    return str(log) if isinstance(log, str) else f"{path}, line {table.index[row] + 2}"


def published_cells(published: pd.DataFrame, instances: Mapping[str, "Instance"], path: Path) -> pd.DataFrame:
    """Rows of declared instances with a stated batch: the study's own figures (`basis_of`).

    Rows of instances that the study does not declare are only a pool for stand-ins. Raises UserError
    where a cell stands twice, uses more devices than its instance has, or names one that is misspelt.
    """
    own = published[published["instance"].isin(list(instances)) & published["batch_size"].notna()]
    faults = Faults()
    with faults.gather():
        _refuse_repeats(path, own, ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant"])
    for number, row in enumerate(own.itertuples()):
        has = instances[row.instance].gpus
        if row.gpus > has:
            faults.add(f"{_place(path, own, number)}: gpus is {row.gpus}; {row.instance} has {has}")
    with faults.gather():
        _refuse_slips(path, published[~published["instance"].isin(list(instances))], instances)
    faults.end()
    return own


def _refuse_slips(path: Path, pool: pd.DataFrame, instances: Mapping[str, "Instance"]) -> None:
    """Rows of a pool that surely mean a declared machine: of its device, and spelt like it but for a slip."""
    faults = Faults()
    for number, (name, gpu) in enumerate(zip(pool["instance"], pool["gpu"], strict=True)):
        alike = [key for key, machine in instances.items() if machine.gpu.casefold() == str(gpu).casefold()]
        meant = slipped(name, alike) or next((key for key in alike if slipped(key, [name])), None)
        if meant is not None:
            faults.add(f"{_place(path, pool, number)}: instance is {name!r}; did you mean '{meant}'?")
    faults.end()


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
