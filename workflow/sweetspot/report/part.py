"""A table of the page as rows of cells."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from markupsafe import Markup

Cell = Markup | str


@dataclass(frozen=True)
class Part:
    """A table of the page; `classes`: one a row; `left_out`: rows that only the files hold."""

    head: tuple[str, ...]
    rows: list[list[Cell]]
    classes: list[str]
    left_out: int = 0

    def named(self, words: Callable[[str], str]) -> "Part":
        """The same with other words in its head."""
        return replace(self, head=tuple(words(name) for name in self.head))
