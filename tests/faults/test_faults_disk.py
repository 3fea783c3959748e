"""Disks that are full or read-only, really mounted; what is finished stays and one sentence says what to do."""

import errno
import os
import shutil
import stat
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


def test_a_full_disk_is_found_before_anything_is_measured(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        fill(disk)
        done = subprocess.run(
            command(disk / "run~1.parquet"),
            env=environment(copy_project(tmp_path / "project")),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        one_sentence(done.stderr, "run~1.parquet", "No space left on device", "start again")
        assert "starting" not in done.stderr
        assert [file.name for file in disk.iterdir()] == ["filling"]


@pytest.mark.parametrize(("kind", "output"), [("a pipe", "pipe"), ("a device", "full"), ("a folder", "folder")])
def test_an_output_that_is_no_file_is_refused_before_anything_is_measured(tmp_path, kind, output):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    if os.geteuid() == 0:
        os.mknod(tmp_path / "full", stat.S_IFCHR | 0o600, os.makedev(1, 7))  # a twin of /dev/full
    elif kind == "a device":
        pytest.skip("only root makes devices")
    before = {file: file.lstat().st_mode for file in tmp_path.iterdir()}
    done = measure(tmp_path / output)
    assert done.returncode == 2
    one_sentence(done.stderr, f"{output}: is {kind}; expected the name of a file")
    assert "starting" not in done.stderr
    assert {file: file.lstat().st_mode for file in tmp_path.iterdir()} == before


def test_an_output_below_a_file_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "file").write_text("kept")
    done = measure(tmp_path / "file" / "run~1.parquet")
    assert done.returncode == 2
    one_sentence(done.stderr, "file/run~1.parquet: cannot be written (Not a directory)")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_read_only_results_are_named_and_a_dry_run_reads_them(project):
    before = measured(project)
    with read_only(project / "results"):
        assert scheduled(project) == {}
        edit(project / PRICES, "offers:", "# seen again\noffers:")
        done = run_snakemake(project)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    assert "results: cannot be written (a read-only disk, or another's folder); make it writable" in done.stdout
    assert measured(project) == before


@pytest.mark.slow
def test_a_measurement_onto_a_read_only_disk_is_refused(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    with read_only(disk):
        line = command(disk / "run~1.parquet")
        env = environment(copy_project(tmp_path / "project"))
        done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    one_sentence(done.stderr, "run~1.parquet", "Read-only file system")


def test_other_faults_of_writing_are_not_taken_for_the_disk(tmp_path):
    with pytest.raises(OSError, match="Input/output") as caught, write_whole(tmp_path / "x"):
        raise OSError(errno.EIO, "Input/output error")
    assert not isinstance(caught.value, UserError)
    assert list(tmp_path.iterdir()) == []
