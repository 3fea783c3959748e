"""Create a study of your own: should I buy four devices like the one in this machine, or rent?

Writes config/studies/NAME/: a commented study, instances, workloads and two price lists (a box of four, rentals), with
this machine's device in it. It runs at once; nothing that exists is overwritten. On a machine with a GPU, or with a
figure of one that you timed elsewhere, rentals are those of today and their speed is transferred from yours. A
processor tells nothing of GPUs: there the rentals are examples of 2018.

How a job uses a machine of several devices is asked: on all of them together, or on one while others run beside it.
Jobs of one device each are the work of months: where the machine has a GPU, or you timed one, the study then asks what
to have beside it and what to rent.

    sweetspot new-study mine           # or: make study NAME=mine
    make report STUDY=mine
    sweetspot new-study mine --gpu-name "RTX 4090" --model resnet50 --speed 1120 --currency EUR
    # or: make study NAME=mine GPU_NAME="RTX 4090" MODEL=resnet50 SPEED=1120 CURRENCY=EUR
    sweetspot new-study mine --devices-per-job 1   # or: make study NAME=mine DEVICES_PER_JOB=1

With --work the study is about jobs by tokens, in the words of `sweetspot estimate`.

    sweetspot new-study mine --work "llama-3.1-8b lora 100M tokens"
    # or: make study NAME=mine WORK="llama-3.1-8b lora 100M tokens"

With --ask ten questions make the study of a month's work, and its answer is printed: each has a default, and may be
answered by "don't know". Answers may come by a pipe, a line each.

    sweetspot new-study --ask
"""

import argparse
import datetime
from pathlib import Path
from typing import get_args

from sweetspot.cells import is_slug
from sweetspot.commands.create_study import create_study, create_study_of_tokens
from sweetspot.commands.estimate import asked_work
from sweetspot.commands.study_form import answer, make_study, published
from sweetspot.commands.study_of_today import OWN, Own, checked_money
from sweetspot.commands.study_questions import ask_all
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.base import Precision
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.open_models import SEQUENCE
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import network_name, shipped_devices
from sweetspot.transfer.transferring import Measured, learn_devices, transferred


def own_machine() -> tuple[str, str]:
    """Instance and device name of this machine: its NVIDIA GPU if the driver shows one, else its processor."""
    import pynvml

    from sweetspot.harness.facts import processor_name

    try:
        pynvml.nvmlInit()
        return "workstation-gpu", str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))
    except pynvml.NVMLError:
        return "workstation", processor_name()


