"""Our harness against other people's training loops on this machine: CPU-seconds a step, their ratio, its interval.

    python research/performance/peers.py --vision DIR --benchmarks DIR --extra DIR
    python research/performance/peers.py gpt2_small bert_base --blocks 20

DIR are checkouts of github.com/pytorch/vision (or its wheel, unpacked, with references/ beside it) and
tensorflow/benchmarks (which needs tf-keras: `pip install --no-deps --target EXTRA tf-keras`). Peers whose checkout or
package is not there are left out, and named. Everything runs on one core by default (`--cpus`). Both sides
have our settings of the memory allocator (`--memory ours`: we as shipped, the peer as it comes; `none`: neither). How
turns are taken is told in turns.py, what each peer runs in peer_loops.py; docs/evidence/performance.md has the figures.
Below 1 ours is cheaper.
"""

import argparse
import datetime
import functools
import importlib.metadata
import importlib.util
import os
import re
import signal
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from sweetspot.harness.facts import processor_name
from sweetspot.harness.request import parse_request
from sweetspot.harness.supervise import KEEP_MEMORY
from turns import Contender, Cost, ratio, round_of

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STEP_OF_TF = re.compile(r"^\d+\timages/sec")

MEMORY = {"same": "our memory settings in both", "ours": "each as it comes", "none": "no memory settings"}
HEADER = ("peer", "framework", "model", "batch", "rounds x steps")
HEADER += ("ours CPU-s/step", "peer CPU-s/step", "CPU ratio", "wall ratio")


class Peer(NamedTuple):
    """What ours trains, what the peer runs, and which option names its checkout (None: a package)."""

    framework: str
    model: str
    batch_size: int
    loop: str
    checkout: str | None
    packages: tuple[str, ...]


PEERS = {
    "torchvision": Peer("torch", "resnet50", 4, "torchvision", "vision", ("torch",)),
    "gpt2_small": Peer("torch", "gpt2_small", 1, "huggingface", None, ("torch", "transformers")),
    "tiny_gpt2": Peer("torch", "tiny_gpt2", 64, "huggingface", None, ("torch", "transformers")),
    "bert_base": Peer("torch", "bert_base", 1, "huggingface", None, ("torch", "transformers")),
    "hf-resnet50": Peer("torch", "resnet50", 4, "huggingface", None, ("torch", "transformers")),
    **{
        f"tf-{model}": Peer("tensorflow", model, 4, "tf_cnn_benchmarks", "benchmarks", ("tensorflow", "keras"))
        for model in ("resnet50", "inception3", "vgg16")
    },
}


def environment(asked: argparse.Namespace, memory: bool, extra: str = "") -> dict[str, str]:
    """What both sides are started with; `memory`: with our settings of the allocator."""
    path = os.pathsep.join(filter(None, [str(ROOT / "workflow"), extra, os.environ.get("PYTHONPATH", "")]))
    threads = {"OMP_NUM_THREADS": str(asked.cpus), "CUDA_VISIBLE_DEVICES": ""}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, "PYTHONPATH": path, **threads, **quiet, **(KEEP_MEMORY if memory else {})}


def ours(peer: Peer, asked: argparse.Namespace, cpus: list[int]) -> Contender:
    """The training process of this harness."""
    flags = f"--instance here --framework {peer.framework} --model {peer.model} --batch-size {peer.batch_size}"
    rest = "--gpus 1 --precision fp32 --variant default --run 1 --min-steps 1000000 --min-seconds 1e9 --output unused"
    request = parse_request([*flags.split(), *rest.split()])
    command = [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]
    return Contender(
        command, ROOT, environment(asked, asked.memory != "none"), lambda line: '"timed": true' in line, cpus
    )


