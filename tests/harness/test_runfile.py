"""What a run file holds, and which a run leaves as they are: those that another invocation has finished and nobody
asked to replace.
"""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from harness_runs import CELL, request
from step_lists import even
from sweetspot import files
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import SEALED, has_flags, is_damaged, run_facts, write_run
from sweetspot.harness.supervise import is_already_measured
from sweetspot.matrix.reruns import note_reruns
from sweetspot.warnings import Warned


def asked(folder, *more):
    """The request of a workflow whose notes lie in `folder`; `more` replaces."""
    flags = [*CELL.split(), "--gpus", "1", "--run", "1", "--protocol", "3"]
    return parse_request([*flags, "--asked", str(folder / "notes"), "--output", str(folder / "run~1.parquet"), *more])


@pytest.mark.parametrize("status", ["ok", "unstable", "oom", "failed"])
def test_a_run_that_another_invocation_has_finished_stays(tmp_path, status):
    assert not is_already_measured(asked(tmp_path))
    write_run(asked(tmp_path), even([0.5, 0.5]) if status in ("ok", "unstable") else [], {}, status, "why")
    assert is_already_measured(asked(tmp_path))


@pytest.mark.parametrize(
    "change", [("--protocol", "4"), ("--run", "2"), ("--batch-size", "16"), ("--variant", "B"), ("--asked", "")]
)
def test_another_protocol_run_or_cell_and_a_run_by_hand_replace_it(tmp_path, change):
    write_run(asked(tmp_path), even([0.5]), {})
    assert not is_already_measured(asked(tmp_path, *change))


def test_a_run_that_is_to_be_replaced_is_until_another_has_done_so(tmp_path):
    write_run(asked(tmp_path), even([0.5]), {})
    note_reruns([str(tmp_path / "run~1.parquet")], {}, tmp_path / "notes")
    assert not is_already_measured(asked(tmp_path))
    write_run(asked(tmp_path), even([0.25]), {})
    assert is_already_measured(asked(tmp_path))


def test_a_run_is_on_the_disk_before_it_has_its_name_and_the_name_before_it_is_reported(tmp_path, monkeypatch):
    seen = []

    def fsync(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        seen.append((path.is_dir(), (tmp_path / "run~1.parquet").exists()))

    monkeypatch.setattr(files.os, "fsync", fsync)
    write_run(asked(tmp_path), even([0.5]), {})
    assert seen == [(False, False), (True, True)]


@pytest.mark.parametrize("content", [b"", b"half a file"])
def test_a_file_that_is_not_whole_is_replaced(tmp_path, content):
    (tmp_path / "run~1.parquet").write_bytes(content)
    assert not is_already_measured(asked(tmp_path)) and not has_flags(tmp_path / "run~1.parquet", "--no-xla")


def test_a_run_file_has_a_row_a_step_with_its_cell(tmp_path):
    asked = request(gpus=2, run=3, output=tmp_path / "run.parquet")
    told = {"device_name": "CPU", "logical": True, "xla": True, "started_at": "2026-01-02T03:04:05+00:00"}
    told["command"] = ["run_benchmark.py", "--protocol", "3", "--device", "cpu"]
    write_run(asked, even([0.5, 0.25]), told, "unstable", warnings=[Warned("drift", "slower")])
    table = pq.read_table(asked.output)
    rows = table.to_pylist()
    assert [(row["step"], row["seconds"], row["steps"]) for row in rows] == [(0, 0.5, 1), (1, 0.25, 1)]
    assert (rows[1]["logical"], rows[1]["xla"], rows[1]["measured_on"]) == (True, True, "2026-01-02")
    assert (rows[0]["model"], rows[0]["batch_size"], rows[0]["run"], rows[0]["protocol"]) == ("vgg16", 16, 3, 2)
    assert (rows[0]["status"], rows[0]["message"]) == ("unstable", None)
    assert json.loads(rows[0]["warnings"]) == [["drift", "slower"]]
    assert run_facts(asked.output) == told and {row["gpu"] for row in rows} == {"CPU"}
    found = [has_flags(asked.output, flags) for flags in ("--protocol 3 --device cpu", "--protocol 33", "-protocol 3")]
    assert found == [True, False, False]
    # Its checksum is that of the file with 64 zeros in its place; with any other byte changed it is another.
    raw = Path(asked.output).read_bytes()
    seal = hashlib.sha256(SEALED.sub(lambda match: match[0][:-64] + b"0" * 64, raw)).hexdigest()
    assert seal.encode() in raw
    assert [is_damaged(each) for each in (raw, raw.replace(b"drift", b"draft"), b"no run")] == [False, True, False]


def test_a_run_that_timed_nothing_has_one_row_without_step_and_seconds(tmp_path):
    asked = request(gpus=2, run=3, output=tmp_path / "run.parquet")
    write_run(asked, even([]), {}, "failed", "died")
    (row,) = pq.read_table(asked.output).to_pylist()
    assert (row["step"], row["seconds"], row["warnings"], row["measured_on"]) == (None, None, None, None)
    assert (row["status"], row["message"], row["gpu"]) == ("failed", "died", "unknown")
    assert (row["logical"], row["xla"]) == (False, False)
