"""Our harness against tf_cnn_benchmarks on one machine, turn by turn.

    python tests/performance/peer.py --peer DIR [--extra DIR] [--models resnet50 ...]

DIR is a checkout of github.com/tensorflow/benchmarks; it needs tf-keras (`pip install tf-keras`, or a folder
made with `pip install --no-deps --target` given as --extra). The same model, batch, precision and synthetic data
train in both, in two processes that live side by side: while one works the other is stopped (SIGSTOP), and every few
seconds they change turns. So a neighbour that slows the machine for a minute slows both alike, which whole runs one
after the other do not achieve: there the ratio of one pair varied by a fifth. Start-up and warm-up do not count.
Printed for each model: CPU-seconds and wall seconds a step of both (wall: of its own turns), and the ratios
ours / peer with the 95 % interval over blocks of turns (below 1: ours is cheaper).
"""

import argparse
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from sweetspot.harness.request import parse_request
from sweetspot.harness.step_times import half_width
from sweetspot.harness.supervise import KEEP_MEMORY

ROOT = Path(__file__).parent.parent.parent
BLOCKS = 6
TURN_S = 5.0
STEP_OF_THE_PEER = re.compile(r"^\d+\timages/sec")
WARMUP = 2


class Moment(NamedTuple):
    """When a step ended: CPU-seconds of the process, and seconds of its turns."""

    cpu_s: float
    wall_s: float


class Contender:
    """A process that trains in its turns only; `moments`: one a timed step; `facts`: what it says of itself."""

    def __init__(self, command: list[str], folder: Path, extra: str, settings: dict[str, str]) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT / "workflow"), extra, os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        environment |= {"PYTHONUNBUFFERED": "1", **settings}
        if "tf_cnn_benchmarks.py" in command:
            environment["TF_USE_LEGACY_KERAS"] = "1"
        self.moments: list[Moment] = []
        self.facts: dict[str, float] = {}
        self._last: list[str] = []
        self._worked, self._since = 0.0, time.monotonic()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._account = psutil.Process(self._process.pid)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            told = json.loads(line) if line.startswith("{") else {}
            self.facts |= told.get("facts", {})
            self._last = [*self._last[-20:], line]
            if told.get("timed") or STEP_OF_THE_PEER.match(line):
                times = self._account.cpu_times()
                wall = self._worked + time.monotonic() - self._since
                self.moments.append(Moment(times.user + times.system, wall))

    def stop(self) -> None:
        """End its turn."""
        self._process.send_signal(signal.SIGSTOP)
        self._worked += time.monotonic() - self._since

    def go(self) -> None:
        """Begin its turn."""
        self._since = time.monotonic()
        self._process.send_signal(signal.SIGCONT)

    def work(self, until: int, turn_s: float) -> None:
        """One turn, or as many seconds as it takes to have `until` steps; less if it comes to its end.

        Raises RuntimeError if it dies.
        """
        self.go()
        end = time.monotonic() + turn_s
        while self._process.poll() is None and (time.monotonic() < end or len(self.moments) < until):
            time.sleep(0.05)
        if self._process.returncode:
            raise RuntimeError(f"ended with code {self._process.returncode}:\n{''.join(self._last)}")
        self.stop()

    def finish(self) -> None:
        """Let it run to its own end."""
        self.go()
        self._reader.join()
        self._process.wait()

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()


def ours(model: str, batch_size: int, steps: int, as_shipped: bool = True, framework: str = "tensorflow") -> Contender:
    """The training process of this harness, `as_shipped` with its settings of the memory allocator."""
    flags = f"--instance here --framework {framework} --model {model} --batch-size {batch_size} --gpus 1"
    rest = f"--precision fp32 --variant default --run 1 --warmup-steps {WARMUP} --min-seconds 1e9 --output unused"
    request = parse_request([*flags.split(), *rest.split(), f"--min-steps={steps}"])
    command = [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]
    return Contender(command, ROOT, "", KEEP_MEMORY if as_shipped else {})


