"""What the answer lists of choices and waits, of a few rows by hand, and how the page puts it."""

import pandas as pd
import pytest
from sweetspot.choice_kinds import MAY_STOP
from sweetspot.report import outcome
from sweetspot.report.answer_file import busy_machine, long_waits, scenario_rows
from sweetspot.report.outcome import ChoiceName, Outcome, choices_of

NONE = float("nan")


def choice(name, kind="rent", usd=100.0, **more):
    row = {"workload": "w", "choice": name, "title": name.capitalize(), "kind": kind, "usd": usd, "usd_low": usd / 2,
           "usd_high": 2 * usd, "usd_per_month": 10.0, "hours": 8.0, "device_hours": 64.0, "why_not": None,
           "reasons": None, "ratio": usd / 100, "p_cheaper": 0.25, "in_hand": False, "main_rented": None,
           "alternative": name, "is_best": False}  # fmt: skip
    return row | more


def found(**changes):
    names = {"best": ChoiceName(choice="a", title="A"), "start_with": ChoiceName(choice="a", title="A"), "rival": None}
    return Outcome.model_construct(**{"workload": "w"} | names | changes)


SPOT = {"why_not": MAY_STOP}


@pytest.fixture
def of_work(monkeypatch):
    """The choices of these rows, of a verdict with these changes."""

    def asked(rows, most=outcome.CHOICES_LISTED, **changes):
        monkeypatch.setattr(outcome, "outcome_of", lambda _: found(**changes))
        monkeypatch.setattr(outcome, "CHOICES_LISTED", most)
        return [row["choice"] for row in choices_of({"choices": pd.DataFrame(rows)})]

    return asked


def test_the_choices_listed_are_best_rival_start_kinds_and_one_cheaper_that_is_no_answer(of_work):
    rows = [choice("spot", usd=50.0, **SPOT), choice("spot2", usd=60.0, **SPOT), choice("a", is_best=True),
            choice("b", usd=110.0), choice("c", usd=120.0), choice("keep", "keep", 130.0), choice("d", usd=140.0),
            choice("late", "contract", 150.0, why_not="too late"), choice("box", "buy", 160.0),
            choice("box2", "buy", 170.0), choice("none", "buy", NONE),
            choice("other", workload="x", usd=1.0)]  # fmt: skip
    rival = ChoiceName(choice="box2", title="")
    # best, start and rival; then one of each kind (a, keep, box), the spot that is cheaper, and the next by cost
    assert of_work(rows, rival=rival) == ["spot", "a", "keep", "box", "box2"]
    assert of_work(rows, 6, rival=rival) == ["spot", "a", "b", "keep", "box", "box2"]
    assert of_work(rows, 3, rival=rival) == ["a", "box", "box2"] == of_work(rows, 3, rival=rival, start_with=rival)
    assert of_work(rows[2:], 4) == ["a", "b", "keep", "box"]
    assert of_work([rows[0] | {"alternative": "a"}, *rows[2:5]], 3) == ["a", "b", "c"]  # the best itself, as spot
    assert of_work([rows[0] | {"ratio": 1.0}, *rows[2:5]], 3) == ["a", "b", "c"]  # no cheaper


def test_offers_in_hand_stand_first_unless_all_are(of_work):
    rows = [choice("a", is_best=True), *(choice(name, usd=110.0) for name in "bcd")]
    mine = [row | {"in_hand": row["choice"] == "d"} for row in rows]
    assert of_work(mine, 2) == ["a", "d"] and of_work([row | {"in_hand": True} for row in rows], 2) == ["a", "b"]
    assert of_work([row | {"in_hand": True} for row in rows[1:]] + [rows[0]], 2) == ["b", "c", "d", "a"]


def queue(**changes):
    row = {"workload": "w.runs", "option": "a", "overloaded": False, "wait_hours": 2.6, "hours": 10.0,
           "machines": "2 x box"}  # fmt: skip
    return {"queue": pd.DataFrame([row | changes])}


@pytest.mark.parametrize(("changes", "waits"), [
    ({}, [2.6]), ({"wait_hours": 2.5}, []),  # a quarter of its hours is not long
    ({"overloaded": True}, [None]),
    ({"overloaded": True, "option": "b"}, []),
    ({"overloaded": True, "option": "w: a"}, [None]), ({"overloaded": True, "workload": "x.runs"}, [])
])  # fmt: skip
def test_a_wait_of_more_than_a_quarter_of_a_jobs_hours_is_listed(changes, waits):
    made = long_waits(queue(**changes), found())
    assert [(wait.wait_hours, wait.job, wait.machines) for wait in made] == [
        (hours, "runs", "2 x box") for hours in waits
    ]
    assert long_waits({}, found()) == []


def test_the_busy_machine_is_the_bought_one_of_phases_and_all_owned_ones_of_a_mix():
    # 72 of 90 planned hours are 80 %, of the runner-up where the best has no hours to fill.
    rows = pd.DataFrame([choice("a", planned_hours=NONE), choice("b", "buy", hours=72.0, planned_hours=90.0)])
    made = busy_machine({"choices": rows}, found(rival=ChoiceName(choice="b", title="Box")))
    assert (made.title, made.share) == ("Box", 0.8)
    assert busy_machine({"choices": rows}, found()) is None
    # 100 + 50 of 100 + 200 device-hours: half of them; what is rented has no capacity of its own.
    rows = [("a", "Mine", 100.0, 100.0), ("a", "Box", 50.0, 200.0), ("a", "Cloud", 70.0, NONE), ("b", "Box", 9.0, 9.0)]
    sources = pd.DataFrame(rows, columns=["mix", "title", "device_hours", "capacity_device_hours"]).assign(workload="w")
    made = busy_machine({"choices": pd.DataFrame([choice("a")]), "sources": sources}, found())
    assert (made.title, made.share) == ("Mine and Box", 0.5)


def scenarios(count, **columns):
    rows = [{"scenario": f"s{n}" if n else "", "title": f"S{n}", "sentence": "Rent.", "kind": "rent",
             "best_title": f"T{n}", "usd": 3600.0, "usd_low": 3000.0, "usd_high": 4000.0, "usd_per_month": 100.0,
             "same_answer": True} for n in range(count)]  # fmt: skip
    return pd.DataFrame(rows).assign(**columns)


def test_of_many_scenarios_those_with_another_answer_are_kept():
    table = scenarios(10, usd=[*[3600.0] * 4, NONE, *[3600.0] * 5], same_answer=[*[True] * 8, False, False])
    # The plan and s8, s9, then the others until eight: s1, s2, s3, s5, s6, as nothing is priced in s4.
    assert [row.name for row in scenario_rows({"scenarios": table})] == ["", "s1", "s2", "s3", "s5", "s6", "s8", "s9"]
    assert scenario_rows({"scenarios": scenarios(2, usd=[3600.0, NONE])}) == scenario_rows({}) == []
