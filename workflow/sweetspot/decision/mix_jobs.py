"""One job of each class on each machine: whether it runs, and how long it takes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.fits import does_not_fit
from sweetspot.decision.mix_problem import Class, Posed, in_time
from sweetspot.decision.mix_tables import Worked
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import OFFER, Row, records

JOBS = (
    "workload", "class", "urgent", "model", "option", "instance", "purchase", "price_list", "title", "status", "basis",
    "devices", "jobs_at_once", "hours", "usd", "within_hours",
)  # fmt: skip
FITS, NO_SPEED, TOO_LATE, TOO_SMALL = "fits", "no speed", "too late", "does not fit"
TOO_FEW, TAKEN = "too few devices", "can be taken away"


def job_table(worked: Sequence[Worked], every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> pd.DataFrame:
    """One row a class and offer (JOBS), whether it runs there or not, and why not.

    `every`: the options, those that do not fit among them. `usd`: of one job with its share of the machine, possession
    of a machine that is owned included at its planned use.
    """
    rows = [row for one in worked for row in _job_rows(one.posed, every, offers, words)]
    return pd.DataFrame(rows, columns=list(JOBS))


def _job_rows(posed: Posed, every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> Iterator[dict[str, Any]]:
    machines = offers.drop_duplicates(list(OFFER)).to_dict("records")
    small = does_not_fit(every)
    for one in posed.classes:
        rows = {tuple(row[name] for name in OFFER): row for row in records(every[every["workload"] == one.workload])}
        for offer in machines:
            row = rows.get(tuple(offer[name] for name in OFFER))
            said = {
                "workload": posed.name,
                "class": one.job.name,
                "urgent": one.urgent,
                "model": one.job.model,
                **{name: offer[name] for name in OFFER},
                "option": None if row is None else row["option"],
                "title": words.machine(str(offer["instance"])) if row is None else row["title"],
                "status": _status(one, row, offer, small),
                "within_hours": one.limit if np.isfinite(one.limit) else None,
            }
            if row is not None:
                more = {"basis": "throughput_basis", "devices": "gpus", "jobs_at_once": "jobs_at_once"}
                said |= {name: row[column] for name, column in {**more, "hours": "hours", "usd": "usd"}.items()}
            yield said


def _status(one: Class, row: Row | None, offer: dict[str, Any], small: pd.Series) -> str:
    if row is None:
        wanted = one.job.urgent_devices_per_job if one.urgent else None
        wanted = wanted or one.job.devices_per_job
        return TOO_FEW if wanted != "all" and offer.get("gpus", np.inf) < wanted else NO_SPEED
    if small[row["row"]]:
        return TOO_SMALL
    if not in_time(one, row):
        return TOO_LATE
    return FITS if row["persistent"] else TAKEN
