"""Which offers the answer about a model is held against, and whether bills or USD per image decide."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sweetspot.decision.analyses.days_of_use import references
from sweetspot.decision.options import Row, records, same_machine, trained

PROPORTION = 1.05  # bills that differ from USD per image by more than this decide by themselves


@dataclass(frozen=True)
class Contenders:
    """Options of one model that the answer may take.

    Parameters
    ----------
    reference
        The study's reference, else the cheapest that nobody takes away.
    alternative
        The cheapest other machine or way of paying, if possible one that nobody takes away; None without another.
    billed
        Whether bills decide, not USD per image.

    """

    reference: Row
    alternative: Row | None
    billed: bool

    @property
    def gain(self) -> float:
        """How many times cheaper the reference is than the alternative; infinite without one."""
        if self.alternative is None:
            return np.inf
        return cost(self.alternative, self.billed) / cost(self.reference, self.billed)


def contenders(table: pd.DataFrame, reference: Row | None) -> Contenders | None:
    """Return the contenders among a model's options (`trained`), for the study's reference; None without any."""
    persistent = staying(table)
    billed = bills_decide(persistent)
    rows = records(table[table["in_answer"].astype(bool)])
    rows.sort(key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))
    if not rows:
        return None
    ordered = [row for row in rows if row["row"] in persistent.index]
    first = reference or ordered[0]
    alternative = next((row for row in (*ordered, *rows) if not same_machine(row, first)), None)
    return Contenders(first, alternative, billed)


def staying(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the options that the answer may take and nobody takes away; if there are none, all that it may take."""
    in_answer = rows[rows["in_answer"].astype(bool)]
    persistent = in_answer[in_answer["persistent"].astype(bool)]
    return persistent if len(persistent) else in_answer


def bills_decide(rows: pd.DataFrame) -> bool:
    """Return whether bills (whole hours, fees, minimum sums) are not in proportion to USD per image."""
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def cost(row: Row, billed: bool) -> float:
    """Return what decides: the bill, or USD per image where bills are in proportion to it; 0 for what is free."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def contenders_by_model(options: pd.DataFrame) -> dict[str, Contenders]:
    """Return the contenders of each model that has any, the least favourable to the reference first.

    Gains count to nine digits: among equal ones the order of the models holds.
    """
    reference_rows = references(options)
    by_model = {model: contenders(table, reference_rows.get(model)) for model, table in trained(options).items()}
    pairs = [(model, group) for model, group in by_model.items() if group is not None]
    return dict(sorted(pairs, key=lambda pair: float(f"{pair[1].gain:.9g}")))
