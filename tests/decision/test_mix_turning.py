"""What would turn the plan of the lab of five: by hand, put into its files, in which direction, worth knowing."""

import numpy as np
import pytest
from month_tables import LabOfFive
from sweetspot.decision import cost_dispatch
from sweetspot.decision.worth_knowing import worth_rows
from sweetspot.mixes.dispatch import dispatch

# By hand, as in config/studies/lab-of-five/README.md and test_lab_of_five.py.
RESNET, BERT = 115_305_030 / 1301 / 3600, 4_730_346 / 93 / 3600
OURS = 0.96 * 30.5 * 24
EUR = 1.1378
RUNNING = 0.55 * 0.30 * EUR
CAPEX, CARE = 14_900 / 36 * EUR, 87 * EUR
URGENT = 2 * np.ceil(115_305_030 / 1582 / 3600 * 60) * 1.59 / 60
MINUTE = 0.69 / 60


@pytest.fixture(scope="module")
def sure(tmp_path_factory):
    return LabOfFive(tmp_path_factory.mktemp("sure")).certain().tables(4, turning=True)


@pytest.fixture(scope="module")
def seen():
    """What the plan's value of information was made from."""
    return {}


@pytest.fixture(scope="module")
def lab(tmp_path_factory, seen):
    def kept(one, draws, timings):
        if not one.model:
            seen.update(question=one, figures=draws.figures)
        return worth_rows(one, draws, timings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sweetspot.decision.compare.worth_rows", kept)
        return LabOfFive(tmp_path_factory.mktemp("lab")).tables(1000, turning=True)


def box(capex=CAPEX, running=RUNNING):
    """USD a month with the box, by hand."""
    rest = 58 * RESNET + 40 * BERT - OURS
    return OURS * RUNNING + capex + CARE + rest / 0.97 * running + URGENT


def cloud(price=1.0):
    """USD a month with RunPod's RTX 4090 at a factor of its price, billed by the minute."""
    jobs = ((58 - OURS / RESNET), RESNET), (40, BERT)
    rented = sum(count * np.ceil(hours * 60) * MINUTE * price for count, hours in jobs)
    return OURS * RUNNING + rented + URGENT


def row(table, assumption):
    found = table[table["assumption"] == assumption]
    assert len(found) == 1, assumption
    return found.iloc[0]


def test_the_tornado_by_hand(sure):
    """Margins and money at either end of the ranges, each with the others as planned."""
    tornado = sure["tornado"]
    rent = row(tornado, "price of RunPod with 1 RTX 4090")
    assert rent["range_basis"] == "assumed"
    for end, factor in (("low", 0.8), ("high", 1.2)):
        assert rent[end] == pytest.approx(0.69 * factor)
        assert rent[f"margin_{end}"] == pytest.approx(cloud(factor) / box(), rel=1e-5)
        assert rent[f"usd_per_month_{end}"] == pytest.approx(box(), rel=1e-5)
        paid = row(tornado, "price of the office box with 4 RTX 4090")
        assert paid[f"margin_{end}"] == pytest.approx(cloud() / box(capex=CAPEX * factor), rel=1e-5)
        longer = row(tornado, "length of the project")
        assert longer[f"usd_per_month_{end}"] == pytest.approx(box(capex=CAPEX / factor), rel=1e-5)
    power = row(tornado, "power of the office box with 4 RTX 4090")
    assert power["usd_per_month_high"] == pytest.approx(box(running=RUNNING * 1.2), rel=1e-5)
    # At 0.8 of its power the box runs cheaper than ours (0.8 / 0.97 < 1), and has hours enough for all of it.
    every = (58 * RESNET + 40 * BERT) / 0.97 * RUNNING * 0.8
    assert power["usd_per_month_low"] == pytest.approx(CAPEX + CARE + every + URGENT, rel=1e-5)
    assert rent["margin"] == pytest.approx(cloud() / box(), rel=1e-5)
    assert rent["swing"] == pytest.approx((cloud(1.2) - cloud(0.8)) / box(), rel=1e-5)
    assert bool(rent["flips"]) and rent["winner_low"].startswith("nothing bought") and "box" in rent["winner_high"]


def test_the_turning_points_by_hand(sure):
    """Where the box costs what RunPod does: in the rent, the price of the box, its power and its months."""
    points = sure["turning_points"]
    rented = cloud() - OURS * RUNNING - URGENT
    apart = cloud() - box()
    power = (58 * RESNET + 40 * BERT - OURS) / 0.97 * RUNNING
    expected = {
        "price of RunPod with 1 RTX 4090": 0.69 * (1 - apart / rented),
        "price of the office box with 4 RTX 4090": 14_900 * EUR * (1 + apart / CAPEX),
        "maintenance of the office box with 4 RTX 4090": CARE + apart,
        "power of the office box with 4 RTX 4090": 2.2 * (1 + apart / power),
        "length of the project": 36 / (1 + apart / CAPEX),
    }
    for assumption, value in expected.items():
        found = row(points, assumption)
        assert found["turning_value"] == pytest.approx(value, rel=2e-4)
        assert found["to_title"] == "nothing bought, RunPod with 1 RTX 4090 beside your RTX 4090"
        assert found["boxes"] == 0
    pays = row(sure["break_even"], "length of the project")
    assert pays["pays_from"] == pytest.approx(36 / (1 + apart / CAPEX), rel=2e-4)
    assert pays["pays_from_low"] == pytest.approx(pays["pays_from_high"])


def test_from_how_many_jobs_the_box_pays_by_hand(sure):
    """Each job of BERT fewer saves the box 14.1 h of electricity, and the cloud their rent."""
    saved = np.ceil(BERT * 60) * MINUTE - BERT / 0.97 * RUNNING
    found = sure["break_even"].set_index("subject").loc["bert"]
    assert found["pays_from"] == pytest.approx(40 - (cloud() - box()) / saved, rel=3e-4)
    assert found["text"] == "The office box with 4 RTX 4090 pays from 29.9 jobs/month on; 40 are planned"


def test_a_quicker_device_is_in_time_itself(sure):
    """24.6 h on one RTX 4090; 20 % faster 20.5 h: the urgent runs stay at home, no A100 is rented for 64 USD.

    Four side by side in the box are one of them at 0.97, so they are quicker too. Ours then does 34.3 runs in its
    hours, the box the others.
    """
    faster = row(sure["tornado"], "speed of RTX 4090 on ResNet-50")
    assert (faster["low"], faster["high"]) == pytest.approx((0.8, 1.2))
    rest = (60 - OURS / (RESNET / 1.2)) * RESNET / 1.2 + 40 * BERT
    assert faster["usd_per_month_high"] == pytest.approx(
        OURS * RUNNING + CAPEX + CARE + rest / 0.97 * RUNNING, rel=1e-5
    )


def test_every_row_says_what_it_is_of(lab):
    for name in ("tornado", "turning_points", "break_even", "worth_knowing"):
        assert set(lab[name]["workload"]) == {"lab"}
        assert lab[name]["assumption"].notna().all()
    assert not lab["tornado"]["assumption"].duplicated().any()
    # Jobs side by side on eight devices have the figure, and the error, of one device.
    speeds = lab["tornado"].query("quantity == 'speed'")["subject"]
    assert (
        "images_per_s|H100 SXM|1|bert_large|308.0" in set(speeds) and not speeds.str.contains("|8|", regex=False).any()
    )
    nearest = lab["turning_points"].drop_duplicates("assumption").set_index("assumption")["turning_value"]
    stated = lab["tornado"].set_index("assumption")["flip_value"]
    assert stated.dropna().to_dict() == pytest.approx(nearest.reindex(stated.dropna().index).to_dict())
    assert set(nearest.index) == set(stated.dropna().index)


def test_a_dearer_rival_never_helps_itself(lab):
    """Rents up: the margin of the box over them never falls; the box, its power, its care dearer: it never rises."""
    tornado = lab["tornado"]
    rivals = tornado[(tornado["quantity"] == "usd_per_hour") & (tornado["subject"] != "runpod-1xa100-sxm")]
    for _, found in [*rivals.iterrows(), *tornado[tornado["quantity"] == "rents"].iterrows()]:
        assert found["margin_high"] >= found["margin_low"] - 1e-3, found["assumption"]
        assert found["usd_per_month_high"] >= found["usd_per_month_low"] - 1e-9
    assert (rivals["margin_high"] - rivals["margin_low"]).max() > 0.2
    own = tornado[tornado["quantity"].isin(["capex_usd", "kw", "usd_per_kwh", "maintenance_usd_per_month"])]
    for _, found in own[own["subject"].isin(["box-4", "ours"])].iterrows():
        assert found["margin_high"] < found["margin_low"], found["assumption"]
    points = lab["turning_points"]
    rent = points[points["quantity"].isin(["usd_per_hour", "rents"])]
    assert set(rent["side"]) == {"below"}  # no dearer rental makes anybody leave the box
    assert (rent["boxes"] == 0).all()


@pytest.mark.parametrize(
    ("assumption", "name", "value"),
    [
        ("speed of RTX 4090", "images_per_s", 93.0),
        ("price of RunPod with 1 RTX 4090", "usd_per_hour", 0.69),
    ],
)
def test_the_worth_of_knowing_by_brute_force(lab, seen, assumption, name, value):
    """E[min over mixes of E[cost given x]] with the draws sorted by x into twenty heaps, each with its own cheapest."""
    figure = next(
        one.values for one in seen["figures"] if one.name == name and abs(np.median(one.values) / value - 1) < 0.05
    )
    question = seen["question"]
    costs = np.concatenate([question.drawn[question.competing], question.beside])
    known = sum(costs[:, heap].sum(axis=1).min() for heap in np.array_split(np.argsort(figure), 20)) / figure.size
    expected = costs.mean(axis=1).min() - known
    assert expected > 200
    found = lab["worth_knowing"].set_index("assumption").loc[assumption]
    # The best of the heaps is taken from their own draws, which adds; the first of many is taken off, which is less.
    assert found["evppi_usd"] == pytest.approx(expected, rel=0.2)
    assert found["project_usd"] == pytest.approx(lab["choices"]["usd"].iloc[0])


def test_a_speed_can_be_timed_where_it_is_rented(lab):
    """Half an hour of RunPod's RTX 4090: 0.5 x 0.69 USD."""
    first = lab["worth_knowing"].iloc[0]
    assert first["cost_to_learn_usd"] == pytest.approx(0.345)
    assert first["learn_on"] == "runpod-1x4090"
    assert first["turning_point"] / first["value"] == pytest.approx(
        lab["tornado"].set_index("assumption").loc[first["assumption"], "flip_factor"]
    )


def test_a_price_edit_stays_quick(tmp_path, monkeypatch):
    """Every figure of the plan is moved by at most 3,000 quick looks in all, and 350 at all draws and months."""
    looks = {"quick": 0, "whole": 0}

    def counted(problem, counts):
        looks["quick" if problem.jobs.shape[2] == 1 else "whole"] += 1
        return dispatch(problem, counts)

    monkeypatch.setattr(cost_dispatch, "dispatch", counted)
    LabOfFive(tmp_path).tables(20, turning=True)
    assert 500 < looks["quick"] < 3000
    assert looks["whole"] < 350


def test_without_a_mix_that_does_the_work_nothing_turns(tmp_path):
    def change(work):
        work["lab"]["jobs"][0]["within_hours"] = 2.0

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables(50, turning=True)
    names = ("tornado", "turning_points", "worth_knowing")
    assert [len(tables[name]) for name in names] == [0, 0, 0]


def test_of_the_jobs_only_a_number_that_is_uncertain_is_worth_knowing(tmp_path):
    """60 and 2 a month are said without a range; of the others 39.9 to 40.1, a spread below one job."""

    def change(work):
        work["lab"]["jobs"][0] |= {"per_month": 60, "urgent_per_month": 2}
        work["lab"]["jobs"][1]["per_month"] = {"value": 40, "low": 39.9, "high": 40.1}

    found = LabOfFive(tmp_path).edit("workloads.yaml", change).tables(50, turning=True)["worth_knowing"]
    jobs = found[found["quantity"] == "per_month"]
    assert jobs["subject"].tolist() == ["bert"]
