"""One answer: choices, verdict, answer.json, page, summary, `ask`, `diff` and the list of all pages agree."""

import html
import json
import re

import pandas as pd
import pytest
from study_tables import STUDIES, made_tables
from sweetspot.commands.command_line import main
from sweetspot.declared_tables import write_table
from sweetspot.report.answer_file import answer_of, to_json
from sweetspot.report.decided_anew import answer_of as said_by_diff
from sweetspot.report.decision_text import verdict_rows
from sweetspot.report.finished import write_index
from sweetspot.report.page import summary_of
from sweetspot.study.study import load_study

NAMES = sorted(folder.name for folder in STUDIES.iterdir() if (folder / "claims.yaml").is_file())
MINUTES = 1e-4  # what the bills of a job are rounded to


def plain(text: str) -> str:
    """The words of a page or of a text."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("*", "").split())


def said(verdict: dict) -> tuple:
    """What answer.json, and `ask`, say of a verdict."""
    rival = verdict["rival"] and verdict["rival"]["choice"]
    ratio = pytest.approx(verdict["ratio"]["value"], nan_ok=True)
    threshold = pytest.approx(verdict["buy_below_usd"], nan_ok=True)
    return verdict["sentence"], verdict["best"]["choice"], rival, ratio, threshold, verdict["confidence"]


@pytest.mark.parametrize("name", NAMES)
def test_all_that_speaks_of_it_names_one_choice_runner_up_ratio_and_threshold(name, study_results, tmp_path, capsys):
    tables, config = made_tables(study_results(name)), load_study(STUDIES / name)
    row = tables["verdict"].iloc[0]
    row = {column: None if pd.api.types.is_scalar(value) and pd.isna(value) else value for column, value in row.items()}
    choices = tables["choices"][tables["choices"]["workload"] == row["workload"]].set_index("choice")
    (best,) = choices.index[choices["is_best"].astype(bool)]
    assert best == row["best"]
    if row["rival"]:
        assert choices.loc[row["rival"], "ratio"] == pytest.approx(row["ratio"])
    (written,) = verdict_rows({"verdict": tables["verdict"]})[:1]
    told = (written["sentence"], best, row["rival"], row["ratio"], row["buy_below_usd"], row["confidence"])
    answer = json.loads(to_json(answer_of(tables, config)))
    assert told == said(answer["verdict"])
    both = f"{written['sentence']} {written['do_this']}"
    assert both in plain(summary_of(answer_of(tables, config)))
    folder = tmp_path / name
    for table in ("options", "queue", "verdict", "choices", "sources", "deadlines", "warnings"):
        write_table(tables[table], folder / "comparison" / f"{table}.parquet")
    main(["ask", name, "--json", "--results", str(tmp_path), "--config", str(STUDIES.parent)])
    assert told == said(json.loads(capsys.readouterr().out)["verdict"])
    assert said_by_diff(tables["verdict"]) == both
    (folder / "report").mkdir()
    (folder / "report" / "answer.json").write_text(json.dumps(answer))
    write_index(tmp_path, tmp_path / "index.html")
    assert both in plain((tmp_path / "index.html").read_text())

    # The price that decides is the turning point; test_studies_plan.py writes such points into the files.
    if row["buy_below_usd"] and 0.2 < row["buy_below_usd"] / row["box_usd"] < 5:
        options, points = tables["options"], tables["turning_points"]
        option = options[(options["title"] == row["box_title"]) & (options["purchase"] == "own")]["option"].iloc[0]
        points = points[(points["workload"] == row["workload"]) & points["model"].isna()]
        points = points[(points["quantity"] == "capex_usd") & (points["subject"] == option)]
        kinds = choices.set_index("title")["kind"].to_dict()
        for point in points.to_dict("records"):
            kind = kinds.get(point["to_title"])
            if kind and (kind in ("buy", "mix")) != (point["factor"] > 1):  # where it is dearer to nothing bought
                assert point["turning_value"] == pytest.approx(row["buy_below_usd"], rel=MINUTES)


def test_a_project_of_phases_is_asked_with_more_jobs_than_its_study_has(study_results, capsys):
    said = []
    for more in ([], ["--jobs", "1.5"]):
        places = ["--results", str(study_results("parkopedia-2018").parent), "--config", str(STUDIES.parent)]
        main(["ask", "parkopedia-2018", "--json", *more, *places])
        said.append(json.loads(capsys.readouterr().out)["verdict"])
    assert {verdict["workload"] for verdict in said} == {"project"}
    assert said[1]["usd"] > said[0]["usd"]
