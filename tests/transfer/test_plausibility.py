"""Figures that the devices cannot have reached are found, named, and carry no decision."""

import math

import pandas as pd
import pytest
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import PublishedRow
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import beyond_peak_factor, flop_per_sample, impossible_figures

RTX_4090 = shipped_devices().get("RTX 4090")

QUESTION = StudyCells(
    model=["bert_base"], batch_size=[32], precision="fp16", framework="torch", headline_batch_size=32
)  # fmt: skip


def figure(rate, gpus=1, **more):
    return {
        "gpu": "H200 SXM", "instance": f"h200-{gpus}", "gpus": gpus, "framework": "torch", "benchmark": "ours",
        "model": "bert_base", "batch_size": 32, "precision": "fp16", "variant": "default", "images_per_s": rate,
        "source": "ours", "unit": "sequences",
    } | more  # fmt: skip


def rules(*rows):
    return [(found.row, found.rule, found.limit) for found in impossible_figures(pd.DataFrame(list(rows)))]


def gathered(tmp_path, *rows, base=None):
    columns = dict.fromkeys([*[*PublishedRow.model_fields][:14], "unit"], "")
    pd.DataFrame([columns | row for row in rows]).to_csv(tmp_path / "throughput.csv", index=False)
    instances = {
        f"h200-{gpus}": Instance(
            title=f"{gpus}", provider="lambda", gpu="H200 SXM", gpus=gpus, base_instance=base if gpus > 1 else None
        )
        for gpus in (1, 2, 8)
    }
    table = gather_throughput([], QUESTION, "2026-11-20", instances, tmp_path, (), impossible_figures)
    return table.set_index("instance")


def test_more_than_n_times_one_device_counts_as_n_times():
    # 18,500 / 900 = 20.6 times, of 8 devices: at most 8 x 900 = 7,200. 1,780 / 900 = 1.98 times, of 2: it stays.
    found = rules(figure(900), figure(1780, 2), figure(18500, 8))
    assert found == [(2, "more_than_n_times_one", 7200.0)]


@pytest.mark.parametrize(
    ("rate", "gpus", "found"), [(7500, 8, False), (7600, 8, True), (1880, 2, False), (1900, 2, True)]
)  # 5 % above n times 900: 7,560 for 8 devices, 1,890 for 2
def test_up_to_a_twentieth_above_n_times_one_is_noise(rate, gpus, found):
    assert bool(rules(figure(900), figure(rate, gpus))) is found


@pytest.mark.parametrize(
    "other", [{"model": "bert_large"}, {"batch_size": 64}, {"precision": "bf16"}, {"framework": "jax"},
              {"gpu": "H100 SXM"}, {"batch_size": math.nan}]
)  # fmt: skip
def test_figures_of_another_cell_are_not_compared(other):
    assert rules(figure(900, **other), figure(18500, 8)) == []


def test_the_fastest_figure_of_one_device_is_the_measure():
    # 8 x 2,400 = 19,200: 18,500 can be, whatever the slower figure of another variant says.
    assert rules(figure(900), figure(2400, variant="compiled"), figure(18500, 8)) == []


def test_what_was_measured_is_held_against_one_device_too():
    told = {"basis": "measured", "status": "ok"}
    assert rules(figure(900, **told), figure(18500, 8, **told)) == [(1, "more_than_n_times_one", 7200.0)]
    assert rules(figure(900, **told), figure(18500, 8, **told | {"logical": True})) == []
    assert rules(figure(900, **told), figure(18500, 8, **told | {"basis": "scaled"})) == []


def test_beyond_the_dense_peak():
    # ResNet-50: 4.089 GMAC forward x 2 x 3 = 24.53 GFLOP an image. 112,000 x 24.53 GFLOP = 2,748 TFLOP/s; an RTX 4090
    # has 165.2 in fp16: 16.6 times. 6,000 images/s are 147 TFLOP/s: they could be.
    assert flop_per_sample("ResNet-50v1.5") == pytest.approx(24.534e9)
    assert beyond_peak_factor(RTX_4090, "fp16", "resnet50", 112_000, "images") == pytest.approx(16.63, rel=1e-3)
    # BERT large: 24 layers x 12 x 1024^2 = 302 million weights, x 6 x 128 tokens = 231.9 GFLOP a sequence.
    assert flop_per_sample("bert_large") == pytest.approx(6 * 24 * 12 * 1024**2 * 128, rel=0.01)
    one = {"gpu": "RTX 4090", "model": "resnet50", "unit": "images", "batch_size": 256}
    assert [(row, rule) for row, rule, _ in rules(figure(112_000, **one), figure(6000, **one))] == [(0, "beyond_peak")]


