"""What one work costs on the box, by days of use, and what its rivals ask for it."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import GREY, TEXT, Drawing, empty, named, told
from sweetspot.report.moving import CHART_HEIGHT, CHART_WIDTH, key_of_lines, keyed, slot_colour, slot_dash
from sweetspot.report.notation import missing, number
from sweetspot.report.tables import of_jobs
from sweetspot.wording import the

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

PERSISTENT_SHOWN, INTERRUPTIBLE_SHOWN = 3, 1  # rivals
ABOVE = 1.6  # times the dearest rival: what costs more on few days is beyond the chart
STEPS = 60  # of the curve
OFFER = ["price_list", "instance", "purchase"]
OWN = ["fixed_usd_per_month", "variable_usd_per_hour", "downtime_share", "days_per_month"]


def draw(data: "ChartData") -> Drawing:
    """A line an option, that of the box with its band against the closest rival; dots mark the break-even."""
    import pandas as pd

    days = of_jobs(data.tables, "break_even")
    if days.empty:
        return empty("Nothing to own in this study: no break-even.")
    days = days[days["model"] == data.model]
    shown = _rivals(days)
    box, ranks = _own_of(data), _ranks_of(data)
    if not shown or box is None:
        return empty(f"No owned machine takes part for {data.model}: no break-even.")
    month = float(data.table("utilisation")["days"].max())  # the whole month is its last use
    rivals = days.set_index("option").loc[shown].assign(usd=ranks.loc[shown, "usd"], title=[*map(data.title, shown)])
    names = dict(enumerate([data.box, *rivals["title"]]))
    rows = cost_lines(box, rivals["usd"].tolist(), month)
    rows["title"] = rows["slot"].map(names)
    planned = pd.DataFrame({"days": [box["days_per_month"]]})
    marks = _marks(box, rivals)
    top = ABOVE * max([*rivals["usd"], cost_at(box, box["days_per_month"])])
    band = _band(data, shown[0], float(rivals["usd"].iloc[0]), top)
    keys = pd.DataFrame({"told": _told(box, rivals, data.box), "slot": range(len(names)), "line": range(len(names))})
    rows = rows.assign(usd=rows["usd"].clip(upper=2 * top))
    data_of = {"rows": rows, "marks": marks, "planned": planned, "keys": keys, "band": band}
    chart = keyed(_plot(top, month), 1 + PERSISTENT_SHOWN + INTERRUPTIBLE_SHOWN, *key_of_lines())
    return Drawing(
        chart,
        data_of,
        _says(days[days["option"] == shown[0]].iloc[0], data.title(shown[0])),
    )


def _plot(top: float, month: float) -> "alt.LayerChart":
    """To `top` USD and `month` days."""
    import altair as alt

    x = alt.X("days:Q", title="days of use a month", scale=alt.Scale(domain=[0, month], nice=False))
    y = alt.Y("usd:Q", title="USD of the work", scale=alt.Scale(domain=[0, top], nice=False))
    lines = named("rows").encode(x=x, y=y, color=slot_colour(), strokeDash=slot_dash())
    words = told(title=f"option{TEXT}", days="days of use a month", usd="USD of the work")
    return alt.layer(
        named("band").mark_area(opacity=0.12, color="#000", clip=True).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        named("planned").mark_rule(color=GREY, strokeDash=[2, 3]).encode(x=x),
        named("planned").mark_text(color=GREY, fontSize=12).encode(x=x, y=alt.value(-8), text=alt.value("as planned")),
        lines.mark_line(strokeWidth=2, clip=True).encode(tooltip=words),
        named("marks").mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=slot_colour()),
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
    import pandas as pd

    uses = [month * step / STEPS for step in range(1, STEPS + 1)]
    own = [(0, use, cost_at(box, use)) for use in uses]
    level = [(slot, use, usd) for slot, usd in enumerate(rivals, 1) for use in (0.0, month)]
    return pd.DataFrame([*own, *level], columns=["slot", "days", "usd"])


def _ranks_of(data: "ChartData") -> "pd.DataFrame":
    """The options of the first work of the answer's model, by option."""
    ranks = data.table("ranks")
    ranks = ranks[ranks["model"] == data.model]
    return ranks[ranks["workload"] == ranks["workload"].min()].drop_duplicates("option").set_index("option")


