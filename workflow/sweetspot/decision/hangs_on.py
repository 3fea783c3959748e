"""On what an answer hangs most, in a few words: the widest bar of the tornado of its two machines."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sweetspot.decision.contenders import Contenders

OF_A_MACHINE = {
    "usd_per_hour": "price",
    "capex_usd": "price",
    "residual_usd": "resale value",
    "maintenance_usd_per_month": "maintenance",
    "kw": "power",
}
OF_ALL = {
    "days_per_month": "the days of use",
    "months": "the length of the project",
    "usd_per_kwh": "the price of electricity",
    "rents": "rental prices",
    "jobs": "how much work there is",
    "rent_factor": "how rents move",
}


def hangs_on(tornado: pd.DataFrame, who: Contenders) -> str:
    """The assumption that moves most how the two compare; empty where the tornado is of others.

    tornado: `comparison/tornado`. `its` is of the cheaper of the two, `the other's` of the one that it is held against.
    """
    rows = tornado[tornado["model"] == who.reference["model"]] if len(tornado) else tornado
    if rows.empty or who.alternative is None:
        return ""
    row = rows.iloc[0]
    pair = {who.reference["option"], who.alternative["option"]}
    if {row["best"], row["rival"]} != pair:
        return ""
    return in_words(row, who.cheapest["option"], *(pair - {who.cheapest["option"]}))


def in_words(row: Mapping[str, Any], cheapest: str, rival: str) -> str:
    """A row of a tornado as the answer names it, which has just spoken of the cheapest option and its rival."""
    quantity, subject = row["quantity"], row["subject"]
    if not isinstance(subject, str) and quantity in OF_ALL:
        return OF_ALL[quantity]
    if quantity in OF_A_MACHINE and subject in (cheapest, rival):
        whose = "its" if subject == cheapest else "the other's"
        return f"{whose} {OF_A_MACHINE[quantity]}"
    return OF_ALL[quantity] if quantity == "usd_per_kwh" else f"the {row['assumption']}"
