"""Claims checked against tables in memory, and a small market to make claims about."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sweetspot.claims.verdicts import check_claims
from sweetspot.study.claims import Claim

OFFER = ["price_list", "instance", "purchase", "provider"]
EMPTY = {
    "options": [*OFFER, "option", "model", "images_per_s", "fits"],
    "offers": OFFER,
    "costs": [*OFFER, "workload", "gpus", "usd"],
    "bills": [*OFFER, "workload", "gpus", "line", "usd"],
    "throughput": ["instance", "model", "images_per_s", "status", "basis"],
    "extrapolation": ["instance", "model", "batch_size", "method"],
    "efficiency": ["model", "batch_size", "basis"],
}

# Instance, purchase, USD an hour, and images/s of `net` and of `big`.
MACHINES = [
    ("box", "own", 1.0, 100.0, 10.0),
    ("alpha", "on_demand", 2.0, 100.0, 20.0),
    ("alpha", "spot", 0.6, 100.0, 20.0),
    ("beta", "spot", 0.4, 50.0, 5.0),
    ("gamma", "on_demand", 5.0, 400.0, 10.0),
    ("delta", "on_demand", 2.0, 100.0, 20.0),  # alpha's twin
]
IMAGES = {"net": 360_000, "big": 36_000}  # of the job: an hour of the box


def option(instance, purchase="on_demand", usd_per_hour=1.0, model="net", images_per_s=100.0, **changes):
    hours = IMAGES[model] / images_per_s / 3600
    return {
        "option": f"{instance} {purchase}", "instance": instance, "purchase": purchase, "provider": "p",
        "price_list": "l", "persistent": purchase != "spot", "model": model, "images_per_s": images_per_s,
        "images_per_usd": 3600 * images_per_s / usd_per_hour, "hours": hours, "usd": hours * usd_per_hour,
        "throughput_basis": "published", "throughput_source": "text, table 1", "fits": None, **changes
    }  # fmt: skip


def offer(instance, purchase="on_demand", usd_per_hour=1.0, **changes):
    return {
        "price_list": "l", "instance": instance, "purchase": purchase, "provider": "p", "usd_per_hour": usd_per_hour,
        "basis": "published", "source": "text, table 2", "capex_usd": None, **changes
    }  # fmt: skip


OPTIONS = [
    option(name, purchase, price, model, speed)
    for name, purchase, price, *speeds in MACHINES
    for model, speed in zip(("net", "big"), speeds, strict=True)
]
OFFERS = [offer(*machine[:3], capex_usd=2400.0 if machine[0] == "box" else None) for machine in MACHINES]


def checked(claims: Sequence[Claim], **tables: Any) -> pd.DataFrame:
    """One row a claim; `tables` by name, as frames or rows. A table that is not given is empty."""
    frames = {name: pd.DataFrame(columns=columns) for name, columns in EMPTY.items()}
    return pd.DataFrame(check_claims(claims, frames | {name: pd.DataFrame(rows) for name, rows in tables.items()}))


def check_one(value: str | None, let: dict[str, dict[str, Any]] | None = None, **changes: Any) -> pd.Series:
    """The row of one claim about the small market, or about the tables of `tables`."""
    tables = changes.pop("tables", {"options": OPTIONS, "offers": OFFERS})
    claim = {"id": "c", "text": "said", "source": "text, page 1", "value": value, "let": let or {}, **changes}
    return checked([Claim.model_validate(claim)], **tables).iloc[0]
