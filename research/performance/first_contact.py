"""From a clone to a page, without measuring, step by step: `python research/performance/first_contact.py`.

Prints wall and CPU-seconds of each step, what the jobs of `make report` took, and the size of the environment with its
largest packages. The package cache is warm: a first environment, which is not counted, fills it (`--cold` leaves
that out). Goals, on two cores: 90 s and 600 MB. Nothing here is a test: times on a shared machine vary.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL_S, GOAL_MB = 90, 600


def cpu_s() -> float:
    """CPU-seconds of all children so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def step(name: str, command: list[str], folder: Path) -> tuple[float, float, list[tuple[float, str]]]:
    """Run one step; print and return its wall and CPU-seconds, and the lines it said, each with its second."""
    kept = {word: value for word, value in os.environ.items() if word not in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS")}
    began, used = time.monotonic(), cpu_s()
    process = subprocess.Popen(
        command, cwd=folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = [(time.monotonic() - began, line.rstrip()) for line in process.stdout]
    process.wait()
    wall, cpu = time.monotonic() - began, cpu_s() - used
    if process.returncode != 0:
        sys.exit("\n".join([f"{' '.join(command)} failed:", *(line for _, line in said[-40:])]))
    print(f"{wall:8.1f} s wall {cpu:7.1f} s CPU  {name}", flush=True)
    return wall, cpu, said


def jobs(said: list[tuple[float, str]], wall: float) -> list[tuple[float, str]]:
    """Seconds from the start of each job to the next one's; before the first, what `make` and Snakemake took."""
    starts = [(second, line.split("] ", 1)[1]) for second, line in said if re.match(r"\[\d+/\d+\] ", line)]
    ends = [second for second, _ in starts] + [wall]
    named = [(0.0, "until the first job: make, Snakemake, the rules"), *starts]
    return [(end - second, name) for (second, name), end in zip(named, ends, strict=True)]


def megabytes(folder: Path) -> float:
    """MB (1e6 bytes) that the files of a folder occupy, each hard link once."""
    seen = {(info.st_dev, info.st_ino): info.st_blocks * 512 for info in map(os.lstat, folder.rglob("*"))}
    return sum(seen.values()) / 1e6


def packages(environment: Path) -> list[tuple[float, str]]:
    """The largest entries of site-packages in MB."""
    (installed,) = environment.glob("lib/python*/site-packages")
    folders = [entry for entry in installed.iterdir() if entry.is_dir()]
    return sorted(((megabytes(entry), entry.name) for entry in folders), reverse=True)[:10]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="rare-2018", help="a study that measures nothing (rare-2018)")
    parser.add_argument("--cold", action="store_true", help="do not fill the package cache first")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="first-contact-"))
    study = f"STUDY={options.study}"
    try:
        installer = shutil.which("uv") or "pip"
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, installed by {installer}, {options.study}")
        if not options.cold:
            step("(not counted: the package cache is filled)", ["make", "environment", study, f"VENV={place}/w"], ROOT)
        project = place / "sweetspot"
        spent = [
            step("git clone", ["git", "clone", "-q", str(ROOT), str(project)], place),
            step("make environment", ["make", "environment", study], project),
            step("make report", ["make", "report", study], project),
            step("make report, a second time", ["make", "report", study], project),
        ]
        wall, cpu = (sum(part[number] for part in spent[:3]) for number in (0, 1))
        size = megabytes(project / ".venv")
        print(f"{wall:8.1f} s wall {cpu:7.1f} s CPU  from clone to page (goal: {GOAL_S} s)")
        print(f"{size:8.0f} MB  the environment, {size * 1e6 / 2**20:.0f} MiB as du counts (goal: {GOAL_MB}), of it")
        for part, name in packages(project / ".venv"):
            print(f"{part:8.0f} MB    {name}")
        print("of make report, from the start of each job to the next one's (two run at once):")
        for part, name in sorted(jobs(spent[2][2], spent[2][0]), reverse=True)[:8]:
            print(f"{part:8.1f} s    {name}")
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
