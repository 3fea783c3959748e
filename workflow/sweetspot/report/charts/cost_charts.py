"""Charts of costs: hours against USD, what a bill is made of, and who does the work of the months."""

import math
import operator

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.report import alt, pd
from sweetspot.report import marks as look
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts.chart import WORDS, Chart
from sweetspot.report.notation import number
from sweetspot.report.tables import hours_differ
from sweetspot.wording import begun, money, the

WIDTH, HEIGHT = look.WIDTH - 70, 230  # pixels of the plot
MIN_DISTANCE = 15.0  # pixels between two points from which each has a number of its own
KEY_LINE, KEY_LINES = 17, 7  # pixels of a line of the key, and how many it has room for
MAX_COST_RATIO = 20.0  # to the cheapest: what costs more is left to the table, or it would flatten the rest
MAX_BILLS = 8
MIN_LINE_SHARE = 0.01  # of the largest bill: a smaller line would not be visible
# What readers call a line.
LINE_NAMES = {"possession": "owning it, used or not", "use": "machine time"}
BILL_KEY = ["price_list", "instance", "purchase", "workload", "model", "batch_size", "gpus", "precision"]


def front_rows(data: "ChartData") -> "pd.DataFrame":
    """Return the options (rows of `ranks`) that the chart of hours against USD draws, with four columns more. `kind`: a
    group for the colour; `label`: name at the point; `fits`: persistent; `on_front`: the same (if any option is), and
    no persistent one beats it (not slower, not dearer, better in one). Options above MAX_COST_RATIO times the cheapest,
    and beaten interruptible ones, are left out.
    """
    rows = data.answer_options()
    rows = rows[rows["in_answer"].eq(True) & (rows["hours"] > 0) & (rows["usd"] > 0)]
    accepted = rows["persistent"].eq(True)
    rivals = rows[accepted] if accepted.any() else rows
    points, rival_points = (table[["hours", "usd"]].to_numpy() for table in (rows, rivals))
    lower, equal = (compare(rival_points, points[:, None]) for compare in (operator.lt, operator.le))
    beaten = (equal.all(axis=2) & lower.any(axis=2)).any(axis=1)
    on_front = rows["option"].isin(rivals["option"]) & ~beaten
    is_reference = rows["option"] == data.option
    kind = rows["purchase"].isin(INTERRUPTIBLE).map({True: look.INTERRUPTIBLE, False: look.PERSISTENT})
    rows = rows.assign(
        kind=kind.mask(is_reference & bool(data.reference), data.title(data.option)),
        label=rows["option"].map(data.title).astype(str).str.replace(r" \[.*\]$", "", regex=True),
        fits=accepted,
        on_front=on_front,
    )
    affordable = rows["usd"] <= MAX_COST_RATIO * rivals["usd"].min()
    selected = rows[on_front | is_reference | (affordable & (accepted | ~beaten))]
    return selected.sort_values(["usd", "option"], kind="stable")


def number_points(rows: "pd.DataFrame", option: str) -> "pd.DataFrame":
    """Number the options on the front, and `option` ('': none), from the fastest to the slowest, for the chart's key.
    `rows`: of `front_rows`. Returns a row per numbered option: label, hours, usd, text (a line of the key), line (its
    position from 0), mark (text at the point: its number; the first of points within MIN_DISTANCE pixels has them all).
    """
    selected = rows[rows["on_front"] | (rows["option"] == option)].sort_values(["hours", "usd"])
    selected = selected[["label", "hours", "usd"]].drop_duplicates()
    logs, all_logs = (table[["hours", "usd"]].map(math.log) for table in (selected, rows))
    span = (all_logs.max() - all_logs.min()).replace(0.0, 1.0)
    pixels = (logs / span).to_numpy() * [WIDTH - 2 * look.MARGIN, HEIGHT - 2 * look.MARGIN]
    texts: list[str] = []
    point_numbers = [""] * len(selected)
    for index, (label, hours, usd) in enumerate(selected.itertuples(index=False)):
        texts.append(f"{index + 1}  {label}: {number(hours)} h, {number(usd)} USD")
        neighbours = (
            at for at in range(index) if point_numbers[at] and math.dist(pixels[at], pixels[index]) < MIN_DISTANCE
        )
        first = next(neighbours, index)
        point_numbers[first] = f"{point_numbers[first]}, {index + 1}".removeprefix(", ")
    return selected.assign(text=texts, line=range(len(texts)), mark=point_numbers)


