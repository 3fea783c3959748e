"""The page on what a plan of months hangs on: what would turn it, from when a purchase pays, what to find out."""

import pandas as pd

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import begun, listed, the
from sweetspot.decision.plan_rows import OF_TODAY
from sweetspot.decision.worth_words import worth_in_words
from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, table_of

STEP = "comparison: the best mix with one figure moved, on the plan's draws"
WORTH = "comparison: EVPPI by regression on the plan's draws"
NEAREST = 4  # turning points in the sentence
WHOLE = "device_hours"  # of the table plan_break_even: of all work together


def turning_in_words(tables: Tables) -> str:
    """The nearest figures that turn the first plan, by what it turns to; empty without a plan of months."""
    mixes, points = table_of(tables, "mixes"), table_of(tables, "plan_turning_points")
    if mixes.empty or mixes["status"].iloc[0] != "ok" or "plan_turning_points" not in tables:
        return ""
    own = points[points["workload"] == mixes["workload"].iloc[0]] if len(points) else points
    if own.empty:
        return "No single figure, changed by a factor of 5, would change it."
    shown = own.drop_duplicates("assumption").head(NEAREST)
    told = [
        f"{', or '.join(map(_where, records(rows)))} (then: {title})"
        for title, rows in shown.groupby("to_title", sort=False)
    ]
    return f"What would change it, the nearest first: {'; '.join(told)}."


def _where(row: Row) -> str:
    """Where a figure turns the plan; of what is told as a factor, how far from what it is today."""
    name, side = str(row["assumption"]).removesuffix(OF_TODAY), row["side"]
    if row["unit"] == "x":
        return f"{name} {100 * abs(float(row['factor']) - 1):.2g} % {side} today's"  # type: ignore[arg-type]
    return f"{name} {side} {amount(float(row['turning_value']))} {row['unit']}"  # type: ignore[arg-type]


def paying_in_words(tables: Tables) -> list[str]:
    """From how much work and how many months each machine for sale pays beside what is there."""
    table = table_of(tables, "plan_break_even")
    if table.empty:
        return []
    return [_pays(str(title), rows) for title, rows in table.groupby("title", sort=False)]


def _pays(title: str, rows: pd.DataFrame) -> str:
    found = rows.set_index("quantity")
    said = [f"{begun(the(title))} beside what is there, against renting the rest:"]
    parts = []
    if WHOLE in found.index:
        row = found.loc[WHOLE]
        if missing(row["pays_from"]):
            parts.append(f"it pays at no work up to five times the {amount(row['planned'])} device-hours a month")
        else:
            span = "" if missing(row["pays_from_high"]) else f" to {amount(row['pays_from_high'])}"
            span = f" ({amount(row['pays_from_low'])}{span or ' to never'}, 90 %)"
            start = f"it pays from {amount(row['pays_from'])} device-hours a month on{span}"
            parts.append(f"{start}, of {amount(row['planned'])} planned")
    if "months" in found.index and not missing(found.loc["months", "pays_from"]):
        row = found.loc["months"]
        parts.append(f"where it is used {amount(row['pays_from'])} months or more, of {amount(row['planned'])} planned")
    return f"{said[0]} {listed(parts)}." if parts else ""


def plan_worth_in_words(tables: Tables, code: str = "USD") -> list[str]:
    """What to find out first for the first plan of months, in at most two sentences."""
    table = table_of(tables, "plan_worth_knowing")
    if table.empty:
        return []
    return worth_in_words(table.assign(model=table["workload"]), str(table["workload"].iloc[0]), code)


def turning_parts(made: Sections) -> dict[str, Part]:
    """The tables of the plan's tornado, turning points, break-even and value of information."""
    return {
        "plan_tornado": _tornado(made),
        "plan_turning_points": _points(made),
        "plan_break_even": _break_even(made),
        "plan_worth_knowing": _worth(made),
    }


def _part(head: str, rows: list[list[str]], table: pd.DataFrame, classes: list[str] | None = None) -> Part:
    names = tuple(head.split("|")) if rows else ()
    return Part(names, [[*row] for row in rows], classes or [""] * len(rows), max(0, len(table) - len(rows)))


def _tornado(made: Sections) -> Part:
    table = made.table("plan_tornado")
    rows = [
        [
            text(row["assumption"]),
            *(made.made(row | {"value_low": None, "value_high": None}, name, STEP, "value")
              for name in ("value", "low", "high")),
            made.in_words(row["unit"]),
            *(made.made(row, name, STEP, "none", unit="×") for name in ("margin", "margin_low", "margin_high")),
            made.in_words(row["text"]),
        ]
        for row in records(table.head(ROWS))
    ]  # fmt: skip
    head = "assumption|as planned|low|high|unit|next / best mix|at low|at high|what it does"
    return _part(head, rows, table, ["good" if flips else "" for flips in table.get("flips", [])][: len(rows)])


def _points(made: Sections) -> Part:
    table = made.table("plan_turning_points")
    rows = [
        [
            text(row["assumption"]),
            text(row["side"]),
            made.made(row, "turning_value", STEP),
            made.made(row, "value", STEP),
            made.in_words(row["unit"]),
            text(row["to_title"]),
            made.made(row, "usd_per_month", STEP),
        ]
        for row in records(table.head(ROWS))
    ]
    return _part("figure|side|turns at|as planned|unit|the best mix is then|USD a month there", rows, table)


def _break_even(made: Sections) -> Part:
    table = made.table("plan_break_even")
    rows = [
        [
            text(row["title"]),
            text(row["assumption"]),
            made.made(row, "pays_from", STEP),
            made.made(row, "planned", STEP),
            made.in_words(row["unit"]),
            made.probability(row, "p_pays", STEP),
        ]
        for row in records(table.head(ROWS))
    ]
    return _part("machine|by|pays from|as planned|unit|P(it pays)", rows, table)


def _worth(made: Sections) -> Part:
    table = made.table("plan_worth_knowing")
    told = table[table["evppi_usd"] > 0] if len(table) else table
    rows = [
        [
            text(row["figure"]),
            made.made(row, "value", WORTH),
            made.in_words(row["unit"]),
            made.made(row, "evppi_usd", WORTH),
            made.made(row, "cost_to_learn_usd", "minutes of timing at the cheapest offer by the hour"),
            text(row["learn_on_title"]),
            made.made(row, "turning_point", STEP),
        ]
        for row in records(told.head(ROWS))
    ]
    head = "figure|value|unit|worth, USD|timing it costs, USD|timed on|the best mix changes at"
    return _part(head, rows, table)
