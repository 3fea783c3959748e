"""Create a study of your own: keep what you have, buy the machine on your desk, or rent?

Writes config/studies/NAME/: a commented study, instances, workloads and price lists, with your device in it. It runs
at once; nothing that exists is overwritten. On a machine with a GPU, or with a throughput that you timed elsewhere,
rentals are those of today and their speed is transferred from yours. A processor tells nothing of GPUs: there the
rentals are examples of 2018. What nobody says has a default that is stated.

    sweetspot new-study mine           # or: make study NAME=mine
    make report STUDY=mine
    sweetspot new-study mine --gpu-name "RTX 4090" --model resnet50 --speed 1120 --currency EUR
    # or: make study NAME=mine GPU_NAME="RTX 4090" MODEL=resnet50 SPEED=1120 CURRENCY=EUR

The machine that one may buy is the offer on your desk, else a box of four such devices at known prices.

    sweetspot new-study mine --gpu-name "RTX 4090" --speed 1120 --offer-price 21900 --offer-device "RTX 5090"

With --work the study is about jobs by tokens, in the words of `sweetspot estimate`.

    sweetspot new-study mine --work "llama-3.1-8b lora 100M tokens" --jobs-per-month 10

With --ask these options are asked for, one a line, also from a pipe; an empty line takes the default.
"""

import argparse
import datetime
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from sweetspot.cells import is_slug
from sweetspot.commands.create_study import JOBS, create_study, create_study_of_tokens
from sweetspot.commands.estimate import asked_work
from sweetspot.commands.read_study import read_study
from sweetspot.commands.study_of_today import OWN, Offer, Own, Work, checked_money
from sweetspot.errors import UserError, refuse
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.matrix.invocation import load_invocation
from sweetspot.number_text import number_argument
from sweetspot.study.base import Precision
from sweetspot.study.open_models import SEQUENCE
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import Measured, check_below_peak, learn_devices, transferred


def _devices(text: str) -> int | str:
    return text if text == "all" else _count(text, ", or all")


def _count(text: str, more: str = "") -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a whole number above 0{more}")
    return int(text)


class Option(NamedTuple):
    """An option of the command, which --ask prompts for where it has a question."""

    flag: str
    metavar: str
    default: Any
    help: str
    parse: Callable[[str], Any] = str
    question: str = ""

    @property
    def name(self) -> str:
        """Its name among the parsed arguments."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option("--gpu-name", "GPU", None, 'device that you timed elsewhere, such as "RTX 4090"', str,
           "Which GPU do you have?"),
    Option("--model", "MODEL", "resnet50", "what it trains (resnet50)", str, "What does it train?"),
    Option("--speed", "RATE", None, "samples per second that it trains", number_argument, "How many samples a second?"),
    Option("--batch-size", "BATCH", 64, "batch of the device (64)", int),
    Option("--devices-per-job", "N", "all", "devices that one job takes: 1, n, or all of its machine (all); several "
           "such jobs run side by side", _devices, "How many devices does one job take (1, n, all)?"),
    Option("--jobs-per-month", "N", None, "jobs a month (20, with --work 10)", number_argument,
           "How many jobs a month?"),
    Option("--samples-per-job", "N", None, "samples that one job sees (100 million)", number_argument,
           "How many samples does one job see?"),
    Option("--currency", "CODE", "USD", "currency of the page and of the offer (USD); EUR has a rate, of others --rate",
           str, "In which currency?"),
    Option("--rate", "USD", None, "what a unit of that currency is worth in USD today", number_argument,
           "USD for one unit of it (empty for USD and EUR)?"),
    Option("--offer-price", "SUM", None, "price of a machine on your desk, in that currency", number_argument,
           "Price of a machine on offer, if any?"),
    Option("--offer-device", "GPU", None, "its device (that of --gpu-name)", str, "Its device?"),
    Option("--offer-count", "N", None, "how many devices it has (4)", _count, "How many of them?"),
    Option("--offer-kw", "KW", None, "its power under load (by the data sheets)", number_argument, "Its power in kW?"),
    Option("--offer-delivery-weeks", "N", None, "weeks until it is delivered (0)", number_argument,
           "Weeks until it is delivered?"),
)  # fmt: skip
OF_THE_OFFER = ("offer_device", "offer_count", "offer_kw", "offer_delivery_weeks")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot new-study`."""
    add = parser.add_argument
    add("name", metavar="NAME", help="folder under config/studies/: letters, digits, '.', '_' and '-'")
    add("--ask", action="store_true", help="ask for the options that are not given")
    add("--work", metavar="WORK", help='jobs by tokens: "llama-3.1-8b lora 100M tokens"')
    for option in OPTIONS:
        add(option.flag, type=option.parse, metavar=option.metavar, default=option.default, help=option.help)
    add("--precision", choices=get_args(Precision), default="fp16", help="number format (fp16)")
    add("--framework", choices=tuple(FRAMEWORKS), default="torch", help="framework (torch)")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> int:
    """Create the study, check it as the workflow would, and say how to run it. Raises UserError."""
    if arguments.ask:
        ask_options(arguments)
    if arguments.work is not None:
        return _study_of_tokens(arguments)
    name, config, today = arguments.name, arguments.config, datetime.date.today()
    own = timed(arguments, config / "studies")
    machine = own_machine() if own is None else (OWN, own.device.gpu)
    if own is None and machine[0] == "workstation-gpu" and (device := shipped_devices().find(machine[1])) is not None:
        currency, rate = checked_money(arguments.currency, arguments.rate)
        own = Own(device, machine[0], currency=currency, usd_per_unit=rate)
    work = None if own is None else month_of_work(arguments, own)
    folder = create_study(name, config, machine, today, own, arguments.devices_per_job, work)
    measured = {"measure_on": machine[0]} if own is None or own.images_per_s is None else {}
    assumed = "" if work is None else _assumed(arguments, work.per_month, work.size["samples"])
    flags = " GPU=1" if machine[0] == "workstation-gpu" else ""
    return _ready(folder, config, "prices", flags, assumed, **measured)


