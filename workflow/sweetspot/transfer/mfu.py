"""What share of a device's dense peak training on tokens reaches (MFU), learnt from published tokens a second."""

import math
from functools import cache
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.facts.shipped_tables import POOLS
from sweetspot.study.open_models import OpenModel, flop_per_token, open_models
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device

PRECISION = "bf16"
FLOP_PER_TFLOP = 1e12
STACKS = ("tuned", "plain")
# No training is known above this share: torchtune prints an RTX A6000 faster than its peak.
CREDIBLE = 0.75
SD_90 = 1.644854  # Standard deviations to either end of a 90 % interval.
TO_BOUNDS = np.array([0.0, -1.0, 1.0])  # Times a half width: from a middle to itself, the lower and the upper bound.
# Standard deviations of the logarithm of a share: two printed tables of one stack differ by as much as the first; the
# figures of one stack by as much as the second.
TIMING_SD, STACK_SD = 0.15, 0.35
# To another model a loop on common libraries carries its share by active parameters to this power (pairs of one device,
# software, method, precision and sequence; 0.08 to 0.16 without one model); a vendor's library keeps its share.
SIZE_EXPONENT, SIZE_LIMIT = 0.1, 1.3
# The same to another device, where throughput goes as the memory bandwidth (392 pairs of a model and software), and
# to another model of a vendor's library (346 pairs) or a loop (12 of one publisher, 90 % within a factor of 2.6).
DEVICE_SD, TUNED_MODEL_SD, LOOP_MODEL_SD = 0.365, 0.693, 0.57
# Loops on common libraries run at a tenth to a half of what a vendor's library reaches.
LOOP_FRACTION = 0.1


class Range(NamedTuple):
    """A number with its 90 % interval: a share of the peak, operations per second, or a factor on either."""

    middle: float
    low: float
    high: float

    def times(self, factor: "Range") -> "Range":
        """Return the product (a speed x a correction) of independent lognormal Ranges: log widths add as squares."""
        logs = np.log([self, factor])
        half_widths = np.hypot(*(logs - logs[:, :1]))
        return Range(*np.exp(logs[:, 0].sum() + half_widths * TO_BOUNDS))


def range_around(middle: float, log_sd: float) -> Range:
    """Return the Range middle x exp(-+1.64 log_sd): 90 % of a lognormal whose log has the deviation `log_sd`."""
    return Range(*(middle * np.exp(SD_90 * log_sd * TO_BOUNDS)))


UNCHANGED = Range(1.0, 1.0, 1.0)
# AMD's share of the peak over NVIDIA's: ten medians of MLPerf's LoRA and Llama-3.1-8B of one round on eight MI300X,
# MI325X (beside H200), MI350X and MI355X (beside B200 of v5.1, B300 of v6.0), by bf16 peaks: 0.62 to 0.86, median 0.74
# (eight-gpus-2026/time_to_target.csv). That is each vendor's own code: of other software nothing is known, so the
# bounds are as far as a stack's figures lie apart on other devices, twice.
AMD = Range(0.74, 0.34, 1.6)
# Mixtures of experts over other models: 20 medians of pretraining in tokens-2026 are 0.23 to 0.81, in the middle 0.40.
MIXTURE = Range(0.4, 0.23, 0.81)
# Several devices joined by PCIe over as many alone. Low: four rented RTX 4090 without peer access trained a language
# model at 14.0 samples/s where one did 15.4 (office-box-2026); middle and high: Lambda's two RTX 4090 kept 75 % of
# BERT-large and 95 % of ResNet-50. Better links count as no loss: the tuned figures are of eight devices.
PCIE = Range(0.75, 14.0 / 15.4 / 4, 0.95)


def interconnect_factor(interconnect: str | None, gpus: int) -> Range:
    """Return the speed of `gpus` joined devices over that of as many single ones: PCIE, or 1 for faster links."""
    return PCIE if gpus > 1 and interconnect in (None, "pcie", "none") else UNCHANGED


def maker_factor(maker: str) -> Range:
    """Return the factor from NVIDIA's share of the peak to a maker's: 1 for nvidia, AMD for every other maker."""
    return UNCHANGED if maker == "nvidia" else AMD


@cache
def published_figures() -> pd.DataFrame:
    """Return the table of `read_figures` for the shipped pool tokens-2026."""
    return read_figures(POOLS / "tokens-2026" / "throughput.csv")


