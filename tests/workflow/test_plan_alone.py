"""A study with a plan and nothing else has the plan's answer everywhere: it said "no answer yet"."""

import json

import yaml
from project_copy import copy_project, run_snakemake
from sweetspot.commands.command_line import main

SAYS = (
    "Toss-up: rent until you hold a written quote below 15,170 USD (list price about 14,500, range 10,400 to 21,500)."
)


def test_the_plan_s_answer_stands_in_every_place(tmp_path, monkeypatch, capsys):
    project = copy_project(tmp_path / "project")
    study = project / "config" / "studies" / "office-box-2026"
    works = yaml.safe_load((study / "workloads.yaml").read_text())
    (study / "workloads.yaml").write_text(yaml.safe_dump({"project": works["project"]}))
    (study / "claims.yaml").unlink()
    done = run_snakemake(project, "--config", "study=office-box-2026", "measure_on=[]")
    assert done.returncode == 0, done.stdout[-6000:]
    results = project / "results" / "office-box-2026" / "report"
    assert SAYS in (results / "summary.md").read_text()
    assert SAYS in (results / "index.html").read_text()
    answer = json.loads((results / "answer.json").read_text())
    assert answer["sentences"][0] == SAYS == answer["verdict"]["sentence"]
    assert answer["verdict"]["workload"] == "project"
    assert SAYS in (results / "evidence.html").read_text()
    assert SAYS in (project / "results" / "index.html").read_text()
    monkeypatch.chdir(project)
    assert main(["ask", "office-box-2026"]) == 3  # too close to call
    assert SAYS in capsys.readouterr().out
