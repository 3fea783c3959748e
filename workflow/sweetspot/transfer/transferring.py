"""The throughput of a person's workload on devices where nobody has run it, with its interval and its warnings."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.throughput.gather import measured_table
from sweetspot.transfer.figures import (
    BITS,
    UNKNOWN,
    kind_of,
    meant_network,
    network_name,
    shipped_devices,
    shipped_figures,
    unknown_kind,
)
from sweetspot.transfer.left_out import KNOWN, SPECIFIED, Relations, Trusts, era_of, relations, told_of, trusts
from sweetspot.transfer.plausibility import beyond_peak_factor
from sweetspot.transfer.relation import given, predict
from sweetspot.transfer.specifications import Device, Devices, precision_name, with_features
from sweetspot.warnings import joined, warning

TOLD_COLUMNS = ("gpu", "images_per_s", "images_per_s_low", "images_per_s_high", "place", "warnings")
# Seconds. One figure in a hundred of the pool has a shorter step; below, starting the kernels counts, which no data
# sheet tells. A tenth of it is refused: such a figure says nothing of another device.
SHORT_STEP, TOO_SHORT = 0.010, 0.001
BATCHED = ("images", "samples", "sequences")
REACH_95 = 1.96  # sd that a 95 % interval reaches either side
UNSTEADY = 0.05  # log sd of a figure whose steps were not steady, where its runs tell none


class Measured(NamedTuple):
    """One figure of one device.

    spread: sd of its logarithm (0: taken as it stands); batch_size: samples of a step (NaN: not stated); warnings: what
    is told of it already.
    """

    device: Device
    images_per_s: float
    model: str
    precision: str
    framework: str
    batch_size: float = math.nan
    unit: str = "images"
    spread: float = 0.0
    warnings: tuple[dict[str, str], ...] = ()


def figure_of(row: Any, device: Device, reach: float, unsteady: str) -> Measured:
    """The figure of a row of throughput.parquet, its ends `reach` sd away; an unsteady one is wider and says so."""
    high = row.images_per_s_high
    spread = math.log(high / row.images_per_s) / reach if high > row.images_per_s else 0.0
    told = (warning("unstable", unsteady),) if row.status == "unstable" else ()
    words = str(row.model), str(row.precision), str(row.framework), float(row.batch_size), str(row.unit)
    return Measured(device, float(row.images_per_s), *words, max(spread, UNSTEADY) if told else spread, told)


def check_below_peak(figure: Measured) -> None:
    """Refuse a throughput whose arithmetic exceeds the dense peak of its device.

    The check uses the operations of facts/network_operations.csv; a network that is not in there passes.

    Parameters
    ----------
    figure : Measured
        Samples per second of one device.

    Raises
    ------
    UserError
        If the device would need more than its peak.

    """
    rate, gpu = figure.images_per_s, figure.device.gpu
    factor = beyond_peak_factor(gpu, 1, figure.precision, figure.model, "", rate)
    if factor > 1.0:
        raise UserError(
            f"{rate:,.6g} {figure.unit} per second of {figure.model} are {factor:,.3g} times what one {gpu} can do at "
            f"its dense peak in {figure.precision}; expected at most {rate / factor:,.4g}"
        )


class Learnt(NamedTuple):
    """What the shipped figures teach of devices: the fits, how far to trust it, and the table of devices."""

    relations: Relations
    trusts: Trusts
    devices: Devices

    @property
    def figures(self) -> pd.DataFrame:
        """What is learnt from."""
        return self.relations[KNOWN].figures


@cache
def learn_devices(studies: Path = STUDIES) -> Learnt:
    """Fit to what the project ships in `studies`, and how far what was left out trusts it. Raises UserError."""
    figures = shipped_figures(studies)
    return Learnt(relations(figures), trusts(figures), shipped_devices())


def transferred(known: Sequence[Measured], wanted: Sequence[Device], learnt: Learnt) -> pd.DataFrame:
    """The workload of `known` (one figure or several, of one workload) on each wanted device, in TOLD_COLUMNS.

    images_per_s in the unit of `known`, of one device; low and high: 90 % prediction interval; place: KNOWN, or
    SPECIFIED where one of the devices is known by its specifications only. A device that cannot run the precision has
    no figure and the warning `cannot_run`. Raises UserError where the known device cannot, where no wanted one can, and
    where a step of the figure is too short to say anything.
    """
    first = known[0]
    precision = precision_name(first.precision)
    meant = meant_network(first.model, learnt.figures)
    if meant is not None:
        raise UserError(f"the model is {first.model!r}; did you mean '{meant}'? (another network needs another name)")
    _check(known, precision)
    able = [device for device in wanted if device.computes(precision)]
    if not able:
        named = ", ".join(device.gpu for device in wanted)
        raise UserError(f"{first.model}: none of {named} computes in {precision}; expected a device that does")
    cells = _cells([*(figure.device for figure in known), *able], first, precision, learnt.devices)
    rates = np.log([figure.images_per_s for figure in known])
    numbers = list(range(len(known)))
    spread = np.array([figure.spread for figure in known])
    told_in = {
        place: given(predict(fitted, cells), numbers, rates, spread) for place, fitted in learnt.relations.items()
    }
    seen = set(learnt.figures["device"])
    width, built = cells["bandwidth"].to_numpy(), cells["architecture"].to_numpy()
    rows = {device.gpu: _cannot(device, precision) for device in wanted}
    for number, device in enumerate(able, len(known)):
        place = KNOWN if {device.gpu, *(figure.device.gpu for figure in known)} <= seen else SPECIFIED
        told, trust = told_in[place], learnt.trusts[place, era_of(built[[*numbers, number]])]
        rate = math.exp(told_of(width, told, numbers, rates, number, trust.share))
        half = trust.width * math.sqrt(told.covariance[number, number])
        rows[device.gpu] = _row(device, known, rate, half, place, learnt)
    return pd.DataFrame([rows[device.gpu] for device in wanted], columns=list(TOLD_COLUMNS))


def _check(known: Sequence[Measured], precision: str) -> None:
    for figure in known:
        if not figure.device.computes(precision):
            raise UserError(
                f"{figure.model} on {figure.device.gpu}: it does not compute in {precision}; expected a precision of "
                f"{', '.join(name for name, peak in figure.device.peaks.items() if peak > 0)}"
            )
        step = _step(figure)
        if step < TOO_SHORT:
            raise UserError(
                f"{figure.model} on {figure.device.gpu}: a step of {1000 * step:.2g} ms is spent on starting "
                f"kernels and says nothing of another device; expected at least "
                f"{1000 * TOO_SHORT:g} ms, such as by a larger batch"
            )


def _step(figure: Measured) -> float:
    """Seconds of a step; infinite where the batch is not stated, or is not counted in the unit of the figure."""
    batched = figure.unit in BATCHED and figure.batch_size > 0
    return figure.batch_size / figure.images_per_s if batched else math.inf


def _cells(devices: list[Device], first: Measured, precision: str, table: Devices) -> pd.DataFrame:
    network = network_name(first.model)
    cells = pd.DataFrame({"device": [device.gpu for device in devices]}).assign(
        workload="asked", precision=precision, framework=first.framework, stack=f"asked {first.framework}",
        network=network, kind=kind_of(network, first.unit), bits=BITS.get(precision, 32),
    )  # fmt: skip
    return with_features(cells, table)


def _row(
    device: Device, known: Sequence[Measured], rate: float, half: float, place: str, learnt: Learnt
) -> dict[str, object]:
    low, high = rate * math.exp(-half), rate * math.exp(half)
    told = [*(pair for figure in known for pair in figure.warnings), *_unlearnt(device, known, learnt)]
    before = min(_step(figure) for figure in known)
    after = before * known[0].images_per_s / rate
    if math.isinf(before) and known[0].unit in BATCHED:
        words = "the batch is not stated: whether starting kernels decides is not checked"
        told.append(warning("batch_unknown", words))
    if min(before, after) < SHORT_STEP:
        # Time that no device shortens: the faster device gains less, the slower one loses less.
        low, high = low * min(1.0, after / SHORT_STEP), high * max(1.0, SHORT_STEP / before)
        words = (
            f"a step of {1000 * min(before, after):.2g} ms is shorter than those learnt from "
            f"({1000 * SHORT_STEP:g} ms): starting kernels may decide it, the interval is widened"
        )
        told.append(warning("short_step", words))
    return dict(zip(TOLD_COLUMNS, (device.gpu, rate, low, high, place, joined(told)), strict=True))


def _unlearnt(device: Device, known: Sequence[Measured], learnt: Learnt) -> list[dict[str, str]]:
    """What is not learnt of the devices: known by their specifications, or of a maker without a figure."""
    seen = set(learnt.figures["device"])
    first = known[0]
    unknown = kind_of(network_name(first.model), first.unit) == UNKNOWN
    makers = {learnt.devices.by_gpu[name].maker for name in seen}
    precision = precision_name(first.precision)
    told = [unknown_kind(first.model)] if unknown else []
    if BITS.get(precision, 32) not in set(learnt.figures["bits"]):
        message = (
            f"no figure in {precision} was learnt from: how devices are related in it is known by their peaks only"
        )
        told.append(warning("unknown_precision", message))
    for each in {each.gpu: each for each in (*(figure.device for figure in known), device)}.values():
        if each.unit(precision) in each.unconfirmed:
            message = f"no second source confirms the {each.unit(precision)} peak of {each.gpu}"
            told.append(warning("unconfirmed_peak", message))
        if each.gpu in seen:
            continue
        told.append(warning("specified_only", f"{each.gpu} is known by its specifications only"))
        if each.maker not in makers:
            told.append(warning("unknown_maker", f"no figure of a device of {each.maker} was learnt from"))
    return told


def cannot_run(device: Device, precision: str) -> dict[str, str]:
    """The warning of a device that has no unit for a precision."""
    return warning("cannot_run", f"{device.gpu} does not compute in {precision}")


def _cannot(device: Device, precision: str) -> dict[str, object]:
    return {"gpu": device.gpu, "place": "", "warnings": [cannot_run(device, precision)]}


def from_run_files(files: Sequence[str], devices: Devices) -> Measured:
    """The figure of runs of one cell. An unsteady one has a warning and a wider spread.

    Raises UserError: no run file, a run that failed, of several or of logical devices, of a processor, of two cells.
    """
    cells = list(measured_table(files, {}).itertuples())
    if len(cells) != 1:
        words = f"the run files are of {len(cells)} cells ({', '.join(CELL_COLUMNS)}); expected one"
        raise UserError(f"{files[0]}: {words}")
    (cell,) = cells
    if cell.status not in USABLE:
        raise UserError(f"{files[0]}: the run has the status {cell.status!r} and no figure; expected one that ran")
    if cell.gpus != 1 or cell.logical:
        what = "logical devices" if cell.logical else "devices"
        raise UserError(f"{files[0]}: a figure of {cell.gpus} {what}; expected one of a single device")
    return figure_of(cell, devices.get(str(cell.gpu)), REACH_95, "the measured figure is not steady")
