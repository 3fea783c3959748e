"""From run files to one row a cell: mean step time over independent runs, with its interval.

The spread between runs of one machine is shared by its cells. Two runs alone say almost nothing (Student's t with one
degree of freedom is 12.7); three cells of two runs have three degrees of freedom together (3.2).
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from sweetspot.cells import CELL_COLUMNS, MEASURED_NUMBERS, MEASURED_TEXTS, PROTOCOL, USABLE
from sweetspot.errors import UserError
from sweetspot.harness.runfile import is_damaged
from sweetspot.study.instances import nodes_of
from sweetspot.study.transformers import unit_of
from sweetspot.throughput.best import TABLE_COLUMNS
from sweetspot.throughput.run_checks import UNKNOWN, check_machines, check_runs, told_in
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance

# The columns of a run file; those of NEWER are null in files from before they were written.
RUN_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(CELL_COLUMNS, pl.String),
    **dict.fromkeys(("batch_size", "gpus", "run", "protocol", "step", "steps", "samples_per_step"), pl.Int64),
    **dict.fromkeys(("status", "message", "gpu", "warnings", "measured_on", "host", "machine", "unit"), pl.String),
    **dict.fromkeys(("logical", "xla"), pl.Boolean),
    **dict.fromkeys(("seconds", *MEASURED_NUMBERS), pl.Float64),
    **dict.fromkeys(MEASURED_TEXTS, pl.String),
}
NEWER = ("steps", "products", "others_cpu_share")
# How Arrow's names of the types begin that each may have.
KINDS = {pl.String: ("string", "large_string"), pl.Int64: ("int", "uint"), pl.Boolean: ("bool",)}
KINDS[pl.Float64] = ("float", "double", "halffloat")
REMEDY = "remove it and it is measured again"
OLDER = "a run might then end after five steps however short, and an interval of several steps counted as one"
DATE = "measured_on"
BATCH = 1000  # files read together: keeps the memory of any number of runs near 150 MB
LEVEL = 0.95  # coverage of the interval of a figure
OUTLIER = 0.05  # chance that any cell of a machine without outliers is taken for one
SAYS_NOTHING = 2.0  # an interval of more than this factor either side comes with its reason


def summarise_runs(files: Sequence[str]) -> pl.DataFrame:
    """One row a run: the columns of its file, but for `step` and `steps`, with `seconds` (mean of its timed steps, each
    counted once, in however many intervals they were timed), `shortest` (of an interval's step), `step_error` (relative
    standard error of the mean step, null below two intervals) and `path`.

    `message`: why it failed. `measured_on`: ISO date, UTC. `warnings`: JSON text, a list of [rule, message]. `xla`:
    whether its steps were compiled by XLA. `machine`: processor and CPUs. `samples_per_step`: of all devices (null:
    batch x devices). Null: the file does not say.

    Raises UserError for a file that is no run file or was damaged since, and for what `check_runs` finds in one.
    """
    import pyarrow as pa

    _require_undamaged(files)
    try:
        summary = pl.concat([_read(files[start : start + BATCH]) for start in range(0, len(files), BATCH)])
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError):
        raise _culprit(files) from None
    summary = summary.sort([*CELL_COLUMNS, "run", "path"])
    check_runs(summary)
    return summary


def _require_undamaged(files: Sequence[str]) -> None:
    """Before any other reader sees them: a bit that flipped may read as another figure, or end the reader."""
    for file in files:
        try:
            damaged = is_damaged(Path(file).read_bytes())
        except OSError as error:
            raise UserError(f"{file}: cannot be read ({error.strerror})") from None
        if damaged:
            raise UserError(f"{file}: differs from what was written (its checksum does not fit); {REMEDY}")


def _read(files: Sequence[str]) -> pl.DataFrame:
    """One row a file. Older ones are read apart, since reading together needs the same columns."""
    import pyarrow.parquet as pq

    try:
        return _scanned(files, RUN_SCHEMA)
    except pl.exceptions.PolarsError:
        files_by_missing: dict[frozenset[str], list[str]] = {}
        for file in files:
            missing = frozenset(NEWER).difference(pq.read_schema(file).names)
            files_by_missing.setdefault(missing, []).append(file)
        parts = []
        for missing, alike in files_by_missing.items():
            schema = {name: kind for name, kind in RUN_SCHEMA.items() if name not in missing}
            parts.append(_scanned(alike, schema))
        return pl.concat(parts)


def _scanned(files: Sequence[str], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Grouping by file, not by the columns that name the run, halves the time of 10,000 files."""
    plain: dict[str, Any] = {"glob": False, "hive_partitioning": False, "use_statistics": False}  # a fifth faster
    plain["cast_options"] = pl.ScanCastOptions(integer_cast="upcast", float_cast="upcast")
    scan = pl.scan_parquet(list(files), schema=dict(schema), include_file_paths="path", extra_columns="ignore", **plain)
    scan = scan.with_columns(pl.lit(None, RUN_SCHEMA[name]).alias(name) for name in NEWER if name not in schema)
    steps = pl.col("steps").fill_null(1)
    seconds, count = pl.col("seconds"), pl.col("seconds").count()
    mean = pl.when(count > 0).then((seconds * steps).sum() / steps.filter(seconds.is_not_null()).sum())
    spread = ((seconds - mean) * steps).pow(2).sum() * count / (count - 1)
    constant = [pl.col(name).first() for name in RUN_SCHEMA if name not in ("step", "steps", "seconds")]
    error = pl.when(count > 1).then(spread.sqrt() / steps.sum() / mean).alias("step_error")
    told = scan.group_by("path").agg(*constant, mean.alias("mean"), seconds.min().alias("shortest"), error)
    return told.rename({"mean": "seconds"}).collect()


