"""The lab of five: its README's hand calculation, and what edits of the study do to its plan."""

import numpy as np
import pandas as pd
import pytest
from month_tables import LabOfFive
from sweetspot.errors import UserError

# By hand, as in config/studies/lab-of-five/README.md.
RESNET = 115_305_030 / 1301 / 3600  # 24.619 h on one RTX 4090
BERT = 4_730_346 / 93 / 3600  # 14.129 h
OURS = 0.96 * 30.5 * 24  # 702.72 h a month
EUR = 1.1378
KWH = 0.30 * EUR
RUNNING = 0.55 * KWH  # USD of an hour of one RTX 4090
POSSESSION = (14_900 / 36 + 87) * EUR  # 569.91 USD a month
A100 = 115_305_030 / 1582 / 3600  # 20.246 h, in time
MINUTE = 0.69 / 60


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return LabOfFive(tmp_path_factory.mktemp("lab")).tables(1000)


def without_deadline(work):
    job = work["lab"]["jobs"][0]
    del job["within_hours"], job["urgent_per_month"]


def mixes(tables):
    """The choices of the lab by their key."""
    return tables["choices"].set_index("choice")


def central(tables, mix):
    return mixes(tables).loc[mix, "usd_per_month_central"]


def rented(hours, count):
    """USD of `count` jobs on RunPod, billed by the minute."""
    return count * np.ceil(hours * 60) * MINUTE


def test_the_hand_calculation_without_deadlines(tmp_path):
    tables = LabOfFive(tmp_path).edit("workloads.yaml", without_deadline).tables()
    work = 60 * RESNET + 40 * BERT
    assert work == pytest.approx(2042.3, abs=0.05)
    rest = work - OURS
    box = POSSESSION + rest / 0.97 * RUNNING
    assert box == pytest.approx(829.18, abs=0.01)
    assert central(tables, "best") == pytest.approx(OURS * RUNNING + box, abs=0.01)
    # A job of ResNet-50 rents at 0.69040 USD an hour of work, one of BERT at 0.69022: ours takes ResNet-50 first.
    left = (60 * RESNET - OURS) / RESNET
    cloud = rented(RESNET, left) + rented(BERT, 40)
    assert cloud == pytest.approx(rest * 0.69, rel=0.001)
    assert cloud == pytest.approx(924.8, abs=0.1)
    assert central(tables, "runpod-1x4090") == pytest.approx(OURS * RUNNING + cloud, abs=0.01)
    alone = mixes(tables).loc["there", "why_not"]
    assert mixes(tables).loc["there", "why_not_rule"] == "cannot" and pd.isna(mixes(tables).loc["there", "main_rented"])
    assert alone == "cannot: what it can do takes 2,042 device-hours in a middle month, it has 703: 3 would do"


def test_the_hand_calculation_with_two_urgent_runs(lab):
    urgent = 2 * np.ceil(A100 * 60) * 1.59 / 60
    assert urgent == pytest.approx(64.40, abs=0.01)
    rest = 58 * RESNET + 40 * BERT - OURS
    box = OURS * RUNNING + POSSESSION + rest / 0.97 * RUNNING + urgent
    assert box == pytest.approx(1015.97, abs=0.01)
    assert central(lab, "best") == pytest.approx(box, abs=0.01)
    cloud = OURS * RUNNING + rented(RESNET, 58 - OURS / RESNET) + rented(BERT, 40) + urgent
    assert central(lab, "runpod-1x4090") == pytest.approx(cloud, abs=0.01)
    # An urgent run, by hand: 20.25 h on one A100 for 32.20 USD; RunPod's and our own RTX 4090 take 24.6 h.
    due = lab["deadlines"].query("is_asked").iloc[0]
    assert (due["option"], due["per_month"]) == ("runpod-1xa100-sxm", 2.0)
    assert due["hours"] == pytest.approx(A100)
    assert due["usd"] == pytest.approx(urgent / 2)


