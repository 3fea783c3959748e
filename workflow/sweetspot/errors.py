"""One kind of error for everything a person can cause, and how a program ends on it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class UserError(Exception):
    """A mistake a person can mend: one sentence with file, key or line, value found, what is expected.

    `sentences`: that one, and those of further mistakes that its reader found beside it.
    """

    def __init__(self, sentence: str, *further: str) -> None:
        super().__init__(sentence)
        self.sentences = (sentence, *further)


class Faults:
    """Gathers what is wrong in what one reader reads, so that it can say all of it at once."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Keep what a UserError of the block says; whoever calls goes on behind the block."""
        try:
            yield
        except UserError as error:
            self.sentences += error.sentences

    def add(self, sentence: str) -> None:
        """One more mistake."""
        self.sentences.append(sentence)

    def end(self) -> None:
        """Raises UserError where anything was wrong."""
        if self.sentences:
            raise UserError(*self.sentences)


def refuse(sentences: Iterable[str]) -> None:
    """Raises UserError of all the sentences; nothing where there is none."""
    faults = Faults()
    faults.sentences += sentences
    faults.end()


@contextmanager
def exit_on_user_error() -> Iterator[None]:
    """End the program with the error's one sentence on stderr and exit code 2, without a traceback."""
    try:
        yield
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
