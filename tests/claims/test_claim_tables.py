"""The claims' tables on disk: read when asked for, written whole, without pandas."""

import subprocess
import sys

import pandas as pd
import pytest
from sweetspot.claims.lookup import SCHEMA, Evidence, TableFiles, write_claims
from sweetspot.claims.verdicts import check_claims
from sweetspot.study.claims import load_claims

ROW = {
    "id": "a", "kind": "fact", "text": 'He said "twice",\nor 2 \u00d7; \u4e8c', "printed": 0.1, "computed": 2 / 3,
    "computed_low": None, "computed_high": 1e300, "unit": None, "verdict": "holds", "reason": "", "source": "s",
    "rests_on": None, "detail": "x",
}  # fmt: skip


def test_claims_come_back_as_they_were_written(tmp_path):
    file = tmp_path / "claims.parquet"
    write_claims([ROW, ROW | {"id": "b"}], file)
    table = pd.read_parquet(file)
    assert list(table.columns) == SCHEMA.names
    assert table["id"].tolist() == ["a", "b"]
    found = table.iloc[0]
    assert (found["text"], found["printed"], found["computed"]) == (ROW["text"], 0.1, 2 / 3)
    assert pd.isna(found["computed_low"]) and pd.isna(found["unit"]) and found["reason"] == ""


def test_a_table_is_read_from_all_its_files_and_only_when_asked_for(tmp_path):
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    pd.DataFrame({"instance": ["a"], "usd_per_hour": [1.0], "unread": [0]}).to_parquet(one)
    pd.DataFrame({"instance": ["b"], "usd_per_hour": [float("nan")]}).to_parquet(two)
    evidence = Evidence(TableFiles({"offers": [str(one), str(two)], "costs": "nowhere.parquet"}))
    rows = evidence.rows("offers")
    assert [(row["instance"], row["usd_per_hour"]) for row in rows] == [("a", 1.0), ("b", None)]
    assert rows[0]["provider"] is None and "unread" not in rows[0]
    assert evidence.rows("bills") == []
    with pytest.raises(FileNotFoundError):
        evidence.rows("costs")


def test_claims_of_a_study_without_prices_cannot_be_checked(tmp_path):
    file = tmp_path / "claims.yaml"
    file.write_text(
        "- {id: a, text: t, source: s, kind: price, of: {instance: x}, printed: 1}\n"
        "- {id: b, text: t, source: s, kind: saving, of: {instance: x}, to: {instance: y}}\n"
    )
    rows = check_claims(load_claims(file), Evidence({}))
    assert [row["verdict"] for row in rows] == ["cannot be checked"] * 2
    assert [row["reason"] for row in rows] == ["no priced figure of instance x", "no priced figure of any model"]


def test_checking_imports_no_pandas(tmp_path):
    code = (
        "import sys; from sweetspot.claims.lookup import write_claims; from sweetspot.claims import verdicts;"
        f"write_claims([{ROW!r}], {str(tmp_path / 'claims.parquet')!r}); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "scipy"} & set(done.stdout.split())
