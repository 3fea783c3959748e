"""Hours and jobs by month and class, against sums made another way: second by second, by hand, by Slurm's database."""

import datetime
from collections import defaultdict
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from project_copy import ROOT
from sweetspot.errors import UserError
from sweetspot.use.class_use import classed, read_rules, used
from sweetspot.use.job_table import job_table, zone_of
from sweetspot.use.month_sums import device_hours, held_jobs, last_moment, months_of_record, of_jobs
from sweetspot.use.read_use import read_use

BERLIN = zone_of("Europe/Berlin")
REAL = ROOT / "tests" / "data" / "use" / "sacct_22_05_berlin.txt"


def jobs(*rows):
    """Jobs of (job, start, end, devices, state, name), submitted an hour before their start."""
    made = []
    for job, start, end, devices, state, name in rows:
        first, last = (pd.Timestamp(text, tz="UTC") if text else None for text in (start, end))
        made.append({"job": job, "name": name, "partition": "gpu", "start": first, "end": last, "held_until": last,
                     "submit": first - pd.Timedelta(hours=1) if first else None, "state": state, "devices": devices,
                     "device": "A100"})  # fmt: skip
    return job_table(made)


def test_hours_of_real_jobs_are_those_of_slurms_database():
    # The same jobs by SQL of slurmdbd's job table: (time_end - time_start) x gres/gpu of tres_alloc; seconds by name.
    database = {"again": 84, "late-cancel": 39, "two-nodes": 100, "a|b c": 5, "timeout": 88, "sweep": 72, "broad": 62,
                "train-resnet": 74}  # fmt: skip
    table = read_use("sacct", REAL, "Europe/Berlin")
    held = held_jobs(table)
    assert (held.groupby("name")["device_hours"].sum() * 3600).round().to_dict() == database | {
        "still": 171
    }  # runs: its ElapsedRaw
    assert len(held) == 17 == table["job"].nunique()  # of 18 rows one has no device; one job ran twice
    again = held[held["name"] == "again"]
    assert again["state"].tolist() == ["cancelled", "completed"] and set(again["job_hours"] * 3600) == {84}
    two = held[held["name"] == "two-nodes"].iloc[0]
    assert two["device"] == "a100+v100" and two["devices"] == 4


def simulated(seed, count=400):
    """Jobs over a year, some over months, with shares of devices, put back, running, cancelled before."""
    source = np.random.default_rng(seed)
    start = pd.Timestamp("2025-01-01", tz="UTC")
    rows = []
    for number in range(count):
        begin = start + pd.Timedelta(seconds=int(source.integers(0, 365 * 86400)))
        for _ in range(1 + int(source.random() < 0.1)):
            end = begin + pd.Timedelta(seconds=int(source.exponential(200_000)) + 1)
            running = source.random() < 0.02
            state, last = ("running", "") if running else ("completed", str(end)[:19])
            devices, name = float(source.choice([0.25, 1, 4])), str(source.choice(["x", "y"]))
            rows.append((str(number), str(begin)[:19], last, devices, state, name))
            begin = end + pd.Timedelta(seconds=60)
    return jobs(*rows, ("never", "", "", float("nan"), "cancelled", "x"))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Auckland"])
