"""Charts of speeds and efficiencies, of a few rows by hand."""

import pandas as pd
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS

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


def test_a_figure_that_stands_in_or_is_the_same_is_drawn_once():
    # Published at batch 256, taken for 64 too, where nobody printed one.
    rows = drawn(*(("tpu" if batch != 16 else "gpu", "m", batch, speed, None, None, basis)
                   for batch, speed, basis in ((64, 9.0, "stand_in"), (256, 9.0, "published"), (32, 8.0, "stand_in"),
                                               (16, 5.0, "stand_in")))).data["rows"]  # fmt: skip
    assert sorted(table(rows, "batch_size basis")) == [[16, "stand_in"], [32, "stand_in"], [256, "published"]]
    # The reference, else the one with the best basis; at another batch the speeds differ.
    rows = [("aws", "m", 8, 100.0, None, None, "equivalent"), ("lab", "m", 8, 100.0), ("fast", "m", 8, 101.0),
            ("aws", "m", 16, 150.0)]  # fmt: skip
    assert sorted(table(drawn(*rows).data["rows"], "instance batch_size")) == [["aws", 16], ["fast", 8], ["lab", 8]]
    with_reference = drawn(*rows, ("box", "m", 8, 100.0, None, None, "equivalent"))
    assert set(with_reference.data["rows"]["instance"]) == {"aws", "fast", "box"}


def seen(*rows) -> pd.DataFrame:
    made = frame("base_instance instance model gpus efficiency", *rows)
    return made.assign(batch_size=8, basis="published", source="paper", as_of="2018")


def efficiencies(table):
    return CHARTS["efficiency"].draw(ChartData(answered(efficiency=table), "box"))


def test_efficiency_is_a_line_a_family_at_its_own_largest_batch():
    drawing = efficiencies(seen(("a", "a8", "m", 2, 0.95), ("a", "a8", "m", 8, 0.9)))
    rows = drawing.data["rows"].sort_values(["family", "gpus"])
    assert table(rows, "family gpus efficiency") == [["a", 1, 1], ["a", 2, 0.95], ["a", 8, 0.9]]
    assert drawing.says == "8 devices do 90 % of 8 times the work of one"
    line, dots, *_ = marks_of(spec_of(drawing))
    x, y = (line["encoding"][axis] for axis in "xy")
    assert x["scale"]["type"] == "log" and x["axis"]["values"] == [1, 2, 8] and y["scale"]["domain"] == [0, 1.05]
    assert dots["transform"][0] == {"filter": "datum.gpus > 1"}
    # A model that fits only in small batches scales worst: it was left out where all had to have the largest one.
    rows = seen(("a", "a8", "big", 8, 0.61), ("a", "a8", "big", 8, 0.5), ("a", "a8", "small", 8, 0.95))
    drawing = efficiencies(rows.assign(batch_size=[4, 2, 512]))
    ends = drawing.data["rows"][drawing.data["rows"]["gpus"] > 1]
    assert table(ends, "model efficiency") == [["big", 0.61], ["small", 0.95]]
    assert drawing.says == "8 devices do 61 to 95 % of 8 times the work of one"
