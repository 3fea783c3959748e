"""Records to their ends, by hand: what lies exactly at an edge, what adds up, how wide a range is."""

import math

import numpy as np
import pandas as pd
import pytest
from sweetspot.transfer.figures import shipped_devices
from sweetspot.use.class_use import busy_share, classed, used
from sweetspot.use.job_table import zone_of
from sweetspot.use.month_counts import counted, ratio_range
from sweetspot.use.month_sums import Months, held_jobs, last_moment, months_of_record, of_jobs
from sweetspot.use.plain import read_jobs
from sweetspot.use.reference import hours_per_hour

UTC = zone_of("UTC")


def jobs(*rows: str) -> pd.DataFrame:
    """Jobs of lines such as `job,submit,start,end,devices,device,state`."""
    return read_jobs(["job,submit,start,end,devices,device,state", *rows], "UTC")


def months_from(start: str, end: str) -> Months:
    table = jobs(f"1,,{start},{end},1,T4,")
    return months_of_record(held_jobs(table), last_moment(table), UTC, None, None)


@pytest.mark.parametrize(
    ("start", "end", "names"),
    [
        ("2025-01-04", "2025-03-29", ["2025-01", "2025-02", "2025-03"]),  # three days short at both ends: whole
        ("2025-01-04T00:00:01", "2025-03-28T23:59:59", ["2025-02"]),
    ],
)
def test_a_month_is_whole_up_to_three_days(start: str, end: str, names: list[str]) -> None:
    found = months_from(start, end)
    assert found.names == names and found.exposure.tolist() == [1.0] * len(names)


def test_a_week_is_enough_and_its_share_of_a_month_is_told() -> None:
    week = months_from("2025-01-10", "2025-01-17")
    assert week.names == ["2025-01-10/2025-01-17"] and week.days.tolist() == [7]
    assert week.exposure.tolist() == [pytest.approx(7 / 30.4375)]  # 365.25 / 12 days a month


TWO = Months(["2025-01", "2025-02"], [pd.Timestamp(f"2025-0{n}-01", tz="UTC") for n in (1, 2, 3)], np.ones(2))


def test_jobs_belong_to_the_month_of_their_first_moment() -> None:
    table = jobs(
        "before,,2024-12-31T23:59:59,2025-01-02,1,T4,", "first,,2025-01-01,2025-01-02,1,T4,",
        "last,,2025-01-31T23:59:59,2025-02-02,1,T4,", "edge,2025-01-31T22:30:00,2025-02-01,2025-02-02,1,T4,",
        "after,,2025-03-01,2025-03-02,1,T4,",
    )  # fmt: skip
    held = held_jobs(table)
    found = of_jobs(held, pd.Series("a", held.index), TWO)
    assert found["month"].to_dict() == {"first": 0, "last": 0, "edge": 1}
    assert found["wait_hours"].dropna().to_dict() == {"edge": 1.5}


def test_what_runs_still_is_held_to_the_moment_told() -> None:
    runs, later = "1,,2025-01-01,,2,T4,running", "3,,2025-01-09,,1,T4,running"
    table = jobs(runs, "2,,2025-01-03,2025-01-03T06:00:00,1,T4,", later)
    assert held_jobs(table)["device_hours"].tolist() == [2 * 8 * 24, 6, 0]  # the last moment: the 9th, 8 days on
    until = held_jobs(table, pd.Timestamp("2025-01-05", tz="UTC"))
    assert until["device_hours"].tolist() == [2 * 4 * 24, 6, 0]  # what began later held nothing


def test_one_class_in_whole_by_hand() -> None:
    """January 3 jobs, 1 + 3 x 2 + 2 = 9 device-hours in 6 h; February 1 of 4 h on 1; hours 1, 3, 2 and 4."""
    table = jobs(
        "1,2025-01-04T22:00:00,2025-01-05,2025-01-05T01:00:00,1,T4,failed",
        "2,2025-01-05T23:00:00,2025-01-06,2025-01-06T03:00:00,2,A10,",
        "3,,2025-01-07,2025-01-07T02:00:00,1,T4,cancelled", "4,,2025-02-07,2025-02-07T04:00:00,1,T4,over",
        "5,,2025-02-27,2025-03-07,1,T4,running", "6,,2025-01-08,2025-01-08,1,T4,failed",
    )  # fmt: skip
    held = held_jobs(table)
    found = used(held, held["job"].map({"6": "of no time"}).fillna("a"), TWO)  # a class without an hour is none
    (one,) = found.classes
    assert one.jobs_by_month == [3, 2] and one.hours_by_month == [9, 4 + 48]  # of the running one two days of February
    # Its hours are not told; the mean of the other four is 2.5 h, their standard deviation sqrt(1.25) h.
    assert one.hours.value == 2.5 and one.hours_cv == pytest.approx(math.sqrt(1.25) / 2.5)
    # Held 1 + 6 + 2 + 4 + 192 device-hours in 1 + 3 + 2 + 4 + 192 hours; waited 2 and 1 h.
    assert one.devices.value == pytest.approx(205 / 202) and one.wait_hours.value == 1.5
    assert one.by_device == {"T4": 1 + 2 + 4 + 192, "A10": 6} and list(one.by_device) == ["T4", "A10"]
    assert one.device_hours == 61 and one.device_hours_a_job.value == pytest.approx(2.5 * 205 / 202)
    assert (found.busiest, found.quietest, found.device_hours.value) == ("2025-02", "2025-01", 30.5)
    assert found.period == "2025-01 to 2025-02" and found.months_alike == one.months_alike
    # 61 of the 59 x 24 hours of one device; the range ends where all of them are used.
    share = busy_share(found, 1)
    assert share is not None and share.value == pytest.approx(61 / (59 * 24)) and share.low < share.value < share.high
    full = busy_share(found, 61 / (59 * 24))
    assert full is not None and full.value == pytest.approx(1) and full.high == 1 and busy_share(found, None) is None
    assert math.isnan(one.failed.value)  # how one of them ended is not told


