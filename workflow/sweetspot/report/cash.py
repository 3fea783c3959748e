"""Money paid by month when rivals do the work of the box."""

import pandas as pd

HOURS_A_DAY = 24
RIVALS = 3


def cash_lines(cash_flow: pd.DataFrame, ranks: pd.DataFrame, reference: str, model: str) -> pd.DataFrame:
    """Columns option, month, cumulative_usd: the reference's own cash flow, and its cheapest rivals'.

    `cash_flow` has also `days_per_month`, the use that its figures stand for. A rival pays each month for the images
    that the box makes in it: 24 days_per_month x 3600 x images/s of the box / images per USD of the rival. Empty
    where the reference has no cash flow.
    """
    if cash_flow.empty or ranks.empty:
        return pd.DataFrame(columns=["option", "month", "cumulative_usd"])
    own = cash_flow[cash_flow["instance"] == reference]
    rows = ranks[(ranks["model"] == model) & ranks["persistent"].astype(bool)].drop_duplicates("option")
    box = rows[rows["instance"] == reference]
    if own.empty or box.empty or "days_per_month" not in own.columns:
        return pd.DataFrame(columns=["option", "month", "cumulative_usd"])
    images = HOURS_A_DAY * own["days_per_month"].iloc[0] * 3600 * box["images_per_s"].iloc[0]
    parts = [own.assign(option=reference)[["option", "month", "cumulative_usd"]]]
    others = rows[rows["instance"] != reference].sort_values("images_per_usd", ascending=False).head(RIVALS)
    for _, rival in others.iterrows():
        monthly = images / rival["images_per_usd"]
        line = parts[0].assign(option=rival["option"], cumulative_usd=parts[0]["month"] * monthly)
        parts.append(line)
    return pd.concat(parts, ignore_index=True)
