"""Names, ticks and rows that charts share: nothing over another, one row for one speed, the largest batch of each."""

import itertools

import pandas as pd
import pytest
from decision_tables import BOX
from report_tables import small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, owning, scaling
from sweetspot.report.charts.rates import alike
from sweetspot.report.draw import specification
from sweetspot.report.lines import spread
from sweetspot.report.marks import MOST, NAMES, key_of, log_axis, pixels, wrapped


@pytest.mark.parametrize(
    ("places", "heights", "found"),
    [
        ([10.0, 50.0], [12.0, 12.0], [10.0, 50.0]),  # room enough: nothing moves
        ([50.0, 52.0], [12.0, 12.0], [50.0, 62.0]),  # the lower one gives way
        ([98.0, 99.0], [12.0, 12.0], [82.0, 94.0]),  # not below the frame: both go up, in their order
        ([2.0], [12.0], [6.0]),  # not above it
        ([5.0, 5.0, 5.0], [60.0, 60.0, 60.0], [30.0, 90.0, 150.0]),  # more than there is room for: from the top
    ],
)
def test_names_at_the_ends_of_lines_keep_apart(places, heights, found):
    assert spread(places, heights, 100.0) == found


def test_names_keep_the_order_of_their_lines():
    places = [80.0, 20.0, 79.0, 21.0]
    found = spread(places, [13.0] * 4, 100.0)
    assert sorted(range(4), key=found.__getitem__) == sorted(range(4), key=places.__getitem__)
    lines = sorted(found)
    assert min(below - above for above, below in itertools.pairwise(lines)) >= 13


def test_names_beside_an_axis_are_wrapped_within_it_and_balanced():
    """Widths of Arial: of 1000 the M has 833, the m 833, the i 222."""
    assert pixels("M" * 10) > 12 * 8.33 and pixels("i" * 10) >= 12 * 2.22
    name = "power of the bought server with 8 B200 SXM"
    lines = wrapped(pd.Series([name])).iloc[0].split("\n")
    assert " ".join(lines) == name and len(lines) == 2
    assert all(pixels(line) < NAMES for line in lines)
    assert len(lines[1]) > len("SXM")  # no word alone where the line above can spare one
    assert wrapped(pd.Series(["RTX 4090"])).iloc[0] == "RTX 4090"


@pytest.mark.parametrize("ends", [(3.0, 4.0), (1.0, 30.0), (0.2, 900.0), (1e-4, 2e4), (5.0, 5.0)])
def test_a_logarithmic_axis_has_a_few_ticks(ends):
    axis = log_axis(pd.Series(ends)).to_dict()
    within = [tick for tick in axis["values"] if ends[0] <= tick <= ends[1]]
    few = 1 if ends[0] == ends[1] else 2
    assert few <= len(within) <= MOST or ends[1] / ends[0] > 10**MOST


def test_the_key_names_the_shapes_that_are_drawn_best_first():
    key = key_of(pd.Series(["extrapolated", "published", None, "published"]), "line: 90 % interval")
    assert key.replace("\u00a0", " ").split("   ") == ["◆ published", "◌ predicted", "line: 90 % interval"]
    assert specification(CHARTS["images_per_usd"].draw(ChartData(small_tables(), BOX)))["title"]["subtitle"]


def rates(*rows):
    return pd.DataFrame(rows, columns=["instance", "machine", "model", "batch_size", "images_per_s", "basis"])


