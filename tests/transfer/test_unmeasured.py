"""`transfer: true`: machines without a figure get one, and nothing else moves."""

import math

import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import PublishedRow
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import Measured, learn_devices, transferred
from sweetspot.transfer.unmeasured import with_transferred

DEVICES, LEARNT = shipped_devices(), learn_devices(STUDIES)
QUESTION = StudyCells(
    model=["resnet50"], batch_size=[256], precision="fp16", framework="torch", headline_batch_size=256
)  # fmt: skip


def machine(gpu, gpus=1, **more):
    return Instance(title=gpu, provider="own", gpu=gpu, gpus=gpus, **more)


def study(tmp_path, rows, instances, question=QUESTION):
    table = pd.DataFrame([dict.fromkeys([*PublishedRow.model_fields][:14], "") | row for row in rows])
    table.to_csv(tmp_path / "throughput.csv", index=False)
    return gather_throughput([], question, "2026-11-22", instances, tmp_path)


def row(instance, gpu, rate, **more):
    return {
        "gpu": gpu, "instance": instance, "gpus": 1, "framework": "torch", "benchmark": "own", "model": "resnet50",
        "batch_size": 256, "precision": "fp16", "variant": "default", "images_per_s": rate, "source": "a stopwatch",
    } | more  # fmt: skip


def test_a_machine_without_a_figure_gets_one_and_the_others_keep_theirs(tmp_path):
    instances = {
        "mine": machine("RTX 4090"), "h100": machine("H100 SXM"), "rented": machine("RTX 5090"),
        "box": machine("RTX 4090", gpus=4, base_instance="mine"), "cpu": machine("CPU"),
    }  # fmt: skip
    before = study(tmp_path, [row("mine", "RTX 4090", 1120), row("rented", "RTX 5090", 1500)], instances)
    after = with_transferred(before, QUESTION, instances, "2026-11-22", LEARNT)
    pd.testing.assert_frame_equal(
        after[after["basis"] != "transferred"].reset_index(drop=True), before.reset_index(drop=True)
    )
    added = after[after["basis"] == "transferred"]
    assert added["instance"].tolist() == ["h100"]
    told = added.iloc[0]
    assert told[["nodes", "runs", "variant", "status", "unit"]].tolist() == [1, 0, "default", "ok", "images"]
    assert 0 < told["images_per_s_low"] < told["images_per_s"] < told["images_per_s_high"] and told["best"]
    assert told["source"].startswith("transferred from RTX 4090 (1120 images/s) and RTX 5090 (1500 images/s)")
    assert told["source"].endswith("a stopwatch")


def test_nothing_is_transferred_from_another_workload(tmp_path):
    instances = {"mine": machine("RTX 4090"), "h100": machine("H100 SXM")}
    for other in ({"batch_size": 64}, {"precision": "fp32"}, {"framework": "tensorflow"}, {"model": "vgg16"}):
        before = study(tmp_path, [row("mine", "RTX 4090", 1120, **other)], instances)
        assert "transferred" not in set(with_transferred(before, QUESTION, instances, "2026", LEARNT)["basis"])


def rules(row):
    return {pair["rule"] for pair in row["warnings"]}


def in_bf16(tmp_path, rows, instances):
    question = QUESTION.model_copy(update={"precision": "bf16"})
    before = study(tmp_path, [one | {"precision": "bf16"} for one in rows], instances, question)
    after = with_transferred(before, question, instances, "2026", LEARNT)
    return after[after["basis"] == "transferred"].set_index("instance")


@pytest.mark.parametrize("able", [True, False])
def test_a_device_that_cannot_run_the_precision_is_named_and_the_rest_goes_on(tmp_path, able):
    instances = {"mine": machine("RTX 4090"), "v100": machine("V100")} | ({"h100": machine("H100 SXM")} if able else {})
    added = in_bf16(tmp_path, [row("mine", "RTX 4090", 1120)], instances)
    none = added.loc["v100"]
    assert (none["status"], rules(none), math.isnan(none["images_per_s"])) == ("failed", {"cannot_run"}, True)
    assert not none["best"]
    assert set(added.index) == {"v100"} | ({"h100"} if able else set())
    if able:
        assert added.loc["h100", "images_per_s"] > 1120 and added.loc["h100", "status"] == "ok"


def test_an_emulated_figure_is_set_aside(tmp_path):
    # V100 has no bf16: what it printed in bf16 was computed in fp32
    instances = {"old": machine("V100"), "h100": machine("H100 SXM"), "mine": machine("RTX 4090")}
    assert in_bf16(tmp_path, [row("old", "V100", 300)], instances).empty
    beside = in_bf16(tmp_path, [row("old", "V100", 300), row("mine", "RTX 4090", 1120)], instances).loc["h100"]
    instances.pop("old")
    without = in_bf16(tmp_path, [row("mine", "RTX 4090", 1120)], instances).loc["h100"]
    assert beside["images_per_s"] == pytest.approx(without["images_per_s"])


