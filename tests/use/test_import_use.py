"""The command: what it prints of a record, what it writes into a study, and what it never tells."""

import csv
import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.report.page import use_in_words
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml
from sweetspot.use.month_counts import Range
from sweetspot.use.reference import on_reference

REAL = ROOT / "tests" / "data" / "use" / "sacct_22_05_berlin.txt"
MONTHS = 11


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


def told(capsys, *words):
    assert main(["import-use", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_figures_of_a_record_by_hand(record, capsys):
    found = json.loads(told(capsys, "sacct", record, "--devices", 2, "--json", "--class", "large: devices=2",
                            "--class", "resnet50: name=sweep-*", "--until", "2025-12-01"))  # fmt: skip
    small, large = found["classes"]  # 80 and 100 device-hours a month: by device-hours, the large first
    small, large = (small, large) if small["name"] == "resnet50" else (large, small)
    assert found["months"] == [f"2025-{month:02d}" for month in range(1, 12)]
    assert small["jobs"]["value"] == 40 and large["jobs"]["value"] == 5 and found["jobs"]["value"] == 45
    assert small["hours"]["value"] == 2 and large["hours"]["value"] == 10 and large["devices"]["value"] == 2
    assert small["failed"]["value"] == pytest.approx(0.1) and large["failed"]["value"] == pytest.approx(0.2)
    assert small["wait_hours"]["value"] == 1 and small["jobs_by_month"] == [40] * 11
    assert found["device_hours"]["value"] == pytest.approx(180)
    assert found["busy_share"]["value"] == pytest.approx(180 * 11 / (2 * 24 * 334))  # 334 days to the end of November
    assert all(one["jobs"]["low"] < one["jobs"]["value"] < one["jobs"]["high"] for one in found["classes"])


def test_names_of_users_and_jobs_stay_in_the_record(record, config, capsys):
    flags = ["--until", "2025-12-01", "--study", "lab-of-five", "--model", "resnet50", "--config", str(config)]
    before = {file: file.read_bytes() for file in config.rglob("*") if file.is_file()}
    text = told(capsys, "sacct", record, *flags) + told(capsys, "sacct", record, *flags, "--json")
    written = [file for file in config.rglob("*") if file.is_file() and file.read_bytes() != before.get(file)]
    assert [file.name for file in written] == ["workloads.yaml"]
    for secret in ("anna", "secret", "sweep", str(record)):
        assert secret not in text + written[0].read_text()
    assert "no names of users or jobs" in text and "no names of users or jobs" in written[0].read_text()
    asked = told(capsys, "sacct", record, "--names")
    assert "'secret-merger'" in asked and "'sweep-anna'" in asked


def test_into_a_study_that_has_the_class(record, config, capsys):
    file = config / "studies" / "lab-of-five" / "workloads.yaml"
    old, lines = load_yaml(file)["lab"], file.read_text().splitlines()
    flags = ["--class", "resnet50: devices=1", "--class", "wide: devices=2", "--until", "2025-12-01", "--devices", "2",
             "--study", "lab-of-five", "--model", "bert_large", "--config", str(config)]  # fmt: skip
    shown = told(capsys, "sacct", record, *flags, "--dry-run")
    assert file.read_text().splitlines() == lines and "+      basis: measured" in shown
    told(capsys, "sacct", record, *flags)
    made, work = load_yaml(file)["lab"], load_monthly(file)["lab"]
    first, second, third = made["jobs"]
    assert second == old["jobs"][1] and {key: made[key] for key in ("months", "have", "source")} == {
        key: old[key] for key in ("months", "have", "source")
    }
    assert first["per_month"]["value"] == 40 and first["basis"] == "measured" and first["hours_cv"] == 0
    assert first["samples"] == old["jobs"][0]["samples"] and old["jobs"][0]["source"] in first["source"]
    assert first["period"] == "2025-01 to 2025-11" and first["within_hours"] == 24
    # Ten hours on two RTX 4090 are twenty on the study's machine of one.
    assert third["hours"] == 20 and third["instance"] == "rtx4090-1" and third["devices_per_job"] == 2
    assert third["model"] == "bert_large" and 0 <= made["months_alike"] <= 1
    assert not read_study("lab-of-five", config).errors
    kept = set(file.read_text().splitlines())
    assert [line for line in lines if line not in kept and "per_month" not in line and "source" not in line] == []
    again = file.read_text()
    told(capsys, "sacct", record, *flags)
    assert file.read_text() == again  # a second import of the same record changes nothing
    busy = 180 * 11 / (2 * 24 * 334)
    assert work.measured is not None and work.measured.busy_share == pytest.approx(busy, rel=1e-3)
    words = use_in_words(file, "lab")
    low, high = work.measured.jobs_per_month.ends
    assert words.startswith("Your last 11 months: 12 % busy, 45 jobs a month (") and f"({low:g} to {high:g})" in words
    assert use_in_words(file, "other") == "" and use_in_words(None, "lab") == ""


def test_days_of_use_and_work_of_months_of_a_study_that_had_none(record, config, capsys):
    folder = config / "studies" / "office-box-2026"
    box = next(offer["instance"] for file in (folder / "prices").glob("*.yaml") for offer in load_yaml(file)["offers"]
               if "days_per_month" in offer.get("own", {}))  # fmt: skip
    flags = ["--study", "office-box-2026", "--config", str(config), "--until", "2025-12-01", "--instance", box,
             "--device", "rtx4090=RTX 4090"]  # fmt: skip
    model = ["--model", load_yaml(folder / "study.yaml")["cells"]["model"][0]]
    told(capsys, "sacct", record, *flags, *model, "--devices", 2)
    owned = [offer["own"]["days_per_month"] for file in (folder / "prices").glob("*.yaml")
             for offer in load_yaml(file)["offers"] if offer["instance"] == box and "own" in offer]  # fmt: skip
    days = 180 * 11 / (2 * 24 * 334) * 365.25 / 12
    assert all(
        one["value"] == pytest.approx(days, rel=1e-3) and one["low"] < one["value"] < one["high"] for one in owned
    )
    assert not read_study("office-box-2026", config).errors
    told(capsys, "sacct", record, *flags, *model, "--months", 24)
    work = load_monthly(folder / "workloads.yaml")["used"]
    assert work.months == 24 and [job.basis for job in work.jobs] == ["measured"] * len(work.jobs)
    assert not read_study("office-box-2026", config).errors


def test_clear_growth_is_written_and_goes_with_a_record_that_has_none(config, tmp_path, capsys):
    file = config / "studies" / "lab-of-five" / "workloads.yaml"
    found = []
    for growth in (1.15, 1.0):
        lines = ["class,start,end,devices,device"]
        for month in range(12):
            for number in range(round(30 * growth**month)):
                start = pd.Timestamp(2025, month + 1, 1) + pd.Timedelta(minutes=5 * number)
                lines.append(f"resnet50,{start},{start + pd.Timedelta(hours=1)},1,RTX 4090")
        (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n")
        told(
            capsys, "jobs", tmp_path / "jobs.csv", "--until", "2026-01-01", "--study", "lab-of-five", "--config", config
        )
        found.append(load_monthly(file)["lab"].jobs[0])
    rising, level = found
    growth, jobs = rising.growth_per_month, rising.per_month
    assert growth.ends[0] < 0.15 < growth.ends[1] and growth.value == pytest.approx(0.15, abs=0.03)
    assert jobs.value == pytest.approx(30 * 1.15**12, rel=0.1)  # of the first month to come
    assert level.growth_per_month.value == 0 and level.per_month.value == 30


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--study", "lab-of-fve"], "study 'lab-of-fve' does not exist: did you mean 'lab-of-five'?"),
        (["--study", "lab-of-five"], "say which the jobs train: --model resnet50 or bert_large"),
        (["--study", "lab-of-five", "--model", "resnet5"], "--model is 'resnet5'; expected one of the study's"),
        (["--study", "lab-of-five", "--model", "resnet50", "--instance", "rtx409-1"], "did you mean 'rtx4090-1'?"),
        (["--study", "office-box-2026"], "has no work of months; say how long it goes on, --months 36, or for days"),
        (["--devices", "0.1"], "--devices is 0.1; 180 device-hours a month are more than that"),
        (["--devices", "0"], "--devices is 0; expected a number above 0"),
        (["--since", "May"], "'May' is no day; expected such as 2025-01-01"),
        (["--device", "rtx4090"], "--device is 'rtx4090'; expected RECORDED=GPU"),
        (["--device", "rtx4090= "], "--device is 'rtx4090= '; expected RECORDED=GPU"),
        (["--reference", "H100 SXM", "--device", "rtx4090=RTX 9999"], "no device of that name is specified"),
        (["--since", "2031-01-01"], "the record covers 0.0 days"),
    ],
)
def test_a_mistake_ends_in_one_sentence(flags, words, record, config):
    with pytest.raises(UserError) as said:
        main(["import-use", "sacct", str(record), "--until", "2025-12-01", "--config", str(config), *flags])
    assert words in str(said.value) and "\n" not in str(said.value)


def test_an_unknown_device_is_asked_for_once(tmp_path, capsys):
    rows = [["start", "end", "devices", "device"]]
    rows += [["2025-01-01", "2025-02-27", 1, name] for name in ("gpu-x", "", "RTX 4090", "gpu-y")]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    (tmp_path / "jobs.csv").write_text(text.getvalue())
    with pytest.raises(UserError) as said:
        main(["import-use", "jobs", str(tmp_path / "jobs.csv"), "--reference", "RTX 4090"])
    assert said.value.sentences[0].startswith("which device is meant is not known: ")
    assert all(f"--device '{name}=GPU'" in str(said.value) for name in ("gpu-x", "", "gpu-y"))
    flags = [part for name in ("gpu-x", "", "gpu-y") for part in ("--device", f"{name}=A100 SXM4 80GB")]
    (found,) = json.loads(told(capsys, "jobs", tmp_path / "jobs.csv", "--reference", "RTX 4090", "--model", "resnet50",
                               "--json", *flags))["classes"]  # fmt: skip
    hours = found["reference_device_hours"]
    assert hours["low"] < hours["value"] < hours["high"] and hours["value"] > found["hours"]["value"] * 1.05


def test_hours_on_another_device_by_hand():
    # Half of the hours on a device whose hour is worth two: 1.5 times as many. Ends by the sum of squares of logs.
    one = on_reference(Range(10, 5, 20), {"a": 4.0, "b": 4.0}, {"a": Range(1, 1, 1), "b": Range(2, 1, 5)})
    assert one.value == 15
    assert one.low == pytest.approx(15 / np.exp(np.hypot(np.log(1.5), np.log(2))))
    assert one.high == pytest.approx(15 * np.exp(np.hypot(np.log(2), np.log(2))))


def test_a_pipe_of_slurm_itself(monkeypatch, capsys):
    text = REAL.read_text() + "99|root|test|small|later|2026-12-24T12:00:00|2026-12-24T12:00:00|2026-12-24T13:00:00|" \
        "COMPLETED|gres/gpu=1|3600\n"  # fmt: skip
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    shown = told(capsys, "sacct", "-", "--zone", "Europe/Berlin")
    assert "1 without a device" in shown and "2026-11-24/2026-12-24" in shown and "root" not in shown
