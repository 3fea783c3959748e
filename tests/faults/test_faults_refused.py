"""What would make another answer without a word, or an end without a sentence: each is refused, or said."""

import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from fault_projects import read_only
from project_copy import ROOT, captured, environment
from sweetspot.commands import command_line
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.packages import require_packages
from sweetspot.study.scripts import Script, load_script
from sweetspot.throughput.gather import gather_throughput

STUDY = "lab-of-five"
PLAN = """
project:
  kind: plan
  model: resnet50
  instance: rtx4090-1
  parallel: 2
  months: 1
  phases: [{name: search, jobs: 4, hours: 600}, {name: training, jobs: 1, hours: 200}]
  source: this test
"""
JOB = "jobs:\n    - name: resnet50\n"
TARGET = "targets: [{{instance: box-4, base_instance: {}, gpus: {}}}]\ncells:\n"


@pytest.fixture
def config(tmp_path):
    """A config folder with lab-of-five."""
    target = tmp_path / "config"
    shutil.copytree(ROOT / "config" / "studies" / STUDY, target / "studies" / STUDY)
    for name in ("config.yaml", "instances.yaml"):
        shutil.copy(ROOT / "config" / name, target / name)
    return target


def wrong(config):
    """The mistakes of lab-of-five there, and what is only said of it."""
    found = read_study(STUDY, config)
    return [words for _, words in found.errors], [f"{words} ({rule})" for _, rule, words in found.warnings]


RENT, WORK, SPEEDS = "prices/rent.yaml", "workloads.yaml", "throughput.csv"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (WORK, JOB, JOB.replace("resnet50", "resnet50.urgent"), "no '.', which joins it to others"),
        (WORK, "{value: 60, low: 45, high: 80}", "1.0e+9", "at most 100000"),
        (RENT, "per_hour: 3.49,", "per_hour: 3,49,", "line 13: ',49' ends a number; a decimal has a point"),
        (SPEEDS, ",rtx4090-2,", ",rtx409O-2,", "line 4: instance is 'rtx409O-2'; did you mean 'rtx4090-2'?"),
        (SPEEDS, ",fp16,", ",FP16,", "line 2: key 'precision' is 'FP16'; expected fp16"),
        ("instances.yaml", "gpus: 1", "gpus: 1, gpu_memory_gib: 24576", "'gpu_memory_gib' is 24576; expected a number"),
        ("instances.yaml", "base_instance:", "equivalent_to:", "'rtx4090-1'; expected 2 devices, found 1"),
        ("instances.yaml", "base_instance: rtx4090-1", "base_instance: box-4", "expected at most 2 devices, found 4"),
        ("instances.yaml", "base_instance: rtx4090-1", "base_instance: h100-sxm-1x", "with RTX 4090, found H100 SXM"),
        ("study.yaml", "cells:\n", TARGET.format("h100-sxm-1x", 4), "has 4 devices of box-4; expected a machine w"),
        ("study.yaml", "cells:\n", TARGET.format("rtx4090-1", 40), "has 40 devices of box-4; expected 4"),
        ("study.yaml", "cells:\n", TARGET.format("rtx409O-1", 4), "targets names 'rtx409O-1'; expected an instance"),
        ("study.yaml", "cells:\n", "titles: {resnet: Ours}\ncells:\n", "titles names 'resnet'; expected a model"),
        (SPEEDS, ",h100-sxm-8x,", ",h100-smx-8x,", "instance is 'h100-smx-8x'; did you mean 'h100-sxm-8x'?"),
    ],
)
def test_what_would_change_the_answer_without_a_word_is_a_mistake(config, file, old, new, told):
    target = config / "studies" / STUDY / file
    text = target.read_text()
    assert old in text
    target.write_text(text.replace(old, new, 1))
    mistakes, _ = wrong(config)
    assert any(told in sentence and file.split("/")[0] in sentence for sentence in mistakes), mistakes
    assert all("\n" not in sentence for sentence in mistakes)


def test_months_that_fit_neither_the_work_nor_the_purchase_are_said(config):
    """800 hours in 732; a box bought for 36 months bears 1/36, and what is there cost nothing."""
    file = config / "studies" / STUDY / "workloads.yaml"
    file.write_text(file.read_text() + PLAN)
    assert wrong(config) == (
        [],
        [
            "project: one job of each phase, one after another, takes 800 hours on rtx4090-1; its 1 months have 732 "
            "(work_past_its_months)",
            "box-4: is bought for 36 months, project lasts 1: it pays 0.028 of the purchase, as if others used the "
            "machine after it (bought_past_the_project)",
        ],
    )
    file.write_text(file.read_text().replace("months: 1\n", "months: 36\n"))
    assert wrong(config) == ([], [])


@pytest.mark.parametrize("kind", ["device", "folder", "pipe", "nothing"])
def test_what_is_no_file_is_not_read(config, tmp_path, kind):
    """A list that links to /dev/zero was read until the memory was full."""
    told = "No such file or directory; the file is needed" if kind == "nothing" else f"is a {kind}; expected a file"
    file = config / "studies" / STUDY / "prices" / "zero.yaml"
    file.symlink_to("/dev/zero" if kind == "device" else tmp_path / kind)
    if kind == "folder":
        (tmp_path / kind).mkdir()
    elif kind == "pipe":
        os.mkfifo(tmp_path / kind)
    mistakes, _ = wrong(config)
    assert f"{file}: {told}" in mistakes
    file.rename(table := config / "studies" / STUDY / "efficiency.csv")
    with pytest.raises(UserError, match=f"efficiency.csv: {told}"):
        load_invocation(config / "config.yaml", {"study": STUDY, "measure_on": []}, config)
    table.unlink()


def test_a_text_that_a_script_cannot_fill_in_names_it_and_no_empty_key(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({"command": "train {oops}", "steps": "keras"}))
    with pytest.raises(UserError, match=r"own\.yaml: expected only \{batch_size\}, .* to be filled in, found \{oops\}"):
        load_script(file)
    assert Script.model_validate({"command": "train {gpus}", "steps": "keras"})


def test_a_table_of_a_heading_alone_is_a_study_without_figures(config):
    file = config / "studies" / STUDY / "throughput.csv"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    assert wrong(config)[0] == []
    assert len(gather_throughput([], None, "2026-01-01", {}, file.parent / "nothing")) == 0


@pytest.mark.parametrize("command", ["check lab-of-five", "ask --help"])
@pytest.mark.parametrize("end", ["> /dev/full", ">&-"])
def test_a_full_or_closed_standard_output_is_one_sentence_and_python_adds_nothing(command, end):
    line = f"exec {sys.executable} -m sweetspot {command} {end}"
    done = captured(["/bin/sh", "-c", line], ROOT, environment(ROOT))
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert done.stdout.startswith("error: standard output ")


def test_a_study_on_a_read_only_disk_is_one_sentence(config):
    studies = config / "studies"
    with read_only(studies), pytest.raises(UserError) as told:
        command_line.main(["new-study", "mine", "--gpu-name", "RTX 4090", "--speed=9", "--config", str(config)])
    assert str(told.value).startswith(f"{studies / 'mine'}: cannot be written (Read-only file system); mend that and")


def test_python_without_docstrings_is_refused_before_anything_is_drawn():
    with pytest.raises(UserError, match="PYTHONOPTIMIZE=2; expected at most 1"):
        require_packages(Path("x"), is_available=lambda _: True, optimised=2)
    require_packages(Path("x"), is_available=lambda _: True, optimised=1)
