"""What jobs wait, from arrivals on: whole rows by the formula of one server, who comes to which machine."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from phase_plans import hourly as rented_at
from phase_plans import own
from small_lab import class_of, posed
from sweetspot.decision.waiting import QUEUE_COLUMNS, Coming, coming_to_mixes, coming_to_options, pool, queue_table

NAN = math.nan


def row(option, **more):
    return {"option": option, "title": f"the {option}", "model": "net", "workload": "jobs", "is_reference": False,
            "persistent": True, "in_answer": True} | more  # fmt: skip


def came(
    option="box", people=5, per_month=(100.0, 80.0, 120.0), hours=(2.0, 1.6, 2.5), opened=400.0, servers=1, **more
):
    return Coming(row(option, **more), people, per_month, hours, 1.0, servers, opened)


def had(option, hours, **more):
    """A rented machine, of which one is had for each job; its low end is the lower, the longer it takes."""
    return came(option, hours=(hours, 4.5 / hours, hours * 2), opened=math.inf, **more)


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
        "wait_hours_low": 1.6 * 0.32 / 0.68, "wait_hours_high": 2.5 * 0.75 / 0.25, "wait_hours_p90": 4 * math.log(5),
        "hours_to_result": 4.0, "hours_to_result_low": 1.6 + 1.6 * 0.32 / 0.68, "hours_to_result_high": 10.0,
        "rival": "cloud", "rival_title": "the cloud", "rival_hours": 3.0, "slower_from_per_month": 100 * 2 / 3,
        "slower_from_people": 4.0, "machines": "the box",
    }  # fmt: skip
    assert shared == {
        name: value if isinstance(value, str | bool) else pytest.approx(value, rel=1e-5)
        for name, value in expected.items()
    }
    nobody = {"held": False, "overloaded": False, "wait_hours": 0.0, "wait_hours_low": 0.0, "wait_hours_high": 0.0,
              "wait_hours_p90": 0.0, "hours": 3.0, "hours_to_result": 3.0, "hours_to_result_low": 1.5,
              "hours_to_result_high": 6.0, "jobs_at_once": 1, "per_month": 100.0, "people": 5}  # fmt: skip
    assert {name: rented[name] for name in nobody} == nobody
    assert {name for name, value in rented.items() if pd.isna(value)} == {
        "utilisation", "rival", "rival_title", "rival_hours", "slower_from_per_month", "slower_from_people",
    }  # fmt: skip


def test_the_rival_is_the_fastest_that_is_rented_stays_and_may_be_the_answer():
    """Of as fast ones the first by name; that of another model or workload is none."""
    lines = [
        came(), had("slow", 9.0), had("two", 4.0), had("one", 4.0), had("spot", 3.0, persistent=False),
        had("no answer", 3.5, in_answer=False), had("another", 3.0, model="other"), had("else", 3.0, workload="else"),
        came("held", hours=(2.5, 2.5, 2.5)),
    ]  # fmt: skip
    found = table(*lines)
    assert found.loc[["box", "held"], "rival"].tolist() == ["one", "one"] and found["rival"].count() == 2
    alone = table(came(), had("spot", 3.0, persistent=False))
    assert alone["rival"].isna().all() and alone["slower_from_people"].isna().all()


@pytest.mark.parametrize(
    ("shared", "per_month", "people"),
    [
        ({"hours": (4.0, 4.0, 4.0)}, 0.0, 0.0),  # three hours rented are fewer than four here, however few come
        ({"people": None}, 200 / 3, NAN),
        ({"people": 10}, 200 / 3, 7.0),  # 2 / 3 of ten people are 6.7: of six nobody is slower, of seven they are
    ],
)
def test_from_how_many_jobs_and_people_on_a_rented_machine_is_faster(shared, per_month, people):
    box = table(came(**shared), had("cloud", 3.0)).loc["box"]
    assert box["slower_from_per_month"] == pytest.approx(per_month, rel=1e-5)
    assert box["slower_from_people"] == pytest.approx(people, nan_ok=True)


def test_more_work_than_a_machine_has_hours_has_no_wait_to_state():
    full = table(came(per_month=(300.0, 80.0, 300.0))).loc["box"]
    assert full["overloaded"] and full["utilisation"] == 1.5
    assert np.isnan(full["wait_hours"]) and full["wait_hours_low"] == pytest.approx(1.6 * 0.32 / 0.68)


def test_jobs_of_all_workloads_wait_in_one_queue():
    """Another workload of as many hours and jobs: r = 0.5 + 0.25; each row states its own number."""
    ours, other = came(), came(per_month=(50.0, 50.0, 50.0), workload="else")
    found = queue_table([(ours, (ours, other)), (other, (ours, other))])
    assert found["wait_hours"].tolist() == pytest.approx([2 * 0.75 / 0.25] * 2)
    assert found["utilisation"].tolist() == [0.75, 0.75] and found["per_month"].tolist() == [100.0, 50.0]


ABOUT = {"price_list": "list", "instance": "box", "purchase": "own", "framework": "tf", "batch_size": 64, "gpus": 1,
         "precision": "fp16"}  # fmt: skip
PHASES = pd.DataFrame(
    columns=[*ABOUT, "model", "workload", "plan", "phase", "status", "jobs", "machines", "slots", "hours"]
)


def demand(runs=1, people=4, hours_cv=0.5):
    return SimpleNamespace(runs=runs, people=people, per_month=(30.0, 20.0, 40.0), hours_cv=hours_cv)


def option(name="box", **more):
    told = {"hours": 6.0, "hours_low": 3.0, "hours_high": 9.0, "jobs_at_once": 1.0, "downtime_share": 0.0}
    return row(name) | ABOUT | {"instance": name} | told | more


def lines(*options, demands=None, boxes=(), plans=PHASES):
    offers = pd.DataFrame([{**{name: one[name] for name in ("price_list", "instance", "purchase")}, "boxes": NAN}
                           | dict(boxes).get(one["option"], {}) for one in options])  # fmt: skip
    demands = {"jobs": demand()} if demands is None else demands
    return list(coming_to_options(pd.DataFrame(options), plans, offers, demands, 30.0))


def test_jobs_come_to_what_there_is_of_a_machine_and_wait_for_it_where_it_is_held():
    """Two boxes of three slots, broken a tenth of the time; a reserved one is open all month, a rented one always."""
    box = option(jobs_at_once=3.0, downtime_share=0.1)
    deal, cloud = option("deal", purchase="reserved"), option("cloud", purchase="on_demand", jobs_at_once=NAN)
    found = {one.row["option"]: one for one, _ in lines(box, deal, cloud, boxes={"box": {"boxes": 2.0}}.items())}
    assert {name: (one.servers, one.opened, one.held) for name, one in found.items()} == {
        "box": (6, pytest.approx(24 * 30 * 0.9), True), "deal": (1, 720.0, True), "cloud": (1, math.inf, False),
    }  # fmt: skip
    one = found["box"]
    assert (one.people, one.per_month, one.spread) == (4, (30.0, 20.0, 40.0), 0.5)
    assert list(one.hours) == [6.0, 3.0, 9.0]
    job = one.job_class(1)
    assert job.arrivals_per_hour == pytest.approx(20 / 648)
    assert (job.mean_hours, job.variation, job.servers) == (3.0, 0.5, 6)


@pytest.mark.parametrize(("runs", "slots", "hours"), [(1, 1.0, 6.0), (7, 3.0, 2.0), (6, 3.0, 3.0), (3, 4.0, 6.0)])
def test_of_runs_that_are_one_bill_each_takes_its_part(runs, slots, hours):
    """Seven runs, three at once, are three rounds of two hours."""
    ((one, _),) = lines(option(jobs_at_once=slots), demands={"jobs": demand(runs)})
    assert list(one.hours) == [hours, hours / 2, hours * 1.5]


def phase(**more):
    """Ten jobs, two at once on two machines: three rounds in 30 hours."""
    told = {"model": "net", "plan": "work", "phase": "train", "status": "ok", "jobs": 10.0, "machines": 2.0,
            "slots": 2.0, "hours": 30.0}  # fmt: skip
    return ABOUT | told | more


def test_a_job_of_a_phase_takes_the_time_of_a_round_with_the_ends_of_the_speed():
    """Ten hours at 100 images/s, of 80 to 125: 8 to 12.5. Other phases, and those that fail, do not come."""
    rate = {"images_per_s": 100.0, "images_per_s_low": 80.0, "images_per_s_high": 125.0}
    plans = pd.DataFrame([phase(), phase(phase="other"), phase(status="failed", instance="failed")])
    box, failed = option(workload="job", **rate), option("failed", workload="job", **rate)
    ((one, _),) = lines(box, failed, demands={"work.train": demand()}, plans=plans)
    assert (one.row["workload"], one.row["option"], one.servers) == ("work.train", "box", 2)
    assert list(one.hours) == pytest.approx([10.0, 8.0, 12.5])
    assert lines(box, demands={"work.train": demand()}, plans=plans.iloc[:1].assign(framework="another")) == []
    unknown = plans.iloc[:1].assign(hours=math.inf)
    assert lines(box, demands={"work.train": demand()}, plans=unknown) == []


OLD = own("old", capex=0.0)  # 240 hours a month
TITLED = {"have": ["old"]}


def test_the_machines_that_are_there_are_one_pool():
    """60 jobs of two hours with a range of 50 to 90; 40 hours of class b. Both fit into the 240."""
    jobs = [class_of("a", {"value": 60.0, "low": 50.0, "high": 90.0}), class_of("b", 20.0)]
    made = posed(OLD, rented_at(6.0), jobs=jobs, hours={"a": 2.0, "b": 2.0}, people=3, **TITLED)
    a, b = pool(made, made.mixes[0])
    told = [a.row[name] for name in ("option", "title", "workload", "is_reference")]
    assert told == ["lab: best", "old", "lab.a", False]
    assert (a.people, a.servers, a.opened) == (3, 1, pytest.approx(240.0))
    assert list(a.per_month) == pytest.approx([60.0, 50.0, 90.0]) and list(b.per_month) == pytest.approx([20.0] * 3)
    assert a.hours[0] == pytest.approx(2.0)


def test_what_one_has_and_what_is_bought_work_in_turn_and_are_named_together():
    """700 hours: ours does 240, two boxes 460 of 480. All three are open 240 hours; a box is twice as fast."""
    made = posed(OLD, own(), rented_at(60.0), jobs=[class_of("a", 470.0)], hours={"a": 2.0},
                 speeds={"box": (200.0, 200.0, 200.0)}, **TITLED)  # fmt: skip
    best = made.mixes[0]
    (one,) = pool(made, best)
    assert best.bought == {"box": 2} and one.row["title"] == "pool of old and 2 × box"
    assert one.row["machines"] == "old and 2 × box"
    assert (one.servers, one.opened) == (3, pytest.approx(240.0))
    assert list(one.per_month) == pytest.approx([470.0] * 3)
    # The boxes do all they can, as they are cheaper to run: 470 hours of 480. Ours does nothing.
    assert one.hours[0] == pytest.approx(1.0)


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
    assert (a.row["title"], a.servers, a.opened) == ("pool of old and box", 5, pytest.approx((240 + 4 * 480) / 5))
    assert b.per_month[0] == pytest.approx(0.5)


def test_every_pool_and_each_rented_offer_has_its_lines():
    """Ours does 120 jobs, and the rest is rented; the reference, a box, is bought in another pool. Urgent jobs wait in
    pools alone.
    """
    jobs = [class_of("a", 145.0, within_hours=9.0, urgent_per_month=6.0), class_of("b", 5.0)]
    hours = {"a": 2.0, "a.urgent": 2.0, "b": 2.0}
    made = posed(own(), OLD, rented_at(6.0), jobs=jobs, hours=hours, people=3, **TITLED)
    found = coming_to_mixes([made])
    told = [(one.row["option"], one.row["workload"], round(one.per_month[0]), len(every)) for one, every in found]
    assert told == [
        ("lab: best", "lab.a", 120, 1),
        ("lab: box", "lab.a", 139, 3), ("lab: box", "lab.a", 6, 3), ("lab: box", "lab.b", 5, 3),
        ("rented", "lab.a", 145, 0), ("rented", "lab.b", 5, 0),
    ]  # fmt: skip
    rented = found[-1][0]
    assert (rented.people, rented.held, list(rented.per_month)) == (3, False, [5.0] * 3)
    assert coming_to_mixes([]) == []
