"""Everything that a person wrote for a study, read as the workflow reads it; what is wrong is gathered, not raised."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sweetspot.bills.offers import check_instances
from sweetspot.bills.pricing import price_tables
from sweetspot.bills.together import (
    check_devices,
    check_free,
    check_terms,
    check_there,
    check_workloads,
    of_projects,
)
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.matrix.invocation import (
    check_answer_prices,
    check_machines,
    instance_files,
    measured_cells,
    merged,
    own_scripts,
    price_list_names,
)
from sweetspot.scaling.model_facts import network, unknown_network
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.claims import load_claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, instance_entries, load_instances
from sweetspot.study.log_sources import log_files
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.spelling import near
from sweetspot.study.stock import own_facts
from sweetspot.study.study import Study, check_study_name, load_study
from sweetspot.study.workloads import Plan, Runs, Training, load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, units_of
from sweetspot.throughput.time_to_target import read_times

if TYPE_CHECKING:
    import pandas as pd

Workload = Training | Runs | Plan
T = TypeVar("T")
RATES_APART = 0.01  # of one currency in two files, before it is worth a word
FIGURES = ("throughput.csv", "efficiency.csv", "time_to_target.csv")
WRITTEN = ("study.yaml", "instances.yaml", "workloads.yaml", "claims.yaml", "availability.yaml", *FIGURES)


@dataclass
class Findings:
    """What is wrong in a study, and what was read of it.

    errors: (file, sentence); warnings: (file, rule, sentence); unchecked: what waits for a file to be mended; read:
    what each file holds, in words.
    """

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def of(self, file: Path) -> Iterator[None]:
        """Keep what a UserError of the block says as mistakes of `file`."""
        try:
            yield
        except UserError as error:
            told = {sentence for _, sentence in self.errors}
            self.errors += [(str(file), sentence) for sentence in error.sentences if sentence not in told]

    def take(self, file: Path, reader: Callable[[], T], holds: Callable[[T], str]) -> T | None:
        """What `reader` makes of the file, or None where that is wrong; `holds`: what is in it, in words."""
        content = None
        with self.of(file):
            content = reader()
            self.read[str(file)] = holds(content)
        return content


@dataclass(frozen=True)
class _Parts:
    """What could be read. None: its file is wrong. `machines`: names also of those whose entry is wrong."""

    folder: Path
    study: Study | None
    instances: dict[str, Instance] | None
    machines: Collection[str] | None
    workloads: dict[str, Workload] | None
    price_lists: Sequence[str]


def read_study(name: str, root: Path) -> Findings:
    """All mistakes and warnings of the study `name` in the project whose config folder is `root`.

    Nothing is measured or written. Raises UserError where there is no such study to read.
    """
    folder, found = root / "studies" / name, Findings()
    check_study_name(name, folder.parent)
    if not folder.is_dir():
        load_study(folder)  # says which there are
    study = found.take(folder / "study.yaml", lambda: load_study(folder), lambda study: _count(study.sources, "source"))
    files = instance_files(root, name)
    instances = found.take(files[-1], lambda: load_instances(*files), lambda held: _count(held, "instance"))
    workloads = found.take(
        folder / "workloads.yaml",
        lambda: load_workloads(folder / "workloads.yaml"),
        lambda held: _count({name.partition(".")[0] for name in held}, "workload"),
    )
    price_lists: list[str] = []
    with found.of(folder / "prices"):
        price_lists = price_list_names(folder / "prices")
        if not price_lists:
            raise UserError(f"{folder / 'prices'}: no price list is there; expected at least one *.yaml")
    parts = _Parts(folder, study, instances, instances or _names(files), workloads, price_lists)
    _read_config(found, parts, root)
    _check_study(found, parts)
    _check_workloads(found, parts)
    for price_list in price_lists:
        _read_prices(found, parts, folder / "prices" / f"{price_list}.yaml")
    _read_figures(found, parts)
    claims = folder / "claims.yaml"
    if claims.is_file():
        found.take(claims, lambda: load_claims(claims), lambda held: _count(held, "claim"))
    stock = folder / "availability.yaml"
    if stock.is_file():
        found.take(stock, lambda: own_facts(stock), lambda held: _count(held, "figure"))
    _misnamed(found, folder)
    return found


def _count(held: Collection[Any], what: str) -> str:
    return f"{len(held)} {what}{'' if len(held) == 1 else 's'}"


def _names(files: Sequence[Path]) -> set[str] | None:
    """The names of instances whose entries are wrong; None where even those cannot be read."""
    try:
        return {name for file in files for name in instance_entries(file)}
    except UserError:
        return None


def _read_config(found: Findings, parts: _Parts, root: Path) -> None:
    """config.yaml with this study in it, and the cells that it measures."""
    file = root / "config.yaml"

    def read() -> Config:
        raw = load_yaml(file)
        return validated(Config, merged(raw, {"study": parts.folder.name}) if isinstance(raw, dict) else raw, file)

    config = found.take(file, read, lambda held: f"measures on {', '.join(held.measure_on) or 'nothing'}")
    if config is None or (parts.study is not None and not parts.study.measure):
        return
    if parts.instances is None:
        found.unchecked.append(f"{file}: whether its cells can be measured, before the instances are mended")
        return
    with found.of(file):
        measured_cells(config, parts.instances, file, own_scripts(config, root, file))


def _check_study(found: Findings, parts: _Parts) -> None:
    """What study.yaml names: machines, price lists, methods, other studies, logs."""
    study, file = parts.study, parts.folder / "study.yaml"
    if study is None:
        return
    if parts.machines is not None:
        with found.of(file):
            check_machines(study, parts.machines, file)
        with found.of(file):
            checked_catalogue(study.catalogue, parts.machines, parts.price_lists, file)
    with found.of(file):
        check_answer_prices(study, parts.price_lists, file)
    wrong = _method(study, file)
    for borrowed in study.borrow:
        if not figures_file(borrowed, parts.folder.parent).is_file():
            wrong.append(f"{file}: borrow names {borrowed!r}; expected a study with a throughput.csv")
    wrong += [
        f"{file}: logs name {log}; expected a file that exists"
        for log in log_files(study.logs, parts.folder)
        if not Path(log).is_file()
    ]
    for number, source in enumerate(study.logs):
        if source.gpu is None and parts.machines is not None and source.instance not in parts.machines:
            said = f"{file}: logs[{number}].instance is {source.instance!r}; expected one of instances.yaml, or a 'gpu'"
            wrong.append(said)
    found.errors += [(str(file), sentence) for sentence in wrong]
    for model in study.cells.model if study.targets else ():
        if model not in study.networks and not network(model).known:
            told = unknown_network(model)
            found.warnings.append((str(file), told["rule"], told["message"]))


def _method(study: Study, file: Path) -> list[str]:
    if study.method == "auto":
        return []
    from sweetspot.scaling.methods import METHODS  # the fits import scipy: half a second

    if study.method in METHODS:
        return []
    return [f"{file}: method is {study.method!r}; expected auto or one of {', '.join(METHODS)}"]


def _check_workloads(found: Findings, parts: _Parts) -> None:
    """The machines of the workloads, and models that nobody asks about."""
    file = parts.folder / "workloads.yaml"
    if parts.workloads is None:
        return
    if parts.machines is not None:
        with found.of(file):
            check_workloads(parts.workloads, parts.machines, file)
        with found.of(file):
            check_there(load_monthly(file), parts.machines, file)
    if parts.instances is not None:
        with found.of(file):
            check_devices(parts.workloads, parts.instances, file)
    asked = [] if parts.study is None else parts.study.cells.model
    plans = tuple(f"{name}." for name, work in parts.workloads.items() if isinstance(work, Plan))
    for name, work in parts.workloads.items():
        if name.startswith(plans):  # one of its jobs, which nobody wrote
            continue
        if asked and work.model is not None and work.model not in asked:
            words = f"{name}.model is '{work.model}', which cells.model of study.yaml does not hold; it gets no price"
            found.warnings.append((str(file), "model_not_asked", words))


def _read_prices(found: Findings, parts: _Parts, file: Path) -> None:
    """One price list and its lint; where it cannot be read, at least its machines."""
    prices = found.take(file, lambda: load_price_list(file), lambda held: _count(held.offers, "offer"))
    known = False
    if parts.machines is not None:
        with found.of(file):
            check_instances(_offered(file), parts.machines, str(file))
            known = True
    if prices is None or parts.instances is None or parts.study is None or not known:
        found.unchecked.append(f"{file}: its prices beside each other, before what is wrong above is mended")
        return
    study = parts.study
    _check_rate(found, study, prices, file)
    table, _, lint = price_tables(prices, file.stem, parts.instances, study.month_days, study.as_of, study.energy)
    for severity, rule, words in zip(lint["severity"], lint["rule"], lint["message"], strict=True):
        if severity == "warning":
            found.warnings.append((str(file), rule, words))
    if parts.workloads is not None:
        written = parts.folder / "workloads.yaml"
        monthly = load_monthly(written)
        with found.of(file):
            check_terms(parts.workloads, table, written, file)
        with found.of(file):
            check_free(monthly, table, written, file)
        told = [(str(written), one.rule, one.message) for one in of_projects(parts.workloads, monthly, table)]
        found.warnings += [one for one in told if one not in found.warnings]  # each list says it


def _check_rate(found: Findings, study: Study, prices: PriceList, file: Path) -> None:
    """Whether the page shows money at the rate at which this list's prices were converted."""
    shown = study.currency
    if shown is None:
        return
    for rate in prices.rates:
        if rate.currency == shown.code and abs(math.log(rate.usd.value / shown.usd_per_unit)) > RATES_APART:
            here, there = f"{rate.usd.value:g} USD here", f"{shown.usd_per_unit:g} in study.yaml: currency"
            found.warnings.append((str(file), "two_rates", f"1 {shown.code} is {here}, and {there}"))


