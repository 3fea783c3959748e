"""Jobs per month by class from the runs of a record, with the range that months to come lie in."""

import math
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sweetspot.draws import interval, stream
from sweetspot.errors import UserError

EDGE = pd.Timedelta(days=3)  # a month that lacks at most so much at an edge of the record counts as whole
CLASS_BY_HOURS = {0: "under-1h", 1: "1h-to-8h", 8: "8h-to-3d", 72: "over-3d"}  # from so many hours on
MIN_SHARE = 0.02  # classes with less of the device-hours are one
SMALL_CLASSES = "other"
SEED = 1
SAMPLES = 4000
HOUR = pd.Timedelta(hours=1)
# Priors. Growth: 4 % a month or less in two of three teams. Months differ beyond chance by sqrt(0.1) = 32 %, in two of
# three teams by 12 to 86 %. Simulated months of several kinds are then covered as they should be. Counts say the level.
PRIOR_SD = np.array([3.0, 0.04])  # of the logarithms of level and monthly growth
DISPERSION = 0.1
DISPERSION_LOG_SD = 2.0
DISPERSIONS = np.exp(np.linspace(math.log(0.001), math.log(4.0), 24))
NEWTON_STEPS = 40
MAX_LOG_JOBS = 30.0  # of more jobs no count can be drawn
MAX_MONTHS_AHEAD = 12
CLEAR = 0.98  # growth is clear where it has one sign with this probability


@dataclass(frozen=True)
class JobForecast:
    """Expected number of jobs in a future month, and its growth per month (0.04: 4 %), with 5 % and 95 % quantiles.

    `jobs`: where growth is clear, the level of the next month, else the mean of the recorded months.
    """

    jobs: float
    jobs_low: float
    jobs_high: float
    growth: float
    growth_low: float
    growth_high: float
    growth_is_clear: bool
    correlation_of_months: float


@dataclass(frozen=True)
class ClassUse:
    """Use by the jobs of one class.

    `device_hours`: of all its jobs; `hours`, `hours_cv`: mean hours of ended jobs and their coefficient of variation
    (NaN: no job has ended); `devices`: mean of a job.
    """

    name: str
    jobs_by_month: list[int]
    device_hours: float
    hours: float
    hours_cv: float
    devices: float
    forecast: JobForecast


@dataclass(frozen=True)
class MonthlyUse:
    """Use in the recorded whole months.

    `hours`: of the clock in these months; `device_hours`: in use; `classes`: the largest first.
    """

    months: list[str]
    hours: float
    device_hours: float
    forecast: JobForecast
    classes: list[ClassUse]


def count_use(runs: pd.DataFrame, zone: ZoneInfo, since: pd.Timestamp | None, until: pd.Timestamp | None) -> MonthlyUse:
    """Return device-hours and jobs by class and month, and a forecast: the amount of work that a study is made for.

    A job is counted in the month of its first start, with the hours of all its runs. Classes are those of the record;
    without any, they are made from numbers of devices and hours.

    Parameters
    ----------
    runs, zone, since, until
        Rows of `job_records.read_runs` (job, start, end, state, devices, class of each run); time zone in which months
        begin; the time that the record covers (None: from its first start, to its last moment).

    Raises
    ------
    UserError
        Where no job held a device, or no month is covered but for EDGE.
    """
    busy_runs = runs[runs["start"].notna() & (runs["devices"] > 0)].sort_values("start", kind="stable")
    if busy_runs.empty:
        raise UserError("no job held a device; expected some (sacct: gres/gpu in AllocTRES)")
    last = pd.Series([runs["start"].max(), runs["end"].max(), until]).max()
    edges = _edges_of_months(since or busy_runs["start"].iloc[0], until or last, zone)
    months = list(edges[:-1].strftime("%Y-%m"))
    busy_runs["end"] = busy_runs["end"].fillna(last)
    busy_runs["hours"] = (busy_runs["end"] - busy_runs["start"]) / HOUR
    totals = {"start": "first", "hours": "sum", "devices": "max", "state": "last", "class": "last"}
    jobs = busy_runs.groupby("job").agg(totals)
    jobs["device_hours"] = jobs["hours"] * jobs["devices"]
    jobs["class"] = _classes(jobs)
    jobs["month"] = np.searchsorted(edges, jobs["start"], side="right") - 1
    jobs = jobs[jobs["month"].between(0, len(months) - 1)]
    if jobs.empty:
        raise UserError(f"no job began in {', '.join(months)}; expected some (--since, --until)")
    classes = [_class_use(str(name), rows, len(months)) for name, rows in jobs.groupby("class")]
    classes.sort(key=lambda use: -use.device_hours)
    in_months = busy_runs["end"].clip(upper=edges[-1]) - busy_runs["start"].clip(lower=edges[0])
    device_hours = ((in_months / HOUR).clip(lower=0) * busy_runs["devices"]).sum()
    forecast = forecast_jobs(np.bincount(jobs["month"], minlength=len(months)), "all")
    return MonthlyUse(months, (edges[-1] - edges[0]) / HOUR, device_hours, forecast, classes)


def _edges_of_months(first: pd.Timestamp, last: pd.Timestamp, zone: ZoneInfo) -> pd.DatetimeIndex:
    """Return the beginnings of the whole months between two times, and the end of the last, in `zone`, to count jobs in
    them.

    Raises UserError where there is no whole month.
    """
    begin, end = first.tz_convert(zone) - EDGE, last.tz_convert(zone) + EDGE
    edges = pd.date_range(begin, end, freq="MS", normalize=True)
    edges = edges[edges >= begin]
    if len(edges) < 2:
        period = f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
        raise UserError(f"the record covers {period}; expected at least one whole month")
    return edges


