"""The answer in two sentences, and the facts in them."""

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.options import trained
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.words import confidence

COLUMNS = (
    "model", "scope", "reference", "winner", "alternative", "gain", "gain_low", "gain_high", "p_cheaper", "days",
    "days_low", "days_high", "planned_days", "rank_hours", "machines", "confidence", "first", "second",
)  # fmt: skip


def headline(options: pd.DataFrame, draws: Draws, break_even: pd.DataFrame, reference: str | None) -> pd.DataFrame:
    """One row a model, and first the row of scope `answer`: the model least favourable to the reference.

    `reference` is the study's option, or where it has none the cheapest persistent one; `alternative` is the cheapest
    other persistent option. `gain` = USD of the alternative / USD of the reference (> 1: the reference is cheaper)
    with `gain_low`, `gain_high` (90 %), `p_cheaper`; `days`, `days_low`, `days_high`: break-even days a month (null:
    none, or not owned); `rank_hours` among `machines`; `first` and `second`: two sentences for a page.
    """
    own = references(options, reference) if reference else {}
    rows = [
        row
        for model, rows in trained(options).items()
        if (row := _row(rows, draws, break_even, own.get(model))) is not None
    ]
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.DataFrame(rows).sort_values("gain", kind="stable")
    table["scope"] = "model"
    table = pd.concat([table.head(1).assign(scope="answer"), table], ignore_index=True)
    sentences = [_sentences(row) for row in table.to_dict("records")]
    table["first"], table["second"] = zip(*sentences, strict=True)
    return table[list(COLUMNS)]


def _row(rows: pd.DataFrame, draws: Draws, break_even: pd.DataFrame, own: pd.Series | None) -> dict[str, object] | None:
    kept = rows[rows["persistent"].astype(bool)].sort_values("images_per_usd", ascending=False, kind="stable")
    if len(kept) < 1 + (own is None):
        return None
    box = kept.iloc[0] if own is None else own
    others = kept[kept["option"] != box["option"]]
    if others.empty:
        return None
    rival = others.iloc[0]
    gain = draws.images_per_usd[box.name] / draws.images_per_usd[rival.name]
    low, high = interval(gain)
    probability = float(np.mean(gain > 1))
    found = break_even[(break_even["model"] == box["model"]) & (break_even["option"] == rival["option"])]
    days = found.iloc[0] if len(found) else {}
    central = float(box["images_per_usd"] / rival["images_per_usd"])
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
    }


def _sentences(row: dict[str, object]) -> tuple[str, str]:
    wins = row["gain"] > 1
    ratios = [row[name] for name in ("gain", "gain_low", "gain_high")]
    # The loser's gain is below 1; turned over it says how many times cheaper the winner is.
    value, low, high = ratios if wins else [1 / ratios[0], 1 / ratios[2], 1 / ratios[1]]
    probability = row["p_cheaper"] if wins else 1 - row["p_cheaper"]
    span = f"{value:.2g} times, {low:.2g} to {high:.2g}; probability {probability:.0%}"
    winner, loser = (row["reference"], row["alternative"]) if wins else (row["alternative"], row["reference"])
    if row["confidence"] == "too close to call":
        first = f"Too close to call: {winner} is cheaper than {loser} by {span}"
    elif wins:
        first = f"{winner} is cheaper than the cheapest persistent alternative, {loser} ({span})"
    else:
        first = f"{winner} is cheaper than {loser} ({span})"
    first += f", on {row['model']}" + (", the model least in its favour." if row["scope"] == "answer" else ".")
    place = f"It is number {row['rank_hours']} of {row['machines']} machines in time to train."
    if pd.isna(row["planned_days"]):
        return first, place
    if pd.isna(row["days"]):
        return first, f"At no use within a month does owning it pay; {place[0].lower()}{place[1:]}"
    upper = "never" if pd.isna(row["days_high"]) else f"{row['days_high']:.1f}"
    lower = "never" if pd.isna(row["days_low"]) else f"{row['days_low']:.1f}"
    span = f"{row['days']:.1f} days of use a month ({lower} to {upper})"
    pays = f"Owning pays from {span}; planned are {row['planned_days']:g}."
    return first, f"{pays} {place}"
