"""Faults of what a person writes: a study with nothing to show, a history out of order, every file damaged."""

import copy
import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from fault_projects import measured
from project_copy import ROOT, edit, run_snakemake
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.claims import load_claims
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import load_price_list
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_workloads
from sweetspot.throughput.published import read_efficiency, read_published
from sweetspot.warnings import as_text

STUDY = Path("config/studies/parkopedia-2018")
BARE = {
    "study.yaml": """
name: bare
title: One machine and nothing published
question: What does this machine deliver?
as_of: 2026-01-01
sources: [{id: own, title: Ourselves, date: "2026"}]
cells: {model: [tiny_cnn], batch_size: [16], precision: fp32, headline_batch_size: 16}
""",
    "instances.yaml": "rented: {title: A rented machine, provider: cloud, gpu: Tesla K80, gpus: 1}\n",
    "workloads.yaml": "job: {kind: training, model: tiny_cnn, samples: 1000000, source: this test}\n",
    "prices/list.yaml": """
as_of: 2026-01-01
source: this test
offers:
  - {instance: workstation, per_hour: 1.0}
  - {instance: rented, per_hour: 2.0}
""",
}


@pytest.fixture
def bare(project):
    """A study without published figures, in a project whose one cell is measured."""
    for name, text in BARE.items():
        file = project / "config" / "studies" / "bare" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    edit(project / "config" / "config.yaml", "study: parkopedia-2018", "study: bare")
    return project


def page_of(project, *arguments):
    """Run the study `bare` to its pages: the page of evidence, and the table of its measured cells."""
    done = run_snakemake(project, *arguments)
    assert done.returncode == 0, done.stdout[-4000:]
    results = project / "results" / "bare"
    return (results / "report" / "evidence.html").read_text(), pd.read_parquet(results / "throughput.parquet")


def test_a_study_with_no_cell_then_only_failed_ones_then_one_ends_in_its_page_each_time(bare):
    before, config = measured(bare), bare / "config" / "config.yaml"
    page, table = page_of(bare, "--config", "measure_on=[]")
    assert len(table) == 0 and "No answer yet" in page

    # TensorFlow alone takes longer than a second, and torch is not installed, but in an environment for it.
    edit(config, "time_limit_s: 1800", "time_limit_s: 1")
    edit(config, "batch_size: [16] ", "batch_size: [8] ")
    edit(config, "framework: [tensorflow]", "framework: [tensorflow, torch]")
    edit(bare / "config" / "studies" / "bare" / "study.yaml", "[16], precision", "[8], precision")
    edit(bare / "config" / "studies" / "bare" / "study.yaml", "headline_batch_size: 16", "headline_batch_size: 8")
    page, table = page_of(bare)
    table = table.set_index("framework")
    assert table[["status", "runs"]].to_numpy().tolist() == [["failed", 0]] * 2
    assert "time limit of 1 s" in page and "No answer yet" in page
    if importlib.util.find_spec("torch") is None:
        told = as_text(table.loc["torch", "warnings"])
        assert "install it with: pip install 'sweetspot[torch]'" in told and "remove results/benchmarks" in told
        assert "sweetspot[torch]" in page
    assert before.items() <= measured(bare).items()

    for name, text in BARE.items():
        (bare / "config" / "studies" / "bare" / name).write_text(text)
    edit(config, "batch_size: [8] ", "batch_size: [16] ")
    edit(config, "framework: [tensorflow, torch]", "framework: [tensorflow]")
    page, table = page_of(bare)
    assert table["batch_size"].tolist() == [16] and table["images_per_s"].gt(0).all()
    assert "workstation" in page
    assert before.items() <= measured(bare).items()


def plan_of(file):
    return load_invocation(file, {}, ROOT / "config")


def study_in(file):
    return load_study(file.parent)


