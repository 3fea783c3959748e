"""Each study has one outcome: the verdict, and summary, answer.json, index and `ask` that all say it."""

import html
import json
import re

import pytest
from study_tables import STUDIES, study_tables
from sweetspot.commands.command_line import main
from sweetspot.files import write_parquet
from sweetspot.report.answer_file import answer_json
from sweetspot.report.decided_anew import answer_of as said_by_diff
from sweetspot.report.finished import write_index
from sweetspot.report.summary import render_summary
from sweetspot.study.study import load_study

# What their own numbers say; the ratios: tests of each study, docs/decision.md.
SAID = {
    "parkopedia-2018": ("commit", "Buy. Renting", "Buy the office box with 4 GTX 1080 Ti."),
    "initialized-2017": ("commit", "Buy. Renting costs 4.2 times as much.", "Buy the home-built machine"),
    "rare-2018": ("machine", "Rent Hetzner EX51-SSD-GPU. Paperspace P6000 costs 3.2", "It pays from 100 runs a month."),
    "cheap-cron-2018": ("machine", "Rent the virtual machine started for each run", "The always-on Digital Ocean"),
    "woolf-2017": ("machine", "Rent the machine with 16 vCPUs and TensorFlow", "The machine with 32 vCPUs"),
    "eight-gpus-2026": ("commit", "Rent by the hour. Buying costs 2.5 times as much.", "Start with Nebius with 8 B300"),
    # By the rule of 2018 that these tables are made with; the study's own finds the box slower, and a tie.
    "office-box-2026": ("commit", "Buy. Renting costs 1.9 times as much.", "Buy the office box with 4 RTX 4090."),
    "lab-of-five": ("commit", "Toss-up: buy at the 16,953 USD offered.", "Buy 1 × office box with 4 RTX 4090"),
    "fine-tune-2026": ("commit", "Rent by the hour. Buying probably costs 1.", "Time one job on 7 machines first"),
    "start-up-2026": ("commit", "Keep what you have. Buying costs 4.", "Buy and sign nothing. "),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SAID))
def test_all_that_speaks_of_the_answer_says_the_verdict(name, tmp_path, capsys):
    made, study = study_tables(name, whole=True), load_study(STUDIES / name)
    tables = made.comparison | {"offers": made.offers, "throughput": made.throughput}
    row = tables["verdict"].iloc[0]
    level, sentence, do_this = SAID[name]
    assert row["is_answer"] and row["level"] == level
    assert row["sentence"].startswith(sentence) and row["do_this"].startswith(do_this)
    assert len(row["sentence"].split()) <= (20 if row["sentence"].startswith("Toss-up") else 15)
    assert len(row["do_this"].split()) <= 20
    answer = json.loads(answer_json(tables, study))
    assert [said for said in answer["sentences"] if said not in answer["claims"]][:2] == [
        row["sentence"],
        row["do_this"],
    ]
    assert answer["verdict"]["sentence"] == row["sentence"] and answer["confidence"] == row["confidence"]
    assert (answer["outcome"] == "too_close") == (row["confidence"] == "too close to call")
    both = f"{row['sentence']} {row['do_this']}"
    plain = lambda text: " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("*", "").split())  # noqa: E731
    assert both in plain(render_summary(tables, study))
    assert said_by_diff(tables["verdict"]) == both
    folder = tmp_path / name
    for table in ("options", "queue", "verdict", "choices", "sources", "deadlines"):
        write_parquet(tables[table], folder / "comparison" / f"{table}.parquet")
    code = main(["ask", name, "--brief", "--results", str(tmp_path), "--config", str(STUDIES.parent)])
    assert capsys.readouterr().out.splitlines() == [row["sentence"], row["do_this"]]
    assert code == (3 if row["confidence"] == "too close to call" else 0)
    (folder / "report").mkdir()
    (folder / "report" / "answer.json").write_text(json.dumps(answer))
    write_index(tmp_path, tmp_path / "index.html")
    assert both in plain((tmp_path / "index.html").read_text())
