"""What all charts share, by hand: marks by basis, ticks, names in lines, legends, names at the ends of lines, keys."""

import pandas as pd
import pytest
from sweetspot.report.marks import (
    COLOURS,
    chart_of_data,
    colour,
    empty,
    line_step,
    log_axis,
    name_axis,
    points,
    shape_key,
    tooltip,
    wrapped,
)


def parts(charts):
    """Each mark with where it is drawn."""
    made = [one.to_dict(validate=False) for one in charts]
    return [(one["mark"], one["encoding"], one.get("transform")) for one in made]


def test_names_have_lines_of_at_most_32_letters():
    names = ["RTX 4090", "power of the bought server with 8 B200 SXM", "a" * 40]
    lines = ["RTX 4090", "power of the bought server with\n8 B200 SXM", "a" * 32 + "\n" + "a" * 8]
    assert wrapped(pd.Series(names)).tolist() == lines


def test_the_middle_of_a_names_lines_stands_at_its_tick():
    """Lines of 13 pixels: of two the first stands half a line higher, of three a whole one."""
    axis = name_axis().to_dict()
    moves = [(one["test"][-1], one["value"]) for one in axis["labelOffset"]["condition"]]
    assert moves == [("2", -6.5), ("3", -13), ("4", -19.5)] and axis["labelOffset"]["value"] == 0
    assert (axis["labelLimit"], axis["labelLineHeight"]) == (220, 13)
    assert line_step(pd.Series(["a", "a\nb\nc", "a\nb"]), 18).to_dict() == {"step": 18 + 2 * 13}


@pytest.mark.parametrize(("ends", "ticks"), [
    ((3.0, 3.4), [3, 3.1, 3.2, 3.3, 3.4]),  # evenly spaced where the highest is less than five times the lowest
    ((3.0, 3.5), [3, 3.2, 3.4, 3.6]), ((2.0, 8.0), [2, 4, 6, 8]),
    ((2.0, 40.0), [1, 3, 10, 30, 100, 300]), ((5.0, 5.0), [5])
])  # fmt: skip
def test_a_logarithmic_axis_has_round_ticks(ends, ticks):
    assert log_axis(pd.Series(ends)).to_dict()["values"] == pytest.approx(ticks)


def test_shapes_tell_the_basis_and_what_nobody_measured_is_hollow():
    filled, weak, guess = parts(points(chart_of_data("rows"), x="x:Q"))
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
    # 6.7 pixels a letter and 34 an entry: two of 26 letters take 2 x 208.2 of 420, with 27 in one of them 423.1
    (["a" * 26, "b" * 26, "c"], {}, COLOURS[:3], 2, 386), (["a" * 27, "b" * 26, "c"], {}, COLOURS[:3], 1, 386),
    (list("abcdefgh"), {"width": 188}, [*COLOURS, COLOURS[0]], 2, 154), (["a"], {}, COLOURS[:1], 2, 386),
    (BUYERS, {}, ["#0072B2", "#D55E00", "#000000"], 2, 386), (BUYERS[1:], {}, ["#D55E00", "#000000"], 2, 386)
])  # fmt: skip
def test_a_legend_has_one_column_where_two_of_its_names_find_no_room_together(names, more, colours, columns, limit):
    legend = colour("kind:N", names, **more).to_dict()
    assert legend["scale"] == {"domain": names, "range": colours}
    assert (legend["legend"]["columns"], legend["legend"]["labelLimit"]) == (columns, limit)


def test_a_legend_has_the_names_that_are_drawn_or_is_none():
    assert colour("kind:N", ["a", "b"], "kind").to_dict()["legend"]["title"] == "kind"
    assert colour("kind:N", ["a", "b"], legend=False).to_dict()["legend"] is None
