"""config/studies/<study>/study.yaml: one question with its data."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sweetspot.errors import UserError
from sweetspot.study.base import (
    ADDRESS,
    Closed,
    Count,
    Deadline,
    Framework,
    PastDay,
    Precision,
    Slug,
    Text,
    check_case,
    not_once,
    validated,
)
from sweetspot.study.catalogue_map import CatalogueMap
from sweetspot.study.energy_facts import Energy
from sweetspot.study.scripts import Program
from sweetspot.study.terms import DisplayCurrency
from sweetspot.study.yamlfile import load_yaml
from sweetspot.titles import model_title

Format = Literal["tf_cnn_benchmarks", "keras_csv", "trainer_summary"] | Program
# What the logs of each format do not say themselves and a study must therefore state.
NEEDED = {
    "tf_cnn_benchmarks": ("precision",),
    "keras_csv": ("framework", "model", "batch_size", "precision", "samples_per_epoch"),
}
NEEDED_BY_PROGRAMS = ("framework", "model", "batch_size", "gpus", "precision")


def _inside(path: str) -> str:
    """Let a path in study.yaml pass unchanged; ValueError where it leaves the study's folder. A validator."""
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise ValueError("a path inside the study's folder")
    return path


class LogSource(Closed):
    """One log, and what it does not say itself."""

    format: Format
    """Program that wrote it"""
    path: Annotated[str, AfterValidator(_inside)]
    """File, relative to the study's folder"""
    instance: Slug
    """Instance that was measured"""
    gpu: Text | None = None
    """Device; absent: that of the instance"""
    framework: Slug | None = None
    """Framework, where the log does not say it"""
    model: Slug | None = None
    """Model, where the log does not say it"""
    batch_size: Count | None = None
    """Samples per device and step, where the log does not say it"""
    gpus: Count | None = None
    """Devices used"""
    precision: Precision | None = None
    """Number format"""
    variant: Slug = "default"
    """How gradients were combined"""
    samples_per_epoch: int | None = Field(None, ge=1)
    """Training samples of an epoch, where the log counts epochs"""
    source: Text
    """Where the log comes from; file, line and SHA-256 are added"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message per key that neither such logs nor the study states."""
        for name in NEEDED.get(self.format, NEEDED_BY_PROGRAMS):
            if getattr(self, name) is None:
                yield f"'{name}' to be given too, because {self.format} logs do not say it"


def log_files(sources: Iterable[LogSource], study_dir: str | Path) -> list[str]:
    """Return the paths of all files that the log sources name, sorted: a rule's inputs."""
    return sorted({str(Path(study_dir) / source.path) for source in sources})


# Folders of results/ that belong to no study: its own folder there has its name.
RESERVED = ("benchmarks", "logs")


class Publication(Closed):
    """Where figures come from."""

    id: Slug
    """Short name used elsewhere in the study"""
    title: Text
    """Title as published"""
    date: Text
    """Date of publication, as precise as known: YYYY, YYYY-MM or YYYY-MM-DD"""
    url: str | None = Field(None, pattern=ADDRESS)
    """Address, where there is one"""


class Target(Closed):
    """A machine nobody has measured, to be extrapolated from one that somebody has."""

    instance: Slug
    """The machine to estimate"""
    base_instance: Slug
    """The machine with one of its devices"""
    gpus: Count
    """Devices of the machine to estimate"""


class StudyCells(Closed):
    """The cells that the answer is about."""

    model: list[Slug] = Field(min_length=1)
    """Models compared"""
    batch_size: list[Count] = Field(min_length=1)
    """Batches per device in the tables"""
    precision: Precision | Literal["mixed"]
    """Precision asked for; others serve as stand-ins; mixed: as each submitter of a time to target chose"""
    framework: Framework | Literal["jax"] = "tensorflow"
    """Framework of the published figures"""
    headline_batch_size: Count | Literal["own"] | dict[Slug, Count]
    """Batch of the answer and its costs, or one for each model; own: each machine at the batch of its figure"""

    def batches(self, model: str) -> list[int]:
        """Return the samples per device and step of a model in the tables; [] where each machine has its own."""
        batch = self.headline_batch_size
        return [] if batch == "own" else [batch[model]] if isinstance(batch, dict) else list(self.batch_size)

    def headline(self, model: str) -> int | None:
        """Return the samples per device and step of the answer about `model`; None where each machine has its own."""
        batch = self.headline_batch_size
        return None if batch == "own" else batch[model] if isinstance(batch, dict) else batch


