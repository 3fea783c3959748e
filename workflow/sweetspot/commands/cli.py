"""The commands of `sweetspot` with their options and help; what a command does is imported when it runs.

Lists of choices stand here as literals, so that help needs no library; a test holds them equal to their source.
"""

import math
import os
import shlex
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click

from sweetspot import __version__
from sweetspot.errors import UserError
from sweetspot.number_text import parse_number

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8")
FRAMEWORKS = ("tensorflow", "torch", "command")
STACKS = ("tuned", "plain")
PRICE_FORMATS = ("aws-spot-history", "skypilot", "gpuhunt", "csv", "json")
RECORD_FORMATS = ("sacct", "jobs")
THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
OFFER_DETAILS = ("offer_device", "offer_count", "offer_kw", "offer_delivery_weeks")


class NumberType(click.ParamType):
    """A number within bounds, as people type it: 1200, 1.5, 1,5 or 2.8e8."""

    name = "number"

    def __init__(self, minimum: float = -math.inf, maximum: float = math.inf) -> None:
        self.minimum, self.maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return what a person typed as a number within the bounds; a number, such as a default, is unchanged."""
        if isinstance(value, (int, float)):
            return value
        try:
            number = parse_number(value, "the value")
        except UserError as error:
            self.fail(str(error), param, ctx)
        if not self.minimum <= number <= self.maximum:
            upper = f" to {self.maximum:g}" if self.maximum < math.inf else " on"
            self.fail(f"{value!r} given; expected a number from {self.minimum:g}{upper}", param, ctx)
        return number


def day(text: str) -> date:
    """Parse a day such as '2026-11-27', for click. Raises BadParameter for another text."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} given; expected a day such as 2026-11-27") from None


def devices(text: str | int) -> int | str:
    """Parse a whole number above 0, or 'all', for click, which may call it twice. Raises BadParameter for others."""
    if text == "all" or isinstance(text, int):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} given; expected a whole number above 0, or all")
    return int(text)


class PromptedOption(click.Option):
    """An option that `--ask` prompts for; those of an offer only if it has a price. An empty line takes the default."""

    def prompt_for_value(self, ctx: click.Context) -> Any:
        """Ask the person until the answer can be parsed, and return its value; without `--ask` return the default."""
        default = self.default if isinstance(self.default, (int, str)) else None
        has_price = ctx.params.get("offer_price") is not None
        if not ctx.params.get("ask") or (self.name in OFFER_DETAILS and not has_price):
            return default
        empty: Any = "" if default is None else default
        return click.prompt(
            self.prompt or "",
            default=empty,
            show_default=default is not None,
            value_proc=lambda text: default if text == empty else self.type_cast_value(ctx, text),
        )


