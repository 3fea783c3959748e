"""Which assumption carries the answer: each from its low to its high, the others fixed."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.certainty import amount
from sweetspot.decision.contest import SHARED, SHARED_IN_A_LIST, Contest, Rival, contests
from sweetspot.decision.counted import DOLLARS, Money
from sweetspot.decision.options import Row, records, trained
from sweetspot.decision.rent_ahead import moves_ahead
from sweetspot.decision.simulate import rent_ends
from sweetspot.decision.titled import rate_of

ASSUMED_RANGE = 0.20  # either side, where the price list gives no range; marked as assumed
PATHS = "price paths"  # range of a rent: its draws
FACTOR = "times today's"  # unit of what is said as a factor of what it is today
FURTHEST = 1000.0  # factor beyond which a flip is not looked for
STEPS = 14  # factors of 1.6, in which a flip of a shared assumption is looked for
COLUMNS = (
    "reference", "rival", "model", "assumption", "unit", "value", "low", "high", "range_basis", "margin", "margin_low",
    "margin_high", "swing", "winner_low", "winner_high", "flips", "flip_value", "flip_factor", "text", "quantity",
    "subject", "model_title",
)  # fmt: skip
OWNED_PARAMETERS = {
    "images_per_s": ("speed of {box}", "images/s"),
    "capex_usd": ("price of {box}", "USD"),
    "months": ("length of the project", "months"),
    "residual_usd": ("resale value of {box}", "USD"),
    "maintenance_usd_per_month": ("maintenance of {box}", "USD/month"),
    "kw": ("power of {box}", "kW"),
    "usd_per_kwh": ("electricity price", "USD/kWh"),
    "days_per_month": ("days of use a month", "days/month"),
}


class Parameter(NamedTuple):
    """One assumption: what it is (`quantity`, a column of the options) and of whom (`subject`, an option; empty: of
    all), its name, unit, value, range, and the (margin, best rival) at any value of it.
    """

    quantity: str
    subject: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    basis: str
    outcome: Callable[[float], tuple[float, str]]
    limit: float  # a value that it cannot exceed
    shared: bool = False  # it may move an owned rival too


def tornado(options: pd.DataFrame, month_days: float, money: Money = DOLLARS) -> pd.DataFrame:
    """One row per (model, assumption), widest swing first.

    `margin` = USD of the cheapest persistent rival / USD of the box (> 1: the box wins), `margin_low`/`margin_high` at
    the assumption's low and high (`range_basis`: declared in the price list, interval of a speed, or assumed),
    (what owned rivals share with the box moves for them too: months, days of use, the electricity of one list),
    `winner_low`, `winner_high`, `flips` (the winner changes within the range), `flip_value` and `flip_factor` where the
    winner changes at all (null: nowhere within a factor of 1000 or the month), `text` in words; `quantity`: what
    is varied, a column of the options, `subject`: the option that it is of, null of all. Empty where the reference is
    not owned.
    """
    rows = []
    base, fields = references(options), trained(options)
    for contest in contests(options):
        model = contest.box.model
        parameters = _parameters(contest, base[model], fields[model], month_days)
        found = [_row(contest, parameter, money) for parameter in parameters]
        # Rounded: where two swing alike (length of the project, days of use), the order must not hang on a last digit.
        rows += sorted(found, key=lambda entry: -round(entry["swing"], 9))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _parameters(contest: Contest, row: Row, field: pd.DataFrame, month_days: float) -> Iterator[Parameter]:
    yield from _owned(contest, row, month_days)
    rival = contest.rivals[0]
    other = records(field[field["option"] == rival.option])[0]
    for figure, name, unit in (("usd_per_hour", "price of", "USD/hour"), ("images_per_s", "speed of", rate_of(other))):
        value = float(other[figure])
        factor = _dearer(value) if figure == "usd_per_hour" else _faster(value)
        outcome = _rival_outcome(contest, (rival.option,), factor)
        whole = figure == "usd_per_hour" and not rival.rented  # its own price is that of the machine
        told = (figure, rival.option, f"{name} {'an hour of ' if whole else ''}{rival.name}", unit)
        yield Parameter(*told, value, *range_of(other, figure, value), outcome, np.inf)
    moving = [one for one in contest.rivals if moves_ahead(one.row)]
    if moving:
        yield _rent_ahead(contest, moving)
    rented = tuple(rival.option for rival in contest.rivals if rival.rented)
    if len(rented) > 1:
        outcome = _rival_outcome(contest, rented, _dearer(1.0))
        ends = (1 - ASSUMED_RANGE, 1 + ASSUMED_RANGE)
        yield Parameter("usd_per_hour", "", "all rented prices", FACTOR, 1.0, *ends, "assumed", outcome, np.inf)


def _rent_ahead(contest: Contest, moving: list[Rival]) -> Parameter:
    """Mean rent of the project over today's: all prices that may move, by the ends of the cheapest of them."""
    value = float(moving[0].row["rent_factor"])
    low, high = rent_ends(moving[0].row)
    outcome = _rival_outcome(contest, tuple(rival.option for rival in moving), _dearer(value))
    told = ("rent_factor", "", "mean rent over the project", FACTOR)
    return Parameter(*told, value, min(low, value), max(high, value), PATHS, outcome, np.inf)