def test_hours_by_month_and_class_agree_with_a_sum_of_seconds(zone):
    table = simulated(7)
    held, clock = held_jobs(table), zone_of(zone)
    months = months_of_record(held, last_moment(table), clock, None, None)
    found = device_hours(held, held["name"], months)
    # Independently: from each job's start to the next midnight of a first of a month on the wall, in whole seconds.
    expected = defaultdict(float)
    until = max(moment for moment in [*table["end"], *table["start"], *table["submit"]] if not pd.isna(moment))
    for row in table.itertuples():
        if pd.isna(row.start):
            continue
        now, end = row.start.to_pydatetime(), (until if pd.isna(row.end) else row.end).to_pydatetime()
        while now < end:
            local = now.astimezone(ZoneInfo(zone))
            later = datetime.datetime(local.year + local.month // 12, local.month % 12 + 1, 1, tzinfo=ZoneInfo(zone))
            stop = min(end, later.astimezone(datetime.UTC))
            expected[row.name, f"{local:%Y-%m}"] += (stop - now).total_seconds() * row.devices
            now = stop
    for month in months.names:
        for name in ("x", "y"):
            assert found.loc[name, month] * 3600 == pytest.approx(expected[name, month], abs=1e-6)
    assert len(months.names) >= 11


def test_a_month_has_the_hours_of_its_clock():
    table = jobs(("1", "2025-02-27", "2025-11-03", 1.0, "completed", "a"))
    held = held_jobs(table)
    months = months_of_record(held, last_moment(table), BERLIN, None, None)
    hours = device_hours(held, held["name"], months).loc["a"]
    assert months.names == [f"2025-{month:02d}" for month in range(3, 11)]
    assert hours["2025-03"] == 31 * 24 - 1 and hours["2025-10"] == 31 * 24 + 1 and hours["2025-04"] == 720
    assert months.days[0] == pytest.approx(31 - 1 / 24)


def test_which_months_are_counted():
    table = jobs(("1", "2025-01-03 12:00", "2025-01-04", 1, "completed", "a"), ("2", "2025-03-29", "2025-03-30", 1,
                 "completed", "a"))  # fmt: skip
    held = held_jobs(table)
    utc = zone_of("UTC")

    def names(since=None, until=None):
        return months_of_record(held, last_moment(table), utc, since, until).names

    assert names() == ["2025-01", "2025-02", "2025-03"]
    assert names(datetime.date(2025, 2, 1)) == ["2025-02", "2025-03"]
    assert names(datetime.date(2024, 12, 1), datetime.date(2025, 2, 1)) == ["2024-12", "2025-01"]
    assert names(until=datetime.date(2025, 1, 20)) == ["2025-01-03/2025-01-20"]
    with pytest.raises(UserError, match=r"the record covers 2\.5 days; expected at least 7"):
        names(until=datetime.date(2025, 1, 6))


def test_jobs_count_once_and_where_they_began():
    table = jobs(
        ("1", "2025-01-31 20:00", "2025-01-31 23:00", 2, "cancelled", "a"),  # put back
        ("1", "2025-02-01 03:00", "2025-02-01 05:00", 2, "completed", "a"),
        ("2", "2025-02-10", "2025-02-10 10:00", 1, "failed", "a"),
        ("3", "2025-02-20", "", 1, "running", "a"),
    )
    held = held_jobs(table)
    months = months_of_record(
        held, last_moment(table), zone_of("UTC"), datetime.date(2025, 1, 1), datetime.date(2025, 3, 1)
    )
    found = of_jobs(held, held["name"], months)
    assert found["month"].to_dict() == {"1": 0, "2": 1, "3": 1} and found["hours"].to_dict()["1"] == 5
    assert found["failed"].sum() == 1 and found["cancelled"].sum() == 0 and found["wait_hours"].tolist() == [1, 1, 1]
    one = used(held, held["name"], months).classes[0]
    assert one.jobs_by_month == [1, 2] and one.hours.value == 7.5 and one.failed.value == 0.5
    # Device-hours by hours of the three: 2 x 5 + 10 + 0 (seen to run at its start) over 15.
    assert one.devices.value == pytest.approx(20 / 15) and one.hours.low < 7.5 < one.hours.high


def test_an_id_that_comes_again_after_completion_is_another_job():
    table = jobs(
        ("52", "2024-02-01 08:00", "2024-02-01 09:00", 1, "completed", "a"),
        ("52", "2025-10-01 10:00", "2025-10-01 13:00", 1, "completed", "a"),
        # Put back twice, so one job of 1 + 2 + 4 h; then the id is used once more.
        ("7", "2025-03-01 00:00", "2025-03-01 01:00", 1, "cancelled", "a"),
        ("7", "2025-03-02 00:00", "2025-03-02 02:00", 1, "failed", "a"),
        ("7", "2025-03-03 00:00", "2025-03-03 04:00", 1, "completed", "a"),
        ("7", "2025-04-01 00:00", "2025-04-01 08:00", 1, "failed", "a"),
    )
    held = held_jobs(table)
    first, last = datetime.date(2024, 1, 1), datetime.date(2026, 1, 1)
    found = of_jobs(held, held["name"], months_of_record(held, last_moment(table), zone_of("UTC"), first, last))
    assert sorted(found["hours"]) == [1, 3, 7, 8]


@pytest.mark.parametrize(
    ("rules", "classes"),
    [
        ([], ["2x-1h-to-8h", "1x-8h-to-3d", "part-under-1h"]),
        (["search: name=SWEEP-*"], ["search", "other", "other"]),
        (["big: devices=2-8", "rest: partition=gpu"], ["big", "rest", "rest"]),
        (["small: devices=0.5, name=*"], ["other", "other", "small"]),
    ],
)
def test_classes(rules, classes):
    held = held_jobs(jobs(("1", "2025-01-01", "2025-01-01 02:00", 2, "completed", "sweep-9"),
                          ("2", "2025-01-01", "2025-01-02", 1, "completed", "train"),
                          ("3", "2025-01-01", "2025-01-01 00:59:59", 0.5, "completed", "nb")))  # fmt: skip
    held["device_hours"] = 1.0
    assert classed(held, read_rules(rules)).tolist() == classes


def test_a_pattern_is_no_program_and_no_expression():
    odd = "$(id);`x` <b>(a+)+|*"
    held = held_jobs(jobs(*((str(number), "2025-01-01", "2025-01-02", 1, "completed", name)
                            for number, name in enumerate((odd, "aaa", "$(id)")))))  # fmt: skip
    assert classed(held, read_rules([f"odd: name={odd}"])).tolist() == ["odd", "other", "other"]
    assert classed(held, read_rules(["odd: name=.+"])).tolist() == ["other"] * 3


@pytest.mark.parametrize(
    ("rules", "words"),
    [(["search"], "--class is 'search'; expected NAME:"), (["a b: name=x"], "--class is 'a b: name=x'"),
     (["a: nme=x"], "--class a: 'nme=x': did you mean 'name'?"), (["a: devices=8-2"], "devices is '8-2'"),
     (["a: devices=many"], "devices is 'many'"), (["a: name=x", "a: name=y"], "--class a: given twice"),
     (["a: name="], "--class a: 'name='"), (["other: name=x"], "--class is 'other: name=x'")],
)  # fmt: skip
def test_a_wrong_rule_is_refused(rules, words):
    with pytest.raises(UserError) as told:
        read_rules(rules)
    assert words in str(told.value)


def test_a_class_of_the_record():
    held = held_jobs(jobs(("1", "2025-01-01", "2025-01-02", 1, "completed", "n"))).assign(**{"class": "a/b"})
    with pytest.raises(UserError, match="class is 'a/b'"):
        classed(held, [])
    two = held_jobs(jobs(*((name, "2025-01-01", "2025-01-02", 1, "completed", "n") for name in "12")))
    assert classed(two.assign(**{"class": ["search", ""]}), []).tolist() == ["search", "other"]
