"""The cell: what is measured once, its columns, its path, and the order of evidence."""

import re
from typing import NamedTuple

CELL_COLUMNS = ("instance", "framework", "model", "batch_size", "gpus", "precision", "variant")
BASES = ("measured", "own", "published", "equivalent", "scaled", "stand_in", "transferred", "extrapolated",
         "arithmetic")  # fmt: skip
READ = ("measured", "own", "published")  # read off a clock or out of a text: nothing was made of another figure
USABLE = ("ok", "unstable")  # statuses of a cell that has a figure; an unstable one is used, with its warning beside it
# Version of what a measurement means. 1: a run might end after five steps however short, an interval of many steps
# counted as one, and validation as training where Keras' bar told the steps.
PROTOCOL = 2
# What only a run tells: columns of run files and of throughput.parquet, null of figures of any other basis.
MEASURED_NUMBERS = ("peak_memory_gib", "joules_per_sample", "others_cpu_share")
MEASURED_TEXTS = ("peak_memory_source", "energy_source", "products")
INTERRUPTIBLE = ("spot", "preemptible")  # purchases that can be taken away; every other is persistent
SLUG = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
RUN_PATTERN = "/".join(f"{column}~{{{column}}}" for column in (*CELL_COLUMNS, "run"))
NUMBERED = ("batch_size", "gpus", "run")
WILDCARD_CONSTRAINTS = dict.fromkeys(CELL_COLUMNS, SLUG) | dict.fromkeys(NUMBERED, "[1-9][0-9]*")


class Cell(NamedTuple):
    """What is measured once: instance, framework, model, batch per device, number of devices, precision, variant."""

    instance: str
    framework: str
    model: str
    batch_size: int
    gpus: int
    precision: str
    variant: str


def run_path(cell: Cell, run: int) -> str:
    """Return the relative path of a run's file without ending, `instance~box/framework~torch/.../run~1`."""
    return RUN_PATTERN.format(**cell._asdict(), run=run)


def weakest(*bases: str) -> str:
    """Return the last of several bases in the order of BASES: what a number composed of them must be called."""
    return max(bases, key=BASES.index)


def is_slug(name: str) -> bool:
    """Return True if a name is safe in file names, command lines and HTML (1 to 64 of letters, digits, . _ -)."""
    return re.fullmatch(SLUG, name) is not None