class Study(Closed):
    """config/studies/<study>/study.yaml: one question with its data."""

    name: Slug
    """The folder's name"""
    title: Text
    """Title of the report"""
    question: Text
    """The question in one sentence"""
    as_of: PastDay
    """Date that the study speaks of; prices are judged stale against it"""
    month_days: float = Field(30.5, ge=28, le=31)
    """Length of a month in days"""
    sources: list[Publication] = Field(min_length=1)
    """Where the figures come from"""
    cells: StudyCells
    """The cells that the answer is about"""
    reference: Slug | None = None
    """The option that the decision is about, such as the box to buy"""
    targets: list[Target] = []
    """Machines to extrapolate to"""
    logs: list[LogSource] = []
    """Logs of others' measurements that count as published figures"""
    method: Literal["mean_efficiency", "usl", "sum_of_parts"] = "sum_of_parts"
    """Extrapolation method of the headline: the 2018 rule, or one of two others"""
    borrow: list[Slug] = []
    """Studies whose published throughput helps the scaling fit"""
    transfer: bool = False
    """Whether a machine without a figure gets one transferred from another device's (basis `transferred`)"""
    measure: bool = True
    """Whether what is measured here takes part in this study"""
    accepts_interruptions: bool = False
    """Whether machines that can be taken away count like any other in the answer"""
    deadlines_hours: list[Deadline] = Field([], strict=False)
    """Deadlines in hours: for each the cheapest option that finishes a workload in time is named"""
    work: Slug | None = None
    """What of workloads.yaml the answer is about; absent: the plan, else the training"""
    offers_in_hand: list[Text] = []
    """Offers that the decision is about, by price list, machine or option; none named: everything for sale"""
    counts: Literal["train", "run", "task", "month"] = "train"
    """What a bill of the answer pays for: training a model, one run, one task, or a month"""
    answer_prices: list[Slug] = []
    """Price lists whose offers the answer may take; none named: all; the others stand in the tables"""
    energy: Energy | None = None
    """Power, PUE and grid for kWh and kg CO2e of a training; absent: carbon is not computed"""
    price_paths: bool | None = None
    """Whether rents move: true: by preset where an offer states no trend; absent: only where one does; false: no"""
    titles: dict[Slug, Text] = {}
    """Names for people of models and providers, by key; well-known ones have theirs without it"""
    catalogue: CatalogueMap | None = None
    """Names of the instances in price catalogues, for `sweetspot refresh-prices`"""
    currency: DisplayCurrency | None = None
    """Currency in which the page shows money, with its rate; absent: USD, as the tables have it"""

    def model_title(self, model: str) -> str:
        """Return the name for people of a model."""
        return model_title(model, self.titles)

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a source or model twice, an answer's batch that no cell has."""
        cells = self.cells
        yield from not_once([source.id for source in self.sources], "sources")
        yield from not_once(cells.model, "cells.model")
        yield from not_once([*self.titles.values()], "titles")
        if isinstance(cells.headline_batch_size, dict) and set(cells.headline_batch_size) != set(cells.model):
            yield f"cells.headline_batch_size to give one batch for each of cells.model {cells.model}"
        if not {cells.headline(model) for model in cells.model} <= {None, *cells.batch_size}:
            yield f"cells.headline_batch_size to be one of cells.batch_size {cells.batch_size}"


def check_study_name(name: str, studies: Path) -> None:
    """Raise UserError for a reserved study name, or one that differs only by case from another in `studies`."""
    folder = name.casefold()
    if folder in RESERVED:
        raise UserError(f"study {name!r} would write into results/{folder}, which is of all studies; rename it")
    names = {file.parent.name for file in studies.glob("*/study.yaml")}
    check_case(sorted(names | {name}), "studies", studies)


def load_study(folder: str | Path) -> Study:
    """Read the study in `folder` (config/studies/NAME), the question to answer; its energy facts are completed from
    the library. Raises UserError for a missing study, mistakes in study.yaml, and a name that is not the folder's.
    """
    root = Path(folder)
    check_study_name(root.name, root.parent)
    if not root.is_dir():
        names = ", ".join(sorted(file.parent.name for file in root.parent.glob("*/study.yaml")))
        expected = names or f"studies in {root.parent.absolute()}; start in the project's folder"
        raise UserError(f"study {root.name!r} does not exist; expected one of {expected}")
    file = root / "study.yaml"
    study = validated(Study, load_yaml(file), file)
    if study.name != root.name:
        raise UserError(f"{file}: key 'name' is {study.name!r}; expected the folder's name {root.name!r}")
    return study.model_copy(update={"energy": study.energy and study.energy.completed()})
