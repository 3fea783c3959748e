"""What a chart's title says, by hand: the sentence is made from the rows that are drawn."""

import json
import re

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs
from report_tables import one_job, small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, owning, rates, scaling, stacks
from sweetspot.report.draw import specification

TWO = ("ranks", "frontier")


def says(chart, tables=None):
    return CHARTS[chart].draw(ChartData(small_tables() if tables is None else tables, BOX)).says


def test_titles_of_the_decision():
    # the box needs 216.667 / (24 x (3.06 x 498 / 225 - 0.20)) = 1.37 days against the rented machine
    assert says("utilisation") == f"Against {RENTED} owning pays from 1.4 days of use a month"
    # at 0.10 USD an hour, 0.2213 for an hour's work of the box: 216.667 / (24 x 0.0213) is 423 days
    never = small_tables(inputs(price_p3=0.10))
    assert says("utilisation", never) == f"Against {RENTED} owning pays at no use within a month"
    # 498 x 3600 / (216.667 / 240 + 0.20) are 1,625,708 images; the spot machine makes 225 x 3600 / 1.11 = 729,730
    assert says("images_per_usd") == f"Most images per USD on vgg16: {BOX}, 2.2 times as many as p3.2xlarge (spot)"


def test_titles_of_the_fronts_of_other_models():
    """On vgg16 the box is faster and cheaper than both; a second model is made by taking the box off its front."""
    tables = small_tables()
    for name in TWO:
        other = tables[name].assign(model="resnet50", workload="w2")
        if name == "frontier":
            other["on_front"] = other["option"] != BOX
        tables[name] = pd.concat([tables[name], other], ignore_index=True)
    assert says("time_cost", tables) == f"On resnet50 another option is both faster and cheaper than {BOX}"
    third = [tables[name][tables[name]["model"] == "vgg16"].assign(model="m3", workload="w3") for name in TWO]
    tables |= {name: pd.concat([tables[name], rows]) for name, rows in zip(TWO, third, strict=True)}
    assert says("time_cost", tables) == f"On 1 of 2 other models no option is both faster and cheaper than {BOX}"
    drawn = CHARTS["time_cost"].draw(ChartData(tables, BOX)).data
    assert set(drawn["rows"]["model"]) == set(drawn["keys"]["model"]) == {"resnet50", "m3"}  # vgg16 has its own chart
    nobody = CHARTS["time_cost"].draw(ChartData(tables, None)).says
    assert nobody == "m3: one option is both the fastest and the cheapest"  # the box, as on vgg16


def test_the_tornado_names_what_moves_most_and_counts_what_turns():
    tables = one_job()
    rows = tables["tornado"]
    rows["flips"] = [True, *[False] * (len(rows) - 1)]
    rows["swing"] = range(len(rows), 0, -1)
    first = str(rows["assumption"].iloc[0])
    said = f"What moves the answer most: {first}; {{}} of {len(rows)} assumptions changes which is cheapest"
    assert says("tornado", tables) == said.format(1)
    rows["flips"] = False
    assert says("tornado", tables) == said.format("none")


def test_an_assumption_that_moves_nothing_has_no_bar_and_a_kind_that_is_none_no_legend():
    tables = one_job()
    rows = tables["tornado"]
    rows["flips"], rows["swing"] = False, [0.001, *[0.5] * (len(rows) - 1)]
    rows["unit"], rows["low"], rows["high"], rows["value"] = "images/s", 0.00006, 0.00018, 0.00012
    drawing = CHARTS["tornado"].draw(ChartData(tables, BOX))
    assert len(drawing.data["rows"]) == len(rows) - 1 > 0
    # of a speed far below one a second the multiples of it: 0.06 / 0.12 and 0.18 / 0.12
    assert drawing.data["rows"]["title"].str.endswith("\n(0.5 to 1.5 times)").all()
    assert "turns the answer" not in legends(drawing)
    rows["flips"] = True
    assert legends(CHARTS["tornado"].draw(ChartData(tables, BOX))) == ["turns the answer"]


def test_a_bar_reaches_from_end_to_end_and_over_what_is_planned():
    """Of the first both ends lie below the planned 2.0: less work does not fill the box, more asks for a second one."""
    tables = one_job()
    rows = tables["tornado"].head(2).assign(margin=2.0, margin_low=[1.2, 3.0], margin_high=[1.5, 1.8], swing=1.0)
    tables["tornado"] = rows
    drawn = CHARTS["tornado"].draw(ChartData(tables, BOX)).data["rows"]
    assert drawn[["least", "most"]].to_numpy().tolist() == [[1.2, 2.0], [1.8, 3.0]]


def test_nothing_that_moves_the_answer_is_said():
    tables = one_job()
    tables["tornado"] = tables["tornado"].assign(flips=False, swing=0.0)
    drawing = CHARTS["tornado"].draw(ChartData(tables, BOX))
    assert drawing.data["rows"]["text"].tolist() == ["No assumption moves the answer."]


def legends(drawing):
    """The entries that are asked for by name."""
    return re.findall(r'"values": \["([^"]+)"\]', json.dumps(drawing.chart.to_dict(validate=False)))


