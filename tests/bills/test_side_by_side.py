"""How jobs use the devices of a machine, by hand: one device each, several, all; and plans that need more machines."""

import pytest
from price_lists import cell, machines, planned, price_list, priced
from sweetspot.study.instances import Instance

RENTED = ({"instance": "one", "per_hour": 1.0}, {"instance": "box", "per_hour": 4.0})
JOB = {"kind": "training", "model": "vgg16", "samples": 360_000.0}  # an hour at 100 images/s


def known(**boxes):
    """Machine `one` with a device, `box` with four of it; `boxes`: more machines."""
    plain = {"provider": "cloud", "gpu": "a card"}
    found = {
        "one": Instance(title="one", gpus=1, **plain),
        "box": Instance(title="box", gpus=4, base_instance="one", **plain),
    }
    return found | {name: Instance(title=name, **plain | facts) for name, facts in boxes.items()}


def cost(prices, cells, declared, **work):
    costs, _ = priced(prices, cells, declared, job=JOB | work)
    return costs.set_index("instance")


def test_all_devices_is_as_before():
    """A box of four at 300 images/s does the job in 20 minutes for 4/3 USD."""
    row = cost(price_list(*RENTED), [cell("one"), cell("box", 300.0, gpus=4)], known()).loc["box"]
    assert (row["hours"], row["usd"]) == (pytest.approx(1 / 3), pytest.approx(4 / 3))
    assert row[["jobs_at_once", "side_images_per_s"]].isna().all()


def test_a_job_on_one_device_of_four():
    """At 100 x 0.97 images/s an hour / 0.97; it bears a quarter of 4 USD an hour: 1 / 0.97 USD."""
    found = cost(price_list(*RENTED), [cell("one"), cell("box", 300.0, gpus=4)], known(), devices_per_job=1)
    row = found.loc["box"]
    assert row["hours"] == pytest.approx(1 / 0.97)
    assert row["usd"] == pytest.approx(1 / 0.97)
    assert row["jobs_at_once"] == 4
    assert row["side_images_per_s"] == pytest.approx(4 * 97.0)
    assert (row["side_figure_images_per_s"], row["side_figure_gpus"]) == (100.0, 1)
    assert row["images_per_usd"] == pytest.approx(4 * 97.0 * 3600 / 4.0)
    assert row["machine_hours"] == pytest.approx(0.25 / 0.97)
    assert row["side_basis"] == "published"
    assert (found.loc["one", "hours"], found.loc["one", "usd"]) == (1.0, 1.0)


def test_contention_is_stated():
    row = cost(price_list(*RENTED), [cell("one")], known(), devices_per_job=1, contention=0.2).loc["box"]
    assert row["hours"] == pytest.approx(1 / 0.8)


def test_a_box_needs_no_figure_of_its_own():
    """Nobody timed the box: its jobs run at the speed of one device. With `all` it has no figure."""
    assert "box" in cost(price_list(*RENTED), [cell("one")], known(), devices_per_job=1).index
    assert "box" not in cost(price_list(*RENTED), [cell("one")], known()).index


def test_a_figure_of_one_device_of_a_box_is_no_machine_of_its_own():
    """Timed on one of its four devices, without `one`: the box is priced once, four jobs at a time."""
    found = cost(price_list(*RENTED), [cell("box", 90.0)], known(), devices_per_job=1)
    assert found.loc[["box"], "jobs_at_once"].tolist() == [4]
    assert found.loc["box", "usd"] == pytest.approx(100 / 90 / 0.97)


def test_two_devices_a_job():
    """A machine of two has 180 images/s: of a box of five two such jobs at once, a device idle."""
    declared = known(two={"gpus": 2}, five={"gpus": 5})
    prices = price_list(*RENTED, {"instance": "two", "per_hour": 2.0}, {"instance": "five", "per_hour": 5.0})
    found = cost(prices, [cell("one"), cell("two", 180.0, gpus=2)], declared, devices_per_job=2)
    assert sorted(found.index) == ["box", "five", "two"]  # one has too few
    assert found.loc["two", "hours"] == pytest.approx(100 / 180)
    assert found.loc["box", "hours"] == pytest.approx(100 / 180 / 0.97)
    assert found.loc["five", "usd"] == pytest.approx(5.0 / 2 * 100 / 180 / 0.97)


