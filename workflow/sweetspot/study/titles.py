"""Names for people of networks, frameworks, providers and units, which the files know by keys."""

import re
from collections.abc import Collection, Mapping

from sweetspot.facts.shipped_tables import table
from sweetspot.study.frameworks import FRAMEWORKS

NETWORKS, PROVIDERS = (
    {row["key"]: row["name"] for row in table("names") if row["kind"] == kind} for kind in ("network", "provider")
)
BY_TOKENS = re.compile(r"(.+)\.(pretrain|full|lora|qlora|grpo)\.\d+")  # model, method, tokens of a sequence
METHODS = {"pretrain": "pretraining", "full": "full fine-tuning", "lora": "LoRA", "qlora": "QLoRA", "grpo": "GRPO"}
# Of published figures; frameworks that are measured here say theirs themselves.
OTHER_FRAMEWORKS = {"cntk": "CNTK", "jax": "JAX", "mxnet": "MXNet"}


def model_title(model: str, own: Mapping[str, str] | None = None) -> str:
    """The name for people of a model: the study's `own`, else that of a well-known network, else its key.

    Work by tokens (`open_models.cell_name`) is named by what is done to the model: `LoRA of Llama-3.1-8b`.
    """
    trained = BY_TOKENS.fullmatch(model)
    known = f"{METHODS[trained[2]]} of {trained[1].capitalize()}" if trained else NETWORKS.get(model, model)
    return (own or {}).get(model) or known


def class_title(name: object) -> str:
    """The name for people of a class of jobs: of the network it is called by, `ResNet-50 (urgent)`; else its own."""
    first, *rest = str(name).split(" ", 1)
    return " ".join([model_title(first), *rest])


def unit_in_words(units: Collection[str]) -> str:
    """What a study's speeds count (images, samples, runs, relative units); samples where they count several."""
    if set(units) == {"relative"}:
        return "relative units"
    return "".join(units or {"images"}) if len(units) < 2 else "samples"


def framework_title(framework: str) -> str:
    """The name for people of a framework: a well-known one's, else its key."""
    own = FRAMEWORKS[framework].title if framework in FRAMEWORKS else OTHER_FRAMEWORKS.get(framework)
    return own or framework


def provider_title(provider: str, own: Mapping[str, str] | None = None) -> str:
    """The name for people of a provider: the study's `own`, else a well-known one's, else its key."""
    return (own or {}).get(provider) or PROVIDERS.get(provider, provider)
