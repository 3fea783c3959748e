"""The order of the rows of a table of the page, and which row of several variants is the best."""

from collections.abc import Callable, Mapping

import pandas as pd

from sweetspot.claims.verdicts import FAILED

SAME = ("base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis")


def in_order(name: str, table: pd.DataFrame, asked: str) -> pd.DataFrame:
    """The rows of the table of that name, the most telling first: of very many the page shows only so many.

    `asked`: the model of the answer.
    """
    if name == "throughput":
        return table.sort_values("basis", key=lambda basis: basis != "measured", kind="stable")
    if name == "claims":
        # What does not recompute, and of that what concerns the answer before single prices.
        place = table["verdict"].map({verdict: n for n, verdict in enumerate(FAILED)}).fillna(len(FAILED))
        order = table.assign(_place=place, _price=table["kind"] == "price_ratio")
        return order.sort_values(["_place", "_price"], kind="stable")
    if name == "break_even":
        return table.sort_values("model", key=lambda model: model != asked, kind="stable")
    if name == "extrapolation":
        return table.sort_values("headline", ascending=False, kind="stable")
    return table


def best_of_variants(table: pd.DataFrame) -> Callable[[Mapping[str, object]], str]:
    """A function of a row of `table`: `best` where its column `best` is true and its cell has other variants too."""
    same = [name for name in SAME if name in table.columns]
    if "best" not in table.columns or table["variant"].nunique() < 2:
        return lambda row: ""
    counts = table.groupby(same)["variant"].nunique()
    several = set(counts[counts > 1].index)
    return lambda row: "best" if row["best"] and tuple(row[name] for name in same) in several else ""
