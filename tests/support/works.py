"""Works of a few choices and draws, for what is made of them."""

import numpy as np
import pandas as pd
from sweetspot.choice_kinds import BUY, CONTRACT, KEEP, MIX, RENT
from sweetspot.decision.verdict import NOTHING, PricedWork

BINDS = {KEEP: NOTHING, RENT: NOTHING, CONTRACT: CONTRACT, BUY: BUY, MIX: BUY}


def work(*choices, name="plan", months=36.0, today=None, **more):
    """A work of choices (key, kind, draws of its USD[, facts]), cheapest first; the first draw is the central one."""
    today = today or {}
    rows = [
        {"choice": key, "alternative": key, "kind": kind, "commitment": BINDS[kind], "title": key.title(),
         "instance": key, "box_title": f"office {key}", "price_list": "list", "usd": float(usd[0]), "stands": True,
         "why_not": None, "month_usd": np.nan, "usd_at_todays_prices": float(today.get(key, usd)[0]),
         "usd_per_capex": 0.0, "capex_usd": np.nan, "capex_usd_low": np.nan, "capex_usd_high": np.nan,
         **(facts[0] if facts else {})}
        for key, kind, usd, *facts in choices
    ]  # fmt: skip
    drawn = np.array([usd for _, _, usd, *_ in choices], float)
    now = np.array([today.get(key, usd) for key, _, usd, *_ in choices], float)
    return PricedWork(name, name, months, pd.DataFrame(rows), drawn, now, **more)
