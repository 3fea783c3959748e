"""A study of one's own in one command: `python -m sweetspot.commands.new_study NAME`, or `make study NAME=mine`."""

import argparse
import csv
import datetime
import json
import shutil
import string
import tempfile
from pathlib import Path

from sweetspot.cells import is_slug
from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import write_whole
from sweetspot.matrix.invocation import load_invocation

TEMPLATE = Path(__file__).parent / "study_template"
FIGURES_FROM = "parkopedia-2018"
RENTED_CARDS = ("Tesla K80", "Tesla V100")


def own_machine() -> tuple[str, str]:
    """Instance and device name of this machine: its NVIDIA card if the driver shows one, else its processor."""
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
    if target.exists():
        raise UserError(f"{target}: the study exists; choose another name or edit it")
    values = {
        "name": name,
        "instance": machine[0],
        "card": " ".join(machine[1].split()),
        "card_quoted": json.dumps(machine[1]),
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
    """The published single-device figures of the rented cards, with their sources."""
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if row["gpus"] == "1" and row["gpu"].startswith(RENTED_CARDS)]
    with write_whole(target) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def main() -> None:
    """Create the study, check it as the workflow would, and say how to run it."""
    parser = argparse.ArgumentParser(prog="sweetspot.commands.new_study", description="Create a study of your own.")
    parser.add_argument("name", help="folder under config/studies/")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder")
    arguments = parser.parse_args()
    machine = own_machine()
    folder = create_study(arguments.name, arguments.config, machine, datetime.date.today())
    load_invocation(
        arguments.config / "config.yaml", {"study": arguments.name, "measure_on": machine[0]}, arguments.config
    )
    print(f"{folder} is ready. Edit its prices, then: make report STUDY={arguments.name}", end="")
    print(" GPU=1" if machine[0] == "workstation-gpu" else "")


if __name__ == "__main__":
    with exit_on_user_error():
        main()
