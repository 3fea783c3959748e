"""What is lost between nodes: the fit on figures made by hand, clusters left out, bases of several devices."""

import math

import pandas as pd
import pytest
from scaling_tables import pool_of_2026
from sweetspot.scaling import across_nodes
from sweetspot.scaling.across_nodes import NodeScaling, fit_node_scaling, node_errors, part_within_node
from sweetspot.scaling.pooled_slopes import PooledSlopes, SlopePrior, fit_pooled_slopes
from sweetspot.scaling.published_pairs import pair_with_bases

ROW = {
    "gpu": "H100 SXM", "instance": "cluster", "model": "mpt-7b", "batch_size": 4096.0, "precision": "bf16", "note": "",
    "dataset": "synthetic", "benchmark": "suite", "source": "s", "framework": "torch", "framework_version": "",
    "variant": "fsdp", "interconnect": "nvlink", "network": "", "xla": "",
}  # fmt: skip


def published(*figures, **changes):
    """Rows of (devices, nodes, images/s)."""
    return pd.DataFrame(
        [ROW | {"gpus": gpus, "nodes": nodes, "images_per_s": rate} | changes for gpus, nodes, rate in figures]
    ).astype({"nodes": "Int64"})


@pytest.fixture(scope="module")
def pool():
    return pool_of_2026().query("base_gpus > 1")


def test_several_nodes_are_held_against_one_full_node_and_that_against_one_device():
    paired = pair_with_bases(published((1, 1, 100.0), (8, 1, 720.0), (16, 2, 1400.0), (32, 4, 2700.0)))
    told = paired.set_index("gpus")[["base_gpus", "base_nodes", "base_images_per_s", "efficiency"]]
    assert told.loc[8].to_list() == [1, 1, 100.0, pytest.approx(0.9)]
    assert told.loc[16].to_list() == [8, 1, 90.0, pytest.approx(1400 / (2 * 720))]
    assert told.loc[32].to_list() == [8, 1, 90.0, pytest.approx(2700 / (4 * 720))]


def test_without_a_node_alone_the_fewest_nodes_are_the_base():
    paired = pair_with_bases(published((64, 8, 800.0), (128, 16, 1500.0), (256, 32, 2800.0)))
    assert paired["base_gpus"].tolist() == [64, 64]
    assert paired["efficiency"].to_list() == pytest.approx([1500 / 1600, 2800 / 3200])


def test_within_a_node_only_a_single_device_is_a_base_but_for_a_fabric_of_whole_pods():
    paired = pair_with_bases(published((2, 1, 180.0), (8, 1, 700.0)))
    assert paired.empty
    pods = pair_with_bases(published((8, 1, 800.0), (32, 1, 3100.0), gpu="TPU v6e", interconnect="ici"))
    assert pods["efficiency"].to_list() == pytest.approx([3100 / 3200])


def made(doubling, leaving, families=("a", "b", "c")):
    """Evidence that loses exactly so much: from one node of 8 and from 4 nodes, to 64 nodes."""
    rows = []
    for family in families:
        for base_nodes, nodes in ((1, 2), (1, 8), (4, 16), (4, 64)):
            lost = doubling * math.log2(nodes / base_nodes) + leaving * (base_nodes == 1)
            rows.append(
                {"family": family, "gpus": 8 * nodes, "nodes": nodes, "base_gpus": 8 * base_nodes,
                 "base_nodes": base_nodes, "interconnect": "nvlink", "efficiency": math.exp(-lost),
                 "warnings": [], "framework": "torch"}
            )  # fmt: skip
    return pd.DataFrame(rows)


def test_the_fit_finds_the_losses_that_made_the_figures():
    found = fit_node_scaling(made(0.04, 0.05, tuple("abcdefghij")))
    assert found.doubling["network"] == pytest.approx(0.04, abs=0.002)
    assert found.leaving == pytest.approx(0.05, abs=0.006)
    assert found.width == 0.03  # figures that agree are not surer than repeated ones of one cluster
    # One family of twenty that loses ten times as much is left out of nine tenths.
    pool = pd.concat([made(0.04, 0.05, tuple("abcdefghijklmnopqrs")), made(0.4, 0.05, ("z",))])
    assert fit_node_scaling(pool).width < 0.1
    errors = node_errors(pool, "family").set_index("family")["error"]
    assert errors["a"].abs().max() < 0.1 and errors["z"].min() > 0.2


