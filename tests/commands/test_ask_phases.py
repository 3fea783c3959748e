"""`sweetspot ask` of a plan of phases at another use or with more jobs: that of a study that says so."""

import json

import pandas as pd
import pytest
import yaml
from decision_tables import study
from phase_plans import JOB, WORK, cells_of, compared, given, hourly, own
from price_lists import list_tables, machines, price_list
from sweetspot.bills.costs import EXTRAPOLATION_COLUMNS, THROUGHPUT_COLUMNS
from sweetspot.bills.offers import FEE_COLUMNS, OFFER_COLUMNS
from sweetspot.bills.schemas import table_of, to_arrow_table
from sweetspot.commands.command_line import main
from sweetspot.commands.reevaluate import RequestedUse, StudyInputs, reevaluate
from sweetspot.declared_tables import write_table
from sweetspot.draws import DRAWS
from sweetspot.files import write_arrow
from sweetspot.study.settings import Settings

pytestmark = pytest.mark.slow  # compares whole studies
RANGED = {"value": 6.0, "low": 4.0, "high": 9.0}
TOLD = ("kind", "usd", "usd_per_month")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A box and a rented machine, and the results of the plan WORK."""
    root, rows = tmp_path_factory.mktemp("project"), (own(), hourly(RANGED))
    prices = price_list(*rows)
    known = machines(prices)
    folder, results = root / "config" / "studies" / "paper", root / "results" / "paper"
    folder.mkdir(parents=True)
    said = study(reference="box").model_dump(mode="json", exclude_unset=True) | {"name": "paper"}
    facts = {name: one.model_dump(mode="json", exclude_unset=True) for name, one in known.items()}
    works = {"work": WORK | {"source": "x"}, "job": JOB | {"source": "x"}}
    for name, content in (("study", said), ("instances", facts), ("workloads", works)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    for name, table in compared(*rows, draws=DRAWS).items():
        write_table(table, results / "comparison" / f"{name}.parquet")
    offers, fees = list_tables(prices, known)
    cells = table_of([one | {"logical": False} for one in cells_of(known)], THROUGHPUT_COLUMNS)
    extrapolated = table_of([], EXTRAPOLATION_COLUMNS)
    for name, columns, kinds in (
        ("offers/list", offers, OFFER_COLUMNS), ("fees/list", fees, FEE_COLUMNS),
        ("throughput", cells, THROUGHPUT_COLUMNS), ("extrapolation", extrapolated, EXTRAPOLATION_COLUMNS)
    ):  # fmt: skip
        write_arrow(to_arrow_table(columns, kinds), results / f"{name}.parquet")
    return root


def asked(project, capsys, *arguments):
    places = ["--results", str(project / "results"), "--config", str(project / "config")]
    code = main(["ask", "paper", *arguments, "--json", *places])
    return code, json.loads(capsys.readouterr().out)


def same(content, verdict):
    row = verdict.iloc[0]
    assert {name: content["verdict"][name] for name in TOLD} == pytest.approx({name: row[name] for name in TOLD})


@pytest.mark.parametrize(
    ("arguments", "box", "jobs"), [(["--jobs", "1.5"], {}, 5400), (["--days", "5"], {"days_per_month": 5.0}, 3600)]
)
def test_more_jobs_or_fewer_days_are_those_of_a_study_that_says_so(project, capsys, arguments, box, jobs):
    """5,400 jobs of two hours, or five days a month, take two boxes."""
    code, content = asked(project, capsys, *arguments)
    work = {"phases": [WORK["phases"][0] | {"jobs": jobs}]}
    own_table = compared(own(**box), hourly(RANGED), work=work, draws=DRAWS)["verdict"]
    assert code in (0, 3)
    same(content, own_table)
    page = pd.read_parquet(project / "results/paper/comparison/verdict.parquet").iloc[0]
    assert content["verdict"]["usd"] != pytest.approx(page["usd"])


@pytest.mark.parametrize(("factor", "hours"), [(1 / 3600, 2.0), (1.00001 / 3600, 4.0)])
def test_jobs_are_whole_ones(factor, hours):
    """Of 3,600 jobs of two hours: one job; a little more than one is two."""
    found, (facts, offers) = compared(own(), hourly(RANGED)), given(own(), hourly(RANGED))
    known = StudyInputs(found["options"], Settings.of(study(reference="box")), offers, phases=facts)
    choices = reevaluate(known, RequestedUse(jobs_factor=factor), 400)["choices"]
    plan = choices[choices["cost"] == "rounds"].set_index("choice")
    assert plan.loc["rented", "hours"] == pytest.approx(hours)
