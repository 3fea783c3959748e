"""Every way in for somebody else's project: as a module, by `-s`, from a repository, with nothing installed."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from project_copy import ROOT, as_github, captured, copy_project, edit, job_counts
from run_files import write_run
from sweetspot.cells import Cell
from sweetspot.matrix.process import NAMES
from sweetspot.matrix.schedule import Run, run_file

STUDY = "rare-2018"  # measures nothing
SENTENCE = "Hetzner EX51-SSD-GPU"  # whom rare-2018 names; what it says of it: test_outcomes.py
CATALOGUE = "workflow/Snakefile"  # where snakedeploy and the catalogue look
THREADS = ["--force-use-threads"]  # without it each table starts Snakemake anew: correct too, but a minute a study
MODULE = """
module {name}:
    snakefile: {snakefile}
    config: {config}
{more}
use rule * from {name} as {name}_*
"""


def linked(folder: Path, wanted: Callable[[str], object]) -> Path:
    """`folder` with what is installed here under the names that are `wanted`."""
    for installed in {sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")}:
        for entry in Path(installed).iterdir():
            if wanted(entry.name):
                (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """The core as it is installed here: no Sweetspot, which `python -S` with this folder alone does not know, and
    nothing that only measuring needs."""
    measuring = re.compile("sweetspot|tensorflow|keras")
    return linked(tmp_path_factory.mktemp("packages"), lambda name: not measuring.search(name))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """Sweetspot as somebody cloned it, into a path with spaces."""
    return copy_project(tmp_path_factory.mktemp("a place with spaces") / "sweet spot")


@pytest.fixture
def snakemake(packages, tmp_path):
    """Snakemake without an installed Sweetspot, in a folder; stdout and stderr come together in `.stdout`."""

    def run(folder: Path, *arguments: str, path: Path | str = packages) -> subprocess.CompletedProcess[str]:
        known = {name: os.environ[name] for name in ("PATH", "SWEETSPOT_LEASES")}
        return captured(
            [sys.executable, "-S", "-m", "snakemake", "--cores", "2", *THREADS, *arguments],
            folder,
            {**known, "PYTHONPATH": str(path), "HOME": str(tmp_path / "home")},
        )

    return run


def importer(folder: Path, snakefile: str, *studies: str) -> Path:
    """Another project: a Snakefile and a config/ of its own with these studies."""
    (folder / "config").mkdir(parents=True, exist_ok=True)
    for study in studies:
        shutil.copytree(ROOT / "config" / "studies" / study, folder / "config" / "studies" / study)
    (folder / "config" / "config.yaml").write_text("samples: [a, b]\nsweetspot:\n  study: rare-2018\n")
    (folder / "Snakefile").write_text(snakefile)
    return folder


def module(checkout: Path, config: str, name: str = "sweetspot", more: str = "", path: str = CATALOGUE) -> str:
    return MODULE.format(name=name, snakefile=repr(str(checkout / path)), config=config, more=more)


def require_page(file: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-4000:]
    assert SENTENCE in (file.parent / "summary.md").read_text()
    page = file.read_text()
    assert page.rstrip().endswith("</html>") and SENTENCE.split(",")[0] in page


def test_as_a_module_beside_rules_of_its_own(checkout, snakemake, tmp_path):
    text = 'configfile: "config/config.yaml"\n' + module(checkout, 'config["sweetspot"]')
    # A rule of the other workflow reads a table, by the rule's name.
    text += """
rule cheapest:
    default_target: True
    input:
        rules.sweetspot_all.input,
        table=rules.sweetspot_collect_throughput.output,
    output:
        "mine/rows.txt",
    shell:
        "wc -c {input.table:q} > {output:q}"
