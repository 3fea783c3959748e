"""Which of several variants of a cell is the best, as a mark in a table's row."""

from collections.abc import Callable, Mapping

import pandas as pd

SAME = ("base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis")


def best_of_variants(table: pd.DataFrame) -> Callable[[Mapping[str, object]], str]:
    """A function of a row of `table`: `best` where its column `best` is true and its cell has other variants too."""
    same = [name for name in SAME if name in table.columns]
    if "best" not in table.columns or table["variant"].nunique() < 2:
        return lambda row: ""
    counts = table.groupby(same)["variant"].nunique()
    several = set(counts[counts > 1].index)
    return lambda row: "best" if row["best"] and tuple(row[name] for name in same) in several else ""
