"""What all log readers share: the lines of a file, its faults, and one figure with what the log says about it."""

import hashlib
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from sweetspot.errors import UserError
from sweetspot.files import read_limited
from sweetspot.study.study import LogSource

MAX_BYTES = 200_000_000
COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Reading(NamedTuple):
    """One figure of one log. `lines` is its place in the file, `facts` what a reader may want to know of the run."""

    model: str
    framework: str
    framework_version: str
    batch_size: int
    gpus: int
    precision: str
    samples_per_s: float
    dataset: str
    lines: str
    facts: str


@dataclass
class LogFile:
    """A log's lines (numbered from 1) and its hash."""

    path: Path
    source: LogSource
    undecodable: str = "strict"  # `replace`: a progress bar may be cut within a character
    lines: list[str] = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        raw = read_limited(self.path, MAX_BYTES)
        self.sha256 = hashlib.sha256(raw).hexdigest()
        try:
            text = raw.decode("utf-8", self.undecodable)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise UserError(f"{self.path}, line {line}: not UTF-8 text; expected a benchmark's log") from None
        # Not str.splitlines: it also breaks at characters that editors do not count as line ends.
        self.lines = [line.rstrip("\n") for line in io.StringIO(text, newline=None)]

    def refuse(self, line: int, message: str) -> NoReturn:
        """Raise UserError: the log is malformed or contradicts the study."""
        raise UserError(f"{self.path}, line {line}: {message}")

    def require_equal(self, name: str, declared: object, line: int, actual: object) -> None:
        """Refuse a log that says something else than the study.

        Parameters
        ----------
        name
            A key of the study's `logs`.
        declared
            Its value in the study; None: not declared.
        line, actual
            Number of the log's line, and the value there.
        """
        if declared is not None and declared != actual:
            self.refuse(line, f"{name} is {actual!r}; study.yaml states {declared!r}")


def uncoloured(text: str) -> str:
    """`text` without the escape sequences of a terminal."""
    return COLOUR.sub("", text) if "\x1b" in text else text


def positive(text: str | None) -> float | None:
    """`text` as a number above 0, or None; beyond 10 ** +-15 it is no time, rate or size that anybody measured."""
    try:
        value = float(text) if text is not None else 0.0
    except ValueError:
        return None
    return value if 1e-15 < value < 1e15 else None


def not_negative(text: str | None) -> float | None:
    """`text` as a finite number of at least 0, or None."""
    return 0.0 if text is not None and text.strip("0.") == "" and "0" in text else positive(text)


def model_slug(name: str) -> str:
    """A model's name as one of ours: `ResNet 56` is `resnet56`."""
    return re.sub(r"[^a-z0-9._-]", "", name.lower())[:64]