# file, how it is read, where in it a number and a name stand, and whether it may be missing
FILES = [
    (Path("config/config.yaml"), plan_of, ("runs",), ("study",), False),
    (Path("config/instances.yaml"), load_instances, ("workstation", "gpus"), ("workstation", "provider"), False),
    (STUDY / "study.yaml", study_in, ("month_days",), ("name",), False),
    (STUDY / "workloads.yaml", load_workloads, ("search", "hours"), ("search", "model"), False),
    (STUDY / "prices" / "gce.yaml", load_price_list, ("offers", 4, "per_hour"), ("offers", 4, "instance"), False),
    (STUDY / "claims.yaml", load_claims, (0, "tolerance"), (0, "id"), True),
]
EACH = pytest.mark.parametrize(("file", "read", "number", "name", "optional"), FILES, ids=lambda value: (
    str(value).removeprefix("config/") if isinstance(value, Path) else ""))  # fmt: skip
NAMES = ["../x", "<script>alert(1)</script>", "p2\nxlarge", "x" * 300, "р2.xlarge", "", ["x"]]


def refused(read, file):
    with pytest.raises(UserError) as caught:
        read(file)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def put(tmp_path, file, text):
    """The file with that text, in a folder of its usual name."""
    target = tmp_path / file.parent.name / file.name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(text)
    return target


@EACH
def test_each_file_missing_empty_or_not_yaml_is_named(tmp_path, file, read, number, name, optional):
    target = put(tmp_path, file, b"")
    for text in (b"", b"# only a remark\n", b"a: [1", b"\xff\xfe\x00", b"just words", b"a: &x [1]\nb: *x\n", b"7"):
        target.write_bytes(text)
        assert str(target) in refused(read, target), text
    target.unlink()
    if optional:
        read(target)
    else:
        assert str(target) in refused(read, target)


@EACH
def test_each_file_with_a_bad_number_or_a_hostile_name_is_named_by_file_and_key(
    tmp_path, file, read, number, name, optional
):
    whole = yaml.safe_load((ROOT / file).read_text())
    for place, values in ((number, [float("nan"), -(10**40), "many"]), (name, NAMES)):
        *way, key = place
        for value in values:
            damaged = copy.deepcopy(whole)
            at = damaged
            for step in way:
                at = at[step]
            at[key] = value
            target = put(tmp_path, file, yaml.safe_dump(damaged, allow_unicode=True).encode())
            message = refused(read, target)
            assert str(target) in message, value
            assert str(key) in message, value


@EACH
def test_each_file_with_an_unknown_or_repeated_key_is_named(tmp_path, file, read, number, name, optional):
    text = (ROOT / file).read_text()
    looks_alike = f"{'- ' if file.stem == 'claims' else ''}tіtle: x\n".encode()  # a Cyrillic i
    assert str(put(tmp_path, file, b"")) in refused(read, put(tmp_path, file, text.encode() + looks_alike))
    first = next(line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    if ":" in first and not first.startswith("- "):
        twice = put(tmp_path, file, f"{first.partition(':')[0]}: 1\n{text}".encode())
        assert "stands twice" in refused(read, twice)


@pytest.mark.parametrize(("read", "file"), [(read_published, "throughput.csv"), (read_efficiency, "efficiency.csv")])
def test_each_table_empty_binary_or_with_a_look_alike_heading_is_named(tmp_path, read, file):
    whole = (ROOT / STUDY / file).read_text()
    target = tmp_path / file
    for text in ("", "\0\1\2", "words\n", whole.replace("model", "mоdel", 1), whole.replace("fp16", "fp1\n6", 1)):
        target.write_text(text)
        assert str(target) in refused(read, target), text[:40]
    target.write_bytes(b"\xff\xfe" + whole.encode("utf-16-le"))
    assert str(target) in refused(read, target)


def test_every_test_that_the_manual_names_exists():
    manual = (ROOT / "docs" / "evidence" / "reliability.md").read_text()
    named = set(re.findall(r"`(\w+/test_\w+\.py)`", manual))
    assert len(named) >= 20
    assert [file for file in named if not (ROOT / "tests" / file).is_file()] == []
