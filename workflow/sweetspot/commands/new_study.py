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
import math
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from sweetspot.cells import is_slug
from sweetspot.commands.command_line import main
from sweetspot.commands.create_study import JOBS, create_study, create_study_of_tokens, csv_rows
from sweetspot.commands.estimate import asked_work
from sweetspot.commands.offer_files import Desk, write_offer
from sweetspot.commands.offer_line import BOX
from sweetspot.commands.read_study import read_study
from sweetspot.commands.scratch import read_text, said_of, scratch_config, write_texts
from sweetspot.commands.study_of_today import OWN, Own, Work, checked_money
from sweetspot.commands.study_questions import Answers, Speed, ask_all, wide
from sweetspot.errors import UserError, refuse
from sweetspot.facts.shipped_tables import OF_DEVICES, figures_file
from sweetspot.matrix.invocation import load_invocation
from sweetspot.number_text import number_argument
from sweetspot.study.base import Precision
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.open_models import SEQUENCE
from sweetspot.throughput.published import RATES, THROUGHPUT_CSV
from sweetspot.transfer.figures import network_name, shipped_devices
from sweetspot.transfer.specifications import Device
from sweetspot.transfer.transferring import Measured, check_below_peak, learn_devices, transferred

USUAL = "RTX 4090"  # where nothing is had and nothing was timed: the device whose published figure serves
PRECISION, SERVING = "fp16", ("torch", "tensorflow")  # of published figures that serve; the first counts before
SHOWN = ("workloads.yaml", "prices/box.yaml", "prices/offers.yaml", "throughput.csv")


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
    check_below_peak(known)
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
    add("--speed", type=number_argument, metavar="RATE", help="samples per second that it trains")
    add("--model", default="resnet50", help="what it trains (resnet50)")
    add("--precision", choices=get_args(Precision), default="fp16", help="number format (fp16)")
    add("--framework", choices=tuple(FRAMEWORKS), default="torch", help="framework (torch)")
    add("--batch-size", type=int, default=64, metavar="BATCH", help="batch of the device (64)")
    several = "devices that one job takes: 1, n, or all of its machine (all); several such run side by side"
    add("--devices-per-job", type=_devices, default="all", metavar="N", help=several)
    add("--jobs-per-month", type=number_argument, metavar="N", help="jobs a month (20, with --work 10)")
    add("--samples-per-job", type=number_argument, metavar="N", help="samples that one job sees (100 million)")
    add("--currency", default="USD", help="currency of the box (USD); EUR has a rate, of others --rate")
    add("--rate", type=number_argument, metavar="USD", help="what a unit of that currency is worth in USD today")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def _devices(text: str) -> int | str:
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
        if arguments.samples_per_job is not None:
            raise UserError("--samples-per-job is given with --work, whose jobs have tokens; expected one of the two")
        tokens, money = asked_work(arguments.work, SEQUENCE, 1.0), checked_money(arguments.currency, arguments.rate)
        per_month = _jobs_per_month(arguments, JOBS)
        shared = (money, arguments.devices_per_job, per_month)
        folder = create_study_of_tokens(name, config, tokens, today, *shared)
        return _ready(folder, config, "workloads and prices", assumed=_assumed(arguments, per_month, None))
    own = timed(arguments, config / "studies")
    machine = own_machine() if own is None else (OWN, own.device.gpu)
    if own is None and machine[0] == "workstation-gpu" and (device := shipped_devices().find(machine[1])) is not None:
        own = Own(device, machine[0], currency=checked_money(arguments.currency, arguments.rate)[0],
                  usd_per_unit=arguments.rate)  # fmt: skip
    work = _month_of_work(arguments) if own is not None else None
    folder = create_study(name, config, machine, today, own, arguments.devices_per_job, work)
    measured = {"measure_on": machine[0]} if own is None or own.images_per_s is None else {}
    assumed = "" if work is None else _assumed(arguments, work.per_month, work.size["samples"])
    flags = " GPU=1" if machine[0] == "workstation-gpu" else ""
    return _ready(folder, config, "prices", flags, assumed, **measured)


