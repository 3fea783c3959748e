"""The steps of a Containerfile, read as an engine reads them; an instruction that is not known here is an error."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

KNOWN = ("FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "CMD")


@dataclass(frozen=True)
class Step:
    """One instruction and its words, with lines that go on joined."""

    line: int
    instruction: str
    text: str


def steps(file: Path) -> list[Step]:
    """All instructions in order. Raises ValueError for one that is not in KNOWN."""
    found: list[Step] = []
    waiting, start = "", 0
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.lstrip().startswith("#") or not (line.strip() or waiting):
            continue
        start = start or number
        waiting += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        instruction, _, text = waiting.strip().partition(" ")
        if instruction not in KNOWN:
            raise ValueError(f"{file}, line {start}: {instruction} is none of {', '.join(KNOWN)}")
        found.append(Step(start, instruction, re.sub(r"\s+", " ", text.strip())))
        waiting, start = "", 0
    return found


def copied(step: Step) -> tuple[str | None, list[str], str]:
    """Owner, sources and target of a COPY."""
    words = shlex.split(step.text)
    owner = words.pop(0).removeprefix("--chown=") if words[0].startswith("--chown=") else None
    return owner, words[:-1], words[-1]


def environment(step: Step) -> dict[str, str]:
    """Variables of an ENV."""
    return dict(word.split("=", 1) for word in shlex.split(step.text))


def command(step: Step) -> list[str]:
    """Words of a CMD in its JSON form."""
    return json.loads(step.text)
