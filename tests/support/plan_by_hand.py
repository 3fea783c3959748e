"""A plan of months by hand: a box, a rented machine and a spot machine, and its months as a bill."""

from pathlib import Path

import pandas as pd
from sweetspot.use.focus import Machine, machine
from sweetspot.use.plan_months import write_focus

MACHINES: list[Machine] = [
    machine("box", "box", "RTX 4090", 4), machine("x-1", "x-1", "H100", 1), machine("x-8", "x-8", "H100", 8),
]  # fmt: skip


def tables(months: float = 3.0) -> dict[str, pd.DataFrame]:
    """A plan by hand: a box of four, 300 USD a month and 40 for its current; 10 h at 2.50 rented, 5 h at 3 spot."""
    verdict = pd.DataFrame([{"workload": "work", "is_answer": True, "best": "best", "best_title": "A box and X",
                             "months": months}])  # fmt: skip
    usd = {"usd_per_month": 380.0, "usd_per_month_low": 300.0, "usd_per_month_high": 500.0, "usd": 380.0 * months}
    choices = pd.DataFrame([{"workload": "work", "choice": "best", "cost": "dispatch", "months": months} | usd])
    sources = pd.DataFrame([
        {"option": "box", "title": "the box", "kind": "bought", "device_hours": 800.0, "usd_per_month": 340.0,
         "fixed_usd_per_month": 300.0},
        {"option": "rented", "title": "X with 1", "kind": "rented", "device_hours": 10.0, "usd_per_month": 25.0},
        {"option": "rented (spot)", "title": "X with 8", "kind": "rented", "device_hours": 40.0, "usd_per_month": 15.0},
        {"option": "idle", "title": "X with 2", "kind": "rented", "device_hours": 0.0, "usd_per_month": 0.0},
    ]).assign(workload="work", mix="best")  # fmt: skip
    options = pd.DataFrame(
        [("box", "box", "own", "ours", "own", "RTX 4090", 4),
         ("rented", "x-1", "on_demand", "rent", "nebius", "H100", 1),
         ("rented (spot)", "x-8", "spot", "rent", "mine", "H100", 8),
         ("idle", "x-2", "on_demand", "rent", "mine", "A", 2)],
        columns=["option", "instance", "purchase", "price_list", "provider", "gpu", "gpus"])  # fmt: skip
    return {"verdict": verdict, "choices": choices, "sources": sources, "options": options}


def written(folder: Path, months: float = 3.0) -> Path:
    """focus.csv of the plan by hand, of a study of 2026-11-20."""
    for name, table in tables(months).items():
        table.to_parquet(folder / f"{name}.parquet")
    write_focus(folder, "mine", "Mine", "2026-11-20")
    return folder / "focus.csv"
