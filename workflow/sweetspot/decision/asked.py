"""The answer at another use or within a deadline, from the options that the comparison left: by its own functions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sweetspot.bills.owning import usd_per_hour_of_use
from sweetspot.decision.breakeven import break_even
from sweetspot.decision.choice_table import works
from sweetspot.decision.counted import DOLLARS, Money, words_of
from sweetspot.decision.deadlines import deadline_phases
from sweetspot.decision.fits import apart
from sweetspot.decision.headline import found_contenders, headline
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.recommend import recommend
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.decision.verdict import answer_work, verdict_table

if TYPE_CHECKING:
    from sweetspot.decision.plan_of_months import Decided  # lazily: it draws the mixes' modules in

PER_HOUR = ("usd", "usd_low", "usd_high", "usd_per_hour", "usd_per_hour_low", "usd_per_hour_high")
PER_USD = ("images_per_usd", "images_per_usd_low", "images_per_usd_high")
NO_HOURS = pd.DataFrame(columns=["workload", "option", "jobs", "job_hours", "slots"])  # of phases by option
USE = ("days_per_month", "days_per_month_low", "days_per_month_high")


class Asked(NamedTuple):
    """`headline`: as comparison/headline.parquet; `deadlines`: as
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
) -> Asked:
    """The answer on `options` (comparison/options.parquet) with every owned machine used `days` a month.

    With the study's own seed, month and `counts` and no `days` it is the page's. deadlines_hours: who
    finishes each workload within so many hours for the least money.
    """
    rows, _ = apart(readable(options))
    if days is not None:
        rows = at_days(rows, days)
    drawn = simulate(rows, seed)
    found = headline(found_contenders(rows), drawn, break_even(rows, drawn, month_days), counts, money)
    late = [*deadline_phases(rows, drawn, deadlines_hours, money)]
    return Asked(found, recommend(late))


def verdict_anew(
    options: pd.DataFrame,
    draws: Draws,
    settings: Settings,
    model: str | None = None,
    phases: Sequence[PricedPhase] = (),
    months: "Decided | None" = None,
) -> pd.DataFrame:
    """The table `verdict` (`verdict_table`) of `options` as they are asked for, without what to find out first.

    model: that of the headline; phases: those of plans; months: plans of months as decided. Raises UserError.
    """
    decided = months.tables if months else dict.fromkeys(("mixes", "sources"), pd.DataFrame())
    monthly = months.phases if months else ()
    judged = works(options, draws, phases, NO_HOURS, monthly, decided["mixes"], decided["sources"], settings)
    about = answer_work(judged, settings.work, model)
    return verdict_table(judged, about, pd.DataFrame(), {}, words_of(settings.counts, settings.money))


def readable(options: pd.DataFrame) -> pd.DataFrame:
    """`options` as the comparison itself has them: plain objects, and in few blocks (a file gives one a column)."""
    return options.astype(
        {name: object for name in options.columns if pd.api.types.is_string_dtype(options[name])}
    ).copy()


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
