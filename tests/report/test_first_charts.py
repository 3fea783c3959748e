"""The first page's charts by hand: where each line, dot, bar and name stands, in a chart's own pixels.

A chart of axes is 440 x 250: 374 pixels from 52 to 426 across, 192 from 216 up to 24.
"""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from sweetspot.report.first_charts import (
    Dots,
    Point,
    Series,
    _free_place,
    _meet,
    areas_chart,
    dots_chart,
    lines_chart,
    points_chart,
    short_money,
    tick_words,
    ticks,
)
from sweetspot.report.marks import pixels

LONG = "machine with 32 vCPUs and TensorFlow (preemptible)"


def row(name: str, value: float, outcomes: list[float], *strong: bool) -> Dots:
    return Dots(name.lower(), "hire", "rent", name, value, outcomes, *strong)


def bottoms(html: str) -> list[float]:
    """Pixels from the floor to each dot."""
    return [float(found) for found in re.findall(r"bottom:([\d.]+)px", html)]


def pieces(svg: str) -> list[tuple[str, ...]]:
    """Each piece of an SVG: its class or anchor, where it is, and what it says."""
    told = []
    for one in ET.fromstring(svg):
        if one.tag == "text":
            told.append((one.get("text-anchor"), one.get("class"), f"{one.get('x')} {one.get('y')}", one.text))
        else:
            point = f"{one.get('cx')} {one.get('cy')} {one.get('fill-opacity')}"
            told.append((one.get("class"), one.get("d") or point))
    return told


@pytest.mark.parametrize(("value", "said"), [
    (0.5, "0.50"), (99.9, "99.9"), (100.0, "100"), (9_999.0, "9,999"), (10_000.0, "10 k"), (12_340.0, "12.3 k"),
    (-12_340.0, "-12.3 k"), (999_499.0, "999 k"), (999_500.0, "1 M"), (1_234_000.0, "1.23 M"),
])  # fmt: skip
def test_money_on_an_axis_is_short(value, said):
    assert short_money(value) == said


def test_a_tick_below_a_hundred_has_no_needless_places():
    assert [tick_words(value) for value in (0.0, 2.5, 50.0, 100.0, 20_000.0)] == ["0", "2.5", "50", "100", "20 k"]


@pytest.mark.parametrize(("most", "found"), [
    (100.0, [0, 25, 50, 75, 100]), (4.0, [0, 1, 2, 3, 4]), (7.9, [0, 2, 4, 6]), (22.0, [0, 10, 20]),
    (9.0, [0, 2.5, 5, 7.5]), (17.0, [0, 5, 10, 15]), (4000.0, [0, 1000, 2000, 3000, 4000]),
    (0.4, [0, 0.1, 0.2, 0.3, 0.4]), (0.03, [0, 0.01, 0.02, 0.03]), (4e-5, [0, 1e-5, 2e-5, 3e-5, 4e-5]),
])  # fmt: skip
def test_ticks_are_round_and_at_most_as_many_as_asked_besides_zero(most, found):
    assert ticks(most) == pytest.approx(found, rel=1e-12)


def test_dots_are_stacked_where_they_meet_and_a_tick_stands_at_the_middle():
    """The axis ends at 1.04 x 25 = 26 and has 46 places: 10 is in the 18th (17.7), 25 in the 45th (44.2)."""
    html = dots_chart([row("A", 10.0, [10.0, 25.0, 10.0, 10.0], True), row("B", 13.0, [0.0])], "EUR")
    assert bottoms(html) == [0, 0, 9, 18, 0]
    # 100 x 17.5 / 46, 44.5 / 46, 0.5 / 46
    assert re.findall(r'<i style="left:([\d.]+)%;', html) == ["38", "96.7", "38", "38", "1.09"]
    assert html.startswith('<div class="dots" data-most="26.0">')
    # rows of 3 x 9 + 2 and 1 x 9 + 2 pixels, and 18 for the label
    assert re.findall(r'style="height:(\d+)px"', html) == ["47", "29"]
    assert re.findall(r'<em style="left:([\d.]+)%">([^<]+)', html) == [("38.46", "10.0"), ("50", "13.0")]
    axis = '<div class="axis" aria-hidden="true"><i style="left:0%">0</i><i style="left:38.46%">10</i>'
    assert html.endswith(f'{axis}<i style="left:76.92%">20</i><b>EUR</b></div></div>')
    assert '<div class="row k-rent" data-choice="a" data-usd="10.0" data-outcomes="[10.0, 25.0, 10.0, 10.0]">' in html
    assert "<small>hire</small><b>A</b>" in html and "<small>hire</small><span>B</span>" in html
    assert 'aria-label="A: 10.0, 10.0 to 25.0"' in html and 'aria-label="B: 13.0, 0 to 0"' in html


def test_a_high_stack_is_pressed_into_66_pixels():
    html = dots_chart([row("sure", 5.0, [5.0] * 20)], "USD")
    assert bottoms(html) == pytest.approx([3.3 * n for n in range(20)], rel=0.01)  # 66 / 20
    assert 'style="height:86px"' in html  # 66 + 2 + 18


