"""Figures of two frameworks are never a pair: costs, hours and predictions each take those of their own."""

import pytest
from price_lists import cell, price_list, priced
from sweetspot.bills.columns import from_rows
from sweetspot.bills.costs import EXTRAPOLATION_COLUMNS, THROUGHPUT_COLUMNS, all_cells


def test_a_cost_takes_the_throughput_of_its_own_framework():
    """The same cell in two frameworks; ten hours are known on `a`, and 1,800,000 samples are to be trained.

    TensorFlow: a 100/s, b 50/s: 10 h x 100/50 = 20 h x 2 USD = 40 USD. PyTorch: a 200/s, b 400/s: 10 h x 200/400 =
    5 h, 10 USD.
    1,800,000 samples on b: / 50/s = 10 h = 20 USD; / 400/s = 1.25 h = 2.50 USD.
    """
    rates = {("a", "tensorflow"): 100.0, ("a", "torch"): 200.0, ("b", "tensorflow"): 50.0, ("b", "torch"): 400.0}
    cells = [cell(name, rate, framework=framework) for (name, framework), rate in rates.items()]
    prices = price_list({"instance": "a", "per_hour": 1.0}, {"instance": "b", "per_hour": 2.0})
    work = {
        "known": {"kind": "runs", "runs": 1, "hours": 10, "instance": "a"},
        "train": {"kind": "training", "model": "vgg16", "samples": 1_800_000},
    }
    costs, _ = priced(prices, cells, **work)
    found = costs.set_index(["instance", "framework", "workload"])[["hours", "usd"]]
    assert tuple(found.loc["b", "tensorflow", "known"]) == pytest.approx((20.0, 40.0))
    assert tuple(found.loc["b", "torch", "known"]) == pytest.approx((5.0, 10.0))
    assert tuple(found.loc["b", "tensorflow", "train"]) == pytest.approx((10.0, 20.0))
    assert tuple(found.loc["b", "torch", "train"]) == pytest.approx((1.25, 2.5))


def test_a_prediction_is_left_out_only_where_its_own_framework_has_a_figure():
    measured = from_rows([cell("b", 50.0, framework="tensorflow") | {"logical": False}], THROUGHPUT_COLUMNS)
    rates = {"tensorflow": 70.0, "torch": 400.0}
    predicted = [cell("b", rate, framework=framework) | {"headline": True} for framework, rate in rates.items()]
    found = all_cells(measured, from_rows(predicted, EXTRAPOLATION_COLUMNS))
    assert list(zip(found["framework"], found["images_per_s"], found["basis"], strict=True)) == [
        ("tensorflow", 50.0, "published"), ("torch", 400.0, "extrapolated")
    ]  # fmt: skip
