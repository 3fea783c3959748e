"""Recompute constants of the program from the published figures that they come from.

A year of software (`throughput.stand_in.YEAR`): of each device, count, model and precision the oldest figure is
compared with that of the newest software, at the nearest batch. Submitters (`throughput.time_to_target`,
SUBMITTER_FACTOR): how far results of one benchmark, device, count and round lie from their median. Rounds
(`throughput.speed_errors.ROUND_LOW`, ROUND_HIGH): how much faster the same machines were one round later.
"""

import argparse
import itertools
import math

import numpy as np
import pandas as pd
from sweetspot.facts.shipped_tables import POOLS, STUDIES
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.throughput.stand_in import YEAR
from sweetspot.throughput.time_to_target import SUBMITTER_FACTOR, read_times

PROGRAMS = ("tf_cnn_benchmarks", "u39kun train step")
# Dates written here again from the release pages, not taken from the program's table.
RELEASED = {
    "1.4.0": 2017 + 10.5 / 12, "1.5.0": 2018 + 0.5 / 12, "1.15.3": 2020 + 4.5 / 12, "2.1": 2020 + 0.5 / 12,
    "2.2.0": 2020 + 4.5 / 12, "1.15.4": 2020 + 8.5 / 12, "1.15.5": 2021 + 0.5 / 12, "2.4.1": 2021 + 0.5 / 12,
    "nightly 2018-02": 2018 + 1.5 / 12, "c9de8dfd 2017-12": 2017 + 11.5 / 12, "": 2018 + 6.5 / 12,
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the figures are shipped."""


def run(_: argparse.Namespace) -> int:
    """Print each constant beside its figures; return 1 if one does not follow from them."""
    changes, distances = changes_per_year(), distances_from_median()
    year, within = math.exp(np.quantile(changes, 0.9)), float(np.mean(distances <= SUBMITTER_FACTOR))
    print(f"a year of software: {len(changes)} pairs, nine in ten within a factor of {year:.3f}; shipped {YEAR}")
    print(f"submitters: {len(distances)} results, {within:.1%} within a factor of {SUBMITTER_FACTOR}; at least 90 %")
    gains = gains_by_round()
    ends = gains.quantile([0.05, 0.95]).to_numpy()
    print(f"a round: {len(gains)} gains of {ends[0]:.3f} to {ends[1]:.3f}; shipped {ROUND_LOW} to {ROUND_HIGH}")
    return int(
        abs(year - YEAR) > 0.005 or not 0.9 <= within <= 0.98 or np.abs(ends - (ROUND_LOW, ROUND_HIGH)).max() > 0.005
    )


def tensorflow_rows() -> pd.DataFrame:
    """Return TensorFlow's figures on synthetic data without XLA, with device, year, rate and batch.

    Those of parkopedia-2018 itself name no version (2018-07).
    """
    shipped = pd.read_csv(POOLS / "scaling-2020" / "throughput.csv", dtype=str, keep_default_na=False)
    own = pd.read_csv(STUDIES / "parkopedia-2018" / "throughput.csv", dtype=str, keep_default_na=False)
    rows = pd.concat([shipped, own[own["instance"] == "office-1x1080ti"]], ignore_index=True)
    selected = (rows["framework"] == "tensorflow") & (rows["dataset"] == "synthetic")
    selected &= rows["benchmark"].isin(PROGRAMS) & rows["framework_version"].isin(RELEASED)
    rows = rows[selected & ~(rows["note"] + rows["instance"]).str.contains("XLA")]
    rows = rows.assign(device=rows["gpu"].str.extract(r"(1080 Ti|2080 Ti|V100)", expand=False))
    rows = rows[rows["device"].notna()]
    return rows.assign(
        year=rows["framework_version"].map(RELEASED),
        rate=rows["images_per_s"].astype(float),
        batch=pd.to_numeric(rows["batch_size"].replace("", np.nan)),
    )


def changes_per_year() -> np.ndarray:
    """Return |ln(new / old)| per year of each pair of figures whose software is at least a year apart."""
    changes = []
    for _, rows in tensorflow_rows().groupby(["device", "gpus", "model", "precision"]):
        old, new = rows[rows["year"] == rows["year"].min()], rows[rows["year"] == rows["year"].max()]
        years = new["year"].iloc[0] - old["year"].iloc[0]
        if years < 1:
            continue
        pairs = [
            (0.0 if math.isnan(a.batch + b.batch) else abs(math.log2(a.batch / b.batch)), b.rate / a.rate)
            for a, b in itertools.product(old.itertuples(), new.itertuples())
        ]
        nearest = min(doublings for doublings, _ in pairs)
        ratio = np.median([ratio for doublings, ratio in pairs if doublings == nearest])
        changes.append(abs(math.log(ratio)) / years)
    return np.array(changes)


def distances_from_median() -> np.ndarray:
    """Return the factor between each published time to a target and the median of its round."""
    table = read_times(STUDIES / "eight-gpus-2026" / "time_to_target.csv")
    key = ["benchmark", "gpu", "gpus", "round"]
    times = table[table.groupby(key)["minutes"].transform("size") > 1]
    return np.exp(np.abs(np.log(times["minutes"] / times.groupby(key)["minutes"].transform("median")))).to_numpy()


def gains_by_round() -> pd.Series:
    """Return how much faster the median of each benchmark, device and count became from one round to its next."""
    times = read_times(STUDIES / "eight-gpus-2026" / "time_to_target.csv")
    key = ["benchmark", "gpu", "gpus"]
    medians = times.groupby([*key, "round"])["minutes"].median().reset_index()  # v4.0 to v6.0 sort as written.
    return (medians.groupby(key)["minutes"].shift() / medians["minutes"]).dropna()
