"""One kind of error for everything a person can cause, and how a program ends on it."""

import sys
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
