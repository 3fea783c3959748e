"""The tornado of both pages: which assumptions have a bar, and where bars and lines stand."""

import re

import pandas as pd
import pytest
from sweetspot.report.outcome import Outcome
from sweetspot.report.tornado import bar_of, tornado_chart, tornado_of
from sweetspot.wording import Money

NONE = float("nan")
PLACE = r'style="left:([\d.]+)%'
BAR = re.compile(rf'<i {PLACE};width:([\d.]+)%"></i><s {PLACE}"></s><u {PLACE}">')


def row(name="price", **changes):
    facts = {"workload": "w", "model": None, "assumption": name, "low": 1.0,
             "high": 20.0, "unit": "days/month", "margin": 1.1, "margin_low": 0.8, "margin_high": 1.5,
             "flip_value": NONE, "flip_factor": NONE, "best_title": "Cloud", "rival_title": "Box"}  # fmt: skip
    return facts | changes


def drawn(*ends, baseline=1.0):
    bars = [bar_of(row(margin_low=low, margin_high=high)) for low, high in ends]
    html = tornado_chart(bars, "the box", "Vast.ai", baseline)
    return [tuple(map(float, match)) for match in BAR.findall(html)]


def test_a_bar_reaches_from_end_to_end_of_one_axis():
    """0.8 to 1.3 is the whole axis: 0.9 is a fifth along it, a ratio of 1 two fifths, the baseline 1.1 three fifths."""
    assert drawn((0.8, 1.3), (1.2, 0.9), (1.1, 1.1), baseline=1.1) == [
        (0, 100, 60, 40), (20, 60, 60, 40), (60, 0.8, 60, 40)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((2.0, 3.0), (50, 50, 0, 0)),  # the axis begins where both cost the same: 1 to 3
        ((0.5, 0.75), (0, 50, 100, 100)),
        ((1.0, 1.0), (0, 0.8, 0, 0)),
    ],
)
def test_the_axis_holds_the_line_where_both_cost_the_same(ends, expected):
    assert drawn(ends) == [expected]


def test_names_are_escaped_and_amounts_are_in_the_currency():
    """5 USD an hour are 4 EUR; a figure that turns nothing has no threshold."""
    price = row("<b>", unit="USD/hour", low=2.5, high=5.0, flip_value=10.0, flip_factor=2.0)
    html = tornado_chart([bar_of(price), bar_of(row())], "A", "B", 1.5, Money("EUR", 1.25))
    assert "&lt;b&gt;" in html and "2 to 4 EUR/hour" in html and "8 EUR an hour" in html
    assert html.count("changes") == 1


def verdict():
    return Outcome.model_construct(workload="w")


def test_the_five_that_move_most_are_on_the_first_page():
    rows = [row(f"a{index}") for index in range(7)]
    rows[1] |= {"margin_low": NONE}  # without both ends
    rows.append(row("other", workload="x"))
    made = tornado_of({"tornado": pd.DataFrame(rows)}, verdict())
    assert [bar.assumption for bar in made.bars] == ["a0", "a2", "a3", "a4", "a5"]
    assert (made.best, made.runner_up, made.ratio, made.can_change) == ("Cloud", "Box", 1.1, True)
    firm = tornado_of({"tornado": pd.DataFrame([row(margin_low=1.0)])}, verdict())
    assert not firm.can_change
