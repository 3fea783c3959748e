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


class PublishedShare(NamedTuple):
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
def published_figures() -> tuple[PublishedShare, ...]:
    """Return the figures of the pool tokens-2026."""
    return read_figures(POOLS / "tokens-2026" / "throughput.csv")


def read_figures(path: Path) -> tuple[PublishedShare, ...]:
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
            figures.append(PublishedShare(row["model"], *cell, model.mixture, mfu))
    return tuple(figures)


def expected_mfu(
    figures: Iterable[PublishedShare], method: str, precision: str, stack: str | None, mixture: bool = False
) -> Range:
    """Return the MFU of a stack on a new model and device, from the nearest figures.

    The nearest are those of the same method, precision and stack; then of the same precision and stack; then of the
    stack. GRPO is learnt from GRPO alone, which is of one stack. The interval is that of one more value of a normal
    logarithm; unless the stack is a vendor's library, it reaches down to what loops on common libraries do.

    Parameters
    ----------
    figures
        Those of one model, device and software count once.
    method, precision
        Of the work.
    stack
        One of STACKS; None: unknown.
    mixture
        Whether the model is a mixture of experts.
    """
    figures = list(figures)
    group = _of_kind([figure for figure in figures if (figure.method == "grpo") == (method == "grpo")], mixture)
    seen = any(figure.mixture == mixture and figure.method == method for figure in group)
    widening = SAME if seen else Range(1.0, MIXTURE.low / MIXTURE.middle, MIXTURE.high / MIXTURE.middle)
    if method == "grpo":
        return _interval(_log_shares(group), "tuned").times(widening)
    group = [figure for figure in group if stack in (None, figure.stack)]
    of_precision = [figure for figure in group if figure.precision == precision]
    of_method = [figure for figure in of_precision if figure.method == method]
    candidates = [_log_shares(nearby) for nearby in (of_method, of_precision)]
    logs = next((values for values in candidates if len(values) >= 3), _log_shares(group))
    if stack is None:  # The error of a stack is common to its rows: each half counts as much.
        logs = [value for name in STACKS for value in _range_of_stack(group, name, method)]
    share = _interval(logs, stack)
    tuned = [figure for figure in figures if figure.stack == "tuned" and figure.method != "grpo"]
    if stack != "tuned" and tuned:
        lowest = PLAIN_SHARE * expected_mfu(tuned, method, precision, "tuned", mixture).low
        share = share._replace(low=min(share.low, lowest))
    return share.times(widening)


def _of_kind(figures: Sequence[PublishedShare], mixture: bool) -> list[PublishedShare]:
    """Return the figures of mixtures, or of other models; where a method of a stack has none, the rest by MIXTURE."""
    covered = {(figure.method, figure.stack) for figure in figures if figure.mixture == mixture}
    factor = MIXTURE.middle if mixture else 1 / MIXTURE.middle
    return [
        figure if figure.mixture == mixture else figure._replace(mfu=figure.mfu * factor)
        for figure in figures
        if figure.mixture == mixture or (figure.method, figure.stack) not in covered
    ]


def _range_of_stack(figures: Sequence[PublishedShare], stack: str, method: str) -> list[float]:
    """Return the lowest, median and highest log share of a stack: as many values for each stack."""
    rows = [figure for figure in figures if figure.stack == stack]
    values = sorted(_log_shares([figure for figure in rows if figure.method == method]) or _log_shares(rows))
    return [values[0], median(values), values[-1]] if values else []


def _log_shares(figures: Sequence[PublishedShare]) -> list[float]:
    """Return the logarithm of MFU, a median for each model, device and software."""
    groups = defaultdict(list)
    for figure in figures:
        groups[figure.model, figure.gpu, figure.software].append(math.log(figure.mfu))
    return [median(values) for values in groups.values()]


def _interval(logs: Sequence[float], stack: str | None) -> Range:
    spread = max(stdev(logs), LEAST_SPREAD) if len(logs) > 2 else 2 * ONE_STACK_SPREAD
    # Without a stack the values are the ends of each, which lie further apart than a sample would.
    quantile = SD_90 if stack is None else float(stdtrit(max(len(logs) - 1, 2), (1 + LEVEL) / 2))
    half_width = quantile * spread * math.sqrt(1 + 1 / len(logs))
    middle = mean(logs)
    return Range(math.exp(middle), math.exp(middle - half_width), math.exp(middle + half_width))


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
    """Return the MFU of a known stack in bf16 and its basis.

    Parameters
    ----------
    model, method, sequence
        The work; figures of half to twice the sequence count.
    device
        Where it runs.
    stack
        One of STACKS.

    Returns
    -------
    tuple
        The share, and `published` for the model and the device, else `transferred` from another model or device, else
        `arithmetic` by all of the stack.
    """
    figures = [
        figure
        for figure in published_figures()
        if (figure.stack, figure.method, figure.precision) == (stack, method, "bf16")
        and 0.5 <= figure.sequence / sequence <= 2
    ]
    on_it = [figure for figure in figures if figure.gpu == device.gpu]
    exact = [figure.mfu for figure in on_it if figure.model == model.name]
    if exact:
        return from_one_timing(median(exact), spread=LEAST_SPREAD), "published"
    related = on_it or [figure for figure in figures if figure.model == model.name]
    if not related:
        return expected_mfu(published_figures(), method, "bf16", stack, model.mixture), "arithmetic"
    shares = []
    for figure in related:
        size_ratio = model.active_parameters / open_models()[figure.model].active_parameters
        share = on_model(from_one_timing(figure.mfu, LEAST_SPREAD), size_ratio, stack)
        shares.append(on_device(share, shipped_devices().get(figure.gpu), device, "bf16"))
    return sorted(shares)[(len(shares) - 1) // 2], "transferred"
