"""The command: what it prints of a record, what it writes into a study, and what it never tells."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml

MONTHS = 11
BUSY_SHARE = 180 * 11 / (2 * 24 * 334)  # of two devices; 334 days to the end of November


@pytest.fixture
def config(tmp_path):
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


@pytest.fixture
def record(tmp_path):
    """Eleven months of 2025: 40 jobs of two hours on one device a month, 5 of ten hours on two, in sacct's form."""
    lines = ["JobID|User|Partition|JobName|Submit|Start|End|State|AllocTRES|ElapsedRaw"]
    for month in range(1, MONTHS + 1):
        for number in range(45):
            large = number >= 40
            start = pd.Timestamp(2025, month, 1 + number % 28, 6)
            end = start + pd.Timedelta(hours=10 if large else 2)
            name, count = ("secret-merger", 2) if large else ("sweep-anna", 1)
            state = "FAILED" if number % 10 == 0 else "COMPLETED"
            times = "|".join(f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in (start - pd.Timedelta(hours=1), start, end))
            tres = f"cpu=1,gres/gpu:rtx4090={count},gres/gpu={count}"
            seconds = int((end - start).total_seconds())
            lines.append(f"{month}{number:02d}|anna|gpu|{name}|{times}|{state}|{tres}|{seconds}")
    file = tmp_path / "record.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def printed(capsys, *words):
    assert main(["import-use", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_figures_of_a_record_by_hand(record, capsys):
    use = json.loads(printed(capsys, "sacct", record, "--devices", 2, "--json", "--until", "2025-12-01"))
    large, small = use["classes"]  # 100 and 80 device-hours a month
    assert (large["name"], small["name"]) == ("2x-8h-to-3d", "1x-1h-to-8h")
    assert use["months"] == [f"2025-{month:02d}" for month in range(1, 12)]
    assert small["jobs_by_month"] == [40] * 11 and large["jobs_by_month"] == [5] * 11
    assert (small["hours"], large["hours"], large["devices"], small["hours_cv"]) == (2, 10, 2, 0)
    assert use["device_hours"] == pytest.approx(180 * 11)
    assert use["busy_share"] == pytest.approx(BUSY_SHARE)
    for forecast, jobs in ((small["forecast"], 40), (large["forecast"], 5), (use["forecast"], 45)):
        assert forecast["jobs"] == jobs and forecast["jobs_low"] < jobs < forecast["jobs_high"]


def test_a_job_id_that_comes_again_is_another_job(tmp_path, capsys):
    file = tmp_path / "record.txt"
    file.write_text(
        "JobID|Elapsed|State|AllocTRES|Start|End|Submit\n"
        "52|01:00:00|COMPLETED|gres/gpu=1,node=1|2024-02-01T08:00:00|2024-02-01T09:00:00|2024-02-01T07:59:00\n"
        "52|03:00:00|COMPLETED|gres/gpu=1,node=1|2025-10-01T10:00:00|2025-10-01T13:00:00|2025-10-01T09:00:00\n"
    )
    use = json.loads(printed(capsys, "sacct", file, "--since", "2024-01-01", "--until", "2026-01-01", "--json"))
    (row,) = use["classes"]
    assert sum(row["jobs_by_month"]) == 2 and row["hours"] == 2 and row["hours_cv"] == 0.5  # of 1 and 3 h


def test_names_of_users_and_jobs_stay_in_the_record(record, config, capsys):
    flags = ["--until", "2025-12-01", "--study", "lab-of-five", "--model", "resnet50", "--config", str(config)]
    before = {file: file.read_bytes() for file in config.rglob("*") if file.is_file()}
    text = printed(capsys, "sacct", record, *flags) + printed(capsys, "sacct", record, *flags, "--json")
    written = [file for file in config.rglob("*") if file.is_file() and file.read_bytes() != before.get(file)]
    assert [file.name for file in written] == ["workloads.yaml"]
    for secret in ("anna", "secret", "sweep", str(record)):
        assert secret not in text + written[0].read_text()


def test_into_a_study_that_has_the_class(config, tmp_path, capsys):
    """`resnet50` keeps its samples, `wide` is new: ten hours on two devices are twenty on a machine of one."""
    file = config / "studies" / "lab-of-five" / "workloads.yaml"
    old, lines = load_yaml(file)["lab"], file.read_text().splitlines()
    rows = ["class,start,end,devices"]
    for month in range(1, MONTHS + 1):
        for number in range(45):
            name, hours, devices = ("wide", 10, 2) if number >= 40 else ("resnet50", 2, 1)
            start = pd.Timestamp(2025, month, 1 + number % 28, 6)
            rows.append(f"{name},{start},{start + pd.Timedelta(hours=hours)},{devices}")
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n")
    flags = ["--until", "2025-12-01", "--devices", "2", "--study", "lab-of-five", "--model", "bert_large", "--config",
             str(config)]  # fmt: skip
    difference = printed(capsys, "jobs", tmp_path / "jobs.csv", *flags, "--dry-run")
    assert file.read_text().splitlines() == lines and "+      basis: measured" in difference
    printed(capsys, "jobs", tmp_path / "jobs.csv", *flags)
    made, work = load_yaml(file)["lab"], load_monthly(file)["lab"]
    first, second, third = made["jobs"]
    assert second == old["jobs"][1] and {key: made[key] for key in ("months", "have", "source")} == {
        key: old[key] for key in ("months", "have", "source")
    }
    assert first["per_month"]["value"] == 40 and first["basis"] == "measured" and first["hours_cv"] == 0
    assert first["samples"] == old["jobs"][0]["samples"] and old["jobs"][0]["source"] in first["source"]
    assert first["period"] == "2025-01 to 2025-11" and first["within_hours"] == 24
    assert third["hours"] == 20 and third["instance"] == "rtx4090-1" and third["devices_per_job"] == 2
    assert third["model"] == "bert_large" and 0 <= made["months_alike"] <= 1
    assert not read_study("lab-of-five", config).errors
    again = file.read_text()
    assert [line for line in lines if line not in again and "per_month" not in line and "source" not in line] == []
    printed(capsys, "jobs", tmp_path / "jobs.csv", *flags)
    assert file.read_text() == again  # a second import of the same record changes nothing
    assert work.measured is not None and work.measured.busy_share == pytest.approx(BUSY_SHARE, rel=1e-3)
    low, high = work.measured.jobs_per_month.ends
    assert low < work.measured.jobs_per_month.value < high and round(work.measured.jobs_per_month.value) == 45


def test_clear_growth_is_written_and_goes_with_a_record_that_has_none(config, tmp_path, capsys):
    file = config / "studies" / "lab-of-five" / "workloads.yaml"
    jobs = []
    for growth in (1.15, 1.0):
        lines = ["class,start,end,devices,device"]
        for month in range(12):
            for number in range(round(30 * growth**month)):
                start = pd.Timestamp(2025, month + 1, 1) + pd.Timedelta(minutes=5 * number)
                lines.append(f"resnet50,{start},{start + pd.Timedelta(hours=1)},1,RTX 4090")
        (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n")
        flags = ["--until", "2026-01-01", "--study", "lab-of-five", "--config", config]
        printed(capsys, "jobs", tmp_path / "jobs.csv", *flags)
        jobs.append(load_monthly(file)["lab"].jobs[0])
    rising, level = jobs
    assert rising.growth_per_month.ends[0] < 0.15 < rising.growth_per_month.ends[1]
    assert rising.growth_per_month.value == pytest.approx(0.15, abs=0.03)
    assert rising.per_month.value == pytest.approx(30 * 1.15**12, rel=0.1)  # of the first month to come
    assert level.growth_per_month.value == 0 and level.per_month.value == 30


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--study", "lab-of-fve"], "study 'lab-of-fve' does not exist"),
        (["--study", "lab-of-five"], "--model resnet50 or bert_large"),
        (["--study", "lab-of-five", "--model", "resnet5"], "--model is 'resnet5'"),
        (["--study", "lab-of-five", "--model", "resnet50", "--instance", "rtx409-1"], "did you mean 'rtx4090-1'?"),
        (["--study", "office-box-2026", "--instance", "box-8xa6000", "--model", "resnet50"], "has no work of months"),
        (["--devices", "0.1"], "--devices is 0.1"),
        (["--zone", "Berlin"], "--zone is 'Berlin'"),
        (["--since", "May"], "'--since': 'May'"),
        (["--until", "2999-01-01"], "is 2999-01-01"),
        (["--since", "2025-11-15"], "expected at least one whole month"),
    ],
)
def test_a_mistake_ends_in_one_sentence(flags, words, record, config):
    with pytest.raises(UserError) as error:
        main(["import-use", "sacct", str(record), "--until", "2025-12-01", "--config", str(config), *flags])
    assert words in str(error.value) and "\n" not in str(error.value)
