"""List the keys of the files people write that nothing shipped uses: python tests/support/unused_keys.py

Every shipped study, scenario and example is loaded with the closed models; a key counts as used where an instance was
given it. Keys that a template of `new-study` has, or explains in a comment, count as used too.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, RootModel
from sweetspot.study.base import Closed, Name
from sweetspot.study.claims import Claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scenarios import Scenario
from sweetspot.study.scripts import Script
from sweetspot.study.stock import Availability
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "config", ROOT / "examples")
TEMPLATES = ROOT / "workflow" / "sweetspot" / "commands"
MODELS: dict[str, type[BaseModel]] = {
    "config.yaml": Config,
    "study.yaml": Study,
    "instances.yaml": RootModel[dict[str, Instance]],
    "prices/*.yaml": PriceList,
    "workloads.yaml": Workloads,
    "availability.yaml": Availability,
    "scenarios/*.yaml": Scenario,
    "commands/*.yaml": Script,
}
WRITTEN = {  # by `sweetspot import-use`
    ("Measured", "busy_share"), ("Measured", "jobs_per_month"), ("Measured", "period"), ("Monthly", "measured"),
    ("Monthly", "months_alike"), ("JobClass", "basis"), ("JobClass", "period"), ("JobClass", "hours"),
    ("JobClass", "hours_cv"),
}  # fmt: skip
Key = tuple[str, str]  # name of the model that defines it, and of the key


def defining_model(model: type[BaseModel], key: str) -> str:
    """Return the name of the class that declares a key, which may be a base of `model`."""
    return next(base.__name__ for base in reversed(model.__mro__) if key in getattr(base, "__annotations__", {}))


def given_keys(value: Any) -> Iterator[Key]:
    """Yield the keys that the instances of models within a value were given."""
    if isinstance(value, BaseModel):
        for key in value.model_fields_set:
            if key in type(value).model_fields and not isinstance(value, RootModel):
                yield defining_model(type(value), key), key
            yield from given_keys(getattr(value, key))
    elif isinstance(value, dict):
        for item in value.values():
            yield from given_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from given_keys(item)


def used_keys() -> set[Key]:
    """Return the keys that shipped files use."""
    used: set[Key] = set()
    for pattern, model in MODELS.items():
        for folder in FOLDERS:
            for file in folder.rglob(pattern):
                content = yaml.safe_load(file.read_text(encoding="utf-8"))
                if model is Config and "matrix" not in content:
                    continue  # of another workflow, or merged with a whole one
                used |= set(given_keys(model.model_validate(content)))
    for file in (ROOT / "config").rglob("claims.yaml"):
        used |= set(given_keys(Claims.model_validate({"claims": yaml.safe_load(file.read_text(encoding="utf-8"))})))
    return used


def models_below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield every model that is derived from one."""
    for derived in model.__subclasses__():
        yield derived
        yield from models_below(derived)


def file_models() -> Iterable[type[BaseModel]]:
    """Return the closed models of the files."""
    return {model for model in models_below(Closed) if model.__module__.startswith("sweetspot.study.")} - {Name}


def explained_names() -> set[str]:
    """Return the names of keys that templates of `new-study` and scenarios have, perhaps in a comment."""
    files = [*TEMPLATES.glob("study_template*/**/*.yaml"), *(ROOT / "config").rglob("scenarios/*.yaml")]
    files += (ROOT / "config" / name for name in ("config.yaml", "instances.yaml"))
    return {name for file in files for name in re.findall(r"\b([a-z][a-z_0-9]*):", file.read_text(encoding="utf-8"))}


def unused_keys() -> list[str]:
    """Return `Model.key` of each key that nothing shipped uses, sorted."""
    used, explained = used_keys(), explained_names()
    declared = {(defining_model(model, key), key) for model in file_models() for key in model.model_fields}
    return sorted(f"{model}.{key}" for model, key in declared - used - WRITTEN if key not in explained)


if __name__ == "__main__":
    print("\n".join(unused_keys()))
    sys.exit(bool(unused_keys()))
