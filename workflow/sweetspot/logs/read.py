"""Logs named by a study as rows of published throughput."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from sweetspot.cells import CELL_COLUMNS
from sweetspot.logs.epochs import read_keras_csv
from sweetspot.logs.pattern_log import read_pattern_log
from sweetspot.logs.patterns import BY_NAME
from sweetspot.logs.reading import LogFile, Reading
from sweetspot.logs.tf_cnn import read_tf_cnn
from sweetspot.study.study import LogSource
from sweetspot.warnings import joined, warning

READERS = {"tf_cnn_benchmarks": read_tf_cnn, "keras_csv": read_keras_csv} | dict.fromkeys(BY_NAME, read_pattern_log)
UNITS = {"keras_csv": "samples", "tf_cnn_benchmarks": "images"} | {name: row.counts for name, row in BY_NAME.items()}
COLUMNS = (
    "gpu", "instance", "gpus", "framework", "framework_version", "benchmark", "model", "batch_size", "precision",
    "variant", "dataset", "images_per_s", "source", "warnings", "unit", "runs", "images_per_s_low", "images_per_s_high",
)  # fmt: skip
INTEGER_TYPES = {"gpus": "int64", "batch_size": "int64", "runs": "int64"}


def read_logs(sources: Sequence[LogSource], study_dir: Path, cards: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a study's training logs as rows of published speeds, one per cell (machine, framework, model, batch, device
    count, precision, variant): COLUMNS and `log` (first file of the cell). `images_per_s` counts `unit` per second on
    all devices. Logs of one cell are its runs: their times per sample are averaged; bounds are the 95 % t interval of
    their logarithms.

    Parameters
    ----------
    sources, study_dir, cards
        `logs` of study.yaml; the folder to which their paths are relative; {instance: its device}.
    """
    rows = []
    for source in sources:
        log, readings = READERS[source.format](Path(study_dir, source.path), source)
        rows += [_row(log, reading, Path(study_dir), cards or {}) for reading in readings]
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS)).astype(INTEGER_TYPES | {"images_per_s": "float64"})
    logs = pd.DataFrame(rows)
    for index, row in logs.iterrows():
        twins = logs.loc[(logs["sha256"] == row["sha256"]) & (logs["file"] != row["file"]), "file"]
        if len(twins):
            logs.at[index, "warnings"] = [warning("repeated_log", f"log is byte-identical to {', '.join(twins)}")]
    cells = [_cell(group) for _, group in logs.groupby(list(CELL_COLUMNS), sort=False)]
    return pd.DataFrame(cells).rename(columns={"file": "log"})[[*COLUMNS, "log"]].astype(INTEGER_TYPES)


def _row(log: LogFile, reading: Reading, study_dir: Path, cards: Mapping[str, str]) -> dict[str, object]:
    """Return one log's row {column of `read_logs`, file, sha256: value}, made of its Reading (speed and what the log
    says) and its entry in study.yaml; `cards`: {instance: device}.
    """
    source = log.source
    fields = reading._asdict()
    rate, lines, facts = (fields.pop(name) for name in ("samples_per_s", "lines", "facts"))
    name = log.path.relative_to(study_dir).as_posix()
    return {
        **fields,
        "gpu": source.gpu or cards.get(source.instance, ""),
        "instance": source.instance,
        "variant": source.variant,
        "benchmark": source.format.removesuffix("_csv"),
        "images_per_s": rate,
        "unit": UNITS[source.format],
        "source": f"{source.source}: {name} {lines}, sha256 {log.sha256}" + (f" ({facts})" if facts else ""),
        "warnings": [],
        "file": name,
        "sha256": log.sha256,
    }


def _cell(runs: pd.DataFrame) -> dict[str, object]:
    """Average the runs of one cell (rows of `_row`, a log each) to its row {column of `read_logs`: value}: samples/s
    with 95 % bounds (NaN for a single log), sources joined.
    """
    seconds = 1 / runs["images_per_s"]  # of one sample
    rate = 1 / seconds.mean()
    low = high = math.nan
    if len(runs) > 1:
        from scipy.special import stdtrit

        deviation = seconds.map(math.log).std()
        widen = math.exp(stdtrit(len(runs) - 1, 0.975) * deviation / math.sqrt(len(runs)))
        low, high = rate / widen, rate * widen
    return {
        **runs.iloc[0].to_dict(),
        "images_per_s": rate,
        "images_per_s_low": low,
        "images_per_s_high": high,
        "runs": len(runs),
        "source": " ; ".join(runs["source"]),
        "warnings": joined(*runs["warnings"]),
    }