def test_one_choice_far_beyond_all_others_does_not_press_them_into_a_corner():
    near = [row("box", 26.0, [16.0, 40.0]), row("cloud", 30.0, [20.0, 50.0])]
    html = dots_chart([*near, row("contract", 120.5, [90.0, 300.0])], "USD")
    assert 'data-most="52.0"' in html and html.count("</i>") == 4 + 3  # dots of two; 0, 20 and 40
    told = '<div class="field" role="img" aria-label="contract: 120, beyond the axis"><em>120 →</em></div></div>'
    assert told in html and 'row far k-rent" data-choice="contract" data-usd="120.5" data-outcomes="[]">' in html
    # four times as much is within: it is drawn with its dots; the answer itself is never beyond the axis; nor one alone
    for rows in ([*near, row("contract", 120.0, [90.0, 300.0])], [near[1], row("only", 900.0, [900.0], True)],
                 [row("contract", 900.0, [900.0])]):  # fmt: skip
        assert "beyond" not in dots_chart(rows, "USD")


def test_lines_their_bands_marks_and_names():
    """Ten across: 37.4 pixels each. The axis goes up to 1.05 x 40 = 42: 20 is at 216 - 192 x 20 / 42 = 124.6."""
    two = [
        Series("A", "buy", [(0.0, 0.0), (5.0, 10.5), (10.0, 20.0)], [(0.0, 0.0, 20.0), (10.0, 10.5, 40.0)]),
        Series("B", "rent", [(0.0, 20.0), (10.0, 20.0), (10.0, 10.5)]),  # sold at the end, from where it falls
    ]
    svg = lines_chart(two, "days", "USD", "Money", [(5.0, "you"), (8.6, "crossing"), (8.0, "crossing")])
    assert svg.startswith('<svg viewBox="0 0 440 250" role="img" aria-label="Money">')
    assert pieces(svg) == [
        ("grid", "M52 216.0H426"), ("end", "", "47.0 220.0", "0"),  # 5 left of the axis, 4 under its line
        ("grid", "M52 124.6H426"), ("end", "", "47.0 128.6", "20"),
        ("grid", "M52 33.1H426"), ("end", "", "47.0 37.1", "40"),
        ("middle", "", "52.0 232.0", "0"), ("middle", "", "145.5 232.0", "2.5"), ("middle", "", "239.0 232.0", "5"),
        ("middle", "", "332.5 232.0", "7.5"), ("middle", "", "426.0 232.0", "10"),
        ("end", "", "426.0 247.0", "days"), ("start", "", "2.0 10.0", "USD"),
        ("band k-buy", "M52.0 124.6L426.0 33.1L426.0 168.0L52.0 216.0Z"),
        ("mark", "M239.0 24V216"), ("start", "soft", "243.0 34.0", "you"),
        # 1.2 x 46.8 pixels have room to 426 from 355.2 on, not from 377.6
        ("mark", "M373.6 24V216"), ("end", "soft", "369.6 48.0", "crossing"),
        ("mark", "M351.2 24V216"), ("start", "soft", "355.2 62.0", "crossing"),
        ("line k-buy", "M52.0 216.0L239.0 168.0L426.0 124.6"),
        ("line k-rent", "M52.0 124.6L426.0 124.6L426.0 168.0"),
        # 6 over its highest end, 4 before it; the next 14 below
        ("end", "k-buy", "422.0 118.6", "A"), ("end", "k-rent", "422.0 132.6", "B"),
    ]  # fmt: skip


def test_a_chart_of_nothing_but_zero_has_axes():
    svg = lines_chart([Series("A", "buy", [(0.0, 0.0)])], "days", "USD", "x")
    assert {("line k-buy", "M52.0 216.0"), ("end", "", "47.0 28.0", "1"), ("middle", "", "426.0 232.0", "1")} < {
        *pieces(svg)
    }


def test_points_are_filled_by_how_often_they_are_had_and_named_beside():
    """Axes of 1.1 x 10 and 1.1 x 20, the highest first: its name is 1.2 x 13.3 pixels wide."""
    svg = points_chart([Point("cd", "buy", 5.0, 10.0), Point("ab", "rent", 10.0, 20.0, 0.13)], "hours", "USD", "x")
    assert pieces(svg)[-4:] == [
        ("k-rent", "392.0 41.5 0.13"), ("start", "soft", "400.0 45.5", "ab"),
        ("k-buy", "222.0 128.7 1.00"), ("start", "soft", "230.0 132.7", "cd"),
    ]  # fmt: skip


def test_a_name_keeps_off_points_and_names_that_are_there():
    """Of three points at one place all have 6 pixels around them, and a name 11 over its base and 3 below it."""
    svg = points_chart([Point(name, "buy", 10.0, 20.0) for name in ("ab", "cd", "ef")], "hours", "USD", "x")
    assert [piece[2:] for piece in pieces(svg) if piece[1] == "soft"] == [
        ("400.0 45.5", "ab"), ("384.0 45.5", "cd"), ("392.0 31.5", "ef")
    ]  # fmt: skip


