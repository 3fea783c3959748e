"""Choices of a plan of phases by hand, as comparison/choices has them: an owned box, rented machines, one spot."""

import pandas as pd
from sweetspot.declared_tables import columns_of

BOX, CLOUD, QUICK, SPOT = "box (own)", "cloud", "quick", "cloud (spot)"
TITLES = {BOX: "office box with 4 GTX", CLOUD: "Cloud with 1 V100", QUICK: "Cloud with 8 V100",
          SPOT: "Cloud with 1 V100 (spot)"}  # fmt: skip


def option(name, usd, hours, **more):
    """One option for all phases; rented, unless `more` says otherwise."""
    row = {"workload": "project", "workload_title": "project", "choice": name, "alternative": name, "kind": "rent",
           "commitment": "nothing", "instance": name.split(" ")[0], "purchase": "on_demand", "price_list": "list",
           "title": TITLES.get(name, name), "persistent": True, "counts": 1.0, "hours": hours, "usd": usd,
           "usd_low": 0.8 * usd, "usd_high": 1.25 * usd, "cost": "rounds", "months": 30.0, "model": "vgg16",
           "in_hand": True, "usd_per_month": usd / 30}  # fmt: skip
    return row | more


def box(usd=8000.0, hours=7000.0, **more):
    """The owned box: of 8,000 USD 6,500 are due however little it works."""
    own = {"purchase": "own", "kind": "buy", "commitment": "buy", "planned_hours": 7200.0}  # fmt: skip
    return option(BOX, usd, hours, **{**own, **more})


CLOUDS = (option(SPOT, 12_000.0, 1300.0, purchase="spot", persistent=False), option(CLOUD, 32_000.0, 1300.0),
          option(QUICK, 40_000.0, 200.0))  # fmt: skip


def plan_choices(*rows, probability=0.97):
    """The choices of these options, cheapest first: the cheapest persistent one is the best, the next its rival."""
    table = pd.DataFrame(list(rows)).sort_values("usd", kind="stable").reset_index(drop=True)
    kept = table[table["persistent"]] if table["persistent"].any() else table
    best = kept.index[0]
    ratio = table["usd"] / table["usd"][best]
    table = table.assign(
        is_best=table.index == best, ratio=ratio, ratio_low=0.6 * ratio,
        ratio_high=1.5 * ratio, p_cheapest=None, p_cheaper=1 - probability, why_not=None
    )  # fmt: skip
    table.loc[~table["persistent"], "why_not"] = "interruptible"
    table.loc[best, "p_cheapest"] = probability
    return table.reindex(columns=columns_of("choices")).astype({"p_cheapest": float, "p_cheaper": float})
