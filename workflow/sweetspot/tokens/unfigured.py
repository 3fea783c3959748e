"""A study's machines that have no figure of work by tokens: operations by the share of the peak that is reached."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.study.instances import cautions
from sweetspot.study.open_models import Method, OpenModel, cell_work, flop_per_token
from sweetspot.throughput.best import cell_columns
from sweetspot.tokens.mfu import (
    LEAST_SPREAD,
    Range,
    beside_maker,
    expected_mfu,
    from_one_timing,
    joined_by,
    of_maker,
    on_device,
    on_model,
    published_figures,
)
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device
from sweetspot.transfer.unmeasured import at_95, with_rows
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells

Work = tuple[OpenModel, Method, int]


class TimedShare(NamedTuple):
    """The share of the peak that a figure of the study says, of a model of so many active parameters on a device."""

    mfu: float
    active_parameters: float
    device: Device


def with_arithmetic(
    table: pd.DataFrame, question: "StudyCells", instances: Mapping[str, "Instance"], as_of: str
) -> pd.DataFrame:
    """Add the question's work by tokens for every machine that has no figure of it.

    Without any figure of the study the basis is `arithmetic`: the interval is the machine's own, what the software adds
    to it is common to all (`speed_errors.SOFTWARE`). With one, of whichever work by tokens, its share of the peak is
    the software's, and the basis `transferred`. Several devices are taken to be as good as one. Machines without a peak
    of the precision get nothing.

    Parameters
    ----------
    table
        throughput.parquet.
    question
        The study's cells.
    instances
        Machines by name.
    as_of
        Day of the rows.

    Returns
    -------
    DataFrame
        The table with further rows; their ends are those of a 95 % interval.

    Raises
    ------
    UserError
        If nobody has specified a device.
    """
    work_by_name = {name: work for name in question.model if (work := cell_work(name)) is not None}
    usable = table[table["status"].isin(USABLE) & table["images_per_s"].notna()]
    timed_cells = set(zip(usable["instance"], usable["model"], strict=True))
    timed = [
        share
        for row in usable.itertuples()
        for share in _timed_shares(row, question.precision, instances[row.instance].interconnect)
    ]
    constant = {"as_of": as_of, "runs": 0, "status": "ok", "unit": "tokens", "logical": False, "xla": False}
    rows: list[dict[str, Any]] = []
    for model, work in work_by_name.items():
        for name, instance in instances.items():
            if (name, model) in timed_cells or instance.measure is not None:
                continue
            speed = _speed(instance, work, timed, question.precision)
            for batch_size in question.batches(model) if speed else ():
                warnings = joined(speed["warnings"], cautions(instances, name))
                cell = cell_columns(question, instances, name, model, batch_size)
                rows.append({**cell, **constant, **speed, "warnings": warnings})
    return with_rows(table, rows)


def _timed_shares(row: Any, precision: str, interconnect: str | None) -> Iterator[TimedShare]:
    """Yield what a figure of work by tokens says of the software's share of the peak."""
    work = cell_work(row.model)
    if work is not None and row.basis in READ and not row.logical:
        device = shipped_devices().get(row.gpu)
        mfu = row.images_per_s * flop_per_token(*work) / (row.gpus * device.peak(precision) * 1e12)
        if mfu > 0:
            yield TimedShare(mfu / joined_by(interconnect, row.gpus).middle, work[0].active_parameters, device)


def _carry(timed: TimedShare, model: OpenModel, device: Device, precision: str) -> Range:
    share = on_model(from_one_timing(timed.mfu, LEAST_SPREAD), model.active_parameters / timed.active_parameters, None)
    return on_device(share, timed.device, device, precision).times(beside_maker(device.maker, timed.device.maker))


def _speed(instance: "Instance", work: Work, timed: list[TimedShare], precision: str) -> dict[str, Any]:
    """Return speed, basis, source and warnings of work on a machine; {} where it has no peak of the precision."""
    device = shipped_devices().get(instance.gpu)
    peak, flop = device.peak(precision) * 1e12 * instance.gpus, flop_per_token(*work)
    if math.isnan(peak):
        return {}
    if timed:
        shares = sorted(_carry(share, work[0], device, precision) for share in timed)
        share = shares[(len(shares) - 1) // 2]
        basis, origin = "transferred", "as in the figures of this study"
    else:
        middle = expected_mfu(published_figures(), work[1], precision, None, work[0].mixture).middle
        share = from_one_timing(middle).times(of_maker(device.maker))
        basis, origin = "arithmetic", "published figures of tokens-2026"
    share = share.times(joined_by(instance.interconnect, instance.gpus))
    warnings = []
    if instance.gpus > 1:
        message = "taken to be as good as single ones; joined by PCIe, to keep 75 % (23 to 95)"
        warnings.append(warning("several_as_one", message))
    if device.maker != "nvidia":
        message = f"no figure of fine-tuning on {device.gpu}: its share of the peak "
        message += "is what MLPerf's times say beside NVIDIA's, its interval wider"
        warnings.append(warning("maker_without_figure", message))
    return {
        "images_per_s": share.middle * peak / flop,
        "images_per_s_low": at_95(share.middle, share.low) * peak / flop,
        "images_per_s_high": at_95(share.middle, share.high) * peak / flop,
        "basis": basis,
        "source": f"{flop:.3g} operations a token, {share.middle:.0%} of {peak / 1e12:.4g} TFLOP/s ({origin})",
        "warnings": warnings,
    }
