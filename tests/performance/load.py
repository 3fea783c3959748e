"""What the workflow costs under load, as ratios measured in one session: `python tests/performance/load.py`.

Each figure is CPU-seconds (user + system, children included) and peak memory of a whole process. Ours and its
yardstick alternate, so that a machine that slows down slows both; the median of the ratios is printed beside
its goal. Nothing here is a test: times on a shared machine vary.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
CELLS = 10_000


class Cost(NamedTuple):
    """CPU-seconds and peak MiB of one process and its children."""

    cpu_s: float
    peak_mib: float


def cost(command: list[str], folder: Path) -> Cost:
    """Run a command to its end and account for it. Raises RuntimeError with its last lines if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow"), "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def alternate(ours: Callable[[], Cost], yardstick: Callable[[], Cost], rounds: int) -> tuple[Cost, Cost, float, float]:
    """Median costs of both and the medians of the pairwise ratios (CPU, memory)."""
    pairs = [(ours(), yardstick()) for _ in range(rounds)]
    middle = [
        Cost(*(statistics.median(values) for values in zip(*side, strict=True))) for side in zip(*pairs, strict=True)
    ]
    ratios = [
        statistics.median(mine[index] / other[index] for mine, other in pairs if other[index]) for index in (0, 1)
    ]
    return middle[0], middle[1], ratios[0], ratios[1]


def big_project(folder: Path, cells: int) -> Path:
    """A copy of the project whose matrix has `cells` cells of one run each."""
    sys.path.insert(0, str(ROOT / "tests"))
    from project_copy import copy_project, edit

    project = copy_project(folder / "big")
    models, batches = cells // 100, 25
    config = project / "config" / "config.yaml"
    edit(config, "model: [inception3, resnet50, vgg16]", f"model: [{', '.join(f'm{n}' for n in range(models))}]")
    edit(config, "batch_size: [16] ", f"batch_size: [{', '.join(str(n + 1) for n in range(batches))}] ")
    edit(config, "gpus: [1]", "gpus: [1, 2, 4, 8]")
    edit(config, "runs: 2", "runs: 1")
    return project


def trivial_project(folder: Path, jobs: int) -> Path:
    """A workflow of as many jobs that do nothing: what Snakemake itself costs."""
    project = folder / "trivial"
    project.mkdir()
    (project / "Snakefile").write_text(
        'rule all:\n    input: "all.txt"\n'
        'rule one:\n    output: "runs/{number}.txt"\n    shell: "touch {output}"\n'
        f'rule collect:\n    input: [f"runs/{{n}}.txt" for n in range({jobs})]\n'
        '    output: "all.txt"\n    shell: "touch {output}"\n'
    )
    return project


def fake_runs(project: Path, cells: int, steps: int) -> list[str]:
    """A run file for every cell of the big project's matrix; steps of one second, a little different each."""
    sys.path.insert(0, str(project / "workflow"))
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sweetspot.cells import Cell, run_path

    files = []
    seconds = 1 + np.random.default_rng(1).random(steps) / 100
    for number in range(cells):
        cell = Cell(
            "workstation",
            "tensorflow",
            f"m{number // 100}",
            number % 25 + 1,
            (1, 2, 4, 8)[number // 25 % 4],
            "fp32",
            "default",
        )
        constant = {**cell._asdict(), "run": 1, "protocol": 1, "status": "ok", "gpu": "CPU", "logical": False}
        table = pa.table(
            {name: pa.array([value] * steps) for name, value in constant.items()}
            | {"message": pa.nulls(steps, pa.string()), "step": pa.array(range(steps)), "seconds": seconds}
        )
        path = project / "results" / "benchmarks" / f"{run_path(cell, 1)}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
        files.append(str(path))
    return files


COLLECT = """
import sys
from pathlib import Path
from sweetspot.throughput.collect import measured_cells, summarise_runs
files = Path(sys.argv[1]).read_text().split()
print(len(measured_cells(summarise_runs(files))))
"""
POLARS_ALONE = """
import sys
from pathlib import Path
import polars as pl
files = Path(sys.argv[1]).read_text().split()
key = ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant", "run"]
statistics = [pl.col("seconds").mean().alias("mean"), pl.col("seconds").median().alias("median")]
print(len(pl.scan_parquet(files).group_by(key).agg(statistics).collect()))
"""


def dry_run(project: Path) -> Cost:
    """A dry run of everything."""
    return cost([sys.executable, "-m", "snakemake", "--cores", "2", "--dry-run", "--quiet"], project)


def price_edit(project: Path) -> Cost:
    """Edit one price and run to the page."""
    prices = project / "config" / "studies" / "parkopedia-2018" / "prices" / "aws-on-demand.yaml"
    prices.write_text(prices.read_text() + "# edited\n")
    return cost([sys.executable, "-m", "snakemake", "--cores", "2", "--quiet"], project)


def floor(project: Path) -> Cost:
    """What a price edit cannot go below: Snakemake with nothing to do, and one process with the page's imports."""
    start = cost([sys.executable, "-m", "snakemake", "--cores", "2", "--quiet"], project)
    imports = "import pandas, altair, vl_convert, jinja2, pyarrow.parquet, pydantic, yaml"
    needs = cost([sys.executable, "-c", imports], project)
    return Cost(start.cpu_s + needs.cpu_s, max(start.peak_mib, needs.peak_mib))


def finished(folder: Path) -> Path:
    """The default study run to its page with a network that measures in seconds."""
    from project_copy import copy_project, edit

    project = copy_project(folder / "finished")
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(project / "config" / "config.yaml", "min_seconds: 20", "min_seconds: 1")
    cost([sys.executable, "-m", "snakemake", "--cores", "2", "--quiet"], project)
    return project


def report(name: str, mine: Cost, other: Cost, ratio: float, goal: str) -> None:
    """One row of the table, in Markdown."""
    print(
        f"| {name} | {mine.cpu_s:.2f} | {mine.peak_mib:.0f} | {other.cpu_s:.2f} | {other.peak_mib:.0f} "
        f"| {ratio:.2f} | {goal} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="pairs measured for each row")
    parser.add_argument("--cells", type=int, default=CELLS, help="cells of the large matrix")
    rounds = parser.parse_args().rounds
    cells = parser.parse_args().cells
    print("| what | CPU-s | MiB | yardstick CPU-s | yardstick MiB | ratio | goal |\n|---|---|---|---|---|---|---|")
    folder = Path(tempfile.mkdtemp(prefix="sweetspot-load-"))
    try:
        project, trivial = big_project(folder, cells), trivial_project(folder, cells)
        mine, other, ratio, memory = alternate(lambda: dry_run(project), lambda: dry_run(trivial), rounds)
        report(f"dry run, {cells:,} cells", mine, other, ratio, "1.3")
        print(f"| ... its memory | | | | | {memory:.2f} | 1.3 |")
        for steps, goal in ((50, "3 CPU-s, 500 MiB"), (1000, "1.3")):
            listed = folder / "files.txt"
            listed.write_text("\n".join(fake_runs(project, cells, steps)))
            mine, other, ratio, _ = alternate(
                lambda: cost([sys.executable, "-c", COLLECT, str(folder / "files.txt")], project),
                lambda: cost([sys.executable, "-c", POLARS_ALONE, str(folder / "files.txt")], project),
                rounds,
            )
            report(f"collect {cells:,} run files of {steps} steps, against polars alone", mine, other, ratio, goal)
        small = finished(folder)
        price_edit(small)
        mine, other, ratio, _ = alternate(lambda: price_edit(small), lambda: floor(small), rounds)
        report("price edit to page, against its floor", mine, other, ratio, "2")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
