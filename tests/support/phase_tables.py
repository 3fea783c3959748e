"""Choices of a plan of phases by hand, as comparison/choices has them: an owned box, rented machines, one spot."""

import pandas as pd
from sweetspot.choice_kinds import FACTOR
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
    best, rival = kept.index[0], kept.index[1] if len(kept) > 1 else None
    ratio = table["usd"] / table["usd"][best]
    table = table.assign(
        is_best=table.index == best, is_rival=table.index == rival, ratio=ratio, ratio_low=0.6 * ratio,
        ratio_high=1.5 * ratio, p_cheapest=None, p_cheaper=1 - probability, why_not=None
    )  # fmt: skip
    table.loc[~table["persistent"], "why_not"] = "interruptible"
    table.loc[best, "p_cheapest"] = probability
    return table.reindex(columns=columns_of("choices")).astype({"p_cheapest": float, "p_cheaper": float})


def phase_tables(*rows, **sure):
    """Those choices by the name of their table; of a box, three rented ones where none are given."""
    return {"choices": plan_choices(*(rows or (box(), *CLOUDS)), **sure)}


def hanging_tables():
    """What that plan hangs on: the rival's price, which turns it far off; how much work there is; what to find out."""
    about = {"workload": "project", "model": None, "assumption": "price of Cloud with 1 V100",
             "quantity": "usd_per_hour", "subject": CLOUD, "unit": "USD/hour", "value": 2.86}  # fmt: skip
    ends = {"low": 2.0, "high": 4.0, "margin": 4.0, "margin_low": 2.8, "margin_high": 5.6,
            "range_basis": "assumed", "winner_low": TITLES[BOX], "winner_high": TITLES[BOX], "text": "far off",
            "usd": 8000.0, "usd_per_month": 8000 / 30}  # fmt: skip
    work = about | {"assumption": "amount of work", "quantity": "jobs", "subject": None, "unit": FACTOR, "value": 1.0}
    point = {"side": "below", "turning_value": 0.72, "factor": 0.25, "to_title": TITLES[CLOUD], "text": "",
             "usd": 8000.0, "usd_per_month": 8000 / 30}  # fmt: skip
    pays = {"workload": "project", "model": None, "title": TITLES[BOX], "reference": BOX, "quantity": "jobs",
            "assumption": "the work", "unit": "hours of work", "planned": 7000.0, "break_even_value": 1700.0,
            "break_even_low": 0.0, "break_even_high": None, "p_pays": 0.99, "factor": 1700 / 7000,
            "pays_until": None}  # fmt: skip
    days = pays | {"quantity": "days_per_month", "assumption": "days of use a month", "unit": "days/month",
                   "planned": 10.0, "break_even_value": 2.5, "factor": 0.25}  # fmt: skip
    worth = about | {"figure": "price of Cloud with 1 V100", "title": TITLES[CLOUD], "evppi_usd": 40.0,
                     "evppi_usd_low": 30.0, "evppi_usd_high": 50.0, "cost_to_learn_usd": None,
                     "learn_on_title": None, "turning_point": 0.72, "rests_on_it": 1}  # fmt: skip
    made = {"tornado": [about | ends, work | ends | {"low": 0.8, "high": 1.2}],
            "turning_points": [
                about | point | {"condition": "price of Cloud with 1 V100 below 0.72 USD an hour"},
                work | point | {"factor": 0.2, "condition": "amount of work 80 % lower than planned"}
            ],
            "break_even": [days, pays], "worth_knowing": [worth]}  # fmt: skip
    return {name: pd.DataFrame(rows) for name, rows in made.items()}
