"""The rentals of today that the library ships: offers and machines of the studies of 2026."""

from pathlib import Path
from typing import Any

from sweetspot.facts.shipped_tables import figures_file
from sweetspot.study.yamlfile import load_yaml
from sweetspot.transfer.specifications import Devices

# Study, its price list, and keys of that list which each offer repeats, for they differ from the first list's.
RENTALS = (
    ("fine-tune-2026", "rent", ()),
    ("fine-tune-2026", "rent-amd", ()),
    ("office-box-2026", "marketplace", ("as_of", "billing")),
)


def load_rentals(studies: Path, devices: Devices, maker: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rentals on demand that the library ships of one maker's devices, for a new study and `estimate`.

    Only one maker's: a speed transferred from your device to another maker's is known within a factor of twenty, which
    answers nothing. Returned are a price list, and its machines by name, as the files of a study have them.

    Parameters
    ----------
    studies
        Folder with the shipped studies.
    devices
        All devices by name.
    maker
        Maker of the devices, e.g. 'nvidia'.
    """
    heading: dict[str, Any] = {}
    offers, machines = [], {}
    for study, name, repeated_keys in RENTALS:
        instances = load_yaml(figures_file(study, studies, "instances.yaml"))
        prices = load_yaml(figures_file(study, studies, f"prices/{name}.yaml"))
        heading = heading or prices
        for offer in prices["offers"]:
            machine = instances[offer["instance"]]
            if devices.get(machine["gpu"]).maker == maker:
                source = f"{offer['source']}; {prices['source']}" if repeated_keys else offer["source"]
                offers.append({key: prices[key] for key in repeated_keys} | offer | {"source": source})
                machines[offer["instance"]] = {key: machine[key] for key in machine if key != "equivalent_to"}
    return heading | {"offers": offers}, machines
