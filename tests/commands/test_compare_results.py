"""`sweetspot compare-results` on small result folders."""

import pandas as pd
import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

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


def test_equal_results(results, capsys):
    code, lines = said(capsys, results("old"), results("new"))
    assert code == 0
    assert lines == [
        "mine",
        "  costs/aws: 2 rows; 2 figures",
        "  throughput: 2 rows; 2 figures",
        "yours",
        "  costs/aws: 2 rows; 2 figures",
        "  throughput: 2 rows; 2 figures",
        "4 tables, 8 figures compared to 1e-09: all equal",
    ]


def test_a_figure_that_differs_ends_with_1(results, capsys):
    changed = COSTS.assign(usd=[1.0, 2.5])
    old, new = results("old"), results("new", **{"costs/aws": changed})
    code, lines = said(capsys, old / "mine", new / "mine")
    assert code == 1
    assert lines[1] == "  costs/aws: 2 rows; 2 figures; 1 DIFFER, most by 0.2 in usd: 2 -> 2.5 (instance b)"
    assert lines[-1] == "2 tables, 4 figures compared to 1e-09: NOT all equal"
    assert said(capsys, old / "mine", new / "mine", "--tolerance", "0.2")[0] == 0


def test_text_and_new_columns_are_told_and_end_with_0(results, capsys):
    long = "the first of many words that are the same in both cells, and then "
    before = COSTS.assign(source=[long + "one thing", "x"])
    after = COSTS.assign(source=[long + "another", "x"], nodes=1)
    code, lines = said(capsys, results("old", throughput=before) / "mine", results("new", throughput=after) / "mine")
    assert code == 0
    assert lines[2] == (
        "  throughput: 2 rows; 2 figures; columns added: nodes; 1 text cells differ, "
        "such as source: ...ells, and then one thing -> ...ells, and then another (instance a)"
    )
    assert lines[-1].endswith("all equal; 1 text cells differ")


def test_rows_and_tables_that_went(results, capsys):
    old, new = results("old"), results("new", throughput=COSTS.iloc[:1])
    (new / "mine" / "costs" / "aws.parquet").unlink()
    code, lines = said(capsys, old, new)
    assert code == 1
    assert "  costs/aws: only before" in lines
    assert "  throughput: 2 -> 1 rows; 1 figures; 1 ROWS ONLY BEFORE, such as instance b" in lines


def test_a_new_table_is_told_and_ends_with_0(results, capsys):
    code, lines = said(capsys, results("old") / "mine", results("new", **{"comparison/options": COSTS}) / "mine")
    assert code == 0 and "  comparison/options: only after" in lines


def test_a_folder_without_tables_is_refused(results, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "absent"):
        with pytest.raises(UserError, match=f"{folder}: no table is below it; expected a folder such as results"):
            main(["compare-results", str(results(f"of-{folder}")), str(tmp_path / folder)])