class OrderedGroup(click.Group):
    """Lists the commands in the order of this file, and names them all where one is unknown."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which this file defines them."""
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return (name, command, remaining arguments) of the first argument. Raises UserError if unknown."""
        if args[0] not in self.commands:
            raise UserError(f"{args[0]!r} is no command of sweetspot; expected {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)


FOLDER = click.Path(path_type=Path)
POSITIVE = NumberType(1e-12)
prompted_option = partial(click.option, cls=PromptedOption)
STUDY = click.argument("study")
CONFIG = click.option("--config", type=FOLDER, default="config", help="The project's config folder.")
RESULTS = click.option("--results", type=FOLDER, default="results", help="Where results are.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


@click.group(cls=OrderedGroup, context_settings={"max_content_width": 120, "show_default": True})
@click.version_option(__version__, message="%(version)s")
def sweetspot() -> None:
    """What people type beside the workflow of Sweetspot; `snakemake` runs the workflow itself.

    `sweetspot COMMAND --help` says what a command reads and writes, with an example.
    """
    # Matrices are small: threads cost more than they give, and a shared machine has other work.
    os.environ |= {name: "1" for name in THREAD_LIMITS if name not in os.environ}


@sweetspot.command()
@click.argument("name")
@click.option("--ask", is_flag=True, is_eager=True, help="Ask for the options that are not given.")
@click.option("--work", help='Jobs by tokens: "llama-3.1-8b lora 100M tokens".')
@prompted_option("--gpu-name", prompt="Which GPU do you have", metavar="GPU", help="A device that you timed.")
@prompted_option("--model", prompt="What does it train (empty: resnet50)", help="By default resnet50.")
@prompted_option("--speed", prompt="How many samples a second", type=NumberType(1e-12, 1e15), metavar="SAMPLES/S")
@click.option("--batch-size", type=click.IntRange(1), help="By default 64; of this machine's GPU 16.")
@prompted_option(
    "--devices-per-job",
    prompt="How many devices does one job take (1, n, all)",
    type=devices,
    default="all",
    help="Several smaller jobs run side by side on a machine.",
)
@prompted_option("--jobs-per-month", prompt="How many jobs a month", type=NumberType(1e-3, 1e6))
@prompted_option("--samples-per-job", prompt="How many samples does one job see", type=NumberType(1, 1e18))
@prompted_option("--currency", prompt="In which currency", default="USD", help="Of the page and of the offer.")
@prompted_option(
    "--rate",
    prompt="USD for one unit of it (empty for USD and EUR)",
    type=NumberType(1e-6, 1e3),
    help="USD for one unit of that currency today.",
)
@prompted_option(
    "--offer-price",
    prompt="Price of a machine on offer, if any",
    type=NumberType(1),
    help="Of the whole machine, with the VAT that you pay.",
)
@prompted_option("--offer-device", prompt="Its device", metavar="GPU", help="By default yours.")
@prompted_option("--offer-count", prompt="How many of them", type=click.IntRange(1), help="By default 4.")
@prompted_option(
    "--offer-kw", prompt="Its power in kW", type=NumberType(1e-3), help="Under load; by default by the data sheets."
)
@prompted_option("--offer-delivery-weeks", prompt="Weeks until it is delivered", type=NumberType(0))
@click.option("--precision", type=click.Choice(PRECISIONS), help="By default fp16; of this machine's GPU fp32.")
@click.option("--framework", type=click.Choice(FRAMEWORKS), help="By default torch; of this machine's GPU tensorflow.")
@CONFIG
def new_study(ask: bool, **options: Any) -> int:
    """Create a study of your own: keep, buy or rent?

    Writes config/studies/NAME/: commented files that are right as they stand; lines marked `# <- yours` are assumed.
    It is about a GPU that you timed or the GPU of this machine, which is measured, rentals of today, and the machine
    on offer or a box of four at known prices. With --work it is about jobs by tokens.

    \b
        sweetspot new-study mine --gpu-name "RTX 4090" --speed 1120 --currency EUR
        sweetspot new-study mine --gpu-name "RTX 4090" --speed 1120 --offer-price 21900 --offer-device "RTX 5090"
        sweetspot new-study mine --work "llama-3.1-8b lora 100M tokens" --jobs-per-month 10
        sweetspot new-study mine --ask
    """
    from sweetspot.commands.new_study import StudyRequest, run

    try:
        return run(StudyRequest(**options))
    except UserError:
        if ask:
            name = options.pop("name")
            words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items() if value is not None]
            click.echo(f"what you answered: sweetspot new-study {shlex.join([name, *words])}", err=True)
        raise


@sweetspot.command()
@STUDY
@CONFIG
@JSON
def check(study: str, config: Path, as_json: bool) -> int:
    """Say all that is wrong in a study, before anything runs.

    Reads the study's files as the workflow would. Prints a sentence for each mistake (file, key or line, value found,
    what is expected) and each warning, and last what was read. Exit code 2 where anything is wrong, else 0.

    \b
        sweetspot check mine
    """
    from sweetspot.commands.read_study import run

    return run(study, config, as_json)


@sweetspot.command()
@STUDY
@click.option("--days", type=POSITIVE, help="Days of use a month of every owned machine.")
@click.option("--jobs", type=NumberType(1e-6, 1000), help="Times the jobs of a plan, of months or of phases.")
@click.option("--deadline", metavar="TIME", help="When the result of a job is due: 90min, 6h, 2d.")
@JSON
@RESULTS
@CONFIG
def ask(study: str, **options: Any) -> int:
    """Answer by a study, at another use or within a deadline.

    Prints the page's own sentences, from results/STUDY, which `make report STUDY=...` made. At another use or with more
    jobs, the study is priced and decided anew. A deadline is one of single jobs, not of a project.
    Exit code: 0 an answer, 3 too close to call, 4 nothing finishes in time, 2 a mistake or no answer yet.

    \b
        sweetspot ask mine --days 12 --deadline 6h
        sweetspot ask lab --jobs 2 --deadline 24h --json
    """
    from sweetspot.commands.ask import AskRequest, run

    return run(AskRequest(study, **options))


@sweetspot.command()
@click.argument("file_format", metavar="FORMAT", type=click.Choice(PRICE_FORMATS))
@click.argument("file")
@click.option("--as-of", type=day, help="Day of the prices; needed for catalogues.")
@click.option("--zone", help="Zone (or region, for catalogues); by default the cheapest.")
@click.option("--only", multiple=True, metavar="INSTANCE", help="Keep this instance; may be repeated.")
@click.option("--currency", help="Currency of the prices (USD).")
@click.option("--rate", "rates", multiple=True, metavar="EUR=USD", help="USD for one unit, such as EUR=1.09.")
@click.option("--rate-source", default="given when the prices were imported", help="Where the rate was read.")
@click.option("--provider", default="unknown", help="Provider written with --print instances.")
@click.option("--product", default="Linux/UNIX", help="Product of a spot history.")
@click.option("--start", metavar="TIME", help="Begin of the window of a spot history: a date or an ISO 8601 time.")
@click.option("--end", metavar="TIME", help="End of that window; by default the last change in the file.")
@click.option("--print", "part", type=click.Choice(("prices", "instances")), default="prices")
def import_prices(**options: Any) -> None:
    """Turn a price file that you have into a price list.

    Nothing is fetched. Writes YAML as it belongs into config/studies/STUDY/prices/. What could not be used and what
    the price lint says of the result go to standard error.

    \b
        aws-spot-history  JSON of `aws ec2 describe-spot-price-history`: the mean over time, 5 % and 95 % as range
        skypilot          a catalogue vms.csv of SkyPilot
        gpuhunt           a CSV of gpuhunt
        csv, json         columns instance and per_hour; optional purchase, place, currency, source and the machine's

    \b
        sweetspot import-prices csv prices.csv --as-of 2018-07-01 > config/studies/mine/prices/rent.yaml
    """
    from sweetspot.commands.import_prices import ImportRequest, run

    run(ImportRequest(**options))


@sweetspot.command()
@click.argument("record_format", metavar="FORMAT", type=click.Choice(RECORD_FORMATS))
@click.argument("file")
@click.option("--zone", default="UTC", help="Time zone of months and of times without an offset.")
@click.option("--since", type=day, help="First day that the record covers (its first start).")
@click.option("--until", type=day, help="First day after it (its last moment).")
@click.option("--devices", type=NumberType(1e-6, 1e6), help="Devices there are, for how busy they were.")
@click.option("--study", help="Print the classes for workloads.yaml of this study.")
@click.option("--instance", help="Machine of the study on which the jobs ran.")
@click.option("--model", help="What the jobs train, where the study has several models.")
@JSON
@CONFIG
def import_use(**options: Any) -> None:
    """Count jobs per month from a record of your own jobs.

    FORMAT is sacct (as below) or jobs (CSV with start, end, devices and perhaps job, class, state); FILE is a file,
    or - for a pipe. Ranges are 90 %: what a month to come lies in. Names of users and jobs are not read.

    \b
        sacct -a -X -P -D -S 2025-01-01 -o JobID,Start,End,State,AllocTRES,ElapsedRaw |
          sweetspot import-use sacct - --zone Europe/Berlin --devices 4
        sweetspot import-use jobs jobs.csv --study mine --instance rtx4090-1 --model resnet50
    """
    from sweetspot.commands.import_use import UseRequest, run

    run(UseRequest(**options))


@sweetspot.command()
@STUDY
@click.option("--provider", "providers", multiple=True, help="Only machines of this provider; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("--accept", multiple=True, metavar="INSTANCE", help="Take a price that jumps; may be repeated.")
@click.option("--mirror", "mirrors", multiple=True, metavar="SOURCE=URL", help="Another address of a source.")
@CONFIG
def refresh_prices(**options: Any) -> None:
    """Fetch today's prices of a study's machines.

    Reads `catalogue` of study.yaml: which name each instance has in SkyPilot's or gpuhunt's published catalogue. Shows
    what changes and writes `per_hour`, `as_of` and `source` of those offers; comments stay, and the list before goes to
    prices/history/<date>/. An offer that no catalogue knows, and a price that cannot be right, stay and are named. If a
    source fails, nothing is written.

    \b
        sweetspot refresh-prices eight-gpus-2026 --dry-run
        sweetspot refresh-prices eight-gpus-2026 --provider aws --provider lambda
    """
    from sweetspot.commands.refresh_prices import RefreshRequest, run

    run(RefreshRequest(**options))


@sweetspot.command()
@click.option("--measured", multiple=True, required=True, metavar="FIGURE", help="A timed figure; may be repeated.")
@click.option("--on", "devices", required=True, metavar="GPU,...", help="Devices, such as h100-sxm,rtx-5090.")
@click.option("--gpus", default="1", metavar="N,...", help="How many of each, such as 1,8.")
@click.option("--framework", type=click.Choice(FRAMEWORKS), default="torch", help="Of the figure.")
@JSON
def predict(**options: Any) -> None:
    """Predict your workload on other devices from a figure.

    FIGURE is GPU:MODEL:PRECISION[:BATCH]=RATE: samples per second of one device. A workload timed on two devices
    tells more than one. The relation of devices is learnt from published figures; more devices follow by the scaling
    model, with both errors. Intervals hold 90 %.

    \b
        sweetspot predict --measured "RTX 4090:resnet50:fp16:256=1120" --on h100-sxm,rtx-5090 --gpus 1,8
    """
    from sweetspot.commands.predict import PredictRequest, run

    run(PredictRequest(**options))


@sweetspot.command()
@click.argument("work")
@click.option("--sequence", type=click.IntRange(1, 10_000_000), default=2048, help="Tokens of a sequence.")
@click.option("--stack", type=click.Choice(STACKS), help="tuned: a vendor's library; plain: a loop; default: either.")
@click.option("--timed", metavar="FIGURE", help='Your own, one device: "RTX 4090: 2100 tokens/s".')
@click.option("--within", "within_hours", type=POSITIVE, default=math.inf, metavar="HOURS", help="The deadline.")
@JSON
def estimate(**options: Any) -> None:
    """Estimate hours, USD and memory of training on tokens.

    WORK is MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" or "llama-2-13b full 1M x 550" (samples by
    their tokens); methods: pretrain, full (or sft), lora, qlora, grpo (its tokens: prompts and answers). Hours are
    operations by the share of a device's peak that training reaches, learnt from published figures. How well your
    software uses a device is unknown and common to all machines, so that the ranking is surer than the hours; one
    figure that you timed (--timed) replaces it. Intervals hold 90 %.

    \b
        sweetspot estimate "llama-3.1-8b lora 100M tokens" --within 24
        sweetspot estimate "qwen2.5-32b qlora 20M tokens" --timed "RTX 4090: 400 tokens/s" --json
    """
    from sweetspot.commands.estimate import EstimateRequest, run

    run(EstimateRequest(**options))


@sweetspot.command()
@click.argument("before")
@click.argument("after", required=False)
@click.option("--since", type=day, help="Price lists of a study as they were on that day.")
@click.option("--until", type=day, help="Against those of that day; by default of today.")
@CONFIG
@RESULTS
def diff(**options: Any) -> None:
    """Compare two results: prices, and what they changed.

    BEFORE and AFTER are result folders of one study. Or BEFORE is a study whose price lists of --since
    (prices/history/, as `sweetspot refresh-prices` keeps them) are priced and compared anew. Writes Markdown: both
    answers, the prices that changed, the options that changed rank.

    \b
        sweetspot diff old/mine results/mine
        sweetspot diff mine --since 2026-09-19 --until 2026-11-22
    """
    from sweetspot.commands.diff import DiffRequest, run

    run(DiffRequest(**options))


@sweetspot.command()
@STUDY
@CONFIG
@RESULTS
def compare_scenarios(study: str, config: Path, results: Path) -> None:
    """Set the scenarios of a study side by side.

    Reads results/STUDY/comparison/scenarios.parquet, which `snakemake --cores all scenarios --config study=STUDY`
    makes from the files in config/studies/STUDY/scenarios/. Writes Markdown.

    \b
        sweetspot compare-scenarios start-up-2026
    """
    from sweetspot.commands.diff import compare_scenarios

    compare_scenarios(study, config, results)


@sweetspot.command()
def doctor() -> int:
    """Say what this machine has and what it lacks.

    Prints no file, path, user or host name, and imports no framework. Paste it into a report of a fault.

    \b
        sweetspot doctor
    """
    from sweetspot.commands.doctor import run

    return run()
