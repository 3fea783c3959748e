"""Typed, closed models of everything a person edits but prices; and the plan that the workflow follows."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from sweetspot.cells import Cell, expand_matrix
from sweetspot.errors import UserError
from sweetspot.logs.sources import LogSource
from sweetspot.models import Closed, Count, Framework, Precision, Slug, Text, described, validated
from sweetspot.places import Place, check_nodes
from sweetspot.yamlfile import load_yaml

__all__ = ["Closed", "Config", "Instance", "Plan", "Question", "Slug", "Study", "Text", "described", "validated"]


Positive = Annotated[float, Field(gt=0, lt=1e9)]


class Matrix(Closed):
    """The axes of what is measured here; each value is one level, every combination is a cell."""

    model: list[Slug] = Field(description="Networks to train, by name", min_length=1)
    batch_size: list[Count] = Field(description="Samples per device and step", min_length=1)
    gpus: list[Annotated[int, Field(ge=1, le=4096, strict=True)]] = Field([1], description="Devices used together")
    precision: list[Precision] = Field(["fp32"], description="Number format of the computation", min_length=1)
    variant: list[Slug] = Field(["default"], description="How gradients are combined: default, A, B, C", min_length=1)
    framework: list[Framework] = Field(["tensorflow"], description="Keras backends", min_length=1)


class Exclusion(Closed):
    """Cells to leave out: every cell that agrees with all keys given."""

    instance: Slug | None = Field(None, description="Instance to match")
    framework: Framework | None = Field(None, description="Framework to match")
    model: Slug | None = Field(None, description="Model to match")
    batch_size: Count | None = Field(None, description="Batch per device to match")
    gpus: Count | None = Field(None, description="Device count to match")
    precision: Precision | None = Field(None, description="Precision to match")
    variant: Slug | None = Field(None, description="Variant to match")


class Measure(Closed):
    """The measurement protocol; changing it means measuring again."""

    protocol: Count = Field(1, description="Version of what a measurement means; a new number repeats every run")
    warmup_steps: Count = Field(2, description="Steps not timed, the first (which compiles) included")
    min_steps: Count = Field(5, description="Timed steps after which a run may end")
    min_seconds: float = Field(20.0, description="Timed seconds after which a slow run may end", gt=0, le=86_400)
    min_steps_slow: Count = Field(3, description="Timed steps that even a slow run makes")
    target_half_width: float = Field(
        0.0,
        description="Share of the mean step to which its 95 % interval must shrink before min_seconds; 0: any",
        ge=0,
        lt=1,
    )
    time_limit_s: Count = Field(1800, description="Seconds after which a run is ended and recorded as failed")
    xla: bool = Field(False, description="Compile the training step with XLA")
    checkpoints: dict[Slug, Text] = Field({}, description="Keras weights file that the runs of a model start from")
    budget_minutes: Positive | None = Field(None, description="Cap on the time of all runs together; null: none")
    budget_usd: Positive | None = Field(None, description="Cap on the cost of all runs together; null: none")
    usd_per_hour: dict[Slug, Positive] = Field(
        {}, description="What an hour of a measured instance counts against budget_usd; others count nothing"
    )
    estimate_minutes: Positive = Field(3.0, description="Length of a run assumed where nothing like it was measured")

    @model_validator(mode="after")
    def _money_needs_a_rate(self) -> "Measure":
        if self.budget_usd is not None and not self.usd_per_hour:
            raise ValueError("measure.usd_per_hour, since measure.budget_usd is given")
        return self

    def flags(self) -> str:
        """The settings as command-line flags of `run_benchmark.py`, in a fixed order.

        The budget is none of them: it decides what is measured, not how, so an edit of it repeats no run.
        """
        budget = {"budget_minutes", "budget_usd", "usd_per_hour", "estimate_minutes"}
        values = self.model_dump(exclude={"xla", "checkpoints"} | budget)
        flags = [f"--{name.replace('_', '-')} {value}" for name, value in values.items()]
        return " ".join([*flags, "--xla" if self.xla else "--no-xla"])


class Config(Closed):
    """config/config.yaml: which study, and what to measure on which machine."""

    study: Slug = Field(description="Folder under config/studies/ that asks the question")
    measure_on: list[Slug] = Field(description="Instances of instances.yaml that are measured; [] measures nothing")
    matrix: Matrix = Field(description="What is measured on them")
    runs: Annotated[int, Field(ge=1, le=100, strict=True)] = Field(2, description="Independent processes per cell")
    exclude: list[Exclusion] = Field([], description="Cells to leave out")
    measure: Measure = Field(Measure(), description="How one run is measured")

    @field_validator("measure_on", mode="before")
    @classmethod
    def _one_name_is_a_list(cls, value: Any) -> Any:
        """`--config measure_on=workstation-gpu` on the command line gives text."""
        return [value] if isinstance(value, str) else value


class Source(Closed):
    """Where figures come from."""

    id: Slug = Field(description="Short name used elsewhere in the study")
    title: Text = Field(description="Title as published")
    date: str = Field(description="Date of publication, as precise as known: YYYY, YYYY-MM or YYYY-MM-DD")
    url: Text | None = Field(None, description="Address, where there is one")


class Target(Closed):
    """A machine nobody has measured, to be extrapolated from one that somebody has."""

    instance: Slug = Field(description="The machine to estimate")
    base_instance: Slug = Field(description="The machine with one of its devices")
    gpus: Count = Field(description="Devices of the machine to estimate")


class Question(Closed):
    """The cells that the answer is about."""

    model: list[Slug] = Field(description="Models compared", min_length=1)
    batch_size: list[Count] = Field(description="Batches per device in the tables", min_length=1)
    precision: Precision = Field(description="Precision asked for; others serve as stand-ins")
    framework: Framework = Field("tensorflow", description="Framework of the published figures")
    headline_batch_size: Count | dict[Slug, Count] = Field(
        description="The batch that the answer and the costs to train use; where models differ, one for each"
    )

    def batches(self, model: str) -> list[int]:
        """The batches per device of `model` in the tables: those listed, or its own where models differ."""
        return [self.headline(model)] if isinstance(self.headline_batch_size, dict) else list(self.batch_size)

    def headline_words(self) -> str:
        """The batches of the answer in words: `64`, or `32 (cifar10_cnn); 128 (mnist_mlp)` where models differ."""
        batch = self.headline_batch_size
        if not isinstance(batch, dict):
            return str(batch)
        alike = {value: [model for model in self.model if batch[model] == value] for value in sorted(batch.values())}
        return "; ".join(f"{value} ({', '.join(models)})" for value, models in alike.items())

    def headline(self, model: str) -> int:
        """The batch per device that the answer about `model` uses."""
        batch = self.headline_batch_size
        return batch[model] if isinstance(batch, dict) else batch


class Study(Closed):
    """config/studies/<study>/study.yaml: one question with its data."""

    name: Slug = Field(description="The folder's name")
    title: Text = Field(description="Title of the report")
    question: Text = Field(description="The question in one sentence")
    as_of: date = Field(description="Date that the study speaks of; prices are judged stale against it")
    month_days: float = Field(30.5, description="Length of a month in days", gt=27, lt=32)
    sources: list[Source] = Field(description="Where the figures come from", min_length=1)
    cells: Question = Field(description="The cells that the answer is about")
    reference: Slug | None = Field(None, description="The option that the decision is about, such as the box to buy")
    targets: list[Target] = Field([], description="Machines to extrapolate to")
    logs: list[LogSource] = Field([], description="Logs of others' measurements that count as published figures")
    method: Slug = Field("auto", description="Extrapolation method of the headline; auto takes the best validated")
    borrow: list[Slug] = Field([], description="Studies whose published throughput helps the scaling fit")
    measure: bool = Field(True, description="Whether what is measured here takes part in this study")
    accepts_interruptions: bool = Field(
        False, description="Whether machines that can be taken away count like any other in the answer"
    )
    seed: Annotated[int, Field(ge=0, strict=True)] = Field(2018, description="Seed of the simulations")

    @model_validator(mode="after")
    def _headline_is_listed(self) -> "Study":
        cells = self.cells
        if isinstance(cells.headline_batch_size, dict) and set(cells.headline_batch_size) != set(cells.model):
            raise ValueError(f"cells.headline_batch_size to give one batch for each of cells.model {cells.model}")
        if not {cells.headline(model) for model in cells.model} <= set(cells.batch_size):
            raise ValueError(f"cells.headline_batch_size to be one of cells.batch_size {cells.batch_size}")
        return self


class Instance(Closed):
    """A machine one can rent, own or measure."""

    title: Text = Field(description="Name for people")
    provider: Slug = Field(description="Who offers it: aws, gce, own, ...")
    gpu: Text = Field(description="Card as named in the published tables, or the processor")
    gpus: Annotated[int, Field(ge=1, le=4096, strict=True)] = Field(description="Devices in it")
    vcpus: Count | None = Field(None, description="Virtual processors")
    memory_gib: float | None = Field(None, description="Main memory in GiB", gt=0)
    interconnect: Slug | None = Field(None, description="Link between the devices: pcie, nvlink, ...")
    base_instance: Slug | None = Field(None, description="Machine with one device of the same family")
    equivalent_to: Slug | None = Field(None, description="Machine whose throughput it is declared to have")
    note: Text | None = Field(None, description="What a reader must know of it")
    framework: Slug | None = Field(
        None, description="Framework that belongs to this configuration, where a study compares frameworks"
    )
    measure: Place | None = Field(None, description="Where it can be measured; absent: published figures only")


class Plan(Closed):
    """Everything that the workflow needs to know while it is parsed: plain values, nothing read later."""

    config: Config
    study: Study
    instances: dict[Slug, Instance]
    cells: tuple[Cell, ...]
    price_lists: tuple[str, ...]


class _Name(Closed):
    name: Slug


def load_instances(*files: Path) -> dict[str, Instance]:
    """Instances of all files that exist, later files adding to earlier ones. Raises UserError."""
    found: dict[str, Instance] = {}
    for file in files:
        entries = load_yaml(file)
        if not isinstance(entries, dict):
            raise UserError(f"{file}: found {type(entries).__name__}; expected a mapping of names to instances")
        for name, entry in entries.items():
            validated(_Name, {"name": name}, file)
            if name in found:
                raise UserError(f"{file}: instance '{name}' is declared in another file too; declare it once")
            found[name] = validated(Instance, entry, f"{file}: {name}")
    for name, instance in found.items():
        for key in ("base_instance", "equivalent_to"):
            other = getattr(instance, key)
            if other is not None and other not in found:
                raise UserError(f"{files[-1]}: {name}.{key} is {other!r}; expected one of the declared instances")
    return found


def load_study(folder: str | Path) -> Study:
    """The study in `folder`; its name must be the folder's. Raises UserError."""
    root = Path(folder)
    if not root.is_dir():
        known = sorted(entry.name for entry in root.parent.glob("*") if (entry / "study.yaml").is_file())
        raise UserError(f"study {root.name!r} does not exist; expected one of {', '.join(known) or 'none (no study)'}")
    file = root / "study.yaml"
    study = validated(Study, load_yaml(file), file)
    if study.name != root.name:
        raise UserError(f"{file}: key 'name' is {study.name!r}; expected the folder's name {root.name!r}")
    return study


