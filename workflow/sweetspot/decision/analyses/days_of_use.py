"""Days of use per month from which the owned reference is cheaper than each alternative."""

from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import by_contract
from sweetspot.decision.options import Row, records, trained
from sweetspot.decision.simulate import Draws
from sweetspot.draws import interval, p_cheaper

DAYS = ("break_even_value", "break_even_low", "break_even_high", "days", "days_low", "days_high")


def references(options: pd.DataFrame) -> dict[str, Row]:
    """Return the option row of the reference, by model; models without a reference are left out."""
    rows = options[options["is_reference"] & (options["images_per_s"] > 0)].drop_duplicates("model")
    return {row["model"]: row for row in records(rows)}


def break_even_rows(options: pd.DataFrame, draws: Draws, month_days: float) -> list[dict[str, Any]]:
    """Return the days of use from which the owned reference is cheaper, for every alternative of each model.

    An owned alternative is used on the same days as the reference, and so is a contract, paid whether used or not.

    Parameters
    ----------
    options
        The table of options.
    draws
        Their samples.
    month_days
        Days of a month.

    Returns
    -------
    list of dict
        Rows of the table `break_even`, one per model and alternative; none where the reference is not owned. `days`
        and `break_even_value`, with 90 % of the samples (NaN: beyond the month): use from which the reference is
        cheaper; `gain_at_use`: cost of the alternative / cost of the reference at the planned use; `p_cheaper`: share
        of samples in which the reference is cheaper at that use; `p_pays`: in which some use within the month pays.
    """
    rows_by_model, table = trained(options), []
    owned_rows = {model: row for model, row in references(options).items() if row["purchase"] == "own"}
    for model, owned in owned_rows.items():
        planned = np.append(owned["days_per_month"], draws.days[owned["row"]])
        for rival in records(rows_by_model[model]):
            if (rival["instance"], rival["purchase"]) == (owned["instance"], "own"):
                continue

            days = break_even_days(*_cost_differences(owned, rival, draws), planned)
            bounds = np.array([days[0], *interval(days[1:])])
            bounds[bounds > month_days] = np.nan
            gain = draws.images_per_usd[owned["row"]] / draws.images_per_usd[rival["row"]]
            gain_low, gain_high = map(float, interval(gain))
            table.append(
                dict(zip(DAYS, [*bounds, *bounds], strict=True))
                | {
                    "workload": model,
                    "model": model,
                    "reference": owned["option"],
                    "option": rival["option"],
                    "quantity": "days_per_month",
                    "gain_at_use": owned["images_per_usd"] / rival["images_per_usd"],
                    "gain_low": gain_low,
                    "gain_high": gain_high,
                    "p_cheaper": p_cheaper(np.ones_like(gain), gain),
                    "p_pays": np.mean(days[1:] <= month_days),
                    "planned": planned[0],
                }
            )
    return table


def break_even_days(extra_usd: np.ndarray, saving_per_hour: np.ndarray, planned: np.ndarray) -> np.ndarray:
    """Return the days of use per month from which the owned machine costs no more than the rival.

    Parameters
    ----------
    extra_usd
        USD that the owned machine costs more per month, used or not.
    saving_per_hour
        USD by which an hour of the owned machine's work is cheaper.
    planned
        Days of use as planned.

    Returns
    -------
    numpy.ndarray
        Days; infinity: never; 0: on all days, or on all days up to the planned ones.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        days = np.maximum(extra_usd / (HOURS_A_DAY * saving_per_hour), 0.0)
    pays_as_planned = extra_usd / (HOURS_A_DAY * planned) <= saving_per_hour
    return np.where(saving_per_hour > 0, days, np.where(pays_as_planned, 0.0, np.inf))


def _cost_differences(owned: Row, rival: Row, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Return USD more per month and USD less per hour of an owned machine's work: first as planned, then by sample.

    An owned rival costs its own USD per month, a contract the months that the planned use takes, and a rented one
    USD per hour of the work.
    """

    def values(column: str, samples: np.ndarray) -> list[np.ndarray]:
        return [np.append(row[column], samples[row["row"]]) for row in (owned, rival)]

    fixed, rival_fixed = values("fixed_usd_per_month", draws.fixed)
    variable, rival_variable = values("variable_usd_per_hour", draws.variable)
    speed, rival_speed = values("images_per_s", draws.images_per_s)
    _, images_per_usd = values("images_per_usd", draws.images_per_usd)
    ratio = speed / rival_speed
    if by_contract(rival):
        hours = HOURS_A_DAY * owned["days_per_month"]
        return fixed - hours * rival["variable_usd_per_hour"] * ratio, -variable
    if rival["purchase"] == "own":
        return fixed - rival_fixed * ratio, rival_variable * ratio - variable
    return fixed, 3600.0 * speed / images_per_usd - variable
