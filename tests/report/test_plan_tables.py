"""The tables of what to do, made of a few rows by hand: which rows, in which order, what each cell says."""

import math
import re

import pandas as pd
import pytest
from decision_tables import study
from report_tables import evidence, small_tables
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.wording import DISPATCH, ROUNDS, SHARE

NAN = math.nan
WORKS = pd.DataFrame(
    {"workload": ["lab", "job"], "cost": [DISPATCH, SHARE], "workload_title": ["Lab", None], "model": None}
)


def made(**tables):
    return EvidenceTables(tables, study(), Provenance(), {"a": "Machine A"})


def plain(part):
    """The texts of a table's cells, without the signs of bases."""
    return [[re.sub("<i.*?</i>|<[^>]*>", "", str(cell)) for cell in row] for row in part.rows]


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


def origins(part):
    return [re.search('title="(.*?)"', str(cell))[1] for cell in part.rows[0] if "title=" in str(cell)]


def test_without_tables_there_are_no_rows():
    assert [(table.rows, table.omitted_rows) for table in made().build_all().values()] == [([], 0)] * 22


def test_verdicts_on_jobs_leave_out_those_on_plans():
    table = frame("workload workload_title best_title rival_title ratio p_cheaper sentence basis",
                  ("lab", "Lab", "x", "y", 2.0, 0.9, "Rent.", "own"),
                  ("job", "A job", "Box", None, NAN, NAN, "Buy.", "own"),
                  ("job", "A job", "Box", "Cloud", 1.5, 0.994, "Buy.", "own"))  # fmt: skip
    assert plain(made(verdict=table, choices=WORKS).build("verdict")) == [
        ["A job", "Box", "", "–", "", "Buy."],
        ["A job", "Box", "Cloud", "1.50 ×", "over 99 %", "Buy."],
    ]
    assert made(verdict=table).build("verdict").rows == []


WORTH = "model figure value unit evppi_usd evppi_usd_low project_usd cost_to_learn_usd learn_on_title turning_point"
KNOWN = ("m", "speed", 5.0, "images/s", 2.0, 0.5, 1000.0, 3.0, "Cloud", 7.0)


def worth(name, usd=2.0, low=0.5, project=1000.0, model="m"):
    return model, name, *KNOWN[2:4], usd, low, project, *KNOWN[7:]


def test_what_is_worth_knowing_is_above_its_error_and_a_thousandth_of_the_project():
    """Of 1,000 USD just one; the answer's model first, each in the order of the table."""
    rows = [worth("other", model="n"), worth("within its error", low=0.0), worth("just enough", usd=1.0),
            worth("too little", usd=0.99), worth("dear project", project=2001.0),
            worth("plan's", model=None)]  # fmt: skip
    asked = {"verdict": frame("workload", ("w",)), "choices": frame("workload cost model", ("w", SHARE, "m"))}
    part = made(worth_knowing=frame(WORTH, *rows), **asked).build("worth_knowing")
    assert [row[1] for row in part.rows] == ["just enough", "other"]
    assert plain(part)[0] == ["m", "just enough", "5.00", "images/s", "1.00", "3.00", "Cloud", "7.00"]


@pytest.mark.parametrize(("cost", "best"), [(DISPATCH, "best mix"), (ROUNDS, "best")])
def test_the_plan_s_tables_speak_of_mixes_in_months_and_of_options_in_phases(cost, best):
    plan = {"choices": frame("workload cost", ("lab", cost))}
    rows = [worth("none", usd=0.0, model=None), worth("some", usd=0.5, model=None), worth("a job's")]
    part = made(worth_knowing=frame(WORTH, *rows), **plan).build("plan_worth_knowing")
    assert plain(part) == [["some", "5.00", "images/s", "0.500", "3.00", "Cloud", "7.00"]]
    assert part.head[-1] == f"the {best} changes at"
    point = frame(
        "model assumption side turning_value value unit to_title",
        (None, "rent", "below", 0.5, 0.7, "USD/h", "Box"),
        ("m", *"abcdef"),
    )
    part = made(turning_points=point, **plan).build("plan_turning_points")
    assert plain(part) == [["rent", "below", "0.500", "0.700", "USD/h", "Box"]]
    assert part.head[-1] == f"the {best} is then"
    moved = frame(
        "model assumption value low high unit margin margin_low margin_high flip_value",
        (None, "rent", 0.7, 0.5, 0.9, "USD/h", 1.1, 0.9, 1.3, 0.6),
    )
    part = made(tornado=moved, **plan).build("plan_tornado")
    assert plain(part) == [["rent", "0.700", "0.500", "0.900", "USD/h", "1.10 ×", "0.900 ×", "1.30 ×", "0.600"]]
    assert part.head[5] == f"next / {best}"


