"""Efficiencies, pairs of counts and targets on tables small enough to work out on paper."""

import math

import pandas as pd
import pytest
from scaling_tables import NODE_SCALING, cell, efficiencies, flat, flat_bounds
from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, average_efficiency, study_evidence, super_linear_warnings
from sweetspot.scaling.fitted import FittedScaling
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.published_pairs import pair_with_bases
from sweetspot.scaling.step_facts import with_declared_facts
from sweetspot.scaling.targets import (
    extrapolate_cells,
    extrapolation_rows,
    target_cells,
    with_equivalents,
    with_published_warnings,
)
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells, Target
from sweetspot.warnings import pairs


def test_only_what_lies_above_the_limit_is_super_linear():
    assert super_linear_warnings(1.05) == []
    assert pairs(super_linear_warnings(1.0501))[0].rule == "super_linear"
    assert super_linear_warnings(math.nan) == []


def published(*rows):
    given = {"gpu": "Card", "instance": "box", "model": "resnet50", "batch_size": 64.0, "precision": "fp32"}
    given |= {"dataset": "synthetic", "benchmark": "tf_cnn_benchmarks", "note": "", "source": "s"}
    given |= {"framework": "tensorflow", "framework_version": ""}
    return pd.DataFrame([given | row for row in rows])


def test_partners_come_from_the_same_instance_and_note_else_by_the_median():
    rates = [(1, 100.0, {}), (1, 50.0, {"instance": "b"}), (1, 60.0, {"instance": "c"}), (1, 10.0, {"precision": "x"}),
             (2, 180.0, {}), (4, 180.0, {"instance": "other"}), (2, 99.0, {"batch_size": 32.0}),
             (2, 9.0, {"dataset": "cifar"})]  # fmt: skip
    paired = pair_with_bases(published(*({"gpus": n, "images_per_s": rate} | more for n, rate, more in rates)))
    assert paired["base_images_per_s"].tolist() == [100.0, 60.0]
    assert paired["efficiency"].tolist() == pytest.approx([0.9, 0.75])


@pytest.mark.parametrize(
    ("rates", "rules"),
    [
        ({2: 210.0, 4: 320.0}, [[], []]),  # 1.05 and 0.8
        # 1.05 is no fault of its own, but its base makes 1.15 elsewhere
        ({4: 420.0, 2: 230.0}, [["inconsistent"], ["super_linear"]]),
        ({2: 230.0, 8: 640.0}, [["super_linear"], ["inconsistent"]]),
    ],
)
def test_a_base_slower_than_its_share_is_named_in_every_row_that_rests_on_it(rates, rules):
    rows = [{"gpus": gpus, "images_per_s": rate} for gpus, rate in ({1: 100.0} | rates).items()]
    paired = pair_with_bases(published(*rows, {"gpus": 2, "images_per_s": 1.0, "note": "x"}))
    assert [[pair.rule for pair in pairs(told)] for told in paired["warnings"]] == [*rules, []]


def test_the_mean_of_the_families_by_hand():
    rows = []
    for name, efficiency in (("a", 0.6), ("b", 0.8), ("c", 1.06), ("d", 1.05)):  # at most 1.05 counts
        rows += [cell(name, 1, 100.0), cell(name, 2, 200 * efficiency)]
    rows += [cell("a", 2, 100.0, variant="A")]  # the same pair again: it counts once, as (0.6 + 0.5) / 2
    found = average_efficiency(efficiencies(rows)).iloc[0]
    assert found["efficiency"] == pytest.approx((0.55 + 0.8 + 1.05) / 3)
    # sample sd of -0.25, 0 and 0.25: the root of 0.125 / 2
    assert (found["spread"], found["families"]) == (pytest.approx(0.25), 3)