def timed(arguments: argparse.Namespace, studies: Path) -> Own | None:
    """The figure that a person timed elsewhere; None where no device is named. Raises UserError."""
    if arguments.gpu_name is None:
        if arguments.speed is not None:
            raise UserError("SPEED is given without GPU_NAME; expected the device that it was timed on")
        return None
    if arguments.speed is None or not RATES[0] <= arguments.speed <= RATES[1]:
        raise UserError(f"SPEED is {arguments.speed}; expected what {arguments.gpu_name} trains, in samples per second")
    if not is_slug(arguments.model):
        raise UserError(f"MODEL is {arguments.model!r}; expected letters, digits, '.', '_' and '-'")
    if arguments.batch_size < 1:
        raise UserError(f"BATCH is {arguments.batch_size}; expected a whole number above 0")
    device = shipped_devices().get(arguments.gpu_name)
    cell = (arguments.model, arguments.precision, arguments.framework, arguments.batch_size)
    own = Own(device, OWN, *cell, arguments.speed, *checked_money(arguments.currency, arguments.rate))
    # Refused here in one sentence, not by the study later.
    known = Measured(device, own.images_per_s or 0.0, own.model, own.precision, own.framework, own.batch_size)
    transferred([known], [device], learn_devices(studies))
    return own


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot new-study`."""
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help="folder under config/studies/: letters, digits, '.', '_' and '-'")
    add("--ask", action="store_true", help="ask ten questions instead, and end with the answer")
    add("--no-answer", action="store_true", help="with --ask: write the study, and run nothing")
    add("--work", metavar="WORK", help='jobs by tokens: "llama-3.1-8b lora 100M tokens"')
    add("--gpu-name", metavar="GPU", help='device that you timed elsewhere, such as "RTX 4090"')
    add("--speed", type=float, metavar="RATE", help="samples per second that it trains")
    add("--model", default="resnet50", help="what it trains (resnet50)")
    add("--precision", choices=get_args(Precision), default="fp16", help="number format (fp16)")
    add("--framework", choices=tuple(FRAMEWORKS), default="torch", help="framework (torch)")
    add("--batch-size", type=int, default=64, metavar="BATCH", help="batch of the device (64)")
    several = "devices that one job takes: 1, n, or all of its machine (all); several such run side by side"
    add("--devices-per-job", type=_devices, default="all", metavar="N", help=several)
    add("--currency", default="USD", help="currency of the box (USD); EUR has a rate, of others --rate")
    add("--rate", type=float, metavar="USD", help="what a unit of that currency is worth in USD today")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def _devices(text: str) -> int | str:
    """Devices that a job takes, as typed: a whole number above 0, or all. Raises ArgumentTypeError."""
    if text == "all":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a whole number above 0, or all")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Create the study, check it as the workflow would, and say how to run it. Raises UserError."""
    name, config, today = arguments.name, arguments.config, datetime.date.today()
    timed_elsewhere = arguments.gpu_name or arguments.speed
    if arguments.ask:
        if timed_elsewhere:
            raise UserError("--ask asks for the device and its speed; expected no --gpu-name and --speed beside it")
        return _asked(arguments)
    if name is None:
        raise UserError("NAME is missing; expected the study's name, or --ask for ten questions")
    if arguments.work is not None:
        if timed_elsewhere:
            raise UserError(
                "--work has no --gpu-name and --speed beside it; a figure of yours goes into throughput.csv"
            )
        work = asked_work(arguments.work, SEQUENCE, 1.0)
        return _ready(create_study_of_tokens(name, config, work, today), config, "workloads and prices")
    own = timed(arguments, config / "studies")
    machine = own_machine() if own is None else (OWN, own.device.gpu)
    folder = create_study(name, config, machine, today, own, arguments.devices_per_job)
    measured = {"measure_on": machine[0]} if own is None else {}
    return _ready(folder, config, "prices", " GPU=1" if machine[0] == "workstation-gpu" else "", **measured)


def _ready(folder: Path, config: Path, parts: str, flags: str = "", **chosen: str) -> int:
    """Read the study as the workflow would, and say what comes next. Raises UserError."""
    load_invocation(config / "config.yaml", {"study": folder.name} | chosen, config)
    print(f"{folder} is ready. Edit its {parts}, then: make report STUDY={folder.name}{flags}")
    return 0


def _asked(arguments: argparse.Namespace) -> int:
    """The study of ten answers, and its answer; the exit code of `sweetspot ask`. Raises UserError."""
    studies = arguments.config / "studies"
    if not studies.is_dir():
        raise UserError(f"{studies}: the folder is needed and does not exist; expected --config of a project")
    instance, gpu = own_machine()
    known = shipped_devices().find(gpu) if instance == "workstation-gpu" else None
    rows, taken = published(studies), {entry.name for entry in studies.iterdir()}
    free = (f"mine{number}" for number in ("", *range(2, len(taken) + 3)) if f"mine{number}" not in taken)
    networks = {network_name(row["model"]) for row in rows}
    try:
        answers = ask_all(known.gpu if known else None, arguments.name or next(free), networks, taken)
        make_study(answers, arguments.config, rows, datetime.date.today())
    except KeyboardInterrupt:
        raise UserError("stopped; nothing is written") from None
    return 0 if arguments.no_answer else answer(answers.name, arguments.config)
