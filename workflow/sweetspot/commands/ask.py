"""Ask what a study found: the answer in the page's words, at another use, or within a deadline. Reads results only.

Reads study.yaml and comparison/*.parquet of results/STUDY, which `make report STUDY=...` made, and prints the verdict:
what to do, from where on it is another answer, what to find out first; --brief prints its two lines alone. Asked for
the study's own use, it is the page's.

With --days owned machines are used so many days a month (at most, where the study has a plan), with --jobs so many
times as many jobs come in its plan: the verdict is then made anew. With --deadline it is said for each workload, or
each class of jobs, who finishes in time for the least money: it is a deadline of single jobs, not of a project. With
--waiting it is said how long jobs wait for machines that several people share.

Exit code: 0 an answer, 3 too close to call, 4 nothing finishes in time (of one workload at least), 2 what you can mend:
a mistake, no results, or no answer yet for want of a price or a speed.

    sweetspot ask mine
    sweetspot ask mine --days 12 --deadline 6h
    sweetspot ask mine --deadline 90min --workload one-run --json
    sweetspot ask lab --jobs 2 --deadline 24h
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.bills.costs import cells_to_price
from sweetspot.bills.fits import Needs
from sweetspot.choice_kinds import NOT_DECIDED
from sweetspot.commands.asked import NO_ROWS, Case, Given, Phased, Wanted
from sweetspot.commands.json_values import without_nan
from sweetspot.commands.scratch import machines_of_study
from sweetspot.decision.deadlines import dues_in_words
from sweetspot.decision.texts import no_answer
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.number_text import NUMBER, number_argument, parse_number
from sweetspot.report import how_sure
from sweetspot.report.evidence_text import waiting_in_words
from sweetspot.report.outcome import Outcome, outcome_of
from sweetspot.report.tables import Tables, asked_model, leading, money_of, table_of
from sweetspot.study.instances import Instance
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study, load_study
from sweetspot.study.workloads import Plan, load_monthly, load_needs, load_titles, load_workloads
from sweetspot.titles import class_title
from sweetspot.wording import ROUNDS, TIE, Money, amount, percent, span, the

ANSWER, NO_ANSWER, TOO_CLOSE, NOT_IN_TIME = 0, 2, 3, 4
OUTCOMES = {ANSWER: "answer", NO_ANSWER: "no answer", TOO_CLOSE: TIE, NOT_IN_TIME: "nothing in time"}
HOURS = {"min": 1 / 60, "h": 1.0, "d": 24.0}
DEADLINE = re.compile(rf"({NUMBER})\s*(min|h|d)", re.IGNORECASE)
MOST_TIMES = 1000  # the jobs of a plan
TABLES = ("options", "choices", "deadlines", "queue", "sources", "verdict", "warnings")  # of comparison/
READ_BY = ("study.yaml", "workloads.yaml", "instances.yaml", "availability.yaml",
           "throughput.csv", "efficiency.csv", "time_to_target.csv")  # fmt: skip
OF_JOBS = "The deadline is of single jobs, below; it is not one of the whole project."
OF_A_JOB = ("option", "title", "usd", "hours", "p_cheapest", "confidence", "verdict", "p_result_in_time",
            "up_front_usd", "due_usd_per_month")  # fmt: skip
OF_A_CLASS = ("workload", "class", "within_hours", "option", "title", "hours", "wait_hours", "usd", "usd_extra",
              "p_in_time", "p_result_in_time", "share_in_time", "status")  # fmt: skip
Rows = list[dict[str, Any]]


class Answer(NamedTuple):
    """What is said: the verdict and its sentences, the bases and warnings that it `rests_on`, the `model` that it is
    about, deadlines of single `jobs` and of `classes` of jobs, and who waits; `phased`: the plan that leads is one of
    phases.
    """

    verdict: Outcome | None
    said: list[str]
    rests_on: list[str]
    model: str
    jobs: Rows
    classes: Rows
    waiting: list[str]
    phased: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot ask`."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="a folder under config/studies/ whose report was made")
    add("--days", type=number_argument, metavar="N", help="days of use a month of every owned machine")
    add("--jobs", type=number_argument, metavar="FACTOR", help="times the jobs of a plan, of months or of phases")
    add("--deadline", metavar="TIME", help="when the result is due: 90min, 6h, 2d")
    add("--workload", metavar="NAME", help="of workloads.yaml: the deadline of this one alone")
    add("--brief", action="store_true", help="print the verdict alone: two lines")
    add("--waiting", action="store_true", help="say too how long jobs wait for shared machines")
    add("--json", action="store_true", help="print one JSON object instead, for programs")
    add("--results", type=Path, default=Path("results"), help="where results are (results)")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; its exit code. Raises UserError."""
    written = arguments.config / "studies" / arguments.study
    wanted = Wanted(arguments.days, arguments.jobs, hours_of(arguments.deadline))
    study, work = load_study(written), written / "workloads.yaml"
    results = arguments.results / study.name
    tables, months = _known(results / "comparison", study.name), load_monthly(work)
    works = load_workloads(work) if work.is_file() else {}
    plans = {name: one for name, one in works.items() if isinstance(one, Plan)}
    _check(wanted, arguments.workload, tables["options"], study, bool(months or plans))
    lists = [read_parquet(file) for file in sorted((results / "offers").glob("*.parquet"))]
    offered = pd.concat(lists, ignore_index=True) if lists else NO_ROWS
    named = any((folder / "instances.yaml").is_file() for folder in (arguments.config, written))
    machines = machines_of_study(arguments.config, study.name) if named else {}
    given = Given(tables["options"], Settings.of(study, machines), offered)
    anew = wanted._replace(due=None) != Wanted() or (wanted.due is not None and bool(months))
    if anew and (months or plans):
        if not lists:
            raise UserError(
                f"{results / 'offers'}: price lists are needed; `make report STUDY={study.name}` makes them"
            )
        phased = _phased(results, plans, machines, load_needs(work)) if plans else None
        given = given._replace(months=months, phased=phased, titles=load_titles(work))
    case = Case(given, wanted)
    if anew:
        tables |= _queued(case.tables, tables)
    found = _answer(case, tables, arguments)
    code = outcome(found.verdict, found.jobs, found.classes if wanted.due else [])
    if stale := _newer(written, results / "comparison"):
        sys.stderr.write(f"note: {stale} is newer than the results; `make report STUDY={study.name}` reads it\n")
    if arguments.json:
        sys.stdout.write(_as_json(found, study, wanted, code))
    else:
        sys.stdout.write("\n".join(found.said if arguments.brief else _as_lines(found, study, wanted)) + "\n")
    return code


