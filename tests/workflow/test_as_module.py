"""Every way in for somebody else's project: as a module, by `-s`, from a repository, with nothing installed."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from bare_packages import linked, locked, snakemake_with
from project_copy import ROOT, as_github, copy_project, edit, job_counts
from run_files import write_run
from sweetspot.matrix.process import NAMES

STUDY = "rare-2018"  # measures nothing
CATALOGUE = "workflow/Snakefile"  # where snakedeploy and the catalogue look
THREADS = "--force-use-threads"  # without it each table starts Snakemake anew: correct too, but a minute a study
MODULE = """
module {name}:
    snakefile: {snakefile}
    config: {config}
{more}
use rule * from {name} as {name}_*
"""
OWN_RULE = """
rule cheapest:
    default_target: True
    input:
        rules.providers_all.input,
        rules.building_throughput.input,
        table=rules.providers_collect_throughput.output,
    output:
        "mine/rows.txt",
    shell:
        "wc -c {input.table:q} > {output:q}"
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """The core as it is installed here, without Sweetspot."""
    return linked(locked("core"), tmp_path_factory.mktemp("packages") / "core")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """Sweetspot as somebody cloned it, into a path with spaces."""
    return copy_project(tmp_path_factory.mktemp("a place with spaces") / "sweet spot")


