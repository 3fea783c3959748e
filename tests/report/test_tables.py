"""The tables of a report: read and written, asked for what the page needs, in a currency; all by a few rows by hand."""

import csv
import math

import pandas as pd
import pyarrow as pa
import pytest
from report_tables import files_of
from sweetspot.report.csv_files import write_csv
from sweetspot.report.notation import interval_text, missing, number, records, text
from sweetspot.report.tables import asked_model, judged_option, read_tables, shown_in, write_tables
from sweetspot.warnings import pairs, warning
from sweetspot.wording import DISPATCH, SHARE, Money

EUR = Money("EUR", 1.25)


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (264.6667, 3, "265"), (1.1028, 3, "1.10"), (94_720_000.0, 3, "94,720,000"), (0.00012, 3, "0.000120"),
        (99.96, 3, "100"), (9.996, 3, "10.0"), (99.94, 3, "99.9"), (-2.5, 3, "-2.50"), (1.2, 4, "1.2"),
        (100.0, 4, "100"), (1.0, 4, "1"), (2000.0, 4, "2,000"), (3.4567, 2, "3.5"), (1.2345e-8, 3, "0.000000"),
        (None, 3, "–"), (0.0, 3, "0"), (0.5, 3, "0.500"), (math.inf, 3, "∞"), (-math.inf, 3, "–∞"), ("text", 3, "text")
    ]
)  # fmt: skip
def test_numbers_have_three_digits_and_no_exponent(value, digits, said):
    assert number(value, digits) == said
    assert digits != 3 or number(value) == said


