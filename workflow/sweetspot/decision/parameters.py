"""The parameters of a decision: figures of offers and of the work that may change an answer, with their ranges."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sweetspot.bills.rates import moves_ahead, or_zero
from sweetspot.choice_kinds import FACTOR
from sweetspot.decision.decision_problem import ALL_JOBS, ALL_RENT, RENT, SPEED, TARIFF, Choice, Parameter, error_key
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import rent_bounds, value_with_bounds
from sweetspot.throughput.speed_errors import speed_errors
from sweetspot.titles import model_title
from sweetspot.wording import the

ASSUMED_RANGE = 0.20  # either side, where nothing states a range; marked as assumed
PATHS = "price paths"  # basis of the range of a mean rent: its samples
FIGURES_FOR_SALE = {
    "capex_usd": ("price of", "USD"),
    "residual_usd": ("resale value of", "USD"),
    "maintenance_usd_per_month": ("maintenance of", "USD/month"),
    "kw": ("power of", "kW"),
}
FIGURES_IF_OWNED = {"kw": ("power of", "kW"), "sell_for_usd": ("selling price of", "USD")}


def parameters_of(offers: Sequence[Choice], speeds: Sequence[Row], month_days: float) -> list[Parameter]:
    """Return the figures of offers that may change an answer, each with its 90 % range.

    Parameters
    ----------
    offers
        Offers that the choices use.
    speeds
        The rows of the options whose speeds the work has, each once.
    month_days
        Days of a month.

    Returns
    -------
    list of Parameter
        Rents, machines, tariffs, the team's months and days of use, speeds.
    """
    by_use = _groups(offers, [offer.row["purchase"] == "own" for offer in offers])
    owned, rented = by_use.get(True, []), by_use.get(False, [])
    return [*_rents(rented), *_owned(offers, owned, month_days), *_speeds(speeds)]


def _of_offers(figure: str, name: str, unit: str, offers: Sequence[Choice], subject: str | None = None) -> Parameter:
    """Return a figure of all `offers` as a parameter, with value and range of the first one; `subject`: its option."""
    row = offers[0].row
    value, owner = float(row[figure]), row["option"] if subject is None else subject
    return Parameter(figure, owner, name, unit, value, *range_of(row, figure, value), figure, _labels(offers))


def _rents(rented: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield USD/hour of each machine (any number of nodes), a factor of all rents, and the mean of changing ones."""
    for offers in _groups(rented, [offer.alternative for offer in rented]).values():
        offers.sort(key=lambda offer: offer.row["gpus"])
        yield _of_offers(RENT, f"price of {_title(offers[0].row)}", "USD/hour", offers)
    if len(rented) > 1:
        yield all_of("all rented prices", ALL_RENT, RENT, _labels(rented))

    changing = [offer for offer in rented if moves_ahead(offer.row)]
    if changing:
        value = float(changing[0].row["rent_factor"])
        low, _, high = sorted([value, *rent_bounds(changing[0].row)])
        mean = all_of("mean rent over the project", "rent_factor", "rent_factor", _labels(changing))
        yield replace(mean, value=value, low=low, high=high, range_basis=PATHS)


def _owned(offers: Sequence[Choice], owned: Sequence[Choice], month_days: float) -> Iterator[Parameter]:
    """Yield figures of each machine, tariffs of each price list, and months and days of use, equal for all machines."""
    for offer in owned:
        row = offer.row
        for figure, (name, unit) in (FIGURES_IF_OWNED if offer.already_owned else FIGURES_FOR_SALE).items():
            if or_zero(row[figure]) > 0:
                parameter = _of_offers(figure, f"{name} {_title(row)}", unit, [offer])
                if figure == "residual_usd":
                    # No machine is sold for more than it cost; its range moves with the value.
                    price, highest = float(row["capex_usd"]), max(parameter.value, or_zero(row["residual_usd_high"]))
                    maximum = price * parameter.value / highest
                    parameter = replace(parameter, high=min(parameter.high, price), maximum=maximum)
                yield parameter

    billed = [offer for offer in owned if or_zero(offer.row[TARIFF]) > 0]
    lists = _groups(billed, [offer.row["price_list"] for offer in billed])
    for price_list, group in lists.items():
        name = f"electricity price of {group[0].row['price_list_title']}" if len(lists) > 1 else "electricity price"
        yield _of_offers(TARIFF, name, "USD/kWh", group, price_list)

    bought = [offer for offer in owned if not offer.already_owned]
    if bought:
        first = next((offer for offer in bought if offer.row["is_reference"]), bought[0])
        yield _of_offers("months", "length of the project", "months", [first, *offers], "")
        days = _of_offers("days_per_month", "days of use a month", "days/month", [first, *owned], "")
        yield replace(days, high=min(days.high, month_days), maximum=month_days)


def _speeds(rows: Sequence[Row]) -> Iterator[Parameter]:
    """Yield speeds as factors of their baseline (1), one parameter per correlation key, with 90 % ranges."""
    errors = speed_errors(rows)
    for error, group in _groups(rows, [errors[row["row"]] for row in rows]).items():
        row, models = group[0], {row["model"] for row in group}
        value = float(row["images_per_s"])
        if not value > 0:
            continue

        # The error of a prediction is that of its machine, not of its device.
        is_device = isinstance(row.get("gpu"), str) and error[0] != "prediction"
        device = row["gpu"] if is_device else _title(row)
        name = f"{row['figure_gpus']:g} × " if error[0] == "images_per_s" and row["figure_gpus"] > 1 else ""
        name += device + (f" on {model_title(row['model'])}" if len(models) == 1 else "")
        low, high, basis = range_of(row, "images_per_s", value)
        labels = frozenset(row["row"] for row in group)
        speed = all_of(f"speed of {name}", SPEED, "images_per_s", labels)
        yield replace(speed, subject=error_key(error), low=low / value, high=high / value, range_basis=basis)


def all_of(
    name: str, quantity: str = ALL_JOBS, figure: str = ALL_JOBS, rows: frozenset[int] = frozenset()
) -> Parameter:
    """Return a parameter that multiplies all values of a figure (baseline 1); by default the amount of work."""
    bounds = (1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE)
    return Parameter(quantity, "", name, FACTOR, 1.0, *bounds, "assumed", figure, rows)


def _title(row: Row) -> str:
    return the(str(row["title"]))


def _labels(offers: Iterable[Choice]) -> frozenset[int]:
    return frozenset().union(*(offer.labels for offer in offers))


def _groups(items: Iterable[Any], keys: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return the items by their key, in order."""
    groups: dict[Any, list[Any]] = {}
    for item, key in zip(items, keys, strict=True):
        groups.setdefault(key, []).append(item)
    return groups


def range_of(row: Row, figure: str, value: float) -> tuple[float, float, str]:
    """Return low and high (90 %) of a row's figure in its unit, and the basis: declared, interval or assumed."""
    is_speed = figure == "images_per_s"
    basis = "declared" if not is_speed else "assumed" if row["assumed_interval"] else "interval"
    return known_or_assumed(value, *value_with_bounds(row, figure)[1:], basis)


def known_or_assumed(value: float, low: float, high: float, basis: str) -> tuple[float, float, str]:
    """Return low, high and `basis` of a value, or ASSUMED_RANGE either side and 'assumed' where it has no range.

    Parameters
    ----------
    value, low, high
        A value and its 90 % range, in its unit; NaN or equal ends: unknown.
    basis
        Where the range is from.
    """
    if low < high:  # NaN is not below anything.
        return low, high, basis
    return value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"
