"""`sweetspot doctor` on machines that have and lack things."""

import platform
import subprocess
import sys
from dataclasses import replace
from importlib import metadata

import pytest
from project_copy import ROOT, SECRET, environment
from sweetspot import __version__
from sweetspot.commands.command_line import main
from sweetspot.commands.doctor import PROGRAMS, Machine, missing_parts, report

FULL = {
    "snakemake": "9.27.1", "tensorflow": "2.21.0", "torch": "2.6",
    "snakemake-executor-plugin-slurm": "2.8.0", "snakemake-executor-plugin-kubernetes": "0.5.1",
    "snakemake-interface-common": "1.23.0", "left-pad": "1"
}  # fmt: skip
WORKSTATION = Machine(FULL, [], PROGRAMS, ["Tesla V100"] * 2, "")


def without_package(part):
    return {"versions": {name: version for name, version in FULL.items() if part not in name}}


def without_program(part):
    return {"programs": [name for name in PROGRAMS if part not in name]}


@pytest.mark.parametrize(
    ("change", "part", "use"),
    [
        ({"missing": ["altair", "scipy"]}, "altair, scipy", "everything"),
        ({"gpus": [], "no_gpu": "the driver does not answer"}, "the driver does not answer", "measuring on a GPU"),
        (without_program("chrom"), "chromium", "make pdf"),
        (without_program("squeue"), "squeue", "measuring on Slurm"),
        (without_package("torch"), "torch", "framework: torch"),
        (without_package("tensorflow"), "tensorflow", "framework: tensorflow"),
        (without_package("kubernetes"), "executor-plugin-kubernetes", "measuring on Kubernetes"),
    ],
)
def test_each_thing_that_is_missing_is_named_with_what_needs_it(change, part, use):
    ((found_part, found_use),) = missing_parts(replace(WORKSTATION, **change)).items()
    assert part in found_part and use in found_use


def test_a_full_machine_lacks_nothing_one_browser_is_enough_and_strangers_are_not_named():
    assert missing_parts(WORKSTATION) == {}
    assert missing_parts(replace(WORKSTATION, **without_program("chromium"))) == {}
    lines = report(WORKSTATION)
    plugins = "snakemake-executor-plugin-kubernetes 0.5.1, snakemake-executor-plugin-slurm 2.8.0"
    assert f"Plugins of Snakemake: {plugins}." in lines and "GPUs: Tesla V100, Tesla V100." in lines
    assert "left-pad" not in "".join(lines)


def test_on_this_machine_it_prints_the_versions_and_no_secret(monkeypatch, capsys):
    monkeypatch.setattr("os.environ", environment(ROOT))
    main(["doctor"])
    text = capsys.readouterr().out
    assert f"sweetspot {__version__}, python {platform.python_version()}" in text
    assert f"snakemake {metadata.version('snakemake')}" in text
    assert SECRET not in text and str(ROOT) not in text and platform.node() not in text


def test_without_the_core_a_command_says_what_to_install():
    command = [sys.executable, "-S", "-m", "sweetspot", "doctor"]
    env = environment(ROOT) | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "finds no altair, click, jinja2, " in done.stderr and " -m pip install " in done.stderr
