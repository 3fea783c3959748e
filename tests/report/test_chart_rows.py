"""Titles of charts; their colours told apart by whoever sees no red or no green."""

import json
import re
from itertools import combinations

import numpy as np
import pytest
from report_tables import pictures, small_tables
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.draw import specification
from sweetspot.report.finished import ASSETS
from sweetspot.report.marks import COLOURS

# The colours of the charts on dark paper, by those on white.
DARK = dict(re.findall(r'\[fill="([^"]+)"\]\{fill:([^}]+)\}', (ASSETS / "charts.css").read_text(encoding="utf-8")))
SERIES, PAPER = [DARK[colour] for colour in COLOURS], DARK["white"]


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
    strokes = re.findall(r'\[stroke="([^"]+)"\]\{stroke:([^}]+)\}', (ASSETS / "charts.css").read_text())
    assert dict(strokes) == DARK


def test_the_page_has_the_paper_that_the_charts_count_on():
    dark = re.search(r"prefers-color-scheme:dark\)\{:root\{[^}]*--paper:(#\w+)", (ASSETS / "page.css").read_text())
    assert dark[1] == PAPER
