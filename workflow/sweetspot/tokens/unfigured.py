"""A study's machines that have no figure of work by tokens: operations by the share of the peak that is reached."""

import math
from collections.abc import Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sweetspot.cells import READ, USABLE
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.study.open_models import Method, OpenModel, cell_work, flop_per_token
from sweetspot.tokens.mfu import carried, expected_mfu, from_one_timing, joined_by, of_maker, published_figures
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.unmeasured import SD_90, SD_95, with_rows
from sweetspot.warnings import joined, warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

Work = tuple[OpenModel, Method, int]


class Known(NamedTuple):
    """A share of the peak that a figure of the study tells, of a model and a device."""

    mfu: float
    active: float
    memory_gb: float


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
    rows = [
        row
        for model, work in asked.items()
        for name, instance in instances.items()
        if (name, model) not in have and instance.measure is None
        for row in _rows(name, model, work, known, question, instances, as_of)
    ]
    return with_rows(table, rows)


def _shares(row: Any, precision: str, interconnect: str | None) -> Iterator[Known]:
    """What a figure of work by tokens tells."""
    work = cell_work(row.model)
    if work is not None and row.basis in READ and not row.logical:
        device = shipped_devices().get(row.gpu)
        mfu = row.images_per_s * flop_per_token(*work) / (row.gpus * device.peak(precision) * 1e12)
        if mfu > 0:
            mfu /= of_maker(device.maker).middle * joined_by(interconnect, row.gpus).middle
            yield Known(mfu, work[0].active_parameters, device.memory_gb)


def _rows(
    name: str,
    model: str,
    work: Work,
    known: list[Known],
    question: "Question",
    instances: Mapping[str, "Instance"],
    as_of: str,
) -> Iterator[dict[str, Any]]:
    instance = instances[name]
    device = shipped_devices().get(instance.gpu)
    peak, flop = device.peak(question.precision) * 1e12, flop_per_token(*work)
    if math.isnan(peak):
        return
    if known:
        told = [
            one.mfu * carried(work[0].active_parameters / one.active, device.memory_gb / one.memory_gb) for one in known
        ]
        share = from_one_timing(median(told))
    else:
        found = expected_mfu(published_figures(), work[1], question.precision, None, work[0].mixture)
        share = from_one_timing(found.middle)
    share = share.times(of_maker(device.maker)).times(joined_by(instance.interconnect, instance.gpus))
    said = []
    if instance.gpus > 1:
        said.append(
            warning("several_as_one", "taken to be as good as single ones; joined by PCIe, to keep 75 % (23 to 95)")
        )
    if device.maker != "nvidia":
        said.append(warning("maker_without_figure", f"no figure of fine-tuning on {device.gpu}: its share of the peak "
                            "is what MLPerf's times say beside NVIDIA's, its interval wider"))  # fmt: skip
    for batch_size in question.batches(model):
        yield {
            "instance": name,
            "framework": instance.framework or question.framework,
            "model": model,
            "batch_size": batch_size,
            "gpus": instance.gpus,
            "precision": question.precision,
            "variant": "default",
            "gpu": instance.gpu,
            "nodes": nodes_of(instances, name, instance.gpus),
            "images_per_s": share.middle * peak * instance.gpus / flop,
            "images_per_s_low": _at_95(share.middle, share.low) * peak * instance.gpus / flop,
            "images_per_s_high": _at_95(share.middle, share.high) * peak * instance.gpus / flop,
            "runs": 0,
            "basis": "transferred" if known else "arithmetic",
            "status": "ok",
            "source": f"{flop:.3g} operations a token, {share.middle:.0%} of {peak * instance.gpus / 1e12:.4g} TFLOP/s "
            f"({'as in the figures of this study' if known else 'published figures of tokens-2026'})",
            "unit": "tokens",
            "warnings": joined(said, cautions(instances, name)),
            "as_of": as_of,
            "logical": False,
            "xla": False,
        }


def _at_95(middle: float, end: float) -> float:
    return float(middle * (end / middle) ** (SD_95 / SD_90))