def _month_of_work(arguments: argparse.Namespace) -> Work:
    """The work of a month: as said, else the default of `Work`. Raises UserError for none."""
    samples = arguments.samples_per_job
    if samples is not None and not 1 <= samples < 1e18:
        raise UserError(f"SAMPLES is {samples:g}; expected the samples that one job sees, at least 1")
    size = Work().size if samples is None else {"samples": round(samples)}
    return Work(per_month=_jobs_per_month(arguments, Work().per_month), size=size)


def _jobs_per_month(arguments: argparse.Namespace, usual: Any) -> Any:
    jobs = arguments.jobs_per_month
    if jobs is not None and not 0 < jobs <= 1e6:
        raise UserError(f"JOBS is {jobs:g}; expected jobs a month, above 0 and at most a million")
    return usual if jobs is None else jobs


def _assumed(arguments: argparse.Namespace, per_month: Any, samples: float | None) -> str:
    """A sentence about the work that nobody stated; '' where all was said."""
    if arguments.jobs_per_month is not None and (samples is None or arguments.samples_per_job is not None):
        return ""
    jobs = "{value:g} ({low:g} to {high:g})".format(**per_month) if isinstance(per_month, Mapping) else f"{per_month:g}"
    if samples is None:
        return f"Assumed: {jobs} jobs a month. Say yours with --jobs-per-month (make: JOBS=)."
    yours = "Say yours with --jobs-per-month and --samples-per-job (make: JOBS=, SAMPLES=)."
    return f"Assumed: {jobs} jobs of {samples:,.0f} samples a month, one of them due within 24 hours. {yours}"


def _ready(folder: Path, config: Path, parts: str, flags: str = "", assumed: str = "", **chosen: str) -> int:
    load_invocation(config / "config.yaml", {"study": folder.name} | chosen, config)
    if assumed:
        print(assumed)
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
        _make_study(answers, arguments.config, rows, datetime.date.today())
    except KeyboardInterrupt:
        raise UserError("stopped; nothing is written") from None
    return 0 if arguments.no_answer else answer(answers.name, arguments.config)


def published(studies: Path) -> list[dict[str, str]]:
    """The shipped figures of single devices that may stand for a speed that nobody timed."""
    devices = shipped_devices()
    return [
        row
        for name in OF_DEVICES
        for row in csv_rows(figures_file(name, studies))
        if row["gpus"] == "1" and row["precision"] == PRECISION and row["framework"] in SERVING
        and row["batch_size"] and devices.find(row["gpu"]) is not None
    ]  # fmt: skip


def _make_study(answers: Answers, root: Path, rows: list[dict[str, str]], today: datetime.date) -> Path:
    """Write the study, whole or not at all, after showing it; its folder. Raises UserError."""
    own = _own(answers, rows, today)
    target = root / "studies" / answers.name
    sentences: list[str] = []
    with scratch_config(root, answers.name) as scratch:
        folder = create_study(
            answers.name, scratch, (OWN, own.device.gpu), today, own, answers.jobs.devices, _work(answers)
        )
        for line, offered in answers.offers:
            if offered.kind == BOX:
                kwh = answers.per_kwh if offered.currency == answers.currency[0] else None
                offered = offered._replace(per_kwh=offered.per_kwh or kwh, months=offered.months or answers.months)
            desk = Desk(scratch, answers.name, None, None, answers.currency[1], today, line)
            write_offer(desk, offered)
            write_texts(folder, desk.texts)
            sentences += desk.sentences
        refuse(said_of(read_study(answers.name, scratch), scratch, root))
        _show(folder, target, sentences)
        if target.exists():
            raise UserError(f"{target}: the study exists; choose another name or edit it")
        shutil.move(folder, target)
    return target


