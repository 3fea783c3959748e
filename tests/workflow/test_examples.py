"""The examples, by the commands of their own READMEs, each to what it promises."""

import csv
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from notebook import run_notebook
from project_copy import ROOT, captured, copy_project, environment
from readme_blocks import shell_commands


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    project = copy_project(tmp_path_factory.mktemp("examples") / "project")
    made = shutil.ignore_patterns("results", ".snakemake", "hours.csv")
    shutil.copytree(ROOT / "examples", project / "examples", ignore=made)
    return project


def typed(project: Path, example: str, command: str) -> str:
    """What a command of the README says, typed in the example's folder with the environment active."""
    env = environment(project)
    done = captured(
        ["bash", "-ec", command],
        project / "examples" / example,
        {**env, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
    return done.stdout


def test_a_universitys_own_prices_and_partition(project):
    folder = project / "examples" / "university"
    prices = folder / "config" / "studies" / "university" / "prices" / "cluster.yaml"
    shipped = prices.read_text()
    prices.unlink()
    imported, ran, planned = shell_commands(folder / "README.md")
    typed(project, "university", imported)
    assert prices.read_text() == shipped
    typed(project, "university", ran)
    assert (folder / "results" / "university" / "report" / "index.html").is_file()
    summary = (folder / "results" / "university" / "report" / "summary.md").read_text()
    # 115,305,030 images / 1582 a second = 20.25 h x 0.516 EUR x 1.09 = 11.39 USD; RTX 4090: / 1301 = 24.62 h x 0.74 =
    # 18.22; 18.22 / 11.39 = 1.60. The A100 rented: 20.25 h x 1.59 = 32.19.
    assert "**Rent the cluster node with 1 A100.** RunPod with 1 RTX 4090 costs 1.6 times as much" in summary
    costs = [float(usd) for usd in re.findall(r"^\| [^|]+ \| ([\d.]+) \(", summary, re.M)]
    assert costs == pytest.approx([11.39, 18.22, 32.19], rel=0.005)
    said = typed(project, "university", planned)
    jobs = re.findall(r"rule run_benchmark:.*?resources: (.*?)\n", said, re.S)
    assert len(jobs) == 2  # two runs of one cell
    for resources in jobs:
        assert "slurm_partition=gpu-a100" in resources and "runtime=30" in resources and "mem_mb=64000" in resources


def test_speeds_for_another_workflow(project):
    folder = project / "examples" / "throughput"
    for command in shell_commands(folder / "README.md"):
        typed(project, "throughput", command)
    rows = list(csv.DictReader((folder / "hours.csv").read_text().splitlines()))
    # ResNet-50 as above; SQuAD: 175,198 / 443 / 3600 = 0.11 h and 175,198 / 297 / 3600 = 0.16 h
    assert {(row["model"], row["instance"]): float(row["hours"]) for row in rows} == {
        ("bert_base", "our-1xa100"): 0.11,
        ("bert_base", "desk-1x4090"): 0.16,
        ("resnet50", "our-1xa100"): 20.25,
        ("resnet50", "desk-1x4090"): 24.62,
    }
    assert {row["basis"] for row in rows} == {"published"} and all("lambdal" in row["source"] for row in rows)
    assert not list((folder / "results").rglob("*.html")), "only the table was asked for"


def test_the_notebook_draws_the_options_of_the_study(project, study_results, monkeypatch):
    """Its code, by a small runner: no Jupyter is in the environment, and no kernel was started."""
    assert "report STUDY=rare-2018" in shell_commands(project / "examples" / "notebook" / "README.md")[0]
    (project / "results").symlink_to(study_results("rare-2018").parent)
    monkeypatch.chdir(project / "examples" / "notebook")
    shown, names = run_notebook(Path("cost_and_time.ipynb"))
    drawn = json.loads(shown[-1].to_json())
    (rows,) = drawn["datasets"].values()
    assert len(drawn["layer"]) == 2 and len(rows) == 11  # machines of the source's table 1
    cheapest = min(rows, key=lambda row: row["usd"])
    assert cheapest["title"] == "Hetzner EX51-SSD-GPU" and round(cheapest["usd"], 2) == 0.5  # the source's 0.5 USD
    assert names["STUDY"] == "rare-2018"
    shipped = json.loads((ROOT / "examples" / "notebook" / "cost_and_time.ipynb").read_text())
    assert all(not cell["outputs"] for cell in shipped["cells"] if cell["cell_type"] == "code")


def test_what_a_labs_own_record_says(project):
    told, planned = shell_commands(project / "examples" / "own-use" / "README.md")
    rows = list(csv.DictReader((project / "examples/own-use/record.txt").read_text().splitlines(), delimiter="|"))
    said = typed(project, "own-use", told)
    ran = [row for row in rows if row["Start"] != "None" and row["Start"] < "2025-12"]
    hours = sum(int(row["ElapsedRaw"]) for row in ran if row["End"] < "2025-12") / 3600
    assert f"2025-01 to 2025-11: {len(ran)} jobs, {hours:,.0f} device-hours" in said
    longer = sum(8 * 3600 <= int(row["ElapsedRaw"]) < 72 * 3600 for row in ran)
    assert f"{'1x-8h-to-3d':<20} {longer / 11:.3g} (" in said
    assert "source: sacct record" in typed(project, "own-use", planned)
