"""Slurm's accounting and plain tables as jobs: what counts, whose clock it was, what is refused."""

import math

import pandas as pd
import pytest
from sweetspot.errors import UserError
from sweetspot.use.plain import read_jobs
from sweetspot.use.read_use import read_use
from sweetspot.use.sacct import read_sacct, waiting_tasks

HEAD = "JobID|Partition|JobName|Submit|Start|End|State|AllocTRES|ElapsedRaw"


def sacct(*lines, zone="UTC", head=HEAD, **more):
    return read_sacct([head + "\n", *(line + "\n" for line in lines)], zone, **more)


def line(tres="gres/gpu=1", state="COMPLETED", job="1", start="2026-03-01T12:00:00", end="2026-03-01T13:00:00", **more):
    said = {"partition": "gpu", "name": "train", "submit": "2026-03-01T11:00:00", "elapsed": "3600"} | more
    return "|".join([job, said["partition"], said["name"], said["submit"], start, end, state, tres, said["elapsed"]])


@pytest.mark.parametrize(
    ("tres", "devices", "device"),
    [
        ("billing=4,cpu=4,gres/gpu:a100=4,gres/gpu=4,mem=100M,node=1", 4, "a100"),  # as 22.05 writes it: not eight
        ("cpu=4,gres/gpu=2,mem=100M", 2, ""),
        ("cpu=4,gres/gpu:a100=1,gres/gpu:v100=2,node=2", 3, "a100+v100"),
        ("cpu=4,mem=100M,node=1", 0, ""),
        ("cpu=4,gres/gpu:a100_3g.20gb=2,gres/gpu=2", 6 / 7, "a100"),  # two slices of three sevenths
        ("cpu=1,gres/mps=25", 0.25, ""),
        ("gres/gpu=1,gres/mps=50", 1.5, ""),
        ("", math.nan, ""),
    ],
)
def test_devices_of_a_cell(tres, devices, device):
    row = sacct(line(tres)).iloc[0]
    assert row["devices"] == pytest.approx(devices, nan_ok=True) and row["device"] == device


def test_shards_count_by_what_the_reader_says():
    assert sacct(line("cpu=1,gres/shard=2"), shards=8)["devices"].tolist() == [0.25]


@pytest.mark.parametrize(
    ("words", "state"),
    [("COMPLETED", "completed"), ("CANCELLED by 1000", "cancelled"), ("CANCELLED+", "cancelled"), ("TIMEOUT", "failed"),
     ("OUT_OF_MEMORY", "failed"), ("NODE_FAIL", "failed"), ("REQUEUED", "cancelled"), ("PREEMPTED", "cancelled")],
)  # fmt: skip
def test_states(words, state):
    assert sacct(line(state=words))["state"].tolist() == [state]


def test_a_running_job_was_seen_to_run_and_has_no_end():
    row = sacct(line(state="RUNNING", end="Unknown", elapsed="7200")).iloc[0]
    assert pd.isna(row["end"]) and row["held_until"] == pd.Timestamp("2026-03-01T14:00:00Z")


def test_what_never_started_holds_nothing():
    table = sacct(
        line("", "CANCELLED by 0", start="None", end="2026-03-01T13:00:00", elapsed="0"),
        line("", "PENDING", "7_[3,5-9:2%2]", start="2026-03-09T12:00:00", end="Unknown", elapsed="0"),
    )
    assert table["start"].isna().all() and table["state"].tolist() == ["cancelled", "waiting"]
    assert [waiting_tasks(job) for job in table["job"]] == [1, 4]  # 3, 5, 7, 9


@pytest.mark.parametrize(
    ("job", "tasks"),
    [("7", 1), ("7_3", 1), ("7_[0-9:3]", 4), ("7_[0-9:0]", 1), ("7_[-]", 1), ("7_[5-1]", 1)],
)
def test_tasks_of_an_array_that_waits(job, tasks):
    assert waiting_tasks(job) == tasks


def test_steps_are_left_out_and_a_name_may_have_the_separator():
    table = sacct(line(name="a|b|c"), line(job="1.batch"), line(job="1.0"), line(job="7_3.extern"))
    assert table["name"].tolist() == ["a|b|c"]


@pytest.mark.parametrize(
    ("start", "end", "elapsed", "hours"),
    [
        # Berlin, 29 March 2026: 02:00 is 03:00. Wall clocks three hours apart, two hours have passed.
        ("2026-03-29T01:00:00", "2026-03-29T04:00:00", "7200", 2),
        # 25 October: 03:00 is 02:00 again; 02:30 is shown twice, the length tells which is meant.
        ("2026-10-25T02:30:00", "2026-10-25T02:40:00", "4200", 7 / 6),
        ("2026-10-25T02:30:00", "2026-10-25T02:40:00", "600", 1 / 6),
        ("2026-10-25T01:00:00", "2026-10-25T04:00:00", "14400", 4),
        ("2026-10-25T02:40:00", "2026-10-25T02:20:00", "2400", 2 / 3),
        ("1774742400", "1774749600", "7200", 2),  # SLURM_TIME_FORMAT=%s
    ],
)
def test_the_clock_on_the_wall(start, end, elapsed, hours):
    row = sacct(line(start=start, end=end, elapsed=elapsed, submit=start), zone="Europe/Berlin").iloc[0]
    assert (row["end"] - row["start"]).total_seconds() == pytest.approx(3600 * hours)
    assert row["submit"] <= row["start"]


