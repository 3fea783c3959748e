"""Create a study of your own: should I buy four devices like the one in this machine, or rent?

Writes config/studies/NAME/: a commented study, instances, workloads and two price lists (a box of four, rentals), with
this machine's device and example prices in it. It runs at once; nothing that exists is overwritten.

    sweetspot new-study mine           # or: make study NAME=mine
    make report STUDY=mine
"""

import argparse
import csv
import datetime
import json
import shutil
import string
import tempfile
from pathlib import Path

from sweetspot.cells import is_slug
from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.study import check_study_name

TEMPLATE = Path(__file__).parent / "study_template"
FIGURES_FROM = "parkopedia-2018"
RENTED_DEVICES = ("Tesla K80", "Tesla V100")


def own_machine() -> tuple[str, str]:
    """Instance and device name of this machine: its NVIDIA GPU if the driver shows one, else its processor."""
    import pynvml

    from sweetspot.harness.processor import processor_name

    try:
        pynvml.nvmlInit()
        return "workstation-gpu", str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))
    except pynvml.NVMLError:
        return "workstation", processor_name()


def create_study(name: str, config: Path, machine: tuple[str, str], today: datetime.date) -> Path:
    """Write config/studies/<name>/ from the template, prefilled with this machine; return the folder.

    The folder appears whole or not at all. Raises UserError for a name that is no slug or is taken.
    """
    if not is_slug(name):
        raise UserError(f"NAME is {name!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    target = config / "studies" / name
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: the folder is needed and does not exist; expected --config of a project")
    check_study_name(name, target.parent)
    if target.exists():
        raise UserError(f"{target}: the study exists; choose another name or edit it")
    values = {
        "name": name,
        "instance": machine[0],
        "device": " ".join(machine[1].split()),
        "device_quoted": json.dumps(machine[1]),
        "model": "resnet50",
        "batch_size": "16",
        "today": today.isoformat(),
    }
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        folder = Path(scratch) / name
        for source in sorted(TEMPLATE.rglob("*.yaml")):
            text = string.Template(source.read_text(encoding="utf-8")).substitute(values)
            with write_whole(folder / source.relative_to(TEMPLATE)) as temporary:
                temporary.write_text(text, encoding="utf-8")
        _copy_figures(config / "studies" / FIGURES_FROM / "throughput.csv", folder / "throughput.csv")
        shutil.move(folder, target)
    return target


def _copy_figures(source: Path, target: Path) -> None:
    """The published single-device figures of the rented devices, with their sources."""
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if row["gpus"] == "1" and row["gpu"].startswith(RENTED_DEVICES)]
    with write_whole(target) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot new-study`."""
    parser.add_argument("name", metavar="NAME", help="folder under config/studies/: letters, digits, '.', '_' and '-'")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> None:
    """Create the study, check it as the workflow would, and say how to run it. Raises UserError."""
    instance, device = own_machine()
    folder = create_study(arguments.name, arguments.config, (instance, device), datetime.date.today())
    chosen = {"study": arguments.name, "measure_on": instance}
    load_invocation(arguments.config / "config.yaml", chosen, arguments.config)
    gpu = " GPU=1" if instance == "workstation-gpu" else ""
    print(f"{folder} is ready. Edit its prices, then: make report STUDY={arguments.name}{gpu}")
