"""Compare two result folders: what changed in prices, and what it did to the ranking.

Usage: python -m sweetspot.commands.diff RESULTS_A RESULTS_B [--markdown FILE] [--table FILE.csv|FILE.parquet]
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sweetspot.decision.diff import difference, to_markdown
from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import write_whole


def load_ranks(folder: Path) -> pd.DataFrame:
    """comparison/ranks.parquet of a result folder. Raises UserError where it is missing."""
    file = folder / "comparison" / "ranks.parquet"
    if not file.is_file():
        raise UserError(f"{file}: the file is needed and does not exist; expected a folder such as results/STUDY")
    return pd.read_parquet(file)


def answer(folder: Path) -> str | None:
    """The first sentence of a result's headline, if it has one."""
    file = folder / "comparison" / "headline.parquet"
    table = pd.read_parquet(file, columns=["scope", "first"]) if file.is_file() else pd.DataFrame()
    found = table[table["scope"] == "answer"]["first"] if len(table) else table
    return str(found.iloc[0]) if len(found) else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the Markdown; write it and the table where asked. Raises UserError."""
    parser = argparse.ArgumentParser(prog="python -m sweetspot.commands.diff", description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, metavar="RESULTS_A", help="such as an older copy of results/STUDY")
    parser.add_argument("after", type=Path, metavar="RESULTS_B")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the Markdown there too")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table there, .csv or .parquet")
    given = parser.parse_args(arguments)
    table = difference(load_ranks(given.before), load_ranks(given.after))
    answers = (answer(given.before), answer(given.after))
    text = to_markdown(table, str(given.before), str(given.after), answers)
    if given.markdown is not None:
        with write_whole(given.markdown) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if given.table is not None:
        if given.table.suffix not in (".csv", ".parquet"):
            raise UserError(f"--table is {given.table}; expected a name ending in .csv or .parquet")
        with write_whole(given.table) as temporary:
            table.to_csv(temporary, index=False) if given.table.suffix == ".csv" else table.to_parquet(
                temporary, index=False
            )
    sys.stdout.write(text)


if __name__ == "__main__":
    with exit_on_user_error():
        main()
