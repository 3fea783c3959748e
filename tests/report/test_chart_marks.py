"""What all charts share, by hand: marks by basis, ticks, names in lines, legends, names at the ends of lines, keys."""

import pandas as pd
import pytest
from sweetspot.report.marks import (
    COLOURS,
    colour,
    empty,
    line_step,
    log_axis,
    name_axis,
    named_data,
    pixels,
    points,
    shape_key,
    tooltip,
    wrapped,
)


def parts(charts):
    """Each mark with where it is drawn."""
    made = [one.to_dict(validate=False) for one in charts]
    return [(one["mark"], one["encoding"], one.get("transform")) for one in made]


@pytest.mark.parametrize(("text", "thousandths"), [
    ("fijltrI .,:;|()[]/-", 19 * 280), ("mwMW@%", 6 * 850), ("ABNX", 4 * 690), ("abez09", 6 * 556), ("", 0),
])  # fmt: skip
def test_widths_of_letters(text, thousandths):
    """Of Arial, about: of 1000 the M has 833, the m 833, the i 222, the a 556."""
    assert pixels(text) == pytest.approx(12 * thousandths / 1000)


@pytest.mark.parametrize(("name", "width", "lines"), [
    ("RTX 4090", 212, "RTX 4090"),
    ("A i", 15, "A i"), ("A i", 14, "A\ni"),  # 12 x (690 + 280 + 280) / 1000 = 15
    # an a has 6.7 pixels, a blank 3.4: 37 hold four a's, 27 three, 17 two
    ("a a a a a", 37, "a a a\na a"), ("a a a a", 35, "a a\na a"),  # lines about as long as each other
    ("aaaaaaaaaa a", 30, "aaaaaaaaaa\na"),  # a word that is longer has a line of its own
])  # fmt: skip
def test_names_are_wrapped_within_a_width_and_balanced(name, width, lines):
    assert wrapped(pd.Series([name]), width).tolist() == [lines]


def test_names_beside_an_axis_have_212_pixels():
    name = "power of the bought server with 8 B200 SXM"
    lines = wrapped(pd.Series([name])).iloc[0].split("\n")
    assert " ".join(lines) == name and len(lines) == 2 and all(pixels(line) < 212 for line in lines)
    assert len(lines[1]) > len("SXM")  # no word alone where the line above can spare one
    just = "a" * 15 + " " + "a" * 15
    assert wrapped(pd.Series([f"{just}A", f"{just}AA"])).str.count("\n").tolist() == [0, 1]  # 211.8 and 220.1


def test_the_middle_of_a_names_lines_stands_at_its_tick():
    """Lines of 13 pixels: of two the first stands half a line higher, of three a whole one."""
    axis = name_axis().to_dict()
    moves = [(one["test"][-1], one["value"]) for one in axis["labelOffset"]["condition"]]
    assert moves == [("2", -6.5), ("3", -13), ("4", -19.5)] and axis["labelOffset"]["value"] == 0
    assert (axis["labelLimit"], axis["labelLineHeight"]) == (220, 13)
    assert line_step(pd.Series(["a", "a\nb\nc", "a\nb"]), 18).to_dict() == {"step": 18 + 2 * 13}


@pytest.mark.parametrize(("ends", "within", "first", "last"), [
    ((3.0, 3.4), [3, 3.1, 3.2, 3.3, 3.4], 0.1, 99),  # tenths, as five are enough
    ((3.0, 3.5), [3, 3.2, 3.4], 0.1, 98),
    ((3.0, 4.0), [3, 3.5, 4], 0.1, 95),
    ((2.0, 8.0), [2, 3, 5, 7], 0.1, 70),
    ((2.0, 40.0), [2, 5, 10, 20], 0.1, 500),
    ((1.0, 100.0), [1, 3, 10, 30, 100], 0.1, 3000),
    ((0.2, 900.0), [1, 10, 100], 0.01, 1000),
    ((1e-3, 1e4), [1e-3, 1e-2, 0.1, 1, 10, 100, 1000, 1e4], 1e-4, 1e5),  # no steps are few enough
    ((5.0, 5.0), [5], 5, 5),
])  # fmt: skip
def test_a_logarithmic_axis_has_at_most_five_ticks_with_the_closest_steps(ends, within, first, last):
    """Of the powers of ten from one below the least to one above that of the most: the scale is padded."""
    ticks = log_axis(pd.Series(ends)).to_dict()["values"]
    assert [tick for tick in ticks if ends[0] <= tick <= ends[1]] == pytest.approx(within)
    assert (ticks[0], ticks[-1]) == pytest.approx((first, last))