def test_machines_of_one_speed_share_a_row():
    """Two clouds with the device of the lab that timed it, one that is faster, and the box that is judged."""
    rows = rates(
        ("aws", "AWS", "m", 8, 100.0, "equivalent"),
        ("lab", "the lab's", "m", 8, 100.0, "published"),
        ("fast", "fast one", "m", 8, 101.0, "published"),
        ("box", "our box", "m", 8, 100.0, "equivalent"),
    )
    found = alike(rows, "images_per_s", "box").set_index("instance")["machine"].to_dict()
    assert found == {"lab": "the lab's and AWS", "fast": "fast one", "box": "our box"}
    third = pd.concat([rows, rates(("gcp", "GCP", "m", 8, 100.0, "equivalent"))])
    assert "the lab's and 2 others" in set(alike(third, "images_per_s", "box")["machine"])
    # as fast at one batch, not at another: not the same machine
    more = pd.concat([rows, rates(("aws", "AWS", "m", 16, 150.0, "equivalent"))])
    assert set(alike(more, "images_per_s", "box")["machine"]) == {"AWS", "the lab's", "fast one", "our box"}


def test_a_figure_that_stands_in_for_other_batches_is_drawn_once():
    """Published at batch 256, taken for 64 too, where nobody printed one."""
    table = rates(("tpu", "", "m", 64, 9.0, "stand_in"), ("tpu", "", "m", 256, 9.0, "published"),
                  ("tpu", "", "m", 32, 8.0, "stand_in"), ("gpu", "", "m", 16, 5.0, "stand_in"),
                  ("gpu", "", "m", 64, 5.0, "stand_in"))  # fmt: skip
    rows = CHARTS["throughput"].draw(ChartData({"throughput": table.drop(columns="machine")}, None)).data["rows"]
    assert sorted(zip(rows["batch_size"], rows["basis"], strict=True)) == [
        (32, "stand_in"),
        (64, "stand_in"),
        (256, "published"),
    ]


def seen(*rows):
    names = ["base_instance", "instance", "model", "batch_size", "gpus", "efficiency", "basis"]
    return pd.DataFrame(rows, columns=names).assign(source="paper")


def test_each_family_is_drawn_at_its_own_largest_batch():
    """A model that fits only in small batches scales worst: it was left out where all had to have the largest one."""
    table = seen(("a", "a8", "big", 4, 8, 0.61, "published"), ("a", "a8", "big", 2, 8, 0.5, "published"),
                 ("a", "a8", "small", 512, 8, 0.95, "published"))  # fmt: skip
    curve = seen(("a", "a8", "big", 4, 8, 0.7, ""), ("x", "box", "big", 4, 4, 0.6, "")).assign(low=0.5, high=0.8)
    data = ChartData({"efficiency": table, "curve": curve}, "box", {"box": "our box"})
    drawing = CHARTS["efficiency"].draw(data)
    ends = drawing.data["rows"][drawing.data["rows"]["gpus"] > 1]
    found = {(row["model"], row["family"]): row["efficiency"] for row in ends.to_dict("records")}
    # what was seen needs no prediction beside it
    assert found == {("big", "a"): 0.61, ("small", "a"): 0.95, ("big", "our box (predicted)"): 0.6}
    assert (
        drawing.says
        == scaling._efficiency_says(table[table["batch_size"] > 2])
        == "8 devices do 61 to 95 % of 8 times the work of one"
    )
    named = drawing.data["rows"].dropna(subset=["name_y"])
    assert len(named) == 3 and set(named["name"].str.replace("\n", " ")) == {"a", "our box (predicted)"}


def test_a_tariff_is_named_at_its_line_and_one_that_never_pays_has_neither():
    """200 pixels for 31 days: 0.2 days are 1.3 pixels, too near to be told apart."""
    ends = {0.0: 8.0, 0.12: 8.2, 0.37: 12.0, 0.9: None}
    rows = pd.DataFrame(
        [(24, kwh, None if days is None else days + 4) for kwh, days in ends.items()]
        + [(48, kwh, days) for kwh, days in ends.items()],
        columns=["months", "usd_per_kwh", "break_even_days"],
    )
    drawn = owning._told_apart(rows.assign(tariff=rows["usd_per_kwh"].map(str)), 0.12)
    assert set(drawn["tariff"]) == {"0.12", "0.37"}  # that of the plan stays, free electricity gives way
    assert drawn["name"].dropna().tolist() == drawn.loc[drawn["months"] == 48, "tariff"].tolist()
