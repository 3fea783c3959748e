"""Sentences and tables of the page name models, units and providers as people do."""

from dataclasses import replace

import pandas as pd
from decision_tables import inputs, settings, study
from report_tables import small_tables
from sweetspot.decision.compare import compare
from sweetspot.report.case import evidence_case
from sweetspot.report.cited import Provenance
from sweetspot.report.phrases import some_taken, worth_knowing
from sweetspot.report.sections import Sections
from sweetspot.study.titles import model_title

ANSWER = {
    "verdict": pd.DataFrame([{"workload": "w"}]), "choices": pd.DataFrame([{"workload": "w", "model": "vgg16"}]),
    "options": pd.DataFrame([{"workload": "w", "model": "vgg16", "model_title": "VGG-16"}]),
}  # fmt: skip


def test_of_several_models_it_is_said_which_hangs_on_nothing():
    worth = pd.DataFrame({"model": ["vgg16"], "evppi_usd": 0.0, "evppi_usd_low": 0.0, "cost_to_learn_usd": 1.0})
    alone = worth_knowing(ANSWER | {"ranks": pd.DataFrame({"model": ["vgg16"]}), "worth_knowing": worth})
    assert alone == ["No single uncertain figure, known exactly, would change the choice."]
    both = pd.DataFrame({"model": ["vgg16", "resnet50"]})
    (said,) = worth_knowing(ANSWER | {"ranks": both, "worth_knowing": worth})
    assert said.startswith("On VGG-16 no single uncertain figure")


def test_speeds_are_told_in_the_study_s_unit_and_models_by_their_titles():
    """Were the unit or the title lost where a sentence is made, the page would have images and a key instead."""
    market = inputs(1.53)
    market = replace(market, throughput=market.throughput.assign(unit="relative"))
    found = compare(market, settings(titles={"vgg16": "The old net"}), draws=200)
    speeds = found["tornado"][found["tornado"]["quantity"] == "speed"]
    assert len(speeds) == 2 and set(speeds["unit"]) == {"times the plan"}
    worth = found["worth_knowing"].set_index("quantity")["unit"]
    assert worth[["speed"]].unique().tolist() == ["relative units/s"]
    assert set(found["tornado"]["model_title"]) == {"The old net"}


def test_workloads_have_their_titles_in_the_folded_tables():
    tables = small_tables()
    named = compare(inputs(), settings(), draws=200, titles={"imagenet": "ImageNet, 90 epochs"})
    made = Sections(tables | named, study(), Provenance())
    for part in (made.ranks(), made.front()):
        place = part.head.index("workload")
        assert {row[place] for row in part.rows} == {"ImageNet, 90 epochs"}
    assert evidence_case(tables | named, study())["works"][0]["title"] == "ImageNet, 90 epochs"


def test_the_panel_has_the_providers_names():
    payload = evidence_case(small_tables(), study())
    assert study().provider_title("aws") == "Amazon Web Services"
    told = {one["label"]: one.get("told") for one in payload["works"][0]["controls"]}
    # its cheapest and its dearest hour: spot and on demand
    assert told["prices of Amazon Web Services, USD an hour"] == [1.11, 3.06]


def test_a_slice_of_all_figures_is_not_told_beside_all():
    """Two figures held out, both of one precision: its row would repeat the row above it; one of a family does not."""
    errors = dict.fromkeys(("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90"), 0.1)
    rows = [("all", 2), ("precision=fp16", 2), ("family=p100", 1)]
    held = pd.DataFrame([{"method": "amdahl", "slice": name, "rows": count} | errors for name, count in rows])
    part = Sections(small_tables() | {"validation": held}, study(), Provenance()).validation()
    assert [row[1] for row in part.rows] == ["all", "family: p100"]


def test_what_can_be_taken_away_is_explained_where_something_can():
    ranks = small_tables()["ranks"]
    assert some_taken(ranks) and not some_taken(ranks[ranks["persistent"].astype(bool)])
    assert not some_taken(pd.DataFrame())


def test_work_by_tokens_is_named_by_what_is_done_to_the_model():
    assert model_title("llama-3.1-8b.lora.2048") == "LoRA of Llama-3.1-8b"
    assert model_title("nanochat-d20.pretrain.2048") == "pretraining of Nanochat-d20"
    assert model_title("qwen2.5-32b.full.2048", {"qwen2.5-32b.full.2048": "All of Qwen"}) == "All of Qwen"
    assert model_title("a.lora.b") == "a.lora.b"  # no length of a sequence: a name of one's own
