"""The wait for a shared machine in sentences."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import begun, counted, the

SHOWN = 3  # machines of one workload


def waiting_in_words(queue: pd.DataFrame) -> list[str]:
    """Two sentences for each workload and machine that is held, those asked about first, at most SHOWN a workload.

    queue: comparison/queue.parquet. Empty where no workload says how often it comes.
    """
    said = []
    held = queue[queue["held"].astype(bool)] if len(queue) else queue
    order = ["is_reference", "overloaded", "hours_to_result", "option"]
    for _, rows in held.groupby(["workload", "model"], sort=False) if len(held) else ():
        best = rows.sort_values(order, ascending=[False, True, True, True], kind="stable")
        said += [_sentences(row) for row in best.head(SHOWN).to_dict("records")]
    return said


def _sentences(row: Mapping[str, Any]) -> str:
    name, jobs = the(str(row["title"])), f"{amount(row['per_month'])} jobs a month of “{row['workload']}”"
    use = f"{100 * row['utilisation']:.0f} % of its time"
    if row["overloaded"]:
        busy = f"would be busy {use}" if row["utilisation"] >= 1 else "cannot keep up"
        return begun(f"{name} with {jobs} {busy}: the queue grows without end.{_other(row)}")
    nine = row["wait_hours_p90"]
    longest = f", one in ten over {amount(nine)} h" if nine > 0 else ", and fewer than one in ten waits at all"
    return begun(
        f"{name} with {jobs} is busy {use}. A job waits {amount(row['wait_hours'])} h on average{longest}. Its result "
        f"is there after {amount(row['hours_to_result'])} h.{_other(row)}"
    )


def _other(row: Mapping[str, Any]) -> str:
    """From when on a rented machine is the faster choice."""
    if row["rival"] is None or pd.isna(row["rival_hours"]):
        return ""
    rival, most = f"{the(str(row['rival_title']))} ({amount(row['rival_hours'])} h)", row["slower_from_per_month"]
    if not most > 0:
        return f" {begun(rival)} is faster even where nobody waits."
    people, now = row["slower_from_people"], row["people"]
    if pd.isna(people):
        return f" {begun(rival)} is faster from {amount(most)} jobs a month on."
    if people <= now:
        return f" {begun(rival)} is faster for the {counted(int(now), 'person', 'people')} there are; with up to " \
            f"{int(people) - 1} it was not."  # fmt: skip
    return f" {begun(rival)} is faster from {int(people)} people on (now {int(now)})."