def _show(folder: Path, target: Path, sentences: list[str]) -> None:
    """What will be written: the files of the person's own figures in full, the others by their names."""
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    print(f"\nThis is written to {target}: {', '.join(str(file) for file in files)}")
    for name in SHOWN:
        text = read_text(folder / name)
        if text:
            print(f"\n--- {name}\n{text}", end="")
    print("".join(f"\n{sentence}" for sentence in sentences))


def _own(answers: Answers, rows: list[dict[str, str]], today: datetime.date) -> Own:
    devices, speed = shipped_devices(), answers.speed
    device = answers.have.device if answers.have else devices.get(speed.gpu or USUAL)
    row: dict[str, Any]
    if speed.rate is not None:
        row = {"gpu": speed.gpu or device.gpu, "gpus": 1, "framework": "torch", "benchmark": "own"}
        row |= {"model": speed.model, "batch_size": 64, "precision": PRECISION, "variant": "default"}
        ends = {f"images_per_s{part}": end for part, end in zip(("", "_low", "_high"), speed.rate, strict=True)}
        row |= {name: f"{end:g}" for name, end in ends.items() if end is not None}
        row |= {"as_of": today, "source": f"timed by us, given to sweetspot new-study --ask on {today}"}
    else:
        known = _nearest(speed, device, rows)
        row = {name: known[name] for name in (*THROUGHPUT_CSV, "as_of") if known.get(name)}
        row["gpu"] = devices.get(known["gpu"]).gpu
        device = device if answers.have else devices.get(known["gpu"])
        if not speed.known:
            _, low, high = wide(float(row["images_per_s"]))
            row |= {"images_per_s_low": f"{low:g}", "images_per_s_high": f"{high:g}"}
    cell = (row["model"], PRECISION, row["framework"], int(row["batch_size"]), float(row["images_per_s"]))
    return Own(device, OWN, *cell, *answers.currency, row)


def _nearest(speed: Speed, device: Device, rows: list[dict[str, str]]) -> dict[str, str]:
    """The published figure of the network on the device, else on that with the nearest peak."""
    devices, peak = shipped_devices(), device.peak(PRECISION)

    def far(row: dict[str, str]) -> tuple[bool, float, int, float]:
        other = devices.get(row["gpu"])
        apart = abs(math.log(other.peak(PRECISION) / peak)) if other.peak(PRECISION) > 0 and peak > 0 else math.inf
        return other != device, apart, SERVING.index(row["framework"]), -float(row["images_per_s"])

    return min((row for row in rows if network_name(row["model"]) == network_name(speed.model)), key=far)


def _work(answers: Answers) -> Work:
    jobs, have = answers.jobs, answers.have
    size: dict[str, Any] = {"samples": f"{jobs.size:.15g}"}
    if jobs.unit == "hours":
        size = {"hours": jobs.size, "instance": OWN}
    return Work(
        have=have.machines if have else 0,
        months=answers.months.value,
        used_months=answers.months.written(),
        size=size,
        per_month=jobs.per_month.written(),
        urgent=None if answers.urgent is None else (answers.urgent[0].written(), answers.urgent[1]),
        limits=answers.limits,
        kw=have.kw.written() if have and have.kw else None,
        per_kwh=answers.per_kwh.written(),
        box=not answers.offers,
        source="answered to sweetspot new-study --ask",
    )


def answer(name: str, root: Path) -> int:
    """Run the study's workflow, without measuring, and print its answer; the exit code of `sweetspot ask`."""
    project = root.resolve().parent
    if not (project / "Snakefile").is_file():
        print(f"{root / 'studies' / name} is ready; `make report STUDY={name}` gives its answer.")
        return 0
    command = [sys.executable, "-m", "snakemake", "--cores", "all", "--config", f"study={name}", "measure_on=[]"]
    done = subprocess.run(command, cwd=project, check=False)
    if done.returncode != 0:
        raise UserError(f"the workflow ended without an answer; `make report STUDY={name}` goes on with it")
    print(f"\nReport: {project / 'results' / name / 'report' / 'index.html'}\n")
    return main(["ask", name, "--config", str(root), "--results", str(project / "results")])
