"""The cells that are priced: whose figure counts, and how jobs use the devices of a machine, by hand."""

import math

import pytest
from price_lists import cell, price_list, priced
from sweetspot.bills.costs import cells_to_price, join_offers, reference_throughput, throughput_behind_hours
from sweetspot.bills.schemas import table_of
from sweetspot.study.instances import Instance


def figures(*rows):
    return table_of(rows, tuple(cell("x")) + tuple({name for row in rows for name in row} - set(cell("x"))))


def test_only_headline_extrapolations_of_cells_without_a_figure_are_added():
    measured = figures(
        cell("a", logical=False), cell("b", status="oom", images_per_s=None, logical=False),
        cell("c", status="unstable", logical=False), cell("d", logical=True),
    )  # fmt: skip
    predicted = figures(
        cell("a", 1.0, headline=True), cell("b", 2.0, headline=True), cell("e", 3.0, headline=True),
        cell("e", 4.0, headline=False), cell("c", 5.0, headline=True), cell("a", 6.0, framework="torch", headline=True),
    )  # fmt: skip
    found = cells_to_price(measured, predicted)
    rows = list(zip(found["instance"], found["images_per_s"], found["status"], found["basis"], strict=True))
    assert [row for row in rows if row[2] == "ok"] == [
        ("a", 100.0, "ok", "published"), ("c", 100.0, "ok", "published"), ("b", 2.0, "ok", "extrapolated"),
        ("e", 3.0, "ok", "extrapolated"), ("a", 6.0, "ok", "extrapolated"),  # of another framework
    ]  # fmt: skip
    assert len(rows) == 6


def test_the_rate_of_a_reference_is_its_best_evidence_then_its_fastest():
    cells = figures(cell("r", 50.0), cell("r", 80.0), cell("r", 900.0, basis="stand_in"), cell("r", 7.0, batch_size=16),
                    cell("r", 99.0, status="failed"), cell("r", None), cell("other", 1000.0))  # fmt: skip
    asked = figures(cell("x"), cell("x", batch_size=16), cell("x", precision="fp32"))
    found = reference_throughput(asked, cells, "r").tolist()
    assert found[:2] == [80.0, 7.0] and math.isnan(found[2])
    # Hours are converted by the machine's own best batch where it has no figure at that of the row.
    other = figures(cell("x"), cell("x", batch_size=32), cell("x", precision="fp32"))
    assert throughput_behind_hours(other, cells, "r").tolist()[:2] == [80.0, 80.0]


def test_every_cell_meets_every_offer_of_its_machine():
    listed = figures(cell("a", source="one"), cell("a", source="two"))[["instance", "gpus", "source"]]
    table = join_offers(figures(cell("b"), cell("a", source="cell")), listed)
    assert table["instance"].tolist() == ["a", "a"]
    assert (table["source_cell"].tolist(), table["source"].tolist()) == (["cell", "cell"], ["one", "two"])


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
    found = priced(prices, cells, **work)[0].set_index(["instance", "framework", "workload"])[["hours", "usd"]]
    told = [*found.loc["b", "tensorflow", "known"], *found.loc["b", "torch", "known"],
            *found.loc["b", "tensorflow", "train"], *found.loc["b", "torch", "train"]]  # fmt: skip
    assert told == pytest.approx([20.0, 40.0, 5.0, 10.0, 10.0, 20.0, 1.25, 2.5])


RENTED = ({"instance": "one", "per_hour": 1.0}, {"instance": "box", "per_hour": 4.0})
JOB = {"kind": "training", "model": "vgg16", "samples": 360_000.0}  # an hour at 100 images/s


def known(**boxes):
    """Machine `one` with a device, `box` with four of it; `boxes`: more machines."""
    declared = {"one": {"gpus": 1}, "box": {"gpus": 4, "base_instance": "one"}} | boxes
    return {name: Instance(**{"title": name, "provider": "cloud", "gpu": "a card"} | facts)
            for name, facts in declared.items()}  # fmt: skip


def cost(cells, *more, declared=None, **work):
    costs, _ = priced(price_list(*RENTED, *more), cells, known() if declared is None else declared, job=JOB | work)
    return costs.set_index("instance")


def test_all_devices_is_as_before():
    """A box of four at 300 images/s does the job in 20 minutes for 4/3 USD."""
    row = cost([cell("one"), cell("box", 300.0, gpus=4)]).loc["box"]
    assert (row["hours"], row["usd"]) == (pytest.approx(1 / 3), pytest.approx(4 / 3))
    assert row[["jobs_at_once", "side_images_per_s"]].isna().all()