def test_classes_by_size_at_their_bounds() -> None:
    """1, 8 and 72 hours are of the longer class; 2 % of the device-hours are enough, less is `other`."""
    hours = {"a": 0.5, "b": 1.0, "c": 7.99, "d": 8.0, "e": 71.99, "f": 72.0}
    rows = [f"{job},,1000000,{1000000 + 3600 * length:.0f},1,T4," for job, length in hours.items()]
    held = held_jobs(jobs(*rows)).assign(device_hours=1.0)
    assert classed(held, []).tolist() == ["1x-under-1h", *["1x-1h-to-8h"] * 2, *["1x-8h-to-3d"] * 2, "1x-over-3d"]
    held["device_hours"] = [2.0, 1.0, 0.99, 16.01, 40.0, 40.0]  # of 100
    assert classed(held, []).tolist() == ["1x-under-1h", *["other"] * 2, *["1x-8h-to-3d"] * 2, "1x-over-3d"]


def test_ranges_of_ratios_by_hand() -> None:
    # Four months alike: spread 3 x 0.3^2 / (3 + 3) = 0.045 a month, Student's t of 6 at 95 % 1.943180.
    half = 1.943180 * math.sqrt(0.045 / 4)
    alike = ratio_range(np.full(4, 10.0), np.full(4, 5.0), 1, "a")
    assert alike == pytest.approx((2, 2 * math.exp(-half), 2 * math.exp(half)), rel=1e-5)
    # 12 of 40, a half added on both sides: odds 12.5 / 28.5.
    odds = math.log(12.5 / 28.5)
    share = ratio_range(np.full(4, 3.0), np.full(4, 10.0), 1, "a", share=True)
    assert share == pytest.approx((0.3, *(1 / (1 + math.exp(-odds - end)) for end in (-half, half))), rel=1e-5)
    # Of 1 and 4 drawn anew: sums 2, 5, 8 by 1/4, 1/2, 1/4. Logs to the first 0, 0.91629, 1.38629: variance 0.25267.
    # (3 x 0.09 + 1 x 2 x 0.25267) / 4, Student's t of 4: 2.131847. The draws are 4,000.
    half = 2.131847 * math.sqrt((0.27 + 2 * 0.25267) / 4 / 2)
    two = ratio_range(np.array([1.0, 4.0]), np.ones(2), 1, "a")
    assert two.value == 2.5 and math.log(two.high / 2.5) == pytest.approx(half, rel=0.03)
    assert math.log(2.5 / two.low) == pytest.approx(half, rel=0.03)
    assert ratio_range(np.zeros(2), np.ones(2), 1, "a") == (0, 0, 0)


def test_growth_and_jobs_to_come_as_a_sum_over_a_grid_says() -> None:
    """The same priors and likelihood over 121 levels, 81 growths and 40 dispersions, by scipy's distributions."""
    from scipy import stats

    jobs_, share = np.array([18, 25, 22, 31, 16, 27]), np.array([1, 1, 1, 1, 0.5, 1])
    time = np.arange(6) - 2.5
    level, growth = np.linspace(2.2, 4.2, 121), np.linspace(-0.16, 0.16, 81)
    differ = np.exp(np.linspace(math.log(0.001), math.log(4), 40))
    first = math.log(139 / 5.5)  # jobs by months seen
    found = stats.norm.logpdf(level, first, 3)[:, None, None] + stats.norm.logpdf(growth, 0, 0.04)[:, None]
    found = found + stats.norm.logpdf(np.log(differ), math.log(0.1), 2)
    for number, part, place in zip(jobs_, share, time, strict=True):
        mean = part * np.exp(level[:, None] + growth * place)[:, :, None]
        found = found + stats.nbinom.logpmf(number, 1 / differ, 1 / (1 + differ * mean))
    weight = np.exp(found - found.max())
    source = np.random.default_rng(3)
    drawn = np.unravel_index(source.choice(weight.size, 20_000, p=(weight / weight.sum()).ravel()), weight.shape)
    mean = np.exp(level[drawn[0]] + growth[drawn[1]] * (2.5 + source.integers(1, 7, 20_000)))
    alpha = differ[drawn[2]]
    come = source.negative_binomial(1 / alpha, 1 / (1 + alpha * mean))
    one = counted(jobs_, share, 1, "a")
    assert one.jobs.value == pytest.approx(139 / 5.5) and not one.clear
    assert one.jobs[1:] == pytest.approx(np.quantile(come, (0.05, 0.95)), rel=0.1)
    assert one.growth == pytest.approx(np.expm1(np.quantile(growth[drawn[1]], (0.5, 0.05, 0.95))), abs=0.006)
    shared, alone = np.var(np.log(mean)), alpha.mean() + 5.5 / 139
    assert one.alike == pytest.approx(shared / (shared + alone), rel=0.2)


def test_an_hour_on_the_same_device_is_worth_one_for_sure() -> None:
    devices = shipped_devices()
    t4, h100 = devices.get("T4"), devices.get("H100 SXM")
    worth = hours_per_hour({"mine": t4, "fast": h100}, t4, "resnet50", "fp16")
    assert worth["mine"] == (1, 1, 1) and 1 < worth["fast"].low < worth["fast"].value < worth["fast"].high
