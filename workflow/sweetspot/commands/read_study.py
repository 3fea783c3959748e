"""Everything that a person wrote for a study, read as the workflow reads it; what is wrong is gathered, not raised."""

import math
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sweetspot.bills.lint.rules import check_possible
from sweetspot.bills.offers import check_instances
from sweetspot.bills.pricing import (
    check_devices,
    check_free,
    check_terms,
    check_there,
    check_workloads,
    of_projects,
    price_tables,
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
from sweetspot.study.base import gathering, validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.claims import load_claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, instance_entries, load_instances
from sweetspot.study.log_sources import log_files
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.study.spelling import hint, near, slipped
from sweetspot.study.stock import looks_file, named_facts, read_looks
from sweetspot.study.study import Study, check_study_name, load_study
from sweetspot.study.titles import PROVIDERS
from sweetspot.study.workloads import Plan, Runs, Training, load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, units_of
from sweetspot.throughput.time_to_target import read_times
from sweetspot.transfer.figures import shipped_devices

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
    what each file holds, in words; places: by file, where the entries of lists that are right stand in it.
    """

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)
    places: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    @contextmanager
    def of(self, file: Path) -> Iterator[None]:
        """Keep what a UserError of the block says as mistakes of `file`."""
        try:
            yield
        except UserError as error:
            told = {sentence for _, sentence in self.errors}
            self.errors += [(str(file), sentence) for sentence in error.sentences if sentence not in told]

    def wrong(self, file: Path) -> bool:
        """Whether a mistake of the file is told."""
        return any(name == str(file) for name, _ in self.errors)

    def take(self, file: Path, reader: Callable[[], T], holds: Callable[[T], str]) -> T | None:
        """What `reader` makes of what is right of the file, or None where nothing is; `holds`: that in words."""
        content = None
        with gathering() as gathered, self.of(file):
            content = reader()
            self.read[str(file)] = holds(content)
        self.errors += [(str(file), sentence) for sentence in gathered.sentences]
        self.places[str(file)] = gathered.places
        return content


@dataclass(frozen=True)
class _Parts:
    """What could be read. None: its file is wrong. `machines`: names also of those whose entry is wrong;
    `sound`: the others.
    """

    folder: Path
    study: Study | None
    instances: dict[str, Instance] | None
    machines: Collection[str] | None
    sound: dict[str, Instance]
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
    parts = _Parts(
        folder, study, instances, instances or _names(files), instances or _sound(files), workloads, price_lists
    )
    _read_config(found, parts, root)
    _check_names(found, parts, files[-1])
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
        machines = parts.sound.values()
        found.take(stock, lambda: named_facts(stock, machines, price_lists), lambda held: _count(held, "figure"))
    looks = looks_file(folder)
    if looks.is_file():
        found.take(looks, lambda: read_looks(looks), lambda held: _count(held, "look"))
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


def _sound(files: Sequence[Path]) -> dict[str, Instance]:
    """The machines whose own entries are right, where others' are wrong."""
    found: dict[str, Instance] = {}
    if _names(files) is not None:
        for name, entry in ((name, entry) for file in files for name, entry in instance_entries(file).items()):
            with suppress(UserError):  # told where all of them were read
                found[name] = validated(Instance, entry, name)
    return found


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


def _check_names(found: Findings, parts: _Parts, file: Path) -> None:
    """Devices and providers that nobody knows by a name that is surely another's."""
    devices = shipped_devices()
    for name, machine in parts.sound.items():
        meant = None if devices.find(machine.gpu) else slipped(machine.gpu, devices.by_gpu)
        said = [] if meant is None else [("gpu", machine.gpu, meant)]
        meant = slipped(machine.provider, PROVIDERS)
        said += [] if meant is None else [("provider", machine.provider, meant)]
        found.warnings += [
            (str(file), "near_name", f"{name}.{key} is '{wrong}', which nobody knows; did you mean '{right}'?")
            for key, wrong, right in said
        ]


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
        with found.of(file), gathering():  # its mistakes are told already
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
            found.warnings.append((str(file), "model_not_asked", words + hint(work.model, asked)))


class _Listed(NamedTuple):
    """What is right of a price list, and where its offers stand in the file."""

    prices: PriceList
    places: Sequence[int]

    def known(self, machines: Container[str], named: Container[str | None]) -> "_Listed":
        """The same of sound machines alone, and not of those that take the price of a wrong one, of all `named`."""
        sound = {offer.instance for offer in self.prices.offers if offer.instance in machines}
        rows = [
            row
            for row, offer in enumerate(self.prices.offers)
            if offer.instance in sound and (offer.same_price_as in sound or offer.same_price_as not in named)
        ]
        offers = [self.prices.offers[row] for row in rows]
        return _Listed(self.prices.model_copy(update={"offers": offers}), [self.places[row] for row in rows])


def _read_prices(found: Findings, parts: _Parts, file: Path) -> None:
    """One price list and its lint; where some of it is wrong, the lint of the rest."""
    named = _offered(file)
    prices = found.take(
        file, lambda: validated(PriceList, load_yaml(file), file), lambda held: _count(held.offers, "offer")
    )
    if parts.machines is not None:
        with found.of(file):
            check_instances(named, parts.machines, str(file))
    listed = None
    if prices is not None:
        places = found.places[str(file)].get("offers", range(len(prices.offers)))
        listed = _Listed(prices, places).known(parts.sound, named)
        with found.of(file):
            check_possible(listed.prices, parts.sound, str(file), listed.places)
        with found.of(file):
            check_together(listed.prices, file, listed.places)
            _lint(found, parts, file, listed)
    if listed is None or parts.study is None or len(listed.places) < len(named):
        found.unchecked.append(f"{file}: its prices beside each other, before what is wrong above is mended")


def _lint(found: Findings, parts: _Parts, file: Path, listed: _Listed) -> None:
    """The findings of offers beside each other, and what they and the workloads say of each other."""
    if (study := parts.study) is None or not listed.places:
        return
    _check_rate(found, study, listed.prices, file)
    table, _, lint = price_tables(listed.prices, file.stem, parts.sound, study.month_days, study.as_of, study.energy)
    for severity, rule, words in zip(lint["severity"], lint["rule"], lint["message"], strict=True):
        if severity == "warning":
            found.warnings.append((str(file), rule, words))
    if parts.workloads is not None:
        written = parts.folder / "workloads.yaml"
        with gathering():  # its mistakes are told already
            monthly = load_monthly(written)
        with found.of(file):
            check_terms(parts.workloads, table, written, file, listed.places)
        if not found.wrong(written):  # else a machine that is there may stand in what is wrong
            with found.of(file):
                check_free(monthly, table, written, file, listed.places)
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
    names = [
        offer.get("instance") if isinstance(offer, dict) else None
        for offer in (offers if isinstance(offers, list) else ())
    ]
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
