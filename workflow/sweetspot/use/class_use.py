"""Classes of jobs, by rules or by the record, and what it says of each and of all: figures with their ranges."""

import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.study.base import PART
from sweetspot.study.spelling import hint
from sweetspot.use.month_counts import Range, counted, ratio_range
from sweetspot.use.month_sums import Months, by_month, device_hours, of_jobs

SEED = 1
OTHER = "other"
RULE = "NAME: name=PATTERN, partition=PATTERN, device=PATTERN, devices=N or N-M"
TEXTS = ("name", "partition", "device")
DEVICES = re.compile(r"(?P<low>\d+(?:\.\d+)?)(?:-(?P<high>\d+(?:\.\d+)?))?")
HOURS = ((1.0, "under-1h"), (8.0, "1h-to-8h"), (72.0, "8h-to-3d"), (np.inf, "over-3d"))
LEAST_SHARE = 0.02  # of the device-hours: smaller classes found by devices and hours are one, `other`


class ClassUse(NamedTuple):
    """One class. jobs: a month, growth: share a month (growth_clear: surely of that sign), hours: of one job (hours_cv:
    their standard deviation by their mean), devices: a job, by its hours; failed, cancelled: shares of the jobs;
    wait_hours: mean; by_device: device-hours by recorded device; by month: jobs, device_hours.
    """

    name: str
    jobs: Range
    growth: Range
    growth_clear: bool
    months_alike: float
    hours: Range
    hours_cv: float
    devices: Range
    failed: Range
    cancelled: Range
    wait_hours: Range
    by_device: dict[str, float]
    jobs_by_month: list[int]
    hours_by_month: list[float]

    @property
    def device_hours_a_job(self) -> Range:
        """Of one job, with the range of its hours."""
        return Range(*(value * self.devices.value for value in self.hours))

    @property
    def device_hours(self) -> float:
        """Of all months."""
        return sum(self.hours_by_month)


class Use(NamedTuple):
    """What was used: months and days of each, classes by their device-hours, jobs a month of all (to come),
    device-hours a month (mean), busiest and quietest month, correlation of two months to come, hours by device (whole
    jobs).
    """

    months: list[str]
    days: list[float]
    exposure: list[float]
    classes: list[ClassUse]
    jobs: Range
    device_hours: Range
    busiest: str
    quietest: str
    months_alike: float
    by_device: dict[str, float]

    @property
    def period(self) -> str:
        """First and last month."""
        return " to ".join(dict.fromkeys((self.months[0], self.months[-1])))


def used(held: pd.DataFrame, classes: pd.Series, months: Months) -> Use:
    """The figures of each class and of all.

    held: those of `month_sums.held_jobs` that ran in the months; classes: of its rows. Hours of one are of all times
    that a job ran, also of jobs that failed or were cancelled: they hold the device too.
    """
    hours, jobs = device_hours(held, classes, months), of_jobs(held, classes, months)
    hours = hours[hours.sum(axis=1) > 0]
    order = hours.sum(axis=1).sort_values(ascending=False).index
    found = [
        _class(str(name), jobs[jobs["class"] == name], hours.loc[name], held[classes == name], months)
        for name in order
        if (jobs["class"] == name).any()
    ]
    total = hours.sum().to_numpy(dtype=float)
    rate = total / months.exposure
    weight = np.array([one.device_hours for one in found])
    return Use(
        months.names, [float(day) for day in months.days], [float(part) for part in months.exposure], found,
        counted(by_month(jobs, None, len(months.names)), months.exposure, SEED, "all").jobs,
        ratio_range(total, months.exposure, SEED, "all"), months.names[int(rate.argmax())],
        months.names[int(rate.argmin())],
        float(weight @ [one.months_alike for one in found] / weight.sum()) if len(found) else math.nan,
        by_device(held),
    )  # fmt: skip


def by_device(held: pd.DataFrame) -> dict[str, float]:
    """Device-hours by recorded device, the most first."""
    hours = held.groupby("device")["device_hours"].sum().sort_values(ascending=False)
    return {str(name): float(value) for name, value in hours.items()}


def _class(name: str, jobs: pd.DataFrame, hours: pd.Series, held: pd.DataFrame, months: Months) -> ClassUse:
    size = len(months.names)
    count = by_month(jobs, None, size)
    expected = counted(count, months.exposure, SEED, name)
    over = jobs[~jobs["running"]]
    ended = by_month(over, None, size)
    waited = jobs["wait_hours"].notna()
    length = over["hours"]
    held_hours = (jobs["hours"] * jobs["devices"]).rename("device_hours")
    weighted = by_month(jobs.assign(device_hours=held_hours), "device_hours", size)

    def ratio(over_: np.ndarray, under: np.ndarray, what: str, share: bool = False) -> Range:
        return ratio_range(over_, under, SEED, f"{name} {what}", share)

    return ClassUse(
        name, expected.jobs, expected.growth, expected.clear, expected.alike,
        ratio(by_month(over, "hours", size), ended, "hours"),
        float(length.std(ddof=0) / length.mean()) if length.mean() > 0 else math.nan,
        ratio(weighted, by_month(jobs, "hours", size), "devices"),
        ratio(by_month(over, "failed", size), ended, "failed", share=True),
        ratio(by_month(over, "cancelled", size), ended, "cancelled", share=True),
        ratio(by_month(jobs, "wait_hours", size, waited), by_month(jobs, None, size, waited), "wait"),
        by_device(held),
        [int(number) for number in count], [float(value) for value in hours],
    )  # fmt: skip


