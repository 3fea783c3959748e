"""Where the facts lie that come with the library: each row has a source and a date, and a study may say otherwise.
devices.csv: what a device can do. power.csv, providers.csv, grids.csv: what it draws, and where it stands. names.csv:
names for people. catalogue_names.csv: machines in price catalogues. availability.csv: stock, failures.
resale_curves.csv: what used devices sell for by age. currencies.csv: rates of years. network_kinds.csv,
device_relation.csv: what a transfer reads. network_operations.csv: least work of a sample. machines.csv: devices of
cloud machines. price_levels.csv, machine_prices.csv: what devices and machines have cost. price_rules.csv,
price_values.csv: rules of the price lint. tables.csv, answer.csv: columns of all tables, keys of answer.json.
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
    """Return where a study's file of published figures lies, `name` of the study called `study`: in the folder
    `studies`, else in the library. Where there is none, that in `studies`: whoever reads it says that it is missing.
    """
    files = [folder / study / name for folder in (studies, POOLS, STUDIES)]
    return next((file for file in files if file.is_file()), files[0])


def pool_files(is_needed: bool, studies: Path = Path("config/studies")) -> list[Path]:
    """Return the paths of the figures that a transfer to other devices learns from; [] unless `is_needed`."""
    return [figures_file(name, studies) for name in OF_DEVICES] if is_needed else []