def _own_of(data: "ChartData") -> "pd.Series | None":
    """The offer of the reference with the USD of the work; None where it is not owned."""
    ranks, offers = data.table("ranks"), data.table("offers")
    rows = ranks[(ranks["option"] == data.option) & (ranks["model"] == data.model) & (ranks["purchase"] == "own")]
    rows = rows[rows["workload"] == rows["workload"].min()][[*OFFER, "usd"]].head(1)
    found = rows.merge(offers.drop_duplicates(OFFER)[[*OFFER, *OWN]], on=OFFER)
    return None if found.empty else found.fillna({"downtime_share": 0.0}).iloc[0]


def _band(data: "ChartData", rival: str, usd: float, top: float) -> "pd.DataFrame":
    """The 90 % band of the box against the closest rival, whose price stands still in it."""
    import pandas as pd

    rows = data.table("utilisation")
    if rows.empty:
        return pd.DataFrame({"days": [], "low": [], "high": []})
    rows = rows[(rows["model"] == data.model) & (rows["option"] == rival)]
    ends_of = {
        "low": (usd / rows["gain_high"]).clip(upper=2 * top),
        "high": (usd / rows["gain_low"]).clip(upper=2 * top),
    }
    return pd.DataFrame({"days": rows["days"], **ends_of}).reset_index(drop=True)


def _marks(box: "pd.Series", rivals: "pd.DataFrame") -> "pd.DataFrame":
    """A dot where the line of the box crosses that of a rival."""
    import pandas as pd

    paid = [(slot, row["days"]) for slot, (_, row) in enumerate(rivals.iterrows(), 1) if not missing(row["days"])]
    return pd.DataFrame([(slot, days, cost_at(box, days)) for slot, days in paid], columns=["slot", "days", "usd"])


def _told(box: "pd.Series", rivals: "pd.DataFrame", title: str) -> list[str]:
    """A line of the key for each line of the chart."""
    own = f"{title}: {number(cost_at(box, box['days_per_month']))} USD on {box['days_per_month']:.3g} days"
    return [
        own,
        *(f"{row['title']}: {number(row['usd'])} USD; {pays_from(row['days'])}" for _, row in rivals.iterrows()),
    ]


def pays_from(days: float) -> str:
    """From which use the box is cheaper."""
    return "cheaper at any use" if missing(days) else f"the box pays from {number(days, 2)} d"


def _says(row: "pd.Series", rival: str) -> str:
    """From which use on owning pays against the rival that comes closest."""
    if missing(row["days"]):
        return f"Against {the(rival)} owning pays at no use within a month"
    return f"Against {the(rival)} owning pays from {row['days']:.1f} days of use a month"


def _rivals(days: "pd.DataFrame") -> list[str]:
    """The rented options, persistent and interruptible, that come closest to the box at the planned use."""
    best = days[days["purchase"] != "own"].sort_values(["persistent", "gain_at_use"], ascending=[False, True])
    persistent = best["persistent"].astype(bool)
    shown = best[persistent]["option"].head(PERSISTENT_SHOWN), best[~persistent]["option"].head(INTERRUPTIBLE_SHOWN)
    return [str(name) for part in shown for name in part]


CHART = Chart(
    title="USD of the same work by days of use a month: the box, and machines rented for it",
    caption="What the same work costs by days of use a month: the box bears its share of the month, rented machines "
    "ask the same at any use. Dots mark the break-even, the dotted line the planned use; grey: 90 % band of the box "
    "against its closest rival.",
    stage="price",
    section="whatif",
    order=2,
    draw=draw,
    needs="utilisation",
)
