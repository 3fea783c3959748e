"""What does training a known model on so many tokens take on the machines of today?

WORK is MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" or "llama-2-13b full 1M x 550" (samples by their
tokens); methods: pretrain, full (or sft), lora, qlora, grpo (its tokens: prompts and answers). Hours are operations
by the share of a device's peak that training reaches, which is learnt from published figures. How well your software
uses a device is unknown and common to all machines: hours are uncertain, the ranking is less so, which the column
`times` (the cheapest) says. One figure that you timed (--timed, of the same work) replaces that. Intervals hold 90 %
as far as the figures go.

    sweetspot estimate "llama-3.1-8b lora 100M tokens" --within 24
    sweetspot estimate "qwen2.5-32b qlora 20M tokens" --timed "RTX 4090: 400 tokens/s" --json
"""

import argparse
import dataclasses
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sweetspot.commands.json_values import without_nan
from sweetspot.commands.study_of_today import middle, rentals
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.number_text import NUMBER, number_argument, parse_number
from sweetspot.study.open_models import METHODS, open_model
from sweetspot.tokens.estimates import (
    FLOP_PER_TFLOP,
    PRECISION,
    TOO_SMALL,
    UNTRIED,
    KnownMfu,
    MachineEstimate,
    RentedMachine,
    TokenJob,
    cheapest,
    estimate_machines,
)
from sweetspot.tokens.mfu import (
    LEAST_SPREAD,
    ONE_STACK_SPREAD,
    STACKS,
    expected_mfu,
    from_one_timing,
    published_figures,
)
from sweetspot.transfer.figures import shipped_devices

Work = TokenJob
WORK = re.compile(
    r"(?P<model>\S+)\s+(?P<method>[a-z]+)\s+(?P<count>" + NUMBER + r")\s*(?P<unit>[kmbt]?)"
    r"(?:\s*(?:samples)?\s*[x×]\s*(?P<each>" + NUMBER + r"))?(?:\s*tokens)?",
    re.IGNORECASE,
)
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
TIMED = re.compile(r"(?P<gpu>[^:]+):\s*(?P<rate>" + NUMBER + r")\s*(?:tokens/s)?", re.IGNORECASE)
METHOD_SYNONYMS = {"sft": "full", "finetune": "full"}
MAX_NAMED_MACHINES = 4
LEGEND = """\
low and high: 90 %. times: USD over those of the cheapest, where the error that all machines have in common
drops out. tight: it fits where layers are computed again (gradient checkpointing)"""


def asked_work(text: str, sequence: int, epochs: float) -> TokenJob:
    """Parse 'MODEL METHOD TOKENS', e.g. 'llama-3.1-8b lora 100M tokens'.

    Parameters
    ----------
    text
        The work.
    sequence
        Tokens of a sequence.
    epochs
        How often the tokens are gone through.

    Raises
    ------
    UserError
        The text names no model, no method or no number of tokens.

    """
    match = WORK.fullmatch(text.strip())
    method = match["method"].lower() if match else ""
    method = METHOD_SYNONYMS.get(method, method)
    if match is None or method not in METHODS:
        methods = ", ".join(METHODS)
        raise UserError(
            f'work is {text!r}; expected MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" ({methods})'
        )
    if not (1 <= sequence <= 10_000_000 and 0 < epochs < 1e6):
        raise UserError(f"sequence {sequence}, epochs {epochs:g}; expected numbers above 0")
    count = parse_number(match["count"], "TOKENS")
    tokens_each = parse_number(match["each"] or "1", "tokens of a sample")
    tokens = count * UNITS[match["unit"].lower()] * tokens_each * epochs
    if not 1 <= tokens < math.inf:
        raise UserError(f"work is {text!r}, which makes {tokens:g} tokens; expected at least 1")
    return TokenJob(open_model(match["model"]), method, tokens, sequence)  # type: ignore[arg-type]


def mfu_of(job: TokenJob, stack: str | None, timed: str | None) -> KnownMfu:
    """Return the share of the peak from the reader's timing, else from published figures.

    Parameters
    ----------
    job
        The training.
    stack
        Kind of software: one of STACKS, or None.
    timed
        'GPU: RATE' in tokens per second, e.g. 'RTX 4090: 2100 tokens/s', or None.

    Raises
    ------
    UserError
        The timing has another form, or exceeds what the device can do.

    """
    if timed is None:
        mixture = job.model.mixture
        return KnownMfu(expected_mfu(published_figures(), job.method, PRECISION, stack, mixture), stack)
    match = TIMED.fullmatch(timed.strip())
    if match is None:
        raise UserError(f'--timed is {timed!r}; expected GPU: RATE, such as "RTX 4090: 2100 tokens/s"')
    device = shipped_devices().get(match["gpu"].strip())
    rate = parse_number(match["rate"], "--timed")
    mfu = rate * job.flop_per_token / (device.peak(PRECISION) * FLOP_PER_TFLOP)
    if not 0 < mfu <= 1:
        raise UserError(
            f"--timed is {timed!r}: {mfu:.3g} of that device's peak; expected a rate above 0 that it can do"
        )
    return KnownMfu(from_one_timing(mfu), timed_device=device)


def machines_for_rent() -> Iterator[RentedMachine]:
    """Yield the rentals of today that the library ships, of NVIDIA's devices and AMD's."""
    devices = shipped_devices()
    for maker in ("nvidia", "amd"):
        prices, instances = rentals(STUDIES, devices, maker)
        for offer in prices["offers"]:
            instance = instances[offer["instance"]]
            billing = offer.get("billing") or prices.get("billing") or {}
            yield RentedMachine(
                name=offer["instance"],
                device=devices.get(instance["gpu"]),
                gpus=instance["gpus"],
                interconnect=instance.get("interconnect"),
                usd_per_hour=middle(offer["per_hour"]),
                minimum_hours=float(billing.get("minimum_s", 0.0)) / 3600,
                as_of=str(offer.get("as_of", prices["as_of"])),
                source=offer["source"],
            )


