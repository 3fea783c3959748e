"""Tables of figures cell by cell: each bound with a value on it and one beyond, and every mistake told once."""

import math

import pytest
from sweetspot.errors import UserError
from sweetspot.throughput.csv_table import CsvRow, read_rows
from sweetspot.throughput.published import EfficiencyRow, PublishedRow, read_efficiency, read_published

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


def test_a_cell_that_is_no_number_hides_no_other_mistake(tmp_path):
    file = written(tmp_path, ROW | {"images_per_s": "x"}, ROW | {"images_per_s": "1e16"}, ROW | {"gpus": "0"})
    found = sentences(read_published, file)
    assert [sentence.split("'")[:2] for sentence in found] == [
        ["line 2: key ", "images_per_s"], ["line 3: key ", "images_per_s"], ["line 4: key ", "gpus"]]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "words"),
    [({"efficiency": "1.2"}, ""), ({"efficiency": "1.21"}, "'efficiency'"), ({"variant": "A", "gpus": "4"}, ""),
     ({"gpus": "4"}, "the cell base_instance=x, instance=x, gpus=4, model=x, batch_size=64"), ({"gpus": "y"}, "'gpus'")],
)  # fmt: skip
def test_a_cell_of_an_efficiency_table(tmp_path, cells, words):
    found = sentences(read_efficiency, written(tmp_path, SHARE, SHARE | {"gpus": "8"} | cells))
    assert len(found) == bool(words) and words in "".join(found)


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


def test_what_is_no_table_is_said(tmp_path):
    (tmp_path / "table.csv").write_text("")
    (sentence,) = sentences(read_published, tmp_path / "table.csv")
    assert "not a CSV table" in sentence
