"""The tornado of both pages: which assumptions have a bar, and where bars and lines stand."""

import re

import pytest
from sweetspot.report.tornado import TornadoBar, tornado_chart, widest_bars

PLACE = r'style="left:([\d.]+)%'
BAR = re.compile(rf'<i {PLACE};width:([\d.]+)%"></i><s {PLACE}"></s><u {PLACE}">')


def drawn(*ends, baseline=1.0):
    bars = [TornadoBar("price", low, high) for low, high in ends]
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


def row(name, swing, **changes):
    facts = {"assumption": name, "swing": swing, "flips": False, "low": 1.0, "high": 20.0, "unit": "days/month"}
    return facts | {"margin_low": 1.0, "margin_high": 1.0 + swing} | changes


def test_the_ten_widest_have_a_bar_and_what_moves_nothing_has_none():
    rows = [row(f"a{index}", index / 100) for index in range(12)] + [row("turns", 0.0, flips=True)]
    bars = widest_bars(rows)
    assert [bar.assumption for bar in bars] == [f"a{index}" for index in range(11, 1, -1)]
    assert [bar.assumption for bar in widest_bars([row("none", 0.005), row("turns", 0.0, flips=True)])] == ["turns"]
    assert bars[0].range_text == "1 to 20 days/month"


def test_names_and_ranges_are_escaped_and_thresholds_stand_below():
    html = tornado_chart([TornadoBar("<b>", 1.0, 2.0, "1 to 2", "changes at 15,170 USD")], "A", "B", 1.5)
    assert "&lt;b&gt;" in html and "<small>changes at 15,170 USD</small>" in html
