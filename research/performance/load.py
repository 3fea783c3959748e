"""What the workflow costs under load, as ratios measured in one session: `python research/performance/load.py`.

Each figure is CPU-seconds (user + system, children included) and peak memory of a whole process; of a price edit also
wall time, which counts on an idle machine only. Ours and its yardstick alternate, so that a machine that slows down
slows both; the median of the ratios is printed beside its goal. Nothing here is a test: times on a shared machine vary.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from load_projects import ROOT, big_project, done_trivial, fake_runs, small_project, trivial_project
from pages import ROUNDS, first_paint


class Cost(NamedTuple):
    """CPU-seconds and peak MiB of one process and its children, and how long it took."""

    cpu_s: float
    peak_mib: float
    wall_s: float


class Pairs(NamedTuple):
    """Median costs of ours and of its yardstick, and the median of the pairwise ratios of each figure."""

    ours: Cost
    yardstick: Cost
    ratio: Cost


def cost(command: list[str], folder: Path) -> Cost:
    """Run a command to its end and account for it. Raises RuntimeError with its last lines if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow"), "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile("w+") as output:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall_s)


def alternate(ours: Callable[[], Cost], yardstick: Callable[[], Cost], rounds: int) -> Pairs:
    """Both in turn, `rounds` times."""
    pairs = [(ours(), yardstick()) for _ in range(rounds)]
    mine, other = zip(*pairs, strict=True)
    ratios = [[one / two for one, two in zip(*pair, strict=True)] for pair in pairs]
    return Pairs(*(Cost(*map(statistics.median, zip(*side, strict=True))) for side in (mine, other, ratios)))


COLLECT = """
import sys
from pathlib import Path
from sweetspot.throughput.collect import measured_cells
from sweetspot.throughput.run_files import summarise_runs
files = Path(sys.argv[1]).read_text().split()
print(len(measured_cells(summarise_runs(files))))
"""
PYARROW_ALONE = """
import sys
from pathlib import Path
from pyarrow import dataset
files = Path(sys.argv[1]).read_text().split()
key = ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant", "run"]
table = dataset.dataset(files).to_table(columns=[*key, "seconds"])
print(len(table.group_by(key).aggregate([("seconds", "mean"), ("seconds", "approximate_median")])))
"""


# What a run measures, by itself: the training. The rest of a job is its fixed cost.
BARE_TRAINING = """
import sys
from sweetspot.harness.backends import backend
from sweetspot.harness.request import parse_request
request = parse_request(sys.argv[1:])
chosen = backend(request.cell.framework)
chosen.prepare(request)
step, _ = chosen.build_step(request)
for _ in range(request.warmup_steps + request.min_steps):
    step.finish(step.launch())
"""
A_RUN = (
    "--instance here --framework tensorflow --model tiny_cnn --batch-size 8 --precision fp32 --variant default "
    "--gpus 1 --run 1 --min-seconds 0 --output "
)
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet"]
PAGE = "results/parkopedia-2018/report/index.html"


def row(name: str, pairs: Pairs, goal: str) -> None:
    """One row of the table, in Markdown."""
    mine, other, ratio = pairs
    print(
        f"| {name} | {mine.cpu_s:.2f} | {mine.peak_mib:.0f} | {other.cpu_s:.2f} | {other.peak_mib:.0f} "
        f"| {ratio.cpu_s:.2f} | {ratio.peak_mib:.2f} | {goal} |",
        flush=True,
    )


def large_matrix(folder: Path, cells: int, rounds: int) -> Path:
    """Rows of the graph with nothing done, of collecting, and of an invocation with all done."""
    big, trivial = big_project(folder, cells), trivial_project(folder, cells)
    both = (lambda: cost([*SNAKEMAKE, "--dry-run"], big)), (lambda: cost([*SNAKEMAKE, "--dry-run"], trivial))
    row(f"dry run of {cells:,} cells, against a trivial workflow", alternate(*both, rounds), "1.3")
    listed = folder / "files.txt"
    collecting = tuple(
        (lambda code=code: cost([sys.executable, "-c", code, str(listed)], big)) for code in (COLLECT, PYARROW_ALONE)
    )
    for steps, goal in ((1000, "1.3"), (50, "3 CPU-s, 500 MiB")):
        listed.write_text("\n".join(fake_runs(big, cells, steps)))
        name = f"collect {cells:,} run files of {steps} steps, against pyarrow alone"
        row(name, alternate(*collecting, rounds), goal)
    cost(SNAKEMAKE, big)
    done_trivial(trivial, cells)
    both = (lambda: cost(SNAKEMAKE, big)), (lambda: cost(SNAKEMAKE, trivial))
    row(f"nothing to do after {cells:,} cells, against a trivial workflow", alternate(*both, rounds), "1.3")
    return big