def _classes(jobs: pd.DataFrame) -> pd.Series:
    """Return the class of each job, to count classes apart: the record's own, or by size as `2x-1h-to-8h`; rare ones:
    `other`.

    `jobs`: a row per job with class, hours, devices, device_hours.
    """
    if (jobs["class"] != "").any():
        return jobs["class"].replace("", SMALL_CLASSES)
    hours = pd.cut(jobs["hours"], [*CLASS_BY_HOURS, math.inf], right=False, labels=[*CLASS_BY_HOURS.values()])
    devices = jobs["devices"].map(lambda number: "part-" if number < 1 else f"{number:.0f}x-")
    names = devices + hours.astype(str)
    by_class = jobs["device_hours"].groupby(names).transform("sum")
    return names.where(by_class >= MIN_SHARE * jobs["device_hours"].sum(), SMALL_CLASSES)


def _class_use(name: str, jobs: pd.DataFrame, months: int) -> ClassUse:
    """Return the use by one class of jobs: jobs by month, hours, devices, forecast. `jobs`: a row per job (month from
    0, hours, device_hours, state); `months`: number of months.
    """
    counts = np.bincount(jobs["month"], minlength=months)
    hours = jobs.loc[jobs["state"] != "running", "hours"]
    cv = hours.std(ddof=0) / (hours.mean() or math.nan)
    device_hours = jobs["device_hours"].sum()
    devices = device_hours / (jobs["hours"].sum() or math.nan)
    forecast = forecast_jobs(counts, name)
    return ClassUse(name, counts.tolist(), device_hours, hours.mean(), cv, devices, forecast)


def forecast_jobs(counts: np.ndarray, key: str) -> JobForecast:
    """Return how many jobs a future month has, with growth and ranges, from the `counts` of past months (oldest first).

    Counts are negative binomial about a level with constant relative growth. `key`: class of jobs; each has its own
    random stream.
    """
    from scipy.special import softmax  # slow to import

    random, months = stream(SEED, "use", key), len(counts)
    time = np.arange(months) - (months - 1) / 2
    design = np.column_stack([np.ones(months), time])
    modes, covariances, log_weights = _posterior(counts.astype(float), design)
    chosen = random.choice(len(DISPERSIONS), SAMPLES, p=softmax(log_weights))
    noise = random.standard_normal((SAMPLES, 2, 1))
    deviations = np.linalg.cholesky(covariances)[chosen] @ noise
    level, growth = (modes[chosen] + deviations[..., 0]).T
    lowest, highest = interval(growth, CLEAR)
    is_clear = bool(lowest > 0 or highest < 0)
    horizon = 1 if is_clear else min(max(months, 3), MAX_MONTHS_AHEAD)
    ahead = random.integers(1, horizon + 1, SAMPLES)
    log_jobs = np.minimum(level + growth * (time[-1] + ahead), MAX_LOG_JOBS)
    expected, dispersion = np.exp(log_jobs), DISPERSIONS[chosen]
    simulated = random.poisson(expected * random.gamma(1 / dispersion, dispersion))
    jobs = np.median(expected) if is_clear else counts.mean()
    shared = np.var(log_jobs)
    correlation = shared / (shared + np.mean(dispersion) + 1 / max(jobs, 1.0))
    low, high = map(float, interval(simulated))
    typical, slow, fast = np.expm1([np.median(growth), *interval(growth)])
    return JobForecast(jobs, min(low, jobs), max(high, jobs), typical, slow, fast, is_clear, correlation)


def _posterior(counts: np.ndarray, design: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (modes, covariances, log weights) of log level and growth of jobs per month, to sample forecasts from. A
    Bayesian fit to `counts` (jobs of each month), once per value of DISPERSIONS (d of them); `design`: a row per month
    with the columns 1 and month; shapes of the three: d x 2, d x 2 x 2, d.
    """
    from scipy.stats import nbinom  # slow to import

    dispersion, precision = DISPERSIONS[:, np.newaxis], PRIOR_SD**-2
    prior_mode = np.array([math.log(max(counts.sum(), 0.5) / len(counts)), 0.0])
    modes = np.tile(prior_mode, (len(DISPERSIONS), 1))
    for _ in range(NEWTON_STEPS):
        mean = np.exp(np.clip(modes @ design.T, -20, 20))
        slope = ((counts - mean) / (1 + dispersion * mean)) @ design - precision * (modes - prior_mode)
        weight = mean * (1 + dispersion * counts) / (1 + dispersion * mean) ** 2
        curvature = np.einsum("dm,mi,mj->dij", weight, design, design) + np.diag(precision)
        modes = modes + np.clip(np.linalg.solve(curvature, slope[..., np.newaxis])[..., 0], -1, 1)
    log_likelihood = nbinom.logpmf(counts, 1 / dispersion, 1 / (1 + dispersion * mean)).sum(axis=1)
    squares = (modes - prior_mode) ** 2 @ precision + (np.log(DISPERSIONS / DISPERSION) / DISPERSION_LOG_SD) ** 2
    log_weights = log_likelihood - (squares + np.linalg.slogdet(curvature)[1]) / 2
    return modes, np.linalg.inv(curvature), log_weights
