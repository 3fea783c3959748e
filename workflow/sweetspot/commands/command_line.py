"""The command line `sweetspot`: which subcommands there are, and how any of them ends."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from sweetspot.errors import exit_on_user_error

COMMANDS = {
    "compare-results": "what a change of the program did to its results, figure by figure",
}
"""Subcommand and one line of help; its module is of the same name, imported only when it is called."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit code: 0, 2 for an error a person can mend, or what the subcommand returns."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="sweetspot", description="Which infrastructure gives the best compromise of time, cost and availability."
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parts = {name: subparsers.add_parser(name, help=text) for name, text in COMMANDS.items()}
    named = given[0] if given and given[0] in COMMANDS else None
    if named is None:
        parser.parse_args(given)
        return 0
    module = importlib.import_module(f"sweetspot.commands.{named.replace('-', '_')}")
    part = parts[named]
    part.description = module.__doc__
    part.formatter_class = argparse.RawDescriptionHelpFormatter
    module.add_arguments(part)
    with exit_on_user_error():
        code = int(module.run(parser.parse_args(given)) or 0)
    return code


def program() -> None:
    """The console script: as `main`; a reader that closes the pipe early (`| head`) ends it quietly."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what is left when it ends; to nowhere, so that this does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141  # 128 + SIGPIPE, as of any program that a closed pipe ends
    sys.exit(code)
