"""What it costs to be in time, every column by hand: single jobs in a few draws, classes of months with their queue."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from answer_options import option, spot
from phase_plans import hourly, own
from small_lab import class_of, same, small_lab
from sweetspot.decision.deadlines import class_deadlines, job_deadlines
from sweetspot.declared_tables import columns_of

OLD = own("old", capex=0.0)  # 240 hours a month at 0.2 USD, 50 of care


def jobs(rows, limits, **drawn):
    central = {name: [[row[name]] * 20 for row in rows] for name in ("usd", "hours")}
    draws = {name: np.array(drawn.get(name, values), float) for name, values in central.items()}
    return job_deadlines(pd.DataFrame(rows), SimpleNamespace(**draws), limits)


def test_every_column_of_the_cheapest_in_time():
    """Twenty draws, whose ends of 90 % are the second and the last but one; in five the next one is the cheaper."""
    few = np.arange(20.0)
    rows = [option("Slow", 1.0, hours=9.0), option("Mine", 20.0, hours=4.0), option("Next", 30.0, hours=3.0),
            option("Dear", 99.0, hours=1.0)]  # fmt: skip
    usd = [np.ones(20), 20 + few, np.where(few < 5, 10.0, 60.0), np.full(20, 99.0)]
    hours = [np.full(20, 9.0), 3 + few / 10, np.full(20, 3.0), np.ones(20)]
    found = jobs(rows, [4.0], usd=usd, hours=hours)
    assert found.columns.tolist() == columns_of("deadlines")
    (row,) = found.to_dict("records")
    same(row, {
        "workload": "w", "class": None, "within_hours": 4.0, "option": "mine",
        "title": "Mine", "hours": 4.0, "hours_low": 3.1, "hours_high": 4.8, "usd": 20.0, "usd_low": 21.0,
        "usd_high": 38.0, "p_in_time": 11 / 20, "wait_hours": 0.0, "fastest_title": None,
        # in time up to the draw of 30 USD, then never: 10 / 20 to 10 / 24, then 60 / 25 to 60 / 30, then 0
        "p_cheapest": 6 / 20, "confidence": "too close to call",
        "rival_title": "Next", "up_front_usd": None, "due_usd_per_month": None,
    })  # fmt: skip


def test_who_is_sure_alone_or_nobody():
    rows = [option("Mine", 20.0, hours=4.0), option("Next", 30.0, hours=3.0)]
    four, three = jobs(rows, [4.0, 3.0]).sort_values("within_hours", ascending=False).to_dict("records")
    same(four, {"option": "mine", "rival_title": "Next", "confidence": "clear", "p_cheapest": 1.0})
    same(three, {"option": "next", "rival_title": None, "confidence": "clear"})
    # Of two as fast the cheaper one is told; what can be taken away only where nothing else is.
    two = [option("Mine", 20.0), option("Same", 10.0), option("Slow", 1.0, hours=11.0), spot("Taken", 1.0, hours=1.0)]
    (late,) = jobs(two, [0.5]).to_dict("records")
    same(late, {"fastest_title": "Same", "fastest_hours": 10.0, "fastest_usd": 10.0, "option": None})
    (taken,) = jobs([spot("Taken", 1.0, hours=0.5)], [9.0]).to_dict("records")
    same(taken, {"fastest_title": "Taken", "fastest_hours": 0.5, "fastest_usd": 1.0, "within_hours": 9.0})


def test_what_a_machine_is_paid_for_in_full():
    """A machine for 0.50 USD, a contract of 2 USD an hour on ten days of 24 hours: 480 USD a month."""
    ten = {"hours": 4.0, "days_per_month": 10.0}
    box = option("Box", 5.0, purchase="own", capex_usd=0.5, variable_usd_per_hour=0.2, **ten)
    year = option("Year", 6.0, purchase="reserved", variable_usd_per_hour=2.0, **ten)
    for limit, name in ((4.0, "title"), (1.0, "fastest_title")):
        for row, up_front, month in ((box, 0.5, None), (box | {"capex_usd": 0.0}, None, None), (year, None, 480.0)):
            (found,) = jobs([row], [limit]).to_dict("records")
            same(found, {name: row["title"], "up_front_usd": up_front, "due_usd_per_month": month})


def test_a_share_of_a_hundredth_is_a_chance_and_less_is_none():
    """Published chances of 1.4 % count: 10 USD are some 700 for each result in time, of 8 USD at 1 % some 800."""
    late = had(1.0, start=900.0)
    same(chosen(("A", 10.0, had(0.014)), ("B", 1.0, had(0.0))), {"option": "a"})
    same(chosen(("A", 10.0, had(0.002)), ("B", 1.0, late)), {"option": "b"})


def due(*offers, classes, hours, limit=None, **more):
    """The deadlines of classes by class, all within `limit` hours where one is given."""
    made = small_lab(*offers, jobs=classes, hours=hours, **more)
    return class_deadlines([made[0]], limit).set_index("class")


def test_every_column_of_a_class_by_hand():
    """60 jobs of two hours fill half of ours: M/M/1, of which half wait at all, 4 h on average of these, 2 h of all.
    Within 3 h it is rented, within 4 h ours makes it but for half of exp(-2 / 4).
    """
    lab = {"classes": [class_of("a", 60.0)], "hours": {"a": 2.0}, "have": ["old"]}
    rented = {"workload": "lab", "within_hours": 3.0, "option": "rented", "title": "rented", "hours": 2.0,
              "hours_low": 2.0, "hours_high": 2.0, "usd": 12.0, "usd_low": 12.0, "usd_high": 12.0, "p_in_time": 1.0,
              "wait_hours": 0.0, "p_cheapest": 1.0, "confidence": "clear", "rival_title": None}  # fmt: skip
    same(due(OLD, hourly(6.0), limit=3.0, **lab).loc["a"], rented)
    early = 1 - 0.5 * math.exp(-2 / 4)
    same(due(OLD, hourly(6.0), limit=4.0, **lab).loc["a"], {
        "within_hours": 4.0, "option": "old", "title": "old", "usd": 0.4, "usd_low": 0.4, "usd_high": 0.4,
        "p_in_time": early, "wait_hours": 2.0,
    })  # fmt: skip
    assert due(OLD, hourly(6.0), **lab).empty  # it has no deadline of its own
    same(due(OLD, hourly(6.0), limit=1.0, **lab).loc["a"], {"option": None, "fastest_hours": 2.0})


def two_at_once(options):
    """Two jobs at once on ours, four on the quick one, each for its part of the money."""
    at_once = options["instance"].map({"old": 2.0, "quick": 4.0}).fillna(1.0)
    return options.assign(jobs_at_once=at_once, usd=options["usd"] / at_once)


SIDE = {"change": two_at_once, "facts": {"old": {"gpus": 2}, "quick": {"gpus": 4}}, "have": ["old"],
        "speeds": {"quick": (200.0, 200.0, 200.0)}}  # fmt: skip
QUICK = hourly(20.0) | {"instance": "quick"}


def test_an_urgent_job_pays_for_the_whole_machine():
    """120 ordinary jobs, two at once: of 480 device-hours 240. M/M/2: a third waits, 2 h on average of these."""
    lab = SIDE | {"classes": [class_of("a", 126.0, within_hours=1.5, urgent_per_month=6.0)], "hours": {"a": 2.0}}
    same(due(OLD, QUICK, **lab).loc["a"], {"within_hours": 1.5, "option": "quick", "usd": 20.0, "usd_low": 20.0,
                                           "usd_high": 20.0, "hours": 1.0})  # fmt: skip
    home = due(OLD, QUICK, limit=2.7, **lab).loc["a"]
    same(home, {"option": "old", "usd": 0.2, "wait_hours": 2 / 3, "p_in_time": 1 - math.exp(-0.7 / 2) / 3})


def test_a_class_with_no_figure_on_what_is_there_is_rented():
    """Ours has a figure of b alone: its hour costs 0.2 by that; the jobs of a wait for nobody."""

    def only_b(options):
        return options[~((options["instance"] == "old") & (options["workload"] == "lab.a"))].reset_index(drop=True)

    made = {"classes": [class_of("a", 10.0), class_of("b", 60.0)], "hours": {"a": 2.0, "b": 2.0}, "have": ["old"]}
    rows = due(OLD, hourly(6.0), change=only_b, limit=4.0, **made)
    same(rows.loc["a"], {"option": "rented", "p_in_time": 1.0})
    same(rows.loc["b"], {"option": "old", "usd": 0.4, "p_in_time": 1 - 0.5 * math.exp(-2 / 4)})


def test_the_waits_are_those_of_the_best_mix():
    """Months of 100 and 160 jobs: one box does 100 and 120 of them, 40 are rented, for less than two boxes or none.

    In the first month it is 83 % full, as if 85 %; in the other, and as planned (130), full: its jobs are late.
    """
    made = small_lab(own(), hourly(6.0), jobs=[class_of("a", 130.0)], hours={"a": 2.0})
    uneven = replace(made[0], numbers=np.array([[[100.0, 160.0]] * 2]))
    (row,) = class_deadlines([uneven], 8.0).to_dict("records")
    same(row, {"option": "rented", "usd": 12.0})


def had(share, start=math.nan, low=None, high=None):
    """The columns of an option that is free with that share, else after longer than any deadline; or starts so late."""
    bounds = (share, share if low is None else low, share if high is None else high)
    ranges = {
        "p_stock": bounds, "p_start": bounds, "stock_wait_hours": (1e9,) * 3, "start_hours": (start,) * 3,
        "failures_per_hour": (0.0,) * 3,
    }  # fmt: skip
    suffixes = ("", "_low", "_high")
    return {"nodes": 1.0} | {
        f"{name}{end}": value for name, ends in ranges.items() for end, value in zip(suffixes, ends, strict=True)
    }


UNKNOWN = {"share": math.nan, "low": 0.0, "high": 1.0}


def chosen(*offers, limit=20.0):
    """The deadline's row of offers as (title, USD, what is known of having it), each of 4,000 draws."""
    rows = [option(title, usd, hours=4.0) | {"row": place} | known for place, (title, usd, known) in enumerate(offers)]
    drawn = {name: np.array([[row[name]] * 4000 for row in rows]) for name in ("usd", "hours")}
    drawn["hours"][:, :2000] += [[row.get("late", 0.0)] for row in rows]
    (row,) = job_deadlines(pd.DataFrame(rows), SimpleNamespace(**drawn), [limit]).to_dict("records")
    return row