@pytest.mark.parametrize(
    ("ends", "spread"),
    [({}, 0.0), ({"images_per_s_low": 1000, "images_per_s_high": 1260}, math.log(1260 / 1120) / 1.959964)],
)
def test_ends_are_those_of_95_per_cent_and_a_stated_range_counts(tmp_path, ends, spread):
    """A 90 % interval reaches 1.644854 sd, one of 95 % 1.959964; so does the range that a source gives its figure."""
    instances = {"mine": machine("RTX 4090"), "h100": machine("H100 SXM")}
    before = study(tmp_path, [row("mine", "RTX 4090", 1120, **ends)], instances)
    found = with_transferred(before, QUESTION, instances, "2026", LEARNT).set_index("instance").loc["h100"]
    known = Measured(DEVICES.get("RTX 4090"), 1120.0, "resnet50", "fp16", "torch", 256.0, log_sd=spread)
    told = transferred([known], [DEVICES.get("H100 SXM")], LEARNT).iloc[0]
    assert found["images_per_s"] == pytest.approx(told["images_per_s"])
    for end in ("images_per_s_low", "images_per_s_high"):
        wider = 1.959964 / 1.644854 * math.log(told[end] / told["images_per_s"])
        assert math.log(found[end] / found["images_per_s"]) == pytest.approx(wider)


@pytest.mark.parametrize(
    ("instance", "gets"),
    [
        (machine("H100 SXM"), True),
        (machine("H100 SXM", gpus=2, base_instance="mine"), False),
        (machine("AMD EPYC 7B13"), False),
        (machine("H100 SXM", framework="jax"), False),
        (machine("H100 SXM", measure={"where": "local", "device": "gpu"}), False),  # can be measured
    ],
)
def test_which_machines_get_a_figure(tmp_path, instance, gets):
    instances = {"mine": machine("RTX 4090"), "other": instance}
    before = study(tmp_path, [row("mine", "RTX 4090", 1120)], instances)
    after = with_transferred(before, QUESTION, instances, "2026", LEARNT)
    assert ("other" in set(after.loc[after["basis"] == "transferred", "instance"])) == gets


def test_of_two_machines_of_one_device_the_faster_counts(tmp_path):
    instances = {"mine": machine("RTX 4090"), "yours": machine("RTX 4090"), "h100": machine("H100 SXM")}
    rows = [row("mine", "RTX 4090", 900), row("yours", "RTX 4090", 1120)]
    after = with_transferred(study(tmp_path, rows, instances), QUESTION, instances, "2026", LEARNT)
    source = after.set_index("instance").loc["h100", "source"]
    assert source.startswith("transferred from RTX 4090 (1120 images/s) ;")


@pytest.mark.parametrize(("batches", "headline"), [([256], 256), ([128], 128), ([], "own")])
def test_a_machine_with_a_figure_of_its_own_gets_no_other(tmp_path, batches, headline):
    """The H100 has one at a batch of 256: at 128 it stands in, and where each has its own batch it is that."""
    question = QUESTION.model_copy(update={"batch_size": batches or "own", "headline_batch_size": headline})
    instances = {"mine": machine("RTX 4090"), "h100": machine("H100 SXM")}
    rows = [row("mine", "RTX 4090", 1120, batch_size=size) for size in (128, 256)]
    rows.append(row("h100", "H100 SXM", 2700))
    before = study(tmp_path, rows, instances, question)
    pd.testing.assert_frame_equal(with_transferred(before, question, instances, "2026", LEARNT), before)


@pytest.mark.parametrize("other", [{"precision": "fp32"}, {"model": "vgg16"}])
def test_where_each_has_its_own_batch_a_figure_of_another_workload_is_no_figure(tmp_path, other):
    question = QUESTION.model_copy(update={"batch_size": "own", "headline_batch_size": "own"})
    instances = {"mine": machine("RTX 4090"), "h100": machine("H100 SXM")}
    rows = [row("mine", "RTX 4090", 1120), row("h100", "H100 SXM", 2700, **other)]
    after = with_transferred(study(tmp_path, rows, instances, question), question, instances, "2026", LEARNT)
    assert after.loc[after["basis"] == "transferred", "instance"].tolist() == ["h100"]


def test_machines_of_one_device_have_the_same_figure_to_the_last_bit(tmp_path):
    instances = {"mine": machine("RTX 4090"), "v100": machine("V100")} | {f"h{n}": machine("H100 PCIe") for n in "abcd"}
    before = study(tmp_path, [row("mine", "RTX 4090", 1120)], instances)
    after = with_transferred(before, QUESTION, instances, "2026", LEARNT).set_index("gpu")
    for name in ("images_per_s", "images_per_s_low", "images_per_s_high"):
        assert after.loc["H100 PCIe", name].nunique() == 1