def test_choices_of_plans_are_marked_and_those_of_jobs_left_out():
    names = "workload cost title usd usd_per_month ratio hours device_hours p_cheapest why_not is_best persistent"
    numbers = (9000.0, 250.0, 1.5, NAN, 1200.0)
    rows = [("lab", DISPATCH, "Box", *numbers, 0.5, None, True, True),
            ("lab", DISPATCH, "Rent", *numbers, NAN, "no", False, True),
            ("lab", ROUNDS, "Spot", *numbers, 0.004, None, False, False),
            ("job", SHARE, "x", *numbers, 1.0, "", True, True)]  # fmt: skip
    part = made(choices=frame(names, *rows).assign(workload_title="Lab")).build("choices")
    told = ["9,000", "250", "1.50", "–", "1,200"]
    assert plain(part) == [["Lab", "Box", *told, "50 %", ""], ["Lab", "Rent", *told, "", "no"],
                           ["Lab", "Spot", *told, "under 1 %", ""]]  # fmt: skip
    assert part.classes == ["good", "", "interruptible"]


def test_who_is_in_time():
    """A deadline of a job is the study's, one of a class the workload's."""
    names = "workload class within_hours cheapest hours usd p_cheapest p_in_time p_result_in_time"
    numbers = (12.0, 38.0, NAN, 0.5, 0.25)
    rows = [("job", None, 1.0, "none can", *numbers), ("lab", "bert", 24.0, "Box", *numbers)]
    part = made(deadlines=frame(names, *rows)).build("deadlines")
    assert [row[:3] for row in plain(part)] == [["job", "1.00", "none can"], ["BERT", "24.0", "Box"]]
    assert plain(part)[0][3:] == ["12.0", "38.0", "–", "50 %", "25 %"]
    assert origins(part)[0].split(" · ")[-2] == "study.yaml or workloads.yaml"


def test_machines_for_sale_and_from_when_they_pay():
    table = frame(
        "model title assumption break_even_value planned unit p_pays", (None, "Box", "work", 850.0, 1000.0, "h", 0.8)
    )
    assert plain(made(break_even=table).build("plan_break_even")) == [["Box", "work", "850", "1,000", "h", "80 %"]]


def test_prices_that_moved_most_stand_first():
    names = "what instance purchase price_list before after change as_of_before as_of_after"
    days = ("2026-09-19 07:00", "2026-11-22")
    rows = [("price", "a", "on_demand", "l", 1.0, 1.1, 0.1, *days),
            ("new", "b", "spot", "l", NAN, 2.0, NAN, None, days[1]),
            ("price", "c", "spot", "l", 4.0, 1.0, -0.75, *days), ("rank", "a", "spot", "l", 1.0, 2.0, 5.0, *days),
            ("gone", "d", "spot", "l", 3.0, NAN, NAN, days[1], days[1])]  # fmt: skip
    assert plain(made(price_changes=frame(names, *rows)).build("price_changes")) == [
        ["c, spot", "l", "4.00", "1.00", "-75.0%", "2026-09-19", "2026-11-22"],
        ["Machine A, on demand", "l", "1.00", "1.10", "+10.0%", "2026-09-19", "2026-11-22"],
        ["b, spot", "l", "–", "2.00", "new", "", "2026-11-22"],
        ["d, spot", "l", "3.00", "–", "gone", "2026-11-22", "2026-11-22"],
    ]


def test_scenarios_say_by_what_they_differ():
    rows = [
        ("As it is", "Buy.", "Box", 250.0, 9000.0, 0.9, [], True),
        ("Cheap", "Rent.", "Cloud", 200.0, 7000.0, NAN, ["a", "b"], False),
    ]
    part = made(
        scenarios=frame("title sentence best_title usd_per_month usd p_cheaper changes same_answer", *rows)
    ).build("scenarios")
    assert plain(part) == [["As it is", "Buy.", "Box", "250", "9,000", "90 %", "nothing"],
                           ["Cheap", "Rent.", "Cloud", "200", "7,000", "", "a; b"]]  # fmt: skip
    assert part.classes == ["", "good"]


def test_the_first_page_links_to_the_scenarios_of_the_evidence():
    """The panel is a section of its own: no two sections share a name that links point to."""
    row = {
        "scenario": "",
        "kind": "buy",
        "title": "As it is",
        "sentence": "Buy.",
        "best_title": "Box",
        "p_cheaper": 0.9,
        "usd_per_month": 250.0,
        "usd": 9000.0,
        "changes": [],
        "same_answer": True,
    }
    table = pd.DataFrame([row, row | {"scenario": "cheap", "title": "Cheap"}])
    page = evidence(small_tables() | {"scenarios": table})
    sections = {part.split('"')[0]: part for part in page.split('<section id="')[1:]}
    names = re.findall(r'<section id="([^"]+)"', page)
    assert len(names) == len(set(names)) and "what-if" in names
    assert 'id="t-scenarios"' in sections["scenarios"]