def test_a_name_goes_around_what_is_taken():
    """Of 40 pixels, at (100, 100): right, left, then over and under in turn; each found is taken next."""
    right, left = (108.0, 148.0, 93.0, 107.0), (52.0, 92.0, 93.0, 107.0)
    over = [(by, (80.0, 120.0, 89.0 + by, 103.0 + by)) for by in (-10, 19, -24, 33, -38, 47)]
    taken = []
    for place, box in [
        ((108, 104, "start"), right), ((92, 104, "end"), left), *(((100, 100 + by, "middle"), box) for by, box in over)
    ]:  # fmt: skip
        assert _free_place(100.0, 100.0, 40.0, taken) == place
        taken.append(box)
    assert _free_place(100.0, 100.0, 40.0, taken) == (108, 104, "start")


UNDER, OVER = (110.0, 112.0, 107.0, 120.0), (110.0, 112.0, 80.0, 93.0)  # only touch the first place
RIGHT = (80.0, 82.0, 95.0, 105.0)


@pytest.mark.parametrize(("x", "y", "wide", "taken", "found"), [
    (100.0, 100.0, 40.0, [UNDER, OVER], (108, 104, "start")),
    (100.0, 100.0, 40.0, [(110.0, 112.0, 106.5, 120.0)], (92, 104, "end")),
    (100.0, 100.0, 40.0, [(110.0, 112.0, 80.0, 93.5)], (92, 104, "end")),
    (392.0, 100.0, 40.0, [], (400, 104, "start")),  # up to the edge, 440
    (392.5, 100.0, 40.0, [], (384.5, 104, "end")),
    (99.0, 100.0, 40.0, [(110.0, 112.0, 95.0, 105.0)], (99, 90, "middle")),  # 51 on the left is beyond the axis
    (72.0, 100.0, 40.0, [RIGHT], (54, 90, "start")),  # no room for the middle
    (72.5, 100.0, 40.0, [RIGHT], (72.5, 90, "middle")),
    (420.0, 100.0, 40.0, [(400.0, 401.0, 95.0, 105.0)], (438, 90, "end")),
    (419.5, 100.0, 40.0, [(400.0, 401.0, 95.0, 105.0)], (419.5, 90, "middle")),
    (100.0, 7.0, 40.0, [], (108, 11, "start")),  # up to the upper edge
    (100.0, 6.5, 40.0, [], (100, 25.5, "middle")),
    (219.0, 100.0, 500.0, [], (54, 90, "start")),  # nowhere: from the nearer edge
    (220.0, 100.0, 500.0, [], (438, 90, "end")),
])  # fmt: skip
def test_a_name_stays_within_the_chart(x, y, wide, taken, found):
    assert _free_place(x, y, wide, taken) == found


@pytest.mark.parametrize(("other", "met"), [
    ((10.0, 20.0, 0.0, 10.0), False), ((-10.0, 0.0, 0.0, 10.0), False), ((0.0, 10.0, 10.0, 20.0), False),
    ((0.0, 10.0, -10.0, 0.0), False), ((9.0, 20.0, 9.0, 20.0), True), ((-9.0, 1.0, -9.0, 1.0), True),
])  # fmt: skip
def test_names_that_only_touch_do_not_meet(other, met):
    assert _meet((0.0, 10.0, 0.0, 10.0), other) == met


@pytest.mark.parametrize("places", [(0.01, 0.0183, 0.022, 0.0116), (1.0, 1.02, 1.04, 1.06), (9.0, 9.0, 0.1, 5.0)])
def test_long_names_of_points_stay_within_the_chart_and_off_each_other(places):
    """Left, right, top and bottom of each name, in a type of 12 pixels."""
    points = [Point(f"{LONG} {n}"[n:], "rent", x, 1.0 + n) for n, x in enumerate(places)]
    boxes = []
    for anchor, kind, at, name in (one for one in pieces(points_chart(points, "h", "USD", "x")) if len(one) == 4):
        x, y = map(float, at.split())
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * pixels(name)
        boxes += [(left, left + pixels(name), y - 10, y + 2)] if kind == "soft" else []
    assert len(boxes) == 4
    assert all(left >= 0 and right <= 440 and top >= 0 and bottom <= 250 for left, right, top, bottom in boxes)
    assert not any(_meet(one, other) for one, other in combinations(boxes, 2))


def test_areas_lie_on_each_other():
    """Up to 1.05 x 20: 10 is at 216 - 192 x 10 / 21 = 124.6, 20 at 33.1, 5 at 170.3. The lower has no point at 50."""
    layers = [("base", "own", [(0.0, 10.0), (100.0, 10.0)]), ("peak", "rent", [(100.0, 0.0), (50.0, 5.0), (0.0, 10.0)])]
    assert pieces(areas_chart(layers, "% of months", "hours", "Load"))[-4:] == [
        ("area k-own", "M52.0 124.6L426.0 124.6L426.0 216.0L52.0 216.0Z"), ("end", "k-own", "422.0 36.0", "base"),
        ("area k-rent", "M52.0 33.1L239.0 170.3L426.0 124.6L426.0 124.6L239.0 216.0L52.0 124.6Z"),
        ("end", "k-rent", "422.0 51.0", "peak"),
    ]  # fmt: skip
