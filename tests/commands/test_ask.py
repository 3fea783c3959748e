"""`sweetspot ask`: the page's words from the results, another use, deadlines, and exit codes for scripts."""

import json
import os
import shutil

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, queue_at_box, settings
from report_tables import month_tables
from sweetspot.commands.ask import NOT_IN_TIME, TOO_CLOSE
from sweetspot.commands.command_line import main
from sweetspot.commands.reevaluate import RequestedUse, StudyInputs, at_days, reevaluate
from sweetspot.decision.compare import compare
from sweetspot.declared_tables import write_table
from sweetspot.errors import UserError
from sweetspot.files import read_arrow, read_parquet, write_arrow
from sweetspot.report.decision_text import verdict_rows

SENTENCES = ("sentence", "do_this", "thresholds")

STUDY = """
name: paper
title: A box or a rented card
question: Which?
as_of: 2018-07-01
sources: [{id: paper, title: Worked on paper, date: "2018"}]
cells: {model: [vgg16], batch_size: [64], precision: fp16, headline_batch_size: 64}
reference: office-4x1080ti
"""


@pytest.fixture(scope="module")
def found():
    """The comparison of a box at 10 days of use a month with a machine on demand and as spot."""
    tables = compare(inputs(), settings())
    return tables | {"queue": queue_at_box(tables["options"])}


@pytest.fixture(scope="module")
def project(found, tmp_path_factory):
    """A project whose results are there, as the workflow writes them."""
    root = tmp_path_factory.mktemp("project")
    folder = root / "config" / "studies" / "paper"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY)
    for name, table in found.items():
        write_table(table, root / "results" / "paper" / "comparison" / f"{name}.parquet")
    return root


@pytest.fixture
def edited(project, tmp_path):
    """A copy of the project, and the folder of its comparison."""
    root = shutil.copytree(project, tmp_path / "project")
    return root, root / "results" / "paper" / "comparison"


def of(options, **wanted):
    """The study as the library asks it."""
    return reevaluate(StudyInputs(options, settings()), RequestedUse(**wanted))


def asked(project, capsys, *arguments):
    """Exit code and what was printed."""
    places = ["--results", str(project / "results"), "--config", str(project / "config")]
    code = main(["ask", "paper", *arguments, *places])
    return code, capsys.readouterr()


def test_asked_for_the_studys_own_use_the_words_are_the_pages(found, project, capsys):
    code, said = asked(project, capsys)
    (page,) = verdict_rows(found)
    assert code == 0
    lines = said.out.splitlines()
    assert lines[0] == "A box or a rented card (paper, as of 2018-07-01, the study's own use)"
    told = ["Buy. Renting costs 6.1 times as much.", f"Buy {BOX}. It pays off from 1.4 days of use a month."]
    assert lines[1:3] == [page["sentence"], page["do_this"]] == told
    queued = "office-4x1080ti with 6 jobs a month of “imagenet” is busy 43 %"
    assert queued in said.out
    assert said.err == ""
    same = of(read_parquet(project / "results/paper/comparison/options.parquet"))
    pd.testing.assert_frame_equal(same["verdict"], found["verdict"], check_dtype=False)


@pytest.mark.parametrize("days", [3.0, 20.0])
def test_another_use_is_that_of_a_price_list_that_says_so(found, days):
    own = compare(inputs(box_more={"days_per_month": days, "days_per_month_low": days, "days_per_month_high": days}),
                  settings())  # fmt: skip
    moved = of(found["options"], days=days)
    for row, expected in zip(verdict_rows(moved), verdict_rows(own), strict=True):
        assert [row[name] for name in SENTENCES] == [expected[name] for name in SENTENCES]
    for name in ("ratio", "ratio_low", "ratio_high", "p_cheaper", "busy_days_per_month"):
        assert moved["verdict"][name].tolist() == pytest.approx(own["verdict"][name].tolist()), name


