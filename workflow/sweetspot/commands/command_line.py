"""The command line `sweetspot`: which subcommands there are, and how any of them ends."""

import argparse
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from sweetspot import __version__
from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import UNWRITABLE

PACKAGE = "sweetspot.commands"
COMMANDS = {
    "new-study": "create a study of your own, prefilled with this machine",
    "check": "say all that is wrong in what you wrote for a study, before anything runs",
    "ask": "the answer of a study, at another use or within a deadline, from its results",
    "import-prices": "turn a price catalogue or a spot history into a price list",
    "import-use": "jobs a month from your own records (sacct or a table), into a study",
    "refresh-prices": "fetch today's prices of a study's machines, and show or write what changes",
    "predict": "what your workload would do on other devices, from one figure that you measured",
    "estimate": "what training a known model on tokens takes on machines of today: hours, USD, memory",
    "diff": "what changed between two results: prices, and what they did to the ranking",
    "compare-scenarios": "the scenarios of a study side by side: verdict, money a month, what each changes",
    "doctor": "what this machine has, and what is missing for what; for reports of faults",
}
"""Subcommands, each with its line of help. The module of that name is imported only when the subcommand is called; it
has `add_arguments(parser)` and `run(arguments)`, which returns the exit code if that is not 0."""
# Small matrices (of research too): threads cost more than they give, and a shared machine has other work.
ONE_THREAD = ("estimate", "import-use", "predict", "validate-scaling", "validate-tokens", "validate-transfer")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class _Parser(argparse.ArgumentParser):
    """Refuses a command line in one sentence, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{self.prog}: {message}; see {self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help and version as argparse says them, which swallows that nobody takes them."""
        (file or sys.stderr).write(message)


def main(given: Sequence[str], package: str = PACKAGE, commands: Mapping[str, str] = COMMANDS) -> int:
    """Run one command line, of the `commands` in `package`; its exit code. Raises UserError."""
    prog = package.split(".")[0]
    parser = _Parser(
        prog=prog,
        description="What people type beside the workflow of Sweetspot; `snakemake` runs the workflow itself.",
        epilog=f"`{prog} COMMAND --help` says what it reads and writes, with an example.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    parts = {name: subparsers.add_parser(name, help=text) for name, text in commands.items()}
    named = given[0] if given else ""
    if named in commands:
        if named in ONE_THREAD:
            os.environ |= {name: "1" for name in THREADS if name not in os.environ}
        module = importlib.import_module(f"{package}.{named.replace('-', '_')}")
        parts[named].description = module.__doc__
        parts[named].formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(parts[named])
        return int(module.run(parser.parse_args(given)) or 0)
    if named and not named.startswith("-"):
        raise UserError(f"{named!r} is no command of {prog}; expected {', '.join(commands)}")
    parser.parse_args(given)
    parser.print_help()
    return 0


def program(package: str = PACKAGE, commands: Mapping[str, str] = COMMANDS) -> NoReturn:
    """The console script: `main` on this process's arguments. 2 ends an error that a person can mend.

    A reader that closes the pipe early (`| head`) ends it quietly.
    """
    code = 0
    try:
        with exit_on_user_error():
            if sys.stdout is None:
                raise UserError("standard output is closed; expected a terminal, a file or a pipe")
            code = _said(sys.argv[1:], package, commands)
    except BrokenPipeError:
        _say_no_more()
        code = 141  # 128 + SIGPIPE, as of any program that a closed pipe ends
    sys.exit(code)


def _said(given: Sequence[str], package: str, commands: Mapping[str, str]) -> int:
    """`main`, with all that it says. Raises UserError where standard output takes no more, such as on a full disk."""
    try:
        try:
            return main(given, package, commands)
        finally:
            sys.stdout.flush()
    except OSError as error:
        # One that names a file is of that file, not of the terminal.
        if error.errno not in UNWRITABLE or error.filename is not None:
            raise
        _say_no_more()
        raise UserError(f"standard output cannot be written ({os.strerror(error.errno)})") from None


def _say_no_more() -> None:
    """Python writes what is left when it ends; to nowhere, so that this does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