def test_evidence_takes_the_single_device_of_the_same_cell_with_a_figure():
    rows = [cell("a", 1, 100.0), cell("a", 1, 90.0, precision="fp16", status="unstable"), cell("a", 2, 160.0)]
    rows += [cell("a", 2, 160.0, precision="fp16"), cell("b", 2, 1.0)]
    throughput = pd.DataFrame(rows)
    found = study_evidence("mine", efficiencies(rows), throughput, {}).set_index("precision")
    assert found["base_images_per_s"].to_dict() == {"fp32": 100.0, "fp16": 90.0}
    assert found["efficiency"].to_dict() == {"fp32": 0.8, "fp16": pytest.approx(160 / 180)}
    assert found["family"].tolist() == ["gtx 1080 ti"] * 2
    assert found[["base_gpus", "base_nodes"]].to_numpy().tolist() == [[1, 1], [1, 1]]
    assert found["exchange"].all()


def averages(**other):
    row = {"framework": "tensorflow", "model": "resnet50", "batch_size": 32, "precision": "fp32", "efficiency": 0.8}
    return pd.DataFrame([row | {"spread": 0.1, "families": 3} | other])


def test_one_family_gives_no_interval_and_two_give_one():
    asked = averages()[["framework", "model", "batch_size", "precision"]]
    one = MeanEfficiency(averages(families=1, spread=math.nan)).predict(asked).iloc[0]
    assert one["efficiency"] == 0.8
    assert one[["low", "high"]].isna().all()
    # t(0.95, 2) = 2.919986: 2.919986 x 0.1 x sqrt(4/3)
    three = MeanEfficiency(averages()).predict(asked).iloc[0]
    assert (three["low"], three["high"]) == pytest.approx((0.8 - 0.337171, 0.8 + 0.337171), abs=1e-6)
    assert MeanEfficiency(averages(spread=0.5)).predict(asked).iloc[0]["low"] == 0.0
    pair = MeanEfficiency(averages(families=2)).predict(asked).iloc[0]  # t(0.95, 1) = 6.313752
    half = 6.313752 * 0.1 * 1.5**0.5
    assert (pair["low"], pair["high"]) == pytest.approx((0.8 - half, 0.8 + half), abs=1e-6)
    # An unknown batch takes two rows of 3 and 2 families, spread 0.1 and 0.2: as many as the larger has, t as above.
    two = pd.concat([averages(), averages(batch_size=64, families=2, spread=0.2, efficiency=0.9)])
    both = MeanEfficiency(two).predict(asked.assign(batch_size=math.nan)).iloc[0]
    assert both["high"] == pytest.approx(0.85 + 2.919986 * 0.15 * math.sqrt(4 / 3), abs=1e-6)
    assert MeanEfficiency(averages().head(0)).predict(asked).iloc[0].isna().all()


BOX = Instance(title="Box", provider="own", gpu="GTX 1080 Ti", gpus=4, interconnect="pcie")
QUESTION = StudyCells(model=["resnet50"], batch_size=[32], precision="fp32", headline_batch_size=32)


def test_the_cells_of_a_target_are_those_asked_about_of_its_base():
    rows = [cell("one", 1, 100.0), cell("one", 1, 50.0, status="oom"), cell("one", 2, 150.0), cell("other", 1, 9.0)]
    rows += [cell("one", 1, 1.0, **change) for change in
             ({"model": "vgg16"}, {"batch_size": 64}, {"precision": "fp16"}, {"framework": "jax"})]  # fmt: skip
    target = Target(instance="box", base_instance="one", gpus=4)
    found = target_cells(pd.DataFrame(rows), [target], QUESTION, {"box": BOX})
    assert found[["instance", "base_instance", "gpus", "nodes", "base_images_per_s"]].values.tolist() == [
        ["box", "one", 4, 1, 100.0]
    ]
    assert target_cells(pd.DataFrame(rows), [], QUESTION, {}).empty


def fitted(efficiency=0.5, **methods):
    flat_methods = {name: flat(efficiency) for name in ("usl", "mean_efficiency", "sum_of_parts")}
    return FittedScaling(flat_methods | methods, {}, NODE_SCALING)


