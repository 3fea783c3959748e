"""What a study says about a log of somebody else's measurement: `logs:` of study.yaml."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from sweetspot.study.base import Closed, Count, Precision, Slug, Text

Format = Literal["tf_cnn_benchmarks", "keras_csv", "dawnbench", "lambda", "mlperf"]
# What the logs of each format do not say themselves and a study must therefore state.
NEEDED = {
    "tf_cnn_benchmarks": ("precision",),
    "keras_csv": ("framework", "model", "batch_size", "precision", "samples_per_epoch"),
    "dawnbench": ("gpus", "batch_size", "precision", "samples_per_epoch"),
    "lambda": (),
    "mlperf": ("framework", "model", "gpus", "precision"),
}


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts:
        raise ValueError("a path inside the study's folder")
    return path


class LogSource(Closed):
    """One log, or one folder of logs, and what it does not say itself."""

    format: Format = Field(description="Program that wrote it; lambda: a folder of Lambda's tf_cnn_benchmarks logs")
    path: Annotated[str, AfterValidator(_inside)] = Field(
        description="File (dawnbench: the .json) or folder (lambda), relative to the study's folder"
    )
    instance: Slug = Field(description="Instance that was measured")
    gpu: Text | None = Field(None, description="Device; absent: that of the instance")
    framework: Slug | None = Field(None, description="Framework, where the log does not say it")
    model: Slug | None = Field(None, description="Model, where the log does not say it")
    batch_size: Count | None = Field(None, description="Samples per device and step, where the log does not say it")
    gpus: Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = Field(
        None, description="Devices used; of a lambda folder: only the runs with so many"
    )
    precision: Precision | None = Field(None, description="Number format; of a lambda folder: only these runs")
    variant: Slug = Field("default", description="How gradients were combined")
    dataset: Literal["synthetic", "real"] = Field("synthetic", description="Which runs of a lambda folder are read")
    samples_per_epoch: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        None, description="Training samples of an epoch, where the log counts epochs"
    )
    throughput: Literal["run", "training", "printed"] | None = Field(
        None,
        description="Of an mlperf log. run: its samples from run_start to run_stop; training: without evaluation; "
        "printed: the log's own figure. Absent: printed, where the log prints one, else run",
    )
    unit: Literal["images", "samples"] | None = Field(
        None, description="What is counted per second; absent: images, of a Keras log samples"
    )
    on_error: Literal["refuse", "skip"] = Field(
        "refuse", description="A malformed line: refuse ends with its number, skip leaves it out and says so"
    )
    source: Text = Field(description="Where the log comes from; file, line and SHA-256 are added")

    def _expected(self) -> Iterator[str]:
        for name in NEEDED[self.format]:
            if getattr(self, name) is None:
                yield f"'{name}' to be given too, because {self.format} logs do not say it"

    def stated(self, name: str) -> Any:
        """What the study states of the log because its format does not say it: `NEEDED`, so it is there."""
        return getattr(self, name)

    @property
    def counted(self) -> str:
        """The unit: as stated, else what programs of this format train on."""
        return self.unit or ("samples" if self.format == "keras_csv" else "images")


def log_files(sources: Iterable[LogSource], study_dir: str | Path) -> list[str]:
    """All files that the sources are read from, sorted: what a rule must depend on."""
    found: set[Path] = set()
    for source in sources:
        path = Path(study_dir) / source.path
        if source.format == "lambda":
            found.update(path.glob("*/*/throughput/*"))
        else:
            found.update({path, path.with_suffix(".tsv")} if source.format == "dawnbench" else {path})
    return sorted(map(str, found))