def _owned(contest: Contest, row: Row, month_days: float) -> Iterator[Parameter]:
    """The parameters of the owned machine that are above 0."""
    limits = {"days_per_month": month_days, "residual_usd": float(contest.box.capex_usd)}
    for key, (name, unit) in OWNED_PARAMETERS.items():
        value = float(getattr(contest.box, key))
        if value > 0:
            limit = limits.get(key, np.inf)
            low, high, basis = range_of(row, key, value)
            outcome = _box_outcome(contest, key)
            unit = rate_of(row) if key == "images_per_s" else unit
            yield Parameter(
                key, contest.box.option if "{box}" in name else "", name.format(box=contest.box.name), unit, value,
                low, min(high, limit), basis, outcome, limit, key in (*SHARED, *SHARED_IN_A_LIST),
            )  # fmt: skip


def range_of(row: Row, field: str, value: float) -> tuple[float, float, str]:
    """Low and high of a row's figure, and their basis: declared, an interval, or assumed (20 % either side)."""
    low, high = row.get(f"{field}_low"), row.get(f"{field}_high")
    if low is not None and high is not None and low < high:  # missing: None or NaN, which is not below anything
        measured = field == "images_per_s" and not row["assumed_interval"]
        basis = "interval" if measured else "assumed" if field == "images_per_s" else "declared"
        return float(low), float(high), basis
    return value * (1 - ASSUMED_RANGE), value * (1 + ASSUMED_RANGE), "assumed"


def _dearer(value: float) -> Callable[[float], float]:
    return lambda price: price / value


def _faster(value: float) -> Callable[[float], float]:
    return lambda rate: value / rate


def _box_outcome(contest: Contest, field: str) -> Callable[[float], tuple[float, str]]:
    return lambda value: contest.margin_at(**{field: value})


def _rival_outcome(
    contest: Contest, names: tuple[str, ...], factor: Callable[[float], float]
) -> Callable[[float], tuple[float, str]]:
    return lambda value: contest.margin_if({name: factor(value) for name in names})


def _row(contest: Contest, parameter: Parameter, money: Money) -> dict[str, Any]:
    box = contest.box.option
    margin, rival = parameter.outcome(parameter.value)
    (at_low, rival_low), (at_high, rival_high) = parameter.outcome(parameter.low), parameter.outcome(parameter.high)
    flip = _flip(parameter)
    flips = (at_low > 1) != (at_high > 1)
    return {
        "reference": box,
        "rival": rival,
        "model": contest.box.model,
        "model_title": contest.rivals[0].row.get("model_title") or contest.box.model,
        **{name: getattr(parameter, name) for name in ("quantity", "unit", "value", "low", "high")},
        "subject": parameter.subject or None,
        "assumption": parameter.name,
        "range_basis": parameter.basis,
        "margin": margin,
        "margin_low": at_low,
        "margin_high": at_high,
        "swing": abs(at_high - at_low),
        "winner_low": box if at_low > 1 else rival_low,
        "winner_high": box if at_high > 1 else rival_high,
        "flips": flips,
        "flip_value": flip,
        "flip_factor": flip / parameter.value,
        "text": _words(parameter, flip, flips, money),
    }


def _flip(parameter: Parameter) -> float:
    """The value at which the margin is 1, the nearest one below the value, else above; NaN where there is none.

    The margin only falls or only rises, but where an owned rival shares the assumption: its ends are then stepped to.
    """

    def excess(log_factor: float) -> float:
        margin = parameter.outcome(parameter.value * np.exp(log_factor))[0]
        return float(np.log(margin)) if margin > 0 else -np.inf

    centre = excess(0.0)
    furthest = np.log(min(FURTHEST, parameter.limit / parameter.value))
    for end in (-np.log(FURTHEST), furthest):
        inner = 0.0
        for outer in np.linspace(0.0, end, STEPS + 1 if parameter.shared else 2)[1:]:
            if (excess(outer) > 0) != (centre > 0):
                return float(parameter.value * np.exp(_bisect(excess, inner, outer)))
            inner = outer
    return float("nan")


def _bisect(excess: Callable[[float], float], inner: float, outer: float) -> float:
    """A root between two arguments of opposite sign, to 1e-9 of a factor.

    By hand: importing scipy.optimize takes a third of a second, a tenth of what a price edit may cost.
    """
    side = excess(inner) > 0
    while abs(outer - inner) > 1e-9:
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if (excess(middle) > 0) == side else (inner, middle)
    return (inner + outer) / 2


def _words(parameter: Parameter, flip: float, flips: bool, money: Money) -> str:
    if np.isnan(flip):
        return "no value of it changes the winner"
    change = flip / parameter.value - 1
    value, unit = money.counted(flip, parameter.unit)
    moved = f"the winner changes at {amount(value)} {unit} ({100 * change:+.0f} %)"
    return moved + (", inside its range" if flips else ", outside its range")
