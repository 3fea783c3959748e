"""Throughput that nobody measured here: published, scaled, declared equivalent, or the nearest stand-in."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sweetspot.cells import Cell, weakest
from sweetspot.errors import UserError

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

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
DEFAULT_UNIT = {"unit": "images"}  # what is counted per second; a column that a study of other samples adds
MAX_EFFICIENCY = 1.2
OPTIONAL_NUMBERS = frozenset({"batch_size"})


class Figure(NamedTuple):
    """A throughput figure with its evidence."""

    images_per_s: float
    variant: str
    basis: str
    source: str
    warning: str | None


def read_table(
    path: Path, columns: Mapping[str, type], optional: Iterable[str] = (), defaults: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Read a CSV whose columns are known. Raises UserError with file, line, column and value found.

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
    for missing in [name for name in columns if name not in text.columns]:
        raise UserError(f"{path}, line 1: column '{missing}' is missing; expected {', '.join(columns)}")
    for unknown in [name for name in text.columns if name not in {*columns, *(defaults or {})}]:
        raise UserError(f"{path}, line 1: column '{unknown}' is unknown; expected {', '.join(columns)}")
    table = text[list(columns)].copy()
    for name, default in (defaults or {}).items():
        table[name] = text[name].replace("", default) if name in text.columns else default
    for name, kind in columns.items():
        if kind is not str:
            table[name] = _numbers(path, text[name], kind, empty_allowed=name in optional)
    return table


def _numbers(path: Path, column: pd.Series, kind: type, empty_allowed: bool) -> pd.Series:
    stripped = column.str.strip()
    empty = stripped == ""
    numbers = pd.to_numeric(stripped.where(~empty), errors="coerce")
    bad = ~((numbers > 0) & (numbers < math.inf))
    if kind is int:
        bad |= numbers.notna() & (numbers % 1 != 0)
    if empty_allowed:
        bad &= ~empty
    if bad.any():
        row = int(bad.to_numpy().argmax())
        expected = "a whole number above 0" if kind is int else "a number above 0"
        raise UserError(f"{path}, line {row + 2}: {column.name} is {column.iloc[row]!r}; expected {expected}")
    return numbers.astype("Int64" if empty_allowed else kind)


def read_published(path: Path) -> pd.DataFrame:
    """A study's throughput.csv as a table of THROUGHPUT_CSV's columns and `unit`; each row must name its source."""
    table = read_table(path, THROUGHPUT_CSV, OPTIONAL_NUMBERS, DEFAULT_UNIT)
    unsourced = (table["source"].str.strip() == "").to_numpy()
    if unsourced.any():
        raise UserError(f"{path}, line {int(unsourced.argmax()) + 2}: source is empty; expected its origin")
    return table


def read_efficiency(path: Path) -> pd.DataFrame:
    """A study's efficiency.csv; empty where the study has none. Raises UserError above 1.2 or for a repeated cell."""
    if not path.is_file():
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in EFFICIENCY_CSV.items()})
    table = read_table(path, EFFICIENCY_CSV)
    high = (table["efficiency"] > MAX_EFFICIENCY).to_numpy()
    if high.any():
        row = int(high.argmax())
        raise UserError(
            f"{path}, line {row + 2}: efficiency is {table['efficiency'].iloc[row]:g}; "
            f"expected at most {MAX_EFFICIENCY}, one device's share is 1"
        )
    _refuse_repeats(path, table, [name for name in EFFICIENCY_CSV if name not in ("efficiency", "source")])
    return table


def _refuse_repeats(path: Path, table: pd.DataFrame, key: list[str]) -> None:
    repeated = table.duplicated(key).to_numpy()
    if repeated.any():
        row = int(repeated.argmax())
        found = table[key].iloc[row]
        first = int((table[key] == found).all(axis=1).to_numpy().argmax())
        what = ", ".join(f"{name}={value}" for name, value in found.items())
        here, there = _place(path, table, row), _place(path, table, first)
        there = there.removeprefix(f"{path}, ") if here.startswith(f"{path}, ") else there
        raise UserError(f"{here}: the cell {what} stands in {there} too; keep one")


def _place(path: Path, table: pd.DataFrame, row: int) -> str:
    """Where a row was read: the log that it says, else the line of the CSV file (whose rows keep their index)."""
    log = table["log"].iloc[row] if "log" in table.columns else None
    return str(log) if isinstance(log, str) else f"{path}, line {table.index[row] + 2}"


