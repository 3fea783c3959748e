"""The answer in two sentences, and the facts in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.certainty import confidence, percent
from sweetspot.decision.options import STAND_IN, Row, records, trained
from sweetspot.decision.simulate import Draws, interval

COLUMNS = (
    "model", "scope", "reference", "winner", "alternative", "gain", "gain_low", "gain_high", "p_cheaper", "days",
    "days_low", "days_high", "planned_days", "rank_hours", "machines", "confidence", "first", "second",
    "reference_basis", "alternative_basis", "reference_ground", "alternative_ground", "reference_price_basis",
    "alternative_price_basis",
)  # fmt: skip

SPEED_GROUNDS = {
    "measured": "measured",
    "published": "published",
    "equivalent": "another machine's by declaration",
    "scaled": "scaled up from one device",
    "stand_in": "a stand-in",
    "transferred": "transferred from another device",
    "extrapolated": "a prediction",
}
PRICE_GROUNDS = {"equivalent": "another offer's by declaration", "stand_in": "a stand-in (derived, not published)"}


def headline(options: pd.DataFrame, draws: Draws, break_even: pd.DataFrame) -> pd.DataFrame:
    """One row a model, and first the row of scope `answer`: the model least favourable to the reference.

    `reference` is the study's option, or where it has none the cheapest persistent one; `alternative` is the cheapest
    other persistent option. `gain` = USD of the alternative / USD of the reference (> 1: the reference is cheaper)
    with `gain_low`, `gain_high` (90 %), `p_cheaper`; `days`, `days_low`, `days_high`: break-even days a month (null:
    none, or not owned); `rank_hours` among `machines`; `first` and `second`: sentences for a page;
    `reference_basis`, `alternative_basis`: what the two speeds are, `_ground` the same in words, `_price_basis` what
    the two prices are.
    """
    own = references(options)
    found = [_row(rows, draws, break_even, own.get(model)) for model, rows in trained(options).items()]
    answers = [row for row in found if row is not None]
    if not answers:
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.DataFrame(answers).sort_values("gain", kind="stable")
    table["scope"] = "model"
    table = pd.concat([table.head(1).assign(scope="answer"), table], ignore_index=True)
    told = records(table)
    table["first"] = [f"{_first(row)}{_beside(row, told[-1])}." for row in told]
    table["second"] = [f"{_second(row)}{_grounds(row)}" for row in told]
    return table[list(COLUMNS)]


def _row(rows: pd.DataFrame, draws: Draws, break_even: pd.DataFrame, own: Row | None) -> Row | None:
    kept = rows[rows["persistent"].astype(bool)]
    # Whole hours, fees and minimum sums: then the bill of the workload decides, not the hourly price.
    billed = _bills_decide(kept)
    kept = kept.sort_values("usd" if billed else "images_per_usd", ascending=billed, kind="stable")
    if len(kept) < 1 + (own is None):
        return None
    box = records(kept.head(1))[0] if own is None else own
    # One machine under two price lists is one alternative.
    others = kept[(kept["instance"] != box["instance"]) | (kept["purchase"] != box["purchase"])]
    if others.empty:
        return None
    rival = records(others.head(1))[0]
    if billed:
        gain, central = draws.usd[rival["row"]] / draws.usd[box["row"]], float(rival["usd"] / box["usd"])
    else:
        gain = draws.images_per_usd[box["row"]] / draws.images_per_usd[rival["row"]]
        central = float(box["images_per_usd"] / rival["images_per_usd"])
    low, high = interval(gain)
    probability = float(np.mean(gain > 1))
    found = break_even[(break_even["model"] == box["model"]) & (break_even["option"] == rival["option"])]
    days = found.iloc[0] if len(found) else {}
    machines = rows.drop_duplicates("instance")
    return {
        "model": box["model"],
        "reference": box["option"],
        "winner": box["option"] if central > 1 else rival["option"],
        "alternative": rival["option"],
        "gain": central,
        "gain_low": float(low),
        "gain_high": float(high),
        "p_cheaper": probability,
        **{name: days.get(name, np.nan) for name in ("days", "days_low", "days_high")},
        "planned_days": float(box["days_per_month"]) if box["purchase"] == "own" else np.nan,
        "rank_hours": int((machines["images_per_s"] > box["images_per_s"]).sum()) + 1,
        "machines": len(machines),
        "confidence": confidence(max(probability, 1 - probability)),
        **_bases("reference", box),
        **_bases("alternative", rival),
    }


def _bases(side: str, option: Row) -> dict[str, str]:
    """What the speed and the price of an option are."""
    return {
        f"{side}_basis": option["throughput_basis"],
        f"{side}_ground": _ground(option),
        f"{side}_price_basis": option["price_basis"],
    }


def _bills_decide(rows: pd.DataFrame) -> bool:
    """Whether the USD of the workload are not in proportion to USD per image for all options, by 5 % or more."""
    product = rows["usd"] * rows["images_per_usd"]
    return bool(len(product) and product.notna().all() and product.max() > 1.05 * product.min())


def _span(row: Mapping[str, Any]) -> str:
    """How many times cheaper the winner is: the loser's gain is below 1 and turned over."""
    wins = row["gain"] > 1
    ratios = [row[name] for name in ("gain", "gain_low", "gain_high")]
    value, low, high = ratios if wins else [1 / ratios[0], 1 / ratios[2], 1 / ratios[1]]
    probability = row["p_cheaper"] if wins else 1 - row["p_cheaper"]
    return f"{value:.2g} times, {low:.2g} to {high:.2g}; probability {percent(probability)}"


