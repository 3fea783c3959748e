"""What takes no part in a workload says why; what is missing for no reason ends the run."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import only, settings
from sweetspot.decision.left_out import COLUMNS, left_out_table, set_aside, speed_warnings
from sweetspot.study.memory import Needs
from sweetspot.study.monthly import Monthly
from sweetspot.study.workloads import Need

CELL = {"framework": "tensorflow", "model": "vgg16", "batch_size": 64, "gpus": 1, "precision": "fp16"}
INPUTS = ("offers", "costs", "plans")
JOB = {"hours": 1.0, "instance": "x", "per_month": 1.0, "devices_per_job": 1, "source": "x"}
JOBS = [JOB | {"name": "job", "model": "vgg16"}, JOB | {"name": "none", "model": "bert"}]


def offer(instance="x", price_list="rent", gpus=1):
    return {"price_list": price_list, "instance": instance, "purchase": "on_demand", "gpus": gpus}


def priced(workload="job", **more):
    return offer() | CELL | {"workload": workload, "status": "ok"} | more


def planned(**more):
    return priced(plan="project", phase="total") | more


def option(**more):
    return priced(**{"fits": None, "in_answer": True} | more)


def made(costs=(), plans=(), options=(), taken=(), offers=None, needs=None, **changes):
    offers = [offer()] if offers is None else offers
    given = only(**{name: pd.DataFrame(list(rows)) for name, rows in zip(INPUTS, (offers, costs, plans), strict=True)})
    every, chosen = pd.DataFrame(list(options)), pd.DataFrame(list(taken))
    return left_out_table(given, every, chosen, replace(settings(), **changes), needs or {})


def need(devices=None, gib=None):
    return Need(Needs(gpu_memory_gib=gib), devices)


BIG = {"needs": {"project": need(gib=20.0)}, "gpu_memory_gib": {"x": 16.0}}


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"needs": {"job": need()}}, "no_figure"),
        ({"costs": [priced(instance="other")]}, "no_figure"),
        ({"costs": [priced(batch_size=32), priced(batch_size=16)]}, "other_batch"),
        ({"costs": [priced(status="oom")]}, "oom"),
        ({"costs": [priced(status="never finishes")]}, "never_finishes"),
        ({"needs": {"job": need(devices=4)}}, "too_few_devices"),
        ({"needs": {"job": need(devices=4)}, "offers": [offer(gpus=None)]}, "no_figure"),
        ({"needs": {"job": need(devices=4)}, "costs": [priced(status="oom")]}, "oom"),
        ({"plans": [planned(), planned(gpus=2)], **BIG}, "does_not_fit"),
        ({"plans": [planned(status="oom"), planned(gpus=None)], "options": [option()], **BIG}, "oom"),
        ({"plans": [planned(status="too slow")], "options": [option()]}, "too_slow"),
        ({"plans": [planned(phase="search", status="oom"), planned(status="too slow", gpus=2)]}, "too_slow"),
        ({"plans": [planned(batch_size=32)]}, "other_batch"),
        ({"plans": [planned()], "answer_prices": ["ours"]}, "not_asked"),
        ({"plans": [planned()], "options": [option(in_answer=False)]}, "not_asked"),
    ],
)
def test_the_rule_that_leaves_an_offer_out(given, rule):
    found = made(**given)
    assert list(found.columns) == list(COLUMNS)
    rows = found[(found["instance"] == "x") & (found["workload"] == ("project" if "plans" in given else "job"))]
    assert rows["rule"].tolist() == [rule]


def test_what_is_there_already_is_no_rival_but_for_the_reference():
    lab = Monthly.model_validate({"kind": "monthly", "months": 12.0, "jobs": JOBS, "source": "x",
                                  "have": ["x", "y"]})  # fmt: skip
    rows = [("x", "own", False, True), ("x", "spot", False, True), ("y", "own", True, True), ("z", "own", False, True),
            ("z", "spot", False, False)]  # fmt: skip
    options = pd.DataFrame(rows, columns=["instance", "purchase", "is_reference", "in_answer"])
    assert set_aside(options, {"lab": lab})["in_answer"].tolist() == [False, True, True, True, False]
    assert set_aside(options, {})["in_answer"].tolist() == [True, True, True, True, False]


def test_a_workload_that_no_offer_serves_and_a_machine_without_a_speed_are_named():
    """Nobody does the first; of the second the machine `x` has no figure, and `new` has none of anything."""
    offers = pd.DataFrame([offer(), offer("y"), offer("new")])
    rows = [("slow", *key, "bert", "too_slow") for key in offers[["price_list", "instance", "purchase"]].to_numpy()]
    rows += [("job", "rent", name, "on_demand", "vgg16", "no_figure") for name in ("x", "new")]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    found = list(speed_warnings(table, offers, pd.DataFrame([option(), option(instance="y")])))
    assert [(row[1], row[2], row[4]) for row in found] == [(None, None, "no_speed"), ("x", "vgg16", "no_speed")]
