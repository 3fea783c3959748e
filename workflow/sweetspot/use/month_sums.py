"""Device-hours and jobs of each month and class, summed to the second."""

import datetime
from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sweetspot.errors import UserError

USUAL_DAYS = 365.25 / 12
EDGE_DAYS = 3  # a month counts as whole where the record begins, or ends, at most so far within it
LEAST_DAYS = 7
SECONDS_A_DAY = 86_400.0


class Months(NamedTuple):
    """Calendar months of a zone: names (`2026-03`), edges (UTC, one more), and which share of each is counted.

    One stretch shorter than a month is one of its own, of a share below 1.
    """

    names: list[str]
    edges: list[pd.Timestamp]
    exposure: np.ndarray

    @property
    def days(self) -> np.ndarray:
        """Days of each, by the clock of the sun: in March an hour less where summer begins."""
        return np.array(
            [(b - a).total_seconds() / SECONDS_A_DAY for a, b in zip(self.edges, self.edges[1:], strict=False)]
        )


def held_jobs(jobs: pd.DataFrame, until: pd.Timestamp | None = None) -> pd.DataFrame:
    """The rows that held devices, with `seconds`, `device_hours` and, of all times that the job ran, `job_hours`.

    What runs still is counted to `held_until`, else to `until`, else to the last moment that the record tells of.
    """
    held = jobs[jobs["start"].notna() & (jobs["devices"] > 0)].copy()
    last = until if until is not None else last_moment(jobs)
    running = held["held_until"].isna()
    held.loc[running, "held_until"] = np.maximum(held.loc[running, "start"], last)
    held["seconds"] = (held["held_until"] - held["start"]).dt.total_seconds()
    held["device_hours"] = held["seconds"] * held["devices"] / 3600
    held["job"] = distinct_jobs(held)
    held["job_hours"] = held.groupby("job")["seconds"].transform("sum") / 3600
    return held


def distinct_jobs(runs: pd.DataFrame) -> pd.Series:
    """Return the job of each run, with a number where the same job id is used again.

    A job that was put back has several runs of one id. Once a run is completed, the id belongs to another job: Slurm
    starts again at 1 after `MaxJobId`, and after a new database.
    """
    ordered = runs.sort_values("start", kind="stable")
    is_completed = ordered["state"].eq("completed").astype(int)
    earlier_jobs = is_completed.groupby(ordered["job"]).cumsum() - is_completed
    return ordered["job"].where(earlier_jobs == 0, ordered["job"] + "#" + (earlier_jobs + 1).astype("str"))


def last_moment(jobs: pd.DataFrame) -> pd.Timestamp:
    """The last moment that the record tells of."""
    return max(jobs[name].max() for name in ("submit", "start", "held_until") if jobs[name].notna().any())


def months_of_record(
    held: pd.DataFrame, last: pd.Timestamp, zone: ZoneInfo, since: datetime.date | None, until: datetime.date | None
) -> Months:
    """The months to count: those from `since` to before `until`, else all that the record covers, the edges nearly.

    Raises UserError where that is less than a week.
    """
    first = midnight(since, zone) if since else held["start"].min()
    end = midnight(until, zone) if until else last
    begins = pd.date_range(_month(first, zone), _month(end, zone) + pd.DateOffset(months=1), freq="MS", tz=zone)
    slack = pd.Timedelta(days=EDGE_DAYS)
    edges = [edge.tz_convert("UTC") for edge in begins]
    whole = [i for i in range(len(edges) - 1) if edges[i] >= first - slack and edges[i + 1] <= end + slack]
    if whole:
        kept = edges[whole[0] : whole[-1] + 2]
        return Months([f"{begins[i]:%Y-%m}" for i in whole], kept, np.ones(len(whole)))
    days = (end - first).total_seconds() / SECONDS_A_DAY
    if days < LEAST_DAYS:
        raise UserError(f"the record covers {max(days, 0):.1f} days; expected at least {LEAST_DAYS}")
    name = f"{first.tz_convert(zone):%Y-%m-%d}/{end.tz_convert(zone):%Y-%m-%d}"
    return Months([name], [first, end], np.array([days / USUAL_DAYS]))


def midnight(day: datetime.date, zone: ZoneInfo) -> pd.Timestamp:
    """The moment at which a day begins on a clock."""
    return pd.Timestamp(day).tz_localize(zone).tz_convert("UTC")


def _month(moment: pd.Timestamp, zone: ZoneInfo) -> pd.Timestamp:
    local = moment.tz_convert(zone)
    return pd.Timestamp(year=local.year, month=local.month, day=1)


def device_hours(held: pd.DataFrame, classes: pd.Series, months: Months) -> pd.DataFrame:
    """Device-hours by class (rows) and month (columns): each job by the part of it that lies in the month."""
    parts = {}
    for name, begin, end in zip(months.names, months.edges, months.edges[1:], strict=False):
        inside = held["held_until"].clip(upper=end) - held["start"].clip(lower=begin)
        seconds = inside.dt.total_seconds().clip(lower=0.0)
        parts[name] = (seconds * held["devices"]).groupby(classes).sum() / 3600
    return pd.DataFrame(parts)


def of_jobs(held: pd.DataFrame, classes: pd.Series, months: Months) -> pd.DataFrame:
    """One row a job, at the month in which it first started; jobs of other months are left out.

    Columns: class, month (place), hours (all times that it ran), devices (by hours), failed, cancelled (how it ended at
    last; NaN: not told), wait_hours (from the submission to the first start; NaN: unknown), running.
    """
    place = np.searchsorted(_plain(pd.Series(months.edges)), _plain(held["start"]), side="right") - 1
    known = held.assign(month=place, kind=classes).sort_values("start", kind="stable")
    grouped = known.groupby("job", sort=False)
    first, last = grouped.first(), grouped.last()
    told = last["state"] != "over"
    table = pd.DataFrame(
        {
            "class": last["kind"],
            "month": first["month"],
            "hours": last["job_hours"],
            "devices": grouped["devices"].max(),
            "failed": last["state"].eq("failed").where(told),
            "cancelled": last["state"].eq("cancelled").where(told),
            "running": last["state"].eq("running"),
            "wait_hours": (first["start"] - first["submit"]).dt.total_seconds() / 3600,
        }
    )
    return table[table["month"].between(0, len(months.names) - 1)]


def _plain(moments: pd.Series) -> np.ndarray:
    return np.asarray(moments.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))


def by_month(jobs: pd.DataFrame, column: str | None, months: int, where: Sequence[bool] | None = None) -> np.ndarray:
    """The sum of a column of `of_jobs` by month, or of the jobs themselves."""
    chosen = jobs if where is None else jobs[where]
    values = None if column is None else chosen[column].astype(float)
    return np.bincount(chosen["month"], weights=values, minlength=months).astype(float)
