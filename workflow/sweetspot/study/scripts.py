"""config/commands/<name>.yaml: a training script of one's own, how it is started, and how it tells its steps. In the
matrix `framework: command` with the file's name as `model`. A run reads it too.
"""

import hashlib
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from sweetspot.cells import Cell
from sweetspot.study.base import Closed, Precision, Slug, Text, Title, validated
from sweetspot.study.yamlfile import load_yaml

FRAMEWORK = "command"
FACTOR = r"\s*(\{(batch_size|gpus|global_batch_size)\}|[1-9][0-9]{0,8})\s*"
PRODUCT = re.compile(rf"{FACTOR}(\*{FACTOR})*")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
AXES = ("batch_size", "gpus", "precision", "variant")  # what a script must be told where the matrix varies it
NAMES = (*AXES, "global_batch_size", "run", "scratch")
GROUPS = ("step", "seconds", "milliseconds", "rate", "steps_per_s", "time", "loss")
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
StepCount = Annotated[int, Field(ge=1, le=1_000_000)]


class Lines(Closed):
    """Steps told by lines of the script's output, of stdout or stderr."""

    pattern: Text
    """Regular expression, searched in each line. Without groups a line is the end of `every` steps and the harness
    keeps the time; named groups say more: step (its number), seconds or milliseconds (of one step), rate (samples
    a second), steps_per_s (such as it/s), time (seconds on any clock), loss"""
    apart: Text | None = None
    """Regular expression of lines of other work (validation, checkpoint), whose time is left out"""
    every: StepCount = 1
    """Steps from one such line to the next, where the line holds no number"""

    @field_validator("pattern", "apart")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        """Validate a regular expression: return it; ValueError if it does not compile or has unknown groups."""
        try:
            unknown = sorted(set(re.compile(value or "").groupindex) - set(GROUPS))
        except re.error as error:
            raise ValueError(f"a regular expression ({error})") from None
        if unknown:
            raise ValueError(f"groups named {', '.join(GROUPS)}; found {', '.join(unknown)}")
        return value


class JsonLines(Closed):
    """Steps told by a file of one JSON object a line, or by such lines of the script's output."""

    json_lines: Text | None = None
    """The file, below {scratch} or where the script is started; null: lines of its output"""
    step: Text | None = None
    """Key of the step's number"""
    seconds: Text | None = None
    """Key of the seconds of one step"""
    milliseconds: Text | None = None
    """Key of the milliseconds of one step"""
    rate: Text | None = None
    """Key of the samples a second"""
    steps_per_s: Text | None = None
    """Key of the steps a second, such as it/s"""
    time: Text | None = None
    """Key of the time, seconds on any clock"""
    loss: Text | None = None
    """Key of the loss: where it is no number the run has failed"""
    every: StepCount = 1
    """Steps from one object to the next, where it holds no number"""


# The formats of `logs/patterns.py`, of other people's logs and of scripts that are measured.
Program = Literal[
    "huggingface", "lightning", "keras", "keras_lines", "dllogger", "torchtitan", "nanogpt", "nanochat", "megatron",
    "images_per_s"
]  # fmt: skip
StepSource = Program | Literal["iterator"]