@pytest.fixture
def snakemake(packages) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Snakemake without an installed Sweetspot, in a folder; stdout and stderr come together in `.stdout`."""

    def run(folder: Path, *arguments: str, home: Path = packages) -> subprocess.CompletedProcess[str]:
        leases = {"SWEETSPOT_LEASES": os.environ["SWEETSPOT_LEASES"]}
        return snakemake_with(packages, folder, THREADS, *arguments, HOME=str(home), **leases)

    return run


def importer(folder: Path, snakefile: str, *studies: str) -> Path:
    """Another project: a Snakefile and a config/ of its own with these studies."""
    (folder / "config").mkdir(parents=True)
    for study in studies:
        shutil.copytree(ROOT / "config" / "studies" / study, folder / "config" / "studies" / study)
    (folder / "config" / "config.yaml").write_text("samples: [a, b]\n")
    (folder / "Snakefile").write_text(snakefile)
    return folder


def module(checkout: Path, config: str, name: str = "sweetspot", more: str = "", path: str = CATALOGUE) -> str:
    return MODULE.format(name=name, snakefile=repr(str(checkout / path)), config=config, more=more)


def test_twice_in_one_workflow_beside_a_rule_of_its_own_and_the_checkout_is_watched(snakemake, tmp_path):
    """With a prefix, which moves only what is made, and without; the other's rule reads a table by the rule's name."""
    checkout = copy_project(tmp_path / "a place" / "sweet spot")
    text = module(checkout, "dict(study='rare-2018')", "providers", '    prefix: "one"\n')
    text += module(checkout, "dict(study='initialized-2017')", "building", path="Snakefile")
    mine = importer(tmp_path / "mine", text + OWN_RULE, STUDY, "initialized-2017")
    done = snakemake(mine)
    assert done.returncode == 0, done.stdout[-4000:]
    report = mine / "one" / "results" / STUDY / "report"
    assert (report / "index.html").read_text().rstrip().endswith("</html>")
    assert {file.name for file in (report / "figures").iterdir()} > {"bill.vl.json", "throughput.vl.json"}
    assert (mine / "results" / "initialized-2017" / "throughput.parquet").is_file()
    assert {file.name for file in mine.iterdir()} == {".snakemake", "Snakefile", "config", "mine", "one", "results"}
    assert not (mine / "results" / STUDY).exists()
    again = snakemake(mine, "--dry-run")
    assert "Nothing to be done" in again.stdout, again.stdout
    edit(checkout / "workflow" / "sweetspot" / "bills" / "offers.py", '"""', '""" ')
    planned = snakemake(mine, "--dry-run").stdout
    assert "providers_price_workloads" in planned and "providers_fit_scaling" not in planned


def test_a_study_that_borrows_figures_needs_only_its_folder(checkout, snakemake, tmp_path):
    """What it borrows from others comes with the library."""
    mine = importer(tmp_path / "mine", module(checkout, "dict(study='eight-gpus-2026')"), "eight-gpus-2026")
    done = snakemake(mine, "--dry-run")
    assert done.returncode == 0 and "sweetspot_render_report" in done.stdout, done.stdout[-4000:]


def test_runs_below_the_prefix_are_not_made_again(checkout, snakemake, tmp_path):
    study = "parkopedia-2018"
    config = f"dict(study={study!r}, measure_on=['workstation'], matrix=dict(model=['resnet50'], batch_size=[16]))"
    mine = importer(tmp_path / "mine", module(checkout, config, more='    prefix: "made"\n'), study)
    shutil.copy(ROOT / "config" / "instances.yaml", mine / "config")  # which declares `workstation`
    target = ("--rerun-triggers", "mtime", "--", "sweetspot_throughput")
    for run in (1, 2):  # two runs a cell, by default
        planned = snakemake(mine, "--dry-run", *target)
        assert job_counts(planned.stdout)["sweetspot_run_benchmark"] == 3 - run, planned.stdout
        write_run(mine / "made" / "results" / "benchmarks", run=run, seconds=[2.0 + run / 10] * 5)
    done = snakemake(mine, *target)
    assert done.returncode == 0 and "run_benchmark" not in done.stdout, done.stdout[-4000:]
    assert "workstation" in set(pd.read_parquet(mine / "made/results" / study / "throughput.parquet")["instance"])


def test_from_elsewhere_with_a_directory_by_either_snakefile(checkout, snakemake, tmp_path):
    mine = importer(tmp_path / "my project", "", STUDY)
    for name in ("config.yaml", "instances.yaml"):
        shutil.copy(ROOT / "config" / name, mine / "config")
    (tmp_path / "elsewhere").mkdir()
    place = ["--directory", str(mine), "--config", f"study={STUDY}", "-s"]
    done = snakemake(tmp_path / "elsewhere", *place, str(checkout / CATALOGUE), "--", "throughput")
    assert done.returncode == 0, done.stdout[-4000:]
    same = snakemake(tmp_path / "elsewhere", "--dry-run", *place, str(checkout / "Snakefile"), "--", "throughput")
    assert "Nothing to be done" in same.stdout, same.stdout
    assert not list((tmp_path / "elsewhere").iterdir())


def test_from_a_repository_without_the_library_one_sentence_says_what_to_install(snakemake, tmp_path):
    """With the library: tests/workflow/test_catalogue.py."""
    as_github(copy_project(tmp_path / "hosted" / "somebody" / "sweetspot"), home := tmp_path / "home")
    snakefile = f"github('somebody/sweetspot', path={CATALOGUE!r}, tag='v1')"
    text = MODULE.format(name="sweetspot", snakefile=snakefile, config="dict(study='rare-2018')", more="")
    done = snakemake(importer(tmp_path / "mine", text, STUDY), home=home)
    assert done.returncode == 1
    assert "same repository and tag: pip install git+https://github.com/OWNER/NAME@v1.0.0" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_mistake_in_what_is_handed_in_is_one_sentence(checkout, snakemake, tmp_path):
    text = module(checkout, "dict(samples=['a'], study='rare-2018')")
    done = snakemake(importer(tmp_path / "mine", text, STUDY), "--dry-run")
    assert done.returncode == 1
    assert "`config:` of the module: key 'samples' is unknown" in done.stdout and "Traceback" not in done.stdout


def test_only_benchmarks_leave_the_machine_where_a_module_is_submitted():
    """Snakemake's `localrules:` forgets the new names of a module's rules: each rule says it itself."""
    rules = "".join(file.read_text() for file in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")])
    stated = {
        name: "    localrule: True\n" in body
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n(?=    ))+)", rules, re.M)
    }
    assert [name for name, local in stated.items() if not local] == ["run_benchmark"]


def test_the_scripts_asked_of_a_repository_are_all_that_there_are():
    assert set(NAMES) == {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")}
