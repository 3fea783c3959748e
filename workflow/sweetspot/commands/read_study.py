"""Everything that a person wrote for a study, read as the workflow reads it; what is wrong is gathered, not raised."""

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sweetspot.bills.checks import (
    check_devices,
    check_instances,
    check_offers,
    check_owned,
    check_purchase_prices,
    check_workloads,
    project_findings,
)
from sweetspot.bills.lint.rules import check_possible
from sweetspot.bills.pricing import price_tables
from sweetspot.bills.scenario_checks import StudyFiles, check_scenarios
from sweetspot.errors import UserError, refuse
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.matrix.invocation import (
    check_answer_prices,
    check_machines,
    check_offers_in_hand,
    instance_files,
    measured_cells,
    merged,
    own_scripts,
    price_list_names,
)
from sweetspot.scaling.networks import network_facts, unlisted_network_warning
from sweetspot.study.base import gathering, validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.claims import load_claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, instance_entries, load_instances
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList, check_together, days_kept
from sweetspot.study.scenarios import load_scenarios
from sweetspot.study.spelling import hint, near, slipped
from sweetspot.study.stock import looks_file, named_facts, read_looks
from sweetspot.study.study import Study, check_study_name, load_study, log_files
from sweetspot.study.titles import PROVIDERS
from sweetspot.study.workloads import Plan, Runs, Training, load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, units_of
from sweetspot.throughput.time_to_target import read_times
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import warned_lines

if TYPE_CHECKING:
    import pandas as pd

Workload = Training | Runs | Plan
T = TypeVar("T")
RATES_APART = 0.01  # of one currency in two files, before it is worth a word
FIGURES = ("throughput.csv", "efficiency.csv", "time_to_target.csv")
FOLDERS = ("prices", "scenarios", "logs")
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
        """Keep what a UserError of the block says as mistakes of `file`, and what cannot be read."""
        sentences: Sequence[str] = ()
        try:
            yield
        except UserError as error:
            sentences = error.sentences
        except OSError as error:  # a folder that nobody may read says so at its first use
            sentences = [f"{error.filename or file}: cannot be read ({error.strerror or error})"]
        told = {sentence for _, sentence in self.errors}
        self.errors += [(str(file), sentence) for sentence in sentences if sentence not in told]

    def check(self, file: Path, check: Callable[..., object], *arguments: Any) -> None:
        """Keep what the check refuses as mistakes of `file`."""
        with self.of(file):
            check(*arguments)

    def warn(self, file: Path, rule: str, words: str) -> None:
        """One more warning, once."""
        if (said := (str(file), rule, words)) not in self.warnings:
            self.warnings.append(said)

    def take(self, file: Path, reader: Callable[[], T], holds: str | Callable[[T], str]) -> T | None:
        """What `reader` makes of what is right of the file, or None where nothing is; `holds`: that in words, or what
        is counted.
        """
        content = None
        with gathering() as gathered, self.of(file):
            content = reader()
            self.read[str(file)] = _count(content, holds) if isinstance(holds, str) else holds(content)
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
    try:
        check_study_name(name, folder.parent)
        if not folder.is_dir():
            load_study(folder)  # says which there are
    except OSError as error:
        raise UserError(f"{error.filename or folder}: cannot be read ({error.strerror or error})") from None
    study = found.take(folder / "study.yaml", lambda: load_study(folder), lambda held: _count(held.sources, "source"))
    files = instance_files(root, name)
    instances = found.take(files[-1], lambda: load_instances(*files), "instance")
    work = folder / "workloads.yaml"
    workloads = found.take(
        work, lambda: load_workloads(work), lambda held: _count({one.partition(".")[0] for one in held}, "workload")
    )
    price_lists: list[str] = []
    with found.of(folder / "prices"):
        price_lists = price_list_names(folder / "prices")
        if not price_lists:
            raise UserError(f"{folder / 'prices'}: no price list is there; expected at least one *.yaml")
    machines, sound = (instances, instances) if instances else _entries(files)
    parts = _Parts(folder, study, instances, machines, sound, workloads, price_lists)
    _read_config(found, parts, root)
    _check_names(found, parts, files[-1])
    _check_study(found, parts)
    _check_workloads(found, parts)
    offered = [_read_prices(found, parts, folder / "prices" / f"{price_list}.yaml") for price_list in price_lists]
    _check_offered(found, parts, [prices for prices in offered if prices is not None])
    _read_figures(found, parts)
    stock = folder / "availability.yaml"
    others: list[tuple[Path, Callable[[Path], Any], str]] = [
        (folder / "claims.yaml", load_claims, "claim"),
        (stock, lambda file: named_facts(file, sound.values(), price_lists), "figure"),
        (looks_file(folder), read_looks, "look"),
    ]
    for file, reader, what in others:
        with found.of(file):
            if file.is_file():
                found.take(file, partial(reader, file), what)
    with found.of(folder):
        _misnamed(found, folder)
    with found.of(folder / "prices" / "history"):
        days_kept(folder / "prices")
    with found.of(folder / "scenarios"):
        _read_scenarios(found, parts, price_lists)
    return found


