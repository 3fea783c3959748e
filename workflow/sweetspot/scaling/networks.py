"""What a network sends at each step: its parameters and its gradient tensors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

from sweetspot.facts.shipped_tables import table
from sweetspot.warnings import warning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NetworkFacts:
    """Facts of one network.

    parameters_millions: trainable values; each step exchanges one gradient for each.
    tensors: separate gradients (weights, biases, scales); starting the exchange of one takes time.
    normalised: whether batch normalisation follows its convolutions.
    is_listed: False where the facts are those of a middling network, because nobody has stated any.
    """

    parameters_millions: float
    tensors: int
    normalised: bool
    is_listed: bool = True


MIDDLING_NETWORK = NetworkFacts(30.0, 160, True, is_listed=False)


@cache
def listed_networks() -> Mapping[str, NetworkFacts]:
    """Return the facts of facts/networks.csv by name."""
    return {
        row["network"]: NetworkFacts(
            parameters_millions=float(row["parameters_millions"]),
            tensors=int(row["tensors"]),
            normalised=row["normalised"] == "yes",
        )
        for row in table("networks")
    }


@cache
def network_name(model: str) -> str:
    """Return one name for all spellings of a network, e.g. 'bertlarge' for 'BERT-large SQuAD'.

    Case, separators and the version of a ResNet (`v1.5`) do not count.
    """
    letters = re.sub(r"[^a-z0-9]", "", model.lower())
    for row in table("networks"):
        if letters == row["network"] or letters in row["spellings"].split():
            return row["network"]
    return re.sub(r"v(1|15|2)$", "", letters)


def network_facts(model: str) -> NetworkFacts:
    """Return the facts of a model by its name, or those of a middling network."""
    return listed_networks().get(network_name(model), MIDDLING_NETWORK)


def with_network_facts(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Add the facts of each cell's network.

    Parameters
    ----------
    cells
        Rows with a column `model`.

    Returns
    -------
    pd.DataFrame
        The cells with `parameters_millions`, `tensors`, `normalised` and `is_listed`.
    """
    facts = {model: network_facts(model) for model in set(cells["model"])}
    return cells.assign(
        **{
            field.name: [getattr(facts[model], field.name) for model in cells["model"]]
            for field in fields(NetworkFacts)
        }
    )


def unlisted_network_warning(model: str) -> dict[str, str]:
    """Return the warning of a model that is not listed."""
    message = (
        f"nothing is known of the network {model}, so one of "
        f"{MIDDLING_NETWORK.parameters_millions:g} million parameters in "
        f"{MIDDLING_NETWORK.tensors} tensors stands in for it"
    )
    return warning("network_unknown", message)
