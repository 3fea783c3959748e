"""What the team's own record says stands on the page, of the work that the answer is about."""

import json
import re

import pytest
from decision_tables import study
from report_tables import one_job
from sweetspot.report.outcome import outcome_of
from sweetspot.report.page import render_page

JOB = {"name": "a", "model": "resnet50", "samples": 1e6, "per_month": 61, "devices_per_job": 1, "source": "us"}
MEASURED = {"period": "2025-01 to 2025-11", "months": 11.0, "busy_share": 0.338, "source": "sacct",
            "jobs_per_month": {"value": 61.2, "low": 47.9, "high": 79.0}}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Your last 11 months: 34 % busy, 61 jobs a month (48 to 79)."),
        ({"months": 1.0, "busy_share": None, "jobs_per_month": 3.25},
         "Your last month: 3.2 jobs a month (3.2 to 3.2)."),
        (None, None),
    ],
)  # fmt: skip
def test_the_sentence_of_the_record(changes, said, tmp_path):
    tables = one_job()
    work = {"kind": "monthly", "months": 36, "jobs": [JOB], "source": "us"}
    if changes is not None:
        work["measured"] = MEASURED | changes
    file = tmp_path / "workloads.yaml"
    file.write_text(json.dumps({outcome_of(tables).workload: work, "unused": work | {"measured": MEASURED}}))
    page = render_page(tables, study(), file)
    assert re.findall(r"Your last [^<]*", page) == ([said] if said else [])
    assert "Your last" not in render_page(tables, study())