def test_it_is_a_toss_up(lab):
    rows, verdict = mixes(lab), lab["verdict"].set_index("workload").loc["lab"]
    assert rows.loc["best", "counts"] == 1 and rows.loc["best", "is_best"]
    assert "box-4" not in rows.index  # one box and what is rented beside it is the best
    assert verdict["confidence"] == "too close to call"
    assert 0.5 < 1 - rows.loc["runpod-1x4090", "p_cheaper"] < 0.8
    assert 1.0 < rows.loc["runpod-1x4090", "ratio"] < 1.15
    # Months of more and of less work cost on average nearly what the middle one does: the box has hours to spare.
    assert rows.loc["best", "usd_per_month"] == pytest.approx(rows.loc["best", "usd_per_month_central"], rel=0.02)
    assert (
        rows.loc["best", "usd_per_month_low"]
        < rows.loc["best", "usd_per_month"]
        < rows.loc["best", "usd_per_month_high"]
    )


def test_sources_add_up_to_the_work_and_to_the_money(lab):
    for name, row in mixes(lab).iterrows():
        parts = lab["sources"][lab["sources"]["mix"] == name]
        assert parts["device_hours"].sum() == pytest.approx(row["device_hours"] / 36)
        if pd.isna(row["why_not"]):
            assert parts["usd_per_month"].sum() == pytest.approx(row["usd_per_month"])
    load = lab["load"].groupby("share_of_months")["device_hours"].sum()
    assert load.is_monotonic_decreasing
    best = lab["choices"].iloc[0]["device_hours"] / 36
    assert load.iloc[-1] < best < load.iloc[0]


def test_who_is_too_late_and_who_has_no_speed(lab):
    jobs = lab["jobs"]
    found = {(row["class"], row.urgent, row.instance): row.status for _, row in jobs.iterrows()}
    assert found["resnet50", True, "runpod-1x4090"] == "too late"
    assert found["resnet50", True, "lambda-1xh100-pcie"] == "fits"
    assert found["resnet50", False, "runpod-1x4090"] == "fits"
    assert found["bert", False, "runpod-1xl40s"] == "no speed"
    told = lab["warnings"]
    assert set(told.loc[told["rule"] == "no_speed", "instance"]) == {"runpod-1xl40s"}


def test_a_result_of_a_day_on_the_whole_box(tmp_path):
    """An urgent run may take all four devices. Nothing is extrapolated here: no figure of four, so no speed."""

    def change(work):
        work["lab"]["jobs"][0]["urgent_devices_per_job"] = "all"

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()
    jobs = tables["jobs"]
    urgent = jobs[jobs["urgent"].astype(bool)].set_index("instance")["status"]
    assert urgent["box-4"] == "no speed"
    # Eight H100 together: 115,305,030 / 22,045 = 1.45 h
    row = jobs[jobs["urgent"].astype(bool) & (jobs["instance"] == "aws-p5.48xlarge")].iloc[0]
    assert row["hours"] == pytest.approx(115_305_030 / 22_045 / 3600)


def test_a_deadline_that_nobody_meets_is_said(tmp_path):
    def change(work):
        work["lab"]["jobs"][0]["within_hours"] = 2.0

    tables = LabOfFive(tmp_path).edit("workloads.yaml", change).tables()
    due = tables["deadlines"].query("is_asked").iloc[0]
    assert due["status"].startswith("none can: the fastest, RunPod with 1 H100 SXM, takes 11.5 h")
    assert tables["choices"]["why_not"].str.startswith("cannot").all() and tables["verdict"].empty
    assert "in time" in tables["choices"].iloc[0]["why_not"]


def test_more_work_takes_more_boxes(tmp_path):
    """Four times the work, 8,169 device-hours: 7,466 beside ours, of which a box does 2,810.88 x 0.97: 2.7 of them."""

    def change(work):
        for job in work["lab"]["jobs"]:
            job["per_month"] = job["per_month"]["value"] * 4

    rows = LabOfFive(tmp_path).edit("workloads.yaml", change).edit("workloads.yaml", without_deadline).tables()
    # The third is used 73 %: 2,064 h x (0.69 - 0.196) = 1,020 USD for 568.
    assert mixes(rows).loc["best", "counts"] == 3
    assert mixes(rows).loc["there", "why_not"].endswith("12 would do")  # 8,169 / 702.72 = 11.6


