"""Tables of figures: each cell and its bounds, what a row says of its machine, and the best of several rows."""

import math
from pathlib import Path

import pandas as pd
import pytest
from sweetspot.errors import UserError
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.throughput.best import best_figures, mark_best
from sweetspot.throughput.csv_table import CsvRow, read_rows
from sweetspot.throughput.published import (
    EfficiencyRow,
    PublishedRow,
    guessed_interconnect,
    read_efficiency,
    read_published,
    with_machine_facts,
)

ROW = dict.fromkeys(PublishedRow.model_fields, "") | {"gpus": "1", "batch_size": "64", "images_per_s": "100"}
ROW |= dict.fromkeys(("gpu", "model", "source"), "x")
SHARE = dict.fromkeys(EfficiencyRow.model_fields, "x") | {"gpus": "4", "batch_size": "64", "efficiency": "0.9"}


def written(tmp_path, *rows):
    file = tmp_path / "table.csv"
    file.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    return file


def sentences(read, file):
    """What is wrong in a file, without its name."""
    try:
        read(file)
    except UserError as error:
        return [sentence.removeprefix(f"{file}, ") for sentence in error.sentences]
    return []


@pytest.mark.parametrize(
    "cells",
    [
        {}, {"gpus": " 8 "}, {"gpus": "1000000000"}, {"batch_size": ""}, {"images_per_s": "1e15"},
        {"images_per_s": "1e-12"}, {"as_of": "2018"}, {"as_of": "2018-06-01"}, {"xla": "no"}, {"nodes": "2"},
        {"images_per_s_low": "100", "images_per_s_high": "100"},  # a count
        {"images_per_s_low": "99", "images_per_s_high": "101"},
    ],
)  # fmt: skip
def test_a_cell_that_a_throughput_table_may_hold(tmp_path, cells):
    assert sentences(read_published, written(tmp_path, ROW, ROW | cells)) == []


@pytest.mark.parametrize(
    "cells",
    [
        *({"gpus": text} for text in ("1000000001", "1.5", "0", "", "one")), {"batch_size": "-1"}, {"source": " "},
        {"precision": "FP16"}, {"precision": "bf-16"},
        *({"images_per_s": text} for text in ("1.1e15", "9e-13", "inf", "nan", "", "0")), {"network": "nvlink"},
        *({"as_of": day} for day in ("June 2018", "2018-13", "18", "2018-02-40")), {"interconnect": "infiniband"},
        {"xla": "Yes"}, {"nodes": "0"}, {"images_per_s_low": "101", "images_per_s_high": "102"},
        {"images_per_s_low": "98", "images_per_s_high": "99"}, {"images_per_s_low": "99"},
        {"images_per_s_high": "101"}, {"images_per_s_low": "99", "images_per_s_high": "x"},
    ],
)  # fmt: skip
def test_a_cell_that_is_wrong_is_one_sentence_with_its_line(tmp_path, cells):
    (sentence,) = sentences(read_published, written(tmp_path, ROW, ROW | cells))
    assert sentence.startswith("line 3: ") and any(name in sentence for name in cells)


@pytest.mark.parametrize(
    ("cells", "words"),
    [({"efficiency": "1.2"}, ""), ({"efficiency": "1.21"}, "'efficiency'"), ({"efficiency": "0.125"}, ""),
     ({"efficiency": "0.12"}, "at least 1 / gpus"), ({"variant": "A", "gpus": "4"}, ""),
     ({"gpus": "4"}, "the cell base_instance=x, instance=x, gpus=4, model=x"), ({"gpus": "y"}, "'gpus'")],
)  # fmt: skip
def test_a_cell_of_an_efficiency_table(tmp_path, cells, words):
    found = sentences(read_efficiency, written(tmp_path, SHARE, SHARE | {"gpus": "8"} | cells))
    assert len(found) == bool(words) and words in "".join(found)
    twice = written(tmp_path, *(SHARE | {"gpus": gpus} for gpus in "8484"))  # told in the order of their lines
    assert [sentence[:6] for sentence in sentences(read_efficiency, twice)] == ["line 4", "line 5"]


class Row(CsvRow):
    """A table with every kind of column."""

    name: str = ""
    count: int | None
    share: float | None = None
    extra: str = "usual"


