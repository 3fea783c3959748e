"""What a bill is made of, and who does the work of the months."""

from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import Chart
from sweetspot.report.tables import Tables, table_of
from sweetspot.wording import begun, money, the

MAX_BILLS = 8
MIN_LINE_SHARE = 0.01  # of the largest bill: a smaller line would not be visible
# What readers call a line.
LINE_NAMES = {"possession": "owning it, used or not", "use": "machine time"}
PRICE_ORIGIN = {**look.ORIGIN, "price_source": "price (text)"}
KEY = ["price_list", "instance", "purchase", "workload", "model", "batch_size", "gpus", "precision"]


def bill(data: "ChartData") -> look.Drawing:
    """A bar an option, from its bill's lines; the cheapest persistent ones and the reference."""
    bills, ranks = data.table("bills"), data.table("ranks")
    if bills.empty or ranks.empty:
        return look.empty("No bill in this study.")
    chosen = ranks[(ranks["model"] == data.model) & ranks["workload"].isin(data.training())]
    chosen = chosen[chosen["persistent"] | (chosen["instance"] == data.reference)].head(MAX_BILLS)
    facts = [*KEY, "option", "usd", *(name for name in PRICE_ORIGIN if name in chosen.columns)]
    rows = bills.merge(chosen[facts].rename(columns={"usd": "total"}), on=KEY)
    rows = scale_to_totals(rows.drop_duplicates([*KEY, "line"]))
    if rows.empty:
        return look.empty("No bill for the model of the answer.")
    rows = rows.assign(title=look.wrapped(data.titles(rows["option"])), line=rows["line"].replace(LINE_NAMES))
    drawn = rows[rows["usd"].abs() > MIN_LINE_SHARE * rows["total"].max()]
    order = alt.EncodingSortField("total", op="min", order="ascending")
    y = alt.Y("title:N", sort=order, title=None, axis=look.name_axis())
    axis = alt.Axis(tickCount=5, labelExpr=look.PLAIN)
    x = alt.X("usd:Q", title=data.words.usd.format(model=data.model), stack="zero", axis=axis)
    names = list(dict.fromkeys(drawn["line"]))
    lines = look.colour("line:N", names, shown=names if len(names) > 1 else (), room=look.BESIDE)
    prices = {name: title for name, title in PRICE_ORIGIN.items() if name in drawn.columns}
    words = look.tooltip(title="option (text)", line="line (text)", usd="USD", total="USD of the whole bill", **prices)
    bars = look.named_data("rows").mark_bar(stroke="white", strokeWidth=0.5)
    bars = bars.encode(y=y, x=x, color=lines, tooltip=words)
    chart = alt.layer(bars, width=look.PLOT, height=look.line_step(drawn["title"], 24))
    return look.Drawing(chart, {"rows": drawn}, _bill_finding(data, rows))