class Script(Closed):
    """A training script: its command, what it counts, and how it tells its steps."""

    title: Title = None
    command: list[Text] | Text = Field(min_length=1)
    """Program and arguments, with {batch_size} (per device), {global_batch_size}, {gpus}, {precision}, {variant},
    {run} and {scratch} (an empty folder of this run); a text is split at blanks as a shell does"""
    shell: bool = False
    """true: the text is given to a shell, values in quotes; else no shell sees it"""
    folder: Text = "."
    """Where it is started, from the project's folder"""
    environment: dict[Variable, str] = {}
    """Further variables; placeholders are filled in"""
    unit: Slug = "samples"
    """What is counted: images, samples, sequences, tokens, ..."""
    samples_per_step: Text | StepCount = "{batch_size} * {gpus}"
    """Units that one step trains on, all devices together: a number or '{batch_size} * {gpus} * 1024'"""
    steps: StepSource | Lines | JsonLines
    """How steps are told: the name of a program whose lines are known, iterator (the script says `from
    sweetspot.steps import steps`), a pattern, or JSON lines"""
    precisions: dict[Precision, Text] = {}
    """The script's own word for a precision, where it differs"""
    training_flop_per_sample: float | None = Field(None, gt=0, le=1e18)
    """Floating-point operations of a training step for one unit, where known"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message per mistake: an unknown placeholder, no product, no program."""
        if self.shell and not isinstance(self.command, str):
            yield "command as one text, since shell is true"
        product = str(self.samples_per_step)
        unknown = set(PLACEHOLDER.findall(" ".join([*self.texts(), product]))) - {*NAMES}
        if unknown:
            yield f"only {{{'}, {'.join(NAMES)}}} to be filled in, found {{{min(unknown)}}}"
        if not PRODUCT.fullmatch(product):
            yield f"samples_per_step as a product of whole numbers, {{batch_size}} and {{gpus}}, not {product!r}"
        if not self.words():
            yield "a command that names a program"

    def texts(self) -> list[str]:
        """Return every text that may have placeholders: the command, the environment's values, the file of steps."""
        argv = [self.command] if isinstance(self.command, str) else self.command
        file = self.steps.json_lines if isinstance(self.steps, JsonLines) else None
        return [*argv, *self.environment.values(), file or ""]

    def words(self) -> list[str]:
        """Return the command's program and arguments, placeholders not filled in; with `shell` one text."""
        if not isinstance(self.command, str):
            return self.command
        try:
            return [self.command] if self.shell else shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"a command whose quotes end ({error})") from None

    def axes(self) -> set[str]:
        """Return the names of those axes of the matrix whose values the script gets through placeholders."""
        names = set(PLACEHOLDER.findall(" ".join(self.texts())))
        return names | ({"batch_size"} if "global_batch_size" in names else set())

    def values(self, cell: Cell, run: int, scratch: str) -> dict[str, str]:
        """Return {placeholder: text} of a run, such as {"batch_size": "64"}, to be filled into the script's command.

        Parameters
        ----------
        cell, run, scratch
            The cell that is measured, the number of the run, and the path of its empty folder.
        """
        values = cell._asdict() | {"global_batch_size": cell.batch_size * cell.gpus, "run": run, "scratch": scratch}
        values["precision"] = self.precisions.get(cell.precision, cell.precision)  # type: ignore[call-overload]
        return {name: str(values[name]) for name in NAMES}

    def argv(self, values: Mapping[str, str]) -> list[str]:
        """Return the command (argv) that starts a run, placeholders filled in; with `shell`: /bin/sh -c, one text."""
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            return ["/bin/sh", "-c", filled(self.words()[0], quoted)]
        return [filled(word, values) for word in self.words()]

    def samples(self, cell: Cell) -> int:
        """Return how many units one step of a cell trains on, all devices together."""
        product = filled(str(self.samples_per_step), self.values(cell, 1, ""))
        return math.prod(int(factor) for factor in product.split("*"))

    def digest(self) -> str:
        """Return 12 hexadecimal digits of what the description means; where they change, runs are measured again."""
        meant = self.model_dump_json(exclude={"title", "training_flop_per_sample"})
        return hashlib.sha256(meant.encode()).hexdigest()[:12]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of its placeholders `{name}`; what is no placeholder stays, a brace too."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)


def script_files(root: Path) -> dict[str, Path]:
    """Return the files that describe scripts in a project's config folder, by name, sorted."""
    return {path.stem: path for path in sorted((root / "commands").glob("*.yaml"))}


def load_script(file: Path) -> Script:
    """Return the script that a file of config/commands/ describes. Raises UserError that names file and key."""
    return validated(Script, load_yaml(file), file)
