"""Which options of a model may be the answer, and whether bills or USD per image rank them."""

import pandas as pd

PROPORTION = 1.05  # Bills that differ from USD per image by more than this decide by themselves.


def staying(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `in_answer` and `persistent` (the provider does not stop it); if none, all with `in_answer`."""
    in_answer = rows[rows["in_answer"].astype(bool)]
    persistent = in_answer[in_answer["persistent"].astype(bool)]
    return persistent if len(persistent) else in_answer


def bills_decide(rows: pd.DataFrame) -> bool:
    """Return whether bills (whole hours, fees, minimum sums) differ from USD per image by more than PROPORTION."""
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())
