"""The charts' rows, titles, names and ticks by hand; their colours told apart by whoever sees no red or no green."""

import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX
from report_tables import pictures, small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, scaling, speeds, stacks
from sweetspot.report.charts.speeds import merge_equal_machines
from sweetspot.report.draw import specification
from sweetspot.report.evidence_page import DARK, PAPER, SERIES, dark_rules
from sweetspot.report.finished import ASSETS
from sweetspot.report.marks import COLOURS


def rate_rows(*rows):
    return pd.DataFrame(rows, columns=["instance", "machine", "model", "batch_size", "images_per_s", "basis"])


def test_machines_of_one_speed_share_a_row():
    """Two clouds with the device of the lab that timed it, one that is faster, and the box that is judged."""
    rows = rate_rows(
        ("aws", "AWS", "m", 8, 100.0, "equivalent"),
        ("lab", "the lab's", "m", 8, 100.0, "published"),
        ("fast", "fast one", "m", 8, 101.0, "published"),
        ("box", "our box", "m", 8, 100.0, "equivalent"),
    )
    found = merge_equal_machines(rows, "box").set_index("instance")["machine"].to_dict()
    assert found == {"lab": "the lab's and AWS", "fast": "fast one", "box": "our box"}
    third = pd.concat([rows, rate_rows(("gcp", "GCP", "m", 8, 100.0, "equivalent"))])
    assert "the lab's and 2 others" in set(merge_equal_machines(third, "box")["machine"])
    # as fast at one batch, not at another: not the same machine
    more = pd.concat([rows, rate_rows(("aws", "AWS", "m", 16, 150.0, "equivalent"))])
    assert set(merge_equal_machines(more, "box")["machine"]) == {"AWS", "the lab's", "fast one", "our box"}


def test_a_figure_that_stands_in_for_other_batches_is_drawn_once():
    """Published at batch 256, taken for 64 too, where nobody printed one."""
    table = rate_rows(("tpu", "", "m", 64, 9.0, "stand_in"), ("tpu", "", "m", 256, 9.0, "published"),
                  ("tpu", "", "m", 32, 8.0, "stand_in"), ("gpu", "", "m", 16, 5.0, "stand_in"),
                  ("gpu", "", "m", 64, 5.0, "stand_in"))  # fmt: skip
    rows = CHARTS["throughput"].draw(ChartData({"throughput": table.drop(columns="machine")}, None)).data["rows"]
    drawn = sorted(zip(rows["batch_size"], rows["basis"], strict=True))
    assert drawn == [(32, "stand_in"), (64, "stand_in"), (256, "published")]


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
    assert drawing.says == "8 devices do 61 to 95 % of 8 times the work of one"


def test_the_largest_line_of_the_reference_is_told():
    data = ChartData(small_tables(), BOX)
    rows = pd.DataFrame([(BOX, "possession", 75.0, 100.0), (BOX, "electricity", 25.0, 100.0), ("x", "use", 9.0, 9.0)],
                        columns=["option", "line", "usd", "total"])  # fmt: skip
    assert stacks._bill_finding(data, rows) == f"{BOX} costs 100 USD: 75 % of it possession"
    assert stacks._bill_finding(data, rows.tail(1)) == "x costs 9.00 USD: all of it use"


def test_sources_of_less_than_three_per_cent_of_the_work_are_one():
    """Of 1,000 hours A does 940, B 30, C 20 and D 10; C and D have 20 in one month, 10 in the other."""
    hours = [(0.0, "C", 15.0), (0.0, "A", 500.0), (0.0, "D", 5.0), (0.0, "B", 30.0), (50.0, "C", 5.0),
             (50.0, "A", 440.0), (50.0, "D", 5.0)]  # fmt: skip
    rows = stacks._merge_small_sources(pd.DataFrame(hours, columns=["percent", "title", "device_hours"]))
    parts = rows.drop_duplicates("title").set_index("title")[["part", "most"]]
    assert parts.loc[["A", "B", stacks.OTHERS]].to_numpy().tolist() == pytest.approx(
        np.array([[94.0, 500.0], [3.0, 30.0], [3.0, 20.0]])
    )
    assert len(parts) == 3 and rows["title"].iloc[-1] == stacks.OTHERS


