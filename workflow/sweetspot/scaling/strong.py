"""Strong scaling of times to a target: what other counts of devices would take where nobody published a result.

minutes(n) = minutes(m) x (m/n) x (n/m)^b x e^c x (B_n/B_m)^g has four factors, as published results show:

m/n          the work of a sample is shared by all devices;
(n/m)^b      b >= 0: the cost of exchange and small batches at each doubling of the devices;
e^c          c >= 0: the cost, once, of leaving the devices that fast links join (8, or the 72 of an NVL72);
(B_n/B_m)^g  a larger global batch B needs more samples to the target, and keeps devices busier. B_n is the batch
             that submitters use at that count.
b, c and g are fitted together to pairs of one submitter, round and device at two counts, pooled over benchmarks: a
benchmark with few pairs stays near the others. The interval is conformal, from device families that were left out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.scaling.pooled_slopes import SlopePrior, fit_pooled_slopes, slopes_of
from sweetspot.scaling.step_facts import device_family
from sweetspot.study.instances import Instance, cautions
from sweetspot.study.study import StudyCells
from sweetspot.throughput.best import cell_columns
from sweetspot.throughput.calibration import calibrate
from sweetspot.throughput.time_to_target import VARIANT, TimeToTarget, results

STRONG_METHOD = "strong_scaling"  # its name in tables of methods
# Priors (mean, sd). b: submissions of 2024 and 2025 lose 0.1 to 0.3 of each doubling's gain. g: the exponent of the
# samples, 0 below the critical batch to 0.5, less what fuller devices save, at most b. Scatter: of the log minutes of
# one pair, between a submitter's results at two counts.
LOSS_PRIOR, BATCH_PRIOR, LEAVING_PRIOR, SCATTER = (0.17, 0.10), (0.1, 0.15), (0.10, 0.10), 0.10
# log 1.12: no prediction is surer than submitters agree with each other.
MINIMUM_WIDTH = 0.113
DEVICES_ON_FAST_LINKS, DEVICES_ON_NVL72 = 8, 72


@dataclass(frozen=True)
class StrongScaling:
    """Fitted exponents b, c, g of strong scaling (formula in the module docstring). loss: b by benchmark; batch: g by
    benchmark ("": a benchmark without pairs); leaving: c; width: half width of the 90 % interval of log minutes at one
    doubling, which grows with the root of the doublings; pairs: number of pairs.
    """

    loss: Mapping[str, float]
    batch: Mapping[str, float]
    leaving: float
    width: float
    pairs: int

    def log_change(self, pairs: pd.DataFrame) -> pd.Series:
        """Return by how much the total device time to a target changes from m to n devices, per pair: log(minutes(n) n
        / (minutes(m) m)); 0 is perfect scaling. `pairs`: rows of `result_pairs`.
        """
        loss = slopes_of(pairs["benchmark"], self.loss) * pairs["doublings"] * math.log(2)
        batch = slopes_of(pairs["benchmark"], self.batch) * pairs["log_batch"]
        return loss + self.leaving * pairs["leaves"] + batch

    def interval_factor(self, doublings: pd.Series) -> pd.Series:
        """Return, per number of doublings, the factor between an estimate and either bound of its 90 % interval."""
        return np.exp(np.hypot(self.width * np.sqrt(doublings.abs()), MINIMUM_WIDTH))


def result_pairs(times: pd.DataFrame) -> pd.DataFrame:
    """Pair published times to a target (`times`: rows of `read_times`) of a benchmark, device, round and submitter
    with those at its smallest count of devices; strong scaling is fitted to these pairs. Several results at a count:
    their median. Returned is a row per pair: benchmark, gpu, family, submitter, gpus (n), doublings = log2(n/m),
    log_minutes = log(minutes(n) n / (minutes(m) m)), leaves (`crossings`), log_batch = log(B_n/B_m) (NaN: not stated).
    """
    key = ["benchmark", "gpu", "round", "submitter"]
    medians = times.groupby([*key, "gpus"])[["minutes", "global_batch"]].median().reset_index()
    pairs = medians.merge(medians.drop_duplicates(key), on=key, suffixes=("", "_base"))
    pairs = pairs[pairs["gpus"] > pairs["gpus_base"]].reset_index(drop=True)
    ratio = pairs["gpus"] / pairs["gpus_base"]
    return pairs.assign(
        family=pairs["gpu"].map(device_family),
        doublings=np.log2(ratio),
        leaves=crossings(pairs["gpu"], pairs["gpus_base"], pairs["gpus"]),
        log_minutes=np.log(pairs["minutes"] / pairs["minutes_base"] * ratio),
        log_batch=np.log(pairs["global_batch"] / pairs["global_batch_base"]),
    )


def crossings(gpu: pd.Series, base_gpus: pd.Series, gpus: pd.Series) -> pd.Series:
    """Return per row 1 if only `gpus` is more devices than fast links join (which costs time once), -1 if only
    `base_gpus`, else 0.

    Parameters
    ----------
    gpu, base_gpus, gpus
        Columns of device names, and of numbers of devices before and after.
    """
    limit = np.where(gpu.str.startswith("GB"), DEVICES_ON_NVL72, DEVICES_ON_FAST_LINKS)
    return (gpus > limit).astype(float) - (base_gpus > limit)


def fit_strong(times: pd.DataFrame, further_times: Sequence[pd.DataFrame] = ()) -> StrongScaling:
    """Learn how a time to a target shrinks with more devices, to estimate machines whose device count nobody timed.
    `times`: the study's rows of `read_times`, whose errors set the interval; `further_times`: other benchmarks, from
    which losses are learnt too. Without a pair of results the prior is returned.
    """
    pairs = result_pairs(pd.concat([times, *further_times]))
    errors = strong_errors(pairs, "family")
    errors = errors[errors["benchmark"].isin(set(times["benchmark"]))]
    width = 2 * LOSS_PRIOR[1]
    if len(errors):
        score = (errors["gap"].abs() / np.sqrt(errors["doublings"])).to_numpy(dtype=float)
        width = calibrate(score, errors["family"].to_numpy(), 0.9)
    return replace(_fit(pairs), width=max(float(width), MINIMUM_WIDTH))


def strong_errors(pairs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Measure how wrong estimates at other device counts are: predict each pair (`result_pairs`) with stated batches
    by a fit without its value of the column `group`, such as `family`, add `gap`, log(predicted / true minutes).
    """
    predictable = pairs.dropna(subset=["log_batch"])
    tables = [predictable.head(0).assign(gap=0.0)]
    for name, rows in predictable.groupby(group):
        fitted = _fit(pairs[pairs[group] != name])
        tables.append(rows.assign(gap=fitted.log_change(rows) - rows["log_minutes"]))
    return pd.concat(tables)


