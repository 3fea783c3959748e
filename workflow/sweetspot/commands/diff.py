"""Set two results side by side: what changed in prices, and what it did to the ranking.

Reads comparison/ranks.parquet and verdict.parquet of two result folders: two dates of one study, or before and after
an edit of its prices. Or takes one study and a day: its price lists of then (prices/history/, as `sweetspot
refresh-prices` keeps them) are priced and compared anew. Writes Markdown to stdout: both answers, the prices that
changed, the options that changed rank.

    sweetspot diff old/mine results/mine --table changes.csv
    sweetspot diff mine --since 2026-09-19
    sweetspot diff mine --since 2026-09-19 --until 2026-11-22
"""

import argparse
import sys
from datetime import date
from pathlib import Path

import pandas as pd

from sweetspot.commands.two_days import changes_between
from sweetspot.errors import UserError
from sweetspot.files import read_parquet, to_arrow, write_arrow, write_csv, write_whole
from sweetspot.report.decided_anew import answer_of
from sweetspot.report.rank_changes import difference, to_markdown


def load_ranks(folder: Path) -> pd.DataFrame:
    """comparison/ranks.parquet of a result folder. Raises UserError where it is missing."""
    file = folder / "comparison" / "ranks.parquet"
    if not file.is_file():
        raise UserError(f"{file}: the file is needed and does not exist; expected a folder such as results/STUDY")
    return read_parquet(file)


def answer(folder: Path) -> str | None:
    """The verdict of a result in words, if it has one."""
    file = folder / "comparison" / "verdict.parquet"
    return answer_of(read_parquet(file)) if file.is_file() else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot diff`."""
    add = parser.add_argument
    add("before", metavar="RESULTS_A", help="such as an older copy of results/STUDY; or, with --since, a study")
    add("after", nargs="?", metavar="RESULTS_B", help="such as results/STUDY")
    add("--since", type=date.fromisoformat, metavar="DAY", help="price lists of a study as they were on that day")
    add("--until", type=date.fromisoformat, metavar="DAY", help="against those of that day; default: of today")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    add("--results", type=Path, default=Path("results"), help="the folder of its results (results)")
    add("--markdown", type=Path, metavar="FILE", help="write the Markdown there too")
    add("--table", type=Path, metavar="FILE", help="write the table there, .csv or .parquet")


def check_table(file: Path | None) -> None:
    """Raises UserError where a table is asked for in a form that there is not."""
    if file is not None and file.suffix not in (".csv", ".parquet"):
        raise UserError(f"--table is {file}; expected a name ending in .csv or .parquet")


def write_table(table: pd.DataFrame, file: Path) -> None:
    """Write a table as CSV or Parquet, by the ending of the file. Raises UserError."""
    check_table(file)
    write = write_csv if file.suffix == ".csv" else write_arrow
    write(to_arrow(table), file)


def run(arguments: argparse.Namespace) -> None:
    """Print the Markdown; write it and the table where asked. Raises UserError."""
    check_table(arguments.table)
    if (arguments.after is None) == (arguments.since is None):
        raise UserError("sweetspot diff: expected two folders of results, or a study and --since DAY")
    if arguments.since is None:
        before, after = Path(arguments.before), Path(arguments.after)
        table = difference(load_ranks(before), load_ranks(after))
        text = to_markdown(table, str(before), str(after), (answer(before), answer(after)))
    else:
        table, text = changes_between(arguments)
    if arguments.markdown is not None:
        with write_whole(arguments.markdown) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if arguments.table is not None:
        write_table(table, arguments.table)
    sys.stdout.write(text)
