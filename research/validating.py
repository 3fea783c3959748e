"""What `validate-scaling` and `validate-transfer` share: a file of figures or the shipped ones, as text or as JSON."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.commands.render import to_json
from sweetspot.facts.shipped_tables import STUDIES

if TYPE_CHECKING:
    import pandas as pd


class Validation(NamedTuple):
    """One kind: the table of the `shipped` figures of a folder and its `markdown`; how a file is `read` (its `bad`
    rows are sentences), `judged` with what a folder ships, and told to a person (`report`).
    """

    shipped: Callable[[Path], "pd.DataFrame"]
    markdown: Callable[["pd.DataFrame"], str]
    read: Callable[[Path], Any]
    judged: Callable[[Any, Path], dict[str, Any]]
    report: Callable[[Path, dict[str, Any]], str]


def add_arguments(parser: argparse.ArgumentParser, figures: str) -> None:
    """The command line; `figures`: what a file holds."""
    add, told = parser.add_argument, "where the project's studies are; default: beside the library"
    add("file", type=Path, metavar="FILE", nargs="?", help=f"CSV of figures, {figures}; default: shipped ones")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("--studies", type=Path, default=STUDIES, metavar="DIR", help=told)


def run(arguments: argparse.Namespace, kind: Validation) -> None:
    """Print the errors; a bad row is named on stderr and left out. Raises UserError."""
    studies = arguments.studies
    if arguments.file is None:
        table = kind.shipped(studies)
        print(table.to_json(orient="records", indent=2) if arguments.json else kind.markdown(table))
        return
    figures = kind.read(arguments.file)
    for text in figures.bad:
        print(f"warning: {text}", file=sys.stderr)
    result = {"file": str(arguments.file), **kind.judged(figures, studies), "bad_rows": figures.bad}
    print(to_json(result) if arguments.json else kind.report(arguments.file, result))
