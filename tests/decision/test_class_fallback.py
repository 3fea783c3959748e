"""Classes of jobs that need a machine within some hours: what they pay, who does them, and what the tables say."""

import json
from datetime import date

import numpy as np
import pytest
from phase_plans import hourly
from small_lab import class_of, small_lab
from sweetspot.availability.having_columns import with_having
from sweetspot.decision.case_figures import case_figures
from sweetspot.decision.sources import job_table
from sweetspot.study.stock import load_availability

PLACES = {"rented": {"provider": "one"}, "quick": {"provider": "two"}, "dated": {"provider": "three"}}
# An hour's job costs 6 USD, 10 on the next best, which is twice as fast, and 15 on the block.
OFFERS = (hourly(6.0), hourly(20.0) | {"instance": "quick"}, hourly(15.0) | {"instance": "dated"})
SPEEDS = {"quick": (200.0, 200.0, 200.0)}


def lab(folder, *more, facts=(), draws=400, **job):
    """Ten jobs a month of an hour each; `facts`: (quantity, provider, value)."""
    file = folder / "availability.yaml"
    told = [{"quantity": name, "provider": provider, "value": value, "as_of": "2018", "source": "ours"}
            for name, provider, value in [("wait_days", None, 1.0), ("boot_minutes", None, 0.0),
                                          ("failures_per_device_hour", None, 0.0), ("restart_minutes", None, 0.0),
                                          *facts]]  # fmt: skip
    file.write_text(json.dumps({"facts": [{key: value for key, value in one.items() if value is not None}
                                          for one in told]}))  # fmt: skip
    known = load_availability(file, date(2018, 7, 1))
    return small_lab(*OFFERS, *more, jobs=[class_of("a", 10.0, **job)], hours={"a": 1.0}, facts=PLACES, speeds=SPEEDS,
                     draws=draws, change=lambda options: with_having(options, known, 30.5))  # fmt: skip


HALF = [("stock_share", "one", 0.5), ("stock_share", "two", 0.8), ("start_days", "three", 20.0)]


@pytest.mark.parametrize(
    ("job", "usd"),
    [
        ({}, 6.0),
        ({"need_within_hours": 0.0, "fallback": "wait"}, 6.0),
        # 0.5 at once, 0.5 x 0.8 on the next best, 0.1 find none and wait for the cheapest
        ({"need_within_hours": 0.0}, 0.6 * 6 + 0.4 * 10),
        # within 12 of a mean of 24 hours 1 - 0.5 e^-0.5 and 1 - 0.2 e^-0.5 of the others
        ({"need_within_hours": 12.0, "fallback": "next"},
         6 + 0.5 * np.exp(-0.5) * (1 - 0.2 * np.exp(-0.5)) * (10 - 6)),
        ({"need_within_hours": 0.0, "fallback": "block"}, 0.5 * 6 + 0.5 * 15),
        # in 30 days the block has begun: it is the last of three
        ({"need_within_hours": 720.0}, 6 + 0.5 * np.exp(-30) * (1 - 0.2 * np.exp(-30)) * 4),
    ],
)  # fmt: skip
def test_what_a_job_costs_with_its_fallback(tmp_path, job, usd):
    posed = lab(tmp_path, facts=HALF, **job)[0]
    assert posed.central.rent[0, 0] == pytest.approx(usd)
    assert posed.drawn.rent.mean() == pytest.approx(usd)
    assert posed.mixes[0].expected == pytest.approx(10 * usd)


def test_with_all_machines_there_nothing_changes(tmp_path):
    always = [("stock_share", None, 1.0)]
    plain, asked = (lab(tmp_path, facts=always, **job)[0] for job in ({}, {"need_within_hours": 0.0}))
    assert asked.drawn.taken is None and len(case_figures([], [asked])) > 0
    for mine, theirs in zip(plain.mixes, asked.mixes, strict=True):
        assert mine.key == theirs.key and mine.done.usd.tolist() == theirs.done.usd.tolist()


def test_an_unknown_share_widens_the_interval_and_is_no_certainty(tmp_path):
    """Nothing is known of the cheapest: from 6 USD, where it is always there, to 10."""
    rent = lab(tmp_path, facts=[("stock_share", "two", 1.0)], draws=4000, need_within_hours=0.0)[0].drawn.rent[0]
    assert rent.mean() == pytest.approx(8.0, abs=0.1) and rent.min() < 6.2 and rent.max() > 9.8


def test_tables_say_how_often_a_machine_is_there_and_the_page_leaves_out_what_it_cannot_reckon(tmp_path):
    posed, options, *_ = lab(tmp_path, facts=HALF, need_within_hours=12.0)
    table = job_table([posed], options, options, {}).set_index("option")
    late = np.exp(-0.5)
    assert table["need_within_hours"].tolist() == [12.0] * 3
    found = table.loc[["rented", "quick", "dated"], "p_there"]
    assert found.tolist() == pytest.approx([1 - 0.5 * late, 1 - 0.2 * late, 0.0])
    assert case_figures([], [posed]).empty
