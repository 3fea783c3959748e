"""What does training a known model on so many tokens take on the machines of today?

WORK is MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens"; methods: pretrain, full, lora, qlora. Hours are
operations by the share of a device's peak that training reaches, which is learnt from published figures. How well the
reader's software uses a device is not known, and common to all machines: hours are uncertain, the ranking is less so.
One figure that you timed (--timed, of the same work) replaces that. Intervals hold 90 % as far as the figures go.

    sweetspot estimate "llama-3.1-8b lora 100M tokens" --within 24
    sweetspot estimate "qwen2.5-32b qlora 20M tokens" --timed "RTX 4090: 400 tokens/s" --json
"""

import argparse
import json
import math
import re
from typing import Any, NamedTuple

from sweetspot.commands.study_of_today import rentals
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.study.open_models import METHODS, Method, OpenModel, flop_per_token, memory_need, open_model
from sweetspot.tokens.mfu import (
    SAME,
    STACKS,
    Range,
    carried,
    expected_mfu,
    from_one_timing,
    joined_by,
    nearest,
    of_maker,
    published_figures,
)
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device

WORK = re.compile(
    r"(?P<model>\S+)\s+(?P<method>[a-z]+)\s+(?P<count>\d+(?:\.\d+)?)\s*(?P<unit>[kmbtKMBT]?)(?:\s*tokens)?"
)
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
TIMED = re.compile(r"(?P<gpu>[^:]+):\s*(?P<rate>\d+(?:\.\d+)?)\s*(?:tokens/s)?")
PRECISION = "bf16"
UNTRIED = "arithmetic, by its maker's MLPerf times alone"
BASIS = {"nvidia": "arithmetic", "amd": UNTRIED}
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
    if found is None or found["method"] not in METHODS or float(found["count"]) == 0:
        methods = ", ".join(METHODS)
        raise UserError(
            f'work is {text!r}; expected MODEL METHOD TOKENS, such as "llama-3.1-8b lora 100M tokens" ({methods})'
        )
    if not (1 <= sequence <= 10_000_000 and 0 < epochs < 1e6):
        raise UserError(f"sequence {sequence}, epochs {epochs:g}; expected numbers above 0")
    tokens = float(found["count"]) * UNITS[found["unit"].lower()] * epochs
    return Work(open_model(found["model"]), found["method"], tokens, sequence)  # type: ignore[arg-type]


class Known(NamedTuple):
    """What is known of the share of the peak: the reader's software, or what its figure of a device says."""

    mfu: Range
    stack: str | None = None
    timed: Device | None = None

    def of(self, work: Work, device: Device) -> tuple[Range, str]:
        """The share of a device, and its basis."""
        if self.timed is not None:
            beside = of_maker(device.maker).times(SAME._replace(middle=1 / of_maker(self.timed.maker).middle))
            middle = self.mfu.middle * carried(1.0, device.memory_gb / self.timed.memory_gb)
            alike = device.maker == self.timed.maker
            own = from_one_timing(middle)
            return (own if alike else own.times(beside)), "own" if device.gpu == self.timed.gpu else "transferred"
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
    mfu = float(found["rate"]) * flop / peak
    if not 0 < mfu <= 1:
        raise UserError(
            f"--timed is {timed!r}: {mfu:.3g} of that device's peak; expected a rate above 0 that it can do"
        )
    return Known(from_one_timing(mfu), timed=device)


def estimated(work: Work, known: Known) -> list[dict[str, Any]]:
    """One row an offer: machine, hours and USD with `_low`, `_high`, memory needed and had, and of the price its day
    and source; the cheapest first, those of UNTRIED last.
    """
    devices, rows = shipped_devices(), []
    flop = flop_per_token(work.model, work.method, work.sequence) * work.tokens
    need, most = (memory_need(work.model, work.method, work.sequence, kept=kept) for kept in (False, True))
    for maker in ("nvidia", "amd"):
        rent, machines = rentals(STUDIES, devices, maker)
        for offer in rent["offers"]:
            machine = machines[offer["instance"]]
            device, hour = devices.get(machine["gpu"]), offer["per_hour"]
            usd = float(hour["value"] if isinstance(hour, dict) else hour)
            peak, gib = device.peak(PRECISION) * 1e12 * machine["gpus"], need.gib(machine["gpus"])
            room = device.memory_gb * GIB_PER_GB
            if math.isnan(peak) or gib > room:
                continue
            least = float((offer.get("billing") or rent.get("billing") or {}).get("minimum_s", 0.0)) / 3600
            share, basis = known.of(work, device)
            share = share.times(joined_by(machine.get("interconnect"), machine["gpus"]))
            hours = {f"hours{end}": flop / (peak * value) / 3600 for end, value in _ends(share)}
            rows.append(
                {"machine": offer["instance"], "gpu": device.gpu, "gpus": machine["gpus"], "usd_per_hour": usd}
                | hours
                | {name.replace("hours", "usd"): max(value, least) * usd for name, value in hours.items()}
                | {"need_gib": gib, "memory": "fits" if most.gib(machine["gpus"]) <= room else "tight", "basis": basis}
                | {"as_of": str(offer.get("as_of", rent["as_of"])), "source": offer["source"]}
            )
    return sorted(rows, key=lambda row: (row["basis"] == UNTRIED, row["usd"]))