def test_a_job_on_one_device_of_four():
    """At 100 x 0.97 images/s an hour / 0.97; it bears a quarter of 4 USD an hour: 1 / 0.97 USD."""
    found = cost([cell("one"), cell("box", 300.0, gpus=4)], devices_per_job=1)
    row = found.loc["box"]
    assert (row["hours"], row["usd"]) == pytest.approx((1 / 0.97, 1 / 0.97))
    assert (row["jobs_at_once"], row["side_images_per_s"]) == (4, pytest.approx(4 * 97.0))
    assert (row["side_figure_images_per_s"], row["side_figure_gpus"]) == (100.0, 1)
    assert row["images_per_usd"] == pytest.approx(4 * 97.0 * 3600 / 4.0)
    assert (row["machine_hours"], row["side_basis"]) == (pytest.approx(0.25 / 0.97), "published")
    assert (found.loc["one", "hours"], found.loc["one", "usd"]) == (1.0, 1.0)


def test_a_box_needs_no_figure_of_its_own_and_one_of_its_devices_is_no_machine():
    # Nobody timed the box: its jobs run at the speed of one device. With `all` it has no figure.
    assert "box" in cost([cell("one")], devices_per_job=1).index
    assert "box" not in cost([cell("one")]).index
    # Timed on one of its four devices, without `one`: the box is priced once, four jobs at a time.
    found = cost([cell("box", 90.0)], devices_per_job=1)
    assert found.loc[["box"], "jobs_at_once"].tolist() == [4]
    assert found.loc["box", "usd"] == pytest.approx(100 / 90 / 0.97)


def test_two_devices_a_job():
    """A machine of two has 180 images/s: of a box of five two such jobs at once, a device idle."""
    more = ({"instance": "two", "per_hour": 2.0}, {"instance": "five", "per_hour": 5.0})
    declared = known(two={"gpus": 2}, five={"gpus": 5})
    found = cost([cell("one"), cell("two", 180.0, gpus=2)], *more, declared=declared, devices_per_job=2)
    assert sorted(found.index) == ["box", "five", "two"]  # one has too few
    assert found.loc["two", "hours"] == pytest.approx(100 / 180)
    assert found.loc["box", "hours"] == pytest.approx(100 / 180 / 0.97)
    assert found.loc["five", "usd"] == pytest.approx(5.0 / 2 * 100 / 180 / 0.97)
    assert "2 jobs side by side on 5 devices, 3% less each" in found.loc["five", "source"]
    # of three there is room for one job, which nothing slows
    alone = known(two={"gpus": 2}, three={"gpus": 3})
    row = cost([cell("two", 180.0, gpus=2)], {"instance": "three", "per_hour": 3.0}, declared=alone, devices_per_job=2)
    assert row.loc["three", "hours"] == pytest.approx(100 / 180)
    assert "less each" not in row.loc["three", "source"]


def test_a_job_takes_a_share_of_the_machine_or_the_device_of_its_equal():
    # 300 images/s on four: 75 a device, and the basis says that it is scaled.
    declared = known(box={"gpus": 4}, one={"gpus": 1, "gpu": "another"})
    row = cost([cell("box", 300.0, gpus=4)], declared=declared, devices_per_job=1).loc["box"]
    assert (row["hours"], row["side_basis"]) == (pytest.approx(100 / 75 / 0.97), "scaled")
    declared = known(twin={"gpus": 4, "equivalent_to": "box", "gpu": "another name"})
    found = cost([cell("one")], {"instance": "twin", "per_hour": 2.0}, declared=declared, devices_per_job=1)
    assert found.loc["twin", "usd"] == pytest.approx(0.5 / 0.97)
    assert found.loc["twin", "gpu"] == "another name"


@pytest.mark.parametrize(("runs", "rounds", "share"), [(10, 3, 1.0), (4, 1, 1.0), (1, 1, 0.25)])
def test_runs_side_by_side_come_in_rounds(runs, rounds, share):
    """Ten runs of an hour on four devices: three rounds of 1 / 0.97 h at 4 USD; one run alone bears a quarter."""
    work = {"kind": "runs", "runs": runs, "hours": 1.0, "instance": "one", "devices_per_job": 1}
    row = priced(price_list(*RENTED), [cell("one")], known(), job=work)[0].set_index("instance").loc["box"]
    assert row["hours"] == pytest.approx(rounds / 0.97)
    assert row["usd"] == pytest.approx(rounds * 4.0 * share / 0.97)