def load_plan(config_file: Path, overrides: dict[str, Any], root: Path = Path("config")) -> Plan:
    """Read the configuration, the study and its instances; expand the matrix. Raises UserError.

    `overrides` is what stands on the command line (`--config`, `--configfile`); it replaces key by key,
    mappings are merged.
    """
    raw = load_yaml(config_file)
    config = validated(Config, _merged(raw, overrides) if isinstance(raw, dict) else raw, config_file)
    folder = root / "studies" / config.study
    study = load_study(folder)
    own = root / "instances.yaml"
    instances = load_instances(*([own] if own.is_file() else []), folder / "instances.yaml")
    for where, name in [("reference", study.reference), *(("targets", target.instance) for target in study.targets)]:
        if name is not None and name not in instances:
            raise UserError(f"{folder / 'study.yaml'}: {where} is {name!r}; expected an instance of instances.yaml")
    cells = _measured_cells(config, instances, config_file) if study.measure else []
    price_lists = sorted(path.stem for path in (folder / "prices").glob("*.yaml"))
    for name in price_lists:
        validated(_Name, {"name": name}, folder / "prices" / f"{name}.yaml")
    return Plan(config=config, study=study, instances=instances, cells=tuple(cells), price_lists=tuple(price_lists))


def _measured_cells(config: Config, instances: dict[str, Instance], file: Path) -> list[Cell]:
    named = [("measure_on", name) for name in config.measure_on]
    for key, name in [*named, *(("measure.usd_per_hour", name) for name in config.measure.usd_per_hour)]:
        if name not in instances:
            raise UserError(f"{file}: {key} names {name!r}; expected one of {', '.join(sorted(instances))}")
    for name in config.measure_on:
        if instances[name].measure is None:
            raise UserError(f"{file}: measure_on names {name!r}, which says nowhere how to measure it ('measure')")
    exclude = [entry.model_dump(exclude_none=True) for entry in config.exclude]
    cells = expand_matrix(config.measure_on, config.matrix.model_dump(), exclude)
    for cell in cells:
        check_nodes(cell, instances[cell.instance].measure, file)
    return cells


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged
