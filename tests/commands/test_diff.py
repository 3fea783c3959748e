"""Two results set against each other, as a person would on the command line."""

import pandas as pd
import pytest
from sweetspot.choice_kinds import BUY
from sweetspot.commands.command_line import main
from sweetspot.decision.verdict import verdict_table
from sweetspot.declared_tables import write_table
from sweetspot.errors import UserError
from works import work


def ranks(prices, rank, as_of):
    """ranks.parquet of machines with these prices, each 100 hours."""
    rows = [
        {"instance": name, "purchase": "on_demand", "model": "vgg16", "workload": "imagenet", "usd_per_hour": price,
         "usd": 100 * price, "rank": rank[name], "as_of": as_of}
        for name, price in prices.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def folders(tmp_path):
    old = ranks({"a": 1.0, "b": 2.0, "c": 3.0, "gone": 4.0}, {"a": 1, "b": 2, "c": 3, "gone": 4}, "2018-07-01")
    new = ranks({"a": 2.5, "b": 2.0, "c": 3.3, "n|w": 9.0}, {"a": 2, "b": 1, "c": 3, "n|w": 4}, "2026-07-01")
    for name, table in (("old", old), ("new", new)):
        (tmp_path / name / "comparison").mkdir(parents=True)
        write_table(table, tmp_path / name / "comparison" / "ranks.parquet")
    return tmp_path / "old", tmp_path / "new"


def test_the_answers_stand_first(folders, capsys):
    for folder, title in zip(folders, ("<it>", "that"), strict=True):
        verdict = verdict_table([work(("box", BUY, [1.0], {"title": title}))], "plan", pd.DataFrame(), {})
        write_table(verdict, folder / "comparison" / "verdict.parquet")
    main(["diff", *map(str, folders)])
    said = capsys.readouterr().out
    assert "Before: Buy &lt;it>. " in said and "\n\nAfter: Buy that. " in said


def test_the_same_results_differ_in_nothing(folders, capsys):
    old, _ = map(str, folders)
    main(["diff", old, old])
    assert "No price, cost or rank differs." in capsys.readouterr().out


def test_a_folder_without_results_is_a_sentence(folders, tmp_path):
    with pytest.raises(UserError, match=r"ranks\.parquet: the file is needed and does not exist"):
        main(["diff", str(folders[0]), str(tmp_path / "nowhere")])