def _first(row: Mapping[str, Any]) -> str:
    wins = row["gain"] > 1
    winner, loser = (row["reference"], row["alternative"]) if wins else (row["alternative"], row["reference"])
    on = f"on {row['model']} ({_span(row)})"
    if row["confidence"] == "too close to call":
        return f"Too close to call: {winner} looks cheaper than {loser} {on}"
    rival = f"the cheapest persistent alternative, {loser}," if wins else loser
    return f"{winner} is cheaper than {rival} {on}"


def _beside(row: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """The range over models, in the answer only: it speaks of the least favourable one."""
    if row["scope"] != "answer" or best["model"] == row["model"]:
        return ""
    against = best["reference"] if best["gain"] > 1 else best["alternative"]
    least = f", the model least in favour of {row['reference']}"
    return f"{least}; on {best['model']}, the most, {against} is cheaper ({_span(best)})"


def _grounds(row: Mapping[str, Any]) -> str:
    """What speeds and prices are where one is weaker than a published one: the answer depends on it."""
    speeds, prices = "", []
    if not {row["reference_basis"], row["alternative_basis"]} <= {"measured", "published"}:
        own, other = row["reference_ground"], row["alternative_ground"]
        speeds = f" The speed of {row['reference']} is {own}, that of {row['alternative']} {other}."
    for side in ("reference", "alternative"):
        if row[f"{side}_price_basis"] in PRICE_GROUNDS:
            prices.append((row[side], PRICE_GROUNDS[row[f"{side}_price_basis"]]))
    told = ", that of ".join(
        f"{name}{' is' if place == 0 else ''} {ground}" for place, (name, ground) in enumerate(prices)
    )
    return speeds + (f" The price of {told}." if told else "")


def _ground(option: Row) -> str:
    """What a speed is; of a stand-in also which figure stands in, where the table of throughputs says so."""
    gpu, framework, batch_size, precision = (option[name] for name in STAND_IN)
    if option["throughput_basis"] == "stand_in" and pd.notna(gpu):
        batch = "batch not stated" if pd.isna(batch_size) else f"batch {batch_size:.0f}"
        return f"a stand-in (nearest published figure: {gpu}, {framework}, {batch}, {precision})"
    return SPEED_GROUNDS[option["throughput_basis"]]


def _second(row: Mapping[str, Any]) -> str:
    place = f"It is number {row['rank_hours']} of {row['machines']} machines in time to train."
    if pd.isna(row["planned_days"]):
        return place.replace("It", row["reference"], 1)
    if pd.isna(row["days"]):
        return f"At no use within a month does owning it pay; {place[0].lower()}{place[1:]}"
    lower, upper = ("never" if pd.isna(row[end]) else f"{row[end]:.1f}" for end in ("days_low", "days_high"))
    span = f"{row['days']:.1f} days of use a month ({lower} to {upper})"
    return f"Owning pays from {span}; planned are {row['planned_days']:g}. {place}"
