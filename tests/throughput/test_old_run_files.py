"""Run files of every age side by side: what a column says today stood in the metadata or in a sentence once."""

import json
import random

import polars as pl
import pyarrow.parquet as pq
import pytest
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import write_run
from sweetspot.throughput.collect import measured_cells, summarise_runs
from sweetspot.throughput.old_run_files import warnings_said
from sweetspot.warnings import Warned, pairs

CELL = {"instance": "w", "framework": "tensorflow", "model": "vgg16", "gpus": 1, "precision": "fp32"}
CELL |= {"variant": "default"}
FACTS = {"started_at": "2026-10-02T08:15:00+00:00", "xla": True, "device_name": "Test CPU"}
LATER = ("measured_on", "warnings", "xla", "host", "machine")
# Of 2026-11-22: what a measurement tells beside its speed.
NEWEST = {"peak_memory_gib": 1.5, "peak_memory_source": "resident", "joules_per_sample": 12.5, "energy_source": "rapl"}
NEWEST |= {"left_out_share": 0.25, "disturbed_reason": "others took 30 % of the processor"}


def request(path, batch_size):
    given = {**CELL, "batch-size": batch_size, "run": 1, "output": path}
    return parse_request([f"--{name}={value}" for name, value in given.items()])


def old_file(path, batch_size, message, without=LATER, status="ok"):
    """A file as it was written before the columns `without` were there."""
    write_run(request(path, batch_size), [2.0, 2.0], FACTS, status, message)
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(list(without)), path)
    return str(path)


def told(files):
    cells = measured_cells(summarise_runs(files), {}).set_index("batch_size")
    return cells, {batch: pairs(value) for batch, value in cells["warnings"].items()}


def test_every_sentence_of_an_old_message_is_kept_the_unknown_one_as_a_note(tmp_path):
    said = "drift: step time changed by +9% over the run; clock: went backwards"
    _, found = told([old_file(tmp_path / "a.parquet", 8, said)])
    drift, clock = ("drift", "step time changed by +9% over the run"), ("note", "clock: went backwards")
    assert found[8] == [("n_is_1", "one run, no interval"), drift, clock]


def test_a_semicolon_within_a_sentence_ends_no_warning():
    said = "emulation: this processor computes bf16 as fp32; no speed-up is to be had; warm-up: the first was slow"
    assert warnings_said(said) == [
        Warned("emulation", "this processor computes bf16 as fp32; no speed-up is to be had"),
        Warned("warm_up", "the first was slow"),
    ]
    assert warnings_said("the fan was loud") == [Warned("note", "the fan was loud")]


def test_the_message_of_an_old_run_that_failed_is_its_reason_and_no_warning(tmp_path):
    _, found = told([old_file(tmp_path / "a.parquet", 8, "drift: of the disk; no room", status="failed")])
    assert found[8] == [("failed", "drift: of the disk; no room")]


@pytest.mark.parametrize("seed", range(4))
def test_files_of_all_ages_are_read_together_in_any_order(tmp_path, seed):
    said = "imprecise: the mean step is known to 4%"
    files = [
        old_file(tmp_path / "oldest.parquet", 1, said),
        old_file(tmp_path / "dated.parquet", 2, said, without=("warnings", "xla")),
        str(tmp_path / "new.parquet"),
        str(tmp_path / "steady.parquet"),
    ]
    write_run(request(files[2], 3), [2.0, 2.0], FACTS, warnings=[Warned("imprecise", "4%; or more: who knows")])
    write_run(request(files[3], 4), [2.0, 2.0], {**FACTS, "xla": False})
    random.Random(seed).shuffle(files)
    cells, found = told(files)
    assert list(cells["as_of"]) == ["2026-10-02"] * 4
    assert list(cells["xla"]) == [True, True, True, False]
    own = {batch: [pair for pair in given if pair.rule != "n_is_1"] for batch, given in found.items()}
    known = ("imprecise", "the mean step is known to 4%")
    assert own == {1: [known], 2: [known], 3: [("imprecise", "4%; or more: who knows")], 4: []}


@pytest.mark.parametrize("seed", range(2))
def test_files_from_before_peaks_joules_and_neighbours_lack_only_these(tmp_path, seed):
    """A whole file and one without the six newest columns, in any order: the first keeps its values."""
    files = [tmp_path / "new.parquet", tmp_path / "old.parquet"]
    write_run(request(files[0], 1), [2.0, 4.0], FACTS | NEWEST)
    write_run(request(files[1], 2), [2.0, 4.0], FACTS | NEWEST)
    pq.write_table(pq.read_table(files[1]).drop_columns(list(NEWEST)), files[1])
    random.Random(seed).shuffle(files)
    cells, found = told([str(path) for path in files])
    assert list(cells["images_per_s"]) == [1 / 3, 2 / 3]  # batch / mean step of 3 s
    assert dict(cells.loc[1, list(NEWEST)]) == NEWEST
    assert cells.loc[2, list(NEWEST)].isna().all()
    assert found[1] == found[2]
    own = cells.drop(columns=[*NEWEST, "source", "images_per_s", "images_per_s_low", "images_per_s_high"])
    assert own.loc[1].equals(own.loc[2])


def test_a_run_without_warnings_has_none_in_its_file(tmp_path):
    write_run(request(tmp_path / "run.parquet", 8), [2.0], FACTS)
    assert pl.read_parquet(tmp_path / "run.parquet")["warnings"].to_list() == [None]
    assert json.loads(pq.read_schema(tmp_path / "run.parquet").metadata[b"sweetspot"])["xla"] is True
