"""A study's machines that have no figure of work by tokens: operations by the share of the peak that is reached."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.study.instances import cautions
from sweetspot.study.open_models import Method, OpenModel, cell_work, flop_per_token
from sweetspot.throughput.best import asked_cell
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
    from sweetspot.study.study import Question

Work = tuple[OpenModel, Method, int]


class TimedShare(NamedTuple):
    """The share of the peak that a figure of the study says, of a model of so many active parameters on a device."""

    mfu: float
    active_parameters: float
    device: Device


def with_arithmetic(
    table: pd.DataFrame, question: "Question", instances: Mapping[str, "Instance"], as_of: str
) -> pd.DataFrame:
    """`table` (throughput.parquet) and, for every machine, the question's work by tokens that it has no figure of.

    Without any figure of the study the basis is `arithmetic`: the interval is the machine's own, what the software adds
    to it is common to all (`speed_errors.SOFTWARE`). With one, of whichever work by tokens, its share of the peak is
    the software's, and the basis `transferred`. Ends are those of a 95 % interval. Several devices are taken to be as
    good as one. Machines without a peak of the precision get nothing. Raises UserError for an unknown device.
    """
    asked = {name: work for name in question.model if (work := cell_work(name)) is not None}
    usable = table[table["status"].isin(USABLE) & table["images_per_s"].notna()]
    have = set(zip(usable["instance"], usable["model"], strict=True))
    known = [
        mfu
        for row in usable.itertuples()
        for mfu in _shares(row, question.precision, instances[row.instance].interconnect)
    ]
    rows: list[dict[str, Any]] = []
    for model, work in asked.items():
        for name, instance in instances.items():
            if (name, model) not in have and instance.measure is None:
                told = _told(instance, work, known, question.precision)
                about = {"as_of": as_of, "runs": 0, "status": "ok", "unit": "tokens", "logical": False, "xla": False}
                for batch_size in question.batches(model) if told else ():
                    warnings = joined(told["warnings"], cautions(instances, name))
                    cell = asked_cell(question, instances, name, model, batch_size)
                    rows.append({**cell, **about, **told, "warnings": warnings})
    return with_rows(table, rows)


def _shares(row: Any, precision: str, interconnect: str | None) -> Iterator[TimedShare]:
    """What a figure of work by tokens tells."""
    work = cell_work(row.model)
    if work is not None and row.basis in READ and not row.logical:
        device = shipped_devices().get(row.gpu)
        mfu = row.images_per_s * flop_per_token(*work) / (row.gpus * device.peak(precision) * 1e12)
        if mfu > 0:
            yield TimedShare(mfu / joined_by(interconnect, row.gpus).middle, work[0].active_parameters, device)


def _carried(timed: TimedShare, model: OpenModel, device: Device, precision: str) -> Range:
    share = on_model(from_one_timing(timed.mfu, LEAST_SPREAD), model.active_parameters / timed.active_parameters, None)
    return on_device(share, timed.device, device, precision).times(beside_maker(device.maker, timed.device.maker))


def _told(instance: "Instance", work: Work, known: list[TimedShare], precision: str) -> dict[str, Any]:
    """Speed, basis, source and warnings of work on a machine; nothing where it has no peak of the precision."""
    device = shipped_devices().get(instance.gpu)
    peak, flop = device.peak(precision) * 1e12 * instance.gpus, flop_per_token(*work)
    if math.isnan(peak):
        return {}
    if known:
        shares = sorted(_carried(timed, work[0], device, precision) for timed in known)
        share = shares[(len(shares) - 1) // 2]
        basis, by = "transferred", "as in the figures of this study"
    else:
        middle = expected_mfu(published_figures(), work[1], precision, None, work[0].mixture).middle
        share = from_one_timing(middle).times(of_maker(device.maker))
        basis, by = "arithmetic", "published figures of tokens-2026"
    share = share.times(joined_by(instance.interconnect, instance.gpus))
    said = []
    if instance.gpus > 1:
        words = "taken to be as good as single ones; joined by PCIe, to keep 75 % (23 to 95)"
        said.append(warning("several_as_one", words))
    if device.maker != "nvidia":
        words = f"no figure of fine-tuning on {device.gpu}: its share of the peak "
        words += "is what MLPerf's times say beside NVIDIA's, its interval wider"
        said.append(warning("maker_without_figure", words))
    return {
        "images_per_s": share.middle * peak / flop,
        "images_per_s_low": at_95(share.middle, share.low) * peak / flop,
        "images_per_s_high": at_95(share.middle, share.high) * peak / flop,
        "basis": basis,
        "source": f"{flop:.3g} operations a token, {share.middle:.0%} of {peak / 1e12:.4g} TFLOP/s ({by})",
        "warnings": said,
    }