"""
    mine = importer(tmp_path / "mine", text, STUDY)
    done = snakemake(mine)
    require_page(mine / "results" / STUDY / "report" / "index.html", done)
    assert (mine / "mine" / "rows.txt").is_file()
    again = snakemake(mine, "--dry-run")
    assert "Nothing to be done" in again.stdout, again.stdout


def test_twice_in_one_workflow_with_a_prefix_and_without_which_moves_only_what_is_made(checkout, snakemake, tmp_path):
    text = module(checkout, "dict(study='rare-2018')", "providers", '    prefix: "one"\n')
    text += module(checkout, "dict(study='initialized-2017')", "building", path="Snakefile")
    text += "\nrule both:\n    default_target: True\n"
    text += "    input: rules.providers_all.input, rules.building_throughput.input\n"
    mine = importer(tmp_path / "mine", text, STUDY, "initialized-2017")
    done = snakemake(mine)
    require_page(mine / "one" / "results" / STUDY / "report" / "index.html", done)
    assert (mine / "results" / "initialized-2017" / "throughput.parquet").is_file()
    figures = mine / "one" / "results" / STUDY / "report" / "figures"
    assert {file.name for file in figures.iterdir()} > {"bill.vl.json", "throughput.vl.json"}
    assert {file.name for file in mine.iterdir()} == {".snakemake", "Snakefile", "config", "one", "results"}
    assert not (mine / "results" / STUDY).exists()
    again = snakemake(mine, "--dry-run")
    assert "Nothing to be done" in again.stdout, again.stdout


@pytest.mark.parametrize("study", ["eight-gpus-2026", "start-up-2026"])
def test_any_study_needs_only_its_folder(checkout, snakemake, tmp_path, study):
    """What it borrows from others comes with the library."""
    mine = importer(tmp_path / "mine", module(checkout, f"dict(study={study!r})"), study)
    done = snakemake(mine, "--dry-run")
    assert done.returncode == 0 and "sweetspot_render_report" in done.stdout, done.stdout[-4000:]


def test_a_study_that_measures_as_a_module(checkout, snakemake, tmp_path):
    study = "parkopedia-2018"
    matrix = "matrix=dict(model=['resnet50'], batch_size=[16])"
    text = module(checkout, f"dict(study={study!r}, measure_on=['workstation'], {matrix})")
    mine = importer(tmp_path / "mine", text, study)
    shutil.copy(checkout / "config" / "instances.yaml", mine / "config")  # which declares `workstation`
    assert job_counts(snakemake(mine, "--dry-run").stdout)["sweetspot_run_benchmark"] == 2
    for run, seconds in ((1, 2.0), (2, 2.1)):
        write_run(mine / "results" / "benchmarks", run=run, seconds=[seconds] * 5)
    done = snakemake(mine, "--rerun-triggers", "mtime", "--", "sweetspot_comparison")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "run_benchmark" not in done.stdout
    assert "workstation" in set(pd.read_parquet(mine / "results" / study / "throughput.parquet")["instance"])


def test_from_elsewhere_with_a_directory_by_either_snakefile(checkout, snakemake, tmp_path):
    mine = importer(tmp_path / "my project", "", STUDY)
    shutil.copy(ROOT / "config" / "config.yaml", mine / "config")
    shutil.copy(ROOT / "config" / "instances.yaml", mine / "config")
    (tmp_path / "elsewhere").mkdir()
    place = ["--directory", str(mine), "--config", f"study={STUDY}", "-s"]
    done = snakemake(tmp_path / "elsewhere", *place, str(checkout / CATALOGUE), "--", "costs")
    assert done.returncode == 0, done.stdout[-4000:]
    same = snakemake(tmp_path / "elsewhere", "--dry-run", *place, str(checkout / "Snakefile"), "--", "costs")
    assert "Nothing to be done" in same.stdout, same.stdout
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.fixture
def repository(tmp_path) -> str:
    """The `snakefile:` of Sweetspot at a tag of github.com, which Git finds in a folder here."""
    project = copy_project(tmp_path / "hosted" / "somebody" / "sweetspot")
    as_github(project, tmp_path / "home")
    return f"github('somebody/sweetspot', path={CATALOGUE!r}, tag='v1')"


def from_repository(snakefile: str) -> str:
    text = MODULE.format(name="sweetspot", snakefile=snakefile, config="dict(study='rare-2018')", more="")
    return text.replace(" as sweetspot_*", "")


def test_from_a_repository_with_the_library_installed(repository, checkout, packages, snakemake, tmp_path):
    installed = tmp_path / "installed"
    shutil.copytree(packages, installed, symlinks=True)
    (installed / "sweetspot").symlink_to(checkout / "workflow" / "sweetspot")
    mine = importer(tmp_path / "mine", from_repository(repository), STUDY)
    done = snakemake(mine, "--", "comparison", path=installed)
    assert done.returncode == 0, done.stdout[-4000:]
    again = snakemake(
        mine, "--dry-run", "--", "comparison", path=installed
    )  # with Snakemake's own triggers, code among them
    assert "Nothing to be done" in again.stdout, again.stdout


def test_from_a_repository_without_the_library_one_sentence_says_what_to_install(repository, snakemake, tmp_path):
    done = snakemake(importer(tmp_path / "mine", from_repository(repository), STUDY))
    assert done.returncode == 1
    assert (
        "install it from the same repository and tag: pip install git+https://github.com/OWNER/NAME@v1.0.0"
        in done.stdout
    )
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("dict(study='absent')", "study 'absent' does not exist; expected one of rare-2018"),
        ("dict(samples=['a'], study='rare-2018')", "`config:` of the module: key 'samples' is unknown"),
    ],
)
def test_a_mistake_in_what_is_handed_in_is_one_sentence(checkout, snakemake, tmp_path, config, words):
    done = snakemake(importer(tmp_path / "mine", module(checkout, config), STUDY), "--dry-run")
    assert done.returncode == 1
    assert words in done.stdout and "Traceback" not in done.stdout


def test_only_benchmarks_leave_the_machine_where_a_module_is_submitted(checkout, snakemake, tmp_path):
    """Snakemake's `localrules:` forgets the new names of a module's rules: each rule says it itself."""
    rules = "".join(file.read_text() for file in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")])
    stated = {
        name: "    localrule: True\n" in body
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n(?=    ))+)", rules, re.M)
    }
    assert [name for name, local in stated.items() if not local] == ["run_benchmark"]


def test_the_scripts_asked_of_a_repository_are_all_that_there_are():
    assert set(NAMES) == {file.stem for file in (ROOT / "workflow" / "scripts").glob("*.py")}


def test_a_run_file_below_the_prefix_is_not_made_again(checkout, snakemake, tmp_path):
    mine = importer(tmp_path / "mine", "", "parkopedia-2018")
    shutil.copy(ROOT / "config" / "instances.yaml", mine / "config")
    config = "dict(study='parkopedia-2018', measure_on=['workstation'], matrix=dict(model=['vgg16'], batch_size=[16]))"
    (mine / "Snakefile").write_text(module(checkout, config, more='    prefix: "made"\n'))
    cell = Cell("workstation", "tensorflow", "vgg16", 16, 1, "fp32", "default")
    for number, planned in ((1, 1), (2, 0)):  # two runs a cell, by default
        file = run_file(mine / "made" / "results" / "benchmarks", Run(cell, number))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        done = snakemake(mine, "--rerun-triggers", "mtime", "--dry-run", "sweetspot_throughput")
        assert done.returncode == 0, done.stdout
        assert job_counts(done.stdout).get("sweetspot_run_benchmark", 0) == planned


def test_a_checkout_that_is_edited_is_noticed(checkout, snakemake, tmp_path):
    """Tables of a module are made anew where the library changes that decides them."""
    copy = copy_project(tmp_path / "copy")
    mine = importer(tmp_path / "mine", module(copy, "dict(study='rare-2018')", more='    prefix: "x"\n'), STUDY)
    done = snakemake(mine, "sweetspot_costs")
    assert done.returncode == 0, done.stdout
    edit(copy / "workflow" / "sweetspot" / "bills" / "offers.py", '"""', '""" ')
    planned = snakemake(mine, "--dry-run", "sweetspot_costs").stdout
    assert "sweetspot_price_workloads" in planned and "sweetspot_fit_scaling" not in planned
