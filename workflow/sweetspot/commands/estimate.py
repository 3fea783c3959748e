"""What does training a known model on so many tokens take on the machines of today?

WORK is MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" or "llama-2-13b full 1M x 550" (samples by
their tokens); methods: pretrain, full (or sft), lora, qlora, grpo (its tokens: prompts and answers). A model of your
own is its shape, such as own-8030m-32l-4096w-32h-8k-128256v. Hours are operations by the share of a device's peak that
training reaches, which is learnt from published figures. How well the reader's software uses a device is not known, and
common to all machines: hours are uncertain, the ranking is less so, which the column `times` (the cheapest) says. One
figure that you timed (--timed, of the same work) replaces that. Intervals hold 90 % as far as the figures go.

    sweetspot estimate "llama-3.1-8b lora 100M tokens" --within 24
    sweetspot estimate "qwen2.5-32b qlora 20M tokens" --timed "RTX 4090: 400 tokens/s" --json
"""

import argparse
import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from sweetspot.commands.study_of_today import middle, rentals
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.number_text import NUMBER, number_argument, parse_number
from sweetspot.study.open_models import METHODS, Method, OpenModel, flop_per_token, memory_need, open_model
from sweetspot.tokens.mfu import (
    LEAST_SPREAD,
    MAKERS,
    ONE_STACK_SPREAD,
    PCIE,
    SAME,
    STACKS,
    Range,
    beside_maker,
    expected_mfu,
    from_one_timing,
    joined_by,
    nearest,
    of_maker,
    on_device,
    published_figures,
)
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device

WORK = re.compile(
    r"(?P<model>\S+)\s+(?P<method>[a-z]+)\s+(?P<count>" + NUMBER + r")\s*(?P<unit>[kmbt]?)"
    r"(?:\s*(?:samples)?\s*[x×]\s*(?P<each>" + NUMBER + r"))?(?:\s*tokens)?",
    re.IGNORECASE,
)
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
TIMED = re.compile(r"(?P<gpu>[^:]+):\s*(?P<rate>" + NUMBER + r")\s*(?:tokens/s)?", re.IGNORECASE)
SAME_METHOD = {"sft": "full", "finetune": "full"}
PRECISION = "bf16"
UNTRIED = "arithmetic, by its maker's MLPerf times alone"
BASIS = {"nvidia": "arithmetic", "amd": UNTRIED}
SMALL = "too small"
MOST = 4  # machines that are named
END = """\
low and high: 90 %. times: USD over those of the cheapest, where the error that all machines have in common
drops out. tight: it fits where layers are computed again (gradient checkpointing)"""
GIB_PER_GB = 1e9 / 2**30


class Work(NamedTuple):
    """What is trained, how, on how many tokens (all epochs), in sequences of which length."""

    model: OpenModel
    method: Method
    tokens: float
    sequence: int


def asked_work(text: str, sequence: int, epochs: float) -> Work:
    """The work that `text` names. Raises UserError."""
    found = WORK.fullmatch(text.strip())
    method = "" if found is None else SAME_METHOD.get(found["method"].lower(), found["method"].lower())
    if found is None or method not in METHODS:
        methods = ", ".join(METHODS)
        raise UserError(
            f'work is {text!r}; expected MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" ({methods})'
        )
    if not (1 <= sequence <= 10_000_000 and 0 < epochs < 1e6):
        raise UserError(f"sequence {sequence}, epochs {epochs:g}; expected numbers above 0")
    count, each = parse_number(found["count"], "TOKENS"), parse_number(found["each"] or "1", "tokens of a sample")
    tokens = count * UNITS[found["unit"].lower()] * each * epochs
    if not 1 <= tokens < math.inf:
        raise UserError(f"work is {text!r}, which makes {tokens:g} tokens; expected at least 1")
    return Work(open_model(found["model"]), method, tokens, sequence)  # type: ignore[arg-type]


class Known(NamedTuple):
    """What is known of the share of the peak: the reader's software, or what its figure of a device says."""

    mfu: Range
    stack: str | None = None
    timed: Device | None = None

    def of(self, work: Work, device: Device) -> tuple[Range, str]:
        """The share of a device, and its basis."""
        if self.timed is not None:
            own = from_one_timing(self.mfu.middle, spread=LEAST_SPREAD)
            if device.gpu == self.timed.gpu:
                return own, "own"
            share = on_device(own, self.timed, device, PRECISION)
            return share.times(beside_maker(device.maker, self.timed.maker)), "transferred"
        if self.stack is not None and device.maker == "nvidia":
            return nearest(work.model, work.method, work.sequence, device, self.stack)
        return self.mfu.times(of_maker(device.maker)), BASIS[device.maker]


