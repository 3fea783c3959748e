"""What renting for some months and then buying costs: USD of a plan, at central figures and in every draw."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.price_paths import central_change, mean_factor
from sweetspot.bills.renting import ROUNDING
from sweetspot.decision.cost_rounds import POSSESSION, TOTAL, by_use, planned_rows
from sweetspot.decision.options import OFFER, Row
from sweetspot.decision.rates import Number, month_of, or_zero, sold_for
from sweetspot.decision.rent_ahead import moves_ahead
from sweetspot.decision.simulate import LEVEL_RANGE, Draws, spread, stream

YEAR = 12.0


class Plan(NamedTuple):
    """A plan by its name: `months` of work spread evenly, and after how many of them a machine may be bought."""

    name: str
    months: float
    after: tuple[float, ...]


class Side(NamedTuple):
    """One option of a plan: its row of the options; `hours`, `running` (USD by use) and `held` (USD by the month) of
    all its months; factors that a draw puts on the one and the other; machines; months of its contract (NaN: none).
    """

    row: Row
    title: str
    hours: float
    running: float
    held: float
    drawn: np.ndarray
    dearer: np.ndarray
    machines: float
    term: float

    @property
    def usd(self) -> float:
        """USD of all months, of what is rented."""
        return self.running + self.held


class Way(NamedTuple):
    """One way through the plan: rent `until` for `after` months, then buy `box`; `status`: why it is not reckoned."""

    after: float
    option: str
    title: str
    box: Side | None
    until: Side | None
    hours: float = np.nan
    usd: float = np.nan
    drawn: np.ndarray = np.empty(0)
    box_usd: float = np.nan
    box_drawn: np.ndarray = np.empty(0)
    rent_usd: float = 0.0
    status: str = ""


def sides(plan: Plan, priced: pd.DataFrame, options: pd.DataFrame, draws: Draws, offers: pd.DataFrame) -> list[Side]:
    """The options of the plan that stay, of those that the answer may take."""
    asked = options[options["in_answer"].astype(bool) & options["persistent"].astype(bool)]
    rows = planned_rows(asked, priced[priced["plan"] == plan.name] if len(priced) else priced)
    if rows.empty:
        return []
    held = rows[rows["phase"] == POSSESSION].set_index("option")
    terms = offers.drop_duplicates(list(OFFER)).set_index(list(OFFER))["term_months"]
    found = []
    for total in rows[rows["phase"] == TOTAL].to_dict("records"):
        place, name = total["index"], total["option"]
        row = {"row": place, **options.loc[place].to_dict()}
        fixed = float(held["usd"].get(name, 0.0))
        count = float(held["machines"].get(name, 1.0)) if row["purchase"] == "own" else 1.0
        title = f"{count:g} × {row['title']}" if count > 1 else str(row["title"])
        slower, dearer = (factor[0] for factor in by_use(asked.loc[[place]], draws, np.array([place])))
        term = float(terms[tuple(row[key] for key in OFFER)])
        found.append(
            Side(row, title, total["hours"], total["usd"] - fixed, fixed, slower * dearer, dearer, count, term)
        )
    return found


def at_once(plan: Plan, box: Side, draws: Draws, seed: int) -> Way:
    """The machine bought on the first day and sold on the last."""
    months, name = float(box.row["months"]), str(box.row["option"])
    if months != plan.months:
        reason = f"is used for {months:g} months, the plan has {plan.months:g}"
        return Way(0.0, name, box.title, box, None, status=reason)
    return _way(plan, box, None, 0.0, draws, seed)


def rent_then_buy(
    plan: Plan, box: Side, rented: Sequence[Side], after: float, draws: Draws, seed: int
) -> Iterator[Way]:
    """Rent what is cheapest for `after` months, at central figures, then buy; nothing where nothing can be rented."""
    usd = {place: sum(_rent(plan, side, after)) for place, side in enumerate(rented)}
    if usd and np.isfinite(min(usd.values())):
        yield _way(plan, box, rented[min(usd, key=lambda place: usd[place])], after, draws, seed)


def never(plan: Plan, rented: Sequence[Side]) -> Iterator[Way]:
    """What is cheapest to rent for all months."""
    if rented:
        one = min(rented, key=lambda side: (side.usd, side.row["option"]))
        drawn = one.running * one.drawn + one.held * one.dearer
        yield Way(plan.months, str(one.row["option"]), one.title, None, one, one.hours, one.usd, drawn,
                  rent_usd=one.usd)  # fmt: skip


def _way(plan: Plan, box: Side, until: Side | None, after: float, draws: Draws, seed: int) -> Way:
    share = after / plan.months
    rent = 0.0 if until is None else sum(_rent(plan, until, after))
    rent_drawn = 0.0 if until is None else _rent_drawn(plan, until, after, draws)
    hours = box.hours * (1.0 - share) + (0.0 if until is None else until.hours * share)
    price, kept = _bought(plan, box, after)
    usd = rent + kept + box.running * (1.0 - share)
    price_drawn, kept_drawn = (box.machines * part for part in bought_drawn(plan, box.row, after, draws, seed))
    drawn = rent_drawn + kept_drawn + box.running * (1.0 - share) * box.drawn
    name, title = str(box.row["option"]), box.title
    if until is not None:
        name, title = f"{name} after {after:g} months", f"{title} in {after:g} months, {until.title} until then"
    return Way(after, name, title, box, until, hours, usd, drawn, price, price_drawn, rent)


def _rent(plan: Plan, side: Side, after: float) -> tuple[float, float]:
    """USD of renting for the first months, by use and by contract: the plan's rent spread evenly over its months.

    By the hour each month has its own central price. A contract is signed for whole terms or not at all (infinite).
    """
    running = side.running * after / plan.months
    if np.isnan(side.term):
        change = central_change(side.row)
        return running * float(mean_factor(change, after) / mean_factor(change, plan.months)), 0.0
    terms = np.ceil(plan.months / side.term - ROUNDING) * side.term
    whole = abs(after / side.term - round(after / side.term)) < ROUNDING
    return running, float(side.held * after / terms) if whole else np.inf


def _rent_drawn(plan: Plan, side: Side, after: float, draws: Draws) -> np.ndarray:
    """The same in every draw; where the price moves, by its path of the first months."""
    central, held = _rent(plan, side, after)
    running: Number = central
    if draws.rents is not None and moves_ahead(side.row):
        running = side.running * after / plan.months * draws.rents.until(side.row, after)
    drawn: np.ndarray = running * side.drawn + held * side.dearer
    return drawn


def _bought(plan: Plan, box: Side, after: float) -> tuple[float, float]:
    """Price of the machines when they are bought, and what having them to the end of the plan costs."""
    row = box.row
    growth = 1.0 + or_zero(row.get("capex_change"))
    price, kept = _held(plan, row, after, row["capex_usd"], row["residual_usd"], growth)
    return float(price) * box.machines, float(kept) * box.machines


def bought_drawn(plan: Plan, row: Row, after: float, draws: Draws, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """In every draw: price of one machine when it is bought, and USD of having it to the end of the plan."""
    count = draws.usd.shape[1]
    capex, residual = (np.broadcast_to(_figure(draws, row, name), count) for name in ("capex_usd", "residual_usd"))
    change, low, high = (1.0 + or_zero(row.get(f"capex_change{end}")) for end in ("", "_low", "_high"))
    # One market of machines: what makes one dearer in a year makes the others so.
    noise = stream(seed, "price of machines").standard_normal((count,))
    growth: np.ndarray = spread(change, low, high, LEVEL_RANGE, noise)
    price, kept = _held(plan, row, after, capex, residual, growth)
    return np.asarray(price), np.asarray(kept)


def _held(plan: Plan, row: Row, after: float, capex: Number, residual: Number, growth: Number) -> tuple[Number, Number]:
    """Price of one machine bought after some months, and USD of having it from then to the end of the plan.

    On the last day it is worth what one bought at once would be: it is as old. Never more than was paid for it.
    """
    price = capex * growth ** (after / YEAR)
    sold = np.minimum(sold_for(row, capex, residual, plan.months), price)
    left = plan.months - after
    return price, month_of(row, price, left, sold) * left


def _figure(draws: Draws, row: Row, name: str) -> Any:
    """A figure of the row by draw; its central value where it does not vary."""
    return next((one.values for one in draws.figures if one.name == name and row["row"] in one.rows), row[name])
