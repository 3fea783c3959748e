"""The jobs of a plan's phases as they come to a shared machine: rows like those of the options, for the queue."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.decision.options import CELL, OFFER
from sweetspot.decision.phases import POSSESSION, TOTAL

if TYPE_CHECKING:
    from sweetspot.decision.waiting import Demands

ENOUGH = 1e-9  # so that a whole number of rounds is not one more


def phase_rows(options: pd.DataFrame, plans: pd.DataFrame, demands: "Demands") -> pd.DataFrame:
    """`options` and, below them, a row for each phase and option whose phase says how often its jobs come (`demands`).

    plans: results/<study>/plans. `workload`: `<plan>.<phase>`; `hours`, `_low`, `_high`: of one job alone, from the
    phase's time and its rounds, with the ends of the option's speed; `jobs_at_once`: the machine's devices where a job
    takes one of them, else 1.
    """
    wanted = {name for name in demands if "." in name}
    if plans.empty or options.empty or not wanted:
        return options
    rows = plans[(plans["status"] == "ok") & ~plans["phase"].isin([POSSESSION, TOTAL])]
    rows = rows.assign(workload=rows["plan"].astype(str) + "." + rows["phase"].astype(str))
    rows = rows[rows["workload"].isin(wanted)]
    own = ["workload", "hours", "hours_low", "hours_high"]
    known = options.drop_duplicates([*OFFER, "model"]).drop(columns=own, errors="ignore")
    key = [*OFFER, *CELL[1:]]
    more = [name for name in ("workload", "jobs", "machines", "hours") if name not in key]
    found = rows[[*key, *more]].merge(known, on=key, how="inner").drop_duplicates(["option", "workload"])
    parts = [options, pd.DataFrame(list(_one_job(found, demands)))]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def _one_job(rows: pd.DataFrame, demands: "Demands") -> Iterator[dict[str, Any]]:
    for row in rows.to_dict("records"):
        slots = int(row["gpus"]) if demands[row["workload"]].gpus_per_job == "one" else 1
        rounds = math.ceil(math.ceil(row["jobs"] / row["machines"] - ENOUGH) / slots - ENOUGH)
        hours, rate = row["hours"] / rounds, row["images_per_s"]
        ends = {
            "hours_low": hours * rate / row["images_per_s_high"],
            "hours_high": hours * rate / row["images_per_s_low"],
        }
        known = {name: value if np.isfinite(value) else np.nan for name, value in ends.items()}
        yield row | {"hours": hours, "jobs_at_once": float(slots)} | known
