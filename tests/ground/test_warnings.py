"""Warnings as pairs in tables: they come back from a file as they went in, and stand as text only in a CSV."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sweetspot.files import read_arrow, read_parquet, write_csv, write_parquet
from sweetspot.warnings import Warned, arrow_type, as_text, joined, pairs, warning

DRIFT, CLOCK = ("drift", "step time changed by +9%; twice"), ("note", "clock: went backwards, by 2 s")


def test_pairs_come_back_from_a_file_in_their_order(tmp_path):
    table = pd.DataFrame({"n": [1, 2, 3], "warnings": [[warning(*DRIFT), warning(*CLOCK)], [], None], "z": [7, 8, 9]})
    table["x_warnings"] = [[], [warning(*CLOCK)], []]
    write_parquet(table, tmp_path / "t.parquet")
    write_csv(read_arrow(tmp_path / "t.parquet"), tmp_path / "t.csv")
    back = read_parquet(tmp_path / "t.parquet")
    assert list(back.columns) == ["n", "warnings", "z", "x_warnings"]
    assert [pairs(value) for value in back["warnings"]] == [[Warned(*DRIFT), Warned(*CLOCK)], [], []]
    write_parquet(back, tmp_path / "again.parquet")  # what was read is arrays of dicts, not lists
    assert pairs(read_parquet(tmp_path / "again.parquet")["warnings"][0]) == [DRIFT, CLOCK]
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[1] == '1,"drift: step time changed by +9%; twice; note: clock: went backwards, by 2 s",7,""'


def test_a_table_without_any_warning_has_the_type_of_one_with(tmp_path):
    write_parquet(pd.DataFrame({"warnings": [[], []]}), tmp_path / "none.parquet")
    write_parquet(pd.DataFrame({"warnings": []}), tmp_path / "empty.parquet")
    kinds = [pq.read_schema(tmp_path / f"{name}.parquet").field("warnings").type for name in ("none", "empty")]
    assert [kind.value_type for kind in kinds] == [arrow_type().value_type] * 2


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float64("nan"), pd.NA, [], np.array([], dtype=object)])
def test_nothing_is_no_warning(nothing):
    assert pairs(nothing) == []
    assert as_text(nothing) == ""


def test_a_sentence_is_no_warning():
    with pytest.raises(TypeError, match="a pair of rule and message"):
        pairs("drift: step time changed")


def test_the_same_pair_of_two_runs_is_told_once():
    assert joined([warning(*DRIFT)], None, [warning(*DRIFT), warning(*CLOCK)]) == [warning(*DRIFT), warning(*CLOCK)]
