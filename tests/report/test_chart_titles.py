"""What a chart's title says, by hand: the sentence is made from the rows that are drawn."""

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs
from report_tables import small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, bill, cash_flow, efficiency, surface, throughput
from sweetspot.report.draw import specification


def says(chart, tables=None):
    return CHARTS[chart].draw(ChartData(small_tables() if tables is None else tables, BOX)).says


def test_titles_of_the_decision():
    # the box needs 216.667 / (24 x (3.06 x 498 / 225 - 0.20)) = 1.37 days against the rented machine
    assert says("utilisation") == f"Against {RENTED} owning pays from 1.4 days of use a month"
    # at 0.10 USD an hour, 0.2213 for an hour's work of the box: 216.667 / (24 x 0.0213) is 423 days
    never = small_tables(inputs(price_p3=0.10))
    assert says("utilisation", never) == f"Against {RENTED} owning pays at no use within a month"
    # on demand and spot, at one speed: the cheaper of the two, and the box, which is faster and cheaper than both
    assert says("time_cost") == "Nothing beats 1 of 3 options on vgg16 in both time and money"
    assert says("images_per_usd") == f"Most images for a dollar on vgg16: {BOX}"


def test_the_tornado_names_what_moves_most_and_counts_what_turns():
    tables = small_tables()
    rows = tables["tornado"]
    rows["flips"] = [True, *[False] * (len(rows) - 1)]
    rows["swing"] = range(len(rows), 0, -1)
    first = str(rows["assumption"].iloc[0])
    said = f"What moves the answer most: {first}; 1 of {len(rows)} assumptions turn it"
    assert says("tornado", tables) == said


@pytest.mark.parametrize(
    ("own", "rented", "said"),
    [
        ([100, 110, 120], [0, 60, 120], "From month 2 on the box has cost less than the cloud"),  # equal is not dearer
        ([100, 110, 120], [0, 30, 60], "Within 2 months the box does not become cheaper than the cloud"),
        ([0, 10, 20], [0, 30, 60], "From month 0 on the box has cost less than the cloud"),
    ],
)
def test_the_month_from_which_owning_has_cost_less(own, rented, said):
    parts = [pd.DataFrame({"month": [0, 1, 2], "cumulative_usd": paid, "title": title})
             for title, paid in (("box of four", own), ("cloud of one", rented))]  # fmt: skip
    told = cash_flow._says(pd.concat(parts))
    assert told == said.replace("the box", "the box of four").replace("the cloud", "the cloud of one")


def test_lengths_of_a_project_are_told_at_the_tariff_of_the_price_list():
    rows = pd.DataFrame([(12, 0.1, None), (24, 0.1, 20.0), (48, 0.1, 9.6), (24, 0.4, 30.0)],
                        columns=["months", "usd_per_kwh", "break_even_days"])  # fmt: skip
    assert surface._says(rows, 0.15) == "A project of 24 months pays from 20 days of use a month, one of 48 from 10"
    assert surface._says(rows.head(1), 0.1) == "Owning pays at no use, however long the project"


def test_the_largest_line_of_the_reference_is_told():
    data = ChartData(small_tables(), BOX)
    rows = pd.DataFrame([(BOX, "possession", 75.0, 100.0), (BOX, "electricity", 25.0, 100.0), ("x", "use", 9.0, 9.0)],
                        columns=["option", "line", "usd", "total"])  # fmt: skip
    assert bill._says(data, rows) == f"75 % of what {BOX} costs is possession"
    assert bill._says(data, rows.tail(1)) == "100 % of what x costs is use"


def test_efficiencies_are_told_of_the_most_devices():
    seen = pd.DataFrame({"gpus": [1, 4, 8, 8], "efficiency": [1.0, 0.9, 0.834, 0.612]})
    assert efficiency._says(seen) == "8 devices do 61 to 83 % of 8 times the work of one"
    assert efficiency._says(seen.head(1)) == ""


def test_the_fastest_machine_is_counted_over_models():
    data = ChartData(small_tables(), BOX, {"a": "machine A", "b": "machine B"})
    rows = pd.DataFrame([("a", "m", 2.0), ("b", "m", 1.0), ("a", "n", 2.0), ("b", "n", 1.0), ("b", "o", 9.0)],
                        columns=["instance", "model", "images_per_s"])  # fmt: skip
    assert throughput._says(data, rows) == "Fastest on 2 of 3 models: machine A"
    assert throughput._says(data, rows.tail(1)) == "Fastest on o: machine B"


def test_a_long_title_has_lines():
    drawing = CHARTS["tornado"].draw(ChartData(small_tables(), BOX))._replace(says="word " * 30)
    lines = specification(drawing)["title"]["text"]
    assert len(lines) == 3 and max(map(len, lines)) <= 62 and " ".join(lines) == ("word " * 30).strip()
