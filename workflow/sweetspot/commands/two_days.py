"""`sweetspot diff STUDY --since DAY`: one study under its price lists of two days."""

import argparse
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.report.decided_anew import SPEED, Unpriced, moved, state_under
from sweetspot.report.rank_changes import to_markdown
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import lists_at, load_price_list, newest_day
from sweetspot.study.settings import Settings
from sweetspot.study.stock import load_availability
from sweetspot.study.study import load_study
from sweetspot.throughput.published import read_published


def changes_between(arguments: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """The table of changes and its Markdown. Raises UserError where the study has no results to price."""
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
    others = [figures_file(other, folder.parent) for other in (name, *study.borrow)]
    figures = [read_published(file) for file in others if file.is_file()]
    stock = folder / "availability.yaml"
    return Unpriced(
        tables=tables,
        workloads=folder / "workloads.yaml",
        instances=files,
        settings=Settings.of(study, instances),
        month_days=study.month_days,
        as_of=study.as_of,
        energy=study.energy,
        price_paths=study.price_paths,
        published=pd.concat(figures, ignore_index=True) if figures else None,
        known=load_availability(stock if stock.is_file() else None, study.as_of),
    )