def test_a_dearer_rental_never_helps_itself(tmp_path):
    """A rental's own price, up: the mixes that use it cost more, those that do not cost the same."""

    def dearer(prices):
        prices["offers"][0]["per_hour"] = {"value": 0.80, "low": 0.70, "high": 0.90}

    before = mixes(LabOfFive(tmp_path / "a").tables())
    after = mixes(LabOfFive(tmp_path / "b").edit("prices/rent.yaml", dearer).tables())
    assert after.loc["runpod-1x4090", "usd_per_month"] > before.loc["runpod-1x4090", "usd_per_month"]
    assert after.loc["runpod-1x4090", "p_cheaper"] < before.loc["runpod-1x4090", "p_cheaper"]
    assert after.loc["lambda-1xh100-pcie", "usd_per_month"] == before.loc["lambda-1xh100-pcie", "usd_per_month"]


def test_what_is_there_needs_an_offer(tmp_path):
    def change(work):
        work["lab"]["have"].append("rtx4090-2")

    with pytest.raises(UserError, match=r"lab\.have names 'rtx4090-2'; expected a machine with an offer `own`"):
        LabOfFive(tmp_path).edit("workloads.yaml", change).tables(50)


def test_what_was_paid_for_what_is_there_does_not_matter(tmp_path):
    """Sunk: the same mixes whether the list says what it cost or 0."""

    def paid(prices):
        prices["offers"][0]["own"]["capex"] = 2125

    before = LabOfFive(tmp_path / "a").tables()["choices"]["usd_per_month"]
    after = LabOfFive(tmp_path / "b").edit("prices/ours.yaml", paid).tables()["choices"]["usd_per_month"]
    assert after.tolist()[:-1] == pytest.approx(before.tolist()[:-1])


def test_hours_on_a_machine_say_the_same_as_samples(tmp_path):
    """14.129 h on our RTX 4090 are 4,730,346 sequences at 93 a second, on every machine."""

    def change(work):
        job = work["lab"]["jobs"][1]
        del job["samples"]
        job |= {"hours": BERT, "instance": "rtx4090-1"}

    before = LabOfFive(tmp_path / "a").tables()["choices"]["usd_per_month_central"]
    after = LabOfFive(tmp_path / "b").edit("workloads.yaml", change).tables()["choices"]["usd_per_month_central"]
    assert after.tolist()[:-1] == pytest.approx(before.tolist()[:-1], rel=1e-4)


def test_a_commitment_is_signed_where_it_pays(tmp_path):
    """An RTX 4090 for 200 USD a month, 12 months at a time: 732 h, which rented cost 505. Two of them, by hand:

    1,464 of the 1,993 ordinary device-hours at nothing more, ours the other 529 at 0.19, the urgent ones as before.
    """

    def change(prices):
        deal = {"term_months": 12, "per_month": 200}
        prices["offers"].append({"instance": "runpod-1x4090", "purchase": "reserved", "commitment": deal})

    tables = LabOfFive(tmp_path).edit("prices/rent.yaml", change).tables()
    rest = 58 * RESNET + 40 * BERT - 2 * 732
    usd = 2 * 200 + rest * RUNNING + 2 * np.ceil(A100 * 60) * 1.59 / 60
    assert central(tables, "best") == pytest.approx(usd, abs=0.01)
    assert "2 × RunPod with 1 RTX 4090 (reserved)" in mixes(tables).loc["best", "title"]


def test_a_commitment_is_paid_to_the_end_of_its_term(tmp_path):
    """Of 24 months beyond 36 another whole term is due: 2 x 24 / 36 times 200 USD a month of the project."""

    def change(prices):
        deal = {"term_months": 24, "per_month": 200}
        prices["offers"].append({"instance": "runpod-1x4090", "purchase": "reserved", "commitment": deal})

    tables = LabOfFive(tmp_path).edit("prices/rent.yaml", change).tables()
    parts = tables["sources"].set_index(["mix", "option"]).loc["runpod-1x4090 (reserved)", :]
    held = parts.loc["runpod-1x4090 (reserved)"]
    assert held["fixed_usd_per_month"] == pytest.approx(held["machines"] * 200 * 48 / 36)
