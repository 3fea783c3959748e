"""One kind of error for everything a person can cause, and how a program ends on it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class UserError(Exception):
    """A mistake that a person can correct, in one sentence: file, key or line, value found, what is expected.
    `sentences`: that sentence, and those of further mistakes that were found with it.
    """

    def __init__(self, sentence: str, *further: str) -> None:
        super().__init__(sentence)
        self.sentences = (sentence, *further)


class Faults:
    """Collects the sentences of all mistakes in one input, to raise them together as one UserError."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Collect the sentences of a UserError raised in the `with` block, so that checking goes on behind it."""
        try:
            yield
        except UserError as error:
            self.sentences += error.sentences

    def add(self, sentence: str) -> None:
        """Collect the sentence of one more mistake."""
        self.sentences.append(sentence)

    def end(self) -> None:
        """Raise one UserError with all collected sentences; do nothing where none was collected."""
        refuse(self.sentences)


def refuse(sentences: Iterable[str]) -> None:
    """Raise one UserError with all the sentences; do nothing where there are none."""
    if texts := list(sentences):
        raise UserError(*texts)


@contextmanager
def exit_on_user_error() -> Iterator[None]:
    """End the program with code 2 on a UserError of the `with` block, its sentence on stderr, without a traceback."""
    try:
        yield
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
