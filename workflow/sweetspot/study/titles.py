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
PUBLISHED_FRAMEWORKS = {"cntk": "CNTK", "jax": "JAX", "mxnet": "MXNet"}


def model_title(model: str, study_titles: Mapping[str, str] | None = None) -> str:
    """Return the name of a model for people: the study's, else that of a well-known network, else its key.

    Work by tokens (`open_models.cell_name`) is named by what is done to the model: `LoRA of Llama-3.1-8b`.
    """
    match = BY_TOKENS.fullmatch(model)
    title = f"{METHODS[match[2]]} of {match[1].capitalize()}" if match else NETWORKS.get(model, model)
    return (study_titles or {}).get(model) or title


def class_title(name: object) -> str:
    """Return the name of a class of jobs for people, e.g. `ResNet-50 (urgent)` for `resnet50 (urgent)`."""
    first, *rest = str(name).split(" ", 1)
    return " ".join([model_title(first), *rest])


def unit_in_words(units: Collection[str]) -> str:
    """Return what a study's speeds count (images, samples, runs, relative units); samples where units differ."""
    if set(units) == {"relative"}:
        return "relative units"
    return "".join(units or {"images"}) if len(units) < 2 else "samples"


def framework_title(framework: str) -> str:
    """Return the name of a framework for people: that of a well-known one, else its key."""
    measured = FRAMEWORKS[framework].title if framework in FRAMEWORKS else ""
    return measured or PUBLISHED_FRAMEWORKS.get(framework, framework)


def provider_title(provider: str, study_titles: Mapping[str, str] | None = None) -> str:
    """Return the name of a provider for people: the study's, else that of a well-known one, else its key."""
    return (study_titles or {}).get(provider) or PROVIDERS.get(provider, provider)
