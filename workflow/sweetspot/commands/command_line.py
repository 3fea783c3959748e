"""The command line `sweetspot`: which subcommands there are, and how any of them ends."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from sweetspot import __version__
from sweetspot.errors import UserError, exit_on_user_error

COMMANDS = {
    "new-study": "create a study of your own, prefilled with this machine",
    "check": "say all that is wrong in what you wrote for a study, before anything runs",
    "ask": "the answer of a study, at another use or within a deadline, from its results",
    "import-prices": "turn a price catalogue or a spot history into a price list",
    "refresh-prices": "fetch today's prices of a study's machines, and show or write what changes",
    "validate-scaling": "test the extrapolation on figures of your own",
    "validate-transfer": "test the transfer from one device to another on figures of your own",
    "predict": "what your workload would do on other devices, from one figure that you measured",
    "flop": "the arithmetic of a training step beside the counters of torch and XLA; what share of a peak was reached",
    "fit-price-paths": "recompute the presets of price paths and resale curves from their history",
    "back-test": "replay the history month by month: what would the advice have cost?",
    "diff": "what changed between two results: prices, and what they did to the ranking",
    "compare-results": "whether two results are equal, figure by figure: what a change of the program did",
    "doctor": "what this machine has, and what is missing for what; for reports of faults",
    "schemas": "write the JSON schemas of all files that a person edits",
}
"""Subcommands, each with its line of help. The module of that name is imported only when the subcommand is called; it
has `add_arguments(parser)` and `run(arguments)`, which returns the exit code if that is not 0."""


class _Parser(argparse.ArgumentParser):
    """Refuses a command line in one sentence, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{self.prog}: {message}; see {self.prog} --help")


def main(given: Sequence[str]) -> int:
    """Run one command line; its exit code. Raises UserError."""
    parser = _Parser(
        prog="sweetspot",
        description="What people type beside the workflow of Sweetspot; `snakemake` runs the workflow itself.",
        epilog="`sweetspot COMMAND --help` says what it reads and writes, with an example.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    parts = {name: subparsers.add_parser(name, help=text) for name, text in COMMANDS.items()}
    named = given[0] if given else ""
    if named in COMMANDS:
        module = importlib.import_module(f"sweetspot.commands.{named.replace('-', '_')}")
        parts[named].description = module.__doc__
        parts[named].formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(parts[named])
        return int(module.run(parser.parse_args(given)) or 0)
    if named and not named.startswith("-"):
        raise UserError(f"{named!r} is no command of sweetspot; expected {', '.join(COMMANDS)}")
    parser.parse_args(given)
    parser.print_help()
    return 0


def program() -> NoReturn:
    """The console script: `main` on this process's arguments. 2 ends an error that a person can mend.

    A reader that closes the pipe early (`| head`) ends it quietly.
    """
    code = 0
    try:
        with exit_on_user_error():
            try:
                code = main(sys.argv[1:])
            finally:
                sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what is left when it ends; to nowhere, so that this does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141  # 128 + SIGPIPE, as of any program that a closed pipe ends
    sys.exit(code)
