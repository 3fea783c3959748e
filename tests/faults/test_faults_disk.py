"""Disks that are full or read-only, really mounted; what is finished stays and one sentence says what to do."""

import errno
import shutil
import subprocess

import pytest
from fault_projects import fill, measured, read_only, small_disk, waiting_project
from harness_runs import command, measure
from patience import PATIENCE_S, until
from project_copy import copy_project, edit, environment, run_snakemake, scheduled
from sweetspot.errors import UserError
from sweetspot.files import read_arrow, write_whole

PRICES = "config/studies/parkopedia-2018/prices/gce.yaml"


def one_sentence(text, *words):
    """The only line that begins with `error:`, without a traceback around it."""
    assert "Traceback" not in text
    (line,) = {line for line in text.splitlines() if line.startswith("error: ")}
    for word in words:
        assert word in line
    return line


@pytest.mark.parametrize("disk", ["full", "read-only"])
def test_a_disk_that_takes_nothing_is_found_before_anything_is_measured(tmp_path, disk):
    folder, words = tmp_path / "disk", "No space left on device" if disk == "full" else "Read-only file system"
    folder.mkdir()
    with small_disk(folder, "64k") if disk == "full" else read_only(folder):
        fill(folder)
        done = measure(folder / "run~1.parquet")
        assert done.returncode == 2
        one_sentence(done.stderr, "run~1.parquet", words, "start again")
        assert "starting" not in done.stderr
        assert [file.name for file in folder.iterdir()] == ["filling"] * (disk == "full")


def test_an_output_in_the_place_of_a_folder_or_below_a_file_is_refused_before_anything_is_measured(tmp_path):
    """Pipes, devices and sockets: tests/ground/test_files.py."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    for output, words in (
        ("folder", "folder: is a folder; expected the name of a file"),
        ("file/run~1.parquet", "file/run~1.parquet: cannot be written (Not a directory)"),
    ):
        done = measure(tmp_path / output)
        assert done.returncode == 2 and "starting" not in done.stderr
        one_sentence(done.stderr, words)
    assert (tmp_path / "file").read_text() == "kept" and not list((tmp_path / "folder").iterdir())


def test_a_table_that_a_power_cut_left_empty_is_named_and_made_again_when_it_is_removed(project):
    before, file = measured(project), project / "results" / "parkopedia-2018" / "throughput.parquet"
    target = "results/parkopedia-2018/efficiency.parquet"
    whole = read_arrow(file)
    file.write_bytes(b"")
    done = run_snakemake(project, target)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    assert f"{file.relative_to(project)}: is no whole table" in done.stdout
    assert "remove it and it is made again" in done.stdout
    file.unlink()
    done = run_snakemake(project, target)
    assert done.returncode == 0, done.stdout[-3000:]
    assert read_arrow(file).equals(whole)
    assert measured(project) == before


def test_a_disk_that_fills_up_while_measuring_leaves_no_half_file(tmp_path):
    project = waiting_project(copy_project(tmp_path / "project"))
    (project / "hold-measure").touch()
    line = command(tmp_path / "disk" / "run~1.parquet")
    line[1] = str(project / "workflow" / "scripts" / "run_benchmark.py")
    with small_disk(tmp_path / "disk", "256k") as disk, (tmp_path / "words").open("w") as words:
        process = subprocess.Popen(line, cwd=project, env=environment(project), stderr=words)
        until(lambda: "step 2 of" in (tmp_path / "words").read_text(), "the second step")
        fill(disk)
        (project / "hold-measure").unlink()
        assert process.wait(timeout=PATIENCE_S) == 2
        one_sentence((tmp_path / "words").read_text().replace("\r", "\n"), "No space left on device")
        assert [file.name for file in disk.iterdir()] == ["filling"]


def test_a_full_disk_stops_one_price_list_keeps_the_others_and_the_next_invocation_continues(project):
    before = measured(project)
    costs = project / "results" / "parkopedia-2018" / "costs"
    others = [file for file in costs.iterdir() if file.stem != "gce"]
    saved = [shutil.copy2(file, project / file.name) for file in others]
    texts = {file.name: file.read_bytes() for file in saved}
    with small_disk(costs, "256k") as disk:
        for file in saved:
            shutil.copy2(file, disk)
        fill(disk)
        done = run_snakemake(project, "costs")
        assert done.returncode == 1
        one_sentence(done.stdout, "gce.parquet", "No space left on device", "start again")
        assert {name: (disk / name).read_bytes() for name in texts} == texts
    assert run_snakemake(project, "costs").returncode == 0
    assert scheduled(project, "costs") == {}
    assert measured(project) == before


def test_read_only_results_are_named_and_a_dry_run_reads_them(project):
    before = measured(project)
    with read_only(project / "results"):
        assert scheduled(project) == {}
        edit(project / PRICES, "offers:", "# seen again\noffers:")
        done = run_snakemake(project)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    assert "results: cannot be written (a file, a read-only disk, another's); mend that" in done.stdout
    assert measured(project) == before


def test_other_faults_of_writing_are_not_taken_for_the_disk(tmp_path):
    with pytest.raises(OSError, match="Input/output") as caught, write_whole(tmp_path / "x"):
        raise OSError(errno.EIO, "Input/output error")
    assert not isinstance(caught.value, UserError)
    assert list(tmp_path.iterdir()) == []
