"""The evidence on plans: which leads, the tables of choices, jobs and deadlines; and what has no speed."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.titles import class_title
from sweetspot.wording import DISPATCH, ROUNDS, SHARE

if TYPE_CHECKING:
    import pandas as pd

STEP = "comparison: all of the plan, by simulation"
P_OF_A_DEADLINE = ("p_cheapest", "p_in_time", "p_result_in_time", "share_in_time")
NAMED = 12  # machines by name in one sentence


def leading(tables: Tables) -> str | None:
    """The cost of the plan that leads: dispatch where there is work of months, else rounds; None without any plan."""
    costs = set(table_of(tables, "choices").get("cost", ()))
    return next((cost for cost in (DISPATCH, ROUNDS) if cost in costs), None)


def leading_work(tables: Tables) -> str | None:
    """The workload of the plan that leads; None without any."""
    rows = _leading_rows(tables)
    return None if rows.empty else str(rows["workload"].iloc[0])


def plan_is_done(tables: Tables) -> bool:
    """Whether something does the work of the plan that leads."""
    rows = _leading_rows(tables)
    return (
        bool(rows.loc[rows["workload"] == leading_work(tables), "is_best"].astype(bool).any()) if len(rows) else False
    )


def _leading_rows(tables: Tables) -> "pd.DataFrame":
    table, cost = table_of(tables, "choices"), leading(tables)
    return table.head(0) if cost is None else table[table["cost"] == cost]


def without_speed(tables: Tables, machines: Mapping[str, str], model_title: Callable[[str], str]) -> str:
    """What is priced or asked for and has no speed, for the top of the page; empty where all have one.

    `machines`: names for people by instance; `model_title`: that of a model.
    """
    table = table_of(tables, "warnings").reindex(columns=["rule", "instance", "model", "message"])
    speechless = table[table["rule"].isin(["no_figure", "no_speed"])]
    if speechless.empty:
        return ""
    whole = list(dict.fromkeys(speechless.loc[speechless["rule"] == "no_figure", "instance"].dropna()))
    said = [_listed("Priced, but no speed", [machines.get(name, name) for name in whole])]
    parts = speechless[(speechless["rule"] == "no_speed") & ~speechless["instance"].isin(whole)]
    for model, rows in parts[parts["instance"].notna()].groupby("model", sort=False):
        names = list(dict.fromkeys(rows["instance"]))
        about = f"Priced, but no speed for {model_title(str(model))}"
        said.append(_listed(about, [machines.get(name, name) for name in names]))
    said += [f"{message[:1].upper()}{message[1:]}." for message in parts.loc[parts["instance"].isna(), "message"]]
    return " ".join(filter(None, said))


def _listed(words: str, names: list[str]) -> str:
    if not names:
        return ""
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{words}: {', '.join(names[:NAMED])}{rest}."


def plan_parts(made: Sections) -> dict[str, Part]:
    """The tables of the choices of plans, of one job of each class on each machine, and of the deadlines."""
    return {"choices": _choices(made), "jobs": _jobs(made), "deadlines": _deadlines(made)}


def _choices(made: Sections) -> Part:
    table = made.table("choices")
    table, rows, classes = table[table["cost"] != SHARE] if len(table) else table, [], []
    for row in records(table.head(ROWS)):
        figures = [made.made(row, name, STEP) for name in ("usd", "usd_per_month", "ratio", "hours", "device_hours")]
        chance = "" if missing(row["p_cheapest"]) else made.probability(row, "p_cheapest", STEP)
        rows.append([made.work(row), text(row["title"]), *figures, chance, text(row["why_not"])])
        classes.append("good" if row["is_best"] else "" if row["persistent"] else "interruptible")
    head = "plan|choice|USD in all|USD a month|times the best|hours|device-hours|P(cheapest)|why it is not the answer"
    return Part(tuple(head.split("|")) if rows else (), rows, classes, max(0, len(table) - ROWS))


def _jobs(made: Sections) -> Part:
    rows, classes = [], []
    table = made.table("jobs")
    for row in records(table.head(ROWS)):
        name = f"{class_title(row['class'])}{' (urgent)' if row['urgent'] else ''}"
        figures = [made.made(row, column, "comparison: one job of each class") for column in ("hours", "usd")]
        said = ["" if missing(row["jobs_at_once"]) else f"{row['jobs_at_once']:g}", text(row["status"])]
        rows.append([made.work(row), name, text(row["title"]), *figures, *said])
        classes.append("" if row["status"] == "fits" else "failed")
    head = "workload|class|machine|hours of a job|USD of a job|at once|status"
    return Part(tuple(head.split("|")) if rows else (), rows, classes, max(0, len(table) - ROWS))


def _deadlines(made: Sections) -> Part:
    table, step = made.table("deadlines"), "comparison: deadlines"
    asked = table[table["is_asked"].astype(bool)] if len(table) else table
    rows = [
        [
            made.work(row) if missing(row["class"]) else class_title(row["class"]),
            made.made(row, "within_hours", "study.yaml" if missing(row["class"]) else "workloads.yaml"),
            text(row["verdict"]) or text(row["title"]) or text(row["status"]),
            *(made.made(row, name, step) for name in ("hours", "usd", "usd_extra")),
            *(made.probability(row, name, step) for name in P_OF_A_DEADLINE),
        ]
        for row in records(asked.head(ROWS))
    ]
    head = "job|within h|cheapest in time|hours|USD of one|beyond an ordinary one|P(cheapest)|P(in time)|P(from today)"
    head += "|others in time"
    return Part(tuple(head.split("|")) if rows else (), rows, [""] * len(rows))