@pytest.mark.parametrize(
    ("heading", "words"),
    [("name,count", []), ("name,coumt", ["'coumt' is unknown", "'count' is missing"]), ("name", ["'count' is missing"]),
     ("name,count,extre", ["'extre' is unknown"])],
)  # fmt: skip
def test_a_heading_that_is_wrong_is_a_sentence_for_each_column(tmp_path, heading, words):
    file = tmp_path / "table.csv"
    file.write_text(f"{heading}\n{','.join('1' for _ in heading.split(','))}\n")
    found = sentences(lambda path: read_rows(path, Row), file)
    assert len(found) == len(words) and all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_what_is_not_stated_has_its_default_and_an_empty_number_is_none(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("name,count,share,extra\na,1,0.5,\nb,2,,said\n")
    table = read_rows(file, Row)
    assert table["name"].tolist() == ["a", "b"] and table["extra"].tolist() == ["usual", "said"]
    assert table["count"].tolist() == [1, 2] and table["share"][0] == 0.5 and math.isnan(table["share"][1])


def facts(**columns):
    row = {"gpu": "Tesla V100", "instance": "box", "framework": "tensorflow", "note": ""}
    return with_machine_facts(pd.DataFrame([row | columns])).iloc[0]


@pytest.mark.parametrize(
    ("gpu", "instance", "note", "expected"),
    [("Tesla V100-SXM3-32GB", "", "", "nvlink"), ("Tesla V100", "p3.16xlarge", "", "nvlink"),
     ("RTX 2080 Ti", "host", "XLA; NVLink", "nvlink_bridge"), ("Tesla K80", "p2.8xlarge", "", "pcie")],
)  # fmt: skip
def test_a_row_that_says_nothing_else_is_guessed_from_its_words(gpu, instance, note, expected):
    assert guessed_interconnect(gpu, instance, note) == expected
    assert facts(gpu=gpu, instance=instance, note=note)["interconnect"] == expected
    assert facts(gpu=gpu, instance=instance, note=note, interconnect="ici")["interconnect"] == "ici"  # stated


@pytest.mark.parametrize(
    ("columns", "compiled"),
    [
        ({"instance": "p3.16xlarge"}, False),  # the letters of "xlarge" are no compiler
        ({"instance": "3970X-GeForce_RTX_3090_XLA"}, False),
        ({"note": "variable_update=replicated; XLA; CUDA V11.1"}, True),
        ({"note": "XLA", "xla": "no"}, False),
        ({"note": "without XLA"}, False),
        ({"note": "", "xla": "yes"}, True),
        ({"framework": "jax"}, True),
    ],
)
def test_xla_is_stated_or_a_word_of_the_note_never_part_of_a_name(columns, compiled):
    assert facts(**columns)["xla"] == compiled


def test_a_row_of_several_nodes_has_their_number_only_where_it_is_stated():
    assert facts()["nodes"] == 1
    assert pd.isna(facts(instance="p2.8xlarge x N (distributed)")["nodes"])
    assert facts(instance="p2.8xlarge x N (distributed)", nodes=8)["nodes"] == 8
    assert not facts(note="--num_gpus 2 --variable_update independent")["exchange"]


CELL = {"instance": "box", "framework": "tensorflow", "model": "vgg16", "batch_size": 64, "precision": "fp32"}


def speeds(*rows):
    names = ("gpus", "variant", "images_per_s", "status")
    base = {**CELL, "basis": "measured", "source": "runs", "nodes": 1, "xla": False}
    return pd.DataFrame([{**base, **dict(zip(names, row, strict=True))} for row in rows])


SPEEDS = speeds(
    (4, "A", 300.0, "ok"), (4, "B", 320.0, "unstable"), (4, "C", 900.0, "failed"), (4, "default", math.nan, "oom"),
    (1, "default", 100.0, "ok"),
)  # fmt: skip
SAME = [*CELL, "gpus", "basis"]


def test_the_fastest_usable_variant_of_a_cell_is_the_best():
    marked = mark_best(SPEEDS.assign(precision=None), "images_per_s", SAME)  # one that nobody states is the same too
    assert (list(marked["best"]), marked["best"].dtype) == ([False, True, False, False, True], bool)
    assert mark_best(SPEEDS.head(0), "images_per_s", SAME)["best"].dtype == bool


def test_the_best_evidence_is_of_the_best_basis_and_then_the_fastest():
    rows = [
        ("a", "stand_in", 900.0), ("a", "published", 300.0), ("a", "published", 320.0), ("a", "scaled", 400.0),
        ("b", "measured", math.nan), ("b", "extrapolated", 50.0), ("c", "published", 7.0), ("c", "published", 7.0),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["instance", "basis", "images_per_s"])
    found = best_figures(table, ["instance"])
    # of b the measured row, though it has no figure: whether a row counts is the caller's choice; of equals the first
    assert dict(zip(found["instance"], found.index, strict=True)) == {"a": 2, "b": 4, "c": 6}
    assert list(found.columns) == list(table.columns)


def test_efficiencies_of_two_devices_are_marked_by_variant():
    table = study_efficiency(SPEEDS, read_efficiency(Path("no such file")), {})
    found = {row.variant: (row.efficiency, row.best) for row in table.itertuples()}
    assert found == {"A": (0.75, False), "B": (0.8, True)}  # 300 and 320 of 4 x 100
