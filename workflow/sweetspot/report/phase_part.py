"""The page's key figures of a plan; of a plan of phases the options named, and the table of all options."""

from typing import Any

from markupsafe import Markup

from sweetspot.cells import weakest
from sweetspot.decision.counted import the
from sweetspot.report.answer import Table
from sweetspot.report.cited import Cited, records, text
from sweetspot.report.notation import interval_text, missing, number
from sweetspot.report.part import Part
from sweetspot.report.plan_part import MONTHS, leading, plan_is_done, plan_pair, plan_row, plan_rows
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables

STEP = "comparison: all of the plan, by simulation"
ROLES = {"answer": "the answer", "next": "the next", "asked": "what the question is about", "fastest": "fastest",
         "taken": "cheapest that can be taken away"}  # fmt: skip


def plan_tiles(cited: Cited, code: str) -> list[tuple[str, Markup, str]]:
    """Key figures of the plan that leads, as (label, value, interval); none without one that something does.

    How many times the next costs, how sure that is, what the plan costs. `code`: the currency of the tables.
    """
    tables = cited.tables
    if leading(tables) is None or not plan_is_done(tables):
        return []
    pair, months = plan_pair(tables), leading(tables) == MONTHS
    best = (plan_row(tables, "is_best") or records(cited.table("mixes").head(1))[0]) if pair is None else pair[0]
    winner, found = the(text(best["title"])), []
    if pair is not None:
        rival = pair[1] | _weaker(*pair)
        label = f"times cheaper: {winner} than {the(text(rival['title']))}"
        ends = span(rival, "times_best")
        found.append((label, cited.made(rival, "times_best", STEP, unit="×"), ends))
        if ends:
            chance = cited.probability(rival | {"p_cheaper": 1.0 - rival["p_cheaper"]}, "p_cheaper", STEP)
            found.append((f"probability that {winner} is the cheaper", chance, ""))
    name, of = ("usd_per_month", "a month") if months else ("usd", f"for {_project(best)}")
    return [*found, (f"{code} {of}, with {winner}", cited.made(best, name, STEP), span(best, name))]


def _weaker(best: dict[str, Any], rival: dict[str, Any]) -> dict[str, str]:
    """What a comparison of two options rests on: the weaker of their bases; nothing where they have none."""
    both = [text(row["basis"]) for row in (best, rival) if not missing(row.get("basis"))]
    return {"basis": weakest(*both)} if both else {}


def span(row: dict[str, Any], name: str) -> str:
    """The interval of a figure, as the page's tiles have it; nothing where both ends print alike."""
    ends = _span_of(row, name)
    return f"{ends} (90 %)" if ends else ""


def roles(tables: Tables, reference: object) -> dict[str, list[str]]:
    """What each option of the plan that leads is here, by option, in the order of ROLES."""
    rows = plan_rows(tables)
    best, rival = plan_row(tables, "is_best"), plan_row(tables, "is_rival")
    if best is None:
        return {}
    field = rows[rows["persistent"].astype(bool)] if best["persistent"] else rows
    quick = field.sort_values(["hours", "usd"], kind="stable")["option"].iloc[0]
    taken = rows[~rows["persistent"].astype(bool)].sort_values("usd", kind="stable")["option"]
    named = {
        "answer": best["option"],
        "next": None if rival is None else rival["option"],
        "asked": reference if reference in set(rows["option"]) else None,
        "fastest": quick if field["hours"].nunique() > 1 else None,
        "taken": taken.iloc[0] if len(taken) and best["persistent"] else None,
    }
    told: dict[str, list[str]] = {}
    for role, option in named.items():
        if option is not None:
            told.setdefault(str(option), []).append(ROLES[role])
    return told


def plan_named(cited: Cited, reference: object, code: str) -> Table:
    """The options that the sentences of the plan name: what the project costs and takes; empty without a plan."""
    told = roles(cited.tables, reference)
    rows = {row["option"]: row for row in records(plan_rows(cited.tables))}
    made: list[object] = []
    for option, said in told.items():
        row = rows[option]
        cells = [(cited.made(row, name, STEP), span(row, name)) for name in ("usd", "hours")]
        made.append((text(row["title"]), ", ".join(said), cells))
    return {"head": ["option", f"{code} of the project", "hours of the project"] if made else [], "rows": made}


def phase_parts(made: Sections) -> dict[str, Part]:
    """The table of all options of the plans of phases, cheapest first."""
    rows, classes = [], []
    table = made.table("plan_options")
    for row in records(table.head(ROWS)):
        chance = "" if missing(row["p_cheapest"]) else made.probability(row, "p_cheapest", STEP)
        bought = "" if missing(row["machines"]) else number(row["machines"])
        figures = [made.made(row, name, STEP) for name in ("usd", "usd_possession", "times_best", "hours")]
        planned = "" if missing(row["planned_hours"]) else number(row["planned_hours"])
        rows.append([made.work(row), text(row["title"]), bought, *figures, planned, chance])
        classes.append("good" if row["is_best"] else "" if row["persistent"] else "interruptible")
    head = "plan|option|bought|USD in all|of that by the month|times the cheapest|hours|planned hours|P(cheapest)"
    return {"plan_options": Part(tuple(head.split("|")) if rows else (), rows, classes, max(0, len(table) - ROWS))}


def _span_of(row: dict[str, Any], name: str) -> str:
    """The interval of a figure of a row; nothing where both ends print alike."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return "" if number(low) == number(high) else interval_text(low, high)


def _project(row: dict[str, Any]) -> str:
    """What a plan's money is of: the project, with its months where they are known."""
    return "the project" if missing(row.get("months")) else f"the project of {float(row['months']):g} months"
