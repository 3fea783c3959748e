"""Owning against renting: by days of use, by month, by length of the project and tariff."""

from sweetspot.report import alt, pd
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import Chart
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH, ends, in_slots, key_of_lines, keyed, with_names
from sweetspot.report.marks import GREY, WIDTH, Drawing, colour, empty, named, told
from sweetspot.report.notation import missing, number
from sweetspot.report.tables import of_jobs
from sweetspot.wording import the

PERSISTENT_SHOWN, INTERRUPTIBLE_SHOWN = 3, 1  # rivals
ABOVE = 1.6  # times the dearest rival: what costs more on few days is beyond the chart
STEPS = 60  # of the curve
HOURS_A_DAY = 24
RIVALS = 3
WHOLE = {"downtime_share": 0.0, "boxes": 1.0}
COLUMNS = ["option", "month", "cumulative_usd"]
WIDE, HIGH = WIDTH - 160, 200
MOST_DAYS = 31
NEAR = 7  # pixels between the ends of two lines that are told apart
LINES = 6  # tariffs, as many as have a colour of their own
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


def cash_flow(data: "ChartData") -> Drawing:
    """A line an option: USD paid up to each month."""
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
    slots, names = pd.factorize(rows["title"])
    rows = rows.assign(slot=slots)
    paid = rows.groupby("slot")["cumulative_usd"].last()
    told_of = [f"{name}: {number(paid[slot])} USD in {rows['month'].max():g} months" for slot, name in enumerate(names)]
    keys = pd.DataFrame({"told": told_of, "slot": range(len(names)), "line": range(len(names))})
    months = alt.Axis(values=month_ticks(int(rows["month"].max())))
    x = alt.X("month:Q", title="month", axis=months, scale=alt.Scale(nice=False))
    # The format of an axis would write 0 with the prefix of its neighbours.
    amounts = alt.Axis(labelExpr="format(datum.value, '~s')")
    y = alt.Y("cumulative_usd:Q", title="USD so far for the work of the box", axis=amounts)
    lines = named("rows").mark_line().encode(x=x, y=y, **in_slots())
    lines = lines.encode(tooltip=told(title="option (text)", month="month", cumulative_usd="USD so far"))
    plot = alt.layer(lines, width=CHART_WIDTH, height=CHART_HEIGHT)
    return Drawing(keyed(plot, 1 + RIVALS, *key_of_lines()), {"rows": rows, "keys": keys}, _cash_flow_says(rows))


def month_ticks(last: int) -> list[int]:
    """Months with a tick: of years and parts of a year, at most ten."""
    step = next((step for step in (1, 3, 6, 12) if last <= 10 * step), 24)
    return list(range(0, last + 1, step))


def _cash_flow_says(rows: "pd.DataFrame") -> str:
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
    from sweetspot.bills.price_paths import central_change, mean_factor

    if cash_flow.empty or ranks.empty:
        return pd.DataFrame(columns=COLUMNS)
    rows = ranks[(ranks["model"] == model) & ranks["persistent"].astype(bool) & ranks["in_answer"].astype(bool)]
    rows = rows.drop_duplicates("option")
    box = rows[rows["instance"] == reference]
    own = cash_flow[(cash_flow["instance"] == reference) & cash_flow["price_list"].isin(box["price_list"])]
    if own.empty:
        return pd.DataFrame(columns=COLUMNS)
    first = WHOLE | dict(own.iloc[0].dropna())
    hours = HOURS_A_DAY * first["days_per_month"] * (1 - first["downtime_share"]) * first["boxes"]
    images = hours * 3600 * box["images_per_s"].iloc[0]
    parts = [own.assign(option=box["option"].iloc[0])[COLUMNS]]
    # Another machine to own pays its price at once too: a line of so much a month would not be what it pays.
    rented = rows[(rows["instance"] != reference) & (rows["purchase"] != "own")]
    others = rented.sort_values("images_per_usd", ascending=False).head(RIVALS)
    months = parts[0]["month"]
    for _, rival in others.iterrows():
        # images_per_usd is at the mean rent of all months: the first months pay more of it where prices fall.
        so_far = months * mean_factor(central_change(rival), months.clip(lower=1))
        paid = images / rival["images_per_usd"] * so_far * (months.iloc[-1] / so_far.iloc[-1])
        parts.append(parts[0].assign(option=rival["option"], cumulative_usd=paid))
    return pd.concat(parts)


CASH_FLOW = Chart(
    name="cash_flow", stage="price", section="whatif", order=3, draw=cash_flow, needs="utilisation",
    title="Money paid by month: owning against renting the same work",
    caption="Money paid by month: owning, against renting the same work. What has a resale value is sold in the last "
    "month.",
)  # fmt: skip


