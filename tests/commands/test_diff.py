"""Two results set against each other, as a person would on the command line."""

import pandas as pd
import pytest
from sweetspot.choice_kinds import BUY
from sweetspot.commands.command_line import main
from sweetspot.decision.verdict import verdict_table
from sweetspot.declared_tables import write_table
from sweetspot.errors import UserError
from works import work


@pytest.fixture
def folders(tmp_path):
    """Results of a machine that costs more later."""
    named = {"instance": "a", "purchase": "on_demand", "model": "vgg16", "workload": "imagenet", "rank": 1}
    for name, usd, as_of in (("old", 1.0, "2018-07-01"), ("new", 2.5, "2026-07-01")):
        table = pd.DataFrame([named | {"usd_per_hour": usd, "usd": 100 * usd, "as_of": as_of}])
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
