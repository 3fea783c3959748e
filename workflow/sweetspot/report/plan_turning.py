"""What the evidence says of a plan: what would turn it, from when a purchase pays, what to find out."""

from collections.abc import Mapping

from sweetspot.decision.assumption import ALL_JOBS
from sweetspot.report.notation import Row, missing, records
from sweetspot.report.tables import Tables, leading, of_plans, table_of
from sweetspot.report.worth_words import worth_in_words
from sweetspot.wording import ROUNDS, amount, begun, the

NEAREST = 4  # turning points in the sentence


def leading_work(tables: Tables) -> str | None:
    """The workload of the plan that leads; None without any."""
    table, cost = table_of(tables, "choices"), leading(tables)
    return None if cost is None else str(table.loc[table["cost"] == cost, "workload"].iloc[0])


def plan_is_done(tables: Tables) -> bool:
    """Whether something does the work of the plan that leads."""
    table, work = table_of(tables, "choices"), leading_work(tables)
    return work is not None and bool(table.loc[table["workload"] == work, "is_best"].astype(bool).any())


def turning_in_words(tables: Tables) -> str:
    """The nearest figures that turn the plan that leads, by what it turns to; empty without a plan."""
    if not plan_is_done(tables) or "turning_points" not in tables:
        return ""
    points, phases = of_plans(tables, "turning_points"), leading(tables) == ROUNDS
    own = points[points["workload"] == leading_work(tables)] if len(points) else points
    if own.empty:
        looked = not phases or len(of_plans(tables, "tornado"))
        return "No single figure, changed by a factor of 5, would change it." if looked else ""
    shown = own.drop_duplicates("assumption").head(NEAREST)
    parts = [
        f"{'. Or '.join(rows['condition'])}. Then" + (f" {the(title)} is the cheapest." if phases else f": {title}.")
        for title, rows in shown.groupby("to_title", sort=False)
    ]
    return f"What would change it, the nearest first: {' Or '.join(parts)}"


def paying_in_words(tables: Tables) -> list[str]:
    """From how much work and how many months each machine for sale pays beside what is there; of a plan of phases, from
    how much work and how many days of use it pays against renting. None where none ever does.
    """
    table, choices = of_plans(tables, "break_even"), table_of(tables, "choices")
    phases = set(choices.loc[choices["cost"] == ROUNDS, "workload"]) if len(choices) else set()
    told: tuple[list[str], list[str]] = [], []
    for (work, title), rows in table.groupby(["workload", "title"], sort=False) if len(table) else ():
        by_quantity = {row["quantity"]: row for row in records(rows)}
        if work in phases:
            told[1].append(_pays_against(str(title), by_quantity))
        else:
            told[0].append(_pays_beside(str(title), by_quantity))
    return [sentence for kind in told for sentence in kind if sentence]


def _pays_beside(title: str, found: Mapping[str, Row]) -> str:
    """One machine beside what is there, in a plan of months; empty where nothing is known of it."""
    told, work, months = [], found.get("device_hours"), found.get("months")
    if work is not None:
        planned = amount(work["planned"])
        if missing(work["pays_from"]):
            told.append(f"{the(title)} does not pay with five times the {planned} device-hours a month.")
        else:
            least = f"{amount(work['pays_from'])} device-hours a month ({_ends(work)}, 90 %)"
            told.append(f"{the(title)} pays from {least}; you plan {planned}.")
    if months is not None and not missing(months["pays_from"]):
        least = f"pays if you use it for {amount(months['pays_from'])} months or more"
        told.append(f"{'It' if told else the(title)} {least}; you plan {amount(months['planned'])}.")
    return begun(" ".join(told)) if told else ""


def _pays_against(title: str, found: Mapping[str, Row]) -> str:
    """One machine against renting, in a plan of phases; empty where it never pays."""
    work, days = found.get(ALL_JOBS), found.get("days_per_month")
    if work is None or missing(work["pays_from"]):
        return ""
    least = f"{amount(work['pays_from'])} {work['unit']}" if work["pays_from"] > 0 else "a fifth of the work"
    told = [begun(f"{the(title)} pays from {least} ({_ends(work)}); you plan {amount(work['planned'])}.")]
    if not missing(work["pays_until"]):
        told.append(f"Beyond {amount(work['pays_until'])} it does not pay: that takes one machine more.")
    if days is not None and not missing(days["pays_from"]) and days["pays_from"] > 0:
        below = f"Below {amount(days['pays_from'])} days of use a month it does not pay"
        told.append(f"{below}: the work then takes more machines. You plan {amount(days['planned'])} days.")
    return " ".join(told)


def _ends(row: Row) -> str:
    """The ends of what a machine pays from; 0 is less than what was looked at, a fifth."""
    ends = [row["pays_from_low"], row["pays_from_high"]]
    under = f"under {amount(row['planned'] / 5)}"
    return " to ".join(dict.fromkeys("never" if missing(end) else amount(end) if end > 0 else under for end in ends))


def plan_worth_in_words(tables: Tables, code: str = "USD") -> list[str]:
    """What to find out first for the plan that leads, in short sentences; none where that was not reckoned."""
    table, work = of_plans(tables, "worth_knowing"), leading_work(tables)
    return [] if table.empty or work is None else worth_in_words(table[table["workload"] == work], code)
