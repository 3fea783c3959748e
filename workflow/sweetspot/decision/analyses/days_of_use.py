"""From how many days of use a month the owned reference pays, against each alternative."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.bills.rates import by_contract
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.simulate import Draws
from sweetspot.draws import interval, p_cheaper

Number = float | np.ndarray
CURVE_SAMPLES = 1000  # A band on a chart needs no more.
CURVE = ("reference", "option", "model", "days", "gain", "gain_low", "gain_high")
COLUMNS = (
    "workload", "model", "reference", "option", "quantity", "break_even_value", "break_even_low", "break_even_high",
    "days", "days_low", "days_high", "gain_at_use", "gain_low", "gain_high", "p_cheaper", "p_pays", "planned",
)  # fmt: skip


class MonthlyCost(NamedTuple):
    """What a machine costs for the work of the owned one: per month, used or not, and per hour of that one's work."""

    fixed_usd: Number
    usd_per_hour: Number

    def at(self, days: Number) -> Number:
        """Return USD for the work of one hour if the owned machine is used on so many days a month."""
        usd: Number = usd_per_hour_of_use(self.fixed_usd, self.usd_per_hour, days)
        return usd


def references(options: pd.DataFrame) -> dict[str, Row]:
    """Return the reference of each model."""
    rows = options[options["is_reference"] & (options["images_per_s"] > 0)].drop_duplicates("model")
    return {row["model"]: row for row in records(rows)}


def break_even(options: pd.DataFrame, draws: Draws, month_days: float) -> pd.DataFrame:
    """Compare the owned reference with every alternative of each model.

    An owned alternative is used on the same days as the reference, and so is a contract, which is due used or not.

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
    pandas.DataFrame
        COLUMNS, a row per model and alternative; empty where the reference is not owned. `days` with `days_low`,
        `days_high` (90 %; null: beyond the month): use from which the reference pays; `gain_at_use`: cost of the
        alternative / cost of the reference at the planned use; `p_cheaper`: share of samples in which the reference
        is cheaper at that use; `p_pays`: in which some use within the month pays.
    """
    rows = [_break_even_row(owned, rival, draws, month_days) for owned, rival in _pairs(options)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def utilisation(options: pd.DataFrame, draws: Draws, month_days: float) -> pd.DataFrame:
    """Return the gain of the owned reference over each alternative by days of use.

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
    pandas.DataFrame
        CURVE, a row per alternative and 1, 2, ... days and the whole month; `gain` above 1: the reference is cheaper,
        with 90 % from the first CURVE_SAMPLES samples.
    """
    days, curves = np.unique([*range(1, int(month_days) + 1), month_days]), []
    for owned, rival in _pairs(options):
        costs = _monthly_costs(owned, rival, draws, slice(CURVE_SAMPLES))
        usd, rival_usd = (np.asarray(cost.at(days[:, None])) for cost in costs)
        gain = rival_usd / usd
        low, high = interval(gain[:, 1:])
        names = {"reference": owned["option"], "option": rival["option"], "model": owned["model"]}
        curves.append(pd.DataFrame(names | {"days": days, "gain": gain[:, 0], "gain_low": low, "gain_high": high}))
    return pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=list(CURVE), dtype=days.dtype)


def break_even_days(owned: MonthlyCost, rival: MonthlyCost, planned: Number) -> np.ndarray:
    """Return the days of use a month from which the owned machine costs no more.

    Where more use favours the rival, the owned machine pays on few days only.

    Parameters
    ----------
    owned, rival
        Their costs for the same work.
    planned
        Days of use as planned.

    Returns
    -------
    numpy.ndarray
        Days; infinity: never; 0: on all days, or on all days up to the planned ones.
    """
    fixed = np.asarray(owned.fixed_usd - rival.fixed_usd)
    saving_per_hour = np.asarray(rival.usd_per_hour - owned.usd_per_hour)
    with np.errstate(divide="ignore", invalid="ignore"):
        days = np.maximum(fixed / (HOURS_A_DAY * saving_per_hour), 0.0)
    pays_as_planned = fixed / (HOURS_A_DAY * planned) <= saving_per_hour
    return np.where(saving_per_hour > 0, days, np.where(pays_as_planned, 0.0, np.inf))


def _pairs(options: pd.DataFrame) -> Iterator[tuple[Row, Row]]:
    """Pair the reference with each alternative, model by model, if it is owned."""
    rows_by_model = trained(options)
    for model, owned in references(options).items():
        if owned["purchase"] == "own":
            rivals = records(rows_by_model[model])
            yield from ((owned, rival) for rival in rivals if not same_machine(rival, owned))


def _break_even_row(owned: Row, rival: Row, draws: Draws, month_days: float) -> dict[str, Any]:
    index, planned = owned["row"], float(owned["days_per_month"])
    all_days = break_even_days(*_monthly_costs(owned, rival, draws), np.append(planned, draws.days[index]))
    bounds = np.array([all_days[0], *interval(all_days[1:])])
    days = np.where(bounds <= month_days, bounds, np.nan).tolist()
    gain = draws.images_per_usd[index] / draws.images_per_usd[rival["row"]]
    gain_low, gain_high = map(float, interval(gain))
    names = ("break_even_value", "break_even_low", "break_even_high", "days", "days_low", "days_high")
    return dict(zip(names, days * 2, strict=True)) | {
        "workload": owned["model"],
        "model": owned["model"],
        "reference": owned["option"],
        "option": rival["option"],
        "quantity": "days_per_month",
        "gain_at_use": float(owned["images_per_usd"] / rival["images_per_usd"]),
        "gain_low": gain_low,
        "gain_high": gain_high,
        "p_cheaper": p_cheaper(np.ones_like(gain), gain),
        "p_pays": float(np.mean(all_days[1:] <= month_days)),
        "planned": planned,
    }


def _monthly_costs(
    owned: Row, rival: Row, draws: Draws, samples: slice = slice(None)
) -> tuple[MonthlyCost, MonthlyCost]:
    """Return the cost of the owned machine and of a rival for its work, as planned and then in the samples.

    A rival that is owned costs its own month, by contract what the months cost that the planned use takes, and rented
    what the work costs per hour.
    """

    def values(row: Row, column: str, name: str) -> np.ndarray:
        return np.append(row[column], getattr(draws, name)[row["row"], samples])

    fixed, variable = ("fixed_usd_per_month", "fixed"), ("variable_usd_per_hour", "variable")
    cost, speed = MonthlyCost(values(owned, *fixed), values(owned, *variable)), values(owned, *("images_per_s",) * 2)
    ratio = speed / values(rival, *("images_per_s",) * 2)
    if by_contract(rival):
        return cost, MonthlyCost(HOURS_A_DAY * owned["days_per_month"] * rival["variable_usd_per_hour"] * ratio, 0.0)
    if rival["purchase"] == "own":
        return cost, MonthlyCost(values(rival, *fixed) * ratio, values(rival, *variable) * ratio)
    return cost, MonthlyCost(0.0, 3600.0 * speed / values(rival, *("images_per_usd",) * 2))
