"""The page on what a plan hangs on: what would turn it, from when a purchase pays, what to find out."""

import pandas as pd

from sweetspot.decision.assumption import ALL_JOBS
from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.plan_part import leading, leading_work, plan_is_done
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, of_plans, table_of
from sweetspot.report.worth_words import worth_in_words
from sweetspot.wording import ROUNDS, amount, begun, the

STEP = "comparison: the best mix with one figure moved, on the plan's draws"
WORTH = "comparison: EVPPI by regression on the plan's draws"
NEAREST = 4  # turning points in the sentence


def turning_in_words(tables: Tables) -> str:
    """The nearest figures that turn the plan that leads, by what it turns to; empty without a plan."""
    points = of_plans(tables, "turning_points")
    if leading(tables) is None or not plan_is_done(tables) or "turning_points" not in tables:
        return ""
    own = points[points["workload"] == leading_work(tables)] if len(points) else points
    if own.empty and leading(tables) == ROUNDS and of_plans(tables, "tornado").empty:
        return ""  # not looked for
    if own.empty:
        return "No single figure, changed by a factor of 5, would change it."
    shown = own.drop_duplicates("assumption").head(NEAREST)
    then = "Then {} is the cheapest." if leading(tables) == ROUNDS else "Then: {}."
    parts = [
        f"{'. Or '.join(rows['condition'])}. " + then.format(the(str(title)) if leading(tables) == ROUNDS else title)
        for title, rows in shown.groupby("to_title", sort=False)
    ]
    return f"What would change it, the nearest first: {parts[0]}{''.join(f' Or {part}' for part in parts[1:])}"


def paying_in_words(tables: Tables) -> list[str]:
    """From how much work and how many months each machine for sale pays beside what is there; of a plan of phases, from
    how much work and how many days of use it pays against renting. None where none ever does.
    """
    table = of_plans(tables, "break_even")
    if table.empty:
        return []
    choices = table_of(tables, "choices")
    phases = set(choices.loc[choices["cost"] == ROUNDS, "workload"]) if len(choices) else set()
    grouped = list(table.groupby(["workload", "title"], sort=False))
    told = [pays_beside(str(title), rows) for (work, title), rows in grouped if work not in phases]
    told += [pays_against(str(title), rows) for (work, title), rows in grouped if work in phases]
    return [sentence for sentence in told if sentence]


def pays_beside(title: str, rows: pd.DataFrame) -> str:
    """One machine beside what is there, in a plan of months; empty where nothing is known of it."""
    found, told = rows.set_index("quantity"), []
    if "device_hours" in found.index:
        row = found.loc["device_hours"]
        planned = amount(row["planned"])
        if missing(row["pays_from"]):
            told.append(f"{the(title)} does not pay with five times the {planned} device-hours a month.")
        else:
            start = f"{the(title)} pays from {amount(row['pays_from'])} device-hours a month ({_ends(row)}, 90 %)"
            told.append(f"{start}; you plan {planned}.")
    if "months" in found.index and not missing(found.loc["months", "pays_from"]):
        row = found.loc["months"]
        least = f"if you use it for {amount(row['pays_from'])} months or more; you plan {amount(row['planned'])}."
        told.append(f"It pays {least}" if told else f"{the(title)} pays {least}")
    return begun(" ".join(told)) if told else ""


def pays_against(title: str, rows: pd.DataFrame) -> str:
    """One machine against renting, in a plan of phases; empty where it never pays."""
    found, told = rows.set_index("quantity"), []
    if ALL_JOBS in found.index and not missing(found.loc[ALL_JOBS, "pays_from"]):
        row = found.loc[ALL_JOBS]
        least = f"{amount(row['pays_from'])} {row['unit']}" if row["pays_from"] > 0 else "a fifth of the work"
        sentence = f"{the(title)} pays from {least} ({_ends(row)}); you plan {amount(row['planned'])}."
        told.append(begun(sentence))
        if not missing(row["pays_until"]):
            told.append(f"Beyond {amount(row['pays_until'])} it does not pay: that takes one machine more.")
    row = found.loc["days_per_month"] if told and "days_per_month" in found.index else pd.Series({"pays_from": None})
    if not missing(row["pays_from"]) and row["pays_from"] > 0:
        days = f"Below {amount(row['pays_from'])} days of use a month it does not pay"
        told.append(f"{days}: the work then takes more machines. You plan {amount(row['planned'])} days.")
    return " ".join(told)