def test_the_hour_of_a_box_at_another_use_by_hand(found):
    # 216.667 USD a month over 24 x 5 hours and 0.20 of electricity: 2.005556 instead of 1.102778; 52.834 h.
    rows = at_days(found["options"], 5.0).set_index("option")
    assert rows.loc[BOX, "usd_per_hour"] == pytest.approx(6500 / 30 / 120 + 0.20)
    assert rows.loc[BOX, "usd"] == pytest.approx(52.834 * 2.005556, rel=1e-5)
    assert rows.loc[BOX, "images_per_usd"] == pytest.approx(498 * 3600 / 2.005556, rel=1e-5)
    before = found["options"].set_index("option")
    for name in ("usd", "usd_per_hour", "images_per_usd"):
        assert rows.loc[RENTED, name] == before.loc[RENTED, name]


def test_the_hour_of_a_contract_at_another_use_by_hand(found):
    # 20 days planned: at 5 days its month is spread over a quarter of the hours, whether in words or in the draws.
    signed = found["options"].assign(days_per_month=20.0, days_per_month_low=20.0, days_per_month_high=20.0)
    signed = signed[signed["option"] == RENTED].assign(purchase="reserved")
    before, rows = signed.iloc[0], at_days(signed, 5.0).iloc[0]
    for name in ("usd", "usd_per_hour", "variable_usd_per_hour"):
        assert rows[name] == pytest.approx(4 * before[name]), name
    assert rows["images_per_usd"] == pytest.approx(before["images_per_usd"] / 4) and rows["days_per_month"] == 5.0


def test_a_deadline_names_what_one_is_bound_to(found, capsys, project):
    # 3.06 USD an hour at 10 days of use: 24 x 10 x 3.06 = 734.40 a month.
    options = found["options"].assign(purchase=lambda rows: rows["purchase"].replace("on_demand", "committed"))
    options.loc[options["option"] == RENTED, "days_per_month"] = 10.0
    options["persistent"] = options["purchase"] != "spot"
    of_box, of_contract = (of(options, due_hours=due)["job_deadlines"].iloc[0] for due in (100.0, 1.0))
    assert (of_box["up_front_usd"], of_box["option"]) == (6500.0, BOX) and pd.isna(of_box["due_usd_per_month"])
    assert (of_contract["fastest_hours"], of_contract["up_front_usd"]) == (pytest.approx(52.83, abs=0.01), 6500.0)
    signed = of(options[options["option"] == RENTED], due_hours=200.0)["job_deadlines"].iloc[0]
    assert signed["due_usd_per_month"] == pytest.approx(734.4) and pd.isna(signed["up_front_usd"])
    late = of(options[options["option"] == RENTED], due_hours=1.0)["job_deadlines"].iloc[0]
    assert late[["fastest_usd", "due_usd_per_month"]].tolist() == pytest.approx([357.8, 734.4], abs=0.1)


def test_deadlines_and_their_exit_codes(project, capsys):
    # The box takes 52.8 h for 58.3 USD, the rented one 116.9 h for 357.8.
    code, said = asked(project, capsys, "--deadline", "100h")
    assert code == 0
    assert "imagenet within 100 h: office-4x1080ti, 52.8 h for 58.3 USD once it is bought for 6,500 USD (" in said.out
    code, said = asked(project, capsys, "--deadline", "2d")
    assert code == NOT_IN_TIME
    assert (
        "imagenet within 48 h: none can: the fastest, office-4x1080ti, "
        "takes 52.8 h for 58.3 USD once it is bought for 6,500 USD." in said.out
    )
    # Where the box is used one day a month its hour costs 216.667 / 24 + 0.2 = 9.228 USD: 487.5 against 357.8.
    code, said = asked(project, capsys, "--deadline", "5d", "--days", "1")
    assert "imagenet within 120 h: p3.2xlarge, 117 h for 358 USD" in said.out
    assert said.out.splitlines()[0].endswith("1 days of use a month)")


def test_too_close_to_call_is_an_exit_code_of_its_own(project, capsys):
    # 357.8 / 52.834 = 6.772 an hour of the box: 216.667 / (24 d) + 0.2 is as much at d = 1.374.
    code, said = asked(project, capsys, "--days", "1.374")
    assert code == TOO_CLOSE
    # 6,500 USD without a range is a firm offer.
    assert said.out.splitlines()[1] == "Toss-up: buy at the 6,500 USD offered. Renting costs about the same."


