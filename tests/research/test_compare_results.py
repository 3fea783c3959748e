"""`python -m research compare-results`: what is paired with what and what is a difference, in tables made by hand; then
small result folders.
"""

import math

import pandas as pd
import pytest

from research.__main__ import main
from research.compare_results import difference

TOLERANCE = 1e-9


def costs(**changes):
    columns = {"instance": ["a", "a", "b"], "purchase": ["on_demand", "spot", "on_demand"], "usd": [1.0, 0.25, 3.0]}
    columns |= {"hours": [10.0, 10.0, 7.5], "basis": ["published", "published", "scaled"]}
    return pd.DataFrame(columns | changes)


def test_order_of_rows_and_columns_is_no_difference():
    after = costs().iloc[[2, 0, 1], [4, 3, 1, 0, 2]]
    found = difference(costs(), after, TOLERANCE)
    assert found.same_figures and found.texts == 0
    assert found.figures == 6  # two figures in each of three rows


def test_the_largest_relative_difference_is_named_with_its_row():
    # 3.0 -> 3.3 is 0.3 / 3.3 = 1/11; 10 -> 10.1 is 0.1 / 10.1, smaller.
    after = costs(usd=[1.0, 0.25, 3.3], hours=[10.1, 10.0, 7.5])
    found = difference(costs(), after.iloc[::-1], TOLERANCE)
    assert found.moved == 2 and not found.same_figures
    assert found.largest == pytest.approx(1 / 11)
    assert (found.worst.column, found.worst.before, found.worst.after) == ("usd", 3.0, 3.3)
    assert found.worst.row == {"instance": "b", "purchase": "on_demand"}


def test_a_figure_that_appears_or_goes_is_infinitely_different():
    gone = difference(costs(), costs(usd=[1.0, math.nan, 3.0]), TOLERANCE)
    assert (gone.moved, gone.largest) == (1, math.inf)
    none = difference(costs(), costs(usd=[None, None, None]), TOLERANCE)  # a column of nothing has no type of number
    assert (none.moved, none.figures) == (3, 6)
    nothing = costs(usd=[None, None, None])
    assert difference(nothing, nothing.assign(usd=math.nan), TOLERANCE).same_figures
    boundless = costs(usd=[math.inf, 1.0, 1.0])
    assert difference(boundless, boundless, TOLERANCE).same_figures
    assert difference(boundless, costs(usd=[5.0, 1.0, 1.0]), TOLERANCE).largest == math.inf


def test_rows_without_a_partner():
    after = pd.concat([costs().iloc[1:], costs().iloc[:1].assign(instance="new")])
    found = difference(costs(), after, TOLERANCE)
    assert found.only_before == ({"instance": "a", "purchase": "on_demand"},)
    assert found.only_after == ({"instance": "new", "purchase": "on_demand"},)
    assert not found.same_figures and found.moved == 0 and found.figures == 4


COSTS = pd.DataFrame({"instance": ["a", "b"], "usd": [1.0, 2.0], "basis": ["published", "published"]})


@pytest.fixture
def results(tmp_path):
    """A results folder of two studies, and how to make another like it."""

    def make(name, **tables):
        given = {"throughput": COSTS, "costs/aws": COSTS, "report/tables/costs": COSTS} | tables
        for study in ("mine", "yours"):
            for table, content in given.items():
                file = tmp_path / name / study / f"{table}.parquet"
                file.parent.mkdir(parents=True, exist_ok=True)
                content.to_parquet(file, index=False)
        (tmp_path / name / "benchmarks").mkdir()
        COSTS.to_parquet(tmp_path / name / "benchmarks" / "run~1.parquet")
        return tmp_path / name

    return make


def said(capsys, *arguments):
    code = main(["compare-results", *map(str, arguments)])
    return code, capsys.readouterr().out.splitlines()


def test_a_figure_that_differs_ends_with_1(results, capsys):
    changed = COSTS.assign(usd=[1.0, 2.5])
    old, new = results("old"), results("new", **{"costs/aws": changed})
    code, lines = said(capsys, old / "mine", new / "mine")
    assert code == 1
    assert lines[1] == "  costs/aws: 2 rows; 2 figures; 1 DIFFER, most by 0.2 in usd: 2 -> 2.5 (instance b)"
    assert lines[-1] == "2 tables, 4 figures compared to 1e-09: NOT all equal"
    assert said(capsys, old / "mine", new / "mine", "--tolerance", "0.2")[0] == 0