def _count(held: Any, what: str) -> str:
    return f"{len(held)} {what}{'' if len(held) == 1 else 's'}"


def _entries(files: Sequence[Path]) -> tuple[Collection[str] | None, dict[str, Instance]]:
    """The names of instances some of which are wrong (None where even those cannot be read), and those that are not."""
    sound: dict[str, Instance] = {}
    try:
        entries = [pair for file in files for pair in instance_entries(file).items()]
    except UserError:
        return None, sound
    for name, entry in entries:
        with suppress(UserError):  # told where all of them were read
            sound[name] = validated(Instance, entry, name)
    return {name for name, _ in entries}, sound


def _read_config(found: Findings, parts: _Parts, root: Path) -> None:
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
        named: list[tuple[str, str, Collection[str]]] = [("provider", machine.provider, PROVIDERS)]
        if not devices.find(machine.gpu):
            named.insert(0, ("gpu", machine.gpu, devices.by_gpu))
        for key, wrong, known in named:
            if (meant := slipped(wrong, known)) is not None:
                words = f"{name}.{key} is '{wrong}', which nobody knows; did you mean '{meant}'?"
                found.warn(file, "near_name", words)


def _check_study(found: Findings, parts: _Parts) -> None:
    """What study.yaml names: machines, price lists, methods, other studies, logs."""
    study, file, machines = parts.study, parts.folder / "study.yaml", parts.machines
    if study is None:
        return
    if machines is not None:
        found.check(file, check_machines, study, machines, file)
        found.check(file, checked_catalogue, study.catalogue, machines, parts.price_lists, file)
    found.check(file, check_answer_prices, study, parts.price_lists, file)
    found.check(file, refuse, (f"{file}: {words}" for words in _wrongly_named(study, parts)))
    for model in study.cells.model if study.targets else ():
        if model not in study.networks and not network_facts(model).is_listed:
            told = unlisted_network_warning(model)
            found.warn(file, told["rule"], told["message"])


def _wrongly_named(study: Study, parts: _Parts) -> Iterator[str]:
    for borrowed in study.borrow:
        if not figures_file(borrowed, parts.folder.parent).is_file():
            yield f"borrow names {borrowed!r}; expected a study with a throughput.csv"
    for log in log_files(study.logs, parts.folder):
        if not Path(log).is_file():
            yield f"logs name {log}; expected a file that exists"
    if study.work is not None and (known := _works(parts)) and study.work not in known:
        yield f"work is {study.work!r}; expected one of {', '.join(known)}{hint(study.work, known)}"
    for number, source in enumerate(study.logs):
        if source.gpu is None and parts.machines is not None and source.instance not in parts.machines:
            yield f"logs[{number}].instance is {source.instance!r}; expected one of instances.yaml, or a 'gpu'"


