"""What the page says in sentences and panels of resale, waits, memory, records and names for people."""

import re
from dataclasses import replace

import pandas as pd
from decision_tables import BOX, RENTED, inputs, queue_at_box, settings, study
from report_tables import evidence, one_job, small_tables
from sweetspot.decision.compare import compare
from sweetspot.report.answer_file import answer_of
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.report.outcome import outcome_of
from sweetspot.report.page import page_of, summary_of
from sweetspot.study.instances import Needs
from sweetspot.study.workloads import Need
from sweetspot.titles import model_title

DRIFT = {"trend_kind": "drift", "trend_change": -0.03, "trend_change_low": -0.4, "trend_change_high": 0.27}


WAITING = "office-4x1080ti with 6 jobs a month of “imagenet” is busy 43 % of the time. A job waits 40.4 h on average"


def test_a_shared_machine_has_its_sentence_and_its_table():
    tables = small_tables()
    tables |= {"queue": queue_at_box(tables["options"])}
    assert 'id="t-queue"' in evidence(tables)


def test_a_study_that_shares_nothing_says_nothing():
    assert 'id="t-queue"' not in evidence()


def test_a_long_wait_for_what_is_held_stands_on_the_page():
    """Which waits are long: tests/report/test_page_words.py."""
    tables = one_job()
    found = outcome_of(tables)
    row = {"held": True, "option": found.best.choice, "workload": found.workload, "overloaded": False,
           "wait_hours": 13.2, "hours": 24.3, "machines": "2 × X1"}  # fmt: skip
    page = page_of(answer_of(tables | {"queue": pd.DataFrame([row])}, study()))
    assert re.findall(r"waits ([\d.]+) h[^<]* takes ([\d.]+) h", page) == [("13.2", "24.3")]


# A box as dear as the rented machine for its work: every figure of either could change the choice.
CLOSE = inputs(price_p3=0.5, box=(498.0, 300.0, 800.0))


def test_the_summary_says_what_to_find_out_first():
    of_one_job = one_job(CLOSE)
    text = summary_of(answer_of(of_one_job, study()))
    assert f"Find out first: speed of {BOX}" in text or f"Find out first: speed of {RENTED}" in text


def test_the_evidence_names_what_does_not_fit():
    tables = small_tables(CLOSE)
    needs = {"imagenet": Need(Needs(gpu_memory_gib=12.0))}
    asked = replace(settings(reference=None), gpu_memory_gib={BOX: 11.0, RENTED: 16.0})
    text = evidence(tables | compare(CLOSE, asked, draws=500, needs=needs))
    rows = text[text.index('id="t-memory"') :].split("</table>")[0].split("<tr")[2:]
    assert [(row.split(">")[0], BOX in row, re.findall(r">([\d.]+)</a>", row)) for row in rows] == [
        (' class="failed"', True, ["12.0", "11.0"]), ("", False, ["12.0", "16.0"]), ("", False, ["12.0", "16.0"])
    ]  # fmt: skip


def test_speeds_are_told_in_the_study_s_unit_and_models_by_their_titles():
    """Were the unit or the title lost where a sentence is made, the page would have images and a key instead."""
    market = inputs(1.53)
    market = replace(market, throughput=market.throughput.assign(unit="relative"))
    found = compare(market, settings(titles={"vgg16": "The old net"}), draws=200)
    speeds = found["tornado"][found["tornado"]["quantity"] == "speed"]
    assert len(speeds) == 2 and set(speeds["unit"]) == {"times the plan"}
    worth = found["worth_knowing"].set_index("quantity")["unit"]
    assert worth[["speed"]].unique().tolist() == ["relative units/s"]


def test_workloads_have_their_titles_in_the_folded_tables():
    tables = small_tables()
    named = compare(inputs(), settings(), draws=200, titles={"imagenet": "ImageNet, 90 epochs"})
    made = EvidenceTables(tables | named, study(), Provenance())
    part = made.build("ranks")
    column = part.head.index("workload")
    assert {row[column] for row in part.rows} == {"ImageNet, 90 epochs"}


def test_work_by_tokens_is_named_by_what_is_done_to_the_model():
    assert model_title("llama-3.1-8b.lora.2048") == "LoRA of Llama-3.1-8b"
    assert model_title("nanochat-d20.pretrain.2048") == "pretraining of Nanochat-d20"
    assert model_title("qwen2.5-32b.full.2048", {"qwen2.5-32b.full.2048": "All of Qwen"}) == "All of Qwen"
    assert model_title("a.lora.b") == "a.lora.b"  # no length of a sequence: a name of one's own
