"""The figures of a plan by name, of months or of phases: what each is called, its value, unit and range."""

from collections.abc import Mapping, Sequence

import numpy as np

from sweetspot.decision.counted import the
from sweetspot.decision.options import Row
from sweetspot.decision.plan_rows import Change, Lever
from sweetspot.decision.simulate import Number, or_zero, possession, sold_for
from sweetspot.decision.tornado import ASSUMED_RANGE, FACTOR, OWNED_PARAMETERS, range_of
from sweetspot.mixes.problem import Array
from sweetspot.study.titles import model_title

OF_THE_MONTH = ("capex_usd", "residual_usd", "maintenance_usd_per_month", "months")  # of a machine for sale
JOBS, SPEED, RENT, TARIFF, ALL_JOBS, ALL_RENT = "per_month", "speed", "usd_per_hour", "usd_per_kwh", "jobs", "rents"
Known = Mapping[tuple[str, int], Array]  # draws of an offer's figure by its name and the row of the options


def share_of_today(quantity: str, name: str, changed: Change) -> Lever[Change]:
    """What is said as a factor of today's."""
    return Lever(quantity, "", name, FACTOR, 1.0, 1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE, "assumed", changed)


def rent(row: Row, title: str, changed: Change) -> Lever[Change]:
    """The price of an hour of an offer."""
    value = float(row[RENT])
    return Lever(RENT, row["option"], f"price of {the(title)}", "USD/hour", value, *range_of(row, RENT, value), changed)


def owned(row: Row, name: str, title: str, month_days: float, changed: Change) -> Lever[Change] | None:
    """A figure of a machine that is owned, a key of OWNED_PARAMETERS; None where it is nothing."""
    value = or_zero(row[name])
    if not value > 0:
        return None
    said, unit = OWNED_PARAMETERS[name]
    said = "months that the purchase of {box} is spread over" if name == "months" else said
    said = f"{said} of {{box}}" if name == "days_per_month" else said
    most = {"days_per_month": month_days, "residual_usd": float(row["capex_usd"])}.get(name, np.inf)
    low, high, basis = range_of(row, name, value)
    return Lever(
        name, row["option"], said.format(box=the(title)), unit, value, low, min(high, most), basis, changed, most
    )


def tariff(row: Row, several: bool, changed: Change) -> Lever[Change]:
    """The price of electricity, of all machines of the row's price list; `several`: not that of all lists."""
    said, unit = OWNED_PARAMETERS[TARIFF]
    told = f"{said} of {row['price_list_title']}" if several else said
    value = float(row[TARIFF])
    return Lever(TARIFF, row["price_list"], told, unit, value, *range_of(row, TARIFF, value), changed)


def speed(error: tuple[object, ...], rows: Sequence[Row], changed: Change) -> Lever[Change] | None:
    """The speeds of rows, which are off together (`speed_error`), as a factor; None where there are none."""
    first, models = rows[0], list(dict.fromkeys(row["model"] for row in rows))
    value = float(first["images_per_s"])
    if not value > 0:
        return None
    # A prediction is off by its machine.
    known = isinstance(first.get("gpu"), str) and error[0] != "prediction"
    device = first["gpu"] if known else the(str(first["title"]))
    several = f"{first['figure_gpus']:g} × " if error[0] == "images_per_s" and first["figure_gpus"] > 1 else ""
    on = f" on {model_title(models[0])}" if len(models) == 1 else ""
    low, high, basis = range_of(first, "images_per_s", value)
    name = f"speed of {several}{device}{on}"
    return Lever(SPEED, error_key(error), name, FACTOR, 1.0, low / value, high / value, basis, changed)


def error_key(error: tuple[object, ...]) -> str:
    """An error of speeds as a key of the tables."""
    return "|".join(map(str, error))


def month_at(row: Row, factors: Mapping[str, float], known: Known | None = None) -> Number:
    """USD a month of possession (`possession`) with figures at factors of what they are; `known`: in each draw."""

    def drawn(name: str) -> Number:
        return (known or {}).get((name, row["row"]), or_zero(row[name])) * factors.get(name, 1.0)

    months, capex = drawn("months"), drawn("capex_usd")
    resale = sold_for(row, capex, drawn("residual_usd"), months)
    care = or_zero(row["maintenance_usd_per_month"]) * factors.get("maintenance_usd_per_month", 1.0)
    return possession(row | {"maintenance_usd_per_month": care}, capex, months, resale)
