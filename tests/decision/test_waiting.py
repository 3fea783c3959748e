"""What jobs wait, from arrivals on: whole rows by the formula of one server, who comes to which machine."""

import math

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly as rented_at
from phase_plans import own
from small_lab import class_of, posed
from sweetspot.decision.waiting import QUEUE_COLUMNS, ArrivalStream, arrival_streams, pool, queue_table

NAN = math.nan


def row(option, **more):
    return {"option": option, "title": f"the {option}", "model": "net", "workload": "jobs", "is_reference": False,
            "persistent": True, "in_answer": True} | more  # fmt: skip


def came(option="box", people=5, per_month=100.0, hours=2.0, opened=400.0, servers=1, **more):
    return ArrivalStream(row(option, **more), people, per_month, hours, 1.0, servers, opened)


def had(option, hours, **more):
    """A rented machine, of which one is had for each job."""
    return came(option, hours=hours, opened=math.inf, **more)


def table(*lines):
    return queue_table([(one, (one,)) for one in lines]).set_index("option")


def test_a_shared_machine_and_a_rented_one_row_by_row():
    """One server, hours at random: W = r h / (1 - r) with r = jobs / 400 x h. Nine in ten wait h / (1 - r) ln(10 r) at
    most. With a wait of one hour, r = 1/3, it takes the three hours of the rented one: at two thirds of the jobs.
    """
    found = queue_table([(one, (one,)) for one in (came(is_reference=True), had("cloud", 3.0))])
    assert found.columns.tolist() == list(QUEUE_COLUMNS)
    shared, rented = found.set_index("option").to_dict("index").values()
    expected = {
        "title": "the box", "model": "net", "workload": "jobs", "is_reference": True, "held": True, "jobs_at_once": 1,
        "per_month": 100.0, "people": 5, "utilisation": 0.5, "overloaded": False, "hours": 2.0, "wait_hours": 2.0,
        "wait_hours_p90": 4 * math.log(5), "hours_to_result": 4.0,
        "rival": "cloud", "rival_title": "the cloud", "rival_hours": 3.0, "slower_from_per_month": 100 * 2 / 3,
        "slower_from_people": 4.0, "machines": "the box",
    }  # fmt: skip
    assert shared == {
        name: value if isinstance(value, str | bool) else pytest.approx(value, rel=1e-5)
        for name, value in expected.items()
    }
    nobody = {"held": False, "overloaded": False, "wait_hours": 0.0, "wait_hours_p90": 0.0, "hours": 3.0,
              "hours_to_result": 3.0, "jobs_at_once": 1, "per_month": 100.0, "people": 5}  # fmt: skip
    assert {name: rented[name] for name in nobody} == nobody
    assert {name for name, value in rented.items() if pd.isna(value)} == {
        "utilisation", "rival", "rival_title", "rival_hours", "slower_from_per_month", "slower_from_people",
    }  # fmt: skip


def test_the_rival_is_the_fastest_that_is_rented_stays_and_may_be_the_answer():
    """Of as fast ones the first by name; that of another model or workload is none."""
    lines = [
        came(), had("slow", 9.0), had("two", 4.0), had("one", 4.0), had("spot", 3.0, persistent=False),
        had("no answer", 3.5, in_answer=False), had("another", 3.0, model="other"), had("else", 3.0, workload="else"),
        came("held", hours=2.5),
    ]  # fmt: skip
    found = table(*lines)
    assert found.loc[["box", "held"], "rival"].tolist() == ["one", "one"] and found["rival"].count() == 2
    alone = table(came(), had("spot", 3.0, persistent=False))
    assert alone["rival"].isna().all() and alone["slower_from_people"].isna().all()


@pytest.mark.parametrize(
    ("shared", "per_month", "people"),
    [
        ({"hours": 4.0}, 0.0, 0.0),  # three hours rented are fewer than four here, however few come
        ({"people": None}, 200 / 3, NAN),
        ({"people": 10}, 200 / 3, 7.0),  # 2 / 3 of ten people are 6.7: of six nobody is slower, of seven they are
    ],
)
def test_from_how_many_jobs_and_people_on_a_rented_machine_is_faster(shared, per_month, people):
    box = table(came(**shared), had("cloud", 3.0)).loc["box"]
    assert box["slower_from_per_month"] == pytest.approx(per_month, rel=1e-5)
    assert box["slower_from_people"] == pytest.approx(people, nan_ok=True)


