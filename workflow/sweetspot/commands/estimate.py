"""Estimate what training a known model on tokens takes on the machines of today."""

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sweetspot.commands.json_values import without_nan
from sweetspot.commands.rentals import load_rentals
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.number_text import NUMBER, parse_number
from sweetspot.study.open_models import METHODS, SEQUENCE, open_model
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
    expected_mfu,
    from_one_timing,
    published_figures,
)
from sweetspot.transfer.figures import shipped_devices

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


def parse_work(text: str, sequence: int = SEQUENCE, epochs: float = 1.0) -> TokenJob:
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
        example = '"llama-3.1-8b lora 100M tokens"'
        methods = ", ".join(METHODS)
        raise UserError(f"work is {text!r}; expected MODEL METHOD TOKENS, such as {example} ({methods})")
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
        prices, instances = load_rentals(STUDIES, devices, maker)
        for offer in prices["offers"]:
            instance = instances[offer["instance"]]
            billing = offer.get("billing", prices["billing"])
            yield RentedMachine(
                name=offer["instance"],
                device=devices.get(instance["gpu"]),
                gpus=instance["gpus"],
                interconnect=instance.get("interconnect"),
                usd_per_hour=offer["per_hour"],
                minimum_hours=billing.get("minimum_s", 0.0) / 3600,
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


def run(
    work: str,
    sequence: int,
    epochs: float,
    stack: str | None,
    timed: str | None,
    within_hours: float,
    as_json: bool,
) -> None:
    """Print the table.

    Parameters
    ----------
    work, sequence, epochs
        As of `parse_work`.
    stack, timed
        As of `mfu_of`.
    within_hours
        The deadline; inf: none.
    as_json
        Print one JSON object instead of text.

    Raises
    ------
    UserError
        The work or the timing cannot be read.

    """
    job = parse_work(work, sequence, epochs)
    known = mfu_of(job, stack, timed)
    rows = estimate_machines(job, known, machines_for_rent())
    print(_as_json(known, rows, within_hours) if as_json else report(job, known, rows, within_hours))
