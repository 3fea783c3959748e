"""The answer at another use or within a deadline, from the options that the comparison left: by its own functions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.decision.breakeven import break_even
from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.deadlines import deadline_phases
from sweetspot.decision.fits import apart
from sweetspot.decision.headline import found_contenders, headline
from sweetspot.decision.recommend import recommend
from sweetspot.decision.simulate import simulate
from sweetspot.decision.tornado import tornado

PER_HOUR = ("usd", "usd_low", "usd_high", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high")
PER_USD = ("images_per_usd", "images_per_usd_low", "images_per_usd_high")
USE = ("days_per_month", "days_per_month_low", "days_per_month_high")


class Asked(NamedTuple):
    """`headline`: as comparison/headline.parquet, without what rests on others' figures; `deadlines`: as
    comparison/recommendation.parquet, a row a workload and deadline.
    """

    headline: pd.DataFrame
    deadlines: pd.DataFrame


def ask(
    options: pd.DataFrame,
    seed: int,
    month_days: float,
    counts: str,
    days: float | None = None,
    deadlines_hours: Sequence[float] = (),
    money: Money = DOLLARS,
    told_deadlines: Sequence[float] = (),
) -> Asked:
    """The answer on `options` (comparison/options.parquet) with every owned machine used `days` a month.

    With the study's own seed, month and `counts` and no `days` it is the page's, word for word. deadlines_hours: who
    finishes each workload within so many hours for the least money.
    told_deadlines: those of the study, of which its answer speaks.
    """
    rows, _ = apart(options)
    # Read one by one: plain objects, as the comparison itself has them, and in few blocks (a file gives one a column).
    rows = rows.astype({name: object for name in rows.columns if pd.api.types.is_string_dtype(rows[name])}).copy()
    if days is not None:
        rows = at_days(rows, days)
    drawn = simulate(rows, seed)
    moved = tornado(rows, month_days, money)
    told: dict[str, Any] = {"tornado": moved, "deadlines_hours": told_deadlines, "money": money}
    found = headline(found_contenders(rows), drawn, break_even(rows, drawn, month_days), counts, **told)
    late = [*deadline_phases(rows, drawn, deadlines_hours, money)]
    return Asked(found, recommend(late, moved, money))


def at_days(options: pd.DataFrame, days: float) -> pd.DataFrame:
    """`options` with owned machines used exactly `days` a month: their hour bears its share of the month anew.

    USD of a workload follow its hour: an owned machine's bill is hours x the price of an hour.
    """
    own = options["purchase"] == "own"
    hour = usd_per_hour_of_use(options["fixed_usd_per_month"], options["variable_usd_per_hour"], days)
    dearer = (hour / options["usd_per_hour"]).where(own, 1.0)
    changed = {name: options[name] * dearer for name in PER_HOUR if name in options.columns}
    changed |= {name: options[name] / dearer for name in PER_USD if name in options.columns}
    changed |= {name: options[name].where(~own, days) for name in USE if name in options.columns}
    moved = options.assign(**changed).sort_values(["model", "workload", "usd", "option"], kind="stable")
    return moved.reset_index(drop=True)
