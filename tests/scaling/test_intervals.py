"""Intervals from what was left out: the conformal quantile, classes, one device as the floor, and the table."""

import math

import numpy as np
import pandas as pd
import pytest
from scaling_tables import FlatMethod, evidence_table, flat, flat_bounds
from sweetspot.scaling.evidence import learnable
from sweetspot.scaling.intervals import METHODS, CalibratedMethod, interval_widths, validation_errors, validation_table
from sweetspot.scaling.sum_of_parts import SumOfParts

FACTS = {"warnings": [], "benchmark": "suite", "source": "a/b", "study": "s", "framework": "torch"}


def scored(scores, groups, era="modern", link="pcie"):
    return pd.DataFrame({"score": scores, "group": list(groups), "era": era, "link": link})


def test_the_conformal_quantile_by_hand():
    # Four groups of one figure weigh 1 each, and the figure to come 1 more: 90 % of five is beyond the last, so the
    # largest counts. With twelve it is the twelfth of thirteen (11/13 = 0.85, 12/13 = 0.92).
    assert interval_widths(scored([0.1, 0.4, 0.2, 0.3], "abcd"))[""] == 0.4
    twelve = np.arange(1, 13) / 10
    assert interval_widths(scored([*twelve, 1.3, 1.4, 1.5, 1.6], "abcdefghijklmnop"))[""] == 1.6  # 16/17 = 0.94
    # 19 figures of group a weigh 1/sqrt(19) each, 4.36 together; b and c 1 each; with the mean weight 0.30 of the one
    # to come 6.66: a and b together have 5.36 (0.80), c is needed.
    assert interval_widths(scored([0.1] * 19 + [0.5, 0.9], "a" * 19 + "bc"))[""] == 0.9


def test_a_class_with_few_groups_takes_the_width_of_its_era_and_that_of_all():
    pcie = scored([0.1, 0.2, 0.3], "abc")
    nvlink = scored([0.4, 0.5], "de", link="nvlink")
    widths = interval_widths(pd.concat([pcie, nvlink, scored([0.9], "f", era="classic")], ignore_index=True))
    assert widths == {"modern pcie": 0.3, "modern": 0.5, "": 0.9}
    model = CalibratedMethod(FlatMethod(0.8), widths, {})
    torch = {"framework": "torch"}
    cells = evidence_table({"gpu": "A40"} | torch, {"interconnect": "nvlink"} | torch, {"gpu": "A40"})
    # overhead 0.25 + 0.06, times and over e^width
    lows = [1 / (0.94 + 0.31 * math.exp(width)) for width in (0.3, 0.5, 0.9)]
    assert model.predict(cells)["low"].to_list() == pytest.approx(lows)


def test_an_interval_by_hand_and_without_anything_left_out():
    cells = evidence_table({"gpus": 8})
    low, high = flat_bounds(0.8, 0.2)
    found = flat(0.8, 0.2).predict(cells).iloc[0]
    assert found.to_list() == pytest.approx([0.8, low, high])
    assert (low, high) == pytest.approx((0.7584, 0.8377), abs=1e-4)  # 1 / (0.94 + 0.31 x 1.2214 or 0.8187)
    found = flat(1.2, 0.2).predict(cells).iloc[0]  # an overhead of -0.05 at the least, 0.01 above the floor
    ends = [1 / (0.94 + 0.01 * math.exp(width)) for width in (0.2, -0.2)]
    assert (found["low"], found["high"]) == pytest.approx(ends)
    bare = CalibratedMethod(FlatMethod(0.8), {}, {}).predict(cells).iloc[0]
    assert bare["low"] == pytest.approx(1 / (0.94 + 0.31 * math.exp(1.5)))


