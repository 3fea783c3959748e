"""What one invocation of the workflow works on: configuration, study, instances, cells and price lists."""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.cells import CELL_COLUMNS, Cell
from sweetspot.errors import Faults, UserError, refuse
from sweetspot.files import require_file
from sweetspot.matrix.possible import require_possible, require_script_arguments
from sweetspot.spelling import hint
from sweetspot.study.base import Closed, Name, Slug, check_case, validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, base_fault, load_instances
from sweetspot.study.price_list import PriceList
from sweetspot.study.scripts import FRAMEWORK, Script, load_script, script_files
from sweetspot.study.study import Study, load_study
from sweetspot.study.yamlfile import load_yaml

# What need not be said where nothing is measured, which is a module's default: a study's own figures are enough.
NOTHING_MEASURED: dict[str, Any] = {"measure_on": [], "matrix": {"model": ["resnet50"], "batch_size": [16]}}


class Invocation(Closed):
    """Everything that the workflow needs to know while it is parsed: plain values, nothing read later."""

    config: Config
    study: Study
    instances: dict[Slug, Instance]
    cells: tuple[Cell, ...]
    price_lists: tuple[str, ...]
    scripts: dict[Slug, Script]  # of the matrix's own scripts, by model


def load_invocation(config_file: Path | None, overrides: dict[str, Any], root: Path = Path("config")) -> Invocation:
    """Read everything that one call of the workflow works on (configuration, study, machines) and expand the matrix to
    its cells, the benchmark setups to run, so that Snakemake knows its jobs. Raises UserError for any mistake in the
    files.

    Parameters
    ----------
    config_file, overrides, root
        config.yaml (None: a module of another workflow, which hands in the whole configuration as `overrides`); what
        stands on the command line (`--config`, `--configfile`), merged key by key; the project's config folder.
    """
    raw = {} if config_file is None else load_yaml(config_file)
    if isinstance(raw, dict):
        raw = merged(raw, overrides)
        if not raw.get("measure_on", config_file is not None):
            raw = NOTHING_MEASURED | raw
    config_file = config_file or Path("`config:` of the module")
    config = validated(Config, raw, config_file)
    folder = root / "studies" / config.study
    study_file = folder / "study.yaml"
    study = load_study(folder)
    for file in sorted(folder.glob("*.[yc][as][mv]*")):  # .yaml, .csv
        require_file(file)  # Snakemake would read a device for its checksum, without end
    instances = load_instances(*instance_files(root, config.study))
    check_machines(study, instances, study_file)
    names = [("measure_on", name) for name in config.measure_on]
    require_names(config_file, names, instances, f"one of {', '.join(sorted(instances))}")
    scripts = load_scripts(config, root, config_file) if study.measure else {}
    cells = measured_cells(config, instances, config_file, scripts) if study.measure else []
    lists = tuple(price_list_names(folder / "prices"))
    check_answer_prices(study, lists, study_file)
    checked_catalogue(study.catalogue, instances, lists, study_file)
    return Invocation(
        config=config, study=study, instances=instances, cells=tuple(cells), price_lists=lists, scripts=scripts
    )


def instance_files(root: Path, study: str) -> list[Path]:
    """Return the files that declare a study's machines: the project's instances.yaml if any, then the study's."""
    files = [root / "instances.yaml", root / "studies" / study / "instances.yaml"]
    return files if files[0].is_file() else files[1:]


def require_names(file: Path, names: Iterable[tuple[str, str]], allowed: Collection[str], expected: str) -> None:
    """Raise UserError, a sentence per name, if a user's file names something that is not declared (a machine, a price
    list).

    Parameters
    ----------
    file, names, allowed, expected
        The file that holds the names; pairs (key in that file, name); all allowed names, and the same in words.
    """
    refuse(
        f"{file}: {key} names {name!r}; expected {expected}{hint(name, allowed)}"
        for key, name in names
        if name not in allowed
    )


def check_machines(study: Study, instances: Mapping[str, Instance], file: Path) -> None:
    """Raise UserError if study.yaml (`file`) names undeclared machines, or a target that is unlike its base."""
    names = [("reference", study.reference)] if study.reference else []
    names += [("targets", name) for target in study.targets for name in (target.instance, target.base_instance)]
    require_names(file, names, instances, "an instance of instances.yaml")
    for target in study.targets:
        machine, base = instances[target.instance], instances[target.base_instance]
        if wrong := base_fault(machine, base) or (target.gpus != machine.gpus and f"expected {machine.gpus}"):
            raise UserError(f"{file}: targets has {target.gpus} devices of {target.instance}; {wrong}")


def check_answer_prices(study: Study, price_lists: Collection[str], file: Path) -> None:
    """Raise UserError if `answer_prices` of a study names a price list that does not exist."""
    expected = f"some of {', '.join(price_lists)}"
    require_names(file, (("answer_prices", name) for name in study.answer_prices), price_lists, expected)


def check_offers_in_hand(study: Study, price_lists: Mapping[str, PriceList], file: Path) -> None:
    """Raise UserError if `offers_in_hand` of study.yaml (`file`), offers the user has received, names none that is
    priced. `price_lists`: by name; allowed are a list's name, a machine on it, or an option such as `box (own)`.
    """
    offers = list(price_lists)
    for name, prices in price_lists.items():
        for offer in prices.offers:
            option = f"{offer.instance} ({offer.purchase.replace('_', ' ')})"
            offers += [offer.instance, option, f"{offer.instance} [{name}]", f"{option} [{name}]"]
    expected = "a price list, a machine that one offers, or an option"
    require_names(file, (("offers_in_hand", name) for name in study.offers_in_hand), offers, expected)


def price_list_names(folder: Path) -> list[str]:
    """Return the sorted names of the price lists in a study's `prices` folder (the files' stems): Snakemake prices
    each of them in a job. Raises UserError for a file that ends in .yml or has no valid name.
    """
    faults, names = Faults(), []
    for path in sorted(folder.glob("*.[yY]*[lL]")):
        with faults.gather():
            if path.suffix == ".yaml":
                names.append(path.stem)
                validated(Name, {"name": path.stem}, path)
                require_file(path)
            else:
                faults.add(f"{path}: price lists end in .yaml; expected {path.stem}.yaml")
    with faults.gather():
        check_case(names, "price lists", folder)
    faults.end()
    return names


def load_scripts(config: Config, root: Path, file: Path) -> dict[str, Script]:
    """Return {model: its training script} for those models of the matrix that are a user's own scripts
    (config/commands), to be timed instead of a built-in network. Raises UserError for framework `command` without a
    script and vice versa.

    Parameters
    ----------
    config, root, file
        The configuration; the project's config folder; the configuration's file, for error messages.
    """
    described = script_files(root)
    names = [name for name in dict.fromkeys(config.matrix.model) if name in described]
    if bool(names) != (FRAMEWORK in config.matrix.framework):
        raise UserError(
            f"{file}: matrix.model holds {', '.join(names) or 'no script'}, matrix.framework "
            f"{', '.join(config.matrix.framework)}; expected a script of {root / 'commands'}/ "
            f"with framework {FRAMEWORK}, or neither"
        )
    return {name: load_script(described[name]) for name in names}


def measured_cells(
    config: Config, instances: dict[str, Instance], file: Path, scripts: Mapping[str, Script]
) -> list[Cell]:
    """Return the cells of the matrix, the benchmark setups to run, checked before anything starts. Raises UserError
    for a machine or a cell that cannot be measured.

    Parameters
    ----------
    config, instances, file, scripts
        The configuration; machines by name; the configuration's file, for error messages; scripts by model.
    """
    cells = expand_matrix(config.measure_on, config.matrix.model_dump(), config.exclude, scripts)
    require_possible(cells, instances, config.measure.xla, file)
    require_script_arguments([cell for cell in cells if cell.model in scripts], scripts, file)
    return cells


def expand_matrix(
    instances: Sequence[str],
    matrix: Mapping[str, Sequence[str | int]],
    exclude: Iterable[Mapping[Any, str | int]] = (),
    scripts: Collection[str] = (),
) -> list[Cell]:
    """Return a cell (benchmark setup) for each combination of the axes' values, in the order of the lists, less those
    that an `exclude` entry matches. Raises UserError if an entry excludes nothing (a typing mistake that would cost
    hours).

    Parameters
    ----------
    instances, matrix, exclude, scripts
        Machines to measure on; values of the other axes by name (`model`, `batch_size`, `gpus`, `precision`,
        `variant`, `framework`); entries {column: value}, each of which leaves out the cells that agree with all of it;
        models that are scripts (framework `command`).
    """
    axes = {"instance": instances, **matrix}
    product = itertools.starmap(Cell, itertools.product(*(dict.fromkeys(axes[column]) for column in CELL_COLUMNS)))
    cells = [cell for cell in product if (cell.framework == FRAMEWORK) == (cell.model in scripts)]
    for number, entry in enumerate(exclude):
        remaining = [cell for cell in cells if not entry.items() <= cell._asdict().items()]
        if len(remaining) == len(cells):
            raise UserError(f"config: exclude[{number}] = {dict(entry)} matches no cell of the matrix")
        cells = remaining
    return cells


def merged(base: Any, over: Any) -> Any:
    """Return `base` with the values of `over`, mappings merged key by key; `over` if either is no mapping."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    return base | {key: merged(base.get(key), value) for key, value in over.items()}
