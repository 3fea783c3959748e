"""What takes no part in a workload says why; what is missing for no reason ends the run."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import only, settings
from sweetspot.decision.offers_left_out import COLUMNS, left_out_table, left_out_warnings
from sweetspot.errors import UserError
from sweetspot.study.memory import Need, Needs
from sweetspot.study.monthly import Monthly

CELL = {"framework": "tensorflow", "model": "vgg16", "batch_size": 64, "gpus": 1, "precision": "fp16"}
NONE = pd.DataFrame()
INPUTS = ("offers", "costs", "plans")
JOB = {"hours": 1.0, "instance": "x", "per_month": 1.0, "devices_per_job": 1, "source": "x"}
JOBS = [JOB | {"name": "job", "model": "vgg16"}, JOB | {"name": "none", "model": "bert"}]
LAB = Monthly.model_validate({"kind": "monthly", "months": 12.0, "jobs": JOBS, "source": "x"})


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
    return left_out_table(given, every, chosen, settings(**changes), needs or {})


def need(devices=None, gib=None):
    return Need(Needs(gpu_memory_gib=gib), devices)


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
        ({"plans": [planned(instance="other")]}, "no_figure", "no figure of vgg16"),
        ({"plans": [planned(status="too slow")], "options": [option()]}, "too_slow", "however many are bought"),
        ({"plans": [planned()], "options": [option(batch_size=32)]}, "other_figure", "another|not"),
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


def test_what_takes_part_is_not_left_out():
    costs, plans = [priced()], [planned()]
    assert made(costs, plans, [option()], [{**offer(), "workload": "project"}]).empty


def test_the_same_machine_under_another_price_list_is_another_offer():
    both = [offer(), offer(price_list="spot")]
    found = made([priced()], options=[option()], offers=both)
    assert found[["price_list", "rule"]].to_numpy().tolist() == [["spot", "no_figure"]]


@pytest.mark.parametrize(("costs", "plans"), [([priced()], []), ([], [planned()])])
def test_an_offer_that_is_missing_for_no_reason_ends_the_run(costs, plans):
    own = [option(workload="another")] if plans else []
    with pytest.raises(UserError, match="rent, x, on_demand: the offer is in no table of workload"):
        made(costs, plans, own)


def test_a_machine_is_warned_of_by_model_and_not_for_what_the_reader_left_out():
    table = pd.DataFrame(
        [
            ("job", "rent", "x", "on_demand", "vgg16", "no_figure", "no figure of vgg16 is known"),
            ("job", "spot", "x", "spot", "vgg16", "no_figure", "no figure of vgg16 is known"),  # the machine is one
            ("job", "rent", "y", "on_demand", "vgg16", "oom", "status of its figure: oom"),
            ("job", "rent", "nowhere", "on_demand", "vgg16", "no_figure", "no figure of vgg16 is known"),
            ("lab.job", "rent", "x", "on_demand", "vgg16", "no_figure", "no figure of vgg16 is known"),
            ("lab.job", "old", "x", "on_demand", "vgg16", "no_figure", "no figure of vgg16 is known"),
            ("lab.job", "rent", "y", "on_demand", None, "too_few_devices", "it has 1 devices, and a job takes 4"),
            ("lab.none", "rent", "x", "on_demand", None, "no_figure", "no figure of its model is known"),
            ("lab.none", "rent", "y", "on_demand", None, "no_figure", "no figure of its model is known"),
            ("plan", "old", "x", "on_demand", "vgg16", "not_asked", "answer_prices leaves its price list out"),
        ],
        columns=list(COLUMNS),
    )
    # of two offers that the answer may take one has no speed for the class: nobody has for the other class
    offers = pd.DataFrame([offer(), offer("y"), offer(price_list="old")])
    given = (only(offers=offers), pd.DataFrame({"instance": ["x", "y"], "workload": ["job", "job"]}))
    known = replace(settings(), answer_prices=("rent",))
    needs = {"job": need(), "lab.job": need(), "lab.none": need(), "alone": need()}
    found = {(row[1], row[2], row[4], row[5]) for row in left_out_warnings(table, *given, known, needs, {"lab": LAB})}
    assert found == {
        ("x", "vgg16", "no_speed", "job: no figure of vgg16 is known; it takes no part"),
        ("y", "vgg16", "takes_no_part", "job: status of its figure: oom; it takes no part"),
        (None, None, "no_speed", "workload alone: no machine that is offered has a speed for it; it takes no part"),
        ("x", "vgg16", "no_speed", "priced, but no speed for job (model vgg16) of lab; it does none of these jobs"),
        (None, "bert", "no_speed", "lab.none: no machine that is offered has a speed for model bert; it takes no part"),
    }
    served = list(left_out_warnings(table.head(0), *given, known, {"job": need()}, {}))
    assert served == []
