"""The folder of a new study, from its template or about one GPU with rentals of today."""

import csv
import datetime
import json
import shutil
import string
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sweetspot.cells import is_slug
from sweetspot.commands.scratch import write_text
from sweetspot.commands.study_of_months import Work, month_block
from sweetspot.commands.study_of_today import OWN, Own, as_csv, files_of_today
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.files import in_a_sentence
from sweetspot.study.study import check_study_name
from sweetspot.transfer.figures import shipped_devices

TEMPLATE = Path(__file__).parent / "study_template"
FIGURES_FROM = "parkopedia-2018"
RENTED_DEVICES = ("Tesla K80", "Tesla V100")


def create_study(
    name: str,
    config: Path,
    machine: tuple[str, str],
    today: datetime.date,
    own: Own | None = None,
    devices_per_job: int | str = "all",
    work: Work | None = None,
) -> Path:
    """Write config/studies/<name>/ from the template, prefilled with this machine; return the folder.

    own: a device whose figures are transferred to rentals of today; None: the machine tells (`owned`), else examples of
    2018. work: the work of a month, where it is known; no single training is asked about then. The folder appears whole
    or not at all. Raises UserError for a name that is no slug or is taken.
    """
    target = new_folder(name, config)
    own = own or owned(machine, target.parent)
    there = OWN if own is not None and own.images_per_s is not None else machine[0]
    asked = Work() if work is None and own is not None and devices_per_job != "all" else work
    model = own.model if own else "resnet50"
    values = {
        "name": name,
        "instance": machine[0],
        "device": " ".join(machine[1].split()),
        "device_quoted": json.dumps(machine[1]),
        "model": model,
        "batch_size": "16",
        "today": today.isoformat(),
        "devices_per_job": str(devices_per_job),
        "month": month_block(model, devices_per_job, there, asked),
    }
    made = {
        str(source.relative_to(TEMPLATE)): string.Template(source.read_text(encoding="utf-8")).substitute(values)
        for source in sorted(TEMPLATE.rglob("*.yaml"))
    }
    if own is None:
        made["throughput.csv"] = _figures(figures_file(FIGURES_FROM, config / "studies"))
    else:
        made = {"workloads.yaml": made["workloads.yaml"]}
        made |= files_of_today(name, own, target.parent, shipped_devices(), today.isoformat(), asked)
    if work is not None:
        made["workloads.yaml"] = made["workloads.yaml"].splitlines(keepends=True)[0] + values["month"]
    return write_study(target, made)


def write_study(target: Path, made: Mapping[str, str]) -> Path:
    """The folder `target` with those files, whole or not at all."""
    with in_a_sentence(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        for path, text in made.items():
            write_text(Path(scratch) / target.name / path, text)
        shutil.move(Path(scratch) / target.name, target)
    return target


def new_folder(name: str, config: Path) -> Path:
    """The folder that a study of that name will have. Raises UserError where it cannot have it."""
    if not is_slug(name):
        raise UserError(f"NAME is {name!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    target = config / "studies" / name
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: the folder is needed and does not exist; expected --config of a project")
    check_study_name(name, target.parent)
    if target.exists():
        raise UserError(f"{target}: the study exists; choose another name or edit it")
    return target


def owned(machine: tuple[str, str], studies: Path) -> Own | None:
    """The machine's device where it is a GPU that is specified: then its figures say something of others."""
    instance, gpu = machine
    device = shipped_devices().find(gpu) if instance == "workstation-gpu" else None
    return Own(device, instance) if device is not None else None


def _figures(source: Path) -> str:
    """The published single-device figures of the rented devices, with their sources, as a table."""
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if row["gpus"] == "1" and row["gpu"].startswith(RENTED_DEVICES)]
    return as_csv(kept)
