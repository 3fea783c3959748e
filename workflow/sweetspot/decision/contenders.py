"""Who contends on each model: what the answer is held against, and whether bills or USD per image decide."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sweetspot.decision.analyses.days_of_use import references
from sweetspot.decision.options import Row, records, same_machine, trained

PROPORTION = 1.05  # bills that leave USD per image by more than this decide by themselves


@dataclass(frozen=True)
class Contenders:
    """Rows of the options of one model, of those that the answer may take (`in_answer`). reference: the study's, else
    the cheapest that stays. alternative: the cheapest other machine or way of paying that stays; where none stays but
    the reference, the cheapest that can be taken away; None where there is no other. every: all, the cheapest first.
    billed: bills decide, not USD per image.
    """

    reference: Row
    alternative: Row | None
    every: tuple[Row, ...]
    billed: bool

    @property
    def gain(self) -> float:
        """How many times cheaper the reference is than the alternative; infinite without one."""
        if self.alternative is None:
            return np.inf
        return cost(self.alternative, self.billed) / cost(self.reference, self.billed)


def contenders(rows: pd.DataFrame, own: Row | None) -> Contenders | None:
    """Those of a model's options (`trained`); `own`: the study's reference, if any. None: nothing to choose from."""
    inside, stays = rows[rows["in_answer"].astype(bool)], staying(rows)
    if inside.empty:
        return None
    billed = bills_decide(stays)
    every = sorted(records(inside), key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))
    ordered = [row for row in every if row["row"] in stays.index]
    box = ordered[0] if own is None else own
    other = next((row for row in (*ordered, *every) if not same_machine(row, box)), None)
    return Contenders(box, other, tuple(every), billed)


def staying(rows: pd.DataFrame) -> pd.DataFrame:
    """The options that the answer may take and nobody takes away; where all can be, all that it may take."""
    inside = rows[rows["in_answer"].astype(bool)]
    kept = inside[inside["persistent"].astype(bool)]
    return kept if len(kept) else inside


def bills_decide(rows: pd.DataFrame) -> bool:
    """Whether bills decide, not hourly prices: the USD of the workload (whole hours, fees, minimum sums) are not in
    proportion to USD per image for all options, by 5 % or more.
    """
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def cost(row: Row, billed: bool) -> float:
    """What decides: the bill, or USD per image where bills are in proportion to it; 0 for what costs nothing."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def found_contenders(options: pd.DataFrame) -> dict[str, Contenders]:
    """The contenders of each model that has any, the least favourable to the reference first. The last digits of a
    float choose no model: of equal gains the first in the order of the models is told.
    """
    own = references(options)
    found = {model: contenders(rows, own.get(model)) for model, rows in trained(options).items()}
    known = {model: one for model, one in found.items() if one is not None}
    return dict(sorted(known.items(), key=lambda pair: float(f"{pair[1].gain:.9g}")))
