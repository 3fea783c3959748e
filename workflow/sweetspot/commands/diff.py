"""Set two results side by side: what changed in prices, and what it did to the ranking.

Reads comparison/ranks.parquet and verdict.parquet of two result folders: two dates of one study, or before and after
an edit of its prices. Or takes one study and a day: its price lists of then (prices/history/, as `sweetspot
refresh-prices` keeps them) are priced and compared anew. Writes Markdown to stdout: both answers, the prices that
changed, the options that changed rank.

    sweetspot diff old/mine results/mine --table changes.csv
    sweetspot diff mine --since 2026-09-19
    sweetspot diff mine --since 2026-09-19 --until 2026-11-22
"""

import argparse
import sys
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_parquet, to_arrow, write_arrow, write_csv, write_whole
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.report.decided_anew import SPEED, Unpriced, answer_of, moved, state_under
from sweetspot.report.rank_changes import difference, to_markdown
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import lists_at, load_price_list, newest_day
from sweetspot.study.settings import Settings
from sweetspot.study.stock import load_availability
from sweetspot.study.study import load_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot diff`."""
    add = parser.add_argument
    add("before", metavar="RESULTS_A", help="such as an older copy of results/STUDY; or, with --since, a study")
    add("after", nargs="?", metavar="RESULTS_B", help="such as results/STUDY")
    add("--since", type=date.fromisoformat, metavar="DAY", help="price lists of a study as they were on that day")
    add("--until", type=date.fromisoformat, metavar="DAY", help="against those of that day; default: of today")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    add("--results", type=Path, default=Path("results"), help="the folder of its results (results)")
    add("--markdown", type=Path, metavar="FILE", help="write the Markdown there too")
    add("--table", type=Path, metavar="FILE", help="write the table there, .csv or .parquet")


def _check_table(file: Path | None) -> None:
    """Raises UserError where a table is asked for in a form that there is not."""
    if file is not None and file.suffix not in (".csv", ".parquet"):
        raise UserError(f"--table is {file}; expected a name ending in .csv or .parquet")


def write_table(table: pd.DataFrame, file: Path) -> None:
    """Write a table as CSV or Parquet, by the ending of the file. Raises UserError."""
    _check_table(file)
    write = write_csv if file.suffix == ".csv" else write_arrow
    write(to_arrow(table), file)


def run(arguments: argparse.Namespace) -> None:
    """Print the Markdown; write it and the table where asked. Raises UserError."""
    _check_table(arguments.table)
    if (arguments.after is None) == (arguments.since is None):
        raise UserError("sweetspot diff: expected two folders of results, or a study and --since DAY")
    if arguments.since is None:
        before, after = Path(arguments.before), Path(arguments.after)
        table = difference(_ranks(before), _ranks(after))
        text = to_markdown(table, str(before), str(after), (_answer(before), _answer(after)))
    else:
        table, text = _changes_between(arguments)
    if arguments.markdown is not None:
        with write_whole(arguments.markdown) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if arguments.table is not None:
        write_table(table, arguments.table)
    sys.stdout.write(text)


def _ranks(folder: Path) -> pd.DataFrame:
    file = folder / "comparison" / "ranks.parquet"
    if not file.is_file():
        raise UserError(f"{file}: the file is needed and does not exist; expected a folder such as results/STUDY")
    return read_parquet(file)


def _answer(folder: Path) -> str | None:
    file = folder / "comparison" / "verdict.parquet"
    return answer_of(read_parquet(file)) if file.is_file() else None


def _changes_between(arguments: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    name, config = arguments.before, arguments.config
    folder = config / "studies" / name
    study = unpriced(name, config, arguments.results / name)
    names, until = price_list_names(folder / "prices"), arguments.until or date.max
    if until <= arguments.since:
        raise UserError(f"--until is {until}; expected a day after --since, {arguments.since}")
    _require_history(folder / "prices", names, arguments.since)
    lists = [lists_at(folder / "prices", names, day) for day in (arguments.since, until)]
    before, after = (state_under(files, study) for files in lists)
    table = moved(before, after)
    told = table[table["what"] != "answer"]
    where = told["price_list"].map(lambda listed: f", {listed}", na_action="ignore").fillna("")
    told = told.assign(instance=told["instance"].fillna("") + where)
    titles = (f"{name}, prices of {arguments.since},", f"prices of {arguments.until or 'today'}")
    return table, to_markdown(told, *titles, (before.answer, after.answer))


def _require_history(folder: Path, names: list[str], day: date) -> None:
    """Raises UserError where no list is known as it was on `day`: all would be as they were later."""
    first = min(newest_day(load_price_list(file)) for file in lists_at(folder, names, date.min).values())
    if day < first:
        raise UserError(f"--since is {day}; {folder} has no history before {first}")


def unpriced(name: str, config: Path, results: Path) -> Unpriced:
    """What of a study no price changes: from its files, and its tables in the folder `results`. Raises UserError."""
    folder, files = config / "studies" / name, instance_files(config, name)
    study, instances = load_study(folder), load_instances(*files)
    tables = {table: results / f"{table}.parquet" for table in SPEED}
    for file in tables.values():
        if not file.is_file():
            raise UserError(f"{file}: is not there; make it first: snakemake --cores all --config study={name}")
    availability = folder / "availability.yaml"
    return Unpriced(
        tables=tables,
        workloads=folder / "workloads.yaml",
        instances=files,
        settings=Settings.of(study, instances),
        month_days=study.month_days,
        as_of=study.as_of,
        energy=study.energy,
        price_paths=study.price_paths,
        known=load_availability(availability if availability.is_file() else None, study.as_of),
    )
