"""Strong scaling of times to a target: what more devices, or fewer, would take where nobody has published a result.

minutes(n) = minutes(m) x (m/n) x (n/m)^b x e^c x (B_n/B_m)^g with four parts that the published results show:
- m/n: the work of a sample is shared by all devices;
- (n/m)^b, b >= 0: what exchange and small parts cost at each doubling of the devices;
- e^c, c >= 0: what it costs to leave the devices that fast links join (8, or the 72 of an NVL72), once;
- (B_n/B_m)^g: a larger global batch B needs more samples to the target, and keeps devices busier. B_n is what
  submitters used at that count.
b, c and g are fitted together to pairs of one submitter, round and device at two counts, pooled over benchmarks with a
prior: a benchmark with few pairs stays near the others. The interval is conformal, from device families left out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.scaling.across_nodes import Prior, Slopes, pooled_slopes, slopes_of
from sweetspot.scaling.machine import family
from sweetspot.study.instances import cautions
from sweetspot.throughput.best import asked_cell
from sweetspot.throughput.calibration import calibrate
from sweetspot.throughput.time_to_target import VARIANT, Result, results, uneven_counts

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question

METHOD = "strong_scaling"
PAIR_COLUMNS = (
    "benchmark", "gpu", "gpus", "family", "submitter", "doublings", "leaves", "log_minutes", "log_batch",
)  # fmt: skip
LOSS = (0.17, 0.10)  # prior of b (mean, sd): submissions of 2024 and 2025 lose 0.1 to 0.3 of each doubling's gain
LEAVING = (0.10, 0.10)  # prior of c
# Prior of g: the samples' exponent, from 0 below the critical batch to 0.5, less what fuller devices save, at most b.
BATCH = (0.1, 0.15)
SCATTER = 0.10  # of one pair's log minutes, between a submitter's results at two counts
FLOOR = 0.113  # log 1.12: no prediction is surer than submitters agree


class Strong(NamedTuple):
    """Fitted loss b and exponent g of the batch for each benchmark, for all others (``""``), c, width of 90 %.

    width: of the logarithm of minutes at one doubling; it grows with the root of the doublings.
    """

    loss: Slopes
    batch: Slopes
    leaving: float
    width: float
    pairs: int

    def change(self, pairs: pd.DataFrame) -> pd.Series:
        """Logarithm of minutes(n) n / (minutes(m) m); pairs: benchmark, doublings, leaves, log_batch."""
        lost, more = (slopes_of(pairs["benchmark"], slopes) for slopes in (self.loss, self.batch))
        return lost * pairs["doublings"] * math.log(2) + self.leaving * pairs["leaves"] + more * pairs["log_batch"]

    def reach(self, doublings: pd.Series) -> pd.Series:
        """Factor of the 90 % interval either side."""
        return np.exp(np.hypot(self.width * np.sqrt(doublings.abs()), FLOOR))


def pairs_of(times: pd.DataFrame) -> pd.DataFrame:
    """Results of one benchmark, device, round and submitter at two counts (each count's median; the smallest is base).

    times: `read_times`. Returns benchmark, gpu, gpus (n), family, doublings = log2(n/m), log_minutes = log(minutes(n) n
    / (minutes(m) m)), submitter, leaves (1 where only n devices are more than fast links join), log_batch (NaN: not
    told).
    """
    same = ["benchmark", "gpu", "round", "submitter"]
    told = times.groupby([*same, "gpus"])[["minutes", "global_batch"]].median().reset_index()
    pairs = told.merge(told.drop_duplicates(same), on=same, suffixes=("", "_base"))
    pairs = pairs[pairs["gpus"] > pairs["gpus_base"]].reset_index(drop=True)
    shared = pairs["gpus"] / pairs["gpus_base"]
    counts = zip(pairs["gpu"], pairs["gpus_base"], pairs["gpus"], strict=True)
    pairs = pairs.assign(
        family=pairs["gpu"].map(family), doublings=np.log2(shared),
        leaves=np.array([leaves_fast_links(*count) for count in counts], dtype=float),
        log_minutes=np.log(pairs["minutes"] / pairs["minutes_base"] * shared),
        log_batch=np.log(pairs["global_batch"] / pairs["global_batch_base"]),
    )  # fmt: skip
    return pairs[list(PAIR_COLUMNS)]


def leaves_fast_links(gpu: str, fewer: int, more: int) -> float:
    """1 where `more` devices are more than fast links join and `fewer` are not; -1 for the way back, else 0."""
    joined = 72 if gpu.startswith("GB") else 8
    return float((more > joined) - (fewer > joined))


def fit_strong(times: pd.DataFrame, others: Sequence[pd.DataFrame] = ()) -> Strong:
    """Fit to results at several counts; without a pair the priors alone, and a width of their own.

    others: times of other benchmarks, which say something of the losses; the width is that of `times`' own.
    """
    pairs = pairs_of(pd.concat([times, *others]))
    errors = held_out_strong(pairs, "family")
    errors = errors[errors["benchmark"].isin(set(times["benchmark"]))]
    score = (errors["gap"].abs() / np.sqrt(errors["doublings"])).to_numpy(dtype=float)
    width = calibrate(score, errors["family"].to_numpy(), 0.9) if len(errors) else 2 * LOSS[1]
    return _fit(pairs)._replace(width=max(float(width), FLOOR))


def held_out_strong(pairs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Every pair of `pairs_of` whose batches are told, predicted by a fit without its `group` (a column).

    Returns the pairs with `gap`, the logarithm of predicted over true minutes.
    """
    told = pairs.dropna(subset=["log_batch"])
    parts = [told.head(0).assign(gap=0.0)]
    for name, rows in told.groupby(group):
        found = _fit(pairs[pairs[group] != name])
        parts.append(rows.assign(gap=found.change(rows) - rows["log_minutes"]))
    return pd.concat(parts)


def others_strong(pairs: pd.DataFrame) -> pd.DataFrame:
    """Every pair of `pairs_of` that several submitters have of one benchmark, device and counts, told by the others.

    Returns the pairs with `gap` as in `held_out_strong`, from the median of the others: how far results agree.
    """
    same = ["benchmark", "gpu", "gpus", "doublings"]
    parts = [pairs.head(0).assign(gap=0.0)]
    for _, rows in pairs.groupby(same):
        for name, own in rows.groupby("submitter"):
            others = rows.loc[rows["submitter"] != name, "log_minutes"]
            parts.append(own.assign(gap=others.median() - own["log_minutes"]))
    return pd.concat(parts).dropna(subset=["gap"])


def _fit(pairs: pd.DataFrame) -> Strong:
    """Loss b and exponent g of each benchmark and of any other, and c, by one ridge regression."""
    own = pairs.dropna(subset=["log_batch"])
    columns = own["doublings"] * math.log(2), own["log_batch"]
    prior = Prior((LOSS, BATCH), LEAVING, SCATTER)
    (loss, batch), leaving = pooled_slopes(own["benchmark"], columns, own["log_minutes"], own["leaves"], prior)
    return Strong(loss, batch, leaving, FLOOR, len(pairs))


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
            told = [*cautions(instances, name), *uneven_counts(known, model, instance)]
            row = {**_predicted(times, fitted, base, instance.gpus), "base_instance": "", "warnings": told}
            for batch_size in question.batches(model):
                rows.append(asked_cell(question, instances, name, model, batch_size, VARIANT) | row)
    return pd.DataFrame(rows, columns=list(columns))


def _predicted(times: pd.DataFrame, fitted: Strong, base: Result, gpus: int) -> dict[str, object]:
    before = usual_batch(times, base, base.gpus) if math.isnan(base.global_batch) else base.global_batch
    batch = usual_batch(times, base._replace(global_batch=before), gpus)
    log_batch = 0.0 if math.isnan(batch / before) else math.log(batch / before)
    pair = {"benchmark": base.benchmark, "doublings": math.log2(gpus / base.gpus), "log_batch": log_batch}
    step = pd.DataFrame([pair | {"leaves": leaves_fast_links(base.gpu, base.gpus, gpus)}])
    efficiency, factor = math.exp(-fitted.change(step)[0]), fitted.reach(step["doublings"])[0]
    rate = efficiency * gpus / base.gpus / (60 * base.minutes)
    lost = slopes_of(step["benchmark"], fitted.loss)[0]
    return {
        "method": METHOD, "efficiency": efficiency, "images_per_s": rate, "images_per_s_low": rate / factor,
        "images_per_s_high": rate * factor, "headline": True, "basis": "extrapolated", "round": base.round,
        "rounds_behind": base.behind,
        "source": (
            f"{METHOD}: {base.gpus} to {gpus} devices, {100 * (2**lost - 1):.0f} % more device time a doubling and "
            f"{100 * math.expm1(fitted.leaving):.0f} % once over the network ({fitted.pairs} pairs of submissions), "
            f"global batch {before:g} to {batch:g} ; {base.source}"
        ),
    }  # fmt: skip


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
