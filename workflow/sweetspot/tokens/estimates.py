"""Hours, money and memory of a training on tokens on machines that one can rent."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sweetspot.study.open_models import Method, OpenModel, flop_per_token, memory_need
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import (
    FLOP_PER_TFLOP,
    PRECISION,
    Range,
    carry_speed,
    interconnect_factor,
    maker_factor,
    published_figures,
)
from sweetspot.transfer.specifications import Device

UNTRIED = "arithmetic, by its maker's MLPerf times alone"  # the basis of devices of another maker than NVIDIA
TOO_SMALL = "too small"
GIB_PER_GB = 1e9 / 2**30


@dataclass(frozen=True)
class TokenJob:
    """A training to estimate: model, method, number of tokens in all epochs, and tokens in one sequence."""

    model: OpenModel
    method: Method
    tokens: float
    sequence: int

    @property
    def flop_per_token(self) -> float:
        """Return the floating-point operations of training on one token."""
        return flop_per_token(self.model, self.method, self.sequence)

    @property
    def flop(self) -> float:
        """Return the floating-point operations of the whole training."""
        return self.flop_per_token * self.tokens


@dataclass(frozen=True)
class ReachedMfu:
    """The share of a device's peak that the reader's software reaches, with its 90 % interval. `stack`: kind of the
    software, one of STACKS, if the reader states it; `timed`: the reader's own timing, if any.
    """

    mfu: Range
    stack: str | None = None
    timed: pd.DataFrame | None = None

    def speed(self, job: TokenJob, device: Device) -> tuple[Range, str]:
        """Return the operations per second (90 %) that a job reaches on one device, from which its hours follow, and
        their basis (`own`, `published`, `transferred` or `arithmetic`). Published figures count if they have the job's
        method, its model or device, and half to twice its sequence.
        """
        if self.timed is not None:
            is_timed_device = device.gpu in set(self.timed["gpu"])
            return carry_speed(self.timed, job.model, device), "own" if is_timed_device else "transferred"
        figures = published_figures().query(
            "stack == @self.stack and method == @job.method and precision == 'bf16' and "
            "@job.sequence / 2 <= sequence <= 2 * @job.sequence and (model == @job.model.name or gpu == @device.gpu)"
        )
        exact = figures.query("model == @job.model.name and gpu == @device.gpu")
        if len(figures) and device.maker == "nvidia":
            rows, basis = (exact, "published") if len(exact) else (figures, "transferred")
            return carry_speed(rows, job.model, device, self.stack), basis
        peak = device.peak(PRECISION) * FLOP_PER_TFLOP
        speed = self.mfu.times(maker_factor(device.maker)).times(Range(peak, peak, peak))
        return speed, "arithmetic" if device.maker == "nvidia" else UNTRIED


def estimate_machines(job: TokenJob, reached: ReachedMfu, machines: pd.DataFrame) -> pd.DataFrame:
    """Estimate hours, money and memory of a training on each machine, the table that `sweetspot estimate` prints.
    Returned are the machines whose device has a peak in bf16, cheapest first (basis UNTRIED last), with `hours` and
    `usd` of the whole training, each with `_low` and `_high` (90 %); `memory` ('fits', 'tight': only if activations
    are recomputed, 'too small') and `need_gib` per device; `basis` of the speed; `ratio`: USD over those of the
    cheapest machine that fits.

    Parameters
    ----------
    job, reached, machines
        The training; the share of the peak that the reader's software reaches, as far as known; a row per machine with
        machine, gpu, gpus, interconnect, usd_per_hour, minimum_hours (further columns stay).
    """
    estimates = []
    for machine in machines.itertuples():
        device = shipped_devices().get(machine.gpu)
        speed, basis = reached.speed(job, device)
        speed = speed.times(interconnect_factor(machine.interconnect, machine.gpus))
        need_gib, with_activations = (
            memory_need(job.model, job.method, job.sequence, kept=has_activations).gib(machine.gpus)
            for has_activations in (False, True)
        )
        memory_gib = device.memory_gb * GIB_PER_GB
        memory = TOO_SMALL if need_gib > memory_gib else "fits" if with_activations <= memory_gib else "tight"
        hours = [job.flop / (flop_per_s * machine.gpus) / 3600 for flop_per_s in speed]
        estimates.append((*hours, need_gib, memory, basis))
    columns = ["hours", "hours_high", "hours_low", "need_gib", "memory", "basis"]
    rows = machines.join(pd.DataFrame(estimates, machines.index, columns)).dropna(subset="hours")
    for end in ("", "_low", "_high"):
        rows[f"usd{end}"] = rows[f"hours{end}"].clip(lower=rows["minimum_hours"]) * rows["usd_per_hour"]
    rows = rows.sort_values("usd").sort_values("basis", key=lambda basis: basis == UNTRIED, kind="stable")
    best = cheapest(rows)
    return rows.assign(ratio=rows["usd"] / (math.nan if best is None else best.usd))


def cheapest(rows: pd.DataFrame, within_hours: float = math.inf) -> Any:
    """Return the first row (named tuple) with `memory` 'fits' and at most `within_hours` hours, or None."""
    return next(rows[(rows["memory"] == "fits") & (rows["hours"] <= within_hours)].itertuples(), None)