def price_edit(project: Path, target: str = "report") -> Cost:
    """Make one price a cent dearer and run to the whole report, or to `target`."""
    prices = project / "config" / "studies" / "parkopedia-2018" / "prices" / "aws-on-demand.yaml"
    offer = re.compile(r"(instance: p3\.2xlarge, per_hour: )([0-9.]+)")
    dearer = offer.sub(lambda found: f"{found[1]}{float(found[2]) + 0.01:.2f}", prices.read_text(), count=1)
    prices.write_text(dearer)
    return cost([*SNAKEMAKE, "--", target], project)


def price_edits(small: Path, rounds: int) -> None:
    """Rows of a price edit against Snakemake with nothing to do, in CPU-seconds and in wall time."""
    for target, name in (("report", "report"), (PAGE, "page alone")):
        nothing = [*SNAKEMAKE, "--", target]
        cost(nothing, small)
        pairs = alternate(partial(price_edit, small, target), partial(cost, nothing, small), rounds)
        row(f"price edit to {name}, against nothing to do", pairs, "3.0")
        seconds = f"{pairs.ours.wall_s:.2f} s against {pairs.yardstick.wall_s:.2f} s, ratio {pairs.ratio.wall_s:.2f}"
        print(f"| price edit to {name}, wall time: {seconds} (goal 2.5) | | | | | | | |", flush=True)


def small_edits(folder: Path, big: Path, rounds: int) -> None:
    """Rows of a price edit, alone and with the large matrix's runs in results/, and of one job's fixed cost."""
    small = small_project(folder)
    cost(SNAKEMAKE, small)
    price_edit(small)
    price_edits(small, rounds)
    crowded = folder / "crowded"
    shutil.copytree(small, crowded, symlinks=True)
    shutil.copytree(big / "results" / "benchmarks", crowded / "results" / "benchmarks", dirs_exist_ok=True)
    both = (lambda: price_edit(crowded)), (lambda: price_edit(small))
    row("price edit with the large matrix's runs in results/, against without", alternate(*both, rounds), "1")
    asked = [*A_RUN.split(), str(folder / "run.parquet")]
    script = [sys.executable, str(ROOT / "workflow" / "scripts" / "run_benchmark.py")]
    both = (
        (lambda: cost([*script, *asked], small)),
        (lambda: cost([sys.executable, "-c", BARE_TRAINING, *asked], small)),
    )
    row("one benchmark job, against what it measures alone", alternate(*both, rounds), "0.5 CPU-s more")


def page(project: Path) -> None:
    """Size of the page of the large matrix, and its first paint in headless Chromium (a figure of this machine)."""
    file = project / "results" / "parkopedia-2018" / "report" / "index.html"
    print(f"\npage of the large matrix: {file.stat().st_size / 1e6:.2f} MB (goal 5)")
    painted = first_paint(file)
    told = "no Chromium on this machine" if painted is None else f"median {painted:.2f} s of {ROUNDS} (goal 2)"
    print(f"first paint: {told}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="pairs measured for each row")
    parser.add_argument("--cells", type=int, default=10_000, help="cells of the large matrix, a multiple of 100")
    parser.add_argument("--price-edit", action="store_true", help="measure a price edit only")
    asked = parser.parse_args()
    print("| what | CPU-s | MiB | yardstick CPU-s | yardstick MiB | CPU ratio | memory ratio | goal |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="sweetspot-load-") as folder:
        if asked.price_edit:
            small = small_project(Path(folder))
            cost(SNAKEMAKE, small)
            price_edits(small, asked.rounds)
            return
        big = large_matrix(Path(folder), asked.cells, asked.rounds)
        small_edits(Path(folder), big, asked.rounds)
        page(big)


if __name__ == "__main__":
    main()