NO_EVIDENCE = pd.DataFrame(columns=list(EVIDENCE_COLUMNS))


def box_cells(**changes):
    target = [Target(instance="box", base_instance="one", gpus=4)]
    return target_cells(pd.DataFrame([cell("one", 1, 100.0, **changes)]), target, QUESTION, {"box": BOX})


def described(cells):
    return with_declared_facts(cells, {"box": BOX})


def test_a_target_is_its_devices_times_the_base_times_the_efficiency():
    cells = box_cells()
    rule = MeanEfficiency(averages())
    table = extrapolate_cells(cells, described(cells), fitted(mean_efficiency=rule), NO_EVIDENCE).set_index("method")
    row = table.loc["usl"]
    assert (row["efficiency"], row["images_per_s"]) == (0.5, 200.0)  # 4 x 100 x 0.5
    # overhead 1 + 0.06 times and over e^0.2, less 0.06: efficiencies of 0.4453 and 0.5532
    low, high = 1 / (0.94 + 1.06 * math.exp(0.2)), 1 / (0.94 + 1.06 * math.exp(-0.2))
    assert (row["images_per_s_low"], row["images_per_s_high"]) == pytest.approx((400 * low, 400 * high))
    # the 2018 rule has an interval of its own: 400 x (0.8 +- 0.337171)
    rule = table.loc["mean_efficiency", ["images_per_s", "images_per_s_low", "images_per_s_high"]]
    assert rule.to_list() == pytest.approx([320, 400 * 0.462829, 400 * 1.137171], rel=1e-5)


def test_several_nodes_are_one_node_and_what_the_network_costs():
    target = [Target(instance="two-boxes", base_instance="one", gpus=16)]
    cells = target_cells(pd.DataFrame([cell("one", 1, 100.0)]), target, QUESTION, {"two-boxes": BOX})
    cells = described(cells.assign(nodes=2)).assign(interconnect="nvlink")
    row = extrapolate_cells(cells, cells, fitted(0.9), NO_EVIDENCE).iloc[0]
    # one doubling at 2 % and 3 % for leaving the node: 0.9 x e^-0.05
    assert row["efficiency"] == pytest.approx(0.9 * math.exp(-0.05))
    assert row["images_per_s"] == pytest.approx(1600 * 0.9 * math.exp(-0.05))
    # half widths of the logarithm: that within a node, and hypot(0.04, 0.03) = 0.05 across
    for name, sign, bound in zip(("low", "high"), (-1, 1), flat_bounds(0.9), strict=True):
        half = math.hypot(math.log(bound / 0.9), 0.05)
        assert math.log(row[f"images_per_s_{name}"] / row["images_per_s"]) == pytest.approx(sign * half)


def test_an_estimate_of_several_devices_is_held_against_published_ones():
    # published: four devices at 100 images/s each and efficiency 0.9 and 0.8, 360 and 320 together; over a network, and
    # devices that train apart, do not count. 400 is 1.11 times 360 (told beyond 1.10), 390 is 1.08 times.
    same = {"family": "v100", "gpus": 4, "model": "vgg16", "framework": "tensorflow", "precision": "fp16", "xla": False}
    rows = [(0.9, 64, 1, True), (0.8, None, 1, True), (0.2, 64, 2, True), (1.0, 64, 1, False), (0.1, 64, None, True)]
    names = ["efficiency", "batch_size", "nodes", "exchange"]
    seen = pd.DataFrame(rows, columns=names).assign(**same, base_images_per_s=100.0).astype({"nodes": "Int64"})
    estimated = pd.DataFrame([{"gpus": 4, "images_per_s": rate, "warnings": []} for rate in (400.0, 390.0, 280.0)])
    facts = pd.DataFrame([{**same, "gpu": "Tesla V100"}] * 3)
    told = [pairs(value) for value in with_published_warnings(estimated, facts, seen)["warnings"]]
    assert told[1] == []
    assert [found[0].rule for found in (told[0], told[2])] == ["against_published"] * 2
    words = "published of 4 x Tesla V100 are 320 to 360 (batch 64, not stated), at"
    assert told[0][0].message == f"{words} 400 predicted: 1.11 times the highest"
    assert told[2][0].message == f"{words} 280 predicted: 0.88 times the lowest"
    fewer = with_published_warnings(estimated, facts.assign(gpus=2), seen)["warnings"]
    assert [pairs(value) for value in fewer] == [[], [], []]


