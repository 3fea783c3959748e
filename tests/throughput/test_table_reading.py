"""Tables of figures cell by cell: each bound with a value on it and one beyond, and every mistake told once."""

import math

import pytest
from sweetspot.errors import UserError
from sweetspot.throughput.csv_table import read_table
from sweetspot.throughput.published import (
    EFFICIENCY_CSV,
    OPTIONAL_TEXT,
    RATE_BOUNDS,
    THROUGHPUT_CSV,
    read_efficiency,
    read_published,
)

ROW = dict.fromkeys(THROUGHPUT_CSV, "x") | {"gpus": "1", "batch_size": "64", "images_per_s": "100"}
SHARE = dict.fromkeys(EFFICIENCY_CSV, "x") | {"gpus": "4", "batch_size": "64", "efficiency": "0.9"}
RATE = "images_per_s is {}; expected 1e-12 to 1e+15, what machines can do"
WHOLE = "expected a whole number above 0, at most 1,000,000,000"
BOTH = "images_per_s_low and images_per_s_high are {}, {}; expected both, around 100"


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
    ("cells", "told"),
    [
        ({}, []),
        ({"gpus": " 8 "}, []),
        ({"gpus": "1000000000"}, []),
        ({"gpus": "1000000001"}, [f"gpus is '1000000001'; {WHOLE}"]),
        ({"gpus": "1.5"}, [f"gpus is '1.5'; {WHOLE}"]),
        ({"gpus": "0"}, [f"gpus is '0'; {WHOLE}"]),
        ({"gpus": ""}, [f"gpus is ''; {WHOLE}"]),
        ({"gpus": "one"}, [f"gpus is 'one'; {WHOLE}"]),
        ({"batch_size": ""}, []),  # may be unstated
        ({"batch_size": "-1"}, [f"batch_size is '-1'; {WHOLE}"]),
        ({"images_per_s": "1e15"}, []),
        ({"images_per_s": "1.1e15"}, [RATE.format("1.1e+15")]),
        ({"images_per_s": "1e-12"}, []),
        ({"images_per_s": "9e-13"}, [RATE.format("9e-13")]),
        ({"images_per_s": "inf"}, ["images_per_s is 'inf'; expected a number above 0"]),
        ({"images_per_s": "nan"}, ["images_per_s is 'nan'; expected a number above 0"]),
        ({"images_per_s": ""}, ["images_per_s is ''; expected a number above 0"]),
        ({"source": " "}, ["source is empty; expected its origin"]),
        ({"as_of": "2018"}, []),
        ({"as_of": "2018-06-01"}, []),
        *(({"as_of": day}, [f"as_of is {day!r}; expected YYYY, YYYY-MM or YYYY-MM-DD, or nothing"])
          for day in ("June 2018", "2018-13", "18", "2018-02-40")),
        ({"interconnect": "infiniband"}, ["interconnect is 'infiniband'; expected one of pcie, nvlink_bridge, nvlink, "
                                          "nvswitch, infinity_fabric, ici, none, or nothing"]),
        ({"network": "nvlink"},
         ["network is 'nvlink'; expected one of ethernet, infiniband, roce, efa, none, or nothing"]),
        ({"xla": "Yes"}, ["xla is 'Yes'; expected one of yes, no, or nothing"]),
        ({"xla": "no"}, []),
        ({"images_per_s_low": "100", "images_per_s_high": "100"}, []),  # a count
        ({"images_per_s_low": "99", "images_per_s_high": "101"}, []),
        ({"images_per_s_low": "101", "images_per_s_high": "102"}, [BOTH.format("101", "102")]),
        ({"images_per_s_low": "98", "images_per_s_high": "99"}, [BOTH.format("98", "99")]),
        ({"images_per_s_low": "99", "images_per_s_high": ""}, [BOTH.format("99", "nan")]),
        ({"images_per_s_low": "", "images_per_s_high": "101"}, [BOTH.format("nan", "101")]),
        # One that is no number is told once, not as a missing other end too.
        ({"images_per_s_low": "99", "images_per_s_high": "x"}, ["images_per_s_high is 'x'; expected a number above 0"]),
        ({"nodes": "2"}, []),
        ({"nodes": "0"}, [f"nodes is '0'; {WHOLE}"]),
        ({"nodes": ""}, []),
        ({"gpus": "x", "images_per_s": "0"},
         [f"gpus is 'x'; {WHOLE}", "images_per_s is '0'; expected a number above 0"]),
    ],
)  # fmt: skip
def test_a_cell_of_a_throughput_table(tmp_path, cells, told):
    optional = dict.fromkeys((*OPTIONAL_TEXT, *RATE_BOUNDS), "") | {"unit": "images"}
    file = written(tmp_path, ROW | optional, ROW | optional | cells)
    assert sentences(read_published, file) == [f"line 3: {sentence}" for sentence in told]


