"""How far a year of software moves a throughput: computed from the shipped tables."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.throughput.stand_in import YEAR

STUDIES = Path(__file__).parents[2] / "config" / "studies"
PROGRAMS = ("tf_cnn_benchmarks", "u39kun train step")
# Dates written here again from the release pages, not taken from the program's table.
RELEASED = {
    "1.4.0": 2017 + 10.5 / 12, "1.5.0": 2018 + 0.5 / 12, "1.15.3": 2020 + 4.5 / 12, "2.1": 2020 + 0.5 / 12,
    "2.2.0": 2020 + 4.5 / 12, "1.15.4": 2020 + 8.5 / 12, "1.15.5": 2021 + 0.5 / 12, "2.4.1": 2021 + 0.5 / 12,
    "nightly 2018-02": 2018 + 1.5 / 12, "c9de8dfd 2017-12": 2017 + 11.5 / 12, "": 2018 + 6.5 / 12,
}  # fmt: skip


def table():
    """TensorFlow's figures on synthetic data without XLA; those of parkopedia-2018 itself name no version (2018-07)."""
    shipped = pd.read_csv(POOLS / "scaling-2020" / "throughput.csv", dtype=str, keep_default_na=False)
    own = pd.read_csv(STUDIES / "parkopedia-2018" / "throughput.csv", dtype=str, keep_default_na=False)
    rows = pd.concat([shipped, own[own["instance"] == "office-1x1080ti"]], ignore_index=True)
    kept = (rows["framework"] == "tensorflow") & (rows["dataset"] == "synthetic") & rows["benchmark"].isin(PROGRAMS)
    kept &= rows["framework_version"].isin(RELEASED) & ~(rows["note"] + rows["instance"]).str.contains("XLA")
    rows = rows[kept].assign(device=rows["gpu"].str.extract(r"(1080 Ti|2080 Ti|V100)", expand=False))
    rows = rows[rows["device"].notna()]
    return rows.assign(
        year=rows["framework_version"].map(RELEASED),
        rate=rows["images_per_s"].astype(float),
        batch=pd.to_numeric(rows["batch_size"].replace("", np.nan)),
    )


def moves_a_year():
    """|ln(new / old)| a year: of each device, count, model and precision the oldest against the newest software.

    The two figures are those whose batches are nearest, the medians of repeats; at least a year apart.
    """
    found = []
    for _, own in table().groupby(["device", "gpus", "model", "precision"]):
        old, new = own[own["year"] == own["year"].min()], own[own["year"] == own["year"].max()]
        years = new["year"].iloc[0] - old["year"].iloc[0]
        if years < 1:
            continue
        pairs = [
            (0.0 if math.isnan(a.batch + b.batch) else abs(math.log2(a.batch / b.batch)), a.rate, b.rate)
            for a, b in itertools.product(old.itertuples(), new.itertuples())
        ]
        nearest = min(pair[0] for pair in pairs)
        ratio = np.median([b / a for apart, a, b in pairs if apart == nearest])
        found.append(abs(math.log(ratio)) / years)
    return np.array(found)


def test_a_year_of_software_moves_a_figure_by_less_than_1_38_in_nine_pairs_of_ten():
    moves = moves_a_year()
    assert len(moves) == 16
    assert math.exp(np.quantile(moves, 0.9)) == pytest.approx(YEAR, abs=0.005)
    assert math.exp(np.quantile(moves, 0.5)) == pytest.approx(1.14, abs=0.01)
