"""The parameters of a decision: figures of offers and of the work that may change an answer, with their ranges."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sweetspot.bills.rates import moves_ahead, or_zero
from sweetspot.choice_kinds import FACTOR
from sweetspot.decision.decision_problem import ALL_JOBS, ALL_RENT, RENT, SPEED, TARIFF, Choice, Parameter, error_key
from sweetspot.decision.options import Row
from sweetspot.decision.simulate import rent_bounds, value_with_bounds
from sweetspot.throughput.speed_errors import Error, speed_errors
from sweetspot.titles import model_title
from sweetspot.wording import the

ASSUMED_RANGE = 0.20  # either side, where nothing states a range; marked as assumed
PATHS = "price paths"  # basis of the range of a mean rent: its samples
MACHINE_FIGURES = {
    "capex_usd": ("price of {box}", "USD"),
    "residual_usd": ("resale value of {box}", "USD"),
    "maintenance_usd_per_month": ("maintenance of {box}", "USD/month"),
    "kw": ("power of {box}", "kW"),
}


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
    owned = [offer for offer in offers if offer.row["purchase"] == "own"]
    return [
        *_rents([offer for offer in offers if offer.row["purchase"] != "own"]),
        *(parameter for offer in owned for parameter in _machine_parameters(offer)),
        *_tariffs(owned),
        *_team_parameters(offers, owned, month_days),
        *_speeds(speeds),
    ]


def _row_parameter(
    row: Row, figure: str, name: str, unit: str, rows: frozenset[int], subject: str | None = None
) -> Parameter:
    """Return a figure of one option row as a parameter with its 90 % range; default `subject`: the row's option."""
    value, subject = float(row[figure]), row["option"] if subject is None else subject
    return Parameter(figure, subject, name, unit, value, *range_of(row, figure, value), figure, rows)


def _rents(rented: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield USD/hour of each machine (any number of nodes), a factor of all rents, and the mean of changing ones."""
    alternatives: dict[str, list[Choice]] = {}
    for offer in rented:
        alternatives.setdefault(offer.alternative, []).append(offer)
    for offers in alternatives.values():
        row = min((offer.row for offer in offers), key=lambda row: row["gpus"])
        yield _row_parameter(row, RENT, f"price of {the(str(row['title']))}", "USD/hour", _labels(offers))
    if len(rented) > 1:
        yield all_of("all rented prices", ALL_RENT, RENT, _labels(rented))
    changing = [offer for offer in rented if moves_ahead(offer.row)]
    if changing:
        value = float(changing[0].row["rent_factor"])
        low, *_, high = sorted([value, *rent_bounds(changing[0].row)])
        name = ("rent_factor", "", "mean rent over the project", FACTOR)
        yield Parameter(*name, value, low, high, PATHS, "rent_factor", _labels(changing))


def _machine_parameters(offer: Choice) -> Iterator[Parameter]:
    row = offer.row
    for figure in ("kw",) if offer.already_owned else MACHINE_FIGURES:
        if not or_zero(row[figure]) > 0:
            continue
        name, unit = MACHINE_FIGURES[figure]
        parameter = _row_parameter(row, figure, name.format(box=the(str(row["title"]))), unit, offer.labels)
        if figure == "residual_usd":
            # No machine is sold for more than it cost; its range moves with the value.
            price, upper, value = (float(row[name]) for name in ("capex_usd", "residual_usd_high", "residual_usd"))
            highest = price * value / upper if upper > value else price
            parameter = replace(parameter, high=min(parameter.high, price), maximum=highest)
        yield parameter


def _tariffs(owned: Sequence[Choice]) -> Iterator[Parameter]:
    """Yield the electricity price in USD/kWh, one parameter per price list, for all its owned machines."""
    by_list: dict[str, list[Choice]] = {}
    for offer in owned:
        if or_zero(offer.row[TARIFF]) > 0:
            by_list.setdefault(offer.row["price_list"], []).append(offer)
    for price_list, offers in by_list.items():
        row = offers[0].row
        name = f"electricity price of {row['price_list_title']}" if len(by_list) > 1 else "electricity price"
        yield _row_parameter(row, TARIFF, name, "USD/kWh", _labels(offers), price_list)


def _team_parameters(offers: Sequence[Choice], owned: Sequence[Choice], month_days: float) -> Iterator[Parameter]:
    """Yield months of the project and days of use per month, equal for all machines; none if nothing is for sale."""
    bought = [offer.row for offer in owned if not offer.already_owned]
    if bought:
        row = next((row for row in bought if row["is_reference"]), bought[0])
        yield _row_parameter(row, "months", "length of the project", "months", _labels(offers), "")
        days = _row_parameter(row, "days_per_month", "days of use a month", "days/month", _labels(owned), "")
        yield replace(days, high=min(days.high, month_days), maximum=month_days)


def _speeds(rows: Sequence[Row]) -> Iterator[Parameter]:
    """Yield speeds as factors of their baseline (1), one parameter per correlation key, with 90 % ranges."""
    errors = speed_errors(rows)
    by_error: dict[Error, list[Row]] = {}
    for row in rows:
        by_error.setdefault(errors[row["row"]], []).append(row)
    for error, group in by_error.items():
        row, models = group[0], {row["model"] for row in group}
        value = float(row["images_per_s"])
        if not value > 0:
            continue
        # The error of a prediction is that of its machine, not of its device.
        is_device = isinstance(row.get("gpu"), str) and error[0] != "prediction"
        device = row["gpu"] if is_device else the(str(row["title"]))
        count = f"{row['figure_gpus']:g} × " if error[0] == "images_per_s" and row["figure_gpus"] > 1 else ""
        model = f" on {model_title(row['model'])}" if len(models) == 1 else ""
        low, high, basis = range_of(row, "images_per_s", value)
        name = (SPEED, error_key(error), f"speed of {count}{device}{model}", FACTOR)
        labels = frozenset(row["row"] for row in group)
        yield Parameter(*name, 1.0, low / value, high / value, basis, "images_per_s", labels)


def all_of(
    name: str, quantity: str = ALL_JOBS, figure: str = ALL_JOBS, rows: frozenset[int] = frozenset()
) -> Parameter:
    """Return a parameter that multiplies all values of a figure (baseline 1); by default the amount of work."""
    bounds = (1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE)
    return Parameter(quantity, "", name, FACTOR, 1.0, *bounds, "assumed", figure, rows)


def _labels(offers: Iterable[Choice]) -> frozenset[int]:
    return frozenset().union(*(offer.labels for offer in offers))


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
