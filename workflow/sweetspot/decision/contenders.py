"""Which offers the answer about a model is held against, and whether bills or USD per image decide."""

import numpy as np
import pandas as pd

from sweetspot.decision.analyses.days_of_use import references
from sweetspot.decision.options import Row, records, same_machine, trained

PROPORTION = 1.05  # bills that differ from USD per image by more than this decide by themselves


def contenders(table: pd.DataFrame, reference: Row | None) -> tuple[Row, Row | None, float] | None:
    """Compare a model's reference with its cheapest alternative.

    Parameters
    ----------
    table
        The model's options (`trained`).
    reference
        That of the study; None: the cheapest that nobody takes away.

    Returns
    -------
    tuple or None
        Reference, the cheapest other machine or way of paying (if possible one that nobody takes away; None without
        another), and how many times cheaper the reference is. None where the answer may take no option.
    """
    persistent = staying(table)
    is_billed = bills_decide(persistent)
    rows = records(table[table["in_answer"].astype(bool)])
    rows.sort(key=lambda row: np.nan_to_num(cost(row, is_billed), nan=np.inf))
    if not rows:
        return None
    ordered = [row for row in rows if row["row"] in persistent.index]
    first = reference or ordered[0]
    alternative = next((row for row in (*ordered, *rows) if not same_machine(row, first)), None)
    gain = np.inf if alternative is None else cost(alternative, is_billed) / cost(first, is_billed)
    return first, alternative, gain


def staying(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the options that the answer may take and nobody takes away; if there are none, all that it may take."""
    in_answer = rows[rows["in_answer"].astype(bool)]
    persistent = in_answer[in_answer["persistent"].astype(bool)]
    return persistent if len(persistent) else in_answer


def bills_decide(rows: pd.DataFrame) -> bool:
    """Return whether bills (whole hours, fees, minimum sums) are not in proportion to USD per image."""
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def cost(row: Row, is_billed: bool) -> float:
    """Return what decides: the bill, or USD per image where bills are in proportion to it; 0 for what is free."""
    return float(row["usd"] if is_billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def model_with_smallest_gain(options: pd.DataFrame) -> str | None:
    """Return the model on which the reference gains the least; of equal gains (to nine digits) the first."""
    reference_rows, gains = references(options), dict[str, float]()
    for model, table in trained(options).items():
        group = contenders(table, reference_rows.get(model))
        if group is not None:
            gains[model] = float(f"{group[2]:.9g}")
    return min(gains, key=gains.__getitem__, default=None)
