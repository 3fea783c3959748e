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
    """One throughput read from a log. `lines`: where in the file, such as `line 7`; `facts`: notes on the run."""

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
    """A log file, read on creation: its lines (counted from 1 in messages) and SHA-256; UserError if unreadable."""

    path: Path
    source: LogSource
    undecodable: str = "strict"  # `replace`: a progress bar may be cut within a character
    lines: list[str] = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        """Read the file at `path` into `lines` and `sha256`; UserError names the line that is not UTF-8 text."""
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
        """Raise UserError with path, line number and message, for a log that is malformed or contradicts the study."""
        raise UserError(f"{self.path}, line {line}: {message}")

    def require_equal(self, name: str, declared: object, line: int, actual: object) -> None:
        """Raise UserError if a log was made with another setting, such as the batch, than the study states.

        Parameters
        ----------
        name, declared, line, actual
            A key of the study's `logs`; its value there (None: nothing is checked); the log's line, its value.
        """
        if declared is not None and declared != actual:
            self.refuse(line, f"{name} is {actual!r}; study.yaml states {declared!r}")


def uncoloured(text: str) -> str:
    """Return `text` without the escape sequences that colour a terminal."""
    return COLOUR.sub("", text) if "\x1b" in text else text


def positive(text: str | None) -> float | None:
    """Return a log's `text` as a number from 1e-15 to 1e15, else None: no other is a measured time, rate or size."""
    try:
        value = float(text) if text is not None else 0.0
    except ValueError:
        return None
    return value if 1e-15 < value < 1e15 else None


def not_negative(text: str | None) -> float | None:
    """Return `text` as a finite number of at least 0, else None."""
    return 0.0 if text is not None and text.strip("0.") == "" and "0" in text else positive(text)


def model_slug(name: str) -> str:
    """Return the project's spelling of a model's name: `resnet56` for `ResNet 56`."""
    return re.sub(r"[^a-z0-9._-]", "", name.lower())[:64]
