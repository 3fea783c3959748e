"""What a claim is checked against, and how the options that it names are found."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.options import INTERRUPTIBLE, trained
from sweetspot.study.claim_base import Choice

SPOKEN_OF = (
    "option", "instance", "purchase", "provider", "price_list", "persistent", "model", "images_per_s", "images_per_usd",
    "hours", "usd", "usd_per_hour", "throughput_basis",
)  # fmt: skip

OFFERED = (
    "price_list", "instance", "purchase", "provider", "usd_per_hour", "days_per_month", "kw", "pue", "usd_per_kwh",
)  # fmt: skip


class CannotCheckError(Exception):
    """The tables do not hold what a claim speaks of."""


@dataclass(frozen=True)
class Recomputed:
    """Recomputed values (one a model, or a single one) and what to say of them."""

    values: dict[str, float]
    note: str | None = None


@dataclass(frozen=True)
class Evidence:
    """The tables that a claim is checked against."""

    options: pd.DataFrame
    offers: pd.DataFrame
    extrapolation: pd.DataFrame
    efficiency: pd.DataFrame
    reference: str | None
    costs: pd.DataFrame = field(default_factory=pd.DataFrame)
    bills: pd.DataFrame = field(default_factory=pd.DataFrame)
    throughput: pd.DataFrame = field(default_factory=pd.DataFrame)

    @cached_property
    def by_model(self) -> dict[str, pd.DataFrame]:
        """The options of each model, with the columns that claims speak of."""
        return {model: rows[list(SPOKEN_OF)] for model, rows in trained(self.options).items()}

    @cached_property
    def priced(self) -> pd.DataFrame:
        """All offers, whether or not a throughput is known, as plain objects with the columns that claims speak of."""
        known = self.offers.reindex(columns=list(OFFERED)).astype({name: object for name in OFFERED[:4]})
        return known.assign(persistent=~known["purchase"].isin(INTERRUPTIBLE))

    @cached_property
    def boxes(self) -> dict[str, pd.Series]:
        """The owned reference of each model."""
        rows = references(self.options, self.reference or "")
        return {model: row for model, row in rows.items() if row["purchase"] == "own"}

    def models(self, wanted: Sequence[str]) -> dict[str, pd.DataFrame]:
        """The options of the models that a claim speaks of, by default of all."""
        names = list(wanted) or list(self.by_model)
        lacking = [name for name in names if name not in self.by_model]
        if lacking or not names:
            raise CannotCheckError(f"no priced figure of {lacking[0] if lacking else 'any model'}")
        return {name: self.by_model[name] for name in names}


def chosen(rows: pd.DataFrame, choice: Choice) -> pd.DataFrame:
    """The rows that fit every key of `choice`; an instance without a purchase means its persistent offer, if any."""
    given = choice.model_dump(exclude_none=True)
    fits = np.ones(len(rows), dtype=bool)
    for key, value in given.items():
        fits &= (rows[key] == value).to_numpy()
    found = rows[fits]
    if found.empty:
        what = ", ".join(f"{key} {value}" for key, value in given.items())
        raise CannotCheckError(f"no priced figure of {what}")
    if choice.instance and choice.purchase is None and found["persistent"].any():
        found = found[found["persistent"]]
    return found