FAULTS = [
    (["JobID|Start"], "line 1: no column Submit"),
    (["nonsense"], "line 1: no column JobID"),
    ([HEAD + "|State", line() + "|x"], "line 1: a column stands twice"),
    ([HEAD, line().rpartition("|")[0]], "line 2: 8 fields; expected 9"),
    ([HEAD, line(state="SLEEPING")], "line 2: State is 'SLEEPING'; expected a state of sacct"),
    ([HEAD, line(start="yesterday")], "line 2: Start is 'yesterday'; expected a time such as"),
    ([HEAD, line(start="2026-03-29T02:30:00")], "line 2: Start is '2026-03-29T02:30:00'; expected a time that the cl"),
    ([HEAD, line(end="2026-03-01T11:00:00")], "line 2: the job ends (2026-03-01T10:00:00Z) before it starts"),
    ([HEAD, line(end="Unknown")], "line 2: End is 'Unknown'; expected a time: the job is over"),
    ([HEAD, line("gres/gpu=two")], "line 2: AllocTRES is 'gres/gpu=two'; expected parts such as"),
    ([HEAD, line("gres/shard=2")], "line 2: AllocTRES is 'gres/shard=2'; expected how many shards"),
    ([HEAD, line(elapsed="1-02:00:00")], "line 2: ElapsedRaw is '1-02:00:00'; expected whole seconds"),
    ([HEAD, line(start="1970-01-01T00:00:00")], "line 2: Start is '1970-01-01T00:00:00'; expected a time between"),
    ([HEAD, line(start="99999999999")], "line 2: Start is '99999999999'; expected a time between"),
    ([HEAD, line(submit="1990-01-01T01:00:00", start="2016-03-01T00:00:00", end="2026-02-27T00:00:01")], "3650 days"),
    ([HEAD, line(submit="1990-01-01T00:59:59")], "line 2: Submit is '1990-01-01T00:59:59'; expected a time between"),
    ([HEAD, line(job="")], "line 2: JobID is ''; expected a number"),
    ([HEAD], "no job in it"),
]  # fmt: skip
PLAIN = "class,start,end,devices,device"
PLAIN_FAULTS = [
    (["anna-secret,2026-03-01,2026-03-02,1"], "line 1: no column 'start'"),
    (["class,start,end,devices,gpu"], "line 1: column 'gpu' is unknown; expected of class, job"),
    (["start,end,device"], "line 1: expected one of the columns devices and milli_devices"),
    (["start,devices"], "line 1: no column 'end'"),
    (["start,end,devices,end"], "line 1: a column stands twice"),
    ([PLAIN, "a,2026-03-01,2026-03-02,1"], "line 2: 4 fields; expected 5"),
    ([PLAIN, "a,1 March,2026-03-02,1,A100"], "line 2: start is '1 March'; expected a time such as"),
    ([PLAIN, "a,2026-03-03,2026-03-02,1,A100"], "line 2: the job ends"),
    ([PLAIN, "a,2026-03-01,2026-03-02,many,A100"], "line 2: devices is 'many'; expected a number of at least 0"),
    ([PLAIN, "a,2026-03-01,2026-03-02,-1,A100"], "line 2: devices is '-1'; expected a number of at least 0"),
    ([PLAIN + ",state", "a,2026-03-01,2026-03-02,1,A100,done"], "line 2: state is 'done'; expected one of completed"),
    ([PLAIN + ",state", "a,,2026-03-02,1,A100,failed"], "line 2: start is ''; expected a time: the job is failed"),
    ([PLAIN, 'a,"2026-03-01,2026-03-02,1,A100'], "unexpected end of data; expected a table"),
    ([PLAIN, "a,2006-03-01,2026-03-02,1,A100"], "line 2: the job lasts 7306 days"),
    ([PLAIN], "no job in it"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("format", "lines", "words"),
    [("sacct", *fault) for fault in FAULTS] + [("jobs", *fault) for fault in PLAIN_FAULTS],
)
def test_a_mistake_ends_in_one_sentence(format, lines, words, tmp_path):
    file = tmp_path / "log.txt"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError) as told:
        read_use(format, file, "Europe/Berlin")
    (sentence,) = told.value.sentences
    assert words in sentence and sentence.startswith(str(file)) and "\n" not in sentence
    assert "anna" not in sentence  # of a table without a header


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"JobID\x00", "zero bytes"), (b"\n\xff\xfe", "line 2: is not UTF-8"), (b"", "no column JobID")],
)
def test_what_is_no_text_is_refused(content, words, tmp_path):
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(UserError, match=words):
        read_use("sacct", tmp_path / "log", "UTC")


@pytest.mark.parametrize(("format", "zone", "words"), [("pbs", "UTC", "the format is 'pbs'"),
                                                        ("jobs", "Berlin", "--zone is 'Berlin'")])  # fmt: skip
def test_an_unknown_format_or_zone_is_refused(format, zone, words, tmp_path):
    (tmp_path / "log").write_text(PLAIN + "\n")
    with pytest.raises(UserError, match=words):
        read_use(format, tmp_path / "log", zone)


def test_a_plain_table_has_shares_of_devices_and_jobs_of_today():
    text = ["class,submit,start,end,milli_devices,device", "a,2026-03-01T10:00:00,2026-03-01T11:00:00Z,,250,T4",
            "b,2026-03-01T10:00:00,,,1000,"]  # fmt: skip
    table = read_jobs(text, "Europe/Berlin")
    assert table["devices"].tolist() == [0.25, 1.0] and table["state"].tolist() == ["running", "waiting"]
    assert table["class"].tolist() == ["a", "b"] and table["submit"][0] == pd.Timestamp("2026-03-01T09:00Z")
