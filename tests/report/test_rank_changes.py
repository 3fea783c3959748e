"""What an edit of prices changed, on tables that stand in the test."""

import pandas as pd
import pytest
from sweetspot.report.rank_changes import difference, to_markdown


def ranked(*rows):
    names = ["instance", "purchase", "model", "workload", "usd_per_hour", "usd", "rank", "as_of"]
    return pd.DataFrame([(name, "on_demand", "m", "w", *rest) for name, *rest in rows], columns=names)


def test_an_edit_of_prices_is_told_by_what_it_changed():
    before = ranked(("a", 1.0, 10.0, 1, "2018"), ("b", 2.0, 20.0, 2, "2018"), ("C", 3.0, 30.0, 3, "2018"),
                    ("same", 5.0, 50.0, 4, "2018"), ("gone", 6.0, 60.0, 5, "2018"))  # fmt: skip
    after = ranked(("b", 2.0, 20.0, 1, "2019"), ("a", 2.5, 25.0, 2, "2019"), ("a", 9.0, 90.0, 7, "2019"),
                   ("C", 3.3, 33.0, 3, "2019"), ("same", 5.0 + 2e-9, 50.0, 4, "2019"),
                   ("New", 7.0, 70.0, 5, "2019"))  # fmt: skip
    table = difference(before, after)
    assert list(zip(table["what"], table["instance"], strict=True)) == [
        ("price", "C"), ("price", "a"), ("new", "New"), ("gone", "gone"), ("rank", "a"), ("rank", "b"), ("cost", "C"),
    ]  # fmt: skip
    found = table.set_index(["what", "instance"])
    # of two offers of a the cheaper counts
    assert found.loc[("price", "a"), ["before", "after", "change"]].to_list() == [1.0, 2.5, 1.5]
    assert found.loc[("rank", "a"), ["rank_before", "rank_after"]].to_list() == [1, 2]
    assert found.loc[("rank", "b"), ["rank_before", "rank_after", "change"]].to_list() == [2, 1, 0]
    assert found.loc[("cost", "C"), "change"] == pytest.approx(0.1)
    lines = to_markdown(table, "old", "n|w", (None, "Buy <it>"))
    assert lines == (
        "# From old to n\\|w\n\nAfter: Buy &lt;it>\n\n"
        "| offer | before, USD/h | after, USD/h | change | prices of |\n|---|---:|---:|---:|---|\n"
        "| C (on_demand) | 3 | 3.3 | +10.0% | 2018 -> 2019 |\n"
        "| a (on_demand) | 1 | 2.5 | +150.0% | 2018 -> 2019 |\n"
        "| New (on_demand) |  | 7 | new | 2019 |\n"
        "| gone (on_demand) | 6 |  | gone | 2018 |\n\n"
        "| model, workload | option | rank before | rank after | USD | change |\n|---|---|---:|---:|---:|---:|\n"
        "| m, w | a (on_demand) | 1 | 2 | 25 | +150.0% |\n"
        "| m, w | b (on_demand) | 2 | 1 | 20 | +0.0% |\n\n"
        "1 further costs changed without a change of rank.\n"
    )


def test_nothing_changed_is_said_and_large_sums_have_no_decimals():
    before = ranked(("a", 1.0, 10.0, 1, "2018"))
    assert to_markdown(difference(before, before), "x", "y") == "# From x to y\n\nNo price, cost or rank differs.\n"
    dear = ranked(("a", 1234.5, 12_345.6, 1, "2018"))
    assert "| 1 | 1,234 | +123350.0% |" in to_markdown(difference(before, dear), "x", "y")
