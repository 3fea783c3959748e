"""The evidence on plans: which leads, its best and rival, the tables of mixes; and what has no speed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.titles import class_title

if TYPE_CHECKING:
    import pandas as pd

STEP = "comparison: mixes, dispatched in order of merit on all draws"
NAMED = 12  # machines by name in one sentence


MONTHS, PHASES = "months", "phases"  # kinds of plans


def leading(tables: Tables) -> str | None:
    """The kind of the plan that leads: that of months where there is one, else that of phases; None without any."""
    return MONTHS if len(table_of(tables, "mixes")) else PHASES if len(table_of(tables, "plan_options")) else None


def leading_work(tables: Tables) -> str | None:
    """The workload of the plan that leads; None without any."""
    table = table_of(tables, "plan_options" if leading(tables) == PHASES else "mixes")
    return None if table.empty else str(table["workload"].iloc[0])


def plan_rows(tables: Tables) -> "pd.DataFrame":
    """The options of the plan of phases that leads, cheapest first; none where another leads, or none."""
    table = table_of(tables, "plan_options")
    return table[table["workload"] == leading_work(tables)] if leading(tables) == PHASES else table.head(0)


def plan_row(tables: Tables, name: str) -> dict[str, Any] | None:
    """The best (`is_best`) or its rival (`is_rival`) among `plan_rows`; None where there is none."""
    rows = plan_rows(tables)
    found = records(rows[rows[name].astype(bool)]) if len(rows) else []
    return found[0] if found else None


def plan_pair(tables: Tables) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The best of the plan that leads and what it is held against; None where nothing else does the work."""
    if leading(tables) == MONTHS:
        mixes = table_of(tables, "mixes")
        own = mixes[mixes["workload"] == leading_work(tables)]
        best = own.head(1)
        rivals = own[(own["kind"] != "best") & ~own["same_as_best"].astype(bool) & own["usd_per_month"].notna()]
    else:
        rows = plan_rows(tables)
        best, rivals = (rows[rows[name].astype(bool)] if len(rows) else rows for name in ("is_best", "is_rival"))
    return (records(best)[0], records(rivals)[0]) if len(best) and len(rivals) else None


def plan_is_done(tables: Tables) -> bool:
    """Whether something does the work of the plan that leads."""
    if leading(tables) == MONTHS:
        return bool(table_of(tables, "mixes")["status"].iloc[0] == "ok")
    return plan_row(tables, "is_best") is not None


def without_speed(tables: Tables, machines: Mapping[str, str]) -> str:
    """What is priced or asked for and has no speed, for the top of the page; empty where all have one.

    `machines`: names for people by instance.
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
        said.append(_listed(f"Priced, but no speed for {model}", [machines.get(name, name) for name in names]))
    said += [f"{message[:1].upper()}{message[1:]}." for message in parts.loc[parts["instance"].isna(), "message"]]
    return " ".join(filter(None, said))


def _listed(words: str, names: list[str]) -> str:
    if not names:
        return ""
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{words}: {', '.join(names[:NAMED])}{rest}."


def plan_parts(made: Sections) -> dict[str, Part]:
    """The tables of the mixes, of one job of each class on each machine, and of the deadlines."""
    return {"mixes": _mixes(made), "jobs": _jobs(made), "deadlines": _deadlines(made)}


def _mixes(made: Sections) -> Part:
    rows, classes = [], []
    for row in records(made.table("mixes").head(ROWS)):
        if row["same_as_best"]:
            continue
        names = ("there_device_hours", "bought_device_hours", "rented_device_hours")
        hours = [made.made(row, name, STEP) for name in names]
        usd = [made.made(row, name, STEP) for name in ("usd_per_month", "usd")]
        chance = "" if missing(row["p_cheaper"]) else made.probability(row, "p_cheaper", STEP)
        status = "" if row["status"] == "ok" else text(row["status"])
        rows.append([made.work(row), text(row["title"]), *hours, *usd, chance, status])
        classes.append("good" if row["kind"] == "best" else "")
    head = "workload|mix|device-hours a month: there|bought|rented|USD a month|USD in all|P(cheaper)|what it lacks"
    return Part(tuple(head.split("|")) if rows else (), rows, classes)


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
            *(made.probability(row, name, step) for name in ("p_cheapest", "p_in_time", "share_in_time")),
        ]
        for row in records(asked.head(ROWS))
    ]
    head = "job|within h|cheapest in time|hours|USD of one|beyond an ordinary one|P(cheapest)|P(in time)|others in time"
    return Part(tuple(head.split("|")) if rows else (), rows, [""] * len(rows))
