"""On what an answer hangs most, in a few words: the widest bar of the tornado of its two machines."""

import pandas as pd

from sweetspot.decision.contenders import Contenders

OF_A_MACHINE = {
    "usd_per_hour": "price",
    "capex_usd": "price",
    "images_per_s": "speed",
    "residual_usd": "resale value",
    "maintenance_usd_per_month": "maintenance",
    "kw": "power",
}
OF_ALL = {
    "days_per_month": "the days of use",
    "months": "the length of the project",
    "usd_per_kwh": "the price of electricity",
    "usd_per_hour": "rental prices",
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
    if row["reference"] != who.reference["option"] or row["rival"] != who.alternative["option"]:
        return ""
    return in_words(row["quantity"], row["subject"], who.cheapest["option"])


def in_words(quantity: str, subject: str | None, cheapest: str) -> str:
    """An assumption of the tornado as the answer names it, where the option `cheapest` was just spoken of."""
    if not isinstance(subject, str):
        return OF_ALL[quantity]
    whose = "its" if subject == cheapest else "the other's"
    return f"{whose} {OF_A_MACHINE[quantity]}"
