"""Charts of speeds and efficiencies, of a few rows by hand."""

import pandas as pd
import pytest
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.charts.speed_charts import efficiency_finding
from sweetspot.report.marks import COLOURS

SPEED = "instance model batch_size images_per_s images_per_s_low images_per_s_high basis source as_of"


def speeds(*rows) -> pd.DataFrame:
    """Of (instance, model, batch, images/s, low, high, basis) or only its beginning."""
    rest = (None, None, "published")
    return frame(SPEED, *((*row, *rest[len(row) - 4 :], "paper", "2018") for row in rows))


def drawn(*rows, reference="box", machines=None, **more):
    return CHARTS["throughput"].draw(ChartData(answered(throughput=speeds(*rows), **more), reference, machines))


def test_the_fastest_machines_of_each_model_are_drawn():
    """Twelve of one model, all that were measured here and the reference; of nine models four, but six at least."""
    many = [(f"g{n}", "m", 1, 100.0 + n) for n in range(14)]
    slow = [("slow", "m", 1, 2.0, None, None, "measured"), ("box", "m", 1, 1.0), ("none", "m", 1, 0.0)]
    assert set(drawn(*many, *slow).data["rows"]["instance"]) == {*(f"g{n}" for n in range(2, 14)), "slow", "box"}
    for models, shown in ((4, 9), (9, 6)):  # 36 in all
        rows = drawn(*((f"g{n}", f"m{m}", 1, 100.0 + n) for n in range(14) for m in range(models))).data["rows"]
        assert rows["model"].value_counts().tolist() == [shown] * models


def test_of_a_cell_the_fastest_figure_is_drawn_and_the_headline_of_predictions():
    guess = speeds(("box", "m", 1, 7.0, 5.0, 9.0, "extrapolated"), ("box", "m", 1, 8.0, 5.0, 9.0, "extrapolated"))
    own = [("a", "m", 1, 3.0), ("a", "m", 1, 4.0), ("a", "m", 2, 5.0)]
    rows = drawn(*own, extrapolation=guess.assign(headline=[True, False])).data["rows"]
    assert table(rows, "instance batch images_per_s title") == [
        ["a", "1", 4, "a"], ["a", "2", 5, "a"], ["box", "1", 7, "box"]
    ]  # fmt: skip


def test_a_figure_that_stands_in_for_other_batches_is_drawn_once():
    """Published at batch 256, taken for 64 too, where nobody printed one."""
    rows = drawn(*(("tpu" if batch != 16 else "gpu", "m", batch, speed, None, None, basis)
                   for batch, speed, basis in ((64, 9.0, "stand_in"), (256, 9.0, "published"), (32, 8.0, "stand_in"),
                                               (16, 5.0, "stand_in")))).data["rows"]  # fmt: skip
    assert sorted(table(rows, "batch_size basis")) == [[16, "stand_in"], [32, "stand_in"], [256, "published"]]


def test_of_machines_with_the_same_speed_one_is_drawn():
    """The reference, else the one with the best basis; at another batch the speeds differ."""
    rows = [("aws", "m", 8, 100.0, None, None, "equivalent"), ("lab", "m", 8, 100.0), ("fast", "m", 8, 101.0),
            ("aws", "m", 16, 150.0)]  # fmt: skip
    assert sorted(table(drawn(*rows).data["rows"], "instance batch_size")) == [["aws", 16], ["fast", 8], ["lab", 8]]
    with_reference = drawn(*rows, ("box", "m", 8, 100.0, None, None, "equivalent"))
    assert set(with_reference.data["rows"]["instance"]) == {"aws", "fast", "box"}