def test_n_devices_are_never_predicted_below_one_unless_figures_of_that_link_are():
    cells = evidence_table({"gpus": 4, "gpu": "A40"}, {"gpus": 4, "gpu": "RTX 3090"})
    rows = evidence_table(
        {"gpu": "RTX 3090", "gpus": 8, "efficiency": 0.1},
        {"gpu": "A40", "gpus": 8, "efficiency": 0.5},
        {"gpu": "RTX 3090", "gpus": 4, "efficiency": 0.9},
        **FACTS,
    ).assign(framework="tensorflow")

    class Poor(FlatMethod):
        @classmethod
        def fit(cls, evidence):
            return cls(0.1)

    errors = scored([0.1] * 3, "abc", era="classic")
    found = CalibratedMethod.fit(Poor, rows, errors).predict(cells)
    # A40 on the bus: 4 devices at 0.25 each, one device. GeForce: eight were seen at 0.8 of one, so 4 at 0.2 each.
    assert found["efficiency"].to_list() == pytest.approx([0.25, 0.2])
    assert found["low"].to_list() == pytest.approx([0.25, 0.2])


def pool():
    rows = [
        {"gpu": name, "family": name, "gpus": gpus, "efficiency": 0.9 - 0.05 * number - 0.01 * gpus,
         "source": f"{publisher}/x"}
        for number, (name, publisher) in enumerate((("A40", "p"), ("A10", "p"), ("L40", "q"), ("A40", "q")))
        for gpus in (2, 4, 8)
    ]  # fmt: skip
    return evidence_table(*rows, **{name: value for name, value in FACTS.items() if name != "source"})


@pytest.mark.parametrize("name", METHODS)
def test_neither_its_family_nor_its_publisher_helps_to_predict_a_figure(name):
    rows = learnable(pool())
    errors = validation_errors(METHODS[name], pool())
    for (family, publisher), group in rows.groupby(["family", "publisher"]):
        training = rows[(rows["family"] != family) & (rows["publisher"] != publisher)]
        expected = METHODS[name].fit(training).efficiency(group)
        assert errors.loc[group.index, "predicted"].to_numpy() == pytest.approx(expected)
        assert errors.loc[group.index, "error"].to_numpy() == pytest.approx(expected / group["efficiency"] - 1)


@pytest.mark.parametrize(("efficiencies", "inside"), [((0.75, 0.7, 0.65, 0.5), [True, True, True, False]),
                                                      ((0.75, 0.7, 0.5, 0.5), [True] * 4)])  # fmt: skip
def test_who_lies_inside_the_interval_of_the_others(efficiencies, inside):
    """Predicted 0.8, an overhead of 0.25: scores ln((1 / e - 0.94) / 0.31). The width is the largest other one."""

    class Flat(FlatMethod):
        @classmethod
        def fit(cls, evidence):
            return cls(0.8)

    names = zip(("A40", "L40", "A10", "A4000"), "pqrs", efficiencies, strict=True)
    rows = [{"gpu": gpu, "family": gpu, "efficiency": efficiency, "source": f"{publisher}/x"}
            for gpu, publisher, efficiency in names]  # fmt: skip
    common = {name: value for name, value in FACTS.items() if name != "source"}
    found = validation_errors(Flat, evidence_table(*rows, **common))
    assert found["score"].tolist() == pytest.approx([math.log((1 / e - 0.94) / 0.31) for e in efficiencies])
    assert found["inside90"].tolist() == inside


def test_a_flawed_figure_neither_teaches_nor_counts():
    flawed = pool().assign(warnings=[[{"rule": "super_linear", "message": ""}]] * 3 + [[]] * 9)
    found = validation_errors(SumOfParts, flawed.head(10))["family"].value_counts().to_dict()
    assert found == {"A10": 3, "L40": 3, "A40": 1}


def test_the_table_of_errors_by_hand():
    rows = [(0.10, True), (-0.20, True), (0.40, False), (math.nan, False)]
    (found,) = validation_table({"m": pd.DataFrame(rows, columns=["error", "inside90"])}).to_dict("records")
    # 0.1, 0.2 and 0.4 sorted; nine tenths of the way over two gaps: 0.2 + 0.8 x 0.2
    assert found == {
        "method": "m", "rows": 3, "median_abs_error": 0.2, "p90_abs_error": pytest.approx(0.36),
        "bias": pytest.approx(0.1), "coverage90": pytest.approx(2 / 3),
    }  # fmt: skip