def _works(parts: _Parts) -> list[str]:
    """What an answer may be about: workloads, and jobs of plans, but not the classes of a monthly one; [] where
    workloads.yaml is wrong.
    """
    if parts.workloads is None:
        return []
    with gathering():
        monthly = load_monthly(parts.folder / "workloads.yaml")
    classes = tuple(f"{name}." for name in monthly)
    return [*(name for name in parts.workloads if not name.startswith(classes)), *monthly]


def _check_workloads(found: Findings, parts: _Parts) -> None:
    file, works = parts.folder / "workloads.yaml", parts.workloads
    if works is None:
        return
    if parts.machines is not None:
        monthly: dict[str, Monthly] = {}
        with suppress(UserError), gathering():  # Its mistakes are reported where the workloads are read.
            monthly = load_monthly(file)
        found.check(file, check_workloads, works, monthly, parts.machines, file)
    if parts.instances is not None:
        found.check(file, check_devices, works, parts.instances, file)
    asked = [] if parts.study is None else parts.study.cells.model
    plans = tuple(f"{name}." for name, work in works.items() if isinstance(work, Plan))
    for name, work in works.items():
        written = not name.startswith(plans)  # else it is one of a plan's jobs, which nobody wrote
        if written and asked and work.model is not None and work.model not in asked:
            words = f"{name}.model is '{work.model}', which cells.model of study.yaml does not hold; it gets no price"
            found.warn(file, "model_not_asked", words + hint(work.model, asked))


def _check_offered(found: Findings, parts: _Parts, lists: Sequence[PriceList]) -> None:
    """What other files say of the offers of all lists together; nothing where a list is wrong."""
    if len(lists) < len(parts.price_lists) or not lists:
        return
    work = parts.folder / "workloads.yaml"
    owned = {offer.instance for prices in lists for offer in prices.offers if offer.own is not None}
    if parts.workloads is not None:
        with found.of(work), gathering():  # its mistakes are told already
            check_owned(load_monthly(work), owned, work)
    if parts.study is not None:
        file = parts.folder / "study.yaml"
        found.check(file, check_offers_in_hand, parts.study, dict(zip(parts.price_lists, lists, strict=True)), file)


def _read_scenarios(found: Findings, parts: _Parts, price_lists: Sequence[str]) -> None:
    """The scenarios, each priced as a run would; where the study's own files are wrong, only their own mistakes."""
    folder = parts.folder / "scenarios"
    if not folder.is_dir():
        return
    sound = not found.errors
    scenarios = found.take(folder, lambda: load_scenarios(parts.folder), "scenario")
    if scenarios is None or not scenarios:
        return
    if not sound or parts.study is None or parts.instances is None:
        found.unchecked.append(f"{folder}: what the scenarios make of the study, before its own files are mended")
        return
    files = StudyFiles(
        folder=parts.folder,
        workloads=parts.folder / "workloads.yaml",
        price_lists={name: parts.folder / "prices" / f"{name}.yaml" for name in price_lists},
        instances=parts.instances,
        month_days=parts.study.month_days,
        as_of=parts.study.as_of,
        energy=parts.study.energy,
        price_paths=parts.study.price_paths,
    )
    with tempfile.TemporaryDirectory() as place, found.of(folder):
        check_scenarios(scenarios, files, Path(place))