def theirs(peer: Peer, asked: argparse.Namespace, cpus: list[int]) -> Contender:
    """The peer, computing what ours computes."""
    checkout = getattr(asked, peer.checkout) if peer.checkout else None
    if peer.loop == "tf_cnn_benchmarks":
        flags = (
            f"--device=cpu --data_format=NHWC --variable_update=parameter_server --local_parameter_device=cpu "
            f"--model={peer.model} --batch_size={peer.batch_size} --num_warmup_batches=2 --display_every=1 "
            "--num_batches=1000000 --weight_decay=0"  # its default adds the gradient of a penalty, which ours has not
        )
        command = [sys.executable, "tf_cnn_benchmarks.py", *flags.split()]
        around = environment(asked, asked.memory == "same", asked.extra) | {"TF_USE_LEGACY_KERAS": "1"}
        folder = checkout / "scripts" / "tf_cnn_benchmarks"
        return Contender(command, folder, around, lambda line: bool(STEP_OF_TF.match(line)), cpus)
    sizes = ["--model", peer.model, "--batch-size", str(peer.batch_size)]
    sizes += ["--checkout", str(checkout)] if checkout else []
    command = [sys.executable, str(HERE / "peer_loops.py"), peer.loop, *sizes]
    around = environment(asked, asked.memory == "same")
    return Contender(command, ROOT, around, lambda line: '"timed": true' in line, cpus)


def lacks(peer: Peer, asked: argparse.Namespace) -> str | None:
    """What of a peer is not there."""
    if peer.checkout and not asked.itself and getattr(asked, peer.checkout) is None:
        return f"--{peer.checkout} DIR"
    absent = [name for name in peer.packages if importlib.util.find_spec(name) is None]
    return f"pip install {' '.join(absent)}" if absent else None


def row(name: str, peer: Peer, costs: list[Cost]) -> str:
    """The table's row of one peer."""
    cpu, wall = ([[getattr(side, unit) for side in cost[:2]] for cost in costs] for unit in ("cpu_s", "wall_s"))
    means = [f"{statistics.fmean(values):.3f}" for values in zip(*cpu, strict=True)]
    found = [ratio(*zip(*pairs, strict=True)) for pairs in (cpu, wall)]
    told = [f"{one.middle:.3f} ({one.low:.3f} to {one.high:.3f})" for one in found]
    steps = f"{len(costs)} x {round(statistics.fmean(cost.steps for cost in costs))}"
    return f"| {' | '.join([name, peer.framework, peer.model, str(peer.batch_size), steps, *means, *told])} |"


def parsed() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PEER", help=f"of {', '.join(PEERS)}; all if none")
    for option in ("vision", "benchmarks"):
        parser.add_argument(f"--{option}", type=lambda text: Path(text).resolve(), metavar="DIR")
    parser.add_argument("--extra", default="", metavar="DIR", help="folder with tf-keras, if it is not installed")
    parser.add_argument("--rounds", type=int, default=12, help="of new processes, over which the interval is taken")
    parser.add_argument("--blocks", type=int, default=1, help="of turns A B B A in each round")
    parser.add_argument("--turn-s", type=float, default=2.0, help="seconds of a turn, one step at least")
    parser.add_argument("--cpus", type=int, default=1, help="cores, and threads")
    parser.add_argument("--batch-size", type=int, help="instead of the peer's own")
    parser.add_argument(
        "--itself", action="store_true", help="ours against ours: what the method finds where nothing is"
    )
    parser.add_argument("--memory", choices=list(MEMORY), default="same", help="who has our settings of the allocator")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(PEERS):
        parser.error(f"unknown peers: {', '.join(sorted(unknown))}; expected of {', '.join(PEERS)}")
    return asked


def main() -> None:
    """Print the table."""
    asked = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that both processes are ended with this one
    chosen = {name: PEERS[name] for name in asked.names or PEERS}
    if asked.batch_size:
        chosen = {name: peer._replace(batch_size=asked.batch_size) for name, peer in chosen.items()}
    cpus = sorted(os.sched_getaffinity(0))[-asked.cpus :]
    packages = sorted({package for peer in chosen.values() for package in peer.packages})
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages if importlib.util.find_spec(name)]
    memory = MEMORY[asked.memory]
    where = f"{datetime.date.today()}, {processor_name()}, {len(cpus)} of its cores, fp32, {memory}"
    print(f"{where}; {', '.join(versions)}\n")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    for name, peer in chosen.items():
        if missing := lacks(peer, asked):
            print(f"{name}: left out; {missing}", file=sys.stderr)
            continue
        starts = [functools.partial(side, peer, asked, cpus) for side in (ours, ours if asked.itself else theirs)]
        costs = []
        for number in range(asked.rounds):
            costs.append(round_of(starts, asked.blocks, asked.turn_s, turned=number % 2 == 1))
            print(name, number, *(f"{side.cpu_s:.4f}" for side in costs[-1][:2]), file=sys.stderr)
        print(row(name, peer, costs), flush=True)


if __name__ == "__main__":
    main()