def ask_options(arguments: argparse.Namespace) -> None:
    """Prompt for each option that was not given, and put the answer among the arguments.

    An answer that cannot be read is asked for again; from a pipe it is refused.

    Parameters
    ----------
    arguments : argparse.Namespace
        The parsed command line; it is changed.

    Raises
    ------
    UserError
        At the end of the input, and for an answer from a pipe that cannot be read.
    """
    for option in OPTIONS:
        without_offer = option.name in OF_THE_OFFER and arguments.offer_price is None
        if option.question and getattr(arguments, option.name) == option.default and not without_offer:
            setattr(arguments, option.name, _answer(option))


def _answer(option: Option) -> Any:
    shown = "" if option.default is None else f" [{option.default}]"
    while True:
        print(f"{option.question}{shown} ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise UserError(f"the answers end before {option.flag}; nothing is written")
        try:
            return option.parse(line.strip()) if line.strip() else option.default
        except argparse.ArgumentTypeError as error:
            if not sys.stdin.isatty():
                raise UserError(f"{option.flag}: {error}; nothing is written") from None
            print(f"   {error}")


def _study_of_tokens(arguments: argparse.Namespace) -> int:
    for option in OPTIONS:
        fits = option.name in ("model", "batch_size", "devices_per_job", "jobs_per_month", "currency", "rate")
        if not fits and getattr(arguments, option.name) is not None:
            raise UserError(f"{option.flag} is given with --work, which has no use for it; expected one of the two")
    tokens, money = asked_work(arguments.work, SEQUENCE, 1.0), checked_money(arguments.currency, arguments.rate)
    per_month, config = jobs_per_month(arguments, JOBS), arguments.config
    shared = (datetime.date.today(), money, arguments.devices_per_job, per_month)
    folder = create_study_of_tokens(arguments.name, config, tokens, *shared)
    return _ready(folder, config, "workloads and prices", assumed=_assumed(arguments, per_month, None))


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
    """The throughput that a person timed elsewhere; None where no device is named. Raises UserError."""
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


def month_of_work(arguments: argparse.Namespace, own: Own) -> Work:
    """The work of a month and the machine on offer, as the arguments say them, else by default. Raises UserError."""
    samples = arguments.samples_per_job
    if samples is not None and not 1 <= samples < 1e18:
        raise UserError(f"SAMPLES is {samples:g}; expected the samples that one job sees, at least 1")
    size = Work().size if samples is None else {"samples": round(samples)}
    return Work(per_month=jobs_per_month(arguments, Work().per_month), size=size, offer=_offer(arguments, own))


def _offer(arguments: argparse.Namespace, own: Own) -> Offer:
    if arguments.offer_price is None:
        for option in OPTIONS:
            if option.name in OF_THE_OFFER and getattr(arguments, option.name) is not None:
                raise UserError(f"{option.flag} is given without --offer-price; expected the price of the machine")
        return Offer(own.device)
    for name, least in (("offer_price", 1.0), ("offer_kw", 1e-3), ("offer_delivery_weeks", 0.0)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise UserError(f"--{name.replace('_', '-')} is {value:g}; expected a number of at least {least:g}")
    named = arguments.offer_device
    device = own.device if named is None else shipped_devices().get(named)
    weeks = arguments.offer_delivery_weeks or 0.0
    return Offer(device, arguments.offer_count or 4, arguments.offer_price, arguments.offer_kw, weeks)


def jobs_per_month(arguments: argparse.Namespace, usual: Any) -> Any:
    """The jobs a month of the arguments, else the `usual` ones. Raises UserError."""
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
    """Check the study, and say how to run it. Raises UserError, and then leaves nothing behind."""
    try:
        refuse(sentence for _, sentence in read_study(folder.name, config).errors)
        load_invocation(config / "config.yaml", {"study": folder.name} | chosen, config)
    except UserError:
        shutil.rmtree(folder)
        raise
    if assumed:
        print(assumed)
    print(f"{folder} is ready. Edit its {parts}, then: make report STUDY={folder.name}{flags}")
    return 0