def mfu_of(work: Work, stack: str | None, timed: str | None) -> Known:
    """From the figure that the reader timed, else from published ones. Raises UserError."""
    if timed is None:
        return Known(expected_mfu(published_figures(), work.method, PRECISION, stack, work.model.mixture), stack)
    found = TIMED.fullmatch(timed.strip())
    if found is None:
        raise UserError(f'--timed is {timed!r}; expected GPU: RATE, such as "RTX 4090: 2100 tokens/s"')
    device = shipped_devices().get(found["gpu"].strip())
    flop, peak = flop_per_token(work.model, work.method, work.sequence), device.peak(PRECISION) * 1e12
    mfu = parse_number(found["rate"], "--timed") * flop / peak
    if not 0 < mfu <= 1:
        raise UserError(
            f"--timed is {timed!r}: {mfu:.3g} of that device's peak; expected a rate above 0 that it can do"
        )
    return Known(from_one_timing(mfu), timed=device)


def estimated(work: Work, known: Known) -> list[dict[str, Any]]:
    """One row an offer: machine, hours and USD with `_low`, `_high`, USD over those of the cheapest that fits (`ratio`,
    without what all machines have in common), memory needed and had, and of the price its day and source; the cheapest
    first, those of UNTRIED last.
    """
    devices, rows = shipped_devices(), []
    flop = flop_per_token(work.model, work.method, work.sequence) * work.tokens
    need, most = (memory_need(work.model, work.method, work.sequence, kept=kept) for kept in (False, True))
    for maker in ("nvidia", "amd"):
        rent, machines = rentals(STUDIES, devices, maker)
        for offer in rent["offers"]:
            machine = machines[offer["instance"]]
            device, usd, gpus = devices.get(machine["gpu"]), middle(offer["per_hour"]), machine["gpus"]
            peak, gib = device.peak(PRECISION) * 1e12 * gpus, need.gib(gpus)
            joined = joined_by(machine.get("interconnect"), gpus)
            room = device.memory_gb * GIB_PER_GB
            if math.isnan(peak):
                continue
            least = float((offer.get("billing") or rent.get("billing") or {}).get("minimum_s", 0.0)) / 3600
            share, basis = known.of(work, device)
            share = share.times(joined)
            memory = SMALL if gib > room else "fits" if most.gib(gpus) <= room else "tight"
            ends = {"": share.middle, "_low": share.high, "_high": share.low}
            hours = {f"hours{end}": flop / (peak * value) / 3600 for end, value in ends.items()}
            rows.append(
                {"machine": offer["instance"], "gpu": device.gpu, "gpus": gpus, "usd_per_hour": usd}
                | {"pcie": joined is not SAME}
                | hours
                | {name.replace("hours", "usd"): max(value, least) * usd for name, value in hours.items()}
                | {"need_gib": gib, "memory": memory, "basis": basis}
                | {"as_of": str(offer.get("as_of", rent["as_of"])), "source": offer["source"]}
            )
    rows = sorted(rows, key=lambda row: (row["basis"] == UNTRIED, row["usd"]))
    best = cheapest(rows, None)
    return [row | _beside(row, best) for row in rows] if best else rows


def _beside(row: dict[str, Any], best: dict[str, Any]) -> dict[str, float]:
    """USD over those of `best` with the ends of 90 %: exact for the same devices, else what one stack's shares lie
    apart on two devices, and what makers and PCIe add to it.
    """
    ratio, alike = row["usd"] / best["usd"], all(row[name] == best[name] for name in ("gpu", "gpus"))
    told = [from_one_timing(0.5)]
    told += [MAKERS["amd"]] if (row["basis"] == UNTRIED) != (best["basis"] == UNTRIED) else []
    told += [PCIE] if row["pcie"] != best["pcie"] else []
    low, high = (
        math.exp(math.hypot(*(math.log(end(one)) for one in told)))
        for end in (lambda one: one.high / one.middle, lambda one: one.middle / one.low)
    )
    return {"ratio": ratio, "ratio_low": ratio / (1 if alike else low), "ratio_high": ratio * (1 if alike else high)}


def cheapest(rows: list[dict[str, Any]], within: float | None) -> dict[str, Any] | None:
    """The cheapest row that fits with room to spare, within so many hours, of `rows` in their order."""
    return next((row for row in rows if row["memory"] == "fits" and row["hours"] <= (within or math.inf)), None)


