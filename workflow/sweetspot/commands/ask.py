"""Print what a study found: the page's sentences, at another use, or within a deadline. Reads results only."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import pandas as pd

from sweetspot.bills.costs import cells_to_price
from sweetspot.bills.fits import Needs
from sweetspot.commands.json_values import without_nan
from sweetspot.commands.reevaluate import PhaseInputs, RequestedUse, StudyInputs, reevaluate
from sweetspot.commands.scratch import machines_of_study
from sweetspot.decision.deadlines import bound_in_words, passed_over_in_words
from sweetspot.decision_words import NOT_DECIDED, no_answer
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.number_text import NUMBER, parse_number
from sweetspot.report import how_sure
from sweetspot.report.evidence_text import waiting_in_words
from sweetspot.report.outcome import Outcome, outcome_of
from sweetspot.report.sentences import filled
from sweetspot.report.tables import Tables, asked_model, leading, money_of, table_of
from sweetspot.study.monthly import Monthly
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study, load_study
from sweetspot.study.titles import class_title
from sweetspot.study.workloads import Plan, load_monthly, load_needs, load_titles, load_workloads
from sweetspot.wording import ROUNDS, TIE, span

ANSWER, NO_ANSWER, TOO_CLOSE, NOT_IN_TIME = 0, 2, 3, 4
OUTCOMES = {ANSWER: "answer", NO_ANSWER: "no answer", TOO_CLOSE: TIE, NOT_IN_TIME: "nothing in time"}
HOURS_PER_UNIT = {"min": 1 / 60, "h": 1.0, "d": 24.0}
DEADLINE = re.compile(rf"({NUMBER})\s*(min|h|d)", re.IGNORECASE)
TABLES = ("options", "choices", "deadlines", "queue", "sources", "verdict", "warnings")  # of comparison/
STUDY_FILES = (
    "study.yaml",
    "workloads.yaml",
    "instances.yaml",
    "availability.yaml",
    "throughput.csv",
    "efficiency.csv",
    "time_to_target.csv",
)
Rows = Sequence[Mapping[Any, Any]]


@dataclass(frozen=True)
class PlannedWorks:
    """Works of months, plans of phases, titles of all works, and what plans need of memory."""

    months: Mapping[str, Monthly]
    plans: Mapping[str, Plan]
    titles: Mapping[str, str]
    needs: Needs


@dataclass(frozen=True)
class AskRequest:
    """What is asked of a study, by the options of the command."""

    study: str
    days: float | None
    jobs: float | None
    deadline: str | None
    workload: str | None
    brief: bool
    waiting: bool
    as_json: bool
    results: Path
    config: Path


def run(request: AskRequest) -> int:
    """Print the answer and return its exit code. Raises UserError."""
    folder = request.config / "studies" / request.study
    study, use = load_study(folder), RequestedUse(request.days, request.jobs, parse_deadline(request.deadline))
    results = request.results / study.name
    tables = _read_tables(results / "comparison", study.name)
    works = _read_works(folder / "workloads.yaml")
    _check_request(request, study, tables["options"], bool(works.months or works.plans))
    if use != RequestedUse():
        changed = reevaluate(_read_inputs(request, study, works, tables["options"]), use)
        # A deadline alone leaves the verdict as it is.
        names = ("deadlines", "job_deadlines") if use.days is None and use.jobs_factor is None else list(changed)
        queue = table_of(tables, "queue")
        tables |= {name: changed[name] for name in names if name in changed}
        if "queue" in names and len(queue):
            others = queue[~queue["workload"].isin(changed["queue"]["workload"])]
            tables["queue"] = pd.concat([others, changed["queue"]])
    content = _content(request, study, tables)
    classes = content["plan_deadlines"] if use.due_hours else []
    code = exit_code(outcome_of(tables), content["deadline"], classes)
    if newer := _newer_file(folder, results / "comparison"):
        click.echo(f"note: {newer} is newer than the results; `make report STUDY={study.name}` reads it", err=True)
    if request.as_json:
        inputs_given = {"days_per_month": use.days, "jobs_factor": use.jobs_factor, "deadline_hours": use.due_hours}
        content |= {"inputs": inputs_given, "outcome": OUTCOMES[code]}
        print(json.dumps(without_nan(content), indent=2, ensure_ascii=False, allow_nan=False))
    elif request.brief:
        print("\n".join(content["sentences"][:2]))
    else:
        print(_as_text(content, study, use, leading(tables) == ROUNDS))
    return code


def parse_deadline(text: str | None) -> float | None:
    """Return the hours of '90min', '6h' or '2d'; None for None. Raises UserError for anything else."""
    if text is None:
        return None
    match = DEADLINE.fullmatch(text.strip())
    hours = parse_number(match[1], "--deadline") * HOURS_PER_UNIT[match[2].lower()] if match else 0.0
    if not hours > 0:
        raise UserError(f"--deadline is {text!r}; expected a time such as 90min, 6h or 2d")
    return hours


def exit_code(verdict: Outcome | None, jobs: Rows, classes: Rows) -> int:
    """Return the exit code: of the deadlines where there are some, of classes of jobs first, else of the verdict.

    Parameters
    ----------
    verdict
        The verdict; None: nothing has a price.
    jobs, classes
        Rows of deadlines with `option` (missing: nothing is in time) and, of jobs, `confidence`.

    """
    due = classes or jobs
    if any(pd.isna(row["option"]) for row in due):
        return NOT_IN_TIME
    if due:
        return TOO_CLOSE if any(row.get("confidence") == TIE for row in due) else ANSWER
    if verdict is None or verdict.confidence == NOT_DECIDED:
        return NO_ANSWER
    return TOO_CLOSE if verdict.close else ANSWER


def _read_tables(folder: Path, study: str) -> Tables:
    files = {name: folder / f"{name}.parquet" for name in TABLES}
    if not files["options"].is_file():
        raise UserError(
            f"{files['options']}: the file is needed and does not exist; `make report STUDY={study}` makes it"
        )
    return {name: read_parquet(file) for name, file in files.items() if file.is_file()}


def _read_works(file: Path) -> PlannedWorks:
    works = load_workloads(file) if file.is_file() else {}
    plans = {name: work for name, work in works.items() if isinstance(work, Plan)}
    return PlannedWorks(load_monthly(file), plans, load_titles(file), load_needs(file) if plans else {})


def _read_inputs(request: AskRequest, study: Study, works: PlannedWorks, options: pd.DataFrame) -> StudyInputs:
    """Read what the study is decided from. Raises UserError where its price lists were not read."""
    results, machines = request.results / study.name, machines_of_study(request.config, study.name)
    files = sorted((results / "offers").glob("*.parquet"))
    if not files and (works.months or works.plans):
        raise UserError(f"{results / 'offers'}: price lists are needed; `make report STUDY={study.name}` makes them")
    lists = [read_parquet(file) for file in files]
    offers = pd.concat(lists, ignore_index=True) if lists else pd.DataFrame()
    phases = None
    if works.plans:
        speeds = [read_parquet(results / f"{name}.parquet") for name in ("throughput", "extrapolation")]
        fees = [read_parquet(results / "fees" / file.name) for file in files]
        price_lists = list(zip(lists, fees, strict=True))
        phases = PhaseInputs(cells_to_price(*speeds), price_lists, works.plans, machines, works.needs)
    return StudyInputs(options, Settings.of(study, machines), offers, works.months, phases, works.titles)


def _check_request(request: AskRequest, study: Study, options: pd.DataFrame, has_plan: bool) -> None:
    """Refuse what the study has no answer to. Raises UserError."""
    if request.days is not None and request.days > study.month_days:
        raise UserError(f"--days is {request.days:g}; expected at most the month's {study.month_days:g}")
    if request.days is not None and not (options["purchase"] == "own").any():
        raise UserError(f"--days is {request.days:g}; expected none: study {study.name} prices no machine to own")
    workloads = sorted(options["workload"].dropna().unique())
    if request.workload is not None and request.workload not in workloads:
        raise UserError(f"--workload is {request.workload!r}; expected one of {', '.join(workloads)}")
    if request.workload is not None and request.deadline is None:
        raise UserError("--workload needs --deadline: the answer is about the study's models, not about one workload")
    if request.jobs is not None and not has_plan:
        raise UserError(
            f"--jobs is {request.jobs:g}; expected none: study {study.name} has no plan, of months or of phases"
        )


def _content(request: AskRequest, study: Study, tables: Tables) -> dict[str, Any]:
    """Return the answer as plain values; amounts in USD."""
    verdict, count = outcome_of(tables), len(tables["options"])
    due, jobs = table_of(tables, "deadlines"), table_of(tables, "job_deadlines")
    due = due[due["is_asked"].astype(bool) & due["class"].notna()] if len(due) else due
    classes = due.to_dict("records")
    rows = [{"phase": f"{row['workload']} within {span(row['within_hours'])}"} | row for row in jobs.to_dict("records")]
    return {
        "study": study.name,
        "as_of": study.as_of.isoformat(),
        "question": study.question,
        "verdict": None if verdict is None else verdict.model_dump(),
        "sentences": verdict.sentences() if verdict else [no_answer(count, count)],
        "rests_on": how_sure.notes(tables),
        "model": asked_model(tables) or None,
        "deadline": [row for row in rows if request.workload in (None, row["workload"])],
        "plan_deadlines": [row for row in classes if request.workload in (None, f"{row['workload']}.{row['class']}")],
        "waiting": waiting_in_words(table_of(tables, "queue")) if request.waiting else [],
    }


def _as_text(content: Mapping[str, Any], study: Study, use: RequestedUse, is_phased: bool) -> str:
    """Return the study and its use, the verdict, who is in time, and what a shared machine lets wait."""
    money = money_of(study)
    classes = {f"{row['workload']}.{row['class']}" for row in content["plan_deadlines"]}
    jobs = [row for row in content["deadline"] if row["workload"] not in classes]
    context = dict(content) | {
        "study": study,
        "use": use,
        "jobs": jobs,
        "is_phased": is_phased,
        "usd": money.words,
        "class_title": class_title,
        "bound": partial(bound_in_words, money=money),
        "passed_over": partial(passed_over_in_words, money=money),
    }
    return "\n".join(line for line in filled("ask.txt.j2", context).splitlines() if line.strip())


def _newer_file(folder: Path, comparison: Path) -> Path | None:
    """Return a file of the study that was edited after the results were made; None where there is none."""
    made = (comparison / "options.parquet").stat().st_mtime
    files = [*(folder / name for name in STUDY_FILES), *sorted((folder / "prices").glob("*.yaml"))]
    return next((file for file in files if file.is_file() and file.stat().st_mtime > made), None)
