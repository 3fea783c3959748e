"""What the page's controls of the plan of months calculate with."""

from typing import Any

from sweetspot.report.cited import records
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.titles import class_title

HELD = ("there", "best_count", "fixed_usd_per_month", "purchase_usd_per_month", "resale_usd_per_month",
        "capacity_hours", "months", "devices")  # fmt: skip


def plan_what_if(tables: Tables, code: str = "USD") -> dict[str, Any]:
    """The first plan of months at central figures; empty where there is none, or no mix does the work.

    Keys: `currency`; `classes` (name, jobs a month); `held` (option, title, HELD, `hours` and `usd` of a job by class,
    null where it does not run); `rented` (option, title, `hours` of devices, `usd` by class).
    """
    table, mixes = table_of(tables, "plan_figures"), table_of(tables, "mixes")
    if table.empty or mixes.empty or mixes["status"].iloc[0] != "ok":
        return {}
    rows = records(table[table["workload"] == mixes["workload"].iloc[0]])
    classes = {row["class"]: float(row["jobs_per_month"]) for row in rows}
    sources: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        sources.setdefault(row["option"], []).append(row)
    made = [_source(of_source) for of_source in sources.values()]
    return {
        "currency": code,
        "classes": [{"name": class_title(name), "jobs": jobs} for name, jobs in classes.items()],
        "held": [one for one in made if "there" in one],
        "rented": [one for one in made if "there" not in one],
    }


def _source(rows: list[dict[str, Any]]) -> dict[str, Any]:
    first = rows[0]
    by_class = {"hours": [_number(row["hours"]) for row in rows], "usd": [_number(row["usd_per_job"]) for row in rows]}
    said = {"option": str(first["option"]), "title": str(first["title"]), **by_class}
    return said if first["kind"] == "by the hour" else said | {name: _number(first[name]) for name in HELD}


def _number(value: object) -> float | None:
    return None if missing(value) else float(value)  # type: ignore[arg-type]
