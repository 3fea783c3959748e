"""Set two results side by side: what changed in prices, and what it did to the ranking.

Reads comparison/ranks.parquet and headline.parquet of two result folders: two dates of one study, or before and after
an edit of its prices. Writes Markdown to stdout: both answers, the prices that changed, the options that changed rank.

    sweetspot diff old/mine results/mine --table changes.csv
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from sweetspot.decision.rank_changes import difference, to_markdown
from sweetspot.errors import UserError
from sweetspot.files import read_parquet, to_arrow, write_arrow, write_csv, write_whole


def load_ranks(folder: Path) -> pd.DataFrame:
    """comparison/ranks.parquet of a result folder. Raises UserError where it is missing."""
    file = folder / "comparison" / "ranks.parquet"
    if not file.is_file():
        raise UserError(f"{file}: the file is needed and does not exist; expected a folder such as results/STUDY")
    return read_parquet(file)


def answer(folder: Path) -> str | None:
    """The first sentence of a result's headline, if it has one."""
    file = folder / "comparison" / "headline.parquet"
    table = read_parquet(file) if file.is_file() else pd.DataFrame()
    found = table[table["scope"] == "answer"]["first"] if len(table) else table
    return str(found.iloc[0]) if len(found) else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot diff`."""
    parser.add_argument("before", type=Path, metavar="RESULTS_A", help="such as an older copy of results/STUDY")
    parser.add_argument("after", type=Path, metavar="RESULTS_B", help="such as results/STUDY")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the Markdown there too")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table there, .csv or .parquet")


def run(arguments: argparse.Namespace) -> None:
    """Print the Markdown; write it and the table where asked. Raises UserError."""
    file = arguments.table
    if file is not None and file.suffix not in (".csv", ".parquet"):
        raise UserError(f"--table is {file}; expected a name ending in .csv or .parquet")
    table = difference(load_ranks(arguments.before), load_ranks(arguments.after))
    answers = (answer(arguments.before), answer(arguments.after))
    text = to_markdown(table, str(arguments.before), str(arguments.after), answers)
    if arguments.markdown is not None:
        with write_whole(arguments.markdown) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if file is not None:
        write = write_csv if file.suffix == ".csv" else write_arrow
        write(to_arrow(table), file)
    sys.stdout.write(text)