def report(job: TokenJob, known: KnownMfu, rows: Sequence[MachineEstimate], within_hours: float) -> str:
    """Return the estimates as text for a person.

    Parameters
    ----------
    job, known
        The training, and what is known of the share of the peak.
    rows
        Estimates, the cheapest first.
    within_hours
        The deadline; inf: none.

    """
    mfu = known.mfu
    header = ("machine", "hours", "low", "high", "USD", "times", "low", "high")
    lines = [
        f"{job.model.name}, {job.method}, {job.tokens:,.4g} tokens, sequence {job.sequence}: {job.flop:.3g} FLOP",
        f"share of the peak: {mfu.middle:.0%} ({mfu.low:.0%} to {mfu.high:.0%})",
        "",
        "{:<32}{:>9}{:>9}{:>9}{:>10}{:>7}{:>7}{:>7}  memory".format(*header),
    ]
    for row in rows:
        if row.memory != TOO_SMALL:
            hours = f"{row.hours:>9.3g}{row.hours_low:>9.3g}{row.hours_high:>9.3g}"
            ratios = f"{row.ratio:>7.2g}{row.ratio_low:>7.2g}{row.ratio_high:>7.2g}"
            memory = f"{row.memory}, {row.need_gib:.0f} GiB each"
            lines.append(f"{row.machine:<32}{hours}{row.usd:>10.4g}{ratios}  {memory}; {row.basis}")
    return "\n".join([*lines, "", *_notes(job, known, rows, within_hours), LEGEND])


def _notes(job: TokenJob, known: KnownMfu, rows: Sequence[MachineEstimate], within_hours: float) -> Iterator[str]:
    """Say below the table who is cheapest, who may be as cheap, who is too small, what a timing would tell."""
    days = sorted({row.as_of for row in rows})
    if days:
        yield f"prices of {' to '.join(dict.fromkeys((days[0], days[-1])))}; --json has their sources"
    best = cheapest(rows, within_hours)
    untried = cheapest([row for row in rows if row.basis == UNTRIED], within_hours)
    limit = f" within {within_hours:g} h" if within_hours < math.inf else ""
    yield f"cheapest{limit}: " + (f"{best.machine}, USD {best.usd:.4g} ({best.basis})" if best else "none")
    if untried and best and untried.usd < best.usd:
        yield f"not tried: {untried.machine}, USD {untried.usd:.4g} if its maker's share is as in MLPerf"
    if best and best.ratio == 1:
        others = [row for row in rows if row.memory == "fits" and row.basis != UNTRIED and row is not best]
        names = [row.machine for row in others if row.ratio_low <= 1]
        more = f" and {len(names) - MAX_NAMED_MACHINES} more" if len(names) > MAX_NAMED_MACHINES else ""
        yield f"as cheap for all that is known: {', '.join(names[:MAX_NAMED_MACHINES]) or 'none'}{more}"
    small = [f"{row.gpus} x {row.gpu} ({row.need_gib:.0f} GiB each)" for row in rows if row.memory == TOO_SMALL]
    if small:
        yield f"too small: {', '.join(dict.fromkeys(small))}"
    if known.timed_device is None:
        other, same = (from_one_timing(0.3, spread) for spread in (ONE_STACK_SPREAD, LEAST_SPREAD))
        yield f"hours are known within a factor of {math.sqrt(known.mfu.high / known.mfu.low):.1f}, in common for all"
        yield f"machines. One timing (--timed) makes it {same.middle / same.low:.2g} on that device and"
        yield f"{other.middle / other.low:.2g} on others"
    if job.method == "grpo":
        yield "learnt from NeMo RL alone, on 8 to 256 devices: a loop on other libraries is slower"


def _as_json(known: KnownMfu, rows: Sequence[MachineEstimate], within_hours: float) -> str:
    def plain(row: MachineEstimate) -> dict[str, Any]:
        return without_nan(dataclasses.asdict(row))

    best = cheapest(rows, within_hours)
    content = {
        "mfu": known.mfu._asdict(),
        "machines": [plain(row) for row in rows if row.memory != TOO_SMALL],
        "cheapest": best and plain(best),
        "level": 0.9,
        "too_small": [plain(row) for row in rows if row.memory == TOO_SMALL],
    }
    return json.dumps(content, indent=2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line of `sweetspot estimate`."""
    add = parser.add_argument
    add("work", metavar="WORK", help='such as "llama-3.1-8b lora 100M tokens"')
    add("--sequence", type=int, default=2048, help="tokens of a sequence (2048)")
    add("--epochs", type=number_argument, default=1.0, help="how often the tokens are gone through (1)")
    add("--stack", choices=STACKS, help="tuned: a vendor's library; plain: a loop; default: either")
    add("--timed", metavar="FIGURE", help='your own, one device: "RTX 4090: 2100 tokens/s"')
    add("--within", type=number_argument, default=math.inf, metavar="HOURS", help="the deadline")
    add("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    if arguments.within <= 0:
        raise UserError(f"--within is {arguments.within:g}; expected hours above 0")
    job = asked_work(arguments.work, arguments.sequence, arguments.epochs)
    known = mfu_of(job, arguments.stack, arguments.timed)
    rows = estimate_machines(job, known, machines_for_rent())
    print(_as_json(known, rows, arguments.within) if arguments.json else report(job, known, rows, arguments.within))