def front(data: "ChartData", rows: "pd.DataFrame") -> look.Drawing:
    """Draw options as points by hours and USD, so that readers see the trade-off between time and cost. `rows`: of
    `front_rows`, options of `data`; a key below the chart explains the numbers at the points.
    """
    keys = number_points(rows, data.option if data.reference else "").head(KEY_LINES)
    x = look.log_channel(alt.X, "hours", "hours (log)", rows["hours"])
    y = look.log_channel(alt.Y, "usd", "USD (log)", rows["usd"])
    options = look.chart_of_data("rows").encode(x=x, y=y)
    line = options.transform_filter("datum.on_front")
    faint = options.transform_calculate(opacity="datum.fits ? 1 : 0.25")
    numbers = look.chart_of_data("keys").encode(x=x, y=y, text="mark:N")
    plot = alt.layer(
        line.mark_line(color=look.GREY, strokeDash=[4, 3], interpolate="step-after"),
        *look.points(
            faint.encode(opacity=alt.Opacity("opacity:Q", scale=None)),
            color=look.colour("kind:N", sorted(rows["kind"].unique(), reverse=True)),
            tooltip=look.tooltip(label="option (text)", hours="hours", usd="USD", **look.ORIGIN),
        ),
        # A white rim keeps a number legible where a line or a point lies behind it.
        numbers.mark_text(stroke="white", strokeWidth=4, dy=-14, fontWeight="bold"),
        numbers.mark_text(color="#111", dy=-14, fontWeight="bold"),
        width=WIDTH,
        height=HEIGHT,
    )
    lines = look.chart_of_data("keys").mark_text(align="left", baseline="middle", limit=look.WIDTH)
    scale = alt.Scale(domain=[KEY_LINES - 0.5, -0.5], nice=False, zero=False)
    lines = lines.encode(x=alt.value(0), y=alt.Y("line:Q", axis=None, scale=scale), text="text:N")
    frame = alt.ViewConfig(stroke=None)
    key = alt.layer(lines, width=WIDTH, height=KEY_LINE * KEY_LINES, view=frame)
    chart = alt.vconcat(plot, key, spacing=8)
    chart = chart.resolve_scale(x="independent", y="independent")
    says = f"Best trade-offs for {data.model}: {rows['on_front'].sum()} of {len(rows)} options"
    return look.Drawing(chart, {"rows": rows, "keys": keys}, says, look.shape_key(rows["basis"]))


FRONT = Chart(
    "front",
    *WORDS["front"],
    stage="price",
    section="whatif",
    select=front_rows,
    plot=front,
    needs="ranks",
    fits=hours_differ,
)


def bill_rows(data: "ChartData") -> "pd.DataFrame":
    """Return the rows that the chart of bills draws: one per option and line of its bill, such as electricity. From the
    table `bills`, of the cheapest persistent options and the reference. `usd` is scaled to the option's cost in the
    answer, `total`, which has the mean rent over the project, not today's.
    """
    options = data.answer_options()
    options = options[options["persistent"].eq(True) | (options["instance"] == data.reference)].head(MAX_BILLS)
    options = options.rename(columns={"usd": "total"})
    facts = options.loc[options["total"] > 0, [*BILL_KEY, "option", "total", *look.ORIGIN, "price_source"]]
    lines = data.table("bills").drop_duplicates([*BILL_KEY, "line"])
    rows = lines.merge(facts, on=BILL_KEY)
    printed = rows.groupby(BILL_KEY, dropna=False)["usd"].transform("sum")
    return rows.assign(
        usd=rows["usd"] * (rows["total"] / printed).where(printed != 0, 1.0),
        title=look.wrapped(rows["option"].map(data.title)),
        line=rows["line"].replace(LINE_NAMES).str.replace("_", " "),
    )


def bill(data: "ChartData", rows: "pd.DataFrame") -> look.Drawing:
    """Draw what each option's cost consists of: a stacked bar of the USD of its bill by line (chart `bill`). `rows`: of
    `bill_rows`, a row per option and line.
    """
    visible = rows[rows["usd"].abs() > MIN_LINE_SHARE * rows["total"].max()]
    names = list(visible["line"].unique())
    words = {"title": "option (text)", "line": "line (text)", "usd": "USD", "total": "USD of the whole bill"}
    cheapest_first = alt.EncodingSortField("total", op="min")
    title = data.words.usd.format(model=data.model)
    axis = alt.Axis(tickCount=5, labelExpr=look.THOUSANDS)
    bars = look.chart_of_data("rows").mark_bar(stroke="white", strokeWidth=0.5)
    bars = bars.encode(
        y=alt.Y("title:N", sort=cheapest_first, title=None, axis=look.name_axis()),
        x=alt.X("usd:Q", title=title, stack="zero", axis=axis),
        color=look.colour("line:N", names, legend=len(names) > 1, width=look.BESIDE),
        tooltip=look.tooltip(**words, **look.ORIGIN, price_source="price (text)"),
    )
    chart = alt.layer(bars, width=look.PLOT, height=look.line_step(visible["title"], 24))
    return look.Drawing(chart, {"rows": visible}, bill_finding(data, rows))


def bill_finding(data: "ChartData", rows: "pd.DataFrame") -> str:
    """Return the chart's title from the rows of `bill_rows`: the largest `line` of the reference's bill, in per cent.
    Without a reference it is the bill of the cheapest option.
    """
    reference_lines = rows[rows["option"] == data.option]
    lines = reference_lines if len(reference_lines) else rows[rows["total"] == rows["total"].min()]
    largest = lines.loc[lines["usd"].idxmax()]
    cost = f"{the(data.title(largest['option']))} costs {money(largest['total'])} USD{data.words.each}"
    return begun(f"{cost}: {100 * largest['usd'] / largest['total']:.0f} % of it {largest['line']}")


BILL = Chart("bill", *WORDS["bill"], stage="price", section="costs", select=bill_rows, plot=bill, needs="bills")
