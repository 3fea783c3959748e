"""Money paid by month: the box, and machines rented for the box's work."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import TEXT, Drawing, empty, named, told
from sweetspot.report.moving import CHART_HEIGHT, CHART_WIDTH, key_of_lines, keyed, slot_colour, slot_dash
from sweetspot.report.notation import number
from sweetspot.wording import the

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

HOURS_A_DAY = 24
RIVALS = 3
WHOLE = {"downtime_share": 0.0, "boxes": 1.0}
COLUMNS = ["option", "month", "cumulative_usd"]


def draw(data: "ChartData") -> Drawing:
    """A line an option: USD paid up to each month."""
    import altair as alt
    import pandas as pd

    flow, offers = data.table("cash_flow"), data.table("offers")
    key = ["price_list", "instance", "purchase"]
    if len(flow):
        flow = flow.merge(offers[[*key, "days_per_month", *(name for name in WHOLE if name in offers.columns)]], on=key)
    ranks = data.table("ranks")
    if len(ranks) and "trend_kind" in offers.columns:
        ranks = ranks.merge(offers[[*key, "trend_kind", "trend_change"]].drop_duplicates(key), on=key, how="left")
    rows = cash_lines(flow, ranks, data.reference, data.model)
    if rows.empty:
        return empty("Nothing to own in this study: no cash flow to compare.")
    rows = rows.assign(title=data.titles(rows["option"]))
    names = list(dict.fromkeys(rows["title"]))
    rows["slot"] = rows["title"].map({name: slot for slot, name in enumerate(names)})
    paid = rows.groupby("slot")["cumulative_usd"].last()
    told_of = [f"{name}: {number(paid[slot])} USD in {rows['month'].max():g} months" for slot, name in enumerate(names)]
    keys = pd.DataFrame({"told": told_of, "slot": range(len(names)), "line": range(len(names))})
    months = alt.Axis(values=month_ticks(int(rows["month"].max())))
    x = alt.X("month:Q", title="month", axis=months, scale=alt.Scale(nice=False))
    # The format of an axis would write 0 with the prefix of its neighbours.
    y = alt.Y(
        "cumulative_usd:Q",
        title="USD so far for the work of the box",
        axis=alt.Axis(labelExpr="format(datum.value, '~s')"),
    )
    lines = named("rows").mark_line(strokeWidth=2).encode(x=x, y=y, color=slot_colour(), strokeDash=slot_dash())
    lines = lines.encode(tooltip=told(title=f"option{TEXT}", month="month", cumulative_usd="USD so far"))
    plot = alt.layer(lines, width=CHART_WIDTH, height=CHART_HEIGHT)
    return Drawing(
        keyed(plot, 1 + RIVALS, *key_of_lines()),
        {"rows": rows, "keys": keys},
        _says(rows),
    )


def month_ticks(last: int) -> list[int]:
    """Months with a tick: of years and parts of a year, at most ten."""
    step = next(step for step in (1, 3, 6, 12, 24) if last <= 10 * step or step == 24)
    return list(range(0, last + 1, step))


def _says(rows: "pd.DataFrame") -> str:
    """From which month on the box has cost less than the rival that comes closest."""
    box, rival, *_ = [*dict.fromkeys(rows["title"]), ""]
    paid = rows.pivot_table(index="month", columns="title", values="cumulative_usd")
    if rival not in paid.columns:
        return ""
    dearer = paid.index[paid[box] > paid[rival]]
    if len(dearer) and dearer[-1] == paid.index[-1]:
        return f"Within {paid.index[-1]:g} months {the(box)} does not become cheaper than {the(rival)}"
    since = paid.index[paid.index > dearer[-1]][0] if len(dearer) else paid.index[0]
    if len(dearer) and since == paid.index[-1] and paid[box].iloc[-1] < paid[box].iloc[-2]:
        return f"Only when it is sold, in month {since:g}, has {the(box)} cost less than {the(rival)}"
    return f"From month {since:g} on {the(box)} has cost less than {the(rival)}"


def cash_lines(cash_flow: "pd.DataFrame", ranks: "pd.DataFrame", reference: str, model: str) -> "pd.DataFrame":
    """Columns option, month, cumulative_usd: the reference's own cash flow, and the cheapest rented ones'.

    `cash_flow` has also `days_per_month`, the use that its figures stand for, and may have WHOLE. A rival pays each
    month for the images that the boxes make in it: 24 days_per_month (1 - downtime_share) boxes x 3600 x images/s /
    images per USD of the rival, along its price path (`trend_kind`, `trend_change` of `ranks`, where it has them).
    Empty where the reference has no cash flow.
    """
    import pandas as pd

    from sweetspot.bills.price_paths import central_change, mean_factor

    if cash_flow.empty or ranks.empty:
        return pd.DataFrame(columns=COLUMNS)
    rows = ranks[(ranks["model"] == model) & ranks["persistent"].astype(bool) & ranks["in_answer"].astype(bool)]
    rows = rows.drop_duplicates("option")
    box = rows[rows["instance"] == reference]
    own = cash_flow[(cash_flow["instance"] == reference) & cash_flow["price_list"].isin(box["price_list"])]
    if own.empty or box.empty or "days_per_month" not in own.columns:
        return pd.DataFrame(columns=COLUMNS)
    first = own.fillna({name: value for name, value in WHOLE.items() if name in own.columns}).iloc[0]
    hours = HOURS_A_DAY * first["days_per_month"] * (1 - first.get("downtime_share", 0.0)) * first.get("boxes", 1.0)
    images = hours * 3600 * box["images_per_s"].iloc[0]
    parts = [own.assign(option=box["option"].iloc[0])[COLUMNS]]
    # Another machine to own pays its price at once too: a line of so much a month would not be what it pays.
    rented = rows[(rows["instance"] != reference) & (rows["purchase"] != "own")]
    others = rented.sort_values("images_per_usd", ascending=False).head(RIVALS)
    for _, rival in others.iterrows():
        monthly = images / rival["images_per_usd"]
        months = parts[0]["month"]
        # images_per_usd is at the mean rent of all months: the first months pay more of it where prices fall.
        so_far = months * mean_factor(central_change(rival), months.clip(lower=1))
        line = parts[0].assign(
            option=rival["option"], cumulative_usd=monthly * so_far * (months.iloc[-1] / so_far.iloc[-1])
        )
        parts.append(line)
    return pd.concat(parts, ignore_index=True)


CHART = Chart(
    title="Money paid by month: owning against renting the same work",
    caption="Money paid by month: owning, against renting the same work. What has a resale value is sold in the last "
    "month.",
    stage="price",
    section="whatif",
    order=3,
    draw=draw,
    needs="utilisation",
)
