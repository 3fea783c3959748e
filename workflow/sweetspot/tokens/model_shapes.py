"""Open models by name: the shapes of facts/models.csv."""

from typing import NamedTuple

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table


class OpenModel(NamedTuple):
    """A decoder. Parameters without biases and normalisations; active: those that a token is multiplied with, all
    layers and the words; tied: the head is the embedding.
    """

    name: str
    parameters: int
    active_parameters: int
    tied: bool
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int
    sequence: int
    source: str

    @property
    def multiplied(self) -> int:
        """Weights that each token is multiplied with: looking up an embedding costs nothing."""
        return self.active_parameters - (0 if self.tied else self.vocabulary * self.width)

    def adapters(self, rank: int) -> int:
        """Weights of adapters of that rank at queries, keys, values and the output of attention (Hu et al. 2021)."""
        queries, keys = self.heads * self.head_width, self.kv_heads * self.head_width
        return self.layers * rank * 2 * (2 * self.width + queries + keys)


def open_models() -> dict[str, OpenModel]:
    """All rows of facts/models.csv by name."""
    whole = ("parameters", "active_parameters", "layers", "width", "heads", "kv_heads", "head_width", "vocabulary")
    found = {}
    for row in table("models"):
        numbers = {name: int(row[name]) for name in (*whole, "sequence")}
        found[row["model"]] = OpenModel(name=row["model"], tied=row["tied"] == "yes", source=row["source"], **numbers)
    return found


def open_model(name: str) -> OpenModel:
    """The model of that name, in any case. Raises UserError."""
    models = open_models()
    found = models.get(name.strip().lower())
    if found is None:
        near = [known for known in models if known.split("-")[0] == name.strip().lower().split("-")[0]]
        raise UserError(f"model {name!r} is not known; expected one of {', '.join(near or models)}")
    return found