def test_what_is_seldom_in_time_is_passed_over_for_what_costs_less_by_result():
    """10 USD in 1 of 10 attempts are 100 for each result in time; 20 USD in all of them 20."""
    row = chosen(("Cheap", 10.0, had(0.1)), ("Sure", 20.0, had(1.0)), ("Late", 1.0, had(1.0, start=17.0)))
    same(row, {"option": "sure", "confidence": "clear", "usd": 20.0, "p_result_in_time": 1.0})
    often = chosen(("Cheap", 10.0, had(0.6)), ("Sure", 20.0, had(1.0)))  # 16.7 for each result in time
    same(often, {"option": "cheap", "usd": 10.0})
    # Half of its runs are late and it is free at once: what is had, and not what is late, divides the 10 USD.
    same(chosen(("Cheap", 10.0, had(1.0) | {"late": 20.0}), ("Sure", 20.0, had(1.0))), {"option": "cheap"})
    assert often["p_result_in_time"] == pytest.approx(0.6, abs=0.03)


def test_what_nobody_published_is_chosen_only_where_no_other_is_in_time():
    """Drawn from 0 to 1, 11 USD would be 22 for each result in time, of which 30 are known for 3 of 4 (40)."""
    unpublished = ("Big", 11.0, had(**UNKNOWN))
    same(chosen(unpublished, ("Known", 30.0, had(0.75))), {"option": "known"})
    late = chosen(unpublished, ("Late", 1.0, had(1.0, start=900.0)))
    same(late, {"option": "big"})
    assert late["p_result_in_time"] == pytest.approx(0.5, abs=0.03)
    same(chosen(("New", 8.0, {}), ("Known", 30.0, had(0.75))), {"option": "known"})
    # Where nothing is in time, and where nothing is known, the cheapest run is told.
    same(chosen(("A", 2.0, had(1.0, start=900.0)), ("B", 1.0, had(1.0, start=900.0))), {"option": "b"})
    same(chosen(("A", 2.0, {}), ("B", 1.0, {})), {"option": "b", "p_result_in_time": None})


def test_classes_of_months_count_the_search_for_what_is_rented():
    """Rented in time in half of all attempts; on the machine that is there as soon as its queue lets it."""

    def half(options):
        return options.assign(**{name: value for name, value in had(0.5).items()})

    made = small_lab(OLD, hourly(6.0), jobs=[class_of("a", 20.0, within_hours=3.0, urgent_per_month=2.0)],
                     hours={"a": 2.0}, have=["old"], draws=1000, change=half)  # fmt: skip
    (rented,), (old,) = (class_deadlines([made[0]], limit).to_dict("records") for limit in (2.0, 5.0))
    assert (rented["option"], old["option"]) == ("rented", "old")
    assert rented["p_in_time"] == 1.0 and rented["p_result_in_time"] == pytest.approx(0.5, abs=0.05)
    assert old["p_result_in_time"] == pytest.approx(old["p_in_time"]) and old["p_in_time"] > 0.8
