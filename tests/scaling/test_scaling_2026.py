"""The pool of 2026: pairs within one benchmark and framework, facts of transformers, PyTorch beside TensorFlow."""

import math

import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.scaling.evidence import all_evidence, from_one_device, sound
from sweetspot.scaling.judge import shipped_evidence
from sweetspot.scaling.machine import BOARD_GB_S, BUS_GB_S, describe
from sweetspot.scaling.partners import published_evidence, with_partners
from sweetspot.scaling.validation import held_out, summary
from sweetspot.throughput.published import read_published
from sweetspot.warnings import pairs

ROW = {
    "gpu": "Card", "instance": "box", "model": "resnet50", "batch_size": 64.0, "precision": "fp16", "note": "",
    "dataset": "synthetic", "benchmark": "suite", "source": "s", "framework": "torch", "framework_version": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def pool():
    return published_evidence("scaling-2026", read_published(POOLS / "scaling-2026" / "throughput.csv"))


def test_efficiencies_of_the_pool_are_the_source_s(pool):
    two = pool[(pool["gpu"] == "RTX 4090") & (pool["gpus"] == 2)].set_index("model")["efficiency"]
    assert two["bert_large"] == pytest.approx(139 / (2 * 93))
    assert two["resnet50"] == pytest.approx(2468 / (2 * 1301))
    eight = pool[(pool["instance"] == "A100 80GB SXM4") & (pool["gpus"] == 8)].set_index("model")["efficiency"]
    assert eight["bert_large"] == pytest.approx(746 / (8 * 152))


def test_each_machine_of_one_device_is_its_own_partner(pool):
    dell = pool[(pool["instance"] == "Dell H100 80GB SXM5") & (pool["model"] == "resnet50") & (pool["gpus"] == 8)]
    assert dell["efficiency"].tolist() == pytest.approx([22048 / (8 * 2776)])


def test_the_timing_artefact_is_flagged_and_nothing_beside_it(pool):
    first = pool[pool["source"].str.contains("fp16.csv") & pool["batch_size"].notna()]
    told = {pair.rule for row in first["warnings"] for pair in pairs(row)}
    assert told == {"super_linear"}
    flagged = first[[len(row) > 0 for row in first["warnings"]]]
    assert set(flagged["model"]) == {"bert_base"}
    assert set(flagged["gpus"]) == {8}


def test_a_figure_without_a_batch_teaches_by_a_usual_step_in_modern_programs_only(pool):
    second = pool[pool["gpu"] == "B200 SXM"]
    assert len(second) == 30 and second["batch_size"].isna().all()
    rules = [{pair.rule for pair in pairs(row)} for row in second["warnings"]]
    assert all("batch_not_stated" in told for told in rules)
    flawed = [told != {"batch_not_stated"} for told in rules]  # BERT on four and eight devices, faster than it can be
    assert sum(flawed) == 4 and list(sound(second).index) == [
        at for at, bad in zip(second.index, flawed, strict=True) if not bad
    ]
    assert describe(second)["step_s"].unique().tolist() == [0.4]
    assert sound(second.assign(framework="tensorflow")).empty
    # of tf_cnn_benchmarks the default is known
    known = pd.DataFrame([ROW | {"gpus": count, "images_per_s": 100.0 * count, "batch_size": float("nan")} |
                          {"benchmark": "tf_cnn_benchmarks"} for count in (1, 4)])  # fmt: skip
    assert [pairs(row) for row in with_partners(known)[0]["warnings"]] == [[]]


def test_the_links_of_a_board_are_faster_by_their_data_sheets():
    same = ROW | {"gpus": 8, "nodes": 1, "xla": False, "exchange": True, "base_images_per_s": 1.0}
    boards = pd.DataFrame([same | {"gpu": gpu, "interconnect": link} for gpu, link in
                           (("Tesla V100-SXM2", "nvlink"), ("H100 SXM", "nvlink"), ("RTX 4090", "pcie"),
                            ("GTX 1080 Ti", "pcie"), ("RTX 3090", "nvlink_bridge"))])  # fmt: skip
    # NVLink 300 and 900 GB/s; PCIe 4.0 against 3.0; a bridge as it stands
    assert describe(boards)["faster"].tolist() == pytest.approx([0, math.log(3), math.log(2), 0, 0])


def test_every_bus_and_board_has_the_bandwidth_of_its_generation():
    # x16 both ways: PCIe 4.0 64, 5.0 128 GB/s. NVLink 1 to 5 a board: 4, 6, 12, 18 and 18 links of 40, 50, 50, 50, 100;
    # AMD: 100 GB/s x 8, then x 7 of 128 and of 153.6.
    fourth = "a100 a10 a30 a40 a4000 a5000 a6000 l4 l40 l40s|rtx 3080|rtx 3090|rtx 4090|rtx 6000 ada"
    names = [name for part in fourth.split("|") for name in ([part] if part.startswith("rtx") else part.split())]
    assert dict.fromkeys(names, 4 * 16) | dict.fromkeys(("h100", "h200", "rtx 5090"), 8 * 16) == BUS_GB_S
    nvlink = {"p100": 4 * 40, "v100": 6 * 50, "a100": 12 * 50} | dict.fromkeys(("h100", "h200", "gh200"), 18 * 50)
    nvlink |= dict.fromkeys(("b200", "b300"), 18 * 100)
    amd = {"mi250": 8 * 100} | dict.fromkeys(("mi300", "mi325"), 7 * 128) | dict.fromkeys(("mi350", "mi355"), 1075)
    assert nvlink | amd == BOARD_GB_S


def test_a_step_below_a_millisecond_is_no_step():
    one = ROW | {"gpus": 2, "nodes": 1, "xla": False, "exchange": True, "gpu": "RTX 4090", "interconnect": "pcie"}
    batch = [{"batch_size": 100.0, "base_images_per_s": rate} for rate in (100_000.0, 100_001.0)]
    found = describe(pd.DataFrame([one | each for each in batch]))
    assert found["step_s"].tolist() == [0.001, 0.4] and found["known_batch"].tolist() == [True, False]


def test_no_pair_across_benchmarks_or_frameworks():
    rows = [
        ROW | {"gpus": 1, "images_per_s": 100.0},
        ROW | {"gpus": 2, "images_per_s": 180.0, "benchmark": "another suite"},
        ROW | {"gpus": 2, "images_per_s": 190.0, "framework": "tensorflow"},
        ROW | {"gpus": 2, "images_per_s": 170.0},
        ROW | {"gpus": 2, "images_per_s": 150.0, "framework": "mxnet"},
    ]
    paired, alone = with_partners(pd.DataFrame(rows))
    assert paired["efficiency"].tolist() == [0.85]
    assert alone["images_per_s"].tolist() == [180.0, 190.0]  # a framework that nothing here models is left out


@pytest.mark.slow
def test_the_learned_method_predicts_families_of_pytorch_that_it_never_saw(pool):
    old, rule = shipped_evidence()
    old = old[old["study"] != "scaling-2026"]
    errors = held_out(from_one_device(all_evidence([old, pool])), rule, ["pooled_ring"])
    sound = errors[[len(row) == 0 for row in errors["warnings"]]]
    new, before = (summary(sound[sound["study"] == name]) for name in ("scaling-2026", "scaling-2020"))
    # The yardstick of the issue within a node: the mean of the known families is off by 5.0 % and 23 %.
    assert new["median_abs_error"] < 0.035
    assert new["p90_abs_error"] < 0.17
    assert new["coverage90"] > 0.85
    assert before["median_abs_error"] < 0.047  # 4.7 % before the pool was added
