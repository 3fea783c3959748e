"""Set two results side by side: what changed in prices, and what it did to the ranking; and scenarios."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.declared_tables import read_table
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.report import decided_anew
from sweetspot.report.rank_changes import difference, to_markdown
from sweetspot.report.tables import money_of
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import lists_at, load_price_list, newest_day
from sweetspot.study.settings import Settings
from sweetspot.study.stock import load_availability
from sweetspot.study.study import load_study


@dataclass(frozen=True)
class DiffRequest:
    """Two folders of results (`before`, `after`), or the study `before` and two days."""

    before: str
    after: str | None
    since: date | None
    until: date | None
    config: Path
    results: Path


def run(request: DiffRequest) -> None:
    """Run `sweetspot diff`: print as Markdown how two folders of results, or two days of a study's prices, differ."""
    if request.since is not None and request.after is None:
        text = _changes_between(request, request.since)
    elif request.since is None and request.after is not None:
        before, after = Path(request.before), Path(request.after)
        (ranks, answer), (new_ranks, new_answer) = _read_results(before), _read_results(after)
        text = to_markdown(difference(ranks, new_ranks), str(before), str(after), (answer, new_answer))
    else:
        raise UserError("sweetspot diff: expected two folders of results, or a study and --since DAY")
    print(text, end="")


def compare_scenarios(name: str, config: Path, results: Path) -> None:
    """Print a study's scenarios side by side as Markdown (command `compare-scenarios`): what each changes in the
    answer. Raises UserError where it has none, or its results were not made.

    Parameters
    ----------
    name, config, results
        Name of the study; the project's config folder and the folder of its results.
    """
    folder, file = config / "studies" / name, results / name / "comparison" / "scenarios.parquet"
    study = load_study(folder)
    if not any((folder / "scenarios").glob("*.yaml")):
        raise UserError(f"{folder / 'scenarios'}: has no scenario; expected a file NAME.yaml with what differs")
    if not file.is_file():
        raise UserError(f"{file}: is not there; make it first: snakemake --cores all scenarios --config study={name}")
    print(decided_anew.to_markdown(read_table(file), money_of(study)), end="")


def _read_results(folder: Path) -> tuple[pd.DataFrame, str | None]:
    """Return (table `ranks`, answer in words or None) from results/STUDY, to compare; UserError without ranks."""
    ranks, verdict = (folder / "comparison" / f"{name}.parquet" for name in ("ranks", "verdict"))
    if not ranks.is_file():
        raise UserError(f"{ranks}: the file is needed and does not exist; expected a folder such as results/STUDY")
    return read_table(ranks), decided_anew.answer_of(read_table(verdict)) if verdict.is_file() else None


def _changes_between(request: DiffRequest, since: date) -> str:
    """Return as Markdown how a study's answer, prices and ranks differ between its price lists as of `since` and as of
    --until, both priced and decided anew (command `diff`).
    """
    name, prices = request.before, request.config / "studies" / request.before / "prices"
    study = unpriced(request)
    names, until = price_list_names(prices), request.until or date.max
    if since > date.today():
        raise UserError(f"--since is {since}; expected a day up to today")
    if until <= since:
        raise UserError(f"--until is {until}; expected a day after --since, {since}")
    first = min(newest_day(load_price_list(file)) for file in lists_at(prices, names, date.min).values())
    if since < first:  # All lists would be as they were later.
        raise UserError(f"--since is {since}; {prices} has no history before {first}")
    before, after = (decided_anew.state_under(lists_at(prices, names, day), study) for day in (since, until))
    changes = decided_anew.moved(before, after).query("what != 'answer'")
    price_list = changes["price_list"].map(lambda price_list: f", {price_list}", na_action="ignore").fillna("")
    changes = changes.assign(instance=changes["instance"].fillna("") + price_list)
    titles = (f"{name}, prices of {since},", f"prices of {request.until or 'today'}")
    answers = decided_anew.answer_of(before.verdict), decided_anew.answer_of(after.verdict)
    return to_markdown(changes, *titles, answers)


def unpriced(request: DiffRequest) -> decided_anew.Unpriced:
    """Return all inputs of a study's decision that no price changes (speeds, workloads, machines, settings), so that
    it can be priced anew by older lists. UserError if its results were not made.
    """
    name, results = request.before, request.results / request.before
    folder, files = request.config / "studies" / name, instance_files(request.config, name)
    study, instances = load_study(folder), load_instances(*files)
    tables = {table: results / f"{table}.parquet" for table in decided_anew.SPEED}
    for file in tables.values():
        if not file.is_file():
            raise UserError(f"{file}: is not there; make it first: snakemake --cores all --config study={name}")
    availability = folder / "availability.yaml"
    return decided_anew.Unpriced(
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
