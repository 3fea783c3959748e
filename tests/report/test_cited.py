"""Figures with their origins, and the declared tables that are made of them."""

import re

import pandas as pd
import pytest
from decision_tables import study
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_tables import ROW_LIMIT, EvidenceTables, declarations

OFFER = {
    "instance": "a", "purchase": "on_demand", "provider": "aws", "price_list_title": "List", "usd_per_hour": 3.0,
    "usd_per_hour_low": 2.0, "usd_per_hour_high": 4.0, "basis": "published", "source": "a price page",
    "as_of": "2018-07-01 12:00", "warnings": None
}  # fmt: skip


def plain(cell):
    return re.sub("<[^>]*>", "", str(cell))


def title(cell):
    return re.search('title="(.*?)"', str(cell))[1]


def offers(*rows):
    return EvidenceTables({"offers": pd.DataFrame(rows)}, study(), Provenance(), {"a": "Machine A"}).build("offers")


def test_a_figure_has_its_basis_interval_source_and_date_in_its_title_and_a_missing_one_is_a_dash():
    origin = Provenance()
    cell = origin.cite(1.0, "published", "table <1>", "2018-07-01 12:00", 0.5, 1.5, unit="USD")
    assert title(cell).split(" · ") == ["published", "0.500 to 1.50 (90 %)", "table &lt;1&gt;", "2018-07-01"]
    assert 'href="#p1"' in cell and plain(cell) == "1.00 USD◆"
    assert 'href="#p1"' in origin.cite(2.5, "published", "table <1>", "2018-07-01", digits=2)
    assert 'href="#p2"' in origin.cite(2.5, "", None)
    assert [(row["row"], row["source"], row["uses"]) for row in origin.table()] == [
        (1, "table <1>", 2), (2, "computed from this report's tables", 1)
    ]  # fmt: skip
    origin = Provenance()
    assert plain(origin.cite(None, "published", "nowhere")) == "–" and origin.table() == []


def test_a_declared_table_names_machines_and_cites_prices():
    table = offers(OFFER, OFFER | {"instance": "b", "usd_per_hour": None})
    assert [[plain(cell) for cell in row[:6]] for row in table.rows] == [
        ["Machine A", "on demand", "Amazon Web Services", "List", "3◆", "2018-07-01"],
        ["b", "on demand", "Amazon Web Services", "List", "–", "2018-07-01"],
    ]
    assert title(table.rows[0][4]) == "published · 2 to 4 (90 %) · a price page · 2018-07-01"


@pytest.mark.parametrize(("count", "visible", "omitted"), [(40, 40, 0), (41, 40, 1), (400, 40, 360)])
def test_a_long_table_is_cut_and_names_the_file_that_holds_all_rows(count, visible, omitted):
    assert ROW_LIMIT == 40
    table = offers(*[OFFER] * count)
    assert (len(table.rows), table.omitted_rows, table.file) == (visible, omitted, "offers")


def test_every_declared_template_uses_filters_that_exist():
    builder = EvidenceTables({}, study(), Provenance())
    for declared in declarations().values():
        for column in declared.columns:
            for template in (column.show, column.source, column.basis, column.date, column.prefix):
                builder.fill(template, {"changes": [], "warnings": None})


@pytest.mark.parametrize(("template", "result"), [
    ("{a}, {b|day}", "x, 2018-07-01"), ("{none/a}", "x"), ("{none|model/b|day}", "2018-07-01"), ("{yes?and}", "and"),
    ("{no?and}{none?and}", ""), ("x", "x")
])  # fmt: skip
def test_a_template_is_filled_from_a_row(template, result):
    row = {"a": "x", "b": "2018-07-01 12:00", "none": None, "yes": True, "no": False}
    assert EvidenceTables({}, study(), Provenance()).fill(template, row) == result