@pytest.mark.parametrize(
    ("own", "rented", "said"),
    [
        ([100, 110, 120], [0, 60, 120], "From month 2 on the box has cost less than the cloud"),  # equal is not dearer
        ([100, 110, 120], [0, 30, 60], "Within 2 months the box does not become cheaper than the cloud"),
        ([0, 10, 20], [0, 30, 60], "From month 0 on the box has cost less than the cloud"),
        ([90, 91, 50], [0, 30, 60], "Only when it is sold, in month 2, has the box cost less than the cloud"),
        ([50, 59, 59.5], [0, 30, 60], "From month 2 on the box has cost less than the cloud"),  # by rent alone
    ],
)
def test_the_month_from_which_owning_has_cost_less(own, rented, said):
    parts = [pd.DataFrame({"month": [0, 1, 2], "cumulative_usd": paid, "title": title})
             for title, paid in (("box of four", own), ("cloud of one", rented))]  # fmt: skip
    told = owning._cash_flow_says(pd.concat(parts))
    assert told == said.replace("the box", "the box of four").replace("the cloud", "the cloud of one")


def test_lengths_of_a_project_are_told_at_the_tariff_of_the_price_list():
    rows = pd.DataFrame([(12, 0.1, None), (24, 0.1, 20.0), (48, 0.1, 9.6), (24, 0.4, 30.0)],
                        columns=["months", "usd_per_kwh", "break_even_days"])  # fmt: skip
    assert (
        owning._surface_says(rows, 0.15) == "A project of 24 months pays from 20 days of use a month, one of 48 from 10"
    )
    assert owning._surface_says(rows.head(1), 0.1) == "Owning pays at no use, however long the project"


def test_the_largest_line_of_the_reference_is_told():
    data = ChartData(small_tables(), BOX)
    rows = pd.DataFrame([(BOX, "possession", 75.0, 100.0), (BOX, "electricity", 25.0, 100.0), ("x", "use", 9.0, 9.0)],
                        columns=["option", "line", "usd", "total"])  # fmt: skip
    assert stacks._bill_says(data, rows) == f"{BOX} costs 100 USD: 75 % of it possession"
    assert stacks._bill_says(data, rows.tail(1)) == "x costs 9.00 USD: all of it use"


def test_a_bill_is_drawn_at_the_price_of_the_answer():
    """The list prints 80 + 20 USD; at the mean rent of the project's months the answer counts 90: 72 and 18."""
    line = dict.fromkeys(stacks.KEY, "a")
    rows = pd.DataFrame([line | {"line": "use", "usd": 80.0}, line | {"line": "fee", "usd": 20.0}]).assign(total=90.0)
    assert stacks._at_the_answers_price(rows)["usd"].tolist() == [72.0, 18.0]
    free = rows.assign(usd=0.0, total=0.0)
    assert stacks._at_the_answers_price(free)["usd"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("last", "ticks"), [(6, list(range(7))), (30, [*range(0, 31, 3)]), (36, [*range(0, 37, 6)]),
                                             (72, [*range(0, 73, 12)])])  # fmt: skip
def test_months_are_counted_in_years_and_parts_of_a_year(last, ticks):
    assert owning.month_ticks(last) == ticks


def test_efficiencies_are_told_of_the_most_devices():
    seen = pd.DataFrame({"gpus": [1, 4, 8, 8], "efficiency": [1.0, 0.9, 0.834, 0.612]})
    assert scaling._efficiency_says(seen) == "8 devices do 61 to 83 % of 8 times the work of one"
    assert scaling._efficiency_says(seen.head(1)) == ""


def test_the_fastest_machine_is_counted_over_models():
    rows = pd.DataFrame([("A", "m", 2.0), ("B", "m", 1.0), ("A", "n", 2.0), ("B", "n", 1.0), ("B", "o", 9.0)],
                        columns=["machine", "model", "images_per_s"])  # fmt: skip
    assert rates._often_fastest(rows) == ("2 of 3 models", "A")
    assert rates._often_fastest(rows.head(4)) == ("both models", "A")
    assert rates._often_fastest(rows.tail(1)) == ("o", "B")


def test_how_far_predictions_reach_is_told_of_the_widest():
    rows = pd.DataFrame([("box of four", 100.0, 80.0, 110.0), ("box of four", 200.0, 100.0, 250.0)],
                        columns=["machine", "images_per_s", "images_per_s_low", "images_per_s_high"])  # fmt: skip
    # 20 % and 50 % below, 10 % and 25 % above
    assert rates._reach(rows) == "The box of four may be from 50 % below to 25 % above what is predicted"
    cells = pd.DataFrame({"machine": "box of four", "cell": ["a", "a", "b", "b"], "method": ["x", "y"] * 2,
                          "images_per_s": [100.0, 110.0, 50.0, 80.0]})  # fmt: skip
    assert rates._apart(cells, "images/s") == "2 ways to predict are at most 60 % apart on the box of four"


def test_a_long_title_has_lines():
    drawing = CHARTS["tornado"].draw(ChartData(one_job(), BOX))._replace(says="word " * 30)
    lines = specification(drawing)["title"]["text"]
    assert len(lines) == 3 and max(map(len, lines)) <= 62 and " ".join(lines) == ("word " * 30).strip()