def test_an_open_upper_end_is_never_and_what_is_missing_is_no_text():
    assert interval_text(4.6, math.nan) == "4.60 to never" and interval_text(1.5, 2.25, 2) == "1.5 to 2.2"
    assert interval_text(None, 2.0) == "– to 2.00" and interval_text(None, None) == ""
    assert [missing(value) for value in (None, math.nan, pd.NA, 0, "", [])] == [True, True, True, False, False, False]
    assert (text(None), text(0.5)) == ("", "0.5")
    assert records(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_tables_of_all_price_lists_stand_below_each_other(tmp_path):
    """An empty list has no types; one without a column leaves it empty."""
    lists = {
        "a": pd.DataFrame({"price_list": ["a"], "usd": [1], "warnings": [[warning("stale_price", "of 2016")]]}),
        "b": pd.DataFrame({"price_list": ["b"], "usd": [2.5]}),
        "none": pd.DataFrame({"price_list": pd.Series([], dtype=object)}),
    }
    files = {"costs": files_of(lists, tmp_path)["others"]}
    read = read_tables(files)["costs"]
    assert read["usd"].tolist() == [1.0, 2.5]
    assert [pairs(value) for value in read["warnings"]] == [[("stale_price", "of 2016")], []]
    write_tables(files, tmp_path / "tables")
    assert (tmp_path / "tables" / "costs.csv").read_text().splitlines()[1:] == [
        '"a",1,"stale_price: of 2016"',
        '"b",2.5,""',
    ]
    pd.testing.assert_frame_equal(read_tables({"x": [tmp_path / "tables" / "costs.parquet"]})["costs"], read)
    nothing = read_tables({"offers": [files["costs"][2]]})["offers"]
    assert list(nothing.columns) == ["price_list"] and nothing.empty


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


VERDICT = {"verdict": frame("workload", ("lab",), ("other",))}
CHOICES = {"choices": frame("workload cost model", ("other", SHARE, "x"), ("lab", DISPATCH, None), ("lab", SHARE, "a"))}
OPTIONS = {"options": frame("workload model", ("alone", "first"), ("lab.bert", "bert"), ("labour", "no"))}


@pytest.mark.parametrize(
    ("tables", "model"),
    [
        (CHOICES | OPTIONS, ""),  # no answer
        (VERDICT | CHOICES | OPTIONS, "a"),
        (VERDICT | OPTIONS | {"choices": CHOICES["choices"].head(2)}, "bert"),
        (VERDICT | {"choices": CHOICES["choices"].head(1), "options": OPTIONS["options"].iloc[[2, 0]]}, "no"),
        (VERDICT | {"choices": CHOICES["choices"].head(1)}, ""),
    ],
)
def test_the_model_of_the_answer(tables, model):
    assert asked_model(tables) == model


def test_the_reference_is_judged_or_else_the_cheapest_that_stays():
    """Option, model, whether the reference, whether it stays, whether the answer takes it, USD."""
    names = "option model is_reference persistent in_answer usd"
    rows = [("spot", "m", False, False, True, 1.0), ("dear", "m", False, True, True, 5.0),
            ("cheap", "m", False, True, False, 4.0), ("other", "n", True, True, True, 0.5)]  # fmt: skip
    ranks = frame(names, *rows)
    assert judged_option({"options": ranks, "ranks": ranks}, "n") == "other"
    assert judged_option({"options": ranks, "ranks": ranks}, "m") == "cheap"
    assert judged_option({"ranks": ranks.assign(persistent=False)}, "m") == "spot"
    assert judged_option({"ranks": ranks[["option", "model", "usd"]]}, "m") == ""
    assert judged_option({"options": ranks, "ranks": ranks}, "") == judged_option({}, "m") == ""


def test_money_is_shown_in_the_study_s_currency_by_the_names_of_columns_and_by_units():
    """1.25 USD a euro: 3 USD are 2.40 EUR, 10 images per USD 12.5 per EUR; the rate itself, words and claims stay."""
    rows = pd.DataFrame(
        {"unit": ["USD/hour", "images/s", None], "value": [3.0, 225.0, 10.0], "turning_point": [0.5, None, 1.25],
         "evppi_usd": [12.5, 25.0, 0.0], "cost_to_learn_usd": [None, 5.0, None], "model": "m", "usd_per_unit": 1.25,
         "images_per_usd": 10, "usd_words": "5 USD", "busd": 5}
    )  # fmt: skip
    shown = shown_in({"worth_knowing": rows, "claims": rows, "costs": rows}, EUR)
    worth = shown["worth_knowing"]
    assert worth["unit"].dropna().tolist() == ["EUR/hour", "images/s"] and worth["value"].tolist() == [2.4, 225, 10]
    assert worth["turning_point"].dropna().tolist() == [0.4, 1.25] and worth["evppi_usd"].tolist() == [10, 20, 0]
    assert worth["cost_to_learn_usd"].dropna().tolist() == [4] and worth["images_per_usd"].tolist() == [12.5] * 3
    pd.testing.assert_frame_equal(
        worth[["usd_per_unit", "usd_words", "busd"]], rows[["usd_per_unit", "usd_words", "busd"]]
    )
    pd.testing.assert_frame_equal(shown["claims"], rows)
    assert shown["costs"]["value"].tolist() == [3, 225, 10] and shown["costs"]["unit"].iloc[0] == "USD/hour"
    bare = rows[["value"]]
    assert shown_in({"tornado": bare}, EUR)["tornado"]["value"].tolist() == [3, 225, 10]
    assert shown_in({"claims": rows}, Money()) == {"claims": rows}


def test_a_spreadsheet_shows_what_a_text_says_and_computes_nothing(tmp_path):
    texts = ["=1+1", "+x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-1.5", "+3e2", "plain", "a=b", "", None, "-inf", "-"]
    table = pd.DataFrame({"gpu": texts, "n": [-1.5] * len(texts)})
    table["note"] = pd.Categorical(["＝A1"] * len(texts))
    write_csv(pa.Table.from_pandas(table), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    guarded = ["'=1+1", "'+x", "'-2+3", "'@SUM(A1)", "'\t=1", "'\r=1"]
    assert [row["gpu"] for row in rows] == [*guarded, "-1.5", "+3e2", "plain", "a=b", "", "", "'-inf", "'-"]
    assert {row["note"] for row in rows} == {"'＝A1"}
    assert {row["n"] for row in rows} == {"-1.5"}