def surface(data: "ChartData") -> Drawing:
    """A line a tariff, its name at its end; a mark where the box is planned to be used."""
    rows = data.table("surface")
    rows = rows[rows["model"] == data.model] if len(rows) else rows
    if rows.empty:
        return empty("Nothing to own in this study: no break-even.")
    rows = rows.drop_duplicates(["months", "usd_per_kwh"]).sort_values(["usd_per_kwh", "months"])
    rows = rows.assign(tariff=rows["usd_per_kwh"].map("{:.2f} USD/kWh".format))
    offers = data.table("offers")
    own = (offers["instance"] == data.reference) & (offers["purchase"] == "own")
    box = offers[own][["months", "days_per_month"]].dropna().head(1)
    tariff = offers[own]["usd_per_kwh"].dropna().head(1)
    says = _surface_says(rows, float(tariff.iloc[0])) if len(tariff) else ""
    rows = _told_apart(rows, float(tariff.iloc[0]) if len(tariff) else 0.0)
    months = alt.Axis(values=month_ticks(int(rows["months"].max())))
    x = alt.X("months:Q", title="months of the project", scale=alt.Scale(nice=False), axis=months)
    scale = alt.Scale(domain=[0, MOST_DAYS], nice=False)
    y = alt.Y("break_even_days:Q", title=f"days a month to pay ({data.model})", scale=scale)
    tint = colour("tariff:N", list(dict.fromkeys(rows["tariff"])), shown=())
    words = told(tariff="electricity (text)", months="months", break_even_days="days a month to pay")
    plan = box.assign(label=[f"as planned: {months:g} months, {days:g} days" for months, days in box.to_numpy()])
    chart = alt.layer(
        *_planned(x),
        named("rows").mark_line().encode(x=x, y=y, color=tint, tooltip=words),
        *ends(named("rows"), WIDE, color=tint),
        width=WIDE,
        height=HIGH,
    )
    return Drawing(chart, {"rows": rows, "plan": plan}, says)


def _planned(x: "alt.X") -> "list[alt.Chart]":
    """Where the box is planned to be used, named above the frame, where no line is."""
    plan = named("plan").encode(x=x)
    middle = "datum.months > 0.75 * domain('x')[1] ? 'right' : datum.months < 0.25 * domain('x')[1] ? 'left' : 'center'"
    words = plan.mark_text(color=GREY, align=alt.ExprRef(middle))
    # A shape that says nothing of the basis of a figure.
    mark = plan.mark_point(shape="triangle-down", size=90, filled=True, color="#000")
    return [
        plan.mark_rule(color=GREY, strokeDash=[2, 3]),
        mark.encode(y=alt.Y("days_per_month:Q")),
        words.encode(y=alt.value(-8), text=alt.Text("label:N")),
    ]


def _told_apart(rows: "pd.DataFrame", usd_per_kwh: float) -> "pd.DataFrame":
    """The lines that are told apart at their ends: of the planned tariff, the dearest, the cheapest, then others.

    A tariff at which owning never pays has no line.
    """
    rows = rows[rows["break_even_days"].notna()]
    last = rows.groupby("tariff", sort=False).tail(1).sort_values("usd_per_kwh")
    places = HIGH * (1 - last["break_even_days"] / MOST_DAYS)
    planned = (last["usd_per_kwh"] - usd_per_kwh).abs().sort_values().index[:1]
    order = [*planned, *last.index[-1:], *last.index]
    shown: list[object] = []
    for one in dict.fromkeys(order):
        if len(shown) < 2 or all(abs(places[one] - places[other]) >= NEAR for other in shown):
            shown.append(one)
    kept = last.loc[[one for one in last.index if one in shown[:LINES]]]
    rows = rows[rows["tariff"].isin(kept["tariff"])]
    return with_names(rows, kept["tariff"], places[kept.index], HIGH)


def _surface_says(rows: "pd.DataFrame", usd_per_kwh: float) -> str:
    """What the shortest project that can pay asks for, and the longest, at the tariff nearest to the price list's."""
    nearest = (rows["usd_per_kwh"] - usd_per_kwh).abs()
    paying = rows[(nearest == nearest.min()) & rows["break_even_days"].notna()].sort_values("months")
    if paying.empty:
        return "Owning pays at no use, however long the project"
    short, long = paying.iloc[0], paying.iloc[-1]
    return (
        f"A project of {short['months']:.0f} months pays from {short['break_even_days']:.0f} days of use a month, "
        f"one of {long['months']:.0f} from {long['break_even_days']:.0f}"
    )


SURFACE = Chart(
    name="surface", stage="price", section="use", order=1, draw=surface, needs="utilisation",
    title="Days of use a month from which owning pays, by months of the project and electricity price",
    caption="Days of use a month from which owning pays, by length of the project and electricity price; above a line "
    "the box is cheaper, and a line that starts late never pays before. A tariff without a line never pays, or its "
    "line lies too near to another's.",
)  # fmt: skip
