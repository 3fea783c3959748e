"""Faults injected into a project: a training process that waits for the test, signals, full and read-only disks."""

import contextlib
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from project_copy import edit, environment

CELL = (
    "results/benchmarks/instance~workstation/framework~tensorflow/model~tiny_cnn/batch_size~16/gpus~1/"
    "precision~fp32/variant~default"
)
# Speaks to the supervisor as the training process does, without a framework; waits while hold-measure lies there.
MAIN = 'if __name__ == "__main__":\n'
TRAINING = f"""{MAIN}
    die_with_supervisor()
    from pathlib import Path

    say(facts={{"unit": "images"}})
    for step in range(7):
        while step == 4 and Path("hold-measure").exists():
            time.sleep(0.02)
        say(seconds=0.25, timed=step > 1, loss=1.0, steps=1)
"""
RENAME = "            os.replace(temporary, target)\n"
HELD = f"""
            import time
            while Path("hold-write").exists() and "run~" in target.name:
                time.sleep(0.02)
{RENAME}"""


def measured(project: Path) -> dict[str, str]:
    """Content of every run file, by name; files of any other name under results/benchmarks count too."""
    files = [file for file in (project / "results" / "benchmarks").rglob("*") if file.is_file()]
    return {str(file.relative_to(project)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def waiting_project(project: Path) -> Path:
    """`project` whose next run waits in its third timed step or before its file gets its name, as files there say."""
    train_with(project, TRAINING)
    edit(project / "workflow" / "sweetspot" / "files.py", RENAME, HELD)
    return project


def train_with(project: Path, main: str) -> None:
    """Put `main` in the place of what the training process does."""
    train = project / "workflow" / "sweetspot" / "harness" / "train.py"
    train.write_text(train.read_text().partition(MAIN)[0] + main)


def start(project: Path, *arguments: str) -> subprocess.Popen[str]:
    """Snakemake in a session of its own, as a terminal would have it; its words go to out.txt."""
    with (project / "out.txt").open("w") as words:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=project,
            env=environment(project),
            stdout=words,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def mounted(*arguments: str | Path) -> None:
    """`mount` with these arguments; the test is skipped where this machine does not let us."""
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this machine lets us mount nothing (needs root): {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of that size at `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """`folder` on a disk that takes no writing, not even root's."""
    mounted("--bind", folder, folder)
    try:
        mounted("-o", "remount,ro,bind", folder)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> None:
    """Write until nothing more fits."""
    with contextlib.suppress(OSError), (folder / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