def hours_of(text: str | None) -> float | None:
    """Hours of `90min`, `6h`, `2d`. Raises UserError for anything else."""
    if text is None:
        return None
    found = DEADLINE.fullmatch(text.strip())
    hours = parse_number(found[1], "--deadline") * HOURS[found[2].lower()] if found else 0.0
    if not hours > 0:
        raise UserError(f"--deadline is {text!r}; expected a time such as 90min, 6h or 2d")
    return hours


def outcome(verdict: Outcome | None, jobs: Rows, classes: Rows) -> int:
    """The exit code: of the deadlines where one was asked for, of classes of jobs first; else of the verdict."""
    if due := classes or jobs:
        if any(pd.isna(row["option"]) for row in due):
            return NOT_IN_TIME
        return TOO_CLOSE if any(row.get("confidence") == TIE for row in due) else ANSWER
    if verdict is None or verdict.confidence == NOT_DECIDED:
        return NO_ANSWER
    return TOO_CLOSE if verdict.close else ANSWER


def _as_lines(found: Answer, study: Study, wanted: Wanted) -> list[str]:
    """The study and what was asked, the verdict, who is in time, what a shared machine lets wait."""
    use = "the study's own use" if wanted.days is None else f"{wanted.days:g} days of use a month"
    jobs = "" if wanted.jobs is None else f", {wanted.jobs:g} times the jobs"
    money, lines = money_of(study), [f"{study.title} ({study.name}, as of {study.as_of}, {use}{jobs})"]
    lines += [*found.said, *found.rests_on]
    for row in found.classes:
        sure = "" if row["p_in_time"] > 0.99 else f" (in time in {percent(row['p_in_time'])} of cases)"
        told = f"Within {row['within_hours']:g} h, {class_title(row['class'])}"
        lines.append(f"{told}: {_in_time(row, row['status'], money, sure + _had(row))}")
    classes = {f"{row['workload']}.{row['class']}" for row in found.classes}
    for row in found.jobs:
        sure = f" ({percent(row['p_cheapest'])} sure that it is the cheapest in time)"
        close = f"; {row['verdict']}" if row["verdict"] != row["title"] else ""
        if row["workload"] not in classes:
            more = sure + close + _had(row)
            lines.append(f"{_named(row)['phase']}: {_in_time(row, row['verdict'], money, more)}")
    lines += [OF_JOBS] if found.jobs and found.phased else []
    lines += [f"Money in {study.currency.in_words()}."] if study.currency is not None else []
    return [*filter(None, lines), *found.waiting]


