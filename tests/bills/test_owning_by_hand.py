"""Owned machines, the cells that are priced, and plans, worked out on paper."""

import math

import pytest
from price_lists import cell, machines, offers, planned, price_list, priced, spent
from sweetspot.bills.columns import from_rows
from sweetspot.bills.costs import all_cells, offered, reference_rate
from sweetspot.bills.owning import annuity, crossing_days, fixed_per_month, monthly_rate, usd_per_hour_of_use
from sweetspot.study.instances import Instance

BOUGHT = {
    "capex": 6600.0, "months": 30.0, "residual": 600.0, "maintenance_per_month": 10.0, "kw": 2.0, "load_share": 0.5,
    "pue": 1.5, "per_kwh": 0.2, "days_per_month": 10.0, "boxes": 2, "staff_hours_per_month": 3.0,
    "staff_per_hour": 20.0,
}  # fmt: skip


def test_an_owned_machine_draws_its_share_of_the_power():
    row = offers(price_list({"instance": "x", "purchase": "own", "own": BOUGHT})).loc["x"]
    assert row["kw"] == pytest.approx(1.0)
    assert row["energy_usd_per_hour"] == pytest.approx(2 * 0.5 * 1.5 * 0.2)
    assert row["fixed_usd_per_month"] == pytest.approx(6000 / 30 + 10 + 60)
    assert row["usd_per_hour"] == pytest.approx(270 / 240 + 0.3)
    assert (row["boxes"], row["capex_usd"], row["staff_usd_per_month"]) == (2, 6600, 60)
    rates = [{"currency": "EUR", "usd": 1.2, "as_of": "2018-06-01", "source": "bank"}]
    euro = offers(price_list({"instance": "x", "purchase": "own", "own": BOUGHT}, currency="EUR", rates=rates)).loc["x"]
    for name in ("energy_usd_per_hour", "usd_per_kwh", "fixed_usd_per_month", "usd_per_hour", "residual_usd"):
        assert euro[name] == pytest.approx(1.2 * row[name])


def test_two_boxes_are_bought_kept_and_sold():
    flow = spent(price_list({"instance": "x", "purchase": "own", "own": BOUGHT | {"months": 2.5}}))
    month = 2 * (10 + 60 + 0.3 * 240)
    assert flow["usd"].tolist() == pytest.approx([13_200, month, month, month / 2 - 1200])
    assert flow["cumulative_usd"].iloc[-1] == pytest.approx(13_200 + 2.5 * month - 1200)
    assert flow["month"].tolist() == [0, 1, 2, 3]


def test_possession_without_and_with_a_discount():
    own = {"capex": 1300.0, "residual": 100.0, "months": 12.0, "maintenance": 5.0, "staff": 7.0}
    assert fixed_per_month(own) == pytest.approx(100 + 12)
    # at 21 % a year a month has 1.21^(1/12) - 1; the level payment of 1300 less 100 / 1.21 over a year
    rate = 1.21 ** (1 / 12) - 1
    payment = (1300 - 100 / 1.21) * rate / (1 - 1 / 1.21)
    assert fixed_per_month(own, 0.21) == pytest.approx(payment + 12)
    assert monthly_rate(0.21) == pytest.approx(rate)
    assert annuity(12.0, 0.0) == 12.0
    assert annuity(12.0, 0.21) == pytest.approx(sum((1 + rate) ** -month for month in range(1, 13)))


def test_the_days_of_a_break_even_are_those_at_which_both_cost_the_same():
    # 240 a month and 0.2 an hour against 1.2: 10 days; twice as cheap: 25
    assert float(crossing_days(240.0, 0.2, 1.2)) == pytest.approx(10)
    assert float(crossing_days(240.0, 0.2, 1.2, factor=2.0)) == pytest.approx(25)
    assert usd_per_hour_of_use(240.0, 0.2, 12.5, 0.2) == pytest.approx(1.2)
    assert float(crossing_days(240.0, 0.2, 0.2)) == math.inf
    assert usd_per_hour_of_use(240.0, 0.2, 10.0) == pytest.approx(1.2)


def figures(*rows):
    return from_rows(rows, tuple(cell("x")) + tuple({name for row in rows for name in row} - set(cell("x"))))


def test_only_headline_extrapolations_of_cells_without_a_figure_are_added():
    measured = figures(
        cell("a", logical=False), cell("b", status="oom", images_per_s=None, logical=False),
        cell("c", status="unstable", logical=False), cell("d", logical=True),
    )  # fmt: skip
    predicted = figures(cell("a", 1.0, headline=True), cell("b", 2.0, headline=True), cell("e", 3.0, headline=True),
                        cell("e", 4.0, headline=False), cell("c", 5.0, headline=True))  # fmt: skip
    found = all_cells(measured, predicted)
    rows = list(zip(found["instance"], found["images_per_s"], found["status"], found["basis"], strict=True))
    assert [row for row in rows if row[2] == "ok"] == [
        ("a", 100.0, "ok", "published"), ("c", 100.0, "ok", "published"),
        ("b", 2.0, "ok", "extrapolated"), ("e", 3.0, "ok", "extrapolated"),
    ]  # fmt: skip
    assert len(rows) == 5


