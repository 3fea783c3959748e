"""Jobs and device-hours of months, against sums made another way."""

import datetime
from collections import defaultdict
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from sweetspot.use.monthly_use import count_use

UTC = ZoneInfo("UTC")


def runs_of(*rows):
    """Runs of (job, start, end, devices, state, class); no end: it is not known until when it ran."""
    table = pd.DataFrame(rows, columns=["job", "start", "end", "devices", "state", "class"])
    for name in ("start", "end"):
        table[name] = pd.to_datetime(table[name], utc=True, format="ISO8601").astype("datetime64[us, UTC]")
    return table


def day(text, zone=UTC):
    return pd.Timestamp(text, tz=zone).tz_convert("UTC")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Auckland"])
def test_device_hours_agree_with_a_sum_from_midnight_to_midnight(zone):
    random = np.random.default_rng(7)
    rows = []
    for number in range(400):
        begin = pd.Timestamp("2025-01-01", tz="UTC") + pd.Timedelta(seconds=int(random.integers(0, 365 * 86400)))
        end = begin + pd.Timedelta(seconds=int(random.exponential(200_000)) + 1)
        rows.append((str(number), begin, end, float(random.choice([0.25, 1, 4])), "ended", "x"))
    use = count_use(runs_of(*rows), ZoneInfo(zone), None, None)
    expected, count = defaultdict(float), defaultdict(int)
    for _, start, last, devices, _, _ in rows:
        now, end = start.to_pydatetime(), last.to_pydatetime()
        count[f"{now.astimezone(ZoneInfo(zone)):%Y-%m}"] += 1
        while now < end:
            local = now.astimezone(ZoneInfo(zone))
            later = datetime.datetime(local.year + local.month // 12, local.month % 12 + 1, 1, tzinfo=ZoneInfo(zone))
            stop = min(end, later.astimezone(datetime.UTC))
            expected[f"{local:%Y-%m}"] += (stop - now).total_seconds() * devices / 3600
            now = stop
    assert len(use.months) >= 11
    assert use.device_hours == pytest.approx(sum(expected[month] for month in use.months))
    assert use.classes[0].jobs_by_month == [count[month] for month in use.months]


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        ("2025-01-04", "2025-03-29", ["2025-01", "2025-02", "2025-03"]),  # three days short at both edges: whole
        ("2025-01-04T00:00:01", "2025-03-28T23:59:59", ["2025-02"]),
    ],
)
def test_a_month_is_whole_up_to_three_days(start, end, months):
    runs = runs_of(("1", start, end, 1.0, "ended", "a"), ("2", "2025-02-02", "2025-02-03", 1.0, "ended", "a"))
    assert count_use(runs, UTC, None, None).months == months


def test_a_job_counts_where_it_began_with_the_hours_of_all_its_runs():
    runs = runs_of(
        ("1", "2025-01-31 20:00", "2025-01-31 23:00", 2.0, "ended", "a"),  # put back
        ("1", "2025-02-01 03:00", "2025-02-01 05:00", 2.0, "completed", "a"),
        ("2", "2025-02-10", "2025-02-10 10:00", 1.0, "ended", "a"),
        ("3", "2025-02-20", None, 1.0, "running", "a"),
        ("4", None, None, 1.0, "waiting", "a"),
    )
    (row,) = count_use(runs, UTC, day("2025-01-01"), day("2025-03-01")).classes
    # Of the running job 9 days are known, up to 1 March; its hours are no length of a job.
    assert row.jobs_by_month == [1, 2] and row.hours == 7.5
    assert row.hours_cv == pytest.approx(2.5 / 7.5)  # of 5 and 10 h
    assert row.device_hours == 2 * 5 + 10 + 9 * 24 and row.devices == pytest.approx((10 + 10 + 216) / (5 + 10 + 216))


def test_classes_by_devices_and_hours_at_their_bounds():
    """1, 8 and 72 hours are of the longer class; less than 2 % of the device-hours are `other`."""
    hours = {"a": 0.5, "b": 1.0, "c": 7.99, "d": 8.0, "e": 71.99, "f": 72.0, "g": 1000.0}
    devices = {"a": 20, "b": 8, "c": 2, "d": 2, "e": 1, "f": 0.5, "g": 0.5}
    start = pd.Timestamp("2025-01-01", tz="UTC")
    runs = runs_of(*((job, start, start + pd.Timedelta(hours=length), float(devices[job]), "ended", "")
                     for job, length in hours.items()))  # fmt: skip
    # Of 10 + 8 + 15.98 + 16 + 71.99 + 36 + 500 = 657.97 device-hours 2 % are 13.2: a and b are too few.
    counts = {row.name: sum(row.jobs_by_month) for row in count_use(runs, UTC, start, day("2025-02-01")).classes}
    assert counts == {"part-over-3d": 2, "1x-8h-to-3d": 1, "other": 2, "2x-8h-to-3d": 1, "2x-1h-to-8h": 1}
    named = runs.assign(**{"class": ["search", *[""] * 6]})
    assert {row.name for row in count_use(named, UTC, start, day("2025-02-01")).classes} == {"search", "other"}
