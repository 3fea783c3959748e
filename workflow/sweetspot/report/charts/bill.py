"""Lines of the bills of the answer's model for its cheapest options."""

from typing import TYPE_CHECKING

from sweetspot.report.charts import Chart
from sweetspot.report.marks import (
    BESIDE,
    ORIGIN,
    PLAIN,
    PLOT,
    TEXT,
    Drawing,
    colour,
    empty,
    line_step,
    name_axis,
    named,
    told,
    wrapped,
)
from sweetspot.report.tables import table_of
from sweetspot.wording import begun, money, the

if TYPE_CHECKING:
    import pandas as pd

    from sweetspot.report.chart_data import ChartData
    from sweetspot.report.tables import Tables

SHOWN = 8  # bills
LEAST = 0.01  # of the dearest bill: a line of less is not seen, nor drawn
# Lines that have another name for their readers.
NAMES = {"possession": "owning it, used or not", "use": "machine time"}
OF_PRICES = {**ORIGIN, "price_source": f"price{TEXT}"}
KEY = ["price_list", "instance", "purchase", "workload", "model", "batch_size", "gpus", "precision"]


def draw(data: "ChartData") -> Drawing:
    """A bar an option, from its bill's lines; the cheapest persistent ones and the reference."""
    import altair as alt

    bills, ranks = data.table("bills"), data.table("ranks")
    if bills.empty or ranks.empty:
        return empty("No bill in this study.")
    chosen = ranks[(ranks["model"] == data.model) & ranks["workload"].isin(data.training())]
    chosen = chosen[chosen["persistent"] | (chosen["instance"] == data.reference)].head(SHOWN)
    facts = [*KEY, "option", "usd", *(name for name in OF_PRICES if name in chosen.columns)]
    rows = bills.merge(chosen[facts].rename(columns={"usd": "total"}), on=KEY)
    rows = _at_the_answers_price(rows.drop_duplicates([*KEY, "line"]))
    if rows.empty:
        return empty("No bill for the model of the answer.")
    rows = rows.assign(title=wrapped(data.titles(rows["option"])), line=rows["line"].replace(NAMES))
    drawn = rows[rows["usd"].abs() > LEAST * rows["total"].max()]
    order = alt.EncodingSortField("total", op="min", order="ascending")
    y = alt.Y("title:N", sort=order, title=None, axis=name_axis())
    axis = alt.Axis(tickCount=5, labelExpr=PLAIN)
    x = alt.X("usd:Q", title=data.words.usd.format(model=data.model), stack="zero", axis=axis)
    names = list(dict.fromkeys(drawn["line"]))
    lines = colour("line:N", names, shown=names if len(names) > 1 else (), room=BESIDE)
    prices = {name: title for name, title in OF_PRICES.items() if name in drawn.columns}
    bars = (
        named("rows")
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            y=y,
            x=x,
            color=lines,
            tooltip=told(title=f"option{TEXT}", line=f"line{TEXT}", usd="USD", total="USD of the whole bill", **prices),
        )
    )
    chart = alt.layer(bars, width=PLOT, height=line_step(drawn["title"], 24))
    return Drawing(chart, {"rows": drawn}, _says(data, rows))


def _at_the_answers_price(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Each bill at the price that the answer rests on (`total`): the mean of the project's months, where the price list
    prints today's.
    """
    printed = rows.groupby(KEY, dropna=False)["usd"].transform("sum")
    return rows.assign(usd=rows["usd"] * (rows["total"] / printed).where(printed != 0, 1.0))


def _says(data: "ChartData", rows: "pd.DataFrame") -> str:
    """The largest line of the reference's bill, or of the cheapest option's."""
    own = rows[rows["option"] == data.option]
    bill = own if len(own) else rows[rows["option"] == rows.sort_values("total")["option"].iloc[0]]
    total = float(bill["usd"].sum())
    if not total > 0:
        return ""
    most = bill.loc[bill["usd"].idxmax()]
    share, whose = round(100 * float(most["usd"]) / total), the(data.title(most["option"]))
    line = str(most["line"]).replace("_", " ")
    part = f"all of it {line}" if share >= 100 else f"{share} % of it {line}"
    return begun(f"{whose} costs {money(total)} USD{data.words.each}: {part}")


def _several_lines(tables: "Tables") -> bool:
    """Whether any bill has more than one line: without, the chart is that of the costs once more."""
    bills = table_of(tables, "bills")
    return bills.empty or bills.loc[bills["usd"] != 0, "line"].nunique() > 1


CHART = Chart(
    title="What a bill is made of",
    caption="What the bills of the cheapest options are made of, at the prices of the answer: rents are the mean of "
    "the project's months. A line of less than 1 % of the dearest is not drawn.",
    stage="price",
    section="costs",
    order=3,
    draw=draw,
    fits=_several_lines,
)
