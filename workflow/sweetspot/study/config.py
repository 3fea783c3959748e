"""config/config.yaml: which study, what is measured here, and by which protocol."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from sweetspot.cells import PROTOCOL
from sweetspot.study.base import Closed, Count, Framework, Precision, Slug


def _number_of_text(value: Any) -> Any:
    """The number that a text of the command line means: Snakemake reads what stands in {} or [] there as text only."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]*)", value) else value


FromText = BeforeValidator(_number_of_text)
Whole = Annotated[Count, FromText]
Positive = Annotated[float, Field(gt=0, lt=1e9)]
# `null` on the command line comes as text.
Cap = Annotated[Positive | None, BeforeValidator(lambda value: None if value in ("null", "~") else value)]
TIME_LIMIT_S = 1800
PROTOCOL_KEYS = ("protocol", "warmup_steps", "min_steps", "min_seconds", "least_seconds", "least_seconds_power",
                 "min_steps_slow", "target_half_width")  # fmt: skip


class Matrix(Closed):
    """The axes of what is measured here; each value is one level, every combination is a cell."""

    model: list[Slug] = Field(description="Networks to train, or scripts of config/commands/, by name", min_length=1)
    batch_size: list[Whole] = Field(description="Samples per device and step", min_length=1)
    gpus: list[Annotated[int, Field(ge=1, le=4096, strict=True), FromText]] = Field(
        [1], description="Devices used together"
    )
    precision: list[Precision] = Field(["fp32"], description="Number format of the computation", min_length=1)
    variant: list[Slug] = Field(
        ["default"], description="How gradients are combined (default, A, B, C, ddp), or compile", min_length=1
    )
    framework: list[Framework] = Field(
        ["tensorflow"], description="What runs it; command: a script of one's own (config/commands/)", min_length=1
    )


class Exclusion(Closed):
    """Cells to leave out: every cell that agrees with all keys given."""

    instance: Slug | None = Field(None, description="Instance to match")
    framework: Framework | None = Field(None, description="Framework to match")
    model: Slug | None = Field(None, description="Model to match")
    batch_size: Whole | None = Field(None, description="Batch per device to match")
    gpus: Whole | None = Field(None, description="Device count to match")
    precision: Precision | None = Field(None, description="Precision to match")
    variant: Slug | None = Field(None, description="Variant to match")


class Measure(Closed):
    """The measurement protocol; changing it means measuring again."""

    protocol: Annotated[Whole, AfterValidator(lambda value: max(value, PROTOCOL))] = Field(
        PROTOCOL,
        description="Version of what a measurement means; a new number repeats every run. A lower one than this "
        f"version of Sweetspot measures by ({PROTOCOL}) counts as that",
    )
    warmup_steps: Whole = Field(2, description="Steps not timed, the first (which compiles) included")
    min_steps: Whole = Field(5, description="Timed steps after which a run may end")
    min_seconds: float = Field(20.0, description="Timed seconds after which a slow run may end", gt=0, le=86_400)
    least_seconds: float = Field(2.0, description="Timed seconds before which no run ends", ge=0, le=86_400)
    least_seconds_power: float = Field(
        10.0, description="The same where power or energy is read, which renews ten times a second", ge=0, le=86_400
    )
    min_steps_slow: Whole = Field(3, description="Timed steps that even a slow run makes")
    target_half_width: float = Field(
        0.0,
        description="Share of the mean step to which its 95 % interval must shrink before min_seconds; 0: any",
        ge=0,
        lt=1,
    )
    time_limit_s: Whole = Field(TIME_LIMIT_S, description="Seconds after which a run is ended and recorded as failed")
    xla: bool = Field(False, description="Compile the training step with XLA")
    budget_minutes: Cap = Field(None, description="Cap on the time of all runs together; null: none")
    budget_usd: Cap = Field(None, description="Cap on the cost of all runs together; null: none")
    usd_per_hour: dict[Slug, Positive] = Field(
        {}, description="What an hour of a measured instance counts against budget_usd; others count nothing"
    )
    estimate_minutes: Positive = Field(3.0, description="Length of a run assumed where nothing like it was measured")

    def _expected(self) -> Iterator[str]:
        if self.budget_usd is not None and not self.usd_per_hour:
            yield "measure.usd_per_hour, since measure.budget_usd is given"

    def flags(self) -> str:
        """What a measurement means, as flags of `run_benchmark.py` in a fixed order: a change repeats every run.

        The budget is none of them: it decides what is measured, not how. Nor is the time limit: `limit_flag` gives the
        one that holds, and its default stands here only because this text stands in the records of older runs.
        """
        values = {name: getattr(self, name) for name in PROTOCOL_KEYS} | {"time_limit_s": TIME_LIMIT_S}
        flags = [f"--{name.replace('_', '-')} {value}" for name, value in values.items()]
        return " ".join([*flags, "--xla" if self.xla else "--no-xla"])

    def limit_flag(self) -> str:
        """How long a run may take, as a flag that follows the others; nothing where that is the default."""
        return "" if self.time_limit_s == TIME_LIMIT_S else f"--time-limit-s {self.time_limit_s}"


class Config(Closed):
    """config/config.yaml: which study, and what to measure on which machine."""

    study: Slug = Field(description="Folder under config/studies/ that asks the question")
    measure_on: list[Slug] = Field(description="Instances of instances.yaml that are measured; [] measures nothing")
    matrix: Matrix = Field(description="What is measured on them")
    runs: Annotated[int, Field(ge=1, le=100, strict=True), FromText] = Field(
        2, description="Independent processes per cell"
    )
    exclude: list[Exclusion] = Field([], description="Cells to leave out")
    measure: Measure = Field(Measure(), description="How one run is measured")

    @field_validator("measure_on", mode="before")
    @classmethod
    def _one_name_is_a_list(cls, value: Any) -> Any:
        """`--config measure_on=workstation-gpu` on the command line gives text."""
        return [value] if isinstance(value, str) else value
