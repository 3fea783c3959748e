"""What one invocation of the workflow works on: configuration, study, instances, cells and price lists."""

from pathlib import Path
from typing import Any

from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.matrix.expand import expand_matrix
from sweetspot.matrix.possible import require_possible
from sweetspot.study.base import Closed, Name, Slug, check_apart, validated
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.study import Study, load_study
from sweetspot.study.yamlfile import load_yaml

# What another workflow need not hand in: its study's own figures are enough.
NOTHING_MEASURED: dict[str, Any] = {"measure_on": [], "matrix": {"model": ["resnet50"], "batch_size": [16]}}


class Invocation(Closed):
    """Everything that the workflow needs to know while it is parsed: plain values, nothing read later."""

    config: Config
    study: Study
    instances: dict[Slug, Instance]
    cells: tuple[Cell, ...]
    price_lists: tuple[str, ...]


def load_invocation(config_file: Path | None, overrides: dict[str, Any], root: Path = Path("config")) -> Invocation:
    """Read the configuration, the study and its instances; expand the matrix. Raises UserError.

    `config_file` is None for a module of another workflow, which hands in the whole configuration as `overrides`.
    `overrides` is what stands on the command line (`--config`, `--configfile`); it replaces key by key,
    mappings are merged.
    """
    if config_file is None:
        raw, config_file = {} if "measure_on" in overrides else NOTHING_MEASURED, Path("`config:` of the module")
    else:
        raw = load_yaml(config_file)
    config = validated(Config, _merged(raw, overrides) if isinstance(raw, dict) else raw, config_file)
    folder = root / "studies" / config.study
    study = load_study(folder)
    own = root / "instances.yaml"
    instances = load_instances(*([own] if own.is_file() else []), folder / "instances.yaml")
    for where, name in [("reference", study.reference), *(("targets", target.instance) for target in study.targets)]:
        if name is not None and name not in instances:
            raise UserError(f"{folder / 'study.yaml'}: {where} is {name!r}; expected an instance of instances.yaml")
    cells = _measured_cells(config, instances, config_file) if study.measure else []
    price_lists = _price_lists(folder / "prices")
    for name in study.answer_prices:
        if name not in price_lists:
            known = ", ".join(price_lists)
            raise UserError(f"{folder / 'study.yaml'}: answer_prices names {name!r}; expected some of {known}")
    return Invocation(
        config=config, study=study, instances=instances, cells=tuple(cells), price_lists=tuple(price_lists)
    )


def _price_lists(folder: Path) -> list[str]:
    """Names of the price lists, sorted; a list that would be passed over for its ending is refused."""
    for path in sorted(folder.glob("*")):
        if path.suffix.lower() in (".yml", ".yaml") and path.suffix != ".yaml":
            raise UserError(f"{path}: price lists end in .yaml; expected {path.stem}.yaml")
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    for name in names:
        validated(Name, {"name": name}, folder / f"{name}.yaml")
    check_apart(names, "price lists", folder)
    return names


def _measured_cells(config: Config, instances: dict[str, Instance], file: Path) -> list[Cell]:
    named = [("measure_on", name) for name in config.measure_on]
    for key, name in [*named, *(("measure.usd_per_hour", name) for name in config.measure.usd_per_hour)]:
        if name not in instances:
            raise UserError(f"{file}: {key} names {name!r}; expected one of {', '.join(sorted(instances))}")
    for name in config.measure_on:
        if instances[name].measure is None:
            raise UserError(f"{file}: measure_on names {name!r}, which says nowhere how to measure it ('measure')")
    exclude = [entry.model_dump(exclude_none=True) for entry in config.exclude]
    cells = expand_matrix(config.measure_on, config.matrix.model_dump(), exclude)
    require_possible(cells, instances, config.measure.xla, file)
    return cells


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged
