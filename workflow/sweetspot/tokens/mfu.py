"""What share of a device's peak training reaches (MFU), learnt from published tokens a second, with its spread."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev
from typing import NamedTuple

from scipy.special import stdtrit  # scipy.stats takes longer to import than all of an estimate

from sweetspot.facts.shipped_tables import POOLS
from sweetspot.study.open_models import OpenModel, flop_per_token, open_models
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device
from sweetspot.transfer.unmeasured import SD_90

LEVEL = 0.9
STACKS = ("tuned", "plain")
CREDIBLE = 0.75  # no training is known above it: torchtune prints an RTX A6000 faster than its peak
LEAST_SPREAD = 0.15  # of the logarithm: two printed tables of one stack differ by as much
ONE_STACK_SPREAD = 0.35  # where a group has too few figures of one stack to learn it
# To another model a loop on common libraries carries its share by active parameters to this power (pairs of one device,
# software, method, precision and sequence; 0.08 to 0.16 without one model); a vendor's library keeps its share.
SIZE_EXPONENT, SIZE_LIMIT = 0.1, 1.3
# Half widths of the 90 % interval of the logarithm. To another device throughput goes as the memory bandwidth: 392
# pairs of figures of one model and software. To another model of a vendor's library: 346 pairs of one device and
# software.
DEVICE_HALF_WIDTH, TUNED_MODEL_HALF_WIDTH = 0.60, 1.14
# Loops on common libraries run at a tenth to a half of what a vendor's library reaches.
PLAIN_SHARE = 0.1


class Figure(NamedTuple):
    """What a published figure says: the share of the devices' dense peak (of the precision)."""

    model: str
    method: str
    gpu: str
    precision: str
    sequence: int
    stack: str
    software: str
    mixture: bool
    mfu: float


class Range(NamedTuple):
    """A middle and the ends of the interval of 90 %."""

    middle: float
    low: float
    high: float

    def times(self, other: "Range") -> "Range":
        """The product of two shares that are off independently, normal in the logarithm."""
        middle = self.middle * other.middle
        low = math.hypot(math.log(self.middle / self.low), math.log(other.middle / other.low))
        high = math.hypot(math.log(self.high / self.middle), math.log(other.high / other.middle))
        return Range(middle, middle * math.exp(-low), min(1.0, middle * math.exp(high)))


# Of NVIDIA's share of the peak. AMD: ten medians of MLPerf's LoRA and Llama-3.1-8B of one round on eight MI300X, MI325X
# (beside H200), MI350X and MI355X (beside B200 of v5.1, B300 of v6.0), by bf16 peaks: 0.62 to 0.86, median 0.74
# (eight-gpus-2026/time_to_target.csv). That is each vendor's own code: of other software nothing is known, so the ends
# are as far as a stack's figures lie apart on other devices, twice.
SAME = Range(1.0, 1.0, 1.0)
MAKERS = {"nvidia": SAME, "amd": Range(0.74, 0.34, 1.6)}

# Of mixtures of experts, of the share of other models: medians of pretraining by device, precision and software, 20 in
# tokens-2026: 0.23 to 0.81, median 0.40.
MIXTURE = Range(0.4, 0.23, 0.81)

# Of what as many alone do, where PCIe joins them. Low: four rented RTX 4090 without peer access trained a language
# model at 14.0 samples/s where one did 15.4 (office-box-2026); middle and high: Lambda's two RTX 4090 kept 75 % of
# BERT-large and 95 % of ResNet-50. What is joined better is as good as one: the tuned figures are of eight.
PCIE = Range(0.75, 14.0 / 15.4 / 4, 0.95)


def joined_by(interconnect: str | None, gpus: int) -> Range:
    """What several devices do of what as many alone do."""
    return PCIE if gpus > 1 and interconnect in (None, "pcie", "none") else SAME


def of_maker(maker: str) -> Range:
    """What share of NVIDIA's share of the peak a maker's devices reach; of an unknown maker as of AMD."""
    return MAKERS.get(maker, MAKERS["amd"])


def beside_maker(maker: str, other: str) -> Range:
    """Return how much wider the share of another maker's device is known; its bandwidth sets the middle."""
    if maker == other:
        return SAME
    share = of_maker(maker) if of_maker(other) == SAME else of_maker(other)
    return Range(1.0, share.low / share.middle, share.high / share.middle)


@cache
def published_figures() -> tuple[Figure, ...]:
    """Return the figures of the pool tokens-2026."""
    return read_figures(POOLS / "tokens-2026" / "throughput.csv")


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Read the credible figures, of devices with a peak of their precision, of a file with the pool's columns."""
    models, devices, figures = open_models(), shipped_devices(), []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        model, device, sequence = models[row["model"]], devices.get(row["gpu"]), int(row["sequence"])
        flop = flop_per_token(model, row["method"], sequence)  # type: ignore[arg-type]
        mfu = float(row["tokens_per_s"]) * flop / (int(row["gpus"]) * device.peak(row["precision"]) * 1e12)
        if mfu <= CREDIBLE:  # False where there is no peak.
            cell = row["method"], device.gpu, row["precision"], sequence, row["stack"], row["software"]
            figures.append(Figure(row["model"], *cell, model.mixture, mfu))
    return tuple(figures)


def expected_mfu(
    figures: Iterable[Figure], method: str, precision: str, stack: str | None, mixture: bool = False
) -> Range:
    """MFU of a stack (None: either) in a new model (`mixture` of experts or not) and device, from the nearest figures.

    Figures of one model and device count once. The nearest: of the same method, precision and stack; then of the same
    precision and stack; then of the stack. GRPO is learnt from GRPO alone, which is of one stack. The interval is that
    of one more value of a normal logarithm.
    """
    figures = list(figures)
    known = _of_kind([one for one in figures if (one.method == "grpo") == (method == "grpo")], mixture)
    told = any(one.mixture == mixture and one.method == method for one in known)
    wider = SAME if told else Range(1.0, MIXTURE.low / MIXTURE.middle, MIXTURE.high / MIXTURE.middle)
    if method == "grpo":
        return _interval(_apart(known), "tuned").times(wider)
    known = [one for one in known if stack in (None, one.stack)]
    same = [one for one in known if one.precision == precision]
    like = [one for one in same if one.method == method]
    chosen = next((_apart(group) for group in (like, same) if len(_apart(group)) >= 3), _apart(known))
    if stack is None:  # a stack's error is common to its rows: each half counts as much
        chosen = [value for name in STACKS for value in _few(known, name, method)]
    share = _interval(chosen, stack)
    tuned = [one for one in figures if one.stack == "tuned" and one.method != "grpo"]
    if stack != "tuned" and tuned:
        lowest = PLAIN_SHARE * expected_mfu(tuned, method, precision, "tuned", mixture).low
        share = share._replace(low=min(share.low, lowest))
    return share.times(wider)


def _of_kind(figures: Sequence[Figure], mixture: bool) -> list[Figure]:
    """The figures of mixtures, or of other models; where a method of a stack has none, the others' by MIXTURE."""
    alike = {(one.method, one.stack) for one in figures if one.mixture == mixture}
    times = MIXTURE.middle if mixture else 1 / MIXTURE.middle
    return [
        one if one.mixture == mixture else one._replace(mfu=one.mfu * times)
        for one in figures
        if one.mixture == mixture or (one.method, one.stack) not in alike
    ]


def _few(known: Sequence[Figure], stack: str, method: str) -> list[float]:
    """The ends and the middle of a stack's own values: as many of each stack."""
    rows = [one for one in known if one.stack == stack]
    values = sorted(_apart([one for one in rows if one.method == method]) or _apart(rows))
    return [values[0], median(values), values[-1]] if values else []


def _apart(figures: Sequence[Figure]) -> list[float]:
    """The logarithm of MFU, one value of each model, device and software."""
    groups = defaultdict(list)
    for one in figures:
        groups[one.model, one.gpu, one.software].append(math.log(one.mfu))
    return [median(values) for values in groups.values()]


