"""Every key of the files people write is used by something shipped, or explained in a template or a document."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from project_copy import ROOT
from pydantic import BaseModel, RootModel
from sweetspot.study.base import Closed
from sweetspot.study.claims import Claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scenarios import Scenario
from sweetspot.study.scripts import Script
from sweetspot.study.stock import Availability
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads

MODELS: dict[str, type[BaseModel]] = {
    "config.yaml": Config,
    "study.yaml": Study,
    "instances.yaml": RootModel[dict[str, Instance]],
    "prices/*.yaml": PriceList,
    "workloads.yaml": Workloads,
    "availability.yaml": Availability,
    "scenarios/*.yaml": Scenario,
    "claims.yaml": Claims,
}
# Templates of `new-study`, and what explains own scripts and what `sweetspot import-use` writes.
EXPLAINING = ("workflow/sweetspot/commands/study_template*/**/*.yaml", "config/studies/*/scenarios/*.yaml",
              "config/*.yaml", "docs/measuring.md", "workflow/sweetspot/use/*.py",
              "workflow/sweetspot/commands/create_study.py", "workflow/sweetspot/commands/import_use.py")  # fmt: skip


def defining_model(model: type[BaseModel], key: str) -> str:
    """Return the name of the class that declares a key, which may be a base of `model`."""
    return next(base.__name__ for base in reversed(model.__mro__) if key in getattr(base, "__annotations__", {}))


def given_keys(value: Any) -> Iterator[tuple[str, str]]:
    """Yield model and key of what the models within a value were given."""
    if isinstance(value, BaseModel):
        for key in value.model_fields_set:
            if key in type(value).model_fields and not isinstance(value, RootModel):
                yield defining_model(type(value), key), key
            yield from given_keys(getattr(value, key))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from given_keys(item)


def models_below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for derived in model.__subclasses__():
        if derived.__module__.startswith("sweetspot.study.") and derived.__name__ != "Name":
            yield derived
        yield from models_below(derived)


def test_every_key_is_used_or_explained():
    assert Script  # whose keys docs/measuring.md explains
    used: set[tuple[str, str]] = set()
    for pattern, model in MODELS.items():
        for file in (ROOT / "config").rglob(pattern):
            content = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
            used |= set(given_keys(model.model_validate({"claims": content} if model is Claims else content)))
    texts = [file.read_text(encoding="utf-8") for pattern in EXPLAINING for file in ROOT.glob(pattern)]
    names = set(re.findall(r"\b([a-z][a-z_0-9]*)[\"'`:]", "\n".join(texts)))
    declared = {(defining_model(model, key), key) for model in models_below(Closed) for key in model.model_fields}
    assert sorted(f"{model}.{key}" for model, key in declared - used if key not in names) == []
