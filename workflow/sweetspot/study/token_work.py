"""Work by tokens: a known model, how it is trained, and on how many tokens; samples, memory and cell follow."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from sweetspot.errors import UserError
from sweetspot.study.base import Closed, Slug, Text
from sweetspot.study.memory import Memory
from sweetspot.study.open_models import METHODS, Method, OpenModel, memory_need, open_model
from sweetspot.study.sharing import Shared, SideBySide

SEQUENCE = 2048
Sequence = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
Epochs = Annotated[float, Field(strict=True, gt=0, le=1e6)]
Many = Annotated[float, Field(strict=True, ge=1, le=1e18)]
SAYS_METHOD = (
    "pretrain, full (fine-tuning of all weights), lora or qlora (of adapters; of weights of 4 bits), "
    "grpo (reinforcement of all weights; tokens are those of prompts and answers)"
)
SAYS_TOKENS = "Tokens gone through in one epoch"
SAYS_SEQUENCE = "Tokens of a sequence"
SAYS_EPOCHS = "How often the tokens are gone through"


def known_model(name: str) -> str:
    """The name as facts/models.csv has it. Raises ValueError."""
    try:
        return open_model(name).name
    except UserError as error:
        raise ValueError(f"a model of facts/models.csv; {error}") from None


class TokenWork(Closed):
    """The keys of work by tokens."""

    model: Annotated[Slug, AfterValidator(known_model)] = Field(description="Model trained: a row of facts/models.csv")
    method: Method = Field(description=SAYS_METHOD)
    tokens: Many = Field(description=SAYS_TOKENS)
    sequence: Sequence = Field(SEQUENCE, description=SAYS_SEQUENCE)
    epochs: Epochs = Field(1.0, description=SAYS_EPOCHS)

    @property
    def rule(self) -> Memory:
        """What each device keeps, by the rule of `open_models.memory_need`."""
        return memory_need(open_model(self.model), self.method, self.sequence)

    @property
    def by_samples(self) -> dict[str, Any]:
        """The keys of the same work by samples: each token is one, of the cell `cell_name`."""
        name = cell_name(self.model, self.method, self.sequence)
        return {"model": name, "samples": self.tokens * self.epochs, "memory": self.rule}


class TokenTraining(SideBySide, TokenWork):
    """One training by the tokens that it sees."""

    kind: Literal["tokens"] = Field(description="A training job by tokens, of a known model")
    title: Text | None = Field(None, description="Name for people")
    shared: Shared | None = Field(None, description="Where several people share a machine: how often such a job comes")
    source: Text = Field(description="Where the number comes from")


def cell_name(model: str, method: str, sequence: int) -> str:
    """What the cells of that work are called as a model: `llama-3.1-8b.lora.2048`."""
    return f"{model}.{method}.{sequence}"


def cell_work(name: str) -> tuple[OpenModel, Method, int] | None:
    """Model, method and sequence of a cell's model that is named so; None where it is another's."""
    model, *rest = name.rsplit(".", 2)
    if len(rest) != 2 or rest[0] not in METHODS or not rest[1].isdecimal():
        return None
    try:
        return open_model(model), rest[0], int(rest[1])  # type: ignore[return-value]
    except UserError:
        return None