def _interval(logs: Sequence[float], stack: str | None) -> Range:
    spread = max(stdev(logs), LEAST_SPREAD) if len(logs) > 2 else 2 * ONE_STACK_SPREAD
    # Of either stack the values are the ends of each, which lie further apart than values drawn would.
    edge = SD_90 if stack is None else float(stdtrit(max(len(logs) - 1, 2), (1 + LEVEL) / 2))
    wide = edge * spread * math.sqrt(1 + 1 / len(logs))
    middle = mean(logs)
    return Range(math.exp(middle), math.exp(middle - wide), math.exp(middle + wide))


def from_one_timing(mfu: float, spread: float = ONE_STACK_SPREAD) -> Range:
    """Return the MFU of a stack that reached `mfu` on other work, with a spread of its logarithm.

    Beyond CREDIBLE it is not believed.
    """
    return _around(mfu, SD_90 * spread)


def on_device(share: Range, timed: Device, device: Device, precision: str) -> Range:
    """Return what a share of the peak becomes on another device: throughput goes as the memory bandwidth.

    Parameters
    ----------
    share
        Of the peak of `timed`.
    timed
        The device that the share is of.
    device
        The device that it is wanted for.
    precision
        Number format of the peaks.

    """
    if timed.gpu == device.gpu:
        return share
    bandwidths = device.memory_bandwidth_gb_s / timed.memory_bandwidth_gb_s
    middle = share.middle * bandwidths * timed.peak(precision) / device.peak(precision)
    return _around(middle, math.hypot(math.log(share.middle / share.low), DEVICE_HALF_WIDTH))


def on_model(share: Range, size_ratio: float, stack: str | None) -> Range:
    """Return what a share of the peak becomes on a model of so many times the active parameters.

    Parameters
    ----------
    share
        Of the model that was timed.
    size_ratio
        Active parameters of the wanted model over those of the timed one.
    stack
        One of STACKS; None: the reader's own, as a plain one.

    """
    if size_ratio == 1.0:
        return share
    half_width = math.log(share.middle / share.low)
    if stack == "tuned":
        return _around(share.middle, math.hypot(half_width, TUNED_MODEL_HALF_WIDTH))
    factor = min(SIZE_LIMIT, max(1 / SIZE_LIMIT, size_ratio**SIZE_EXPONENT))
    return _around(share.middle * factor, max(half_width, SD_90 * ONE_STACK_SPREAD))


def _around(middle: float, half_width: float) -> Range:
    middle = min(middle, CREDIBLE)
    return Range(middle, middle * math.exp(-half_width), min(1.0, middle * math.exp(half_width)))


def nearest(model: OpenModel, method: str, sequence: int, device: Device, stack: str) -> tuple[Range, str]:
    """MFU of a known stack in bf16, and its basis: `published` for the model and the device at about that sequence,
    else `transferred` from another device or model, else `arithmetic` by all of the stack.
    """
    alike = [
        one for one in published_figures()
        if (one.stack, one.method, one.precision) == (stack, method, "bf16") and 0.5 <= one.sequence / sequence <= 2
    ]  # fmt: skip
    own = [one.mfu for one in alike if (one.model, one.gpu) == (model.name, device.gpu)]
    if own:
        return from_one_timing(median(own), spread=LEAST_SPREAD), "published"
    kin = [one for one in alike if one.gpu == device.gpu] or [one for one in alike if one.model == model.name]
    if not kin:
        return expected_mfu(published_figures(), method, "bf16", stack, model.mixture), "arithmetic"
    models, devices = open_models(), shipped_devices()
    shares = [
        on_device(
            on_model(
                from_one_timing(one.mfu, LEAST_SPREAD),
                model.active_parameters / models[one.model].active_parameters,
                stack,
            ),
            devices.get(one.gpu),
            device,
            "bf16",
        )
        for one in kin
    ]
    return sorted(shares)[(len(shares) - 1) // 2], "transferred"