def _fit(pairs: pd.DataFrame) -> StrongScaling:
    """Fit strong scaling's exponents b, c, g to rows of `result_pairs` with batches; the caller sets the width."""
    rows = pairs.dropna(subset=["log_batch"])
    variables = rows["doublings"] * math.log(2), rows["log_batch"]
    prior = SlopePrior((LOSS_PRIOR, BATCH_PRIOR), LEAVING_PRIOR, SCATTER)
    fitted = fit_pooled_slopes(rows["benchmark"], variables, rows["log_minutes"], rows["leaves"], prior)
    loss, batch = fitted.slopes
    return StrongScaling(loss, batch, fitted.step, MINIMUM_WIDTH, len(pairs))


def strong_cells(
    times: pd.DataFrame,
    fitted: StrongScaling,
    question: StudyCells,
    instances: Mapping[str, Instance],
    columns: Iterable[str],
) -> pd.DataFrame:
    """Estimate the speed (training runs per second, 90 % bounds) of a study's machines whose device was timed to the
    target at other counts only: rows of the table extrapolation.

    Parameters
    ----------
    times, fitted
        The study's times to a target (`read_times`); the fitted exponents.
    question, instances, columns
        What the study measures; its machines by name (the base is the nearest known count); columns to return.
    """
    timed = results(times)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            bases = [result for key, result in timed.items() if key[:2] == (model, instance.gpu)]
            if not bases or (model, instance.gpu, instance.gpus) in timed:
                continue
            # The nearest count in doublings, the smaller of two.
            base = min(bases, key=lambda result: (abs(math.log2(result.gpus / instance.gpus)), result.gpus))
            estimate = _estimate(times, fitted, base, instance.gpus)
            estimate |= {"base_instance": "", "warnings": cautions(instances, name)}
            for batch_size in question.batches(model):
                rows.append(cell_columns(question, instances, name, model, batch_size, VARIANT) | estimate)
    return pd.DataFrame(rows, columns=list(columns))


def _estimate(times: pd.DataFrame, fitted: StrongScaling, base: TimeToTarget, gpus: int) -> dict[str, Any]:
    """Return a row {column of extrapolation: value} with the speed of `gpus` devices, scaled from the published result
    `base` at another count; `times` (`read_times`) tell the usual global batch at either count.
    """
    base_batch = base.global_batch
    if math.isnan(base_batch):
        base_batch = usual_batch(times, base.benchmark, base.gpus)
    # The batch is not smaller for more devices, nor larger for fewer.
    batches = usual_batch(times, base.benchmark, gpus), base_batch
    batch = max(batches) if gpus > base.gpus else min(batches)
    pair = pd.DataFrame({"benchmark": [base.benchmark], "gpu": base.gpu, "gpus_base": base.gpus, "gpus": gpus})
    pair["doublings"] = np.log2(pair["gpus"] / pair["gpus_base"])
    pair["leaves"] = crossings(pair["gpu"], pair["gpus_base"], pair["gpus"])
    pair["log_batch"] = np.nan_to_num(math.log(batch / base_batch))
    efficiency = math.exp(-fitted.log_change(pair)[0])
    factor = fitted.interval_factor(pair["doublings"])[0]
    rate = efficiency * gpus / base.gpus / (60 * base.minutes)
    loss = 2 ** slopes_of(pair["benchmark"], fitted.loss)[0] - 1
    return {
        "method": STRONG_METHOD,
        "efficiency": efficiency,
        "images_per_s": rate,
        "images_per_s_low": rate / factor,
        "images_per_s_high": rate * factor,
        "headline": True,
        "basis": "extrapolated",
        "round": base.round,
        "rounds_behind": base.rounds_behind,
        "source": (
            f"{STRONG_METHOD}: {base.gpus} to {gpus} devices, {100 * loss:.0f} % more device time a doubling and "
            f"{100 * math.expm1(fitted.leaving):.0f} % once over the network ({fitted.pairs} pairs of submissions), "
            f"global batch {base_batch:g} to {batch:g} ; {base.source}"
        ),
    }


def usual_batch(times: pd.DataFrame, benchmark: str, gpus: int) -> float:
    """Return the usual global batch (samples of a step) of submitters with `gpus` devices; NaN if nobody states one.

    Parameters
    ----------
    times, benchmark, gpus
        The table of `read_times`; a benchmark; the count (the median batch at the nearest published count is taken).
    """
    rows = times[(times["benchmark"] == benchmark) & times["global_batch"].notna()]
    distance = np.log2(rows["gpus"] / gpus).abs()
    return float(rows.loc[distance <= distance.min() + 1e-9, "global_batch"].median())