def _culprit(files: Sequence[str]) -> UserError:
    """Name the file that cannot be read; looked for only after reading all of them has failed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        try:
            schema = pq.ParquetFile(file).schema_arrow
            pq.read_table(file)
            pl.read_parquet(file, glob=False, hive_partitioning=False)
        except (pa.ArrowException, pl.exceptions.PolarsError, OSError) as error:
            return UserError(f"{file}: not a whole run file ({' '.join(str(error).split())[:120]}); {REMEDY}")
        missing = [name for name in RUN_SCHEMA if name not in schema.names and name not in NEWER]
        if missing:
            return UserError(f"{file}: column '{missing[0]}' is missing from the run file; {REMEDY}")
        for field in schema:
            if field.name in RUN_SCHEMA and not str(field.type).startswith(KINDS[RUN_SCHEMA[field.name]]):
                return UserError(f"{file}: column '{field.name}' has type {field.type}; {REMEDY}")
    return UserError("the run files do not fit together: their columns have different types")


def measured_cells(runs: pl.DataFrame, instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """One row a cell, in TABLE_COLUMNS, from `summarise_runs`; `instances` tell how many nodes a cell took.

    Throughput is batch x devices (or the samples of a step that the runs say) / mean over runs of the mean step time
    (times are averaged, not rates). The interval is the 95 % t interval of the logarithm of the runs' mean times, so it
    never reaches zero, by the spread that the cells of one machine and protocol share (`spread_of_cells`), with
    `interval_df` degrees of freedom; one run has none. `as_of` is the day of the last run. A cell whose runs all failed
    keeps its row, with the worst status and no figure. Raises UserError for what `check_machines` finds.
    """
    check_machines(runs, instances)
    cells = _grouped(runs)
    rate = cells["samples_per_step"].fillna(cells["batch_size"] * cells["gpus"]) / cells["seconds"]
    kinds = [" and ".join(machines) for machines in cells["machines"]]
    places = zip(cells["instance"], cells["gpu"], kinds, cells["protocol"], strict=True)
    cells = cells.join(spread_of_cells(cells.assign(place=list(places))))
    none_ok = cells["runs"] == 0
    devices = _devices(cells[~none_ok])
    rows = list(cells.itertuples())
    table = cells.assign(
        images_per_s=rate,
        images_per_s_low=rate / np.exp(cells["half"]),
        images_per_s_high=rate * np.exp(cells["half"]),
        basis="measured",
        status=cells["failure"].where(none_ok, cells["unstable"].map({True: "unstable", False: "ok"})),
        nodes=[nodes_of(instances, row.instance, row.gpus) for row in rows],
        warnings=[_warnings(row, devices.get(row.instance, [])) for row in rows],
        as_of=cells[DATE].where(cells[DATE].notna(), None),
        **{name: cells[name].replace("", None) for name in MEASURED_TEXTS},
        unit=cells["unit"].where(cells["unit"].notna(), cells["model"].map(unit_of)),
    )
    return table.reindex(columns=list(TABLE_COLUMNS))


def _grouped(runs: pl.DataFrame) -> pd.DataFrame:
    """One row a cell: what its runs say together."""
    ok = pl.col("status").is_in(USABLE)
    return (
        runs.group_by(CELL_COLUMNS)
        .agg(
            pl.coalesce(pl.col("gpu").filter(ok).first(), pl.col("gpu").first()),
            pl.col("logical").any(),
            pl.col("xla").any(),
            pl.col("protocol").first(),
            ok.sum().alias("runs"),
            pl.col("seconds").filter(ok).mean().alias("seconds"),
            pl.col("seconds").filter(ok).log().var().alias("variance"),
            pl.col("step_error").filter(ok).pow(2).mean().sqrt().alias("step_error"),
            pl.col("host").filter(ok).drop_nulls().unique().sort().alias("hosts"),
            pl.col("machine").filter(ok).drop_nulls().unique().sort().alias("machines"),
            pl.col("status").filter(~ok).first().alias("failure"),
            pl.col("status").eq("unstable").any().alias("unstable"),
            pl.col("message").filter(~ok).drop_nulls().first().alias("why"),
            pl.col("warnings").drop_nulls().unique(maintain_order=True).alias("told"),
            pl.col(DATE).max(),
            pl.col("unit").filter(ok).drop_nulls().first(),
            pl.col("samples_per_step").filter(ok).drop_nulls().first(),
            pl.col("peak_memory_gib").filter(ok).max(),
            pl.col("joules_per_sample").filter(ok).mean(),
            pl.col("others_cpu_share").filter(ok).mean(),
            *(pl.col(name).filter(ok).drop_nulls().unique().sort().str.join(" ; ") for name in MEASURED_TEXTS),
            pl.col("path").str.replace(r"/run~\d+\.parquet$", "").first().alias("source"),
        )
        .sort(CELL_COLUMNS)
        .to_pandas()
    )


def _devices(cells: pd.DataFrame) -> dict[str, list[str]]:
    """The devices that the runs of each instance name; where all name one, the machines that they were made on."""
    found = {}
    for name, own in cells[cells["gpu"] != UNKNOWN].groupby("instance"):
        devices = sorted(set(own["gpu"]))
        found[str(name)] = devices if len(devices) > 1 else sorted(set(own["machines"].explode().dropna()))
    return found


def _warnings(row: Any, devices: Sequence[str]) -> list[dict[str, str]]:
    """What a reader must know of a cell: failures, a missing interval, and what the runs say of themselves."""
    found = []
    if row.failure is not None and pd.notna(row.failure):
        found.append(warning(row.failure, row.why if isinstance(row.why, str) else "no reason is given"))
    if row.unstable:
        found.append(warning("unstable", "the step time of a run was not steady"))
    if row.runs == 1:
        found.append(warning("n_is_1", "one run, no interval"))
    if row.own_spread:
        words = f"its {row.runs} runs differ by more than those of this machine's other cells: the interval is its own"
        found.append(warning("own_spread", words))
    if row.half > math.log(SAYS_NOTHING):
        words = f"the figure is known within a factor {math.exp(row.half):.3g} only: runs spread by "
        words += f"{math.expm1(row.spread):.0%} (one standard deviation, {row.interval_df:.0f} degrees of freedom)"
        found.append(warning("wide_interval", f"{words}; more runs narrow it"))
    if row.protocol < PROTOCOL:
        found.append(warning("older_protocol", f"measured under protocol {row.protocol}, now {PROTOCOL}: {OLDER}"))
    if len(row.hosts) > 1:
        words = f"its runs were made on {' and '.join(row.hosts)}, which name the same device"
        words += f" but are of several kinds: {' and '.join(row.machines)}" if len(row.machines) > 1 else ""
        found.append(warning("several_hosts", words))
    if len(devices) > 1:
        found.append(warning("mixed_devices", f"cells of this instance were measured on {' and '.join(devices)}"))
    told = [warning(*pair) for text in row.told for pair in told_in(text) or []]
    if row.logical:
        told.append(warning("logical_devices", "parts of one processor, not separate devices"))
    return joined(found, told)


def spread_of_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """What each cell's interval is made of: `spread`, `interval_df`, `own_spread`, `half`; index of `cells`.

    cells: `place` (machine: cells of equal value share their spread), `runs` (usable ones), `variance` (of the natural
    logarithm of the runs' mean times, n - 1; NaN below two runs) and `step_error` (root mean square over the runs of
    the relative standard error of the mean step within a run; NaN where runs have fewer than two steps).

    The variance of a place is pooled: sum((n - 1) variance) / sum(n - 1); its degrees of freedom are sum(n - 1). A cell
    that varies more (`outlying`) keeps its own and stands apart (`own_spread`). spread = the pooled standard deviation,
    but at least `step_error`: runs that agree by luck are known no better than their steps. half = t(97.5 %,
    interval_df) x spread / sqrt(runs), in logarithms: the figure lies within a factor exp(half). A cell of one run has
    none: nothing shows whether it varies like the others.
    """
    several = cells["runs"] >= 2
    freedom = (cells["runs"] - 1).where(several).astype(float)
    squares = cells["variance"] * freedom
    apart = pd.Series(False, index=cells.index)
    for _, own in cells[several].groupby("place"):
        apart[own.index] = outlying(own["variance"].to_numpy(float), freedom[own.index].to_numpy())
    group = [cells["place"], apart]
    df = freedom.groupby(group).transform("sum").where(~apart, freedom).where(several)
    variance = (squares.groupby(group).transform("sum") / df).where(~apart, cells["variance"])
    spread = np.fmax(np.sqrt(variance), cells["step_error"]).where(several)
    half = spread / np.sqrt(cells["runs"].where(several))
    if several.any():
        from scipy.special import stdtrit  # a fifth of a second that single runs do not need

        half *= stdtrit(df, (1 + LEVEL) / 2)
    return pd.DataFrame({"spread": spread, "interval_df": df, "own_spread": apart, "half": half}, index=cells.index)


def outlying(variance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Which variances exceed the others' by more than chance (bool).

    variance, freedom: estimates and their degrees of freedom (>= 1), of one machine. The largest ratio to the pooled
    variance of the rest is held against Fisher's F at OUTLIER / number of cells (Cochran's test for unequal degrees of
    freedom: 't Lam 2010, Anal. Chim. Acta 659, 68), and again without it until none is left. Needs two cells at least.
    """
    apart = np.zeros(len(variance), dtype=bool)
    while (~apart).sum() > 1 and variance[~apart].max() > 0:
        from scipy.special import fdtrc

        kept = np.flatnonzero(~apart)
        squares, df = (variance * freedom)[kept], freedom[kept]
        rest = (squares.sum() - squares) / (df.sum() - df)
        ratio = np.divide(variance[kept], rest, out=np.full(len(kept), math.inf), where=rest > 0)
        # Of cells with equally many runs only the most variable can be the least likely one.
        first = [int(np.where(df == number, ratio, -1.0).argmax()) for number in np.unique(df)]
        chance = fdtrc(df[first], df.sum() - df[first], ratio[first])
        if chance.min() >= OUTLIER / len(kept):
            break
        worst = first[int(chance.argmin())]
        apart[kept[worst]] = True
    return apart
