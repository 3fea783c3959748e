"""The options that the answer about a model speaks of."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sweetspot.decision.options import Row, records, same_machine

PROPORTION = 1.05  # bills that leave USD per image by more than this decide by themselves


@dataclass(frozen=True)
class Contenders:
    """Rows of the options of one model, of those that the answer may take (`in_answer`).

    reference: the study's, else the cheapest that stays. alternative: the cheapest other machine or way of paying that
    stays; where none stays but the reference, the cheapest that can be taken away; None where there is no other.
    cheapest: the cheaper of the two. by_hour: where `cheapest` is paid by the month, the cheapest that is not.
    of_all: the cheapest, whether or not it can be taken away. fastest: by hours, of those that stay. every: all, the
    cheapest first.
    least_carbon: of those that stay, the one of least kg CO2e; None where no carbon is known.
    billed: bills decide, not USD per image. place: of the reference among the `machines` by hours.
    """

    reference: Row
    alternative: Row | None
    cheapest: Row
    by_hour: Row | None
    of_all: Row
    fastest: Row
    least_carbon: Row | None
    every: tuple[Row, ...]
    billed: bool
    place: int
    machines: int

    @property
    def rented(self) -> Row | None:
        """The cheapest rented option, of those that stay where one does; None where nothing is rented."""
        hired = [row for row in self.every if row["purchase"] != "own"]
        return next((row for row in hired if row["persistent"]), hired[0] if hired else None)

    def named(self) -> list[Row]:
        """The options that the first screen names, each once."""
        told = (
            self.reference, self.alternative, self.cheapest, self.by_hour, self.of_all, self.fastest, self.least_carbon,
        )  # fmt: skip
        return list({row["option"]: row for row in told if row is not None}.values())


def contenders(rows: pd.DataFrame, own: Row | None) -> Contenders | None:
    """Those of a model's options (`trained`); `own`: the study's reference, if any. None: nothing to choose from."""
    inside = rows[rows["in_answer"].astype(bool)]
    kept = inside[inside["persistent"].astype(bool)]
    pool = kept if len(kept) else inside
    if pool.empty:
        return None
    # Whole hours, fees and minimum sums: then the bill of the workload decides, not the hourly price.
    billed = bills_decide(pool)
    ordered, every = (_by_cost(table, billed) for table in (pool, inside))
    box = ordered[0] if own is None else own
    alternative = _first_other(ordered, box) or _first_other(every, box)
    # Where nothing else stays, the box is compared with what does not, and yet is the cheapest that stays.
    cheapest = box if alternative is None or cost(box, billed) <= cost(alternative, billed) else alternative
    # Of one and the same work: where jobs run side by side the machine of most images/s ends none of them first.
    alike = [row for row in ordered if row["workload"] == box["workload"]] or ordered
    machines = inside[inside["workload"] == box["workload"]].drop_duplicates("instance")
    hourly = [row for row in ordered if pd.isna(row["month_usd"])]
    clean = [row for row in ordered if pd.notna(row["kg_co2e"])]
    return Contenders(
        reference=box,
        alternative=alternative,
        cheapest=cheapest,
        by_hour=hourly[0] if hourly and pd.notna(cheapest["month_usd"]) else None,
        of_all=every[0],
        fastest=min(alike, key=lambda row: (row["hours"], cost(row, billed))),
        least_carbon=min(clean, key=lambda row: (row["kg_co2e"], cost(row, billed))) if clean else None,
        every=tuple(every),
        billed=billed,
        place=int((machines["hours"] < box["hours"]).sum()) + 1,
        machines=len(machines),
    )


def bills_decide(rows: pd.DataFrame) -> bool:
    """Whether the USD of the workload are not in proportion to USD per image for all options, by 5 % or more."""
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def _by_cost(rows: pd.DataFrame, billed: bool) -> list[Row]:
    return sorted(records(rows), key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))


def cost(row: Row, billed: bool) -> float:
    """What decides: the bill, or USD per image where bills are in proportion to it; 0 for what costs nothing."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def _first_other(rows: list[Row], one: Row) -> Row | None:
    return next((row for row in rows if not same_machine(row, one)), None)