def test_without_a_figure_of_its_device_a_job_has_a_share_of_the_machine_s():
    """300 images/s on four: 75 a device, and the basis says that it is scaled."""
    declared = {"box": Instance(title="box", provider="cloud", gpu="a card", gpus=4)}
    row = cost(price_list(RENTED[1]), [cell("box", 300.0, gpus=4)], declared, devices_per_job=1).loc["box"]
    assert row["hours"] == pytest.approx(100 / 75 / 0.97)
    assert row["side_basis"] == "scaled"


def test_a_machine_equivalent_to_the_box_takes_its_device():
    declared = known(twin={"gpus": 4, "equivalent_to": "box", "gpu": "another name"})
    row = cost(price_list(*RENTED, {"instance": "twin", "per_hour": 2.0}), [cell("one")], declared, devices_per_job=1)
    assert row.loc["twin", "usd"] == pytest.approx(0.5 / 0.97)
    assert row.loc["twin", "gpu"] == "another name"


def test_runs_side_by_side_come_in_rounds():
    """Ten runs of an hour on four devices: three rounds of 1 / 0.97 h at 4 USD; one run alone bears a quarter."""
    work = {"kind": "runs", "hours": 1.0, "instance": "one", "model": "vgg16", "devices_per_job": 1}
    for runs, rounds, share in ((10, 3, 1.0), (4, 1, 1.0), (1, 1, 0.25)):
        costs, _ = priced(price_list(*RENTED), [cell("one")], known(), job=work | {"runs": runs})
        row = costs.set_index("instance").loc["box"]
        assert row["hours"] == pytest.approx(rounds / 0.97)
        assert row["usd"] == pytest.approx(rounds * 4.0 * share / 0.97)


OWN = {"instance": "x", "purchase": "own", "own": {
    "capex": 3600.0, "months": 36.0, "kw": 1.0, "per_kwh": 0.5, "days_per_month": 10.0}}  # fmt: skip


def project(jobs, hours, **own):
    prices = price_list({**OWN, "own": OWN["own"] | own})
    phases = [{"name": "work", "jobs": jobs, "hours": hours}]
    plan = {"kind": "plan", "model": "vgg16", "instance": "x", "parallel": 1, "phases": phases}
    return planned(prices, [cell("x")], machines(prices), p=plan).set_index("phase")


def test_a_machine_that_has_the_hours_is_bought_once():
    """8,640 hours of planned use: 36 months of 10 days."""
    rows = project(8, 1080.0)
    assert rows.loc["total", ["machines", "hours", "status"]].tolist() == [1.0, 8640.0, "ok"]
    assert rows.loc["total", "usd"] == pytest.approx(3600 + 8640 * 0.5)
    assert rows.loc[["work", "total"], "work_hours"].tolist() == [8640.0, 8640.0]


def test_as_many_are_bought_as_do_the_work():
    """29,400 h of 8,640: 3.4, so four: 98 jobs of 300 h are 25 rounds on four, 7,500 h, and 33 on three."""
    rows = project(98, 300.0)
    assert rows.loc["possession", "machines"] == 4
    assert rows.loc["total", "hours"] == 7500.0
    assert rows.loc["total", "usd"] == pytest.approx(4 * 3600 + 29_400 * 0.5)


def test_rounds_may_ask_for_one_more():
    """Nine jobs of 1,900 h: 17,100 of 8,640 h are 1.98 machines; two do five rounds, 9,500 h; three do three."""
    rows = project(9, 1900.0)
    assert (rows.loc["possession", "machines"], rows.loc["total", "hours"]) == (3, 5700.0)


def test_downtime_is_no_planned_hour():
    # 0.5 x 8,640 = 4,320 h: two machines for 8,640
    assert project(8, 1080.0, downtime_share=0.5).loc["possession", "machines"] == 2


def test_a_job_longer_than_the_project_is_done_by_no_number():
    rows = project(3, 9000.0)
    assert set(rows["status"]) == {"too slow"}
    assert rows["usd"].isna().all()
