"""Slurm's accounting and plain tables as runs: what counts, which moments are meant, what is refused."""

import datetime
import io
import math
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from project_copy import ROOT
from sweetspot.errors import UserError
from sweetspot.use.job_records import read_runs

NOW = datetime.datetime(2026, 11, 27, tzinfo=datetime.UTC)
HEADER = "JobID|Partition|JobName|Start|End|State|AllocTRES|ElapsedRaw"
CSV_HEADER = "class,start,end,devices,device"
REAL_RECORD = ROOT / "tests" / "data" / "use" / "sacct_22_05_berlin.txt"


@pytest.fixture
def read(tmp_path):
    """Read lines as a record of a format."""

    def read_lines(record_format, *lines, zone="UTC"):
        file = tmp_path / "record.txt"
        file.write_text("\n".join(lines) + "\n")
        return read_runs(str(file), record_format, ZoneInfo(zone), NOW)

    return read_lines


def sacct_line(**fields):
    row = {"job": "1", "partition": "gpu", "name": "train", "start": "2026-03-01T12:00:00"}
    row |= {"end": "2026-03-01T13:00:00", "state": "COMPLETED", "tres": "gres/gpu=1", "elapsed": "3600"}
    return "|".join((row | fields).values())


@pytest.mark.parametrize(
    ("tres", "devices"),
    [
        ("billing=4,cpu=4,gres/gpu:a100=4,gres/gpu=4,mem=100M,node=1", 4),  # as 22.05 writes it: not eight
        ("cpu=4,gres/gpu:a100=1,gres/gpu:v100=2,node=2", 3),
        ("cpu=4,gres/gpu:a100_3g.20gb=2,gres/gpu=2", 6 / 7),  # two slices of three sevenths
        ("gres/tmpdisk=100,gres/gpu=1", 1),
        ("", 0),
    ],
)
def test_devices_of_a_cell(tres, devices, read):
    assert read("sacct", HEADER, sacct_line(tres=tres))["devices"].tolist() == [pytest.approx(devices)]


@pytest.mark.parametrize(
    ("text", "state"),
    [("COMPLETED", "completed"), ("CANCELLED by 1000", "ended"), ("CANCELLED+", "ended"), ("TIMEOUT", "ended"),
     ("RESIZING", "ended"), ("RUNNING", "running"), ("PENDING", "waiting")],
)  # fmt: skip
def test_states(text, state, read):
    assert read("sacct", HEADER, sacct_line(state=text))["state"].tolist() == [state]


@pytest.mark.parametrize(
    ("start", "end", "elapsed", "hours"),
    [
        # Berlin, 29 March 2026: 02:00 is 03:00. Wall clocks three hours apart, two hours have passed.
        ("2026-03-29T01:00:00", "2026-03-29T04:00:00", "", 2),
        # 25 October: 03:00 is 02:00 again; 02:30 is shown twice, Slurm's own length counts.
        ("2026-10-25T02:30:00", "2026-10-25T02:40:00", "4200", 7 / 6),
        ("2026-10-25T01:00:00", "2026-10-25T04:00:00", "", 4),
        ("2026-03-29T01:00:00+00:00", "2026-03-29T02:00:00Z", "", 1),
    ],
)
def test_moments_of_a_wall_clock(start, end, elapsed, hours, read):
    row = read("sacct", HEADER, sacct_line(start=start, end=end, elapsed=elapsed), zone="Europe/Berlin").iloc[0]
    assert (row["end"] - row["start"]).total_seconds() == pytest.approx(3600 * hours)


def test_a_run_of_two_overlapping_exports_counts_once(read):
    """The first export saw job 1 run for an hour; the second, below the first, saw it end after three."""
    running = sacct_line(state="RUNNING", end="Unknown", elapsed="3600")
    ended = sacct_line(end="2026-03-01T15:00:00", elapsed="10800")
    put_back = sacct_line(start="2026-03-02T00:00:00", end="2026-03-02T01:00:00")
    array = [sacct_line(job=f"7_{number}") for number in (1, 2)]  # two jobs of one start
    for record in ([running, *array, HEADER, ended, put_back, *array], [ended, put_back, *array, HEADER, running]):
        runs = read("sacct", HEADER, *record)
        assert sorted(runs["job"]) == ["1", "1", "7_1", "7_2"]
        assert runs.loc[runs["job"] == "1", "end"].max() == pd.Timestamp("2026-03-02T01:00Z")
        assert pd.Timestamp("2026-03-01T15:00Z") in set(runs["end"])


