"""What the page's controls of a plan of phases calculate with."""

from typing import Any

from sweetspot.report.cited import records
from sweetspot.report.notation import missing
from sweetspot.report.plan_part import PHASES, leading, leading_work, plan_is_done, plan_rows
from sweetspot.report.tables import Tables, table_of

OF_A_PHASE = {"jobs": "jobs", "slots": "slots", "hours": "job_hours", "usd": "usd"}
WHOLE_MONTH = 100.0  # per cent of the planned days, where no machine is owned


def phase_what_if(tables: Tables, month_days: float, code: str = "USD") -> dict[str, Any]:
    """The plan of phases that leads at central figures; empty where another leads, or nothing does its work.

    Keys: `currency`; `most_days`: per cent of the planned days of use that a month has, for every machine; `options`
    (option, alternative, title, `own`, `hours` of the plan, `held` and of it `bought` USD by the month of all
    `machines`, `least` of them, `room` hours of one or null, `phases` by OF_A_PHASE), the cheapest first.
    """
    table, work = table_of(tables, "phase_figures"), leading_work(tables)
    if leading(tables) != PHASES or table.empty or not plan_is_done(tables):
        return {}
    hours = {row["option"]: float(row["hours"]) for row in records(plan_rows(tables))}
    options: dict[str, dict[str, Any]] = {}
    for row in records(table[table["workload"] == work]):
        one = options.setdefault(row["option"], _option(row, hours[row["option"]]))
        one["phases"].append({name: float(row[column]) for name, column in OF_A_PHASE.items()})
    offers = table_of(tables, "offers")
    own = offers[offers["purchase"] == "own"] if len(offers) else offers
    days = own["days_per_month"].max() if len(own) and "days_per_month" in own.columns else None
    most = WHOLE_MONTH if missing(days) else 100.0 * month_days / float(days)  # type: ignore[arg-type]
    return {"currency": code, "most_days": most, "options": list(options.values())}


def _option(row: dict[str, Any], hours: float) -> dict[str, Any]:
    return {
        **{name: str(row[name]) for name in ("option", "alternative", "title")},
        "own": row["purchase"] == "own",
        "hours": hours,
        "held": float(row["usd_possession"]),
        "bought": float(row["usd_purchase"]),
        **{name: float(row[name]) for name in ("machines", "least")},
        "room": None if missing(row["room_hours"]) else float(row["room_hours"]),
        "phases": [],
    }
