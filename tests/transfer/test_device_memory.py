"""The memory of a device stands in two tables, one in the library and one among the studies: they must agree."""

import csv

from project_copy import ROOT

DEVICES = ROOT / "config" / "studies" / "devices-2026" / "devices.csv"
MEMORY = ROOT / "workflow" / "sweetspot" / "study" / "device_memory.csv"


def sizes(file):
    with file.open(encoding="utf-8", newline="") as handle:
        return {row["gpu"]: float(row["memory_gb"]) for row in csv.DictReader(handle)}


def test_both_tables_say_the_same_of_each_device():
    every, few = sizes(DEVICES), sizes(MEMORY)
    assert len(few) > 20 and few.items() <= every.items()
