"""The charts of the first page: nothing leaves them or lies over another name, and no stack towers over the rest."""

import math
import re
from itertools import combinations

import pandas as pd
import pytest
from sweetspot.report.first_charts import FAR, HIGH, TALL, WIDE, Dots, Point, bars_chart, dots_chart, points_chart
from sweetspot.report.marks import pixels
from sweetspot.report.tables import shares_had

LONG = "machine with 32 vCPUs and TensorFlow (preemptible)"


def row(name: str, outcomes: list[float], strong: bool = False) -> Dots:
    return Dots(name, "", "rent", name, sorted(outcomes)[len(outcomes) // 2], outcomes, strong)


def heights(html: str) -> list[float]:
    return [float(found) for found in re.findall(r"bottom:([\d.]+)px", html)]


def names_of(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, right, top and bottom of each name, in a type of 12 pixels."""
    boxes = []
    for x, y, anchor, name in re.findall(
        r'<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)" class="soft">(.*?)<', svg
    ):
        left = float(x) - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * pixels(name)
        boxes.append((left, left + pixels(name), float(y) - 10, float(y) + 2))
    return boxes


def test_equal_outcomes_are_pressed_into_a_stack_of_bounded_height():
    html = dots_chart([row("sure", [5.0] * 20, strong=True), row("other", [4.0 + n / 4 for n in range(20)])], "USD")
    assert len(heights(html)) == 40
    assert TALL / 2 < max(heights(html)) < TALL
    # where they lie apart a dot stands on the floor or on the one below it
    assert set(heights(dots_chart([row("apart", [float(n) for n in range(20)])], "USD"))) == {0.0}


def test_one_choice_far_beyond_all_others_does_not_press_them_into_a_corner():
    near = [row("box", [16.0 + n for n in range(20)], strong=True), row("cloud", [20.0 + n for n in range(20)])]
    html = dots_chart([*near, row("contract", [30 * FAR + 9 * n for n in range(20)])], "USD")
    assert float(re.search(r'data-most="([\d.]+)"', html)[1]) == pytest.approx(1.04 * 39)  # of the others
    assert "beyond the axis" in html and "210 →" in html  # 120 + 9 x 10
    # four times as much is within: it is drawn with its dots
    assert "beyond" not in dots_chart([*near, row("contract", [4.0 * 29 + n for n in range(5)])], "USD")
    # the answer itself is never beyond the axis
    assert "beyond" not in dots_chart([near[1], row("only", [900.0] * 20, strong=True)], "USD")


@pytest.mark.parametrize("places", [(0.01, 0.0183, 0.022, 0.0116), (1.0, 1.02, 1.04, 1.06), (9.0, 9.0, 0.1, 5.0)])
def test_names_of_points_stay_within_the_chart_and_off_each_other(places):
    points = [Point(f"{LONG} {n}"[n:], "rent", x, 1.0 + n) for n, x in enumerate(places)]
    boxes = names_of(points_chart(points, "hours", "USD", "Hours and cost"))
    assert len(boxes) == 4
    assert all(left >= 0 and right <= WIDE and top >= 0 and bottom <= HIGH for left, right, top, bottom in boxes)
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


def test_bars_say_what_their_line_is():
    html = bars_chart([("price of the box", 1.3, 0.8, "changes at 15,170 USD")], "the box", "Vast.ai")
    assert "Left of the line Vast.ai is cheaper than the box." in html and "No figure turns it" not in html
    both = bars_chart(
        [("price of Nebius", 1.3, 0.8, "changes at 77.6 USD")], "Nebius", "Lambda", none_turns=True, alike=True
    )
    assert "No figure turns it within its range." in both
    assert "Left of the line Lambda is cheaper than Nebius, which changes the machine, not the verdict." in both
    # 0.8 to 1.3 is all of the track; cost is the same at 1.0, two fifths along it
    assert "left:0%;width:100%" in html and "left:40%" in html


def test_a_point_is_filled_by_the_share_of_attempts_in_which_it_is_to_be_had():
    points = [Point("A", "rent", 1.0, 9.0, 0.13), Point("B", "buy", 2.0, 5.0)]
    fills = re.findall(r'class="k-(\w+)"[^>]*fill-opacity="([\d.]+)"', points_chart(points, "hours", "USD", "One job"))
    assert fills == [("rent", "0.13"), ("buy", "1.00")]


def test_a_name_ends_in_the_share_of_attempts_of_all_nodes_and_of_one():
    rows = [("one", 0.13, math.nan), ("nodes", 0.13, 0.13**2), ("always", 1.0, 1.0), ("unknown", math.nan, math.nan)]
    options = pd.DataFrame(rows, columns=["option", "p_stock", "p_stock_all"])
    found = shares_had({"options": options})  # 0.13 x 0.13 = 0.0169
    assert found == {"one": (0.13, ", 13 %"), "nodes": (0.13, ", 2-13 %"), "always": (1.0, ", 100 %")}
    assert shares_had({"options": options[["option"]]}) == {}