def _ends(mfu: Range) -> tuple[tuple[str, float], ...]:
    return (("", mfu.middle), ("_low", mfu.high), ("_high", mfu.low))


def cheapest(rows: list[dict[str, Any]], within: float | None) -> dict[str, Any] | None:
    """The cheapest row that fits with room to spare, within so many hours, of `rows` in their order."""
    return next((row for row in rows if row["memory"] == "fits" and row["hours"] <= (within or math.inf)), None)


def report(work: Work, known: Known, rows: list[dict[str, Any]], within: float | None) -> str:
    """The rows as text for a person."""
    flop = flop_per_token(work.model, work.method, work.sequence) * work.tokens
    head = f"{work.model.name}, {work.method}, {work.tokens:,.4g} tokens, sequence {work.sequence}: {flop:.3g} FLOP"
    mfu = known.mfu
    share = f"share of the peak: {mfu.middle:.0%} ({mfu.low:.0%} to {mfu.high:.0%})"
    lines = [head, share, f"\n{'machine':<32}{'hours':>9}{'low':>9}{'high':>9}{'USD':>10}{'low':>9}{'high':>9}  memory"]
    for row in rows:
        figures = "".join(f"{row[name]:>9.3g}" for name in ("hours", "hours_low", "hours_high"))
        money = f"{row['usd']:>10.4g}{row['usd_low']:>9.3g}{row['usd_high']:>9.3g}"
        lines.append(
            f"{row['machine']:<32}{figures}{money}  {row['memory']}, {row['need_gib']:.0f} GiB each; {row['basis']}"
        )
    days = sorted({row["as_of"] for row in rows})
    lines.append(
        f"\nprices of {' to '.join(dict.fromkeys((days[0], days[-1])))}; --json has their sources" if days else ""
    )
    best, limit = cheapest(rows, within), f" within {within:g} h" if within else ""
    lines.append(
        f"cheapest{limit}: " + (f"{best['machine']}, USD {best['usd']:.4g} ({best['basis']})" if best else "none")
    )
    untried = cheapest([row for row in rows if row["basis"] == UNTRIED], within)
    if untried and best and untried["usd"] < best["usd"]:
        lines.append(f"not tried: {untried['machine']}, USD {untried['usd']:.4g} if its maker's share is as in MLPerf")
    if known.timed is None:
        wide, told = math.sqrt(mfu.high / mfu.low), from_one_timing(mfu.middle)
        lines.append(f"hours are known within a factor of {wide:.1f}, the same on all machines; one timing (--timed)")
        lines.append(f"would make it {math.sqrt(told.high / told.low):.1f}")
    return "\n".join(
        [*lines, "low and high: 90 %; tight: fits where layers are computed again (gradient checkpointing)"]
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot estimate`."""
    parser.add_argument("work", metavar="WORK", help='such as "llama-3.1-8b lora 100M tokens"')
    parser.add_argument("--sequence", type=int, default=2048, help="tokens of a sequence (2048)")
    parser.add_argument("--epochs", type=float, default=1.0, help="how often the tokens are gone through (1)")
    parser.add_argument("--stack", choices=STACKS, help="tuned: a vendor's library; plain: a loop; default: either")
    parser.add_argument("--timed", metavar="FIGURE", help='your own, one device: "RTX 4090: 2100 tokens/s"')
    parser.add_argument("--within", type=float, metavar="HOURS", help="the deadline")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the table. Raises UserError."""
    work = asked_work(arguments.work, arguments.sequence, arguments.epochs)
    known = mfu_of(work, arguments.stack, arguments.timed)
    rows = estimated(work, known)
    if not arguments.json:
        print(report(work, known, rows, arguments.within))
        return
    best = cheapest(rows, arguments.within)
    print(json.dumps({"mfu": known.mfu._asdict(), "machines": rows, "cheapest": best, "level": 0.9}, indent=2))