def report(work: Work, known: Known, rows: list[dict[str, Any]], within: float | None) -> str:
    """The rows as text for a person."""
    flop = flop_per_token(work.model, work.method, work.sequence) * work.tokens
    head = f"{work.model.name}, {work.method}, {work.tokens:,.4g} tokens, sequence {work.sequence}: {flop:.3g} FLOP"
    mfu = known.mfu
    share = f"share of the peak: {mfu.middle:.0%} ({mfu.low:.0%} to {mfu.high:.0%})"
    ends = f"{'low':>7}{'high':>7}"
    lines = [head, share, f"\n{'machine':<32}{'hours':>9}{'low':>9}{'high':>9}{'USD':>10}{'times':>7}{ends}  memory"]
    for row in (one for one in rows if one["memory"] != SMALL):
        figures = "".join(f"{row[name]:>9.3g}" for name in ("hours", "hours_low", "hours_high"))
        times = "".join(f"{row.get(name, math.nan):>7.2g}" for name in ("ratio", "ratio_low", "ratio_high"))
        money = f"{row['usd']:>10.4g}{times}"
        lines.append(
            f"{row['machine']:<32}{figures}{money}  {row['memory']}, {row['need_gib']:.0f} GiB each; {row['basis']}"
        )
    return "\n".join([*lines, *_below(work, known, rows, within), END])


def _below(work: Work, known: Known, rows: list[dict[str, Any]], within: float | None) -> Iterator[str]:
    """What stands below the table: the cheapest, who may be as cheap, who is too small, what a timing would tell."""
    days = sorted({row["as_of"] for row in rows})
    yield f"\nprices of {' to '.join(dict.fromkeys((days[0], days[-1])))}; --json has their sources" if days else ""
    best, limit = cheapest(rows, within), f" within {within:g} h" if within else ""
    yield f"cheapest{limit}: " + (f"{best['machine']}, USD {best['usd']:.4g} ({best['basis']})" if best else "none")
    untried = cheapest([row for row in rows if row["basis"] == UNTRIED], within)
    if untried and best and untried["usd"] < best["usd"]:
        yield f"not tried: {untried['machine']}, USD {untried['usd']:.4g} if its maker's share is as in MLPerf"
    if best and best["ratio"] == 1:
        fit = [row for row in rows if row["memory"] == "fits" and row["basis"] != UNTRIED and row is not best]
        near = [row["machine"] for row in fit if row["ratio_low"] <= 1]
        more = f" and {len(near) - MOST} more" if len(near) > MOST else ""
        yield f"as cheap for all that is known: {', '.join(near[:MOST]) or 'none'}{more}"
    small = [f"{row['gpus']} x {row['gpu']} ({row['need_gib']:.0f} GiB each)" for row in rows if row["memory"] == SMALL]
    if small:
        yield f"too small: {', '.join(dict.fromkeys(small))}"
    if known.timed is None:
        told, own = (from_one_timing(0.3, spread) for spread in (ONE_STACK_SPREAD, LEAST_SPREAD))
        yield f"hours are known within a factor of {math.sqrt(known.mfu.high / known.mfu.low):.1f}, in common for all"
        yield f"machines. One timing (--timed) makes it {own.middle / own.low:.2g} on that device and"
        yield f"{told.middle / told.low:.2g} on others"
    if work.method == "grpo":
        yield "learnt from NeMo RL alone, on 8 to 256 devices: a loop on other libraries is slower"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot estimate`."""
    add = parser.add_argument
    add("work", metavar="WORK", help='such as "llama-3.1-8b lora 100M tokens"')
    add("--sequence", type=int, default=2048, help="tokens of a sequence (2048)")
    add("--epochs", type=number_argument, default=1.0, help="how often the tokens are gone through (1)")
    add("--stack", choices=STACKS, help="tuned: a vendor's library; plain: a loop; default: either")
    add("--timed", metavar="FIGURE", help='your own, one device: "RTX 4090: 2100 tokens/s"')
    add("--within", type=number_argument, metavar="HOURS", help="the deadline")
    add("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    if arguments.within is not None and arguments.within <= 0:
        raise UserError(f"--within is {arguments.within:g}; expected hours above 0")
    work = asked_work(arguments.work, arguments.sequence, arguments.epochs)
    known = mfu_of(work, arguments.stack, arguments.timed)
    rows = estimated(work, known)
    if not arguments.json:
        print(report(work, known, rows, arguments.within))
        return
    best = cheapest(rows, arguments.within)
    fit, small = ([row for row in rows if (row["memory"] == SMALL) == each] for each in (False, True))
    answer = {"mfu": known.mfu._asdict(), "machines": fit, "cheapest": best, "level": 0.9, "too_small": small}
    print(json.dumps(answer, indent=2))