def as_json(use: Use) -> dict[str, Any]:
    """The figures for programs: ranges as value, low, high; what is not known as null."""
    classes = [{name: _plain(value) for name, value in one._asdict().items()} for one in use.classes]
    return {name: _plain(value) for name, value in use._asdict().items()} | {"classes": classes}


def _plain(value: Any) -> Any:
    if isinstance(value, Range):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def busy_share(use: Use, devices: float | None) -> Range | None:
    """Device-hours by the hours that so many devices have; None without a number. Raises UserError above 1."""
    if devices is None:
        return None
    there = 24 * sum(use.days) * devices / sum(use.exposure)
    share = Range(*(value / there for value in use.device_hours))
    if share.value > 1 + 1e-9:
        raise UserError(
            f"--devices is {devices:g}; {use.device_hours.value:,.0f} device-hours a month are more than that"
        )
    return Range(min(1.0, share.value), share.low, min(1.0, share.high))


class Rule(NamedTuple):
    """A class and what its jobs have: patterns of texts (`*` for anything, case aside), a range of devices."""

    name: str
    patterns: dict[str, str]
    devices: tuple[float, float] | None


def read_rule(text: str) -> Rule:
    """One rule, as RULE. Raises UserError."""
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if not re.fullmatch(PART, name) or name == OTHER or not colon or not rest:
        raise UserError(f"--class is {text!r}; expected {RULE}, such as 'search: name=sweep-*, devices=1'")
    patterns: dict[str, str] = {}
    devices = None
    for part in rest.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or key not in (*TEXTS, "devices"):
            raise UserError(f"--class {name}: {part.strip()!r}{hint(key, (*TEXTS, 'devices'))}; expected {RULE}")
        if key != "devices":
            patterns[key] = value
            continue
        found = DEVICES.fullmatch(value)
        low, high = (float(found["low"]), float(found["high"] or found["low"])) if found else (1.0, 0.0)
        if low > high:
            raise UserError(f"--class {name}: devices is {value!r}; expected a number or a range, such as 4 or 2-8")
        devices = (low, high)
    return Rule(name, patterns, devices)


def read_rules(texts: Sequence[str]) -> list[Rule]:
    """The rules, in order. Raises UserError."""
    rules = [read_rule(text) for text in texts]
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        raise UserError(f"--class {max(names, key=names.count)}: given twice; expected one rule a class")
    return rules


def classed(held: pd.DataFrame, rules: Sequence[Rule]) -> pd.Series:
    """The class of each row of jobs that held devices (JOB_COLUMNS and device_hours, job_hours).

    The first rule that fits, else `other`; without rules what the record says, where it does. Else the number of
    devices and the hours, where small classes join `other`: no name of a job is in the name of such a class.
    """
    if rules:
        return _by_rules(held, rules)
    if (held["class"] != "").any():
        return _checked(held["class"].where(held["class"] != "", OTHER))
    return _by_size(held)


def _by_rules(held: pd.DataFrame, rules: Sequence[Rule]) -> pd.Series:
    found = pd.Series(OTHER, held.index, dtype="str")
    for rule in reversed(rules):
        fits = pd.Series(True, held.index)
        for column, pattern in rule.patterns.items():
            wanted = re.compile(fnmatch.translate(pattern), re.IGNORECASE)
            known = {text: wanted.match(text) is not None for text in held[column].unique()}
            fits &= held[column].map(known)
        if rule.devices is not None:
            fits &= held["devices"].between(*rule.devices)
        found[fits] = rule.name
    return found


def _checked(classes: pd.Series) -> pd.Series:
    for name in classes.unique():
        if not re.fullmatch(PART, name):
            raise UserError(f"class is {name!r}; expected a name of letters, digits, '_' and '-' (1 to 64)")
    return classes


def _by_size(held: pd.DataFrame) -> pd.Series:
    devices = held["devices"].map(lambda number: "part" if number < 1 else f"{number:.0f}x")
    hours = held["job_hours"].map(lambda length: next(word for limit, word in HOURS if length < limit))
    names = (devices + "-" + hours).astype("str")
    share = held["device_hours"].groupby(names).sum() / held["device_hours"].sum()
    return names.where(names.map(share) >= LEAST_SHARE, OTHER)