def test_more_work_than_a_machine_has_hours_has_no_wait_to_state():
    full = table(came(per_month=300.0)).loc["box"]
    assert full["overloaded"] and full["utilisation"] == 1.5
    assert np.isnan(full["wait_hours"])


def test_jobs_of_all_workloads_wait_in_one_queue():
    """Another workload of as many hours and jobs: r = 0.5 + 0.25; each row states its own number."""
    ours, other = came(), came(per_month=50.0, workload="else")
    found = queue_table([(ours, (ours, other)), (other, (ours, other))])
    assert found["wait_hours"].tolist() == pytest.approx([2 * 0.75 / 0.25] * 2)
    assert found["utilisation"].tolist() == [0.75, 0.75] and found["per_month"].tolist() == [100.0, 50.0]


OLD = own("old", capex=0.0)  # 240 hours a month
TITLED = {"have": ["old"]}


def test_the_machines_that_are_there_are_one_pool():
    """60 jobs of two hours with a range of 50 to 90; 40 hours of class b. Both fit into the 240."""
    jobs = [class_of("a", {"value": 60.0, "low": 50.0, "high": 90.0}), class_of("b", 20.0)]
    made = posed(OLD, rented_at(6.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, people=3, **TITLED)
    a, b = pool(made, made.mixes[0])
    told = [a.row[name] for name in ("option", "title", "workload", "is_reference")]
    assert told == ["lab: best", "old", "lab.a", False]
    assert (a.people, a.servers, a.open_hours) == (3, 1, pytest.approx(240.0))
    assert (a.per_month, b.per_month, a.hours) == pytest.approx((60.0, 20.0, 2.0))


def test_what_one_has_and_what_is_bought_work_in_turn_and_are_named_together():
    """700 hours: ours does 240, two boxes 460 of 480. All three are open 240 hours; a box is twice as fast."""
    made = posed(OLD, own(), rented_at(60.0), jobs=[class_of("a", 470.0)], hours={"a": 2.0},
                 speeds={"box": (200.0, 200.0, 200.0)}, **TITLED)  # fmt: skip
    best = made.mixes[0]
    (one,) = pool(made, best)
    assert best.bought == {"box": 2} and one.row["title"] == "pool of old and 2 × box"
    assert one.row["machines"] == "old and 2 × box"
    assert (one.servers, one.open_hours) == (3, pytest.approx(240.0))
    assert one.per_month == pytest.approx(470.0)
    # The boxes do all they can, as they are cheaper to run: 470 hours of 480. Ours does nothing.
    assert one.hours == pytest.approx(1.0)


def test_a_pool_is_open_as_long_as_its_devices_on_average():
    """One device 240 hours a month, four of a box twice as long, on which four jobs run at once; half a job of b."""
    facts = {"box": {"provider": "shop", "gpu": "H9", "gpus": 4}}
    jobs = [class_of("a", 900.0), class_of("b", 0.5)]

    def change(options):
        return options.assign(jobs_at_once=options["instance"].map({"old": 1.0, "box": 4.0}))

    made = posed(
        OLD, own(days_per_month=20.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, facts=facts, change=change, **TITLED
    )
    a, b = pool(made, made.mixes[0])
    assert (a.row["title"], a.servers, a.open_hours) == ("pool of old and box", 5, pytest.approx((240 + 4 * 480) / 5))
    assert b.per_month == pytest.approx(0.5)


def test_every_pool_and_each_rented_offer_has_its_lines():
    """Ours does 120 jobs, and the rest is rented; the reference, a box, is bought in another pool. Urgent jobs wait in
    pools alone.
    """
    jobs = [class_of("a", 145.0, within_hours=9.0, urgent_per_month=6.0), class_of("b", 5.0)]
    hours = {"a": 2.0, "a.urgent": 2.0, "b": 2.0}
    made = posed(own(), OLD, rented_at(6.0), jobs=jobs, hours=hours, people=3, **TITLED)
    found = arrival_streams([made])
    told = [(one.row["option"], one.row["workload"], round(one.per_month), len(every)) for one, every in found]
    assert told == [
        ("lab: best", "lab.a", 120, 1),
        ("lab: box", "lab.a", 139, 3), ("lab: box", "lab.a", 6, 3), ("lab: box", "lab.b", 5, 3),
        ("rented", "lab.a", 145, 0), ("rented", "lab.b", 5, 0),
    ]  # fmt: skip
    rented = found[-1][0]
    assert (rented.people, rented.has_queue, rented.per_month) == (3, False, 5.0)
    assert arrival_streams([]) == []
