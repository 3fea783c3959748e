"""What to find out first, and how long jobs wait for shared machines: short sentences made from tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sweetspot.decision.assumption import SPEED
from sweetspot.decision.options import Row
from sweetspot.decision_words import in_unit
from sweetspot.wording import amount, begun, counted, the

SHOWN = 3  # machines of one workload of which sentences speak
NOTHING = "single uncertain figure, known exactly, would change the choice."
TOO_DEAR = "single uncertain figure, known exactly, would save more than finding it out costs."


def worth_in_words(rows: pd.DataFrame, code: str = "USD", on: str = "") -> list[str]:
    """Short sentences on one work (`rows` of the table): what to find out first, and what first of what can be timed.

    A figure is named where its worth is above its Monte Carlo error (90 %) and above what a timing costs. No sentence
    where nothing competes or nothing is uncertain. code: the currency of the table's money; on: the name for people of
    the model, where others have answers of their own.
    """
    if rows.empty:
        return []
    net = rows["evppi_usd"] - rows["cost_to_learn_usd"].fillna(0.0)
    worth = rows.assign(net=net)[rows["evppi_usd_low"].gt(0) & net.gt(0)]
    named: list[Row] = worth.sort_values("net", ascending=False, kind="stable").to_dict("records")
    if not named:
        nothing = TOO_DEAR if rows["evppi_usd_low"].gt(0).any() else NOTHING
        return [f"On {on} no {nothing}" if on else f"No {nothing}"]
    first = named[0]
    opening = f"Measure the {first['figure']} first." if _timed(first) else f"Find out the {first['figure']} first."
    worth_it = f"Knowing that is worth up to {_usd(first, code)} over the project."
    return [opening, *_costs(first, code), worth_it, *_turns(first), *_second(first, named, code)]


def _second(first: Row, named: list[Row], code: str) -> list[str]:
    """The next figure where the first can be timed, else the first of those that can."""
    if _timed(first):
        if len(named) == 1:
            return ["No other figure is worth finding out."]
        following = named[1]
        return [
            f"After that, knowing the {following['figure']} is worth up to {_usd(following, code)}.",
            *_costs(following, code),
        ]
    timed = next((row for row in named if _timed(row)), None)
    if timed is not None:
        opening = f"Of what can be timed, measure the {timed['figure']} first."
        return [opening, *_costs(timed, code), f"Knowing it is worth up to {_usd(timed, code)}.", *_turns(timed)]
    speed = next((row for row in named if row["quantity"] == SPEED), None)
    if speed is None:
        return ["No speed is worth timing: none, known exactly, would save more than the timing costs."]
    return [
        f"Of the speeds the {speed['figure']} is worth most, up to {_usd(speed, code)}.",
        "Nobody here rents it out.",
    ]


def _timed(row: Row) -> bool:
    return bool(pd.notna(row["cost_to_learn_usd"]))


def _costs(row: Row, code: str) -> list[str]:
    if not _timed(row):
        return []
    where = "" if row["learn_on_title"] == row["title"] else f" on {the(str(row['learn_on_title']))}"
    return [f"That takes {row['minutes_to_learn']:g} minutes{where}, about {_money(row['cost_to_learn_usd'])} {code}."]


def _usd(row: Row, code: str) -> str:
    """The worth and 90 % of its Monte Carlo error; one number where both ends print as it does."""
    worth, low, high = (_money(row[f"evppi_usd{end}"]) for end in ("", "_low", "_high"))
    return f"{worth} {code}" if low == high else f"{worth} {code} ({low} to {high})"


def _money(value: float) -> str:
    """Two figures are all that an expectation from draws carries."""
    return amount(float(f"{value:.2g}"))


def _turns(row: Row) -> list[str]:
    """Where the cheapest changes; of a speed by how much, since its unit differs from study to study."""
    if pd.isna(row["turning_point"]):
        return []
    if row["quantity"] == SPEED:
        change = row["turning_point"] / row["value"] - 1
        word = "faster" if change > 0 else "slower"
        count = row["rests_on_it"]
        every = "both" if count == 2 else f"all {count}"
        shared = f", on {every} options that rest on it" if count > 1 else ""
        return [f"The cheapest changes if it is {100 * abs(change):.0f} % {word}{shared}."]
    return [f"The cheapest changes at {in_unit(row['turning_point'], row['unit'], row['figure'])}."]


def waiting_in_words(queue: pd.DataFrame) -> list[str]:
    """Two sentences for each workload and machine that is held (`queue_table`), those asked about first, at most SHOWN
    a workload; none where no workload says how often it comes.
    """
    said = []
    held = queue[queue["held"].astype(bool)] if len(queue) else queue
    order = ["is_reference", "overloaded", "hours_to_result", "option"]
    for _, rows in held.groupby(["workload", "model"], sort=False) if len(held) else ():
        best = rows.sort_values(order, ascending=[False, True, True, True], kind="stable").head(SHOWN)
        said += [_sentences(row) for row in best.to_dict("records")]
    return said


def _sentences(row: Mapping[str, Any]) -> str:
    name, jobs = the(str(row["title"])), f"{amount(row['per_month'])} jobs a month of “{row['workload']}”"
    use = f"{100 * row['utilisation']:.0f} % of the time"
    if row["overloaded"]:
        busy = f"would be busy {use}" if row["utilisation"] >= 1 else "cannot keep up"
        return begun(f"{name} with {jobs} {busy}: the queue grows without end.{_other(row)}")
    nine = row["wait_hours_p90"]
    longest = f", one in ten over {amount(nine)} h" if nine > 0 else ", and fewer than one in ten waits at all"
    return begun(
        f"{name} with {jobs} is busy {use}. A job waits {amount(row['wait_hours'])} h on average{longest}. The result "
        f"arrives after {amount(row['hours_to_result'])} h.{_other(row)}"
    )


def _other(row: Mapping[str, Any]) -> str:
    """From when on a rented machine is the faster choice."""
    if row["rival"] is None or pd.isna(row["rival_hours"]):
        return ""
    rival, most = f"{the(str(row['rival_title']))} ({amount(row['rival_hours'])} h)", row["slower_from_per_month"]
    if not most > 0:
        return f" {begun(rival)} is faster even without a wait."
    people, now = row["slower_from_people"], row["people"]
    if pd.isna(people):
        return f" {begun(rival)} is faster from {amount(most)} jobs a month on."
    if people <= now:
        fewer = f"; for up to {int(people) - 1} it was not" if people > 1 else ""
        return f" {begun(rival)} is faster for your {counted(int(now), 'person', 'people')}{fewer}."
    return f" {begun(rival)} is faster from {int(people)} people on (now {int(now)})."