def test_shapes_tell_the_basis_and_what_nobody_measured_is_hollow():
    filled, weak, guess = parts(points(named_data("rows"), x="x:Q"))
    assert filled[0] == {"type": "point", "filled": True} and weak[0] == {"type": "point", "fill": "white"}
    assert guess[0] == weak[0] | {"strokeDash": [2.2, 1.6]}
    assert "stand_in" in weak[2][0]["filter"] and "transferred" in weak[2][0]["filter"]
    assert guess[2] == [{"filter": "datum.basis == 'extrapolated'"}]
    assert filled[2] == [{"filter": f"!({weak[2][0]['filter']} || {guess[2][0]['filter']})"}]
    scale = filled[1]["shape"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["published"] == "diamond"
    assert all(one[1]["x"] == {"field": "x", "type": "quantitative"} for one in (filled, weak, guess))


def test_a_tooltip_has_texts_and_numbers_of_four_digits():
    words, amount = (one.to_dict() for one in tooltip(name="option (text)", usd="USD"))
    assert words == {"field": "name", "title": "option", "type": "nominal"}
    assert amount == {"field": "usd", "title": "USD", "type": "quantitative", "format": ",.4~r"}


def test_the_key_names_the_shapes_that_are_drawn_best_first():
    key = shape_key(pd.Series(["extrapolated", "published", None, "published"]), "line: 90 % interval")
    assert key.replace("\u00a0", " ").split("   ") == ["◆ published", "◌ predicted", "line: 90 % interval"]
    assert key.count(" ") == 4  # a line ends between parts only


def test_an_absence_is_stated_in_a_low_frame():
    found = empty("nothing").chart.to_dict()
    assert (found["width"], found["height"]) == (340, 70) and found["layer"][0]["mark"]["color"] == "#555"
    assert empty("nothing").data["rows"]["text"].tolist() == ["nothing"]


BUYERS = ["cannot be taken away", "can be taken away", "the box"]


@pytest.mark.parametrize(("names", "more", "colours", "columns", "limit"), [
    # 34 pixels an entry besides its name: two of 27 letters, 180 wide, are within 420 - 2 x 34 = 352, but 360 are not
    (["a" * 26, "b" * 26, "c"], {}, COLOURS[:3], 2, 386),  # 2 x 173.5
    (["a" * 27, "b" * 26, "c"], {}, COLOURS[:3], 1, 386),  # 180.1 + 173.5
    (["a" * 8, "b"], {"room": 60 + 128}, COLOURS[:2], 2, 154),  # 53.4 + 6.7 + 68 = 128.0 of 188
    (list("abcdefgh"), {}, [*COLOURS, COLOURS[0]], 2, 386),
    (["a"], {}, COLOURS[:1], 2, 386),
    (BUYERS, {}, ["#0072B2", "#D55E00", "#000000"], 2, 386),
    (BUYERS[1:], {}, ["#D55E00", "#000000"], 2, 386),
])  # fmt: skip
def test_a_legend_has_one_column_where_two_of_its_names_find_no_room_together(names, more, colours, columns, limit):
    found = colour("kind:N", names, **more).to_dict()
    assert found["scale"] == {"domain": names, "range": colours}
    assert found["legend"] == {"title": None, "orient": "top", "columns": columns, "labelLimit": limit}


def test_a_legend_has_the_names_that_are_drawn_or_is_none():
    assert colour("kind:N", ["a", "b"], "kind").to_dict()["legend"]["title"] == "kind"
    assert colour("kind:N", ["a", "b"], legend=False).to_dict()["legend"] is None
