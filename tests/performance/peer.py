"""Our harness against tf_cnn_benchmarks on one machine, in alternation.

    python tests/performance/peer.py --peer DIR [--extra DIR] [--models resnet50 ...]

DIR is a checkout of github.com/tensorflow/benchmarks; it needs tf-keras (`pip install tf-keras`, or a folder
made with `pip install --no-deps --target` given as --extra). The same model, batch, precision and synthetic data
run in both, each with few and with more steps; the difference is the cost of a step without start-up. Printed
for each model: CPU-seconds and wall seconds a step of both, and the medians of the pairwise ratios ours / peer with
their range over the rounds (below 1: ours is cheaper); each round goes to stderr as it ends. Which of the two begins
changes from round to round, so that a trend of the machine favours neither. Wall time of a shared machine varies; the
ratio of CPU-seconds is the figure to quote.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent.parent
FEW, MORE = 2, 8
RATES = ("matmul", "conv")


class Step(NamedTuple):
    """What one training step costs."""

    cpu_s: float
    wall_s: float


def spent(command: list[str], folder: Path, extra: str) -> Step:
    """CPU and wall seconds of a whole process with its children. Raises RuntimeError if it fails."""
    path = os.pathsep.join(filter(None, [str(ROOT / "workflow"), extra, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    if extra or "tf_cnn_benchmarks.py" in command:
        environment["TF_USE_LEGACY_KERAS"] = "1"
    with tempfile.TemporaryFile("w+") as output:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()[-3000:]}")
    return Step(usage.ru_utime + usage.ru_stime, wall)


def step_cost(command: list[str], steps: str, folder: Path, extra: str) -> Step:
    """Cost of one step: the difference of a run with more steps and one with few."""
    few, more = (spent([*command, steps.format(number)], folder, extra) for number in (FEW, MORE))
    return Step(*((high - low) / (MORE - FEW) for low, high in zip(few, more, strict=True)))


def ours(model: str, batch_size: int, scratch: Path) -> Step:
    """A step of this harness."""
    flags = f"--instance here --framework tensorflow --model {model} --batch-size {batch_size} --gpus 1"
    rest = "--precision fp32 --variant default --run 1 --warmup-steps 2 --min-seconds 100000"
    script = str(ROOT / "workflow" / "scripts" / "run_benchmark.py")
    command = [sys.executable, script, *flags.split(), *rest.split(), "--output", str(scratch / "run~1.parquet")]
    cost = step_cost(command, "--min-steps={}", ROOT, "")
    table = pq.read_table(scratch / "run~1.parquet")
    status = table.column("status")[0].as_py()
    if status not in ("ok", "unstable"):  # a failed run is data to the harness, and would look fast here
        raise RuntimeError(f"our run of {model} ended as {status}")
    facts = json.loads(table.schema.metadata[b"sweetspot"])
    shares = [f"{facts[f'share_of_{name}']:.0%} of {facts[f'machine_{name}_flops'] / 1e9:.0f}" for name in RATES]
    print(f"{model}: reached {shares[0]} GFLOP/s (matrix product), {shares[1]} (convolution)", file=sys.stderr)
    return cost


def peer(model: str, batch_size: int, folder: Path, extra: str) -> Step:
    """A step of tf_cnn_benchmarks on a processor, computing what ours computes."""
    flags = (
        f"--device=cpu --data_format=NHWC --variable_update=parameter_server --local_parameter_device=cpu "
        f"--model={model} --batch_size={batch_size} --num_warmup_batches=2 --display_every=100 "
        "--weight_decay=0"  # its default adds the gradient of an L2 penalty, which our step has not
    )
    command = [sys.executable, "tf_cnn_benchmarks.py", *flags.split()]
    return step_cost(command, "--num_batches={}", folder / "scripts" / "tf_cnn_benchmarks", extra)


def round_of(model: str, number: int, arguments: argparse.Namespace) -> tuple[Step, Step]:
    """One step of ours and one of the peer's; odd rounds begin with the peer."""
    with tempfile.TemporaryDirectory() as scratch:
        measures = {
            "ours": lambda: ours(model, arguments.batch_size, Path(scratch)),
            "peer": lambda: peer(model, arguments.batch_size, arguments.peer, arguments.extra),
        }
        found = {name: measures[name]() for name in sorted(measures, reverse=bool(number % 2))}
    mine, other = found["ours"], found["peer"]
    print(f"{model} round {number + 1}: ours {mine}, peer {other}", file=sys.stderr, flush=True)
    return mine, other


def row(model: str, pairs: list[tuple[Step, Step]]) -> str:
    """The table's row of one model: medians, and the range of the ratios."""
    cells = [model, str(len(pairs))]
    for what in Step._fields:
        mine, other = ([getattr(pair[who], what) for pair in pairs] for who in (0, 1))
        ratios = [own / its for own, its in zip(mine, other, strict=True)]
        cells += [f"{statistics.median(mine):.2f}", f"{statistics.median(other):.2f}"]
        cells += [f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, required=True, help="checkout of tensorflow/benchmarks")
    parser.add_argument("--extra", default="", help="folder with tf-keras, if it is not installed")
    parser.add_argument("--models", nargs="+", default=["resnet50", "inception3", "vgg16"])
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| model | rounds | ours CPU-s/step | peer CPU-s/step | CPU ratio | ours s/step | peer s/step | wall ratio |")
    print(f"|{'---|' * 8}")
    for model in arguments.models:
        pairs = [round_of(model, number, arguments) for number in range(arguments.rounds)]
        print(row(model, pairs), flush=True)


if __name__ == "__main__":
    main()
