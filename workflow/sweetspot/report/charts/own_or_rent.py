"""Owning against renting, by days of use a month."""

from sweetspot.report import alt, pd
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH, in_slots, key_of_lines, keyed
from sweetspot.report.marks import GREY, Drawing, empty, named, told
from sweetspot.report.notation import missing, number
from sweetspot.report.tables import of_jobs
from sweetspot.wording import the

PERSISTENT_SHOWN, INTERRUPTIBLE_SHOWN = 3, 1  # rivals
ABOVE = 1.6  # times the dearest rival: what costs more on few days is beyond the chart
STEPS = 60  # of the curve
OFFER = ["price_list", "instance", "purchase"]
OWN = ["fixed_usd_per_month", "variable_usd_per_hour", "downtime_share", "days_per_month"]


def utilisation(data: "ChartData") -> Drawing:
    """A line an option, that of the box with its band against the closest rival; dots mark the break-even."""
    days = of_jobs(data.tables, "break_even")
    if days.empty:
        return empty("Nothing to own in this study: no break-even.")
    days = days[days["model"] == data.model]
    shown = _rivals(days)
    ranks = data.table("ranks")
    ranks = ranks[ranks["model"] == data.model]
    ranks = ranks[ranks["workload"] == ranks["workload"].min()].drop_duplicates("option")  # of the model's first work
    box = _own_of(ranks, data.table("offers"), data.option)
    if not shown or box is None:
        return empty(f"No owned machine takes part for {data.model}: no break-even.")
    month = float(data.table("utilisation")["days"].max())  # the whole month is its last use
    rivals = (
        days.set_index("option")
        .loc[shown]
        .assign(usd=ranks.set_index("option").loc[shown, "usd"], title=[*map(data.title, shown)])
    )
    planned = box["days_per_month"]
    top = ABOVE * max([*rivals["usd"], cost_at(box, planned)])
    rows = cost_lines(box, rivals["usd"].tolist(), month)
    rows = rows.assign(
        title=rows["slot"].map(dict(enumerate([data.box, *rivals["title"]]))), usd=rows["usd"].clip(upper=2 * top)
    )
    # A dot where the line of the box crosses that of a rival.
    met = [(slot, days) for slot, days in enumerate(rivals["days"], 1) if not missing(days)]
    marks = pd.DataFrame([(slot, at, cost_at(box, at)) for slot, at in met], columns=["slot", "days", "usd"])
    told = [f"{data.box}: {number(cost_at(box, planned))} USD on {planned:.3g} days"]
    for title, usd, at in zip(rivals["title"], rivals["usd"], rivals["days"], strict=True):
        pays = "cheaper at any use" if missing(at) else f"the box pays from {number(at, 2)} d"
        told.append(f"{title}: {number(usd)} USD; {pays}")
    keys = pd.DataFrame({"told": told, "slot": range(len(told)), "line": range(len(told))})
    band = _band(data, shown[0], float(rivals["usd"].iloc[0]), top)
    planned_at = pd.DataFrame({"days": [planned]})
    drawn = {"rows": rows, "marks": marks, "planned": planned_at, "keys": keys, "band": band}
    chart = keyed(_plot(top, month), 1 + PERSISTENT_SHOWN + INTERRUPTIBLE_SHOWN, *key_of_lines())
    first = rivals["days"].iloc[0]
    at = "at no use within a month" if missing(first) else f"from {first:.1f} days of use a month"
    return Drawing(chart, drawn, f"Against {the(rivals['title'].iloc[0])} owning pays {at}")


def _plot(top: float, month: float) -> "alt.LayerChart":
    x = alt.X("days:Q", title="days of use a month", scale=alt.Scale(domain=[0, month], nice=False))
    y = alt.Y("usd:Q", title="USD of the work", scale=alt.Scale(domain=[0, top], nice=False))
    lines = named("rows").encode(x=x, y=y, **in_slots())
    words = told(title="option (text)", days="days of use a month", usd="USD of the work")
    return alt.layer(
        named("band").mark_area(opacity=0.12, color="#000", clip=True).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        named("planned").mark_rule(color=GREY, strokeDash=[2, 3]).encode(x=x),
        named("planned").mark_text(color=GREY).encode(x=x, y=alt.value(-8), text=alt.value("as planned")),
        lines.mark_line(clip=True).encode(tooltip=words),
        named("marks").mark_point(filled=True).encode(x=x, y=y, color=in_slots()["color"]),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )


def cost_at(box: "pd.Series", days: float) -> float:
    """USD of the work on the box, used so many days a month: its share of the month, and what an hour adds."""
    from sweetspot.bills.owning import usd_per_hour_of_use

    hour, planned = (
        usd_per_hour_of_use(box["fixed_usd_per_month"], box["variable_usd_per_hour"], use, box["downtime_share"])
        for use in (days, box["days_per_month"])
    )
    return float(box["usd"] * hour / planned)


def cost_lines(box: "pd.Series", rivals: list[float], month: float) -> "pd.DataFrame":
    """Columns slot (0: the box), days, usd: the box at each of STEPS uses, and a level line for each rival."""
    uses = [month * step / STEPS for step in range(1, STEPS + 1)]
    own = [(0, use, cost_at(box, use)) for use in uses]
    level = [(slot, use, usd) for slot, usd in enumerate(rivals, 1) for use in (0.0, month)]
    return pd.DataFrame([*own, *level], columns=["slot", "days", "usd"])


def _own_of(ranks: "pd.DataFrame", offers: "pd.DataFrame", option: str) -> "pd.Series | None":
    """The offer of the reference with the USD of the work; None where it is not owned."""
    rows = ranks[(ranks["option"] == option) & (ranks["purchase"] == "own")][[*OFFER, "usd"]]
    found = rows.merge(offers.drop_duplicates(OFFER)[[*OFFER, *OWN]], on=OFFER)
    return None if found.empty else found.fillna({"downtime_share": 0.0}).iloc[0]


def _band(data: "ChartData", rival: str, usd: float, top: float) -> "pd.DataFrame":
    """The 90 % band of the box against the closest rival, whose price stands still in it."""
    rows = data.table("utilisation")
    rows = rows[(rows["model"] == data.model) & (rows["option"] == rival)]
    low, high = ((usd / rows[f"gain_{end}"]).clip(upper=2 * top) for end in ("high", "low"))
    return pd.DataFrame({"days": rows["days"], "low": low, "high": high})


def _rivals(days: "pd.DataFrame") -> list[str]:
    """The rented options, persistent and interruptible, that come closest to the box at the planned use."""
    best = days[days["purchase"] != "own"].sort_values("gain_at_use", kind="stable")
    persistent = best["persistent"].astype(bool)
    shown = best[persistent]["option"].head(PERSISTENT_SHOWN), best[~persistent]["option"].head(INTERRUPTIBLE_SHOWN)
    return [str(name) for part in shown for name in part]


UTILISATION = Chart(
    name="utilisation", stage="price", section="whatif", order=2, draw=utilisation, needs="utilisation",
    title="USD of the same work by days of use a month: the box, and machines rented for it",
    caption="What the same work costs by days of use a month: the box bears its share of the month, rented machines "
    "ask the same at any use. Dots mark the break-even, the dotted line the planned use; grey: 90 % band of the box "
    "against its closest rival.",
)  # fmt: skip
