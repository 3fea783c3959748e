"""Warnings as pairs in tables: they come back from a file as they went in, and stand as text only in a CSV."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.declared_tables import write_table
from sweetspot.files import read_arrow, read_parquet
from sweetspot.report.csv_files import write_csv
from sweetspot.warnings import Warned, as_text, joined, pairs, warning

DRIFT, CLOCK = ("drift", "step time changed by +9%; twice"), ("note", "clock: went backwards, by 2 s")


def test_pairs_come_back_from_a_file_in_their_order(tmp_path):
    table = pd.DataFrame({"runs": [1, 2, 3], "warnings": [[warning(*DRIFT), warning(*CLOCK)], [], None]})
    write_table(table, tmp_path / "t.parquet", "throughput")
    write_csv(read_arrow(tmp_path / "t.parquet"), tmp_path / "t.csv")
    back = read_parquet(tmp_path / "t.parquet")
    assert [pairs(value) for value in back["warnings"]] == [[Warned(*DRIFT), Warned(*CLOCK)], [], []]
    write_table(back, tmp_path / "again.parquet", "throughput")  # what was read is arrays of dicts, not lists
    assert pairs(read_parquet(tmp_path / "again.parquet")["warnings"][0]) == [DRIFT, CLOCK]
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert ',"drift: step time changed by +9%; twice; note: clock: went backwards, by 2 s",' in lines[1]


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float64("nan"), pd.NA, [], np.array([], dtype=object)])
def test_nothing_is_no_warning(nothing):
    assert pairs(nothing) == []
    assert as_text(nothing) == ""


def test_a_sentence_is_no_warning():
    with pytest.raises(TypeError, match="a pair of rule and message"):
        pairs("drift: step time changed")


def test_the_same_pair_of_two_runs_is_told_once():
    assert joined([warning(*DRIFT)], None, [warning(*DRIFT), warning(*CLOCK)]) == [warning(*DRIFT), warning(*CLOCK)]