def _offered(file: Path) -> list[str | None]:
    """The instance of each offer of a price list, which may be wrong elsewhere; None where it names none."""
    try:
        raw = load_yaml(file)
    except UserError:
        return []
    offers = raw.get("offers") if isinstance(raw, dict) else None
    names = [offer.get("instance") if isinstance(offer, dict) else None for offer in offers or []]
    return [name if isinstance(name, str) else None for name in names]


def _read_figures(found: Findings, parts: _Parts) -> None:
    """The tables of published figures and of one's own, those that the study has."""
    readers: tuple[Callable[[Path], pd.DataFrame], ...] = (read_published, read_efficiency, read_times)
    for name, reader in zip(FIGURES, readers, strict=True):
        file = parts.folder / name
        table = found.take(file, partial(reader, file), lambda held: _count(held, "row")) if file.is_file() else None
        if table is not None and reader is read_published:
            with found.of(file):
                units_of(table, file)
            with found.of(file):
                published_cells(table, parts.instances or {}, file)


def _misnamed(found: Findings, folder: Path) -> None:
    """Files that nothing reads and whose name is near to one that is read."""
    for file in sorted(folder.glob("*")):
        meant = near(file.name.lower(), [name for name in WRITTEN if not (folder / name).is_file()])
        if file.is_file() and file.name not in WRITTEN and meant is not None:
            found.warnings.append((str(file), "file_not_read", f"nothing reads this file; did you mean {meant}?"))
