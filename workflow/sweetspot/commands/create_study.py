"""The folder of a new study: from its template, about one GPU with rentals of today, or about work by tokens."""

import csv
import datetime
import json
import shutil
import string
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweetspot.cells import is_slug
from sweetspot.commands.estimate import PRECISION
from sweetspot.commands.estimate import Work as TokenWork
from sweetspot.commands.scratch import write_texts
from sweetspot.commands.study_of_today import (
    OWN,
    Own,
    Work,
    as_csv,
    as_flow,
    currency_block,
    files_of_today,
    month_block,
)
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.files import in_a_sentence
from sweetspot.study.open_models import cell_name
from sweetspot.study.study import check_study_name
from sweetspot.transfer.figures import shipped_devices

TEMPLATE = Path(__file__).parent / "study_template"
FIGURES_FROM = "parkopedia-2018"
RENTED_DEVICES = ("Tesla K80", "Tesla V100")
FROM = "fine-tune-2026"
TAKEN = ("instances.yaml", "prices/buying.yaml", "prices/rent.yaml", "prices/rent-amd.yaml")
JOBS = {"value": 10, "low": 5, "high": 20}  # a month, where nobody says how many
STUDY = """\
# yaml-language-server: $schema=../../schemas/study.schema.json
# It runs as it is; change what is yours. A figure that you timed goes into throughput.csv (docs/tokens.md).
name: {name}
title: {title}
question: >-
  On which GPU, how many hours does a job take, for how much, and should we buy?
as_of: {today}
measure: false
sources:
  - {{id: own, title: Our own figures and offers, date: "{today}"}}
cells:
  model: [{cell}]
  batch_size: [1]
  precision: {precision}
  framework: torch
  headline_batch_size: 1
titles: {{{cell}: {title}}}
price_paths: true
answer_prices: [buying, rent]   # AMD stands in the tables: no figure of fine-tuning on it is published
"""
WORKLOADS = """\
month:
  kind: monthly
  months: 36
  jobs:
    - name: job
      title: {title}
      model: {model}
      method: {method}
      tokens: {tokens:.0f}
      sequence: {sequence}
      per_month: {per_month}
      devices_per_job: {devices_per_job}
      source: our estimate, to be replaced
  source: our estimate, to be replaced
"""


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

    own: a device whose figures are transferred to rentals of today; None: the machine's, where it is a GPU that is
    specified, else examples of 2018. work: that of a month where there is such a device, else one training is asked
    about. The folder appears whole or not at all. Raises UserError for a name that is no slug or is taken.
    """
    target, (instance, gpu) = _new_folder(name, config), machine
    if own is None and instance == "workstation-gpu" and (device := shipped_devices().find(gpu)) is not None:
        own = Own(device, instance)
    there = OWN if own is not None and own.images_per_s is not None else instance
    asked = Work() if work is None and own is not None else work
    model = own.model if own else "resnet50"
    values = {
        "name": name,
        "instance": instance,
        "device": " ".join(gpu.split()),
        "device_quoted": json.dumps(gpu),
        "model": model,
        "batch_size": "16",
        "today": today.isoformat(),
        "devices_per_job": devices_per_job,
        "month": month_block(model, devices_per_job, there, asked),
    }
    made = {
        str(source.relative_to(TEMPLATE)): string.Template(source.read_text(encoding="utf-8")).substitute(values)
        for source in sorted(TEMPLATE.rglob("*.yaml"))
    }
    if own is None:
        rows = csv_rows(figures_file(FIGURES_FROM, target.parent))
        made["throughput.csv"] = as_csv(
            [row for row in rows if row["gpus"] == "1" and row["gpu"].startswith(RENTED_DEVICES)]
        )
    else:
        made = {"workloads.yaml": made["workloads.yaml"]}
        made |= files_of_today(name, own, target.parent, shipped_devices(), today.isoformat(), asked)
    if asked is not None:
        made["workloads.yaml"] = made["workloads.yaml"].splitlines(keepends=True)[0] + str(values["month"])
    return _write_study(target, made)


def create_study_of_tokens(
    name: str,
    config: Path,
    work: TokenWork,
    today: datetime.date,
    money: tuple[str, float | None] = ("USD", None),
    devices_per_job: int | str = "all",
    per_month: Any = JOBS,
) -> Path:
    """Write config/studies/<name>/ about a month of jobs by tokens, on the machines of FROM.

    Parameters
    ----------
    name : str
        The study.
    config : Path
        The project's config folder.
    work : Work
        Model, method, tokens and sequence of a job.
    today : date
        The study's day.
    money : tuple of (str, float or None)
        The currency of the page, and USD for one unit of it where the person said it.
    devices_per_job : int or "all"
        Devices that one job takes.
    per_month : number or mapping
        Jobs a month, as a file has them.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    UserError
        For a name that is no slug or is taken, and where FROM does not lie beside it.
    """
    target = _new_folder(name, config)
    title = json.dumps(f"{work.method} of {work.model.name} on {work.tokens / 1e6:,.4g} M tokens")
    told = {"title": title, "model": work.model.name, "method": work.method}
    told |= {"cell": cell_name(work.model.name, work.method, work.sequence), "precision": PRECISION}
    with in_a_sentence(target.parent / FROM):
        made = {path: (target.parent / FROM / path).read_text(encoding="utf-8") for path in TAKEN}
    made["study.yaml"] = STUDY.format(name=name, today=today, **told) + currency_block(*money, today.isoformat())
    jobs = {"per_month": as_flow(per_month), "devices_per_job": devices_per_job}
    made["workloads.yaml"] = WORKLOADS.format(tokens=work.tokens, sequence=work.sequence, **jobs, **told)
    return _write_study(target, made)


def _write_study(target: Path, made: Mapping[str, str]) -> Path:
    with in_a_sentence(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        write_texts(Path(scratch) / target.name, made)
        shutil.move(Path(scratch) / target.name, target)
    return target


def _new_folder(name: str, config: Path) -> Path:
    if not is_slug(name):
        raise UserError(f"NAME is {name!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    target = config / "studies" / name
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: the folder is needed and does not exist; expected --config of a project")
    check_study_name(name, target.parent)
    if target.exists():
        raise UserError(f"{target}: the study exists; choose another name or edit it")
    return target


def csv_rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table that the library ships, as they are written."""
    with file.open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))
