"""Every offer of every study takes part in each workload, or is left out with its reason."""

import pandas as pd
import pytest
import yaml
from study_tables import STUDIES, made_tables
from sweetspot.decision.options import OFFER
from sweetspot.study.workloads import load_needs

# By hand from the files: devices without a time or figure of that model, and price lists that nobody asked for.
LEFT_OUT = {
    "cheap-cron-2018": {},
    "eight-gpus-2026": {"llama-8b-run": {"no_figure": 14}},
    "fine-tune-2026": {},
    "initialized-2017": {},
    "lab-of-five": {"lab.bert": {"no_figure": 1}, "lab.resnet50": {"no_figure": 1}},  # the L40S
    "office-box-2026": {name: {"no_figure": 3} for name in ("coco-ssd300", "squad-bert-base", "squad-bert-large")},
    "parkopedia-2018": {"imagenet-inception3": {"no_figure": 1}, "imagenet-vgg16": {"no_figure": 1},
                        "search": {"no_figure": 1}, "project": {"no_figure": 1, "not_asked": 9}},
    "rare-2018": {},
    "start-up-2026": {},
    "woolf-2017": {},
}  # fmt: skip


def test_all_studies_with_prices_are_counted():
    assert set(LEFT_OUT) == {folder.parent.name for folder in STUDIES.glob("*/prices") if any(folder.glob("*.yaml"))}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_no_offer_vanishes(name, study_results):
    tables = made_tables(study_results(name))
    listed = {file.stem: yaml.safe_load(file.read_text()) for file in (STUDIES / name / "prices").glob("*.yaml")}
    written = sum(len(prices["offers"]) for prices in listed.values())
    offers = offers_of(tables["offers"])
    assert len(offers) == written
    choices = tables["choices"]
    there = pd.concat([tables["options"], choices[choices["cost"] == "rounds"]], ignore_index=True)
    missing = tables["left_out"]
    works = load_needs(STUDIES / name / "workloads.yaml")
    for work in works:
        taken, out = (offers_of(table[table["workload"] == work]) for table in (there, missing))
        taken = [offer for offer in taken if offer in offers]  # what is bought later is no offer of its own
        assert len(taken) + len(out) == written, work
        assert {*taken, *out} == set(offers), work
    counts = missing.groupby("workload")["rule"].value_counts()
    assert {work: dict(counts[work]) for work in missing["workload"].unique()} == LEFT_OUT[name]


def offers_of(table):
    """The offers of a table, each once."""
    return list(dict.fromkeys(table[list(OFFER)].itertuples(index=False, name=None)))
