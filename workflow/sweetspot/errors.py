"""One kind of error for everything a person can cause, and how a program ends on it."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """A mistake a person can mend: one sentence with file, key or line, value found, what is expected."""


@contextmanager
def exit_on_user_error() -> Iterator[None]:
    """End the program with the error's one sentence on stderr and exit code 2, without a traceback."""
    try:
        yield
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


@contextmanager
def logged_errors(log: str) -> Iterator[None]:
    """Run a script of the workflow with its stderr (warnings and logging too) in the file `log`, which is made anew.

    A UserError is one sentence in the log and on the terminal, and exit code 2; any other error is a traceback in both.
    """
    sys.stderr.flush()
    terminal = os.dup(2)
    with open(log, "wb", buffering=0) as file:  # noqa: PTH123 (a descriptor, which libraries in C write to as well)
        os.dup2(file.fileno(), 2)
    try:
        yield
    except UserError as error:
        sentence = f"error: {error}"
        print(sentence, file=sys.stderr)
        os.write(terminal, f"{sentence}\n".encode())
        raise SystemExit(2) from None
    except Exception:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        os.close(terminal)
