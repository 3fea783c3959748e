"""What takes no part in a workload says why; what is missing for no reason ends the run."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import only, settings
from sweetspot.decision.offers_left_out import COLUMNS, left_out_table, left_out_warnings, set_aside
from sweetspot.errors import UserError
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
    ("given", "rule", "words"),
    [
        ({"needs": {"job": need()}}, "no_figure", "no figure of its model"),
        ({"costs": [priced(instance="other")]}, "no_figure", "no figure of vgg16"),
        ({"costs": [priced(batch_size=32), priced(batch_size=16)]}, "other_batch", "batch 16, 32 alone, asked is 64"),
        ({"costs": [priced(status="oom")]}, "oom", "status of its figure: oom"),
        ({"costs": [priced(status="no figure")]}, "no_figure", "hours hold"),
        ({"costs": [priced(status="never finishes")]}, "never_finishes", "interrupted so often"),
        ({"needs": {"job": need(devices=4)}}, "too_few_devices", "it has 1 devices, and a job takes 4"),
        ({"needs": {"job": need(devices=4)}, "offers": [offer(gpus=None)]}, "no_figure", "no figure of its model"),
        ({"needs": {"job": need(devices=4)}, "costs": [priced(status="oom")]}, "oom", "status of its figure: oom"),
        ({"plans": [planned()], "options": [option(framework="torch")]}, "other_figure", "that the plan has not"),
        ({"plans": [planned(), planned(gpus=2)], **BIG}, "does_not_fit",
         "it needs 20 GiB on each device, which has 16"),
        ({"plans": [planned(status="oom"), planned(gpus=None)], "options": [option()], **BIG}, "oom", "of its figure"),
        ({"plans": [planned()], "options": [option(in_answer=False, fits=False)]}, "does_not_fit", "of its model fits"),
        ({"plans": [planned()], "options": [option(in_answer=False, fits=False), option(in_answer=False)]},
         "not_asked", "there already"),
        ({"plans": [planned()], "options": [option(model="bert")]}, "other_batch", "at batch 64 alone, asked is 64"),
        ({"plans": [planned(model="bert")], "options": [option()]}, "other_batch", "asked is none of this model"),
        ({"plans": [planned(status="too slow")], "options": [option()]}, "too_slow", "however many are bought"),
        ({"plans": [planned(batch_size=32)]}, "other_batch", "at batch 32 alone, asked is 64"),
        ({"plans": [planned()], "answer_prices": ["ours"]}, "not_asked", "answer_prices"),
        ({"plans": [planned()], "options": [option(in_answer=False)]}, "not_asked", "there already"),
    ],
)  # fmt: skip
def test_a_reason_in_words(given, rule, words):
    found = made(**given)
    assert list(found.columns) == list(COLUMNS)
    rows = found[(found["instance"] == "x") & (found["workload"] == ("project" if "plans" in given else "job"))]
    assert rows["rule"].tolist() == [rule]
    assert rows["reason"].str.contains(words).all()


def test_only_the_total_of_a_plan_is_asked_about_and_one_cell_that_is_priced_is_enough():
    phases = [planned(phase="search", status="oom"), planned(status="too slow", gpus=2), planned(status="too slow")]
    found = made(plans=phases, options=[option(), option(gpus=2)])
    assert found[["workload", "rule"]].to_numpy().tolist() == [["project", "too_slow"]]
    # a cell without a status, or one that is ok, has a price: nothing says why the offer is missing
    for status in (None, "ok"):
        with pytest.raises(UserError, match="expected it or a reason"):
            made([priced(status="oom"), priced(status=status, gpus=2)])
    with pytest.raises(UserError, match="expected it or a reason"):
        made([{name: value for name, value in priced().items() if name != "status"}])


def test_what_is_there_already_is_no_rival_but_for_the_reference():
    lab = Monthly.model_validate({"kind": "monthly", "months": 12.0, "jobs": JOBS, "source": "x",
                                  "have": ["x", "y"]})  # fmt: skip
    rows = [("x", "own", False, True), ("x", "spot", False, True), ("y", "own", True, True), ("z", "own", False, True),
            ("z", "spot", False, False)]  # fmt: skip
    options = pd.DataFrame(rows, columns=["instance", "purchase", "is_reference", "in_answer"])
    assert set_aside(options, {"lab": lab})["in_answer"].tolist() == [False, True, True, True, False]
    assert set_aside(options, {})["in_answer"].tolist() == [True, True, True, True, False]


@pytest.mark.parametrize(("costs", "plans"), [([priced()], []), ([], [planned()])])
def test_an_offer_that_is_missing_for_no_reason_ends_the_run(costs, plans):
    own = [option(workload="another")] if plans else []
    with pytest.raises(UserError, match="rent, x, on_demand: the offer is in no table of workload"):
        made(costs, plans, own)


def test_a_plan_that_some_machine_can_do_is_served():
    plans = pd.DataFrame([planned(), planned(plan="slow", status="too slow")])
    needs = {"project": need(), "slow": need()}
    table, offers, options = (pd.DataFrame(rows) for rows in ([], [offer()], [option()]))
    found = left_out_warnings(
        table.reindex(columns=list(COLUMNS)), only(plans=plans, offers=offers), options, settings(), needs, {}
    )
    assert [row[5] for row in found] == [
        "workload slow: no machine that is offered has a speed for it; it takes no part"
    ]
