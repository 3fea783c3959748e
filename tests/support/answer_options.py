"""Rows of the options of one model, as the answer reads them."""

import numpy as np


def option(title, usd, hours=10.0, images=3.6e6, **more):
    """A row of the options: what a job of `images` images costs; speed and USD an image follow from it."""
    row = {
        "option": title.lower(), "instance": title.lower(), "title": title, "purchase": "on_demand", "price_list": "x",
        "price_list_title": "X", "model": "m", "workload": "w", "usd": usd, "hours": hours, "persistent": True,
        "in_answer": True, "images_per_s": images / hours / 3600, "images_per_usd": images / usd, "month_usd": np.nan,
        "days_per_month": np.nan, "months": np.nan, "energy_usd_per_hour": 0.0, "usd_per_kwh": np.nan,
        "throughput_basis": "published", "price_basis": "published", "stand_in_gpu": None, "stand_in_framework": None,
        "usd_per_hour": usd / hours, "stand_in_batch_size": None, "stand_in_precision": None,
        "kwh": np.nan, "kg_co2e": np.nan, "power_basis": None, "capex_usd": np.nan, "variable_usd_per_hour": np.nan
    }  # fmt: skip
    return row | more


def spot(title, usd, **more):
    return option(title, usd, purchase="spot", persistent=False, **more)
