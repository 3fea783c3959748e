"""Strong scaling of times to a target: what more devices, or fewer, would take where nobody has published a result.

minutes(n) = minutes(m) x (m/n) x (n/m)^b x e^c x (B_n/B_m)^g with four parts that the published results show:
- m/n: the work of a sample is shared by all devices;
- (n/m)^b, b >= 0: what exchange and small parts cost at each doubling of the devices;
- e^c, c >= 0: what it costs to leave the devices that fast links join (8, or the 72 of an NVL72), once;
- (B_n/B_m)^g: a larger global batch B needs more samples to the target. B_n is what submitters used at that count.
b, c and g are fitted to pairs of one submitter, round and device at two counts, pooled over benchmarks with a prior: a
benchmark with few pairs stays near the others. The interval is conformal, from pairs of device families left out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import Prior, Slopes, pooled_slopes
from sweetspot.scaling.machine import family
from sweetspot.study.instances import cautions, nodes_of
from sweetspot.throughput.calibration import calibrate
from sweetspot.throughput.time_to_target import Result, results, uneven_counts

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

METHOD = "strong_scaling"
PAIR_COLUMNS = (
    "benchmark", "gpu", "family", "submitter", "doublings", "leaves", "log_minutes", "log_batch", "log_samples",
)  # fmt: skip
LOSS = (0.17, 0.10)  # prior of b (mean, sd): submissions of 2024 and 2025 lose 0.1 to 0.3 of each doubling's gain
LEAVING = (0.10, 0.10)  # prior of c
SAMPLES = (0.3, 0.15)  # prior of g: from none below the critical batch to 0.5 beyond it
SCATTER = 0.10  # of one pair's log minutes, between a submitter's results at two counts
PRIOR_LOSS, PRIOR_SAMPLES = Prior(LOSS, LEAVING, SCATTER), Prior(SAMPLES, LEAVING, SCATTER)
FLOOR = 0.113  # log 1.12: no prediction is surer than submitters agree


class Strong(NamedTuple):
    """Fitted loss b and samples exponent g of each benchmark, of all others (``""``), cost c of leaving, width of 90 %.

    width: of the logarithm of minutes at one doubling; it grows with the root of the doublings.
    """

    loss: Mapping[str, float]
    samples: Mapping[str, float]
    leaving: float
    width: float
    pairs: int


def pairs_of(times: pd.DataFrame) -> pd.DataFrame:
    """Results of one benchmark, device, round and submitter at two counts (each count's median; the smallest is base).

    times: `read_times`. Returns benchmark, gpu, family, doublings = log2(n/m), log_minutes = log(minutes(n) n /
    (minutes(m) m)), submitter, leaves (1 where only n devices are more than fast links join), log_batch, log_samples
    (NaN: not told).
    """
    rows = []
    for (benchmark, gpu, _, submitter), own in times.groupby(["benchmark", "gpu", "round", "submitter"]):
        told = own.groupby("gpus")[["minutes", "global_batch", "samples"]].median().sort_index()
        base = told.iloc[0]
        for count, row in told.iloc[1:].iterrows():
            ratio = row / base
            shared = float(count) / float(told.index[0])
            leaves = leaves_fast_links(str(gpu), int(told.index[0]), int(count))
            rows.append(
                {
                    "benchmark": benchmark, "gpu": gpu, "family": family(str(gpu)), "submitter": submitter,
                    "doublings": math.log2(shared), "leaves": leaves,
                    "log_minutes": math.log(ratio["minutes"] * shared),
                    "log_batch": math.log(ratio["global_batch"]), "log_samples": math.log(ratio["samples"]),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


def leaves_fast_links(gpu: str, fewer: int, more: int) -> float:
    """1 where `more` devices are more than fast links join and `fewer` are not; -1 for the way back, else 0."""
    joined = 72 if gpu.startswith("GB") else 8
    return float((more > joined) - (fewer > joined))


def fit_strong(times: pd.DataFrame, others: Sequence[pd.DataFrame] = ()) -> Strong:
    """Fit to results at several counts; without a pair the priors alone, and a width of their own.

    others: times of other benchmarks, which say something of the losses; the width is that of `times`' own.
    """
    pairs = pairs_of(pd.concat([times, *others]))
    loss, samples, leaving = fit_losses(pairs)
    errors = held_out_strong(pairs, "family")
    errors = errors[errors["benchmark"].isin(set(times["benchmark"]))]
    score = (errors["gap"].abs() / np.sqrt(errors["doublings"])).to_numpy(dtype=float)
    width = calibrate(score, errors["family"].to_numpy(), 0.9) if len(errors) else 2 * LOSS[1]
    return Strong(loss, samples, leaving, max(float(width), FLOOR), len(pairs))


def held_out_strong(pairs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Every pair of `pairs_of` whose batches are told, predicted by a fit without its `group` (a column).

    Returns the pairs with `gap`, the logarithm of predicted over true minutes.
    """
    told = pairs.dropna(subset=["log_batch"])
    parts = [told.head(0).assign(gap=0.0)]
    for name in sorted(set(told[group])):
        rows = told[told[group] == name]
        found = fit_losses(pairs[pairs[group] != name])
        parts.append(rows.assign(gap=[log_change(*found, row) - row.log_minutes for row in rows.itertuples()]))
    return pd.concat(parts)


def fit_losses(pairs: pd.DataFrame) -> tuple[Slopes, Slopes, float]:
    """Loss b and samples exponent g of each benchmark and of any other (``""``), and c, by two ridge regressions."""
    told = pairs.dropna(subset=["log_batch", "log_samples"])
    samples, _ = pooled_slopes(
        told["benchmark"], told["log_batch"], told["log_samples"], 0 * told["leaves"], PRIOR_SAMPLES
    )
    own = pairs.dropna(subset=["log_batch"])
    exponent = own["benchmark"].map(lambda name: samples.get(name, samples[""])).astype(float)
    rest = own["log_minutes"] - exponent * own["log_batch"]
    loss, leaving = pooled_slopes(own["benchmark"], own["doublings"] * math.log(2), rest, own["leaves"], PRIOR_LOSS)
    return loss, samples, leaving


def log_change(loss: Mapping[str, float], samples: Mapping[str, float], leaving: float, row: Any) -> float:
    """Logarithm of minutes(n) n / (minutes(m) m); row: benchmark, doublings, leaves, log_batch."""
    lost, more = loss.get(row.benchmark, loss[""]), samples.get(row.benchmark, samples[""])
    return lost * row.doublings * math.log(2) + leaving * row.leaves + more * row.log_batch


class Change(NamedTuple):
    """From one count to another: what `log_change` reads of a pair."""

    benchmark: str
    doublings: float
    leaves: float
    log_batch: float


def strong_cells(
    times: pd.DataFrame,
    fitted: Strong,
    question: "Question",
    instances: Mapping[str, "Instance"],
    columns: Iterable[str],
) -> pd.DataFrame:
    """Times of the instances whose device somebody has timed, but not at their count; rows of `extrapolation`.

    The base is the known count nearest in doublings. Intervals cover 90 %.
    """
    known = results(times)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            own = [result for key, result in known.items() if key[:2] == (model, instance.gpu)]
            if not own or (model, instance.gpu, instance.gpus) in known:
                continue
            base = min(own, key=lambda result: (abs(math.log2(result.gpus / instance.gpus)), result.gpus))
            row = _predicted(times, fitted, base, instance.gpus)
            rows += [
                row
                | {
                    "instance": name, "base_instance": "", "nodes": nodes_of(instances, name, instance.gpus),
                    "framework": instance.framework or question.framework, "model": model, "batch_size": batch_size,
                    "precision": question.precision, "variant": "submission",
                    "warnings": [*cautions(instances, name), *uneven_counts(known, model, instance)],
                }
                for batch_size in question.batches(model)
            ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))