def test_a_plain_table_has_shares_of_devices_and_jobs_of_today(read):
    rows = ("a,2026-03-01T11:00:00Z,,0.25,T4", "b,,,1,", "c,2026-03-01T11:00:00,2026-03-01T13:00:00,2,T4")
    runs = read("jobs", CSV_HEADER, *rows, zone="Europe/Berlin")
    assert runs["devices"].tolist() == [0.25, 1.0, 2.0] and runs["class"].tolist() == ["a", "b", "c"]
    assert runs["state"].tolist() == ["running", "waiting", "ended"]
    assert runs["start"][2] == pd.Timestamp("2026-03-01T10:00Z")


@pytest.mark.parametrize(
    ("record_format", "lines", "location"),
    [
        ("sacct", ["nonsense"], "line 1"),
        ("sacct", [HEADER, sacct_line().rpartition("|")[0]], "line 2"),
        ("sacct", [HEADER, sacct_line(), sacct_line(state="SLEEPING")], "line 3: state"),
        ("sacct", [HEADER, sacct_line(start="2026-03-01T14:00:00", elapsed="")], "line 2: end"),
        ("sacct", [HEADER, sacct_line(tres="gres/gpu=two")], "line 2: alloctres"),
        ("sacct", [HEADER, sacct_line(elapsed="1-02:00:00")], "line 2: elapsedraw"),
        ("sacct", [HEADER, sacct_line(elapsed="7200"), sacct_line(elapsed="7201")], "line 3: elapsedraw"),  # 3600 twice
        ("jobs", [CSV_HEADER + ",class", "a,2026-03-01,2026-03-02,1,A100,b"], "line 1: 2 columns are called class"),
        # One stray row would make 675 months of 11: dates before 1990 or after today are refused.
        ("sacct", [HEADER, sacct_line(start="1970-01-01T00:00:00")], "line 2: start"),
        ("sacct", [HEADER, sacct_line(end="2099-01-01T00:00:00", elapsed="")], "line 2: end"),
        ("jobs", ["secret-name,2026-03-01,2026-03-02,1"], "line 1"),
        ("jobs", [CSV_HEADER, "a,1 March,2026-03-02,1,A100"], "line 2: start"),
        ("jobs", [CSV_HEADER + ",state", "a,2026-03-01,2026-03-02,1,A100,done"], "line 2: state"),
        ("jobs", [CSV_HEADER, 'a,"2026-03-01,2026-03-02,1,A100'], "end of data"),
    ],
)
def test_a_mistake_ends_in_one_sentence(record_format, lines, location, read):
    with pytest.raises(UserError) as error:
        read(record_format, *lines)
    assert location in str(error.value) and "record.txt" in str(error.value) and "\n" not in str(error.value)
    assert "secret" not in str(error.value)  # the first row of a table without a header


def test_a_real_record_through_a_pipe_has_the_seconds_of_slurms_database(monkeypatch):
    """By SQL of slurmdbd's job table, (time_end - time_start) x gres/gpu of tres_alloc by name of the jobs that ended.

    again 84, late-cancel 39, two-nodes 100, a|b c 5, timeout 88, sweep 72, broad 62, train-resnet 74; one runs: 171.
    """
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(REAL_RECORD.read_bytes())))
    runs = read_runs("-", "sacct", ZoneInfo("Europe/Berlin"), NOW)
    seconds = (runs["end"] - runs["start"]).dt.total_seconds() * runs["devices"]
    assert math.fsum(seconds.dropna()) == 84 + 39 + 100 + 5 + 88 + 72 + 62 + 74 + 171