def published_cells(published: pd.DataFrame, instances: Mapping[str, "Instance"], path: Path) -> pd.DataFrame:
    """Rows of declared instances with a stated batch: the study's own figures, basis `published`.

    Rows of instances that the study does not declare are only a pool for stand-ins. Raises UserError
    where a cell stands twice or uses more devices than its instance has.
    """
    own = published[published["instance"].isin(list(instances)) & published["batch_size"].notna()]
    _refuse_repeats(path, own, ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant"])
    for number, row in enumerate(own.itertuples()):
        has = instances[row.instance].gpus
        if row.gpus > has:
            raise UserError(f"{_place(path, own, number)}: gpus is {row.gpus}; {row.instance} has {has}")
    return own


def resolve_cells(
    question: "Question",
    instances: Mapping[str, "Instance"],
    own: pd.DataFrame,
    pool: pd.DataFrame,
    efficiency: pd.DataFrame,
) -> pd.DataFrame:
    """One row per (instance, model, batch) of the question that published evidence reaches.

    In this order: the study's own figure; the figure of the instance declared equivalent; n x the base
    instance's figure x the study's efficiency; a stand-in (`stand_in`). Columns: those of Cell, `gpu`,
    `images_per_s`, `basis`, `source`, `warning`.
    """
    resolver = _Resolver(question, instances, own, pool, efficiency)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            for batch_size in question.batches(model):
                figure = resolver.figure(name, model, batch_size)
                if figure is not None:
                    cell = Cell(
                        name,
                        instance.framework or question.framework,
                        model,
                        batch_size,
                        instance.gpus,
                        question.precision,
                        figure.variant,
                    )
                    rows.append({**cell._asdict(), "gpu": instance.gpu, **figure._asdict()})
    return pd.DataFrame(rows, columns=[*Cell._fields, "gpu", "images_per_s", "basis", "source", "warning"])


class _Resolver:
    """Looks evidence up for one (instance, model, batch), following declarations."""

    def __init__(
        self,
        question: "Question",
        instances: Mapping[str, "Instance"],
        own: pd.DataFrame,
        pool: pd.DataFrame,
        efficiency: pd.DataFrame,
    ) -> None:
        self.question, self.instances, self.pool = question, instances, pool
        asked = own[own["precision"] == question.precision]
        wanted = asked["instance"].map(lambda name: instances[name].framework or question.framework)
        asked = asked[asked["framework"] == wanted]
        keys = zip(asked["instance"], asked["model"], asked["batch_size"].astype(int), asked["gpus"], strict=True)
        self.own = {key: row for key, row in zip(keys, asked.itertuples(), strict=True)}
        scale = efficiency[efficiency["precision"] == question.precision].sort_values("efficiency")
        pairs = zip(scale["base_instance"], scale["instance"], scale["model"], scale["batch_size"], strict=True)
        self.efficiency = dict(zip(pairs, scale.itertuples(), strict=True))  # of several variants the best, as in 2018

    def figure(self, name: str, model: str, batch_size: int, seen: tuple[str, ...] = ()) -> Figure | None:
        instance = self.instances[name]
        if name in seen:
            raise UserError(f"instances: {' -> '.join((*seen, name))} declare each other; name one with figures")
        own = self.own.get((name, model, batch_size, instance.gpus))
        if own is not None:
            return Figure(own.images_per_s, own.variant, "published", own.source, own.note or None)
        if instance.equivalent_to is not None:
            other = self.figure(instance.equivalent_to, model, batch_size, (*seen, name))
            if other is None:
                return None
            declared = f"{name} declared equivalent to {instance.equivalent_to}"
            basis = weakest("equivalent", other.basis)
            return other._replace(basis=basis, source=f"{declared} ; {other.source}")
        if instance.base_instance is not None:
            return self._scaled(name, instance, model, batch_size, seen)
        return stand_in(self.pool, instance.gpu, model, batch_size, self.question) if instance.gpus == 1 else None

    def _scaled(
        self, name: str, instance: "Instance", model: str, batch_size: int, seen: tuple[str, ...]
    ) -> Figure | None:
        base = self.figure(instance.base_instance, model, batch_size, (*seen, name))
        row = self.efficiency.get((instance.base_instance, name, model, batch_size))
        if base is None or row is None:
            return None
        source = f"{row.gpus} x {instance.base_instance} x {row.efficiency:g} ({row.source}) ; {base.source}"
        value = row.gpus * base.images_per_s * row.efficiency
        return Figure(value, row.variant, weakest("scaled", base.basis), source, base.warning)


def stand_in(pool: pd.DataFrame, gpu: str, model: str, batch_size: int, question: "Question") -> Figure | None:
    """The nearest published single-device figure of the same card and model, or None.

    Order of nearness: the exact card before one of its forms (`Tesla V100` before `Tesla V100-SXM3-32GB`),
    the framework asked for, then precision before batch distance (in doublings; the smaller batch wins a
    tie). Of several equally near figures the median is taken.
    """
    same = pool[(pool["gpus"] == 1) & (pool["model"] == model) & pool["batch_size"].notna()]
    same = same[(same["gpu"] == gpu) | same["gpu"].str.startswith(f"{gpu}-")]
    if same.empty:
        return None
    distance = pd.DataFrame(
        {
            "framework": same["framework"] != question.framework,
            "precision": same["precision"] != question.precision,
            "card": same["gpu"] != gpu,
            "batch": (same["batch_size"].astype(float) / batch_size).map(lambda ratio: abs(math.log2(ratio))),
            "smaller": same["batch_size"].astype(float),
        }
    )
    order = distance.sort_values(list(distance.columns), kind="stable")
    nearest = same.loc[order.index[(order == order.iloc[0]).all(axis=1)]]
    first = nearest.iloc[0]
    found = f"{first['gpu']}, {first['framework']}, batch {first['batch_size']}, {first['precision']}"
    asked = f"{gpu}, {question.framework}, batch {batch_size}, {question.precision}"
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    sources = " ; ".join(nearest["source"].unique())
    warning = None if found == asked else f"stand-in: asked {asked}; nearest published {found}"
    value = float(nearest["images_per_s"].median())
    return Figure(value, "default", "stand_in", f"{count}{sources} ({found})", warning)
