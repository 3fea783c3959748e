"""Declared tables: what is written has the declared columns, units and version; what is not declared is refused."""

import pandas as pd
import pyarrow.parquet as pq
import pytest
from project_copy import ROOT
from schemas import tables_page
from sweetspot.declared_tables import read_table, schema_of, write_table
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table

LOAD = pd.DataFrame({"workload": ["lab"], "option": ["box"], "title": [None], "device_hours": [2.5]})


def test_a_table_is_written_in_the_declared_order_with_units_and_meanings(tmp_path):
    write_table(LOAD, tmp_path / "sources.parquet")
    schema = pq.read_schema(tmp_path / "sources.parquet")
    assert schema.names == schema_of("sources").names and schema.field("device_hours").metadata[b"unit"] == b"h/month"
    read = read_table(tmp_path / "sources.parquet")
    names = schema_of("choices").names  # a column with bounds is three
    assert names[names.index("usd") :][:3] == ["usd", "usd_low", "usd_high"]
    assert read["device_hours"].tolist() == [2.5] and read["kind"].isna().all() and read["title"].isna().all()


def test_an_empty_table_has_the_types_of_a_full_one(tmp_path):
    for rows, name in ((LOAD, "a"), (LOAD.head(0), "b")):
        write_table(rows, tmp_path / f"{name}.parquet", "sources")
    assert pq.read_schema(tmp_path / "a.parquet").types == pq.read_schema(tmp_path / "b.parquet").types


@pytest.mark.parametrize("wrong", [LOAD.assign(hours=1.0), LOAD.assign(device_hours="two")])
def test_what_is_not_declared_is_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match=r"hours|two"):
        write_table(wrong, tmp_path / "sources.parquet")
    assert not list(tmp_path.iterdir())


def test_a_table_of_another_version_says_what_to_do(tmp_path):
    LOAD.to_parquet(tmp_path / "sources.parquet")
    with pytest.raises(UserError, match=r"sources\.parquet: was written by another version .* measured again"):
        read_table(tmp_path / "sources.parquet")


def test_each_column_is_declared_once_with_a_meaning_and_the_page_has_them_all():
    rows = table("tables")
    assert len({(row["table"], row["column"]) for row in rows}) == len(rows) and all(row["description"] for row in rows)
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == tables_page()