def test_the_rate_of_a_reference_is_its_best_evidence_then_its_fastest():
    cells = figures(cell("r", 50.0), cell("r", 80.0), cell("r", 900.0, basis="stand_in"), cell("r", 7.0, batch_size=16),
                    cell("r", 99.0, status="failed"), cell("r", None), cell("other", 1000.0))  # fmt: skip
    asked = figures(cell("x"), cell("x", batch_size=16), cell("x", precision="fp32"))
    found = reference_rate(asked, cells, "r").tolist()
    assert found[:2] == [80.0, 7.0]
    assert math.isnan(found[2])


def test_every_cell_meets_every_offer_of_its_machine():
    listed = figures(cell("a", source="one"), cell("a", source="two"))
    table = offered(figures(cell("b"), cell("a", source="cell")), listed, ("source",))
    assert table["instance"].tolist() == ["a", "a"]
    assert (table["source_cell"].tolist(), table["source"].tolist()) == (["cell", "cell"], ["one", "two"])


def test_hours_are_priced_on_machines_that_nobody_measured():
    prices = price_list({"instance": "x", "per_hour": 1.0}, {"instance": "y", "per_hour": 2.0})
    costs, _ = priced(prices, [cell("x")], work={"kind": "runs", "runs": 2, "hours": 3.0})
    found = costs.set_index("instance")
    assert found["usd"].to_dict() == {"x": 6.0, "y": 12.0}
    assert found["model"].to_dict() == {"x": "vgg16", "y": "none"}
    assert math.isnan(found.loc["y", "images_per_usd"])
    assert found.loc["y", "batch_size"] == 1
    # a job of a model, or of hours on a machine, asks for a figure
    costs, _ = priced(prices, [cell("x")], work={"kind": "runs", "runs": 2, "hours": 3.0, "model": "vgg16"})
    assert costs["instance"].tolist() == ["x"]


def plan(**keys):
    phases = [
        {"name": "search", "jobs": 5, "hours": 3.0, "gpus_per_job": "all"},
        {"name": "final", "jobs": 1, "hours": 10.0, "gpus_per_job": "all"},
    ]
    return {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 2, "phases": phases} | keys


def by_phase(*listed, cells=None, known=None, **keys):
    prices = price_list(*listed)
    known = machines(prices) if known is None else known
    return planned(prices, [cell("x")] if cells is None else cells, known, p=plan(**keys)).set_index("phase")


def test_five_jobs_on_two_machines_are_three_and_two():
    rows = by_phase({"instance": "x", "per_hour": 1.0, "billing": {"granularity_s": 14_400.0}})
    # nine hours and six, billed in blocks of four: 12 + 8; then ten hours on one machine: 12
    assert rows.loc["search", ["machines", "at_once", "hours", "usd", "jobs"]].to_list() == [2, 2, 9, 20, 5]
    assert rows.loc["final", ["machines", "at_once", "hours", "usd", "jobs"]].to_list() == [1, 1, 10, 12, 1]
    assert rows.loc["total", ["machines", "hours", "usd", "jobs"]].to_list() == [2, 19, 32, 6]
    assert "possession" not in rows.index


def test_boxes_bought_queue_the_jobs_and_are_possessed_for_the_project():
    rows = by_phase({"instance": "x", "purchase": "own", "own": BOUGHT}, months=12.0)
    # two boxes, 270 a month each whatever the use; power 0.3 an hour for 15 + 10 hours
    held = rows.loc["possession"]
    assert (held["usd"], held["jobs"], held["machines"]) == (pytest.approx(2 * 12 * 270), 0, 2)
    assert rows.loc["search", "usd"] == pytest.approx(0.3 * 15)
    assert rows.loc["total", "usd"] == pytest.approx(2 * 12 * 270 + 0.3 * 25)
    whole = by_phase({"instance": "x", "purchase": "own", "own": BOUGHT})
    assert whole.loc["possession", "usd"] == pytest.approx(2 * 30 * 270)  # as long as it is used


def test_jobs_of_one_device_fill_the_machine_at_the_speed_of_its_base():
    known = {
        "x": Instance(title="x", provider="cloud", gpu="a card", gpus=1),
        "four": Instance(title="four", provider="cloud", gpu="a card", gpus=4, base_instance="x"),
        "alike": Instance(title="alike", provider="cloud", gpu="a card", gpus=4, equivalent_to="four"),
        "plain": Instance(title="plain", provider="cloud", gpu="a card", gpus=4),
    }
    listed = [{"instance": name, "per_hour": 1.0} for name in ("four", "alike", "plain")]
    cells = [cell("x", 100.0), *(cell(name, 240.0, gpus=4) for name in ("four", "alike", "plain"))]
    phases = [{"name": "search", "jobs": 9, "hours": 3.0, "gpus_per_job": "one"}]
    prices = price_list(*listed)
    rows = planned(prices, cells, known, p=plan(parallel=2, phases=phases))
    rows = rows[rows["phase"] == "search"].set_index("instance")
    # 8 at once, the machines take 5 and 4 jobs: two rounds and one. A device does 100, or a quarter of 240 where no
    # base is declared: 3 h, and 5 h
    assert rows["at_once"].tolist() == [8.0] * 3
    assert rows["hours"].to_dict() == pytest.approx({"four": 6, "alike": 6, "plain": 10})
    assert rows["usd"].to_dict() == pytest.approx({"four": 9, "alike": 9, "plain": 15})


def test_a_plan_without_a_figure_says_so():
    rows = by_phase({"instance": "x", "per_hour": 1.0}, instance="unknown")
    assert set(rows["status"]) == {"no figure"}
    assert rows["usd"].isna().all()
