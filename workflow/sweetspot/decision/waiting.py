"""What jobs wait for a machine that several people share, and from how many people on another is the faster choice."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.queue import Stream, outgrown, wait_for
from sweetspot.decision.counted import amount, begun, counted, the
from sweetspot.decision.options import CELL, OFFER
from sweetspot.decision.phases import POSSESSION, TOTAL

if TYPE_CHECKING:
    from sweetspot.study.sharing import Demand  # lazily: its models take longer to import than all this computes

Demands = Mapping[str, "Demand"]
HELD = ("own", "reserved", "committed")  # whose machines there are, while others are had as they are needed
QUEUE_COLUMNS = (
    "option", "title", "model", "workload", "is_reference", "held", "jobs_at_once", "per_month", "people",
    "utilisation", "overloaded", "hours", "wait_hours", "wait_hours_low", "wait_hours_high", "wait_hours_p90",
    "hours_to_result", "hours_to_result_low", "hours_to_result_high", "rival", "rival_title", "rival_hours",
    "slower_from_per_month", "slower_from_people",
)  # fmt: skip
ENDS = {"": 0, "_low": 1, "_high": 2}


def queue_table(options: pd.DataFrame, offers: pd.DataFrame, demands: Demands, month_days: float) -> pd.DataFrame:
    """One row an option and workload that says how often its jobs come (`demands`), in QUEUE_COLUMNS.

    options: `build_options`, those that fit; offers: `boxes` of each offer. Jobs of all such workloads arrive at random
    at a machine that is `held`, over all hours of the month less its downtime, and wait their turn; one that is rented
    as needed waits for none. `jobs_at_once`: how many it works on; `utilisation`: share of its time that they take;
    `overloaded`: more than it can do, and then there is no wait to state. `hours`: of one job; `wait_hours`: its mean
    wait, `_p90` what nine in ten wait at most, `hours_to_result` = hours + wait_hours; `_low`, `_high`: with the ends
    of the speed and of the jobs a month at once (null: overloaded at that end). `rival`: of the answer's rented options
    that nobody takes away the fastest; `slower_from_per_month`: jobs a month from which the wait makes the held
    machine the slower one, all workloads growing alike, `slower_from_people`: so many people, each with as many jobs as
    now; 0 where it is slower for anybody, null for rented options and without a rival.
    """
    rows = options[options["workload"].isin(list(demands)) & (options["hours"] > 0)]
    if rows.empty:
        return pd.DataFrame(columns=list(QUEUE_COLUMNS))
    boxes = offers.drop_duplicates(list(OFFER))[[*OFFER, *([] if "boxes" not in offers.columns else ["boxes"])]]
    rows = rows.merge(boxes.reindex(columns=[*OFFER, "boxes"]), on=list(OFFER), how="left")
    at_once = rows["jobs_at_once"].fillna(1.0) if "jobs_at_once" in rows.columns else 1.0
    rows = rows.assign(_slots=at_once, _servers=at_once * rows["boxes"].astype(float).fillna(1.0).clip(lower=1.0))
    found = [row for _, part in rows.groupby("option", sort=False) for row in _of_option(part, demands, month_days)]
    return with_rivals(pd.DataFrame(found))


def _of_option(part: pd.DataFrame, demands: Demands, month_days: float) -> Iterator[dict[str, Any]]:
    """The rows of one option; its streams are all workloads that come to it, each once."""
    rows = part.to_dict("records")
    for row in rows:
        own = str(row["workload"])
        others = {str(one["workload"]): one for one in reversed(rows) if one["workload"] != own}
        sent = dict(sorted({own: row, **others}.items()))  # one queue: simulated with the same draws for all
        held = row["purchase"] in HELD
        made: dict[str, Any] = {
            **{name: row[name] for name in ("option", "title", "model", "workload", "is_reference")},
            "held": held, "jobs_at_once": int(row["_servers"]), "per_month": demands[own].per_month[0],
            "people": demands[own].people, "hours": _hours(row, demands[own], ""),
            "_stays": bool(row["persistent"]) and bool(row["in_answer"]),
        }  # fmt: skip
        for end in ENDS:
            streams = [_stream(one, demands[name], end, month_days) for name, one in sent.items()]
            wait = wait_for(streams if held else [])
            made[f"wait_hours{end}"] = wait.hours
            made[f"hours_to_result{end}"] = wait.hours + _hours(row, demands[own], end)
            if end == "":
                ninety, busy = wait.ninety, wait.utilisation if held else math.nan
                made |= {"wait_hours_p90": ninety, "utilisation": busy, "overloaded": wait.overloaded}
                made["_streams"] = streams
        yield made


def _hours(row: Mapping[str, Any], demand: "Demand", end: str) -> float:
    """Hours of one job: where `runs` are priced as one bill, of one of its runs."""
    hours = float(row.get(f"hours{end}", math.nan))
    return (float(row["hours"]) if math.isnan(hours) else hours) / math.ceil(demand.runs / row["_slots"] - 1e-9)


def _stream(row: Mapping[str, Any], demand: "Demand", end: str, month_days: float) -> Stream:
    downtime = float(row.get("downtime_share") or 0.0)
    open_hours = HOURS_A_DAY * month_days * (1.0 - (0.0 if math.isnan(downtime) else downtime))
    per_hour = demand.per_month[ENDS[end]] / open_hours
    return Stream(per_hour, _hours(row, demand, end), demand.hours_cv, int(row["_servers"]))


def with_rivals(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` in QUEUE_COLUMNS, with the fastest rented option beside each held one, and from when that is faster.

    rows: as `queue_table` describes them, and `_streams`, the jobs that come to the machine; `_stays`: whether a rented
    one may be a rival.
    """
    made = []
    rented = rows[~rows["held"] & rows["_stays"]]
    fastest = {
        key: part.sort_values(["hours", "option"], kind="stable").iloc[0]
        for key, part in rented.groupby(["model", "workload"])
    }
    for row in rows.to_dict("records"):
        rival = fastest.get((row["model"], row["workload"]))
        told: dict[str, Any] = dict.fromkeys(("rival", "rival_title"))
        told |= dict.fromkeys(("rival_hours", "slower_from_per_month", "slower_from_people"), math.nan)
        if row["held"] and rival is not None:
            told = {"rival": rival["option"], "rival_title": rival["title"], "rival_hours": rival["hours"]}
            told |= _overtaken(outgrown(row["_streams"], row["hours"], float(rival["hours"])), row)
        made.append(row | told)
    return pd.DataFrame(made)[list(QUEUE_COLUMNS)]


def _overtaken(factor: float, row: Mapping[str, Any]) -> dict[str, float]:
    """From how many jobs a month, and from how many people, the rival is faster; `factor`: times today's."""
    people = row["people"]
    known = people is not None and not math.isnan(people)
    return {
        "slower_from_per_month": factor * row["per_month"],
        "slower_from_people": (math.floor(factor * people + 1e-6) + 1 if factor > 0 else 0) if known else math.nan,
    }


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
