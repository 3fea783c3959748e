"""Command blocks of a README, as a person would type them."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A fenced block: the heading it stands under, its language, its lines."""

    heading: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """One command a line; a line that ends in a backslash goes on. Comments are dropped, as the shell does."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined.splitlines())
        return [line for line in lines if line]


def blocks(readme: Path) -> list[Block]:
    """All fenced blocks, in order."""
    heading, found = "", []
    for title, language, text in re.findall(r"^#+ ([^\n]*)$|^```(\w*)\n(.*?)^```$", readme.read_text(), re.M | re.S):
        heading = title or heading
        if not title:
            found.append(Block(heading, language, text))
    return found


def shell_commands(readme: Path) -> list[str]:
    """The commands of all its shell blocks, in order."""
    return [command for block in blocks(readme) if block.language == "sh" for command in block.commands]
