"""One job by model, machine against machine: who is compared, by how much, how sure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.counted import DOLLARS, Money, confidence
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import p_cheaper

PROPORTION = 1.05  # bills that leave USD per image by more than this decide by themselves


@dataclass(frozen=True)
class Contenders:
    """Rows of the options of one model, of those that the answer may take (`in_answer`).

    reference: the study's, else the cheapest that stays. alternative: the cheapest other machine or way of paying that
    stays; where none stays but the reference, the cheapest that can be taken away; None where there is no other.
    cheapest: the cheaper of the two. by_hour: where `cheapest` is paid by the month, the cheapest that is not.
    of_all: the cheapest, whether or not it can be taken away. fastest: by hours, of those that stay. every: all, the
    cheapest first.
    least_carbon: of those that stay, the one of least kg CO2e; None where no carbon is known.
    billed: bills decide, not USD per image. place: of the reference among the `machines` by hours.
    """

    reference: Row
    alternative: Row | None
    cheapest: Row
    by_hour: Row | None
    of_all: Row
    fastest: Row
    least_carbon: Row | None
    every: tuple[Row, ...]
    billed: bool
    place: int
    machines: int

    @property
    def rented(self) -> Row | None:
        """The cheapest rented option, of those that stay where one does; None where nothing is rented."""
        hired = [row for row in self.every if row["purchase"] != "own"]
        return next((row for row in hired if row["persistent"]), hired[0] if hired else None)

    def named(self) -> list[Row]:
        """The options that the first screen names, each once."""
        told = (
            self.reference, self.alternative, self.cheapest, self.by_hour, self.of_all, self.fastest, self.least_carbon,
        )  # fmt: skip
        return list({row["option"]: row for row in told if row is not None}.values())


def contenders(rows: pd.DataFrame, own: Row | None) -> Contenders | None:
    """Those of a model's options (`trained`); `own`: the study's reference, if any. None: nothing to choose from."""
    inside = rows[rows["in_answer"].astype(bool)]
    kept = inside[inside["persistent"].astype(bool)]
    pool = kept if len(kept) else inside
    if pool.empty:
        return None
    # Whole hours, fees and minimum sums: then the bill of the workload decides, not the hourly price.
    billed = bills_decide(pool)
    ordered, every = (_by_cost(table, billed) for table in (pool, inside))
    box = ordered[0] if own is None else own
    alternative = _first_other(ordered, box) or _first_other(every, box)
    # Where nothing else stays, the box is compared with what does not, and yet is the cheapest that stays.
    cheapest = box if alternative is None or cost(box, billed) <= cost(alternative, billed) else alternative
    # Of one and the same work: where jobs run side by side the machine of most images/s ends none of them first.
    alike = [row for row in ordered if row["workload"] == box["workload"]] or ordered
    machines = inside[inside["workload"] == box["workload"]].drop_duplicates("instance")
    hourly = [row for row in ordered if pd.isna(row["month_usd"])]
    clean = [row for row in ordered if pd.notna(row["kg_co2e"])]
    return Contenders(
        reference=box,
        alternative=alternative,
        cheapest=cheapest,
        by_hour=hourly[0] if hourly and pd.notna(cheapest["month_usd"]) else None,
        of_all=every[0],
        fastest=min(alike, key=lambda row: (row["hours"], cost(row, billed))),
        least_carbon=min(clean, key=lambda row: (row["kg_co2e"], cost(row, billed))) if clean else None,
        every=tuple(every),
        billed=billed,
        place=int((machines["hours"] < box["hours"]).sum()) + 1,
        machines=len(machines),
    )


def bills_decide(rows: pd.DataFrame) -> bool:
    """Whether the USD of the workload are not in proportion to USD per image for all options, by 5 % or more."""
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def _by_cost(rows: pd.DataFrame, billed: bool) -> list[Row]:
    return sorted(records(rows), key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))


def cost(row: Row, billed: bool) -> float:
    """What decides: the bill, or USD per image where bills are in proportion to it; 0 for what costs nothing."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def _first_other(rows: list[Row], one: Row) -> Row | None:
    return next((row for row in rows if not same_machine(row, one)), None)


COLUMNS = (
    "model", "scope", "reference", "winner", "alternative", "gain", "gain_low", "gain_high", "p_cheaper", "days",
    "days_low", "days_high", "planned_days", "rank_hours", "machines", "confidence",
    "reference_basis", "alternative_basis", "reference_price_basis",
    "alternative_price_basis", "reference_title", "winner_title", "alternative_title", "cheapest_of_all",
    "cheapest_of_all_title", "by_hour", "by_hour_title", "fastest", "fastest_title", "cost_share", "hours_share",
    "fastest_hours_share", "bills_decide", "counts", "least_carbon", "least_carbon_title", "currency",
    "usd_per_unit", "days_against", "days_against_title", "model_title",
)  # fmt: skip


def found_contenders(options: pd.DataFrame) -> dict[str, Contenders]:
    """The contenders of each model that has any."""
    own = references(options)
    found = {model: contenders(rows, own.get(model)) for model, rows in trained(options).items()}
    return {model: one for model, one in found.items() if one is not None}