def peer(model: str, batch_size: int, steps: int, folder: Path, extra: str) -> Contender:
    """tf_cnn_benchmarks on a processor, computing what ours computes."""
    flags = (
        f"--device=cpu --data_format=NHWC --variable_update=parameter_server --local_parameter_device=cpu "
        f"--model={model} --batch_size={batch_size} --num_warmup_batches={WARMUP} --display_every=1 "
        f"--num_batches={steps} "
        "--weight_decay=0"  # its default adds the gradient of an L2 penalty, which our step has not
    )
    command = [sys.executable, "tf_cnn_benchmarks.py", *flags.split()]
    return Contender(command, folder / "scripts" / "tf_cnn_benchmarks", extra, {})


def compete(mine: Contender, other: Contender, steps: int) -> None:
    """Warm both up, then change turns until each has made `steps` steps."""
    mine.stop()
    other.stop()
    for contender in (mine, other):
        contender.work(until=1, turn_s=0)
    while min(len(mine.moments), len(other.moments)) < steps:
        mine.work(0, TURN_S)
        other.work(0, TURN_S)


def blocks(moments: list[Moment], index: int) -> list[float]:
    """Cost of a step in each of BLOCKS equal parts of the steps."""
    last = len(moments) - 1
    ends = [round(last * part / BLOCKS) for part in range(BLOCKS + 1)]
    parts = itertools.pairwise(ends)
    return [(moments[end][index] - moments[start][index]) / (end - start) for start, end in parts]


def row(model: str, mine: Contender, other: Contender) -> str:
    """The table's row of one model."""
    count = min(len(mine.moments), len(other.moments))
    cells = [model, str(count - 1)]
    for index in range(len(Moment._fields)):
        own, its = (blocks(contender.moments[:count], index) for contender in (mine, other))
        ratios = [one / another for one, another in zip(own, its, strict=True)]
        half = half_width(ratios) * statistics.fmean(ratios)
        ratio = statistics.fmean(own) / statistics.fmean(its)
        cells += [f"{statistics.fmean(own):.2f}", f"{statistics.fmean(its):.2f}", f"{ratio:.3f} ± {half:.3f}"]
    return f"| {' | '.join(cells)} |"


def shares(facts: dict[str, float], batch_size: int, seconds: float) -> str:
    """What the machine does on plain operations, and which share of it our steps reached."""
    reached = facts.get("samples_per_step", batch_size) * facts["training_flop_per_sample"] / seconds
    names = {"matmul": "matrix product", "conv": "convolution"}
    found = [(word, facts[f"machine_{name}_flops"]) for name, word in names.items()]
    return ", ".join(f"{reached / best:.0%} of {best / 1e9:.0f} GFLOP/s ({word})" for word, best in found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, required=True, help="checkout of tensorflow/benchmarks")
    parser.add_argument("--extra", default="", help="folder with tf-keras, if it is not installed")
    parser.add_argument("--models", nargs="+", default=["resnet50", "inception3", "vgg16"])
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--steps", type=int, default=37, help="steps of each, the first of which only starts the clock")
    plain = "ours without its settings of the memory allocator, which the peer has not"
    parser.add_argument("--plain-memory", action="store_true", help=plain)
    asked = parser.parse_args()
    print("| model | steps | ours CPU-s/step | peer CPU-s/step | CPU ratio | ours s/step | peer s/step | wall ratio |")
    print(f"|{'---|' * 8}")
    for model in asked.models:
        mine = ours(model, asked.batch_size, asked.steps, as_shipped=not asked.plain_memory)
        other = peer(model, asked.batch_size, asked.steps, asked.peer, asked.extra)
        try:
            compete(mine, other, asked.steps)
            print(row(model, mine, other), flush=True)
            other.kill()
            mine.finish()
            seconds = statistics.fmean(blocks(mine.moments, 1))
            print(f"{model}: ours reached {shares(mine.facts, asked.batch_size, seconds)}", file=sys.stderr)
        finally:
            other.kill()
            mine.kill()


if __name__ == "__main__":
    main()
