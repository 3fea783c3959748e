"""A study's machines that have no figure of work by tokens: operations by the share of the peak that is reached."""

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.study.instances import cautions
from sweetspot.study.open_models import cell_work, flop_per_token
from sweetspot.throughput.best import cell_columns
from sweetspot.tokens.mfu import (
    FLOP_PER_TFLOP,
    STACK_SPREAD,
    TimedSpeed,
    carry_speed,
    expected_mfu,
    interconnect_factor,
    maker_factor,
    published_figures,
    range_around,
)
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.unmeasured import at_95, with_rows
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells


def with_arithmetic(
    table: pd.DataFrame, question: "StudyCells", instances: Mapping[str, "Instance"], as_of: str
) -> pd.DataFrame:
    """Add the question's work by tokens for every machine that has no figure of it.

    Without any figure of the study the basis is `arithmetic`: the interval is the machine's own, what the software adds
    to it is common to all (`speed_errors.SOFTWARE`). With one, of whichever work by tokens, its share of the peak is
    the software's, and the basis `transferred`. Several devices are taken to be as good as one. Machines without a
    known device, or without a peak of the precision, get nothing.

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
        The table with further rows; their bounds are those of a 95 % interval.
    """
    usable = table[table["status"].isin(USABLE) & table["images_per_s"].notna()]
    cells = set(zip(usable["instance"], usable["model"], strict=True))
    timings = _timings(usable[usable["basis"].isin(READ) & ~usable["logical"].astype(bool)], instances)
    rows: list[dict[str, Any]] = []
    for model_name, (name, instance) in product(question.model, instances.items()):
        work, device = cell_work(model_name), shipped_devices().find(instance.gpu)
        if work is None or (name, model_name) in cells or instance.measure is not None or device is None:
            continue
        peak, warnings = device.peak(question.precision) * FLOP_PER_TFLOP, []
        if math.isnan(peak):
            continue
        if timings:
            speed, origin = carry_speed(timings, work[0], device), "the figures of this study"
        else:
            mfu = expected_mfu(published_figures(), work[1], None, work[0].mixture).middle
            speed = range_around(mfu * peak, STACK_SPREAD).times(maker_factor(device.maker))
            origin = "published figures of tokens-2026"
        speed = speed.times(interconnect_factor(instance.interconnect, instance.gpus))
        if instance.gpus > 1:
            message = "taken to be as good as single ones; joined by PCIe, to keep 75 % (23 to 95)"
            warnings.append(warning("several_as_one", message))
        if device.maker != "nvidia":
            message = f"no figure of fine-tuning on {device.gpu}: its speed is what MLPerf's times say beside NVIDIA's"
            warnings.append(warning("maker_without_figure", message))
        flop = flop_per_token(*work)
        middle, low, high = (flop_per_s * instance.gpus / flop for flop_per_s in speed)
        values = {
            "images_per_s": middle,
            "images_per_s_low": at_95(middle, low),
            "images_per_s_high": at_95(middle, high),
            "basis": "transferred" if timings else "arithmetic",
            "source": f"{flop:.3g} operations a token, {speed.middle / peak:.0%} of the dense peak, as {origin}",
            "warnings": joined(warnings, cautions(instances, name)),
            "as_of": as_of,
            "runs": 0,
            "status": "ok",
            "unit": "tokens",
            "logical": False,
            "xla": False,
        }
        batches = question.batches(model_name)
        rows += [cell_columns(question, instances, name, model_name, size) | values for size in batches]
    return with_rows(table, rows)


def _timings(figures: pd.DataFrame, instances: Mapping[str, "Instance"]) -> list[TimedSpeed]:
    """Return what the study's figures of work by tokens tell of its software."""
    timings = []
    for row in figures[figures["images_per_s"] > 0].itertuples():
        work = cell_work(row.model)
        if work is not None:
            link = interconnect_factor(instances[row.instance].interconnect, row.gpus)
            flop_per_s = row.images_per_s * flop_per_token(*work) / (row.gpus * link.middle)
            timings.append(TimedSpeed(flop_per_s, work[0], shipped_devices().get(row.gpu)))
    return timings
