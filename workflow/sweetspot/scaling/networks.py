"""What a network sends at each step: its parameters and its gradient tensors."""

from functools import cache

import pandas as pd

from sweetspot.facts.shipped_tables import table
from sweetspot.transfer.figures import network_name
from sweetspot.warnings import warning

# Stands in for a network of which nobody has stated any facts.
MIDDLING_NETWORK = {"parameters_millions": 30.0, "tensors": 160, "normalised": True}


@cache
def listed_networks() -> pd.DataFrame:
    """Return facts/networks.csv, a row per network (index: its name): what it sends between devices at each training
    step. parameters_millions: trainable values; each step exchanges one gradient for each. tensors: separate gradients
    (weights, biases, scales), each of which takes time to start. normalised: has batch normalisation.
    """
    rows = pd.DataFrame(table("networks")).set_index("network")
    rows["normalised"] = rows["normalised"] == "yes"
    return rows[list(MIDDLING_NETWORK)].astype({"parameters_millions": float, "tensors": int})


def with_network_facts(cells: pd.DataFrame) -> pd.DataFrame:
    """Add columns parameters_millions, tensors, normalised of each cell's `model`; MIDDLING_NETWORK if unlisted."""
    facts = listed_networks().reindex(cells["model"].map(network_name)).fillna(MIDDLING_NETWORK)
    return cells.join(facts.set_axis(cells.index))


def unlisted_network_warnings(model: str) -> list[dict[str, str]]:
    """Return [a warning that assumed facts stand in] for a model that facts/networks.csv lacks; [] if it is listed."""
    if network_name(model) in listed_networks().index:
        return []
    message = (
        f"nothing is known of the network {model}, so one of {MIDDLING_NETWORK['parameters_millions']:g} million "
        f"parameters in {MIDDLING_NETWORK['tensors']} tensors stands in for it"
    )
    return [warning("network_unknown", message)]
