"""What the answer assumes of the months to come, in a line on the page."""

import numpy as np
import pandas as pd

from sweetspot.bills.price_paths import central_change
from sweetspot.report.tables import Tables, table_of
from sweetspot.wording import listed

WORDS = {
    "hyperscaler": "list prices of hyperscalers stay but for cuts",
    "small_cloud": "smaller clouds change by {change} a year (each year anew, {low} to {high})",
    "spot": "spot prices walk at random",
    "fixed": "contracts and old devices keep their prices",
}


def in_words(tables: Tables) -> str:
    """One line on price paths and resale; empty where every price stays and no machine has a resale curve."""
    offers = table_of(tables, "offers")
    if offers.empty or table_of(tables, "verdict").empty or "trend" not in offers.columns:
        return ""
    return " ".join(part for part in (_rents(offers), _resale(offers)) if part)


def _rents(offers: pd.DataFrame) -> str:
    moving = offers[offers["trend"].notna()]
    if moving.empty:
        return ""
    told = []
    for name, rows in moving.groupby("trend", sort=False):
        one = rows.iloc[0]
        changes = {"change": central_change(one), "low": one["trend_change_low"], "high": one["trend_change_high"]}
        said = {which: f"{100 * value:+.0f} %".replace("-", "−") for which, value in changes.items()}
        told.append(WORDS.get(str(name), f"{name} ({said['change']} a year)").format(**said))
    return f"Rents are means over the months of the project, not today's: {listed(sorted(told))}."


def _resale(offers: pd.DataFrame) -> str:
    curve = offers["residual_points"].map(lambda points: isinstance(points, list | np.ndarray))
    if not curve.any():
        return ""
    own = offers[curve]
    share = own["residual_usd"] / own["capex_usd"]
    low, high = 100 * share.min(), 100 * share.max()
    span = f"{low:.0f} %" if len(own) == 1 else f"{low:.0f} to {high:.0f} %"
    return f"Bought machines are sold at the end of the project for {span} of their price, by their devices' age then."
