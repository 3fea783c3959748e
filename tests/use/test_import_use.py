"""The command: what it prints of a record, what it writes into a study, and what it never tells."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml

MONTHS = 11


@pytest.fixture
def config(tmp_path):
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


@pytest.fixture
def record(tmp_path):
    """A job of two hours on one device on each day of 2025 to November, in sacct's form."""
    lines = ["JobID|User|JobName|Start|End|State|AllocTRES"]
    for number, day in enumerate(pd.date_range("2025-01-01", "2025-11-30")):
        lines.append(f"{number}|anna|secret-sweep|{day:%F}T06:00:00|{day:%F}T08:00:00|COMPLETED|gres/gpu=1")
    file = tmp_path / "record.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def printed(capsys, *words):
    assert main(["import-use", *map(str, words)]) == 0
    return capsys.readouterr().out


def into_study(config, text, study="lab-of-five"):
    """Put the printed lines into the study's work of months; return its jobs by name."""
    printed_keys = yaml.safe_load("  months_alike" + text.partition("\n  months_alike")[2])
    file = config / "studies" / study / "workloads.yaml"
    content = load_yaml(file)
    (name,) = [name for name, work in content.items() if work["kind"] == "monthly"]
    content[name] |= printed_keys
    file.write_text(yaml.safe_dump(content))
    assert not read_study(study, config).errors
    return {job.name: job for job in load_monthly(file)[name].jobs}


def test_names_of_users_and_jobs_stay_in_the_record(record, config, capsys):
    flags = ["--until", "2025-12-01", "--study", "lab-of-five", "--model", "resnet50", "--instance", "rtx4090-1",
             "--config", config]  # fmt: skip
    text = printed(capsys, "sacct", record, *flags) + printed(capsys, "sacct", record, *flags, "--json")
    assert not any(secret in text for secret in ("anna", "secret", "sweep", str(record)))


def test_lines_for_a_study(config, tmp_path, capsys):
    """Ten hours on two devices are twenty on a machine of one."""
    rows = ["class,start,end,devices"]
    for month in range(1, MONTHS + 1):
        for number in range(45):
            name, hours, devices = ("wide", 10, 2) if number >= 40 else ("small", 2, 1)
            start = pd.Timestamp(2025, month, 1 + number % 28, 6)
            rows.append(f"{name},{start},{start + pd.Timedelta(hours=hours)},{devices}")
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n")
    flags = ["--until", "2025-12-01", "--devices", "2", "--study", "lab-of-five", "--model", "bert_large",
             "--instance", "rtx4090-1", "--config", config]  # fmt: skip
    jobs = into_study(config, printed(capsys, "jobs", tmp_path / "jobs.csv", *flags))
    small, wide = jobs["small"], jobs["wide"]
    assert (small.per_month.value, small.hours_cv, small.hours) == (40, 0, 2)
    assert (wide.hours, wide.instance, wide.devices_per_job, wide.model) == (20, "rtx4090-1", 2, "bert_large")
    assert wide.source == "jobs record of 2025-01 to 2025-11, sweetspot import-use"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--study", "lab-of-fve"], "study 'lab-of-fve' does not exist"),
        (["--study", "lab-of-five", "--instance", "rtx4090-1"], "expected resnet50 or bert_large"),
        (["--devices", "0.05"], "--devices is 0.05"),
        (["--zone", "Berlin"], "--zone is 'Berlin'"),
        (["--since", "2025-11-15"], "expected at least one whole month"),
    ],
)
def test_a_mistake_ends_in_one_sentence(flags, words, record, config):
    with pytest.raises(UserError) as error:
        main(["import-use", "sacct", str(record), "--until", "2025-12-01", "--config", str(config), *flags])
    assert words in str(error.value) and "\n" not in str(error.value)