def _as_json(found: Answer, study: Study, wanted: Wanted, code: int) -> str:
    """The same as an object; amounts in USD. Absent figures are null."""
    content = {
        "study": study.name,
        "as_of": study.as_of.isoformat(),
        "question": study.question,
        "inputs": {"days_per_month": wanted.days, "jobs_factor": wanted.jobs, "deadline_hours": wanted.due},
        "outcome": OUTCOMES[code],
        "verdict": None if found.verdict is None else found.verdict.model_dump(),
        "sentences": found.said,
        "rests_on": found.rests_on,
        "model": found.model or None,
        "deadline": [_named(row) | {name: row.get(name) for name in OF_A_JOB} for row in found.jobs],
        "plan_deadlines": [{name: row[name] for name in OF_A_CLASS if name in row} for row in found.classes],
        "waiting": found.waiting,
    }
    return json.dumps(without_nan(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _answer(case: Case, tables: Tables, arguments: argparse.Namespace) -> Answer:
    verdict, asked = outcome_of(tables), arguments.workload
    said = verdict.sentences() if verdict else [no_answer(len(tables["options"]), len(tables["options"]))]
    due = table_of(tables, "deadlines")
    classes = due[due["is_asked"].astype(bool) & due["class"].notna()].to_dict("records") if len(due) else []
    return Answer(
        verdict=verdict,
        said=said[:2] if arguments.brief else said,
        rests_on=how_sure.notes(tables),
        model=asked_model(tables),
        jobs=[row for row in case.deadlines.to_dict("records") if asked in (None, row["workload"])],
        classes=[row for row in classes if asked in (None, f"{row['workload']}.{row['class']}")],
        waiting=waiting_in_words(table_of(tables, "queue")) if arguments.waiting else [],
        phased=leading(tables) == ROUNDS,
    )


def _in_time(row: Mapping[Any, Any], nobody: str, money: Money, more: str) -> str:
    """Who finishes in time, for how much; `nobody`: why none does."""
    if pd.isna(row["option"]):
        return f"{nobody}."
    paid = money.words(row["usd"]) + dues_in_words(row, money)
    return f"{the(str(row['title']))}, {amount(row['hours'])} h for {paid}{more}."


def _had(row: Mapping[Any, Any]) -> str:
    """In what share of attempts its result is there in time, the search included."""
    share = row.get("p_result_in_time")
    return "" if share is None or pd.isna(share) else f"; counted from today, {percent(share)} of attempts are in time"


def _named(row: Mapping[str, Any]) -> dict[str, str]:
    return {"phase": f"{row['workload']} within {span(row['within_hours'])}", "scope": row["workload"]}


def _known(folder: Path, study: str) -> Tables:
    files = {name: folder / f"{name}.parquet" for name in TABLES}
    if not files["options"].is_file():
        raise UserError(
            f"{files['options']}: the file is needed and does not exist; `make report STUDY={study}` makes it"
        )
    return {name: read_parquet(file) for name, file in files.items() if file.is_file()}


def _phased(results: Path, plans: Mapping[str, Plan], machines: Mapping[str, Instance], needs: Needs) -> Phased:
    throughput, extrapolation = (read_parquet(results / f"{name}.parquet") for name in ("throughput", "extrapolation"))
    offer_files = sorted((results / "offers").glob("*.parquet"))
    priced = [(read_parquet(file), read_parquet(results / "fees" / file.name)) for file in offer_files]
    return Phased(cells_to_price(throughput, extrapolation), priced, plans, machines, needs)


def _queued(anew: Tables, known: Tables) -> Tables:
    """Tables decided anew; what the results say of the waiting of the same jobs is of another number or use."""
    if "queue" not in anew:
        return anew
    rows = known.get("queue", NO_ROWS)
    others = rows[~rows["workload"].isin(anew["queue"]["workload"])] if len(rows) else rows
    return anew | {"queue": pd.concat([others, anew["queue"]])}


def _check(wanted: Wanted, workload: str | None, options: pd.DataFrame, study: Study, planned: bool) -> None:
    days, jobs, due = wanted
    if days is not None and not 0 < days <= study.month_days:
        raise UserError(f"--days is {days:g}; expected more than 0, at most the month's {study.month_days:g}")
    if days is not None and not (options["purchase"] == "own").any():
        raise UserError(f"--days is {days:g}; expected none: study {study.name} prices no machine of one's own")
    known = sorted(options["workload"].dropna().unique())
    if workload is not None and workload not in known:
        raise UserError(f"--workload is {workload!r}; expected one of {', '.join(known)}")
    if workload is not None and due is None:
        raise UserError("--workload needs --deadline: the answer is about the study's models, not about one workload")
    if jobs is not None and not 0 < jobs <= MOST_TIMES:
        raise UserError(f"--jobs is {jobs:g}; expected more than 0, at most {MOST_TIMES}: times the jobs of a plan")
    if jobs is not None and not planned:
        raise UserError(f"--jobs is {jobs:g}; expected none: study {study.name} has no plan, of months or of phases")


def _newer(written: Path, folder: Path) -> str:
    """A file of the study that was edited after the results were made; empty for none."""
    made = (folder / "options.parquet").stat().st_mtime
    files = [*(written / name for name in READ_BY), *sorted((written / "prices").glob("*.yaml"))]
    return next((str(file) for file in files if file.is_file() and file.stat().st_mtime > made), "")
