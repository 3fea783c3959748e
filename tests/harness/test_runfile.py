"""Which run files a run leaves as they are: those that another invocation has finished and nobody asked to replace."""

from pathlib import Path

import pytest
from harness_runs import CELL
from step_lists import even
from sweetspot import files
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import write_run
from sweetspot.harness.supervise import finished_by_another
from sweetspot.matrix.reruns import note_reruns


def asked(folder, *more):
    """The request of a workflow whose notes lie in `folder`; `more` replaces."""
    flags = [*CELL.split(), "--gpus", "1", "--run", "1", "--protocol", "3"]
    return parse_request([*flags, "--asked", str(folder / "notes"), "--output", str(folder / "run~1.parquet"), *more])


@pytest.mark.parametrize("status", ["ok", "unstable", "oom", "failed"])
def test_a_run_that_another_invocation_has_finished_stays(tmp_path, status):
    assert not finished_by_another(asked(tmp_path))
    write_run(asked(tmp_path), even([0.5, 0.5]) if status in ("ok", "unstable") else [], {}, status, "why")
    assert finished_by_another(asked(tmp_path))


@pytest.mark.parametrize(
    "change", [("--protocol", "4"), ("--run", "2"), ("--batch-size", "16"), ("--variant", "B"), ("--asked", "")]
)
def test_another_protocol_run_or_cell_and_a_run_by_hand_replace_it(tmp_path, change):
    write_run(asked(tmp_path), even([0.5]), {})
    assert not finished_by_another(asked(tmp_path, *change))


def test_a_run_that_is_to_be_replaced_is_until_another_has_done_so(tmp_path):
    write_run(asked(tmp_path), even([0.5]), {})
    note_reruns([str(tmp_path / "run~1.parquet")], {}, tmp_path / "notes")
    assert not finished_by_another(asked(tmp_path))
    write_run(asked(tmp_path), even([0.25]), {})
    assert finished_by_another(asked(tmp_path))


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
    assert not finished_by_another(asked(tmp_path))
