"""Charts of speed: what was measured, how it scales, what is predicted, and how wrong the predictions have been."""

import altair as alt
import pandas as pd

from sweetspot.report.marks import (
    WIDTH,
    Drawing,
    Facts,
    by_row,
    colour,
    drawing,
    empty,
    few_models,
    layered,
    log_axis,
    points,
)


def throughput(facts: Facts) -> Drawing:
    """Images per second by machine, model and batch."""
    rows = facts.table("throughput")
    rows = rows[rows["images_per_s"] > 0] if len(rows) else rows
    guess = facts.table("extrapolation")
    if len(guess):
        rows = pd.concat([rows, guess[guess["headline"].astype(bool)]], ignore_index=True)
    if rows.empty:
        return empty("No throughput measured or published in this study.")
    keep = ["instance", "model", "batch_size", "images_per_s", "images_per_s_low", "images_per_s_high", "basis"]
    rows = few_models(rows).sort_values("images_per_s").drop_duplicates(keep[:3], keep="last")[keep]
    busiest = rows.groupby("instance")["images_per_s"].max().nlargest(20).index
    rows = rows[rows["instance"].isin([*busiest, *rows.loc[rows["basis"] == "measured", "instance"]])]
    batches = [str(batch) for batch in sorted(rows["batch_size"].unique())]
    rows = rows.assign(batch=rows["batch_size"].astype(str))
    y = alt.Y("instance:N", sort=alt.EncodingSortField("images_per_s", op="max", order="descending"), title=None)
    title = f"{facts.unit}/s (log)"
    x = alt.X("images_per_s:Q", scale=alt.Scale(type="log"), title=title, axis=log_axis(rows["images_per_s"]))
    tint = colour("batch:N", batches, "batch per device")
    base = drawing()
    layers = layered(
        base.transform_filter("isValid(datum.images_per_s_low)").mark_rule().encode(
            y=y, x=alt.X("images_per_s_low:Q", title=title), x2="images_per_s_high:Q", color=tint
        ),
        *points(base, y=y, x=x, color=tint),
        width=WIDTH - 150,
        height={"step": 15},
    )  # fmt: skip
    return Drawing(by_row(layers, "model", ("y",)), {"rows": rows})


def efficiency(facts: Facts) -> Drawing:
    """Efficiency against device count at the largest batch: a line a family, and the fitted curve with its band."""
    rows = facts.table("efficiency")
    if rows.empty:
        return empty("No scaling efficiency in this study.")
    rows = rows[rows["batch_size"] == rows["batch_size"].max()]
    curve = facts.table("curve")
    curve = curve[curve["batch_size"] == rows["batch_size"].iloc[0]] if len(curve) else curve
    curve = curve.assign(base_instance="predicted: " + curve["instance"]) if len(curve) else curve
    start = {"gpus": 1, "efficiency": 1.0, "low": 1.0, "high": 1.0}
    rows, curve = (
        pd.concat([part.drop_duplicates(["base_instance", "model"]).assign(**start), part], ignore_index=True)
        for part in (rows, curve.reindex(columns=[*rows.columns, "low", "high"]))
    )
    both = few_models(pd.concat([rows.assign(fitted=False), curve.assign(fitted=True)], ignore_index=True))
    names = list(dict.fromkeys(both.sort_values(["fitted", "base_instance"])["base_instance"]))
    counts = alt.Axis(values=sorted(both["gpus"].unique().tolist()))
    x = alt.X("gpus:Q", scale=alt.Scale(type="log", base=2), title="devices", axis=counts)
    # A prediction's band may reach above 1; so do figures measured on a faster second machine.
    top = max(1.05, float(both[["efficiency", "high"]].max().max()))
    y = alt.Y("efficiency:Q", scale=alt.Scale(domain=[0, top], nice=False), title="efficiency")
    tint = colour("base_instance:N", names)
    base = drawing()
    fitted, seen = base.transform_filter("datum.fitted"), base.transform_filter("!datum.fitted")
    layers = layered(
        fitted.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q", title="efficiency"), y2="high:Q", color=tint),
        fitted.mark_line(strokeDash=[5, 3]).encode(x=x, y=y, color=tint),
        seen.mark_line().encode(x=x, y=y, color=tint, detail="base_instance:N"),
        *points(seen.transform_filter("datum.gpus > 1"), x=x, y=y, color=tint),
        width=WIDTH - 70,
        height=120,
    )
    return Drawing(by_row(layers, "model"), {"rows": both})


def extrapolation(facts: Facts) -> Drawing:
    """Predicted images per second by method, with 90 % prediction intervals."""
    rows = facts.table("extrapolation")
    if rows.empty:
        return empty("Nothing is extrapolated in this study.")
    rows = few_models(rows)
    rows = rows.assign(cell=rows["model"] + " " + rows["batch_size"].astype(str), basis="extrapolated")
    names = list(dict.fromkeys(rows.sort_values("headline", ascending=False)["method"]))[:7]
    rows = rows[rows["method"].isin(names)]
    y = alt.Y("cell:N", title=None)
    title = f"{facts.unit}/s"
    x = alt.X("images_per_s:Q", title=title, scale=alt.Scale(zero=False, padding=8))
    offset = alt.YOffset("method:N", sort=names)
    tint = colour("method:N", names)
    base = drawing()
    layers = layered(
        base.mark_rule().encode(
            y=y, x=alt.X("images_per_s_low:Q", title=title), x2="images_per_s_high:Q", color=tint, yOffset=offset
        ),
        *points(base, y=y, x=x, color=tint, yOffset=offset),
        width=WIDTH - 100,
        height={"step": max(7, 20 // len(names))},
    )
    return Drawing(by_row(layers, "instance"), {"rows": rows})


def validation(facts: Facts) -> Drawing:
    """Held-out error of each method: median as a point, up to the 90th percentile as a line."""
    rows = facts.table("validation")
    if rows.empty:
        return empty("No method was validated for this study.")
    rows = rows[rows["slice"].isin(["all", "study_models"]) | rows["slice"].str.match(r"gpus=(2|4|8)$")]
    order = rows[rows["slice"] == "all"].sort_values("median_abs_error")["method"].tolist()
    base = drawing()
    y = alt.Y("method:N", sort=order, title=None)
    title = "error on unseen cards: median, and 90 % of rows below"
    x = alt.X("median_abs_error:Q", title=title, axis=alt.Axis(format="%"))
    layers = layered(
        base.mark_rule(strokeWidth=1.5).encode(y=y, x=x, x2="p90_abs_error:Q"),
        base.mark_point(filled=True, size=62, opacity=1).encode(y=y, x=x),
        width=WIDTH - 150,
        height={"step": 15},
    )
    return Drawing(by_row(layers, "slice"), {"rows": rows})
