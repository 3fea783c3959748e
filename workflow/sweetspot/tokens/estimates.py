"""Hours, money and memory of a training by tokens on machines that one can rent."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sweetspot.study.open_models import Method, OpenModel, flop_per_token, memory_need
from sweetspot.tokens.mfu import (
    LEAST_SPREAD,
    MAKERS,
    PCIE,
    SAME,
    Range,
    beside_maker,
    from_one_timing,
    joined_by,
    nearest,
    of_maker,
    on_device,
)
from sweetspot.transfer.specifications import Device

PRECISION = "bf16"
UNTRIED = "arithmetic, by its maker's MLPerf times alone"  # the basis of devices of another maker than NVIDIA
TOO_SMALL = "too small"
FLOP_PER_TFLOP = 1e12
GIB_PER_GB = 1e9 / 2**30


@dataclass(frozen=True)
class TokenJob:
    """A training: its model and method, its tokens in all epochs, the tokens of a sequence."""

    model: OpenModel
    method: Method
    tokens: float
    sequence: int

    @property
    def flop_per_token(self) -> float:
        """Return the floating-point operations of a training step for each token."""
        return flop_per_token(self.model, self.method, self.sequence)

    @property
    def flop(self) -> float:
        """Return the floating-point operations of the whole training."""
        return self.flop_per_token * self.tokens


@dataclass(frozen=True)
class KnownMfu:
    """The share of a device's peak that the reader's software reaches.

    Attributes
    ----------
    mfu
        The share, with its 90 % interval.
    stack
        Kind of software, where the reader says it.
    timed_device
        Device of the reader's own timing, which `mfu` then is.
    """

    mfu: Range
    stack: str | None = None
    timed_device: Device | None = None

    def on(self, job: TokenJob, device: Device) -> tuple[Range, str]:
        """Return the share that a job reaches on a device, and its basis."""
        if self.timed_device is not None:
            share = from_one_timing(self.mfu.middle, spread=LEAST_SPREAD)
            if device.gpu == self.timed_device.gpu:
                return share, "own"
            share = on_device(share, self.timed_device, device, PRECISION)
            return share.times(beside_maker(device.maker, self.timed_device.maker)), "transferred"
        if self.stack is not None and device.maker == "nvidia":
            return nearest(job.model, job.method, job.sequence, device, self.stack)
        return self.mfu.times(of_maker(device.maker)), "arithmetic" if device.maker == "nvidia" else UNTRIED


@dataclass(frozen=True)
class RentedMachine:
    """A machine that one can rent by the hour, with the day and source of its price."""

    name: str
    device: Device
    gpus: int
    interconnect: str | None
    usd_per_hour: float
    minimum_hours: float
    as_of: str
    source: str


@dataclass(frozen=True)
class MachineEstimate:
    """What a job takes on a machine; `_low` and `_high` are the ends of the 90 % interval.

    Attributes
    ----------
    memory
        `fits`; `tight`: where layers are computed again; `too small`.
    need_gib
        GiB that each device must hold.
    basis
        How the share of the peak is known.
    ratio
        USD over those of the cheapest machine that fits, without the errors that both have in common; nan: none fits.
    """

    machine: str
    gpu: str
    gpus: int
    usd_per_hour: float
    pcie: bool
    hours: float
    hours_low: float
    hours_high: float
    usd: float
    usd_low: float
    usd_high: float
    need_gib: float
    memory: str
    basis: str
    as_of: str
    source: str
    ratio: float = math.nan
    ratio_low: float = math.nan
    ratio_high: float = math.nan


def estimate_machines(job: TokenJob, known: KnownMfu, machines: Iterable[RentedMachine]) -> list[MachineEstimate]:
    """Estimate hours, money and memory of a job on each machine whose device has a peak in bf16.

    Parameters
    ----------
    job
        The training.
    known
        What is known of the share of the peak that the reader's software reaches.
    machines
        Machines for rent.

    Returns
    -------
    list of MachineEstimate
        The cheapest first; those of makers that nobody tried last.
    """
    rows = [_estimate(job, known, machine) for machine in machines if not math.isnan(machine.device.peak(PRECISION))]
    rows.sort(key=lambda row: (row.basis == UNTRIED, row.usd))
    best = cheapest(rows)
    return rows if best is None else [_compared(row, best) for row in rows]


def cheapest(rows: Iterable[MachineEstimate], within_hours: float = math.inf) -> MachineEstimate | None:
    """Return the first row that fits with room to spare, within so many hours; None where there is none."""
    return next((row for row in rows if row.memory == "fits" and row.hours <= within_hours), None)


def _estimate(job: TokenJob, known: KnownMfu, machine: RentedMachine) -> MachineEstimate:
    device, gpus = machine.device, machine.gpus
    least, most = (memory_need(job.model, job.method, job.sequence, kept=kept).gib(gpus) for kept in (False, True))
    room = device.memory_gb * GIB_PER_GB
    share, basis = known.on(job, device)
    joined = joined_by(machine.interconnect, gpus)
    share = share.times(joined)
    peak = device.peak(PRECISION) * FLOP_PER_TFLOP * gpus
    hours, low, high = (job.flop / (peak * mfu) / 3600 for mfu in (share.middle, share.high, share.low))
    usd, usd_low, usd_high = (max(each, machine.minimum_hours) * machine.usd_per_hour for each in (hours, low, high))
    return MachineEstimate(
        machine=machine.name,
        gpu=device.gpu,
        gpus=gpus,
        usd_per_hour=machine.usd_per_hour,
        pcie=joined is not SAME,
        hours=hours,
        hours_low=low,
        hours_high=high,
        usd=usd,
        usd_low=usd_low,
        usd_high=usd_high,
        need_gib=least,
        memory=TOO_SMALL if least > room else "fits" if most <= room else "tight",
        basis=basis,
        as_of=machine.as_of,
        source=machine.source,
    )


def _compared(row: MachineEstimate, best: MachineEstimate) -> MachineEstimate:
    """Add the ratio to the cheapest: exact for the same devices, else as far as their shares may differ."""
    ratio = row.usd / best.usd
    if (row.gpu, row.gpus) == (best.gpu, best.gpus):
        return replace(row, ratio=ratio, ratio_low=ratio, ratio_high=ratio)
    errors = [from_one_timing(0.5)]  # One software reaches different shares on two devices.
    if (row.basis == UNTRIED) != (best.basis == UNTRIED):
        errors.append(MAKERS["amd"])
    if row.pcie != best.pcie:
        errors.append(PCIE)
    return replace(
        row,
        ratio=ratio,
        ratio_low=ratio / _combined([error.high / error.middle for error in errors]),
        ratio_high=ratio * _combined([error.middle / error.low for error in errors]),
    )


def _combined(factors: Sequence[float]) -> float:
    """Return the factor of independent errors together."""
    return math.exp(math.hypot(*map(math.log, factors)))