def test_the_peak_counts_all_devices_and_the_precision():
    one = {"gpu": "RTX 4090", "model": "resnet50", "unit": "images"}
    # 8 devices reach 8 x 165.2 TFLOP/s: 53,870 images/s of 24.534 GFLOP.
    assert rules(figure(53_000, 8, **one)) == [] and rules(figure(54_500, 8, **one)) != []
    # GTX 1080 Ti, fp32: 11.34 TFLOP/s, 2.25 times that with Winograd's convolutions: 1,040 images/s.
    old = one | {"gpu": "GTX 1080 Ti", "precision": "fp32"}
    assert rules(figure(1000, **old)) == [] and rules(figure(1100, **old)) != []


@pytest.mark.parametrize(
    "other", [{"dataset": "cifar10 (real)"}, {"unit": "relative"}, {"model": "resnet20"}, {"gpu": "a card of tomorrow"}]
)
def test_what_is_not_known_is_not_judged(other):
    assert rules(figure(112_000, **{"gpu": "RTX 4090", "model": "resnet50", "unit": "images"} | other)) == []


def test_work_by_tokens_has_its_operations_from_the_model():
    # Llama 2 7B: 6.738e9 weights less 32,000 x 4,096 looked up = 6.607e9, x 6; attention 12 x 32 x 4,096 x 2,048.
    flop = 6 * 6_607_077_376 + 12 * 32 * 4096 * 2048
    assert flop_per_sample("llama-2-7b.full.2048") == pytest.approx(flop)
    # H200: 989.4e12 / flop = 23,077 tokens/s.
    own = {"model": "llama-2-7b.full.2048", "unit": "tokens", "precision": "bf16"}
    assert rules(figure(22_900, **own)) == [] and rules(figure(23_300, **own)) != []


def test_the_decision_gets_n_times_one_at_most(tmp_path):
    table = gathered(tmp_path, figure(900), figure(1780, 2), figure(18500, 8))
    row = table.loc["h200-8"]
    assert (row["images_per_s"], row["images_per_s_high"], row["basis"], row["status"]) == (7200, 7200, "scaled", "ok")
    assert row["images_per_s_low"] < 7200 / 1.29
    assert [pair["rule"] for pair in row["warnings"]] == ["more_than_n_times_one"]
    assert table.loc["h200-2", ["images_per_s", "basis"]].tolist() == [1780, "published"]


SCALED = """base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source
h200-1,h200-8,8,bert_base,32,fp16,default,0.9,ours
"""


def test_a_figure_beyond_the_peak_makes_no_other(tmp_path):
    # bert_base: 10.87 GMAC x 6 = 65.2 GFLOP a sequence of 128 tokens; an H200 at 989.4 TFLOP/s does 15,170 a second.
    (tmp_path / "efficiency.csv").write_text(SCALED)
    sound = gathered(tmp_path, figure(900), base="h200-1")
    assert sound.loc["h200-8", "images_per_s"] == pytest.approx(8 * 900 * 0.9)
    table = gathered(tmp_path, figure(76_500), base="h200-1")  # 5 times the peak
    assert "h200-8" not in table.index
    assert (table.loc["h200-1", "status"], math.isnan(table.loc["h200-1", "images_per_s"])) == ("beyond_peak", True)
    assert [pair["rule"] for pair in table.loc["h200-1", "warnings"]] == ["beyond_peak"]


def test_a_cell_with_another_figure_keeps_it_and_says_so(tmp_path):
    (tmp_path / "efficiency.csv").write_text(SCALED)
    row = gathered(tmp_path, figure(900), figure(18500, 8), base="h200-1").loc["h200-8"]
    assert row["images_per_s"] == pytest.approx(6480)  # the study's efficiency, not the upper limit
    assert [pair["rule"] for pair in row["warnings"]] == ["more_than_n_times_one"]
