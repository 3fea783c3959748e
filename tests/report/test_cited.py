"""Figures with their origins, and tables made of them."""

import re

import pandas as pd
from decision_tables import study
from sweetspot.report.cited import ROWS, Cited, Part, Provenance


def plain(cell):
    return re.sub("<[^>]*>", "", str(cell))


def title(cell):
    return re.search('title="(.*?)"', str(cell))[1]


def test_a_figure_says_its_basis_interval_source_and_date():
    origin = Provenance()
    first = origin.cite(1.0, "published", "table <1>", "2018-07-01 12:00", 0.5, 1.5, unit="USD")
    assert first == (
        '<a class="n published" href="#p1" title="published · 0.500 to 1.50 (90 %) · table &lt;1&gt; · 2018-07-01">'
        '1.00 USD<i aria-hidden="true">◆</i></a>'
    )
    assert plain(origin.cite(2.5, "published", "table <1>", "2018-07-01", digits=2)) == "2.5◆"
    other = origin.cite(2.5, "", None, level="95 %", low=2.0, high=None)
    assert title(other) == "2.00 to never (95 %) · computed from this report&#39;s tables"
    assert 'class="n computed" href="#p2"' in other and plain(other) == "2.50"
    assert title(origin.cite(2.5, "stand_in", "b")) == "stand-in · no interval · b"
    assert origin.cite(None, "published", "nowhere") == '<span class="none" title="no figure">–</span>'
    assert [(row["row"], row["source"], row["shown"]) for row in origin.table()] == [
        (1, "table <1>", 2), (2, "computed from this report's tables", 1), (3, "b", 1)
    ]  # fmt: skip
    assert origin.table()[0]["date"] == "2018-07-01" and origin.table()[0]["basis"] == "published"


def test_a_long_source_is_begun_in_the_tooltip():
    origin = Provenance()
    assert title(origin.cite(1.0, "own", "x" * 60)).endswith(f" · {'x' * 60}")
    assert title(origin.cite(1.0, "own", f"{'x' * 59} y")).endswith(f" · {'x' * 59} … (origin 2)")


ROW = {"instance": "a", "workload": "w", "model": "vgg16", "option": "o", "usd": 3.0, "usd_low": 2.0, "usd_high": 4.0,
       "p": 0.999, "part": 0.2549, "basis": "own", "source": "s", "good": True, "gone": None}  # fmt: skip


def cited(**tables):
    return Cited(tables, study(), Provenance(), {"a": "Machine A"})


def test_a_table_has_cells_of_columns_words_and_functions():
    maker = cited(ranks=pd.DataFrame({"option": ["o"], "title": ["Option O"]}),
                  options=pd.DataFrame({"workload": ["w"], "workload_title": ["Work"]}))  # fmt: skip
    table = pd.DataFrame([ROW, ROW | {"instance": "b", "workload": "x", "option": "z", "good": False, "usd": None}])
    part = maker.part(
        table, "machine|work|model|option|words|gone|USD|made", maker.machine_of, maker.work, maker.model, maker.option,
        "{source}, {basis}", "gone", maker.cited("usd"), maker.made("usd", "step", "none"), kind="good",
    )  # fmt: skip
    assert part.head == ("machine", "work", "model", "option", "words", "gone", "USD", "made")
    assert [[plain(cell) for cell in row] for row in part.rows] == [
        ["Machine A", "Work", "VGG-16", "Option O", "s, own", "", "3.00◉", "3.00◉"],
        ["b", "x", "VGG-16", "z", "s, own", "", "–", "–"],
    ]
    assert title(part.rows[0][6]) == "own · 2.00 to 4.00 (90 %) · s"
    assert title(part.rows[0][7]) == "own · no interval · step · 2018-07-01"
    assert (part.classes, part.left_out) == (["good", ""], 0)
    assert maker.part(table, "a", "source").classes == ["", ""]
    assert maker.part(table, "a", "source", kind=lambda row: row["workload"]).classes == ["w", "x"]
    assert Part(("a",), [], []).left_out == 0 and part.named(str.upper).head[0] == "MACHINE"


def test_shares_and_probabilities_are_percentages():
    maker = cited()
    assert plain(maker.share("part", "step")(ROW)) == "25 %◉"
    assert [plain(maker.probability(name, "step")(ROW)) for name in ("p", "gone")] == ["over 99 %◉", "–"]
    assert maker.probability("gone", "step", none=True)(ROW) == ""
    assert plain(maker.probability("p", "step", none=True)(ROW)) == "over 99 %◉"
    assert [plain(cell(ROW)) for cell in maker.each("step", "usd", "part")] == ["3.00◉", "0.255◉"]


def test_the_page_has_the_first_rows_of_very_many():
    assert ROWS == 400
    many = pd.DataFrame({"row": range(401)})
    part = cited().part(many, "row", "row")
    assert (len(part.rows), part.left_out, part.rows[-1]) == (400, 1, ["399"])
    assert cited().part(many.head(2), "row", "row", of=5).left_out == 3
