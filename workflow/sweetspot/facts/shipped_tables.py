"""The facts that come with the library, in tables (*.csv): each row has a source and a date, and a study may say
otherwise. Among them: devices, power, providers, grids (power and carbon); names, catalogue_names; availability;
resale_curves, price_levels, machine_prices, currencies; networks, network_operations, device_relation (speeds);
price_rules, price_values (the price lint); tables, answer (columns of all tables, keys of answer.json).
"""

import csv
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
POOLS = FOLDER / "pools"
STUDIES = FOLDER.parents[2] / "config" / "studies"  # of the repository; a wheel has no such folder
DEVICES = FOLDER / "devices.csv"
OF_DEVICES = ("devices-2026", "scaling-2020", "parkopedia-2018")  # figures that a transfer learns from


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of facts/`name`.csv as dicts of text by column; a file of the library, so nothing is checked."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def figures_file(study: str, studies: Path, name: str = "throughput.csv") -> Path:
    """Return the path of a study's file `name` (published figures, prices), in the folder `studies` or the library."""
    files = [folder / study / name for folder in (studies, POOLS, STUDIES)]
    return next((file for file in files if file.is_file()), files[0])


def pool_files(is_needed: bool, studies: Path = Path("config/studies")) -> list[Path]:
    """Return the paths of the figures that a transfer to other devices learns from; [] unless `is_needed`."""
    return [figures_file(name, studies) for name in OF_DEVICES] if is_needed else []
