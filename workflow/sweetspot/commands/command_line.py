"""How the command line `sweetspot` starts and how any of its commands ends."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import UNWRITABLE
from sweetspot.packages import missing_packages, require_packages

COMPLETION = "_SWEETSPOT_COMPLETE"  # by which a shell asks for what may follow
CLOSED_PIPE = 128 + 13  # SIGPIPE, as of any program that a closed pipe ends


def main(arguments: Sequence[str]) -> int:
    """Run a command, such as ['check', 'mine'], and return its exit code. UserError for a wrong command line."""
    if missing_packages(needed=("click",)):
        require_packages(None)
    import click

    from sweetspot.commands.cli import sweetspot

    if COMPLETION in os.environ:
        sweetspot.main(prog_name="sweetspot")
    try:
        # Not `sweetspot.main`, which would hide that nobody reads the output.
        with sweetspot.make_context("sweetspot", list(arguments) or ["--help"]) as context:
            return int(sweetspot.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        raise UserError("the answers end; nothing is written") from None
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "sweetspot"
        sentence = " ".join(error.format_message().split()).rstrip(".")
        raise UserError(f"{command}: {sentence}; see {command} --help") from None


def program(run: Callable[[Sequence[str]], int] = main) -> NoReturn:
    """Run this process's command line by `run` (a function of the arguments that returns an exit code) and exit: with
    2 after an error that the user can correct, 141 if the reader of the output has gone (`| head`).
    """
    code = 0
    try:
        with exit_on_user_error():
            if sys.stdout is None:
                raise UserError("standard output is closed; expected a terminal, a file or a pipe")
            code = _run_and_flush(run)
    except BrokenPipeError:
        _discard_output()
        code = CLOSED_PIPE
    sys.exit(code)


def _run_and_flush(run: Callable[[Sequence[str]], int]) -> int:
    """Call `run` with this process's arguments, return its exit code; UserError if output fails (full disk)."""
    try:
        try:
            return run(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except OSError as error:
        # An error that names a file is of that file, not of the terminal.
        if error.errno not in UNWRITABLE or error.filename is not None:
            raise
        _discard_output()
        raise UserError(f"standard output cannot be written ({os.strerror(error.errno)})") from None


def _discard_output() -> None:
    """Redirect standard output to /dev/null, so that what Python writes at its end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