def test_a_bill_is_drawn_at_the_price_of_the_answer():
    """The list prints 80 + 20 USD; at the mean rent of the project's months the answer counts 90: 72 and 18."""
    line = dict.fromkeys(stacks.KEY, "a") | {"precision": None}
    rows = pd.DataFrame([line | {"line": "use", "usd": 80.0}, line | {"line": "fee", "usd": 20.0}]).assign(total=90.0)
    assert stacks.scale_to_totals(rows)["usd"].tolist() == [72.0, 18.0]
    even = rows.assign(usd=[5.0, -5.0], total=0.0)
    assert stacks.scale_to_totals(even)["usd"].tolist() == [5.0, -5.0]


def test_efficiencies_are_told_of_the_most_devices():
    seen = pd.DataFrame({"gpus": [1, 4, 8, 8], "efficiency": [1.0, 0.9, 0.834, 0.612]})
    assert scaling._finding(seen) == "8 devices do 61 to 83 % of 8 times the work of one"
    assert scaling._finding(seen.head(1)) == ""


def test_the_fastest_machine_is_counted_over_models():
    rows = pd.DataFrame([("A", "m", 2.0), ("B", "m", 1.0), ("A", "n", 2.0), ("B", "n", 1.0), ("B", "o", 9.0)],
                        columns=["machine", "model", "images_per_s"])  # fmt: skip
    assert speeds._most_often_fastest(rows) == ("2 of 3 models", "A")
    assert speeds._most_often_fastest(rows.head(4)) == ("both models", "A")
    assert speeds._most_often_fastest(rows.tail(1)) == ("o", "B")


def test_a_long_title_has_lines():
    drawing = CHARTS["front"].draw(ChartData(small_tables(), BOX))._replace(says="word " * 30)
    lines = specification(drawing)["title"]["text"]
    assert len(lines) == 3 and max(map(len, lines)) <= 62 and " ".join(lines) == ("word " * 30).strip()


# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB: what who lacks a cone sees.
SEEN = {
    "everybody": np.eye(3),
    "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}
# sRGB, D65 (IEC 61966-2-1).
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503]])
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour):
    share = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    parts = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    root = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def contrast(one, other):
    """Of WCAG 2: (lighter + 0.05) / (darker + 0.05)."""
    dark, light = sorted(float(linear(colour) @ TO_XYZ[1]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def test_the_measures_are_those_of_the_books():
    assert contrast("#000000", "#ffffff") == pytest.approx(21, rel=1e-4)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's well-known grey that just fails
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)  # Lindbloom's table


@pytest.mark.parametrize("palette", [COLOURS, SERIES], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN)
def test_any_two_colours_of_the_series_are_told_apart(palette, eyes):
    """A difference (CIE 1976) of 2.3 is just seen; on thin lines more is needed."""
    seen = {colour: lab(np.array(SEEN[eyes]) @ linear(colour)) for colour in palette}
    near = min((float(np.linalg.norm(seen[one] - seen[two])), one, two) for one, two in combinations(palette, 2))
    assert near[0] > 15, near


def test_lines_stand_out_from_the_paper():
    """WCAG 1.4.11 asks 3:1 of a graphic; on white orange and sky blue, the last of seven, have less."""
    assert all(contrast(colour, "#ffffff") > 3 for colour in [*COLOURS[:4], COLOURS[-1]])
    assert all(contrast(colour, PAPER) > 4.5 for colour in SERIES)
    assert all(contrast(DARK[colour], PAPER) > 4.5 for colour in ("#000", "#111", "black", "#555", "#444", "#888"))


@pytest.mark.slow
def test_every_colour_of_every_chart_has_its_like_in_the_dark():
    """Of the pictures, and of the specifications."""
    tables = small_tables()
    data = ChartData(tables, "office-4x1080ti")
    specs = {name: specification(chart.draw(data)) for name, chart in CHARTS.items()}
    used = {paint for svg in pictures(specs).values() for paint in re.findall(r'(?:fill|stroke)="([^"]+)"', svg)}
    used |= {colour for spec in specs.values() for colour in re.findall(r'"(#[0-9a-fA-F]{3,6})"', json.dumps(spec))}
    assert len(used) > 10
    assert {paint for paint in used if paint not in DARK} <= {"none", "transparent"}
    assert all(f'[fill="{light}"]{{fill:{dark}}}' in dark_rules() for light, dark in DARK.items())


def test_the_page_has_the_paper_that_the_charts_count_on():
    dark = re.search(r"prefers-color-scheme:dark\)\{:root\{[^}]*--paper:(#\w+)", (ASSETS / "page.css").read_text())
    assert dark[1] == PAPER