def test_a_machine_declared_equivalent_to_a_target_has_its_rows():
    plain = {"provider": "cloud", "gpu": "a card", "gpus": 4}
    noted = [{"rule": "assumed", "message": "by its name"}]
    machines = {"box": Instance(title="box", **plain),
                "twin": Instance(title="twin", **plain, equivalent_to="box", warnings=noted)}  # fmt: skip
    cells = pd.DataFrame([{"instance": "box", "images_per_s": 360.0, "source": "made", "warnings": []}])
    found = with_equivalents(cells, machines).set_index("instance")
    assert found["images_per_s"].to_dict() == {"box": 360.0, "twin": 360.0}
    assert found["source"].to_dict() == {"box": "made", "twin": "twin declared equivalent to box ; made"}
    assert [len(pairs(told)) for told in found["warnings"]] == [0, 1]


def test_what_is_scaled_from_an_uncertain_figure_carries_its_error():
    half = 0.4
    cells = pd.DataFrame({
        "gpus": 4, "basis": ["transferred", "published", "published"], "base_images_per_s": 1000.0, "source": "known",
        "base_images_per_s_low": [1000 * math.exp(-half), math.nan, 1000 * math.exp(-half)],
        "base_images_per_s_high": [1000 * math.exp(half), math.nan, 1000 * math.exp(half / 2)],
        "base_warnings": [[{"rule": "specified_only", "message": "by its data sheet"}]] * 3,
    })  # fmt: skip
    rest = ["instance", "base_instance", "nodes", "framework", "model", "batch_size", "precision", "variant"]
    cells = cells.reindex(columns=[*cells.columns, *rest])
    cells["warnings"] = [[], [], []]
    bounds = {"efficiency": 0.9, "low": 0.9 * math.exp(-0.1), "high": 0.9 * math.exp(0.1)}
    predicted = pd.DataFrame(bounds, cells.index)
    moved, plain, own = (row for _, row in extrapolation_rows(cells, predicted, "usl").iterrows())
    assert moved["images_per_s"] == plain["images_per_s"] == pytest.approx(3600)
    # The base's 95 % ends are 1.96 sd, those of a prediction 1.645: 0.4 becomes 0.3357.
    assert math.log(moved["images_per_s_high"] / 3600) == pytest.approx(math.hypot(0.3357, 0.1), rel=1e-3)
    assert math.log(plain["images_per_s_high"] / 3600) == pytest.approx(0.1)
    assert [pair["rule"] for pair in moved["warnings"]] == ["specified_only"] and plain["warnings"] == []
    # One's own figure with a stated range, 0.4 below and 0.2 above: each end by itself, and no warning of a transfer.
    assert math.log(own["images_per_s_low"] / 3600) == pytest.approx(-math.hypot(0.3357, 0.1), rel=1e-3)
    assert math.log(own["images_per_s_high"] / 3600) == pytest.approx(math.hypot(0.16785, 0.1), rel=1e-3)
    assert own["warnings"] == []
    # A method without an interval leaves that of the base.
    bare = extrapolation_rows(cells, predicted.assign(low=math.nan, high=math.nan), "usl").iloc[0]
    assert math.log(bare["images_per_s_high"] / 3600) == pytest.approx(0.3357, rel=1e-3)