def _predicted(times: pd.DataFrame, fitted: Strong, base: Result, gpus: int) -> dict[str, object]:
    doublings = math.log2(gpus / base.gpus)
    before = usual_batch(times, base, base.gpus) if math.isnan(base.global_batch) else base.global_batch
    batch = usual_batch(times, base._replace(global_batch=before), gpus)
    log_batch = 0.0 if math.isnan(batch) or math.isnan(before) else math.log(batch / before)
    step = Change(base.benchmark, doublings, leaves_fast_links(base.gpu, base.gpus, gpus), log_batch)
    change = log_change(fitted.loss, fitted.samples, fitted.leaving, step)
    rate = math.exp(-change) * gpus / base.gpus / (60 * base.minutes)
    factor = math.exp(math.hypot(fitted.width * math.sqrt(abs(doublings)), FLOOR))
    lost = fitted.loss.get(base.benchmark, fitted.loss[""])
    return {
        "gpus": gpus,
        "method": METHOD,
        "efficiency": math.exp(-change),
        "images_per_s": rate,
        "images_per_s_low": rate / factor,
        "images_per_s_high": rate * factor,
        "headline": True,
        "basis": "extrapolated",
        "round": base.round,
        "rounds_behind": base.behind,
        "source": (
            f"{METHOD}: {base.gpus} to {gpus} devices, {100 * (2**lost - 1):.0f} % more device time a doubling and "
            f"{100 * math.expm1(fitted.leaving):.0f} % once over the network ({fitted.pairs} pairs of submissions), "
            f"global batch {before:g} to {batch:g} ; {base.source}"
        ),
    }


def usual_batch(times: pd.DataFrame, base: Result, gpus: int) -> float:
    """Global batch that submitters use for a benchmark at `gpus` devices: the median at the nearest count.

    Never below that of the base for more devices, nor above it for fewer; NaN: nobody tells one.
    """
    rows = times[(times["benchmark"] == base.benchmark) & times["global_batch"].notna()]
    if rows.empty:
        return math.nan
    gap = np.abs(np.log2(rows["gpus"].to_numpy(dtype=float) / gpus))
    batch = float(rows["global_batch"][gap <= gap.min() + 1e-9].median())
    if math.isnan(base.global_batch) or gpus == base.gpus:
        return batch
    return max(batch, base.global_batch) if gpus > base.gpus else min(batch, base.global_batch)