def test_a_prediction_by_hand():
    model = NodeScaling({"": 0.02, "network": 0.03, "ici": 0.01}, 0.04, 0.05)
    cells = pd.DataFrame(
        {"gpus": [64, 64, 8, 64, 64], "nodes": [8, 8, 1, 1, 8], "base_gpus": [8, 32, 8, 32, 32],
         "base_nodes": [1, 4, 1, 1, 1], "interconnect": ["nvlink"] * 3 + ["ici"] * 2}
    )  # fmt: skip
    found = model.predict(cells)
    # three doublings and leaving the node; one doubling; nothing; one doubling within a pod, and one that leaves it
    assert found["efficiency"].to_list() == pytest.approx([math.exp(-loss) for loss in (0.13, 0.03, 0, 0.01, 0.07)])
    once = math.hypot(0.05, 0.03)
    assert found["width"].to_list() == pytest.approx([math.hypot(0.05 * math.sqrt(3), 0.03), once, 0, once, once])
    # beside 0.8, 0.8 / 1.1 to 0.8 x 1.1, of one node: 0.8 e^-0.13 over and times e^hypot(ln 1.1, width)
    node = pd.DataFrame([{"efficiency": 0.8, "low": 0.8 / 1.1, "high": 0.8 * 1.1}])
    whole = across_nodes.extend_across_nodes(node, cells.head(1), model)
    factor = math.hypot(math.log(1.1), found["width"][0])
    ends = [0.8 * math.exp(-0.13 + sign * factor) for sign in (0, -1, 1)]
    assert whole.to_numpy().tolist() == [pytest.approx(ends)]


def test_without_a_figure_the_priors_speak():
    found = fit_node_scaling(made(0.0, 0.0).head(0))
    assert (found.doubling[""], found.leaving) == (pytest.approx(0.02), pytest.approx(0.03))
    assert found.width == pytest.approx(0.06)


def test_the_part_within_a_node_is_its_fullest_and_what_is_not_known_stays():
    cells = pd.DataFrame({"gpus": [16, 12, 8, 8], "nodes": pd.array([2, 5, 1, None], dtype="Int64")})
    found = part_within_node(cells)
    assert found["gpus"].tolist() == [8, 3, 8, 8]
    assert found["nodes"].isna().tolist() == [False, False, False, True]


def test_efficiencies_of_the_pool_are_those_of_the_source(pool):
    # llm-foundry, MPT-7B on H100, tokens/s: 85,144 on 8, 4,951,479 on 512; torchtitan: 5,762 and 5,605 a device
    seven = pool[(pool["model"] == "mpt-7b") & (pool["gpus"] == 512)]
    assert 4_951_479 / (64 * 85_144) in [pytest.approx(value) for value in seven["efficiency"]]
    titan = pool[pool["gpu"].str.startswith("H100 96GB")]["efficiency"]
    assert titan.min() == pytest.approx(5605 / 5762, rel=1e-3)


def test_no_doubling_gains_nor_does_leaving_a_node_while_a_batch_may():
    """Made of slopes -0.5 and -0.3 and a step of -0.2, with priors that say little."""
    first, second = pd.Series([1.0, 2.0, 3.0, 1.0] * 5), pd.Series([1.0, -1.0, 0.5, 2.0] * 5)
    step = pd.Series([0.0, 1.0, 0.0, 1.0] * 5)
    prior = SlopePrior(slopes=((0.1, 5.0), (0.1, 5.0)), step=(0.1, 5.0), scatter=0.01)
    found = fit_pooled_slopes(step.map(lambda _: "a"), (first, second), -0.5 * first - 0.3 * second - 0.2 * step, step,
                              prior)  # fmt: skip
    assert (found.slopes[0], found.step) == ({"": 0.0, "a": 0.0}, 0.0)
    assert found.slopes[1]["a"] == pytest.approx(-0.3, abs=1e-3)
    none = pd.Series(dtype=float)  # without any figure the means of the priors
    assert fit_pooled_slopes(none, (none, none), none, none, prior) == PooledSlopes(({"": 0.1}, {"": 0.1}), 0.1)


def test_one_figure_moves_the_priors_by_their_variances():
    # Two nodes of eight lose 0.10; before it 0.02 + 0.03 were thought. Variances: 0.02^2 a doubling, 0.03^2 on leaving,
    # 0.02^2 of the figure: of the gap of 0.05 the doubling takes 4/17, the leaving 9/17; others share 0.7 of the first.
    row = {"family": "a", "gpus": 16, "nodes": 2, "base_gpus": 8, "base_nodes": 1, "interconnect": "nvlink",
           "efficiency": math.exp(-0.10), "warnings": [], "framework": "torch"}  # fmt: skip
    found = fit_node_scaling(pd.DataFrame([row]))
    assert found.doubling["network"] == pytest.approx(0.02 + 0.05 * 4 / 17)
    assert found.leaving == pytest.approx(0.03 + 0.05 * 9 / 17)
    assert found.doubling[""] == pytest.approx(0.02 + 0.7 * 0.05 * 4 / 17)