def _ends(row: pd.Series) -> str:
    """The ends of what a machine pays from; 0 is less than what was looked at, a fifth."""
    low, high = row["pays_from_low"], row["pays_from_high"]
    first = amount(low) if missing(low) or low > 0 else f"under {amount(row['planned'] / 5)}"
    return f"{first} to {'never' if missing(high) else amount(high)}"


def plan_worth_in_words(tables: Tables, code: str = "USD") -> list[str]:
    """What to find out first for the plan that leads, in short sentences; none where that was not reckoned."""
    table, work = of_plans(tables, "worth_knowing"), leading_work(tables)
    if table.empty or work is None:
        return []
    return worth_in_words(table[table["workload"] == work], code)


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


def _best(made: Sections) -> str:
    return "best" if leading(made.tables) == ROUNDS else "best mix"


def _tornado(made: Sections) -> Part:
    table = of_plans(made.tables, "tornado")
    rows = [
        [
            text(row["assumption"]),
            *(made.made(row | {"value_low": None, "value_high": None}, name, STEP, "value")
              for name in ("value", "low", "high")),
            text(row["unit"]),
            *(made.made(row, name, STEP, "none", unit="×") for name in ("margin", "margin_low", "margin_high")),
            text(row["text"]),
        ]
        for row in records(table.head(ROWS))
    ]  # fmt: skip
    head = f"assumption|as planned|low|high|unit|next / {_best(made)}|at low|at high|what it does"
    return _part(head, rows, table, ["good" if flips else "" for flips in table.get("flips", [])][: len(rows)])


def _points(made: Sections) -> Part:
    table = of_plans(made.tables, "turning_points")
    whole = leading(made.tables) == ROUNDS
    rows = [
        [
            text(row["assumption"]),
            text(row["side"]),
            made.made(row, "turning_value", STEP),
            made.made(row, "value", STEP),
            text(row["unit"]),
            text(row["to_title"]),
            made.made(row, "usd" if whole else "usd_per_month", STEP),
        ]
        for row in records(table.head(ROWS))
    ]
    head = (
        f"figure|side|turns at|as planned|unit|the {_best(made)} is then|USD {'in all' if whole else 'a month'} there"
    )
    return _part(head, rows, table)


def _break_even(made: Sections) -> Part:
    table = of_plans(made.tables, "break_even")
    rows = [
        [
            text(row["title"]),
            text(row["assumption"]),
            made.made(row, "pays_from", STEP),
            made.made(row, "planned", STEP),
            text(row["unit"]),
            made.probability(row, "p_pays", STEP),
        ]
        for row in records(table.head(ROWS))
    ]
    return _part("machine|by|pays from|as planned|unit|P(it pays)", rows, table)


def _worth(made: Sections) -> Part:
    table = of_plans(made.tables, "worth_knowing")
    told = table[table["evppi_usd"] > 0] if len(table) else table
    rows = [
        [
            text(row["figure"]),
            made.made(row, "value", WORTH),
            text(row["unit"]),
            made.made(row, "evppi_usd", WORTH),
            made.made(row, "cost_to_learn_usd", "minutes of timing at the cheapest offer by the hour"),
            text(row["learn_on_title"]),
            made.made(row, "turning_point", STEP),
        ]
        for row in records(told.head(ROWS))
    ]
    head = f"figure|value|unit|worth, USD|timing it costs, USD|timed on|the {_best(made)} changes at"
    return _part(head, rows, table)
