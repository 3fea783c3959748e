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
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.commands.ask_phases import phases_of
from sweetspot.commands.ask_plan import Wanted, check_jobs, plan_tables
from sweetspot.decision.asked import Asked, ask
from sweetspot.decision.certainty import TIE, amount, percent
from sweetspot.decision.counted import Money, the
from sweetspot.decision.settings import Settings
from sweetspot.decision.verdict import no_answer
from sweetspot.decision.waiting_words import waiting_in_words
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.report.in_currency import money_of
from sweetspot.report.outcome import Outcome, outcome_of
from sweetspot.report.plan_part import PHASES, leading
from sweetspot.report.tables import Tables
from sweetspot.study.study import Study, load_study
from sweetspot.study.titles import class_title
from sweetspot.study.workloads import load_monthly

ANSWER, NO_ANSWER, TOO_CLOSE, NOT_IN_TIME = 0, 2, 3, 4
OUTCOMES = {ANSWER: "answer", NO_ANSWER: "no answer", TOO_CLOSE: TIE, NOT_IN_TIME: "nothing in time"}
HOURS = {"min": 1 / 60, "h": 1.0, "d": 24.0}
DEADLINE = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d)")
READ_BY = ("study.yaml", "workloads.yaml", "instances.yaml", "throughput.csv", "efficiency.csv", "time_to_target.csv")
SHOWN = ("reference", "winner", "alternative", "cheapest_of_all", "fastest")
OF_A_DEADLINE = (
    "workload", "class", "within_hours", "option", "title", "hours", "wait_hours", "usd", "usd_extra", "p_in_time",
    "share_in_time", "status",
)  # fmt: skip
OF_JOBS = "The deadline is of single jobs, below; it is not one of the whole project."
NO_ROWS = pd.DataFrame()
FIGURES = ("gain", "gain_low", "gain_high", "p_cheaper", "days", "days_low", "days_high", "planned_days")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot ask`."""
    parser.add_argument("study", metavar="STUDY", help="a folder under config/studies/ whose report was made")
    parser.add_argument("--days", type=float, metavar="N", help="days of use a month of every owned machine")
    parser.add_argument("--jobs", type=float, metavar="FACTOR", help="times the jobs of a plan, of months or of phases")
    parser.add_argument("--deadline", metavar="TIME", help="when the result is due: 90min, 6h, 2d")
    parser.add_argument("--workload", metavar="NAME", help="of workloads.yaml: the deadline of this one alone")
    parser.add_argument("--brief", action="store_true", help="print the verdict alone: two lines")
    parser.add_argument("--waiting", action="store_true", help="say too how long jobs wait for shared machines")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead, for programs")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where results are (results)")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; its exit code. Raises UserError."""
    deadline = hours_of(arguments.deadline)
    study = load_study(arguments.config / "studies" / arguments.study)
    folder = arguments.results / study.name / "comparison"
    options = _options(folder, study.name)
    works = load_monthly(arguments.config / "studies" / study.name / "workloads.yaml")
    _check(options, study, arguments.days)
    _check_workload(options, arguments.workload, deadline)
    written = arguments.config / "studies" / study.name
    check_jobs(arguments.jobs, [*works, *phases_of(written / "workloads.yaml")], study.name)
    due = [] if deadline is None else [deadline]
    settings = Settings.of(study)
    found = ask(options, study.seed, study.month_days, study.counts, arguments.days, due, settings.money)
    if arguments.workload is not None:
        found = found._replace(deadlines=found.deadlines[found.deadlines["scope"] == arguments.workload])
    asked = (arguments.days, arguments.jobs, deadline)
    model = None if found.headline.empty else str(found.headline["model"].iloc[0])
    plan = plan_tables(folder, works, written, options, study, asked, arguments.workload, model)
    verdict = outcome_of(plan)
    beside = _told(found, options, study, folder, plan)
    code = outcome(found, verdict, plan, deadline)
    stale = _newer(arguments.config / "studies" / study.name, folder)
    if stale:
        sys.stderr.write(f"note: {stale} is newer than the results; `make report STUDY={study.name}` reads it\n")
    said = verdict.sentences() if verdict else [beside["nothing"]]
    beside |= {"verdict": verdict, "said": said[:2] if arguments.brief else said, "brief": arguments.brief}
    beside["waiting"] = beside["waiting"] if arguments.waiting else []
    write = as_json if arguments.json else as_text
    sys.stdout.write(write(found, study, asked, beside, code))
    return code


def hours_of(text: str | None) -> float | None:
    """Hours of `90min`, `6h`, `2d`. Raises UserError for anything else."""
    if text is None:
        return None
    found = DEADLINE.fullmatch(text.strip())
    hours = float(found[1]) * HOURS[found[2]] if found else 0.0
    if not hours > 0:
        raise UserError(f"--deadline is {text!r}; expected a time such as 90min, 6h or 2d")
    return hours


def outcome(found: Asked, verdict: Outcome | None, plan: Tables | None = None, deadline: float | None = None) -> int:
    """The exit code: of the deadline where one was asked for, else of the verdict."""
    due = (plan or {}).get("deadlines", NO_ROWS)
    if deadline is not None and len(due):
        return NOT_IN_TIME if due["option"].isna().any() else ANSWER
    if len(found.deadlines):
        if found.deadlines["option"].isna().any():
            return NOT_IN_TIME
        return TOO_CLOSE if found.deadlines["confidence"].eq(TIE).any() else ANSWER
    if verdict is None:
        return NO_ANSWER
    return TOO_CLOSE if verdict.close else ANSWER


def as_text(found: Asked, study: Study, asked: Wanted, told: Mapping[str, Any], code: int) -> str:
    """Sentences, a line each: the verdict, who is in time, what a shared machine lets wait."""
    if told["brief"]:
        return "\n".join(filter(None, told["said"])) + "\n"
    lines = [f"{study.title} ({study.name}, {_asked(study, asked)})", *told["said"]]
    lines += [
        f"Within {row['within_hours']:g} h, {class_title(row['class'])}: {_urgent(row, study)}" for row in told["due"]
    ]
    for row in found.deadlines[~found.deadlines["scope"].isin(told["classes"])].to_dict("records"):
        lines.append(f"{row['phase']}: {_in_time(row, Settings.of(study).money)}")
    lines += [OF_JOBS] if len(found.deadlines) and told["phased"] else []
    lines += [f"Money in {study.currency.in_words()}."] if study.currency is not None else []
    return "\n".join([*filter(None, [*lines, *told["waiting"]])]) + "\n"


def _urgent(row: Mapping[str, Any], study: Study) -> str:
    """The cheapest in time for an urgent job of a class."""
    if pd.isna(row["option"]):
        return f"{row['status']}."
    money = money_of(study)
    sure = "" if row["p_in_time"] > 0.99 else f" (in time in {percent(row['p_in_time'])} of cases)"
    return f"{the(str(row['title']))}, {amount(row['hours'])} h for {money.words(row['usd'])}{sure}."


def as_json(found: Asked, study: Study, asked: Wanted, told: Mapping[str, Any], code: int) -> str:
    """The same as an object; amounts in USD. Absent figures are null."""
    first = found.headline.iloc[0].to_dict() if len(found.headline) else {}
    content = {
        "study": study.name,
        "as_of": study.as_of.isoformat(),
        "question": study.question,
        "inputs": {"days_per_month": asked[0], "jobs_factor": asked[1], "deadline_hours": asked[2]},
        "outcome": OUTCOMES[code],
        "verdict": None if told["verdict"] is None else told["verdict"].model_dump(),
        "sentences": told["said"],
        "model": first.get("model"),
        **{name: {"option": first.get(name), "title": first.get(f"{name}_title")} for name in SHOWN},
        **{name: _plain(first.get(name)) for name in FIGURES},
        "confidence": first.get("confidence"),
        "deadline": [
            {name: _plain(row[name]) for name in ("phase", "scope", "option", "title", "usd", "hours", "probability",
                                                  "confidence", "verdict")}
            for row in found.deadlines.to_dict("records")
        ],
        "plan_deadlines": told["deadlines"],
        "waiting": told["waiting"],
    }  # fmt: skip
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _in_time(row: Mapping[str, Any], money: Money) -> str:
    """Who finishes in time, for how much, and how sure that is."""
    if pd.isna(row["option"]):
        return f"{row['verdict']}."
    chance = f"{percent(row['probability'])} sure that it is the cheapest in time"
    close = "" if row["verdict"] == row["title"] else f"; {row['verdict']}"
    paid = f"{amount(money.of(row['usd']))} {money.code}"
    return f"{the(str(row['title']))}, {amount(row['hours'])} h for {paid} ({chance}){close}."


def _asked(study: Study, asked: Wanted) -> str:
    days, jobs, _ = asked
    use = "the study's own use" if days is None else f"{days:g} days of use a month"
    return f"as of {study.as_of}, {use}" + ("" if jobs is None else f", {jobs:g} times the jobs")


def _plain(value: Any) -> Any:
    return None if value is None or (isinstance(value, float) and not math.isfinite(value)) else value


def _options(folder: Path, study: str) -> pd.DataFrame:
    file = folder / "options.parquet"
    if not file.is_file():
        raise UserError(f"{file}: the file is needed and does not exist; `make report STUDY={study}` makes it")
    return read_parquet(file)


def _check(options: pd.DataFrame, study: Study, days: float | None) -> None:
    if days is None:
        return
    if not 0 < days <= study.month_days:
        raise UserError(f"--days is {days:g}; expected more than 0, at most the month's {study.month_days:g}")
    if not (options["purchase"] == "own").any():
        raise UserError(f"--days is {days:g}; expected none: study {study.name} prices no machine of one's own")


def _check_workload(options: pd.DataFrame, name: str | None, deadline: float | None) -> None:
    if name is None:
        return
    known = sorted(options["workload"].dropna().unique())
    if name not in known:
        raise UserError(f"--workload is {name!r}; expected one of {', '.join(known)}")
    if deadline is None:
        raise UserError("--workload needs --deadline: the answer is about the study's models, not about one workload")


def _told(found: Asked, options: pd.DataFrame, study: Study, folder: Path, plan: Tables) -> dict[str, Any]:
    """What stands beside the verdict: deadlines of classes of jobs, the wait for shared machines."""
    file = folder / "queue.parquet"
    queue = read_parquet(file) if file.is_file() else NO_ROWS
    if "queue" in plan:  # decided anew: what the results say of the same jobs is of another number or use
        queue = pd.concat([queue[~queue["workload"].isin(plan["queue"]["workload"])], plan["queue"]])
    due = plan.get("deadlines", NO_ROWS)
    shown = [name for name in OF_A_DEADLINE if name in due.columns]
    rows = due.to_dict("records")
    return {
        "phased": leading(plan) == PHASES,
        "due": rows,
        "deadlines": [{name: _plain(row[name]) for name in shown} for row in rows],
        "classes": sorted(f"{row['workload']}.{row['class']}" for row in rows),
        "nothing": no_answer(len(options), len(options)),
        "waiting": waiting_in_words(queue),
    }


def _newer(written: Path, folder: Path) -> str:
    """A file of the study that was edited after the results were made; empty for none."""
    made = (folder / "options.parquet").stat().st_mtime
    files = [*(written / name for name in READ_BY), *sorted((written / "prices").glob("*.yaml"))]
    return next((str(file) for file in files if file.is_file() and file.stat().st_mtime > made), "")
