"""Names for people of networks, frameworks, providers and units, which the files know by keys."""

import re
from collections.abc import Collection, Mapping

from sweetspot.facts.shipped_tables import table

NETWORKS, PROVIDERS, FRAMEWORK_NAMES, METHODS, SCALING_METHODS = (
    {row["key"]: row["name"] for row in table("names") if row["kind"] == kind}
    for kind in ("network", "provider", "framework", "method", "scaling")
)
BY_TOKENS = re.compile(r"(.+)\.(pretrain|full|lora|qlora|grpo)\.\d+")  # model, method, tokens of a sequence


def model_title(model: str, study_titles: Mapping[str, str] | None = None) -> str:
    """Return a model's name as reports show it, from its key: the study's title (`study_titles`: by key), else that of
    a known network, else the key. Work by tokens (`open_models.cell_name`) is named such as `LoRA of Llama-3.1-8b`.
    """
    match = BY_TOKENS.fullmatch(model)
    title = f"{METHODS[match[2]]} of {match[1].capitalize()}" if match else NETWORKS.get(model, model)
    return (study_titles or {}).get(model) or title


def class_title(name: object) -> str:
    """Return the name of a class of jobs for people, e.g. `ResNet-50 (urgent)` for `resnet50 (urgent)`."""
    model, space, rest = str(name).partition(" ")
    return model_title(model) + space + rest


def unit_in_words(units: Collection[str]) -> str:
    """Return the plural noun for the units of a study's speeds, e.g. images; samples where units differ."""
    if set(units) == {"relative"}:
        return "relative units"
    return "".join(units or {"images"}) if len(units) < 2 else "samples"


def framework_title(framework: str) -> str:
    """Return the name of a framework for people: that of a well-known one, else its key."""
    return FRAMEWORK_NAMES.get(framework, framework)


def provider_title(provider: str, study_titles: Mapping[str, str] | None = None) -> str:
    """Return the name of a provider for people: the study's, else that of a well-known one, else its key."""
    return (study_titles or {}).get(provider) or PROVIDERS.get(provider, provider)
