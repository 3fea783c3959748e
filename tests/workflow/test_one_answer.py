"""One answer: choices, verdict, answer.json, page, summary, evidence, `ask` and a run with the price written agree."""

import html
import json
import re

import pandas as pd
import pytest
from replanned import Replanned
from study_tables import STUDIES, made_tables
from sweetspot.commands.command_line import main
from sweetspot.declared_tables import write_table
from sweetspot.report.answer_file import answer_of, to_json
from sweetspot.report.decided_anew import answer_of as said_by_diff
from sweetspot.report.decision_text import verdict_rows
from sweetspot.report.finished import write_index
from sweetspot.report.page import summary_of
from sweetspot.study.study import load_study

pytestmark = pytest.mark.slow
NAMES = sorted(folder.name for folder in STUDIES.iterdir() if (folder / "claims.yaml").is_file())
CLOSE = 0.01  # either side of a price at which the answer turns
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
    row = (
        tables["verdict"]
        .iloc[0]
        .where(lambda value: value.map(lambda one: not (pd.api.types.is_scalar(one) and pd.isna(one))), None)
    )
    choices = tables["choices"][tables["choices"]["workload"] == row["workload"]].set_index("choice")
    (best,) = choices.index[choices["is_best"].astype(bool)]
    rivals = choices.index[choices["is_rival"].astype(bool)].tolist()
    assert (best, rivals) == (row["best"], [row["rival"]] if row["rival"] else [])
    if rivals:
        assert choices.loc[rivals[0], "ratio"] == pytest.approx(row["ratio"])
    (written,) = verdict_rows({"verdict": tables["verdict"]})[:1]
    told = (written["sentence"], best, row["rival"], row["ratio"], row["buy_below_usd"], row["confidence"])
    answer = json.loads(to_json(answer_of(tables, config)))
    assert told == said(answer["verdict"])
    both = f"{written['sentence']} {written['do_this']}"
    assert both in plain(summary_of(answer_of(tables, config)))
    folder = tmp_path / name
    for table in ("options", "queue", "verdict", "choices", "sources", "deadlines"):
        write_table(tables[table], folder / "comparison" / f"{table}.parquet")
    main(["ask", name, "--json", "--results", str(tmp_path), "--config", str(STUDIES.parent)])
    assert told == said(json.loads(capsys.readouterr().out)["verdict"])
    assert said_by_diff(tables["verdict"]) == both
    (folder / "report").mkdir()
    (folder / "report" / "answer.json").write_text(json.dumps(answer))
    write_index(tmp_path, tmp_path / "index.html")
    assert both in plain((tmp_path / "index.html").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_the_price_that_decides_is_the_turning_point_and_written_into_the_list_it_turns_the_answer(
    name, study_results, tmp_path
):
    tables = made_tables(study_results(name))
    told = tables["verdict"].iloc[0]
    if pd.isna(told["buy_below_usd"]) or not 0.2 < told["buy_below_usd"] / told["box_usd"] < 5:
        pytest.skip("no price of a machine turns it")
    options = tables["options"]
    option = options[(options["title"] == told["box_title"]) & (options["purchase"] == "own")]["option"].iloc[0]
    points = tables["turning_points"].query("quantity == 'capex_usd' and subject == @option")
    points = points[(points["workload"] == told["workload"]) & points["model"].isna()]
    for value in points.loc[(points["boxes"] > 0) != (points["factor"] > 1), "turning_value"]:
        assert value == pytest.approx(told["buy_below_usd"], rel=MINUTES)
    factor = float(told["buy_below_usd"] / told["box_usd"])
    for towards, buys in ((-CLOSE, True), (CLOSE, False)):
        again = (
            Replanned(study_results(name), tmp_path)
            .at_price(option, factor * (1 + towards))
            .set_index("workload")
            .loc[told["workload"]]
        )
        cheaper = again["kind"] if again["ratio"] >= 1 else again["rival_kind"]
        assert (cheaper in ("buy", "mix")) == buys, (towards, again["sentence"])
        # The bills of single jobs are rounded to minutes; a run of the rest says the same price.
        assert again["buy_below_usd"] == pytest.approx(told["buy_below_usd"], rel=1e-3)
