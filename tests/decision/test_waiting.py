"""What jobs wait: whole rows by the formula of one server, and which jobs come to which machines."""

import math

import pytest
from phase_plans import hourly as rented_at
from phase_plans import own
from small_lab import class_of, posed
from sweetspot.decision.deadlines import arrival_streams, queue_table
from sweetspot.declared_tables import columns_of

OLD = own("old", capex=0.0)  # 240 hours a month
TITLED = {"have": ["old"]}


def lab(*jobs, **more):
    return posed(OLD, rented_at(6.0), jobs=list(jobs), hours={"a": 2.0, "b": 2.0}, **TITLED, **more)


def test_every_column_of_two_classes_that_share_a_machine():
    """One server: W = r h / (1 - r), r = (45 + 15) x 2 / 240; nine in ten wait at most h / (1 - r) ln(10 r)."""
    found = queue_table([lab(class_of("a", 45.0), class_of("b", 15.0))])
    assert found.columns.tolist() == columns_of("queue")
    a, b = found.to_dict("records")
    assert a == {
        "workload": "lab.a", "option": "lab: best", "title": "old", "machines": "old",
        "per_month": pytest.approx(45.0), "utilisation": pytest.approx(0.5), "overloaded": False,
        "hours": pytest.approx(2.0), "wait_hours": pytest.approx(2.0), "wait_hours_p90": pytest.approx(4 * math.log(5)),
        "hours_to_result": pytest.approx(4.0),
    }  # fmt: skip
    assert (b["workload"], b["per_month"], b["wait_hours"]) == ("lab.b", pytest.approx(15.0), a["wait_hours"])
    assert queue_table([]).columns.tolist() == columns_of("queue")


def open_hours(stream):
    """Hours of a month in which the machines work."""
    return stream.per_month / stream.job_class.arrivals_per_hour


def test_the_machines_that_are_there_are_one_pool():
    """60 jobs of two hours with a range of 50 to 90; 40 hours of class b. Both fit into the 240."""
    jobs = [class_of("a", {"value": 60.0, "low": 50.0, "high": 90.0}), class_of("b", 20.0)]
    made = posed(OLD, rented_at(6.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, **TITLED)
    a, b = arrival_streams(made, made.mixes[0])
    assert (a.work_class.workload, a.job_class.servers, open_hours(a)) == ("lab.a", 1, pytest.approx(240.0))
    assert (a.per_month, b.per_month, a.job_class.mean_hours) == pytest.approx((60.0, 20.0, 2.0))


def test_what_one_has_and_what_is_bought_work_in_turn_and_are_named_together():
    """700 hours: ours does 240, two boxes 460 of 480. All three are open 240 hours; a box is twice as fast."""
    made = posed(OLD, own(), rented_at(60.0), jobs=[class_of("a", 470.0)], hours={"a": 2.0},
                 speeds={"box": (200.0, 200.0, 200.0)}, **TITLED)  # fmt: skip
    best = made.mixes[0]
    (one,) = arrival_streams(made, best)
    assert best.bought == {"box": 2}
    assert queue_table([made])[["title", "machines"]].iloc[0].tolist() == ["pool of old and 2 × box", "old and 2 × box"]
    assert (one.job_class.servers, open_hours(one)) == (3, pytest.approx(240.0))
    assert one.per_month == pytest.approx(470.0)
    # The boxes do all they can, as they are cheaper to run: 470 hours of 480. Ours does nothing.
    assert one.job_class.mean_hours == pytest.approx(1.0)


def test_a_pool_is_open_as_long_as_its_devices_on_average():
    """One device 240 hours a month, four of a box twice as long, on which four jobs run at once; half a job of b."""
    facts = {"box": {"provider": "shop", "gpu": "H9", "gpus": 4}}
    jobs = [class_of("a", 900.0), class_of("b", 0.5)]

    def change(options):
        return options.assign(jobs_at_once=options["instance"].map({"old": 1.0, "box": 4.0}))

    made = posed(
        OLD, own(days_per_month=20.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, facts=facts, change=change, **TITLED
    )
    a, b = arrival_streams(made, made.mixes[0])
    assert (a.job_class.servers, open_hours(a)) == (5, pytest.approx((240 + 4 * 480) / 5))
    assert b.per_month == pytest.approx(0.5)
    assert set(queue_table([made])["title"]) == {"pool of old and box"}  # two machines
