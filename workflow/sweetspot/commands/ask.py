"""Print what a study found: the page's sentences, at another use, or within a deadline. Reads results only."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd

from sweetspot.bills.costs import cells_to_price
from sweetspot.choice_kinds import NOT_DECIDED
from sweetspot.commands.reevaluate import PhaseInputs, RequestedUse, StudyInputs, reevaluate
from sweetspot.commands.render import to_json
from sweetspot.declared_tables import read_table
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.matrix.invocation import instance_files
from sweetspot.number_text import NUMBER, parse_number
from sweetspot.report import how_sure
from sweetspot.report.evidence_text import waiting_in_words
from sweetspot.report.outcome import Outcome, outcome_of
from sweetspot.report.sentences import filled, sentence
from sweetspot.report.tables import Tables, asked_model, leading, money_of, table_of
from sweetspot.study.instances import load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study, load_study
from sweetspot.study.workloads import ProjectPlan, load_monthly, load_needs, load_titles, load_workloads
from sweetspot.titles import class_title
from sweetspot.wording import ROUNDS, TIE

ANSWER, NO_ANSWER, TOO_CLOSE, NOT_IN_TIME = 0, 2, 3, 4
OUTCOMES = {ANSWER: "answer", NO_ANSWER: "no answer", TOO_CLOSE: TIE, NOT_IN_TIME: "nothing in time"}
HOURS_PER_UNIT = {"min": 1 / 60, "h": 1.0, "d": 24.0}
DEADLINE = re.compile(rf"({NUMBER})\s*(min|h|d)", re.IGNORECASE)
TABLES = ("options", "choices", "deadlines", "queue", "sources", "verdict", "warnings")  # of comparison/
Rows = Sequence[Mapping[Any, Any]]


@dataclass(frozen=True)
class AskRequest:
    """The options of `sweetspot ask`: a study, and the use or the deadline that is asked about."""

    study: str
    days: float | None
    jobs: float | None
    deadline: str | None
    as_json: bool
    results: Path
    config: Path


def run(request: AskRequest) -> int:
    """Run `sweetspot ask`: print the answer of the study in `request` as text or JSON, and return the `exit_code`."""
    folder = request.config / "studies" / request.study
    study, use = load_study(folder), RequestedUse(request.days, request.jobs, parse_deadline(request.deadline))
    files = {name: request.results / study.name / "comparison" / f"{name}.parquet" for name in TABLES}
    if not files["options"].is_file():
        raise UserError(f"{files['options']}: does not exist; `make report STUDY={study.name}` makes it")
    tables = {name: read_table(file) for name, file in files.items() if file.is_file()}
    if use.days is not None and use.days > study.month_days:
        raise UserError(f"--days is {use.days:g}; expected at most the month's {study.month_days:g}")
    if use.days is not None and tables["options"]["days_per_month"].isna().all():
        raise UserError(f"--days is {use.days:g}; expected none: no machine of {study.name} is paid by days of use")
    if use != RequestedUse():
        changed = reevaluate(_read_inputs(request, study, tables["options"]), use)
        # A deadline alone leaves the verdict as it is.
        names = ("deadlines", "job_deadlines") if use.days is None and use.jobs_factor is None else list(changed)
        queue = table_of(tables, "queue")
        tables |= {name: changed[name] for name in names if name in changed}
        if "queue" in names and len(queue):
            unaffected = queue[~queue["workload"].isin(changed["queue"]["workload"])]
            tables["queue"] = pd.concat([unaffected, changed["queue"]])
    content = _content(study, tables)
    verdict, classes = outcome_of(tables), content["plan_deadlines"] if request.deadline else []
    code = exit_code(verdict, content["deadline"], classes)
    results_time = files["options"].stat().st_mtime
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.csv"), *folder.glob("prices/*.yaml")]):
        if file.stat().st_mtime > results_time:
            click.echo(f"note: {file} is newer than the results; `make report STUDY={study.name}` reads it", err=True)
    if request.as_json:
        print(to_json(content | {"inputs": asdict(use), "outcome": OUTCOMES[code]}))
        return code
    due = {f"{row['workload']}.{row['class']}" for row in content["plan_deadlines"]}
    context = content | {
        "study": study,
        "use": use,
        "jobs": [row for row in content["deadline"] if row["workload"] not in due],
        "is_phased": leading(tables) == ROUNDS,
        "money": money_of(study),
        "class_title": class_title,
    }
    print("\n".join(line for line in filled("ask.txt.j2", context).splitlines() if line.strip()))
    return code


def parse_deadline(text: str | None) -> float | None:
    """Parse --deadline, such as '90min', '6h' or '2d', to hours; None (not given) stays None. Else UserError."""
    if text is None:
        return None
    match = DEADLINE.fullmatch(text.strip())
    hours = parse_number(match[1], "--deadline") * HOURS_PER_UNIT[match[2].lower()] if match else 0.0
    if not hours > 0:
        raise UserError(f"--deadline is {text!r}; expected a time such as 90min, 6h or 2d")
    return hours


def exit_code(verdict: Outcome | None, jobs: Rows, classes: Rows) -> int:
    """Return the exit code of `sweetspot ask`, by which scripts act on its answer: 0 (answer), 2 (none yet), 3 (too
    close to call) or 4 (nothing in time), by deadlines if any are asked about, else by the verdict.

    Parameters
    ----------
    verdict, jobs, classes
        The verdict; None: nothing has a price; rows {column: value} of deadlines of single jobs and of classes of
        jobs, with `option`, the cheapest in time (missing: nothing is in time) and, of jobs, `confidence`.
    """
    due = classes or jobs
    if any(pd.isna(row["option"]) for row in due):
        return NOT_IN_TIME
    if due:
        return TOO_CLOSE if any(row.get("confidence") == TIE for row in due) else ANSWER
    if verdict is None or verdict.confidence == NOT_DECIDED:
        return NO_ANSWER
    return TOO_CLOSE if verdict.close else ANSWER


def _read_inputs(request: AskRequest, study: Study, options: pd.DataFrame) -> StudyInputs:
    """Read what `reevaluate` needs to decide a study at another use: the study's workloads, offers and settings beside
    the table `options`. Raises UserError for --jobs without a plan, or where the tables of offers are missing.
    """
    results = request.results / study.name
    machine_files = [file for file in instance_files(request.config, study.name) if file.is_file()]
    machines = load_instances(*machine_files) if machine_files else {}
    work_file = request.config / "studies" / study.name / "workloads.yaml"
    works = load_workloads(work_file) if work_file.is_file() else {}
    plans = {name: work for name, work in works.items() if isinstance(work, ProjectPlan)}
    months, settings = load_monthly(work_file), Settings.of(study, machines)
    if not (plans or months):
        if request.jobs is not None:
            raise UserError(f"--jobs is {request.jobs:g}; expected none: study {study.name} has no plan")
        return StudyInputs(options, settings)
    files = sorted((results / "offers").glob("*.parquet"))
    if not files:
        raise UserError(f"{results / 'offers'}: price lists are needed; `make report STUDY={study.name}` makes them")
    lists, phases = [read_parquet(file) for file in files], None
    if plans:
        speeds = [read_parquet(results / f"{name}.parquet") for name in ("throughput", "extrapolation")]
        fees = [read_parquet(results / "fees" / file.name) for file in files]
        price_lists = list(zip(lists, fees, strict=True))
        phases = PhaseInputs(cells_to_price(*speeds), price_lists, plans, machines, load_needs(work_file))
    return StudyInputs(options, settings, pd.concat(lists, ignore_index=True), months, phases, load_titles(work_file))


def _content(study: Study, tables: Tables) -> dict[str, Any]:
    """Return all that `ask` prints, by key (`verdict`, `sentences`, ...), from result tables by name."""
    verdict, count = outcome_of(tables), len(tables["options"])
    due = table_of(tables, "deadlines")
    due = due[due["class"].notna()] if len(due) else due
    return {
        "study": study.name,
        "as_of": study.as_of.isoformat(),
        "question": study.question,
        "verdict": None if verdict is None else verdict.model_dump(),
        "sentences": verdict.sentences() if verdict else [sentence("no_answer", count, count)],
        "rests_on": how_sure.notes(tables),
        "model": asked_model(tables) or None,
        "deadline": table_of(tables, "job_deadlines").to_dict("records"),
        "plan_deadlines": due.to_dict("records"),
        "waiting": waiting_in_words(table_of(tables, "queue")),
    }
