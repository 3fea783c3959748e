"""The wait for a shared machine on the page and in the summary; nothing of it where no workload is shared."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import inputs, settings, study
from report_tables import make_report, one_job, small_tables
from sweetspot.decision.compare import compare
from sweetspot.report.outcome import outcome_of
from sweetspot.report.page import render_page
from sweetspot.report.sheet import render_summary
from sweetspot.study.needs import Demand

SAID = "office-4x1080ti with 6 jobs a month of “imagenet” is busy 43 % of the time. A job waits 40.4 h on average"


def test_a_shared_machine_has_its_sentence_and_its_table(tmp_path):
    demands = {"imagenet": Demand((6.0, 6.0, 6.0), 1.0, 3, 1)}
    tables = small_tables() | {"queue": compare(inputs(), settings(), draws=200, demands=demands)["queue"]}
    report = make_report(tmp_path, tables)
    (note,) = re.findall(r'<p class="note" id="waiting">(.*?)</p>', (report / "evidence.html").read_text())
    assert SAID in note
    assert 'href="tables/queue.csv"' in note and (report / "tables" / "queue.csv").is_file()
    assert SAID in render_summary(tables, study())


def test_a_study_that_shares_nothing_says_nothing(tmp_path):
    report = make_report(tmp_path)
    assert 'id="waiting"' not in (report / "evidence.html").read_text()
    assert "jobs a month of" not in (report / "summary.md").read_text()


def test_who_is_in_time_stands_beside_it(tmp_path):
    """The box takes 52.8 h: none can within 1 h, and within 60 h it is alone."""
    asked = replace(settings(), deadlines_hours=(1.0, 60.0))
    page = make_report(tmp_path, small_tables() | {"deadlines": compare(inputs(), asked, draws=200)["deadlines"]})
    (found,) = re.findall(r'<table id="t-deadlines">.*?</table>', (page / "evidence.html").read_text(), re.DOTALL)
    late, early = ([re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
                   for row in re.findall(r"<tr><td.*?</tr>", found, re.DOTALL))  # fmt: skip
    assert (
        late[2] == "none can: the fastest, office-4x1080ti, takes 52.8 h for 58.3 USD once it is bought for 6,500 USD"
    )
    assert early[2] == "office-4x1080ti" and [cell.split(" ")[0] for cell in early[3:5]] == ["52.8", "58.3"]


@pytest.mark.parametrize(("wait", "overloaded", "said"), [
    (13.2, False, "waits 13.2 h on average for a free machine (2 × X1), then takes 24.3 h."),
    (0.0, True, "waits without end for a free machine (2 × X1)."),
    (6.0, False, None),  # under a quarter of its hours
])  # fmt: skip
def test_a_long_wait_for_what_is_held_stands_on_the_page(wait, overloaded, said):
    tables = one_job()
    found = outcome_of(tables)
    row = {"held": True, "option": found.best.choice, "workload": found.workload, "overloaded": overloaded,
           "wait_hours": wait, "hours": 24.3, "machines": "2 × X1"}  # fmt: skip
    page = render_page(tables | {"queue": pd.DataFrame([row])}, study())
    assert re.findall(r"waits (?:\d|without)[^<]*", page) == ([said] if said else [])
