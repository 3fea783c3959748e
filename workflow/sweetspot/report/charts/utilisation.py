"""How many times cheaper the box is, by days of use."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import WIDTH, colour, dashes, empty, level
from sweetspot.report.vega import Drawing, Spec, amount, end, kind, layer, layered

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData

PERSISTENT_SHOWN, INTERRUPTIBLE_SHOWN = 3, 1  # rivals


def draw(data: "ChartData") -> Drawing:
    """A line a rival, the closest one with its band; dots mark the break-even against each."""
    import pandas as pd

    rows = data.table("utilisation")
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    days = data.table("break_even")
    days = days[days["model"] == data.model]
    names = _rivals(days)
    rows = rows[(rows["model"] == data.model) & rows["option"].isin(names)]
    marks = days[days["option"].isin(names) & days["days"].notna()].assign(gain=1.0)
    marks["label"] = marks["days"].map("{:.1f} d".format)
    marks["place"] = marks["days"].rank(method="first").map(lambda n: 0.45 / 1.35**n)
    x = amount("days", title="days of use a month", scale={"domain": [0, 31], "nice": False})
    y = amount(
        "gain",
        title=f"times cheaper ({data.model}, log)",
        scale={"type": "log", "domain": [0.1, 10], "clamp": True},
        axis={"values": [0.1, 0.2, 0.5, 1, 2, 5, 10]},
    )
    tint, place = colour("option", names), amount("place", title="")
    band: Spec = {"x": x, "y": amount("gain_low", title=""), "y2": end("gain_high"), "color": tint}
    words = {"dx": 5, "align": "left", "fontSize": 11, "fontWeight": "bold"}
    spec = layered(
        layer("area", {"opacity": 0.15}, where=({"field": "option", "equal": names[0]},), **band),
        level("even", "one", "y", dashed=True),
        layer("line", {"strokeWidth": 2}, x=x, y=y, color=tint, strokeDash=dashes("option", names)),
        layer("point", {"filled": True, "size": 60, "opacity": 1}, "marks", x=x, y=y, color=tint),
        layer("rule", {"opacity": 0.5}, "marks", x=x, y=place, y2=end("gain"), color=tint),
        layer("text", words, "marks", x=x, y=place, text=kind("label"), color=tint),
        width=WIDTH - 60,
        height=250,
    )
    # Where both sides cost the same.
    return Drawing(spec, {"rows": rows, "even": pd.DataFrame({"one": [1.0]}), "marks": marks})


def _rivals(days: "pd.DataFrame") -> list[str]:
    """The persistent and interruptible options that come closest to the box at the planned use."""
    best = days.sort_values(["persistent", "gain_at_use"], ascending=[False, True])
    persistent = best["persistent"].astype(bool)
    shown = best[persistent]["option"].head(PERSISTENT_SHOWN), best[~persistent]["option"].head(INTERRUPTIBLE_SHOWN)
    return [str(name) for part in shown for name in part]


CHART = Chart(
    title="How many times cheaper owning is, by days of use a month",
    caption="How many times cheaper owning is, by days of use a month. Dots mark the break-even.",
    stage="price",
    section="use",
    order=1,
    draw=draw,
    needs="break_even",
)
