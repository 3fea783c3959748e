"""config/config.yaml: which study, what is measured here, and by which protocol."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator

from sweetspot.cells import PROTOCOL
from sweetspot.study.base import Closed, Count, Framework, Precision, Slug


def _number_of_text(value: Any) -> Any:
    """Return a text of digits as int, other values unchanged: Snakemake passes numbers within {} or [] as text."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]*", value) else value


CountOrText = Annotated[Count, BeforeValidator(_number_of_text)]
Positive = Annotated[float, Field(gt=0, lt=1e9)]
NotNegative = Annotated[float, Field(ge=0, lt=1e9)]
# `null` on the command line comes as text.
Cap = Annotated[Positive | None, BeforeValidator(lambda value: None if value in ("null", "~") else value)]
Column = Literal["instance", "framework", "model", "batch_size", "gpus", "precision", "variant"]
Value = Annotated[CountOrText | Slug, Field(union_mode="left_to_right")]
TIME_LIMIT_S = 1800
PROTOCOL_KEYS = ("protocol", "warmup_steps", "min_steps", "min_seconds", "least_seconds", "least_seconds_power",
                 "min_steps_slow", "target_half_width")  # fmt: skip


class Matrix(Closed):
    """The axes of what is measured here; each value is one level, every combination is a cell."""

    model: list[Slug] = Field(min_length=1)
    """Networks to train, or scripts of config/commands/, by name"""
    batch_size: list[CountOrText] = Field(min_length=1)
    """Samples per device and step"""
    gpus: list[CountOrText] = [1]
    """Devices used together"""
    precision: list[Precision] = Field(["fp32"], min_length=1)
    """Number format of the computation"""
    variant: list[Slug] = Field(["default"], min_length=1)
    """How gradients are combined (default, A, B, C), or compile"""
    framework: list[Framework] = Field(["tensorflow"], min_length=1)
    """What runs it; command: a script of one's own (config/commands/)"""


class Measure(Closed):
    """The measurement protocol; changing it means measuring again."""

    model_config = ConfigDict(strict=False)  # on the command line numbers come as text

    protocol: Annotated[Count, AfterValidator(lambda value: max(value, PROTOCOL))] = PROTOCOL
    """Version of what a measurement means; a new number repeats every run, one below Sweetspot's own counts as that"""
    warmup_steps: Count = 2
    """Steps not timed, the first (which compiles) included"""
    min_steps: Count = 5
    """Timed steps after which a run may end"""
    min_seconds: Positive = 20.0
    """Timed seconds after which a slow run may end"""
    least_seconds: NotNegative = 2.0
    """Timed seconds before which no run ends"""
    least_seconds_power: NotNegative = 10.0
    """The same where power or energy is read, which renews ten times a second"""
    min_steps_slow: Count = 3
    """Timed steps that even a slow run makes"""
    target_half_width: float = Field(0.0, ge=0, lt=1)
    """Share of the mean step to which its 95 % interval must shrink before min_seconds; 0: any"""
    time_limit_s: Count = TIME_LIMIT_S
    """Seconds after which a run is ended and recorded as failed"""
    xla: bool = False
    """Compile the training step with XLA"""
    budget_minutes: Cap = None
    """Cap on the time of all runs together; null: none"""

    def flags(self) -> str:
        """Return the flags of `run_benchmark.py` that define a measurement, in a fixed order: Snakemake repeats runs
        where they change. The default time limit is among them only because the records of older runs have it.
        """
        values = {name: getattr(self, name) for name in PROTOCOL_KEYS} | {"time_limit_s": TIME_LIMIT_S}
        flags = [f"--{name.replace('_', '-')} {value}" for name, value in values.items()]
        return " ".join([*flags, "--xla" if self.xla else "--no-xla"])

    def limit_flag(self) -> str:
        """Return the time limit of a run as a flag that follows the others; '' where it is the default."""
        return "" if self.time_limit_s == TIME_LIMIT_S else f"--time-limit-s {self.time_limit_s}"


class Config(Closed):
    """config/config.yaml: which study, and what to measure on which machine."""

    study: Slug
    """Folder under config/studies/ that asks the question"""
    measure_on: list[Slug]
    """Instances of instances.yaml that are measured; [] measures nothing"""
    matrix: Matrix
    """What is measured on them"""
    runs: CountOrText = 2
    """Independent processes per cell"""
    exclude: list[dict[Column, Value]] = []
    """Cells to leave out: all that agree with an entry"""
    measure: Measure = Measure()
    """How one run is measured"""

    @field_validator("measure_on", mode="before")
    @classmethod
    def _name_as_list(cls, value: Any) -> Any:
        """Let `measure_on` be one name, as `--config measure_on=workstation-gpu` gives it: return it in a list."""
        return [value] if isinstance(value, str) else value