def test_speeds_are_points_on_their_intervals_one_panel_a_model():
    rows = [("a", "m", 1, 3.0, 2.0, 4.0), ("a", "m", 2, 5.0), ("b", "n", 1, 6.0, 5.0, 7.0)]
    drawing = drawn(*rows)
    assert drawing.says == "Fastest on 1 of 2 models: a"
    assert drawing.key.replace("\u00a0", " ").split("   ") == ["◆ published", "line: 95 % interval, predicted 90 %"]
    spec = spec_of(drawing)
    assert spec["facet"]["row"]["sort"] == ["m", "n"] and spec["data"] == {"name": "rows"}
    line, filled, *_ = marks_of(spec)
    assert line["transform"] == [{"filter": "isValid(datum.images_per_s_low)"}]
    assert line["encoding"]["x"]["title"] == filled["encoding"]["x"]["title"] == "images/s (log scale)"
    assert filled["encoding"]["color"]["scale"] == {"domain": ["1", "2"], "range": COLOURS[:2]}
    alone = drawn(rows[1], machines={"a": "Machine A"})
    assert alone.says == "Fastest on m: Machine A" and "line" not in alone.key
    assert marks_of(spec_of(alone))[1]["encoding"]["color"]["legend"] is None
    # Of more batches than colours each has its name beside the axis.
    for count, title in ((7, "a"), (8, "a, batch 1")):
        many = drawn(*(("a", "m", n, 1.0 * n) for n in range(1, count + 1)))
        assert many.data["rows"]["title"].iloc[0] == title
    assert marks_of(spec_of(many))[1]["encoding"]["color"] == {"value": COLOURS[0]}


def seen(*rows) -> pd.DataFrame:
    made = frame("base_instance instance model gpus efficiency", *rows)
    return made.assign(batch_size=8, basis="published", source="paper", as_of="2018")


def efficiencies(table):
    return CHARTS["efficiency"].draw(ChartData(answered(efficiency=table), "box"))


def test_efficiency_is_a_line_a_family():
    drawing = efficiencies(seen(("a", "a8", "m", 2, 0.95), ("a", "a8", "m", 8, 0.9)))
    rows = drawing.data["rows"].sort_values(["family", "gpus"])
    assert table(rows, "family gpus efficiency") == [["a", 1, 1], ["a", 2, 0.95], ["a", 8, 0.9]]
    assert drawing.says == "8 devices do 90 % of 8 times the work of one"
    line, dots, *_ = marks_of(spec_of(drawing))
    x, y = (line["encoding"][axis] for axis in "xy")
    assert x["scale"]["type"] == "log" and x["axis"]["values"] == [1, 2, 8] and y["scale"]["domain"] == [0, 1.05]
    assert dots["transform"][0] == {"filter": "datum.gpus > 1"}


def test_seven_families_are_drawn():
    rows = seen(*((f"f{n}", f"f{n}", "m", 4, 0.9) for n in range(9)))
    assert set(efficiencies(rows).data["rows"]["family"]) == {f"f{n}" for n in range(7)}


def test_each_family_is_drawn_at_its_own_largest_batch():
    """A model that fits only in small batches scales worst: it was left out where all had to have the largest one."""
    rows = seen(("a", "a8", "big", 8, 0.61), ("a", "a8", "big", 8, 0.5), ("a", "a8", "small", 8, 0.95))
    drawing = efficiencies(rows.assign(batch_size=[4, 2, 512]))
    ends = drawing.data["rows"][drawing.data["rows"]["gpus"] > 1]
    assert table(ends, "model efficiency") == [["big", 0.61], ["small", 0.95]]
    assert drawing.says == "8 devices do 61 to 95 % of 8 times the work of one"


@pytest.mark.parametrize(("rows", "text"), [
    ([(1, 1.0)], "1 devices do 100 % of 1 times the work of one"), ([], ""),
    ([(4, 0.9), (8, 0.834), (8, 0.612)], "8 devices do 61 to 83 % of 8 times the work of one")
])  # fmt: skip
def test_efficiencies_are_told_of_the_most_devices(rows, text):
    assert efficiency_finding(frame("gpus efficiency", *rows)) == text