def scale_to_totals(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Each bill at the price that the answer rests on (`total`): the mean of the project's months, where the price list
    prints today's.
    """
    printed = rows.groupby(KEY, dropna=False)["usd"].transform("sum")
    return rows.assign(usd=rows["usd"] * (rows["total"] / printed).where(printed != 0, 1.0))


def _bill_finding(data: "ChartData", rows: "pd.DataFrame") -> str:
    """The largest line of the reference's bill, or of the cheapest option's."""
    of_reference = rows[rows["option"] == data.option]
    bill = of_reference if len(of_reference) else rows[rows["option"] == rows.sort_values("total")["option"].iloc[0]]
    total = float(bill["usd"].sum())
    if not total > 0:
        return ""
    largest = bill.loc[bill["usd"].idxmax()]
    share, owner = round(100 * float(largest["usd"]) / total), the(data.title(largest["option"]))
    line = str(largest["line"]).replace("_", " ")
    section = f"all of it {line}" if share >= 100 else f"{share} % of it {line}"
    return begun(f"{owner} costs {money(total)} USD{data.words.each}: {section}")


def _has_several_lines(tables: "Tables") -> bool:
    """Whether any bill has more than one line: without, the chart is that of the costs once more."""
    bills = table_of(tables, "bills")
    return bills.empty or bills.loc[bills["usd"] != 0, "line"].nunique() > 1


BILL = Chart(
    name="bill",
    stage="price",
    section="costs",
    draw=bill,
    fits=_has_several_lines,
    title="What a bill is made of",
    caption="What the bills of the cheapest options are made of, at the prices of the answer: rents are the mean of "
    "the project's months. A line of less than 1 % of the dearest is not drawn.",
)


MIN_SOURCE_SHARE = 0.03  # of all work: sources that do less are drawn as one
OTHERS = "others, rented for the peak"
BASE_LOAD_SHARE = 0.9  # of its busiest month: a source that does as much in every month does the base


def mix_load(data: "ChartData") -> look.Drawing:
    """Stacked areas: what is there at the bottom, what is bought on it, what is rented on top."""
    rows = data.table("load")
    if rows.empty:
        return look.empty("No work of months in this study: no mix of machines.")
    rows = rows[rows["workload"] == rows["workload"].iloc[0]]
    says = _load_finding(rows[rows["device_hours"] > 0])
    rows = _merge_small_sources(rows.assign(percent=100 * rows["share_of_months"]))
    names = list(dict.fromkeys(rows["title"]))
    rows = rows.assign(order=rows["title"].map(names.index))
    x = alt.X("percent:Q", title="% of the months, the busiest first", scale=alt.Scale(domain=[0, 100], nice=False))
    y = alt.Y("device_hours:Q", title="device-hours a month", stack="zero")
    areas = look.named_data("rows").mark_area(opacity=0.85)
    words = look.tooltip(title="source (text)", part="% of all device-hours", most="device-hours in the busiest month")
    areas = areas.encode(x=x, y=y, color=look.colour("title:N", names), order=alt.Order("order:Q"), tooltip=words)
    return look.Drawing(alt.layer(areas, width=look.WIDTH - 70, height=230), {"rows": rows}, says)


def _merge_small_sources(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Merge sources below MIN_SOURCE_SHARE; add `part` (per cent of all hours) and `most` (of the busiest month)."""
    share = rows.groupby("title")["device_hours"].transform("sum") / rows["device_hours"].sum()
    rows = rows.assign(title=rows["title"].where(share >= MIN_SOURCE_SHARE, OTHERS))
    rows = rows.groupby(["title", "percent"], sort=False, as_index=False)["device_hours"].sum()
    rows = rows.sort_values("title", key=lambda names: names == OTHERS, kind="stable")
    hours = rows.groupby("title")["device_hours"]
    rows = rows.assign(part=100 * hours.transform("sum") / rows["device_hours"].sum(), most=hours.transform("max"))
    return rows[rows["most"] > 0]


def _load_finding(rows: "pd.DataFrame") -> str:
    """Who does the base of the work, if one works alike in all months, else most of it; and who most of the rest."""
    loads = rows.groupby("title")["device_hours"]
    totals, first = loads.sum(), str(rows["title"].iloc[0])
    if len(totals) == 1:
        return begun(f"{the(first)} does all of the work")
    steady = loads.min()[first] >= BASE_LOAD_SHARE * loads.max()[first]
    first = first if steady else str(totals.idxmax())
    rest = totals.drop(first)
    work = "the base" if steady else f"{_proportion(totals[first] / totals.sum())} the work"
    second = f"{the(str(rest.idxmax()))} {_proportion(rest.max() / rest.sum())} the rest"
    return begun(f"{the(first)} does {work}, {second.replace(' most of', '') if len(rest) == 1 else second}")


def _proportion(share: float) -> str:
    return "most of" if share > 0.5 else "the largest part of"


MIX_LOAD = Chart(
    name="mix_load",
    stage="price",
    section="plan",
    draw=mix_load,
    needs="load",
    title="Device-hours a month by source, the busiest months first",
    caption="Who does the work of the months under the best mix: the machines you own, those bought, those rented.",
)