def headline(
    contending: dict[str, Contenders],
    draws: Draws,
    break_even: pd.DataFrame,
    counts: str = "train",
    money: Money = DOLLARS,
) -> pd.DataFrame:
    """One row a model, and first the row of scope `answer`: the model least favourable to the reference.

    `reference` is the study's option, or where it has none the cheapest persistent one; `alternative` is the cheapest
    other persistent option. `gain` = USD of the alternative / USD of the reference (> 1: the reference is cheaper)
    with `gain_low`, `gain_high` (90 %), `p_cheaper`; null, as the alternative is, where there is no other option.
    `days`, `days_low`, `days_high`: break-even days a month (null: none, or not owned) against `days_against`: the
    alternative, or where that is owned too the cheapest rented option; `rank_hours` among `machines`;
    `winner`: the cheaper of the two. `cheapest_of_all`: whether or not it can be taken away; `by_hour`: the cheapest
    that is not paid by the month (null where the winner is not either); `fastest`; `least_carbon` (null where no carbon
    is known). `_title`: their names for people.
    `cost_share`, `hours_share`: USD and hours of the winner / those of the reference; `fastest_hours_share`: hours of
    the fastest / those of the reference. `bills_decide`: no figure per USD ranks the options. `reference_basis`,
    `alternative_basis`: what the two speeds are, `_price_basis` what the two prices are.
    `currency`: in which people read money, at `usd_per_unit`.
    """
    rows = [_row(one, draws, break_even, counts, money) for one in contending.values()]
    # The last digits of a float choose no model: of equal gains the first in the order of the models is told.
    rows.sort(key=lambda row: float(f"{row['gain']:.9g}") if pd.notna(row["gain"]) else np.inf)
    told = [row | {"scope": scope} for scope, of in (("answer", rows[:1]), ("model", rows)) for row in of]
    return pd.DataFrame(told, columns=list(COLUMNS))


def _row(one: Contenders, draws: Draws, break_even: pd.DataFrame, counts: str, money: Money) -> Row:
    box, rival = one.reference, one.alternative
    return {
        "model": box["model"],
        "model_title": box.get("model_title") or box["model"],
        "reference": box["option"],
        "winner": one.cheapest["option"],
        "alternative": None if rival is None else rival["option"],
        **_gain(one, draws),
        **_days(one, break_even),
        "rank_hours": one.place,
        "machines": one.machines,
        **_titled("reference", box),
        **_titled("winner", one.cheapest),
        **_titled("alternative", rival),
        **_named("cheapest_of_all", one.of_all),
        **_named("by_hour", one.by_hour),
        **_named("fastest", one.fastest),
        **_named("least_carbon", one.least_carbon),
        **_shares(one),
        "bills_decide": one.billed,
        "counts": counts,
        "currency": money.code,
        "usd_per_unit": money.usd_per_unit,
        **_bases("reference", box),
        **_bases("alternative", rival),
    }


def _gain(one: Contenders, draws: Draws) -> dict[str, Any]:
    """How many times cheaper the reference is than the alternative, and how sure that is."""
    box, rival = one.reference, one.alternative
    if rival is None:
        return dict.fromkeys(("gain", "gain_low", "gain_high", "p_cheaper"), np.nan) | {"confidence": "clear"}
    if one.billed:
        gain = draws.usd[rival["row"]] / draws.usd[box["row"]]
    else:
        gain = draws.images_per_usd[box["row"]] / draws.images_per_usd[rival["row"]]
    low, high = interval(gain)
    probability = p_cheaper(np.ones_like(gain), gain)
    return {
        "gain": cost(rival, one.billed) / cost(box, one.billed),
        "gain_low": float(low),
        "gain_high": float(high),
        "p_cheaper": probability,
        "confidence": confidence(max(probability, 1 - probability)),
    }


def _days(one: Contenders, break_even: pd.DataFrame) -> dict[str, Any]:
    """Against the alternative; where that is owned too, against what is rented: from a use on, owning pays or not."""
    box, rival = one.reference, one.alternative
    if rival is not None and rival["purchase"] == "own":
        rival = one.rented
    asked = None if rival is None else rival["option"]
    found = break_even[(break_even["model"] == box["model"]) & (break_even["option"] == asked)]
    days = found.iloc[0] if len(found) else {}
    return {
        **{name: days.get(name, np.nan) for name in ("days", "days_low", "days_high")},
        "planned_days": float(box["days_per_month"]) if box["purchase"] == "own" else np.nan,
        **_named("days_against", rival),
    }


def _shares(one: Contenders) -> dict[str, float]:
    """USD and hours of the winner, and hours of the fastest, as shares of those of the reference."""
    return {
        "cost_share": cost(one.cheapest, one.billed) / cost(one.reference, one.billed),
        "hours_share": float(one.cheapest["hours"] / one.reference["hours"]),
        "fastest_hours_share": float(one.fastest["hours"] / one.reference["hours"]),
    }


def _titled(side: str, option: Row | None) -> dict[str, str | None]:
    return {f"{side}_title": None if option is None else option["title"]}


def _named(side: str, option: Row | None) -> dict[str, str | None]:
    return {side: None if option is None else option["option"], **_titled(side, option)}


def _bases(side: str, option: Row | None) -> dict[str, str | None]:
    """What the speed and the price of an option are."""
    if option is None:
        return dict.fromkeys((f"{side}_basis", f"{side}_price_basis"))
    return {
        f"{side}_basis": option["throughput_basis"],
        f"{side}_price_basis": option["price_basis"],
    }
