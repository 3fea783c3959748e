"""Set the scenarios of a study side by side: verdict, best choice, money a month, and what each changes.

Reads results/STUDY/comparison/scenarios.parquet, which `snakemake --cores all scenarios --config study=STUDY` makes
from the files in config/studies/STUDY/scenarios/, each with what differs from the study. Writes Markdown to stdout.

    sweetspot compare-scenarios start-up-2026
    sweetspot compare-scenarios start-up-2026 --table scenarios.csv
"""

import argparse
import sys
from pathlib import Path

from sweetspot.commands.diff import write_table
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.report.decided_anew import to_markdown
from sweetspot.report.tables import money_of
from sweetspot.study.study import load_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot compare-scenarios`."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="a folder of config/studies with scenarios/")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    add("--results", type=Path, default=Path("results"), help="the folder of its results (results)")
    add("--table", type=Path, metavar="FILE", help="write the table there, .csv or .parquet")


def run(arguments: argparse.Namespace) -> None:
    """Print the Markdown; write the table where asked. Raises UserError."""
    name, folder = arguments.study, arguments.config / "studies" / arguments.study
    study = load_study(folder)
    file = arguments.results / name / "comparison" / "scenarios.parquet"
    if not any((folder / "scenarios").glob("*.yaml")):
        raise UserError(f"{folder / 'scenarios'}: has no scenario; expected a file NAME.yaml with what differs")
    if not file.is_file():
        raise UserError(f"{file}: is not there; make it first: snakemake --cores all scenarios --config study={name}")
    table = read_parquet(file)
    if arguments.table is not None:
        write_table(table, arguments.table)
    sys.stdout.write(to_markdown(table, money_of(study)))
