"""Ask what a study found: the answer in the page's words, at another use, or within a deadline. Reads results only.

Reads study.yaml and comparison/options.parquet of results/STUDY, which `make report STUDY=...` made. With --days every
owned machine is used so many days a month; with --deadline it is said for each workload who finishes in time for the
least money. The same draws as the page's: asked for the study's own use, it prints the page's sentences. Where the
study has the work of months, what to have and what to rent for it stands first; neither flag changes that part.

Exit code: 0 an answer, 3 too close to call, 4 nothing finishes in time (of one workload at least), 2 what you can mend:
a mistake, no results, or no answer yet for want of a price or a speed.

    sweetspot ask mine
    sweetspot ask mine --days 12 --deadline 6h
    sweetspot ask mine --deadline 90min --workload one-run --json
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

from sweetspot.decision.asked import Asked, ask
from sweetspot.decision.certainty import TIE, amount, percent
from sweetspot.decision.counted import Money, the
from sweetspot.decision.sentences import no_answer
from sweetspot.decision.settings import Settings
from sweetspot.decision.waiting_words import waiting_in_words
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.plan_part import OF_A_PLAN, plan_in_words, plan_is_close
from sweetspot.study.study import Study, load_study

ANSWER, NO_ANSWER, TOO_CLOSE, NOT_IN_TIME = 0, 2, 3, 4
OUTCOMES = {ANSWER: "answer", NO_ANSWER: "no answer", TOO_CLOSE: TIE, NOT_IN_TIME: "nothing in time"}
HOURS = {"min": 1 / 60, "h": 1.0, "d": 24.0}
DEADLINE = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d)")
READ_BY = ("study.yaml", "workloads.yaml", "instances.yaml", "throughput.csv", "efficiency.csv", "time_to_target.csv")
SHOWN = ("reference", "winner", "alternative", "cheapest_of_all", "fastest")
FIGURES = ("gain", "gain_low", "gain_high", "p_cheaper", "days", "days_low", "days_high", "planned_days")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot ask`."""
    parser.add_argument("study", metavar="STUDY", help="a folder under config/studies/ whose report was made")
    parser.add_argument("--days", type=float, metavar="N", help="days of use a month of every owned machine")
    parser.add_argument("--deadline", metavar="TIME", help="when the result is due: 90min, 6h, 2d")
    parser.add_argument("--workload", metavar="NAME", help="of workloads.yaml: the deadline of this one alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead, for programs")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where results are (results)")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; its exit code. Raises UserError."""
    deadline = hours_of(arguments.deadline)
    study = load_study(arguments.config / "studies" / arguments.study)
    folder = arguments.results / study.name / "comparison"
    options = _options(folder, study.name)
    _check(options, study, arguments.days)
    _check_workload(options, arguments.workload, deadline)
    due = [] if deadline is None else [deadline]
    settings = Settings.of(study)
    told = (settings.money, settings.deadlines_hours)
    found = ask(options, study.seed, study.month_days, study.counts, arguments.days, due, *told)
    if arguments.workload is not None:
        found = found._replace(deadlines=found.deadlines[found.deadlines["scope"] == arguments.workload])
    beside = _told(found, options, study, folder)
    code = outcome(found, beside["close"] if deadline is None else None)
    stale = _newer(arguments.config / "studies" / study.name, folder)
    if stale:
        sys.stderr.write(f"note: {stale} is newer than the results; `make report STUDY={study.name}` reads it\n")
    write = as_json if arguments.json else as_text
    sys.stdout.write(write(found, study, arguments.days, deadline, beside, code))
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


def outcome(found: Asked, close: bool | None = None) -> int:
    """The exit code: of the deadline where one was asked for, else of the plan (`close`; None: there is none), else of
    one job alone.
    """
    if found.headline.empty:
        return NO_ANSWER
    if close is not None:
        return TOO_CLOSE if close else ANSWER
    rows = found.deadlines if len(found.deadlines) else found.headline.head(1)
    if len(found.deadlines) and rows["option"].isna().any():
        return NOT_IN_TIME
    return TOO_CLOSE if rows["confidence"].eq(TIE).any() else ANSWER


def as_text(
    found: Asked, study: Study, days: float | None, deadline: float | None, told: Mapping[str, Any], code: int
) -> str:
    """Sentences, a line each: the answer, who is in time, what a shared machine lets wait."""
    first = found.headline.iloc[0] if len(found.headline) else None
    lines = [f"{study.title} ({study.name}, {_asked(study, days)})"]
    lines += [*told["plan"], *(["One job alone:"] if told["plan"] else [])]
    lines += [told["nothing"]] if first is None else [str(first["first"]), str(first["second"])]
    for row in found.deadlines.to_dict("records"):
        lines.append(f"{row['phase']}: {_in_time(row, Settings.of(study).money)}")
    lines += [f"Money in {study.currency.in_words()}."] if study.currency is not None else []
    return "\n".join([*filter(None, [*lines, *told["waiting"]])]) + "\n"


def as_json(
    found: Asked, study: Study, days: float | None, deadline: float | None, told: Mapping[str, Any], code: int
) -> str:
    """The same as an object; amounts in USD. Absent figures are null."""
    first = found.headline.iloc[0].to_dict() if len(found.headline) else {}
    content = {
        "study": study.name,
        "as_of": study.as_of.isoformat(),
        "question": study.question,
        "inputs": {"days_per_month": days, "deadline_hours": deadline},
        "outcome": OUTCOMES[code],
        "sentences": [text for text in (first.get("first"), first.get("second")) if text] or [told["nothing"]],
        "model": first.get("model"),
        **{name: {"option": first.get(name), "title": first.get(f"{name}_title")} for name in SHOWN},
        **{name: _plain(first.get(name)) for name in FIGURES},
        "confidence": first.get("confidence"),
        "deadline": [
            {name: _plain(row[name]) for name in ("phase", "scope", "option", "title", "usd", "hours", "probability",
                                                  "confidence", "verdict")}
            for row in found.deadlines.to_dict("records")
        ],
        "plan": told["plan"],
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


def _asked(study: Study, days: float | None) -> str:
    use = "the study's own use" if days is None else f"{days:g} days of use a month"
    return f"as of {study.as_of}, {use}"


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


def _told(found: Asked, options: pd.DataFrame, study: Study, folder: Path) -> dict[str, Any]:
    """What stands beside the answer: why there is none, the work of the months, the wait for shared machines."""
    queue = folder / "queue.parquet"
    waiting = waiting_in_words(read_parquet(queue)) if queue.is_file() else []
    money, files = money_of(study), {name: folder / f"{name}.parquet" for name in OF_A_PLAN}
    plan = shown_in({name: read_parquet(file) for name, file in files.items() if file.is_file()}, money)
    return {
        "plan": plan_in_words(plan, money.code),
        "close": plan_is_close(plan),
        "nothing": no_answer(len(options), len(options)) if found.headline.empty else "",
        "waiting": waiting,
    }


def _newer(written: Path, folder: Path) -> str:
    """A file of the study that was edited after the results were made; empty for none."""
    made = (folder / "options.parquet").stat().st_mtime
    files = [*(written / name for name in READ_BY), *sorted((written / "prices").glob("*.yaml"))]
    return next((str(file) for file in files if file.is_file() and file.stat().st_mtime > made), "")
