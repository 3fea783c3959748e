"""The pool of 2026: pairs within one benchmark and framework, facts of transformers, PyTorch beside TensorFlow."""

import pandas as pd
import pytest
from scaling_tables import pool_of_2026
from sweetspot.scaling.evidence import source_groups, without_warnings
from sweetspot.scaling.published_pairs import pair_with_bases
from sweetspot.scaling.step_facts import with_step_facts
from sweetspot.warnings import pairs

ROW = {
    "gpu": "Card", "instance": "box", "model": "resnet50", "batch_size": 64.0, "precision": "fp16", "note": "",
    "dataset": "synthetic", "benchmark": "suite", "source": "s", "framework": "torch", "framework_version": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def pool():
    return pool_of_2026()


def test_efficiencies_of_the_pool_are_the_source_s(pool):
    two = pool[(pool["gpu"] == "RTX 4090") & (pool["gpus"] == 2)].set_index("model")["efficiency"]
    assert two[["bert_large", "resnet50"]].tolist() == pytest.approx([139 / (2 * 93), 2468 / (2 * 1301)])
    eight = pool[(pool["instance"] == "A100 80GB SXM4") & (pool["gpus"] == 8)].set_index("model")["efficiency"]
    assert eight["bert_large"] == pytest.approx(746 / (8 * 152))


def test_the_timing_artefact_is_flagged_and_nothing_beside_it(pool):
    first = pool[pool["source"].str.contains("fp16.csv") & pool["batch_size"].notna()]
    assert {pair.rule for row in first["warnings"] for pair in pairs(row)} == {"super_linear"}
    flagged = first[[len(row) > 0 for row in first["warnings"]]]
    assert set(zip(flagged["model"], flagged["gpus"], strict=True)) == {("bert_base", 8)}


def test_a_figure_without_a_batch_teaches_by_a_usual_step_in_modern_programs_only(pool):
    second = pool[pool["gpu"] == "B200 SXM"]
    assert len(second) == 30 and second["batch_size"].isna().all()
    rules = [{pair.rule for pair in pairs(row)} for row in second["warnings"]]
    assert all("batch_not_stated" in told for told in rules)
    flawed = [told != {"batch_not_stated"} for told in rules]  # BERT on four and eight devices, faster than it can be
    assert sum(flawed) == 4 and list(without_warnings(second).index) == [
        at for at, bad in zip(second.index, flawed, strict=True) if not bad
    ]
    assert with_step_facts(second)["step_s"].unique().tolist() == [0.4]
    assert without_warnings(second.assign(framework="tensorflow")).empty
    # of tf_cnn_benchmarks the default is known
    known = pd.DataFrame([ROW | {"gpus": count, "images_per_s": rate, "batch_size": float("nan")} |
                          {"benchmark": "tf_cnn_benchmarks"} for count, rate in ((1, 100.0), (4, 400.0))])  # fmt: skip
    assert [pairs(row) for row in pair_with_bases(known)["warnings"]] == [[]]
    both = pd.concat([known, known.tail(1).assign(gpus=8, images_per_s=1600.0)])  # twice eight single devices
    rules = [[pair.rule for pair in pairs(row)] for row in pair_with_bases(both)["warnings"]]
    assert rules == [["inconsistent"], ["super_linear"]]


def test_pairs_of_the_logs_are_those_of_the_source(pool):
    # raw logs of lambdal/deeplearning-benchmark: BERT-base in fp32 on V100 16GB, batch 24: 42.704 and 153.48 on four
    rows = pool[(pool["gpu"] == "V100 16GB") & (pool["gpus"] == 4) & (pool["precision"] == "fp32")]
    base = rows[rows["model"] == "bert_base"].iloc[0]
    assert (base["base_images_per_s"], base["interconnect"]) == (42.704, "nvlink")
    assert base["efficiency"] == pytest.approx(153.48 / (4 * 42.704))
    # the published figure of case 10: BERT-large on two A100 over PCIe, 247 of 2 x 140
    two = pool[(pool["gpu"] == "A100 80GB PCIe") & (pool["gpus"] == 2) & (pool["precision"] == "fp16")]
    assert two.set_index("model")["efficiency"]["bert_large"] == pytest.approx(247 / 280)


def test_logs_and_their_summary_are_one_source_and_older_logs_another(pool):
    sources = source_groups(pool)
    h100 = set(sources[pool["gpu"].isin(["H100 80GB SXM5", "H100 SXM5 80GB"])])
    assert len(h100) == 1 and h100.isdisjoint(sources[pool["gpu"] == "A40"])
