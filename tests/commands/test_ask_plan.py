"""`sweetspot ask` of the work of months: deadlines by class, more jobs, another use; against studies that say so."""

import shutil

import pytest
from month_tables import LabOfFive
from sweetspot.commands.ask import NOT_IN_TIME, exit_code
from sweetspot.commands.reevaluate import RequestedUse, StudyInputs, reevaluate
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly

pytestmark = pytest.mark.slow  # compares whole studies
FEW = 500  # draws: both sides have the same
FIGURES = ("usd_per_month", "usd_per_month_low", "usd_per_month_high", "counts", "p_cheaper")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The study and its tables."""
    study = LabOfFive(tmp_path_factory.mktemp("studies"))
    return study, study.tables(FEW)


def anew(lab, **wanted):
    study, tables = lab
    works, settings = load_monthly(study.folder / "workloads.yaml"), Settings.of(load_study(study.folder))
    return reevaluate(StudyInputs(tables["options"], settings, tables["offers"], works), RequestedUse(**wanted), FEW)


def lab_of(tables):
    """The choices of the plan."""
    return tables["choices"][tables["choices"]["workload"] == "lab"]


def same(one, other):
    for name in FIGURES:
        assert lab_of(one)[name].tolist() == pytest.approx(lab_of(other)[name].tolist(), nan_ok=True), name


def edited(lab, where, *edits):
    """The tables of a study that says what was asked for."""
    copy = LabOfFive.__new__(LabOfFive)
    copy.folder = shutil.copytree(lab[0].folder, where / "lab-of-five")
    for name, change in edits:
        copy.edit(name, change)
    return copy.tables(FEW)


def test_twice_the_jobs_are_those_of_a_study_with_twice_the_jobs(lab, tmp_path):
    def twice(work):
        for job in work["lab"]["jobs"]:
            for name in {"per_month", "urgent_per_month"} & set(job):
                job[name] = {end: 2 * value for end, value in job[name].items()}

    own = edited(lab, tmp_path, ("workloads.yaml", twice))
    same(anew(lab, jobs_factor=2.0), own)
    assert lab_of(own).iloc[0]["usd_per_month"] != lab_of(lab[1]).iloc[0]["usd_per_month"]


def test_another_use_is_that_of_price_lists_that_say_so(lab, tmp_path):
    def use(prices):
        for offer in prices["offers"]:
            offer["own"]["days_per_month"] = 12

    own = edited(lab, tmp_path, ("prices/ours.yaml", use))
    same(anew(lab, days=12.0), own)
    assert own["sources"].set_index(["mix", "option"]).loc[("best", "rtx4090-1"), "device_hours"] <= 0.96 * 12 * 24


def test_a_deadline_of_every_class_is_that_of_a_study_that_asks_for_it(lab, tmp_path):
    """Of 15 h: an H100 for ResNet-50, 11.5 h x 3.49; for BERT our own after 14.13 h are too late with their wait."""
    due = anew(lab, due_hours=15.0)["deadlines"].set_index("class")
    assert (due["within_hours"] == 15.0).all()
    assert due.loc["resnet50", "option"] == "runpod-1xh100-sxm"
    assert due.loc["resnet50", "usd"] == pytest.approx(40.135)  # 690 min x 3.49 / 60
    assert due.loc["bert", "option"] == "runpod-1x4090"
    assert due.loc["bert", "usd"] == pytest.approx(848 / 60 * 0.69)  # 14.129 h

    def earlier(work):
        work["lab"]["jobs"][0]["within_hours"] = 15.0

    own = edited(lab, tmp_path, ("workloads.yaml", earlier))["deadlines"].iloc[0]
    for name in ("option", "hours", "usd", "p_in_time"):
        assert own[name] == due.loc["resnet50", name]
    # The fastest, an H100, takes 11.5 h.
    late = anew(lab, due_hours=6.0)["deadlines"].to_dict("records")
    assert exit_code(None, [], late) == NOT_IN_TIME and late[0]["fastest_hours"] == pytest.approx(11.5, abs=0.01)