def _read_prices(found: Findings, parts: _Parts, file: Path) -> PriceList | None:
    """One price list and its lint; where some of it is wrong, the lint of the rest and None."""
    named = _offered(file)
    prices = found.take(
        file, lambda: validated(PriceList, load_yaml(file), file), lambda held: _count(held.offers, "offer")
    )
    if parts.machines is not None:
        found.check(file, check_instances, named, parts.machines, str(file))
    places: list[int] = []
    if prices is not None:
        where = found.places[str(file)].get("offers", range(len(prices.offers)))
        rows = [row for row, offer in enumerate(prices.offers) if offer.instance in parts.sound]
        places, prices = [where[row] for row in rows], _only(prices, rows)
        found.check(file, check_possible, prices, parts.sound, str(file), places)
        with found.of(file):
            check_together(prices, file, places)
            _lint(found, parts, file, prices, places)
    whole = prices is not None and len(places) == len(named)
    if not whole or parts.study is None:
        found.unchecked.append(f"{file}: its prices beside each other, before what is wrong above is mended")
    return prices if whole else None


def _only(prices: PriceList, rows: Sequence[int]) -> PriceList:
    return prices.model_copy(update={"offers": [prices.offers[row] for row in rows]})


def _lint(found: Findings, parts: _Parts, file: Path, prices: PriceList, places: Sequence[int]) -> None:
    """The findings of offers beside each other, and what they and the workloads say of each other.

    places: where the offers stand in the file.
    """
    if (study := parts.study) is None or not places:
        return
    _check_rate(found, study, prices, file)
    table, _, lint = price_tables(prices, file.stem, parts.sound, study.month_days, study.as_of, study.energy)
    for severity, rule, words in zip(lint["severity"], lint["rule"], lint["message"], strict=True):
        if severity == "warning":
            found.warnings.append((str(file), rule, words))
    if parts.workloads is None:
        return
    written = parts.folder / "workloads.yaml"
    with gathering():  # its mistakes are told already
        monthly = load_monthly(written)
    found.check(file, check_offers, parts.workloads, monthly, table, written, file, places)
    if all(name != str(written) for name, _ in found.errors):  # else a machine that is there may stand in what is wrong
        found.check(file, check_purchase_prices, monthly, table, written, file, places)
    for one in project_findings(parts.workloads, monthly, table):
        found.warn(written, one.rule, one.message)  # each list says it


def _check_rate(found: Findings, study: Study, prices: PriceList, file: Path) -> None:
    """Whether the page shows money at the rate at which this list's prices were converted."""
    if (shown := study.currency) is None:
        return
    for rate in prices.rates:
        if rate.currency == shown.code and abs(math.log(rate.usd.value / shown.usd_per_unit)) > RATES_APART:
            here, there = f"{rate.usd.value:g} USD here", f"{shown.usd_per_unit:g} in study.yaml: currency"
            found.warn(file, "two_rates", f"1 {shown.code} is {here}, and {there}")


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
    readers: tuple[Callable[[Path], pd.DataFrame], ...] = (read_published, read_efficiency, read_times)
    for name, reader in zip(FIGURES, readers, strict=True):
        file = parts.folder / name
        table = found.take(file, partial(reader, file), "row") if file.is_file() else None
        if table is not None and reader is read_published:
            found.check(file, units_of, table, file)
            found.check(file, published_cells, table, parts.instances or {}, file)
            for line, rule, words in warned_lines(table):
                found.warn(file, rule, f"line {line}: {words}")


def _misnamed(found: Findings, folder: Path) -> None:
    """Files that nothing reads and whose name is near to one that is read."""
    for file in sorted(folder.glob("*")):
        meant = near(file.name.lower(), [name for name in WRITTEN if not (folder / name).is_file()])
        if file.is_file() and file.name not in WRITTEN and meant is not None and file.suffix != ".yml":
            found.warn(file, "file_not_read", f"nothing reads this file; did you mean {meant}?")
        if file.is_file() and file.suffix.lower() in (".yml", ".yaml") and file.suffix != ".yaml":
            found.errors.append((str(file), f"{file}: nothing reads this file; expected {file.stem}.yaml"))
        if file.is_dir() and file.name not in FOLDERS and (other := near(file.name.lower(), FOLDERS)) is not None:
            found.errors.append((str(file), f"{file}: nothing reads this folder; did you mean {other}?"))