def read_figures(path: Path) -> pd.DataFrame:
    """Read published training speeds of language models (a throughput.csv in tokens per second) and compute what share
    of the device's peak each reaches, from which other models' speeds are estimated. Added columns: mixture (bool:
    mixture of experts), flop_per_s (operations per second of one device) and mfu (share of the dense peak, 0 to 1).
    Rows above CREDIBLE of the peak, or of devices without a known peak, are left out.
    """
    table, models = pd.read_csv(path), open_models()
    devices = [shipped_devices().get(gpu) for gpu in table["gpu"]]
    flop = [flop_per_token(models[row.model], row.method, row.sequence) for row in table.itertuples()]
    peaks = [device.peak(name) for device, name in zip(devices, table["precision"], strict=True)]
    table["gpu"] = [device.gpu for device in devices]
    table["mixture"] = [models[model].mixture for model in table["model"]]
    table["flop_per_s"] = table["tokens_per_s"] * flop / table["gpus"]
    table["mfu"] = table["flop_per_s"] / (np.array(peaks) * FLOP_PER_TFLOP)
    return table[table["mfu"] <= CREDIBLE]  # False where there is no peak.


def expected_mfu(figures: pd.DataFrame, method: str, stack: str | None, mixture: bool = False) -> Range:
    """Return the share of a device's dense peak (0 to 1, with a 90 % interval) to expect when a language model is
    trained that nobody timed on it; times the peak, it gives a speed for `estimate` and for studies without
    measurements. Used are the lowest, median and highest share of each stack, since its rows share an error: of the
    method, or of all methods where the stack has no figure of this one. GRPO is learnt from figures of GRPO alone (one
    stack).

    Parameters
    ----------
    figures, method
        Rows of `read_figures` (one model, device and software count once); kind of training (`lora`, `grpo`, ...).
    stack, mixture
        Software, one of STACKS: `tuned` (a vendor's library) or `plain` (a loop on common libraries); None: unknown
        (unless `tuned`, the interval reaches down to plain loops). Whether the model is a mixture of experts.
    """
    if method == "grpo":
        figures, stack = figures[figures["method"] == method], "tuned"
    of_kind, factor = figures[figures["mixture"] == mixture], UNCHANGED
    if mixture and method not in set(of_kind["method"]):
        of_kind, factor = figures[~figures["mixture"]], MIXTURE
    of_stack = of_kind[of_kind["stack"] == (stack or of_kind["stack"])]
    has_method = of_stack["method"] == method
    rows = of_stack[has_method | ~of_stack["stack"].isin(of_stack["stack"][has_method])]
    rows = rows.assign(log_mfu=np.log(rows["mfu"]))
    medians = rows.groupby(["stack", "model", "gpu", "software"])["log_mfu"].median()
    logs = medians.groupby("stack").quantile([0, 0.5, 1]).to_numpy()
    log_sd = max(logs.std(ddof=1), TIMING_SD)
    share = range_around(math.exp(logs.mean()), log_sd * math.sqrt(1 + 1 / logs.size))
    if stack != "tuned":
        share = share._replace(low=min(share.low, LOOP_FRACTION * expected_mfu(figures, method, "tuned").low))
    return share.times(factor)


def carry_speed(timings: pd.DataFrame, model: OpenModel, device: Device, stack: str | None = None) -> Range:
    """Predict the operations per second that training a model reaches on one device, with a 90 % interval, from
    timings of other models or devices with the same software: the median of the predictions from each timing.

    Parameters
    ----------
    timings, model, device, stack
        A row per timing: model, gpu and flop_per_s (operations per second of one device); what to predict for; one of
        STACKS (None: the reader's own software, treated as `plain`).
    """
    speeds = []
    for row in timings.itertuples():
        timed_device = shipped_devices().get(row.gpu)
        speed = range_around(row.flop_per_s, TIMING_SD)
        if row.model != model.name:
            size = model.active_parameters / open_models()[row.model].active_parameters
            factor = np.clip(size**SIZE_EXPONENT, 1 / SIZE_LIMIT, SIZE_LIMIT), LOOP_MODEL_SD
            speed = speed.times(range_around(*((1.0, TUNED_MODEL_SD) if stack == "tuned" else factor)))
        if device.gpu != timed_device.gpu:
            bandwidths = device.memory_bandwidth_gb_s / timed_device.memory_bandwidth_gb_s
            speed = speed.times(range_around(bandwidths, DEVICE_SD))
        if device.maker != timed_device.maker:
            speed = speed.times(Range(*np.divide(AMD, AMD.middle)))
        speeds.append(speed)
    return median_low(speeds)
