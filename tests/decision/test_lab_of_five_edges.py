"""What a plan of months does without a speed, with too little memory, and with two of a machine there."""

import copy

import pandas as pd
import pytest
from month_tables import LabOfFive
from study_tables import STUDIES
from sweetspot.report.phrases import without_speed
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency


def test_a_model_that_no_machine_trains_is_in_the_red_line(tmp_path):
    def change(work):
        work["lab"]["jobs"][1]["model"] = "bert"
        work["alone"] = {"kind": "training", "model": "gpt", "samples": 1.0, "source": "x"}

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()
    said = without_speed(tables, {}, str)
    assert "Lab.bert: no machine that is offered has a speed for model bert; it takes no part." in said
    assert "Workload alone: no machine that is offered has a speed for it; it takes no part." in said
    assert "BERT does not run on it" in tables["choices"].iloc[0]["why_not"]


def test_jobs_that_need_more_memory_go_elsewhere(tmp_path):
    """40 GiB on each device: neither the box nor an RTX 4090 has it, an A100 has."""

    def change(work):
        work["lab"]["jobs"][1]["gpu_memory_gib"] = 40

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()
    jobs = tables["jobs"]
    bert = jobs[jobs["class"] == "bert"].set_index("instance")["status"]
    assert (bert["box-4"], bert["rtx4090-1"], bert["runpod-1xa100-sxm"]) == ("does not fit", "does not fit", "fits")
    assert pd.isna(tables["choices"].iloc[0]["why_not"])
    does = tables["sources"][(tables["sources"]["mix"] == "best") & (tables["sources"]["kind"] == "rented")]
    assert does["device_hours"].sum() > 40 * 8.6  # 8.64 h on an A100 each


def test_two_machines_that_are_there_are_both_there(tmp_path):
    tables = LabOfFive(tmp_path).edit("workloads.yaml", lambda work: work["lab"]["have"].append("box-4")).tables()
    kept = tables["sources"][tables["sources"]["kind"] == "there"]
    assert set(kept["option"]) == {"rtx4090-1", "box-4"}


def test_two_of_a_machine_do_twice_as_much(tmp_path):
    def change(work):
        work["lab"]["have"] = ["rtx4090-1", "rtx4090-1"]

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()
    assert "it has 1,405" in tables["choices"].set_index("choice").loc["there", "why_not"]


def test_jobs_side_by_side_are_no_evidence_of_scaling():
    """The box works on four jobs at once; the pairs that scaling learns from are those that trained together."""
    folder = STUDIES / "lab-of-five"
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    table = gather_throughput([], study.cells, study.as_of.isoformat(), instances, folder, study.logs)
    assert "box-4" not in set(table["instance"])
    pairs = study_efficiency(table, read_efficiency(folder / "efficiency.csv"), instances, "torch")
    assert set(pairs["instance"]) == {"rtx4090-2", "h100-sxm-8x"}
    found = pairs[(pairs["instance"] == "rtx4090-2") & (pairs["model"] == "resnet50")]["efficiency"]
    assert found.iloc[0] == pytest.approx(2468 / (2 * 1301))


def test_two_works_of_months_are_decided_each_by_itself(tmp_path):
    """Twice the same work under two names has the same best mix and bill twice; a table of one was taken for both."""

    def change(work):
        work["second"] = copy.deepcopy(work["lab"])

    mixes = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()["choices"]
    first, second = (rows.reset_index(drop=True) for _, rows in mixes.groupby("workload"))
    assert first["choice"].tolist() == second["choice"].tolist() and len(first) > 2
    # Other names draw other months: 400 draws say the mean to some per cent.
    assert second["usd_per_month"].iloc[0] == pytest.approx(first["usd_per_month"].iloc[0], rel=0.05)
