"""The months of a study's answer: which machines it has and rents, for how many hours and USD a month."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.wording import DISPATCH

TABLES = ("verdict", "choices", "sources", "options")
MACHINE = ("option", "instance", "purchase", "price_list", "provider", "gpu", "gpus")
PART_COLUMNS = (*MACHINE, "title", "held", "hours", "device_hours", "usd_having", "usd_using")
RENTED = "rented"


class PlanMonths(NamedTuple):
    """What a study plans in a mean month of its answer's work.

    parts: a row a machine, in PART_COLUMNS: `held` whether it is there or paid by the month, `hours` of machines and of
    their devices, `usd_having` whatever the use, `usd_using`. usd, usd_low, usd_high: a month, with 90 %; their sum is
    `usd`. choice, title: of the verdict; work: name of the workload.
    """

    work: str
    choice: str
    title: str
    months: float
    usd: float
    usd_low: float
    usd_high: float
    parts: pd.DataFrame


def read_plan(results: Path, study: str) -> PlanMonths:
    """The plan of results/<study>/. Raises UserError where there is none, or none of months."""
    files = {name: results / "comparison" / f"{name}.parquet" for name in TABLES}
    for file in files.values():
        if not file.is_file():
            raise UserError(f"{file}: is not there; make it first: snakemake --cores all --config study={study}")
    return plan_of({name: read_parquet(file) for name, file in files.items()}, study)


def plan_of(tables: Mapping[str, pd.DataFrame], study: str) -> PlanMonths:
    """The plan by the tables of a comparison. Raises UserError where its answer is not of months."""
    verdict = tables["verdict"]
    answers = verdict[verdict["is_answer"].astype(bool)] if len(verdict) else verdict
    if answers.empty:
        raise UserError(f"study {study} has no answer: nothing does the work; expected a plan of months")
    told = answers.iloc[0]
    if pd.isna(told["months"]):
        raise UserError(f"study {study} answers for one job; expected a workload of months (kind: monthly or plan)")
    choices = tables["choices"]
    best = choices[(choices["workload"] == told["workload"]) & (choices["choice"] == told["best"])].iloc[0]
    of_mix = best["cost"] == DISPATCH
    parts = _of_mix(tables, best) if of_mix else _of_machine(tables, best)
    usd, low, high = (float(best[f"usd_per_month{end}"]) for end in ("", "_low", "_high"))
    months, title = float(told["months"]), str(told["best_title"])
    return PlanMonths(str(told["workload"]), str(told["best"]), title, months, usd, low, high, parts)


def _of_mix(tables: Mapping[str, pd.DataFrame], best: pd.Series) -> pd.DataFrame:
    """Of work in classes: every machine of the mix that works or is had."""
    sources = tables["sources"]
    rows = sources[(sources["workload"] == best["workload"]) & (sources["mix"] == best["choice"])]
    made = rows.merge(_machines(tables), on="option", how="left", validate="one_to_one")
    having = made["fixed_usd_per_month"].fillna(0.0)
    made = made.assign(held=made["kind"] != RENTED, usd_having=having, usd_using=made["usd_per_month"] - having,
                       hours=made["device_hours"] / made["gpus"])  # fmt: skip
    worked = made[(made["device_hours"] > 0) | (made["usd_per_month"] > 0)]
    return worked[list(PART_COLUMNS)].reset_index(drop=True)


def _of_machine(tables: Mapping[str, pd.DataFrame], best: pd.Series) -> pd.DataFrame:
    """Of a plan of phases, or of one job a month: all on one machine."""
    machines = _machines(tables)
    mine = machines[(machines["instance"] == best["instance"]) & (machines["purchase"] == best["purchase"])]
    mine = mine[mine["price_list"] == best["price_list"]].head(1)
    having = 0.0 if pd.isna(best["usd_possession"]) else float(best["usd_possession"]) / best["months"]
    devices = float(best["device_hours"]) / best["months"]
    return mine.assign(
        title=best["title"], held=having > 0, device_hours=devices, hours=devices / mine["gpus"],
        usd_having=having, usd_using=float(best["usd"]) / best["months"] - having,
    )[list(PART_COLUMNS)].reset_index(drop=True)  # fmt: skip


def _machines(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What the options say of each machine; `gpus`: its devices."""
    rows = tables["options"].sort_values("gpus", ascending=False, kind="stable")
    return rows.drop_duplicates("option")[list(MACHINE)]