def test_one_object_for_programs(project, capsys):
    code, said = asked(project, capsys, "--json", "--days", "12", "--deadline", "40h")
    content = json.loads(said.out)
    assert code == NOT_IN_TIME
    assert content["outcome"] == "nothing in time"
    assert content["inputs"] == {"days": 12, "jobs_factor": None, "due_hours": 40}
    (late,) = content["deadline"]
    assert (late["workload"], late["within_hours"], late["option"], late["usd"]) == ("imagenet", 40, None, None)
    assert content["sentences"] == [content["verdict"]["sentence"], content["verdict"]["do_this"]]
    assert "published" in content["rests_on"][0] and "predicted" in content["rests_on"][0]
    # 357.8 / (52.834 x (216.667 / 288 + 0.2)) = 7.11
    ratio = content["verdict"]["ratio"]
    assert ratio["value"] == pytest.approx(7.11, abs=0.01) and ratio["low"] < ratio["value"] < ratio["high"]
    assert content["verdict"]["best"]["choice"] == BOX


def test_results_that_are_old_empty_or_missing_are_said(found, edited, capsys):
    root, folder = edited
    (root / "config/studies/paper/workloads.yaml").write_text("{}\n")
    _, said = asked(root, capsys)
    assert "workloads.yaml is newer than the results; `make report STUDY=paper` reads it" in said.err
    with pytest.raises(UserError, match="--jobs is 2; expected none: study paper has no plan"):
        asked(root, capsys, "--jobs", "2")
    for name in ("options", "verdict"):
        write_table(found[name].head(0), folder / f"{name}.parquet")
    code, said = asked(root, capsys)
    assert code == 2 and said.out.splitlines()[1] == "No answer yet: nothing here has a price."
    prices = root / "config/studies/paper/prices/others.yaml"
    prices.parent.mkdir()
    prices.write_text("{}")
    write_table(found["options"], folder / "options.parquet")
    with pytest.raises(UserError, match="has prices of 'on_demand', which paper lacks"):
        asked(root, capsys)
    for name in ("verdict", "choices"):  # without a column, and missing
        write_arrow(read_arrow(folder / f"{name}.parquet").drop_columns(["workload"]), folder / f"{name}.parquet")
        with pytest.raises(UserError, match=f"{name}.parquet: was written by another version"):
            asked(root, capsys)
        (folder / f"{name}.parquet").unlink()
        with pytest.raises(UserError, match=f"{name}.parquet: does not exist; `make report` makes it"):
            asked(root, capsys)
        write_table(found[name], folder / f"{name}.parquet")


def test_a_file_with_older_time_and_new_content_is_newer_than_the_results(edited, capsys):
    file = edited[0] / "config/studies/paper/study.yaml"
    file.write_text(STUDY + "# edited\n")
    os.utime(file, (0, 0))
    assert f"note: {file} is newer than the results" in asked(edited[0], capsys)[1].err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--deadline", "6"], "--deadline is '6'; expected a time such as 90min, 6h or 2d"),
        (["--deadline", "0h"], "--deadline is '0h'; expected a time"),
        (["--days", "31"], "--days is 31; expected at most the month's 30.5"),
        (["--days", "0"], "--days"),
        (["--jobs", "0"], "'0' given"),
        (["--jobs", "1e9"], "to 1000"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(project, capsys, arguments, words):
    with pytest.raises(UserError) as told:
        asked(project, capsys, *arguments)
    assert words in str(told.value)


def test_the_command_reads_only(project, capsys):
    before = {file: file.stat().st_mtime_ns for file in project.rglob("*")}
    asked(project, capsys, "--days", "20", "--deadline", "3d")
    assert {file: file.stat().st_mtime_ns for file in project.rglob("*")} == before


def test_the_verdict_on_the_plan_gives_the_exit_code(edited, capsys):
    """Nine draws of ten: tests/support/report_tables.py."""
    root, folder = edited
    tables = month_tables()
    for name in ("choices", "sources", "deadlines", "verdict"):
        write_table(tables[name], folder / f"{name}.parquet")
    code, said = asked(root, capsys)
    lines = said.out.splitlines()
    assert code == 0 and lines[1] == "Buy. Renting probably costs 1.1 times as much."
    assert "Within 24 h, runs: RunPod, 12.7 h for 38.0 USD." in lines
    write_table(tables["verdict"].assign(confidence="too close to call"), folder / "verdict.parquet")
    code, said = asked(root, capsys, "--json")
    assert code == TOO_CLOSE and json.loads(said.out)["verdict"]["workload"] == "lab"