def test_a_cell_that_is_no_number_hides_no_other_mistake(tmp_path):
    file = written(tmp_path, ROW | {"images_per_s": "x"}, ROW | {"images_per_s": "1e16"}, ROW | {"gpus": "0"})
    assert sentences(read_published, file) == [
        f"line 4: gpus is '0'; {WHOLE}",
        "line 2: images_per_s is 'x'; expected a number above 0",
        f"line 3: {RATE.format('1e+16')}",
    ]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"efficiency": "1.2"}, []),
        ({"efficiency": "1.21"}, ["line 3: efficiency is 1.21; expected at most 1.2, one device's share is 1"]),
        ({"gpus": "4"}, ["line 3: the cell base_instance=x, instance=x, gpus=4, model=x, batch_size=64, precision=x, "
                         "variant=x is also {file}, line 2; keep one"]),
        ({"gpus": "y"}, [f"line 3: gpus is 'y'; {WHOLE}"]),  # and is no repeated cell
        ({"variant": "A", "gpus": "4"}, []),  # another variant is another cell
    ],
)  # fmt: skip
def test_a_cell_of_an_efficiency_table(tmp_path, cells, told):
    file = written(tmp_path, SHARE, SHARE | {"gpus": "8"} | cells)
    assert sentences(read_efficiency, file) == [sentence.replace("{file}", str(file)) for sentence in told]


EXPECTED = "; expected name, count"


@pytest.mark.parametrize(
    ("heading", "told"),
    [("name,count", []), ("name,count,extra", []),
     ("name,coumt", ["'coumt' is unknown and 'count' is missing; did you mean 'count'?"]),
     ("name", [f"'count' is missing{EXPECTED}"]),
     ("name,count,extre", ["'extre' is unknown; did you mean 'extra'?"]),
     ("name,count,zzz", [f"'zzz' is unknown{EXPECTED}"]),
     ("name,zzz", [f"'count' is missing{EXPECTED}", f"'zzz' is unknown{EXPECTED}"])],
)  # fmt: skip
def test_a_heading_with_a_further_column_that_may_be_there(tmp_path, heading, told):
    file = tmp_path / "table.csv"
    file.write_text(f"{heading}\n{','.join('1' for _ in heading.split(','))}\n")

    def read(path):
        return read_table(path, {"name": str, "count": int}, defaults={"extra": "usual"})

    assert sentences(read, file) == [f"line 1: column {words}" for words in told]


def test_what_is_not_said_has_its_default_and_what_may_be_empty_is_no_number(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("name,count,share,extra\na,1,0.5,\nb,,2,said\n")
    kinds = {"name": str, "count": int, "share": float}
    table = read_table(file, kinds, optional={"count"}, defaults={"extra": "usual", "more": "none"})
    assert table.to_dict("list") | {"count": table["count"].fillna(-1).tolist()} == {
        "name": ["a", "b"], "count": [1, -1], "share": [0.5, 2.0], "extra": ["usual", "said"], "more": ["none"] * 2,
    }  # fmt: skip
    file.write_text("name,share\na,\nb,2\n")
    share = read_table(file, {"name": str, "share": float}, optional={"share"})["share"].tolist()
    assert math.isnan(share[0]) and share[1] == 2.0


def test_what_is_no_table_is_said(tmp_path):
    (tmp_path / "table.csv").write_text("")
    (told,) = sentences(read_published, tmp_path / "table.csv")
    assert "not a CSV table" in told
