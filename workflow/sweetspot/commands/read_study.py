"""Read everything that a person wrote for a study as the workflow reads it, and gather what is wrong."""

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

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
    load_scripts,
    measured_cells,
    merged,
    price_list_names,
)
from sweetspot.scaling.networks import network_facts, unlisted_network_warning
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.claims import load_claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList, history_days, load_price_list
from sweetspot.study.scenarios import load_scenarios
from sweetspot.study.spelling import hint, near, slipped
from sweetspot.study.stock import checked_facts
from sweetspot.study.study import Study, check_study_name, load_study, log_files
from sweetspot.study.workloads import Plan, Runs, Training, load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import published_cells, read_efficiency, read_published, units_of
from sweetspot.throughput.time_to_target import read_times
from sweetspot.titles import PROVIDERS
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import warned_lines

ContentT = TypeVar("ContentT")
MAX_LOG_RATE_DIFFERENCE = 0.01  # between the rates of one currency in two files, before a warning
FOLDERS = ("prices", "scenarios", "logs")
FILES = (
    "study.yaml",
    "instances.yaml",
    "workloads.yaml",
    "claims.yaml",
    "availability.yaml",
    "throughput.csv",
    "efficiency.csv",
    "time_to_target.csv",
)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, e.g. '2 offers'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass
class Findings:
    """The mistakes and warnings of a study, and what its files hold.

    Attributes
    ----------
    errors
        Pairs of file and sentence.
    warnings
        Triples of file, rule and sentence.
    unchecked
        Checks that wait until a file is mended, one sentence each.
    read
        What each file holds, such as '2 offers', by file.

    """

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def collect(self, file: Path) -> Iterator[None]:
        """Keep the sentences of a UserError or an OSError of the block as mistakes of `file`."""
        sentences: Sequence[str] = ()
        try:
            yield
        except UserError as error:
            sentences = error.sentences
        except OSError as error:
            sentences = [f"{error.filename or file}: cannot be read ({error.strerror or error})"]
        known = {sentence for _, sentence in self.errors}
        self.errors += [(str(file), sentence) for sentence in sentences if sentence not in known]

    def check(self, file: Path, function: Callable[..., object], *arguments: Any) -> None:
        """Call a check and keep what it refuses as mistakes of `file`."""
        with self.collect(file):
            function(*arguments)

    def warn(self, file: Path, rule: str, sentence: str) -> None:
        """Add a warning unless it was given already."""
        if (str(file), rule, sentence) not in self.warnings:
            self.warnings.append((str(file), rule, sentence))

    def load(self, file: Path, reader: Callable[[], ContentT], noun: str = "") -> ContentT | None:
        """Return the content of a file, or None where it is wrong; `noun` names what its length counts."""
        content = None
        with self.collect(file):
            content = reader()
            if noun:
                self.count(file, content, noun)  # type: ignore[arg-type]
        return content

    def count(self, file: Path, content: Collection[Any], noun: str) -> None:
        """Note how many entries a file holds."""
        self.read[str(file)] = counted(len(content), noun)


@dataclass(frozen=True)
class StudyContent:
    """What the files of a study hold; None for a file that is wrong.

    `workloads` are single jobs by name, those of months and phases among them; `monthly` the works of months.
    """

    folder: Path
    study: Study | None
    instance_file: Path
    instances: dict[str, Instance] | None
    workloads: dict[str, Training | Runs | Plan] | None
    monthly: dict[str, Monthly]
    price_lists: dict[str, PriceList | None]

    @property
    def study_file(self) -> Path:
        """Return the path of study.yaml."""
        return self.folder / "study.yaml"

    @property
    def workload_file(self) -> Path:
        """Return the path of workloads.yaml."""
        return self.folder / "workloads.yaml"

    def price_file(self, name: str) -> Path:
        """Return the path of a price list."""
        return self.folder / "prices" / f"{name}.yaml"


def read_study(name: str, root: Path) -> Findings:
    """Find all mistakes and warnings of a study without measuring or writing anything.

    A check that compares files runs where the files it compares are right.

    Parameters
    ----------
    name
        Name of the study, a folder of `root`/studies.
    root
        Config folder of the project.

    Returns
    -------
    Findings
        Sentences by file.

    Raises
    ------
    UserError
        The study does not exist.

    """
    folder = root / "studies" / name
    try:
        check_study_name(name, folder.parent)
        if not folder.is_dir():
            load_study(folder)  # Raises the sentence that names the studies that exist.
    except OSError as error:
        raise UserError(f"{error.filename or folder}: cannot be read ({error.strerror or error})") from None
    findings = Findings()
    content = _read_files(findings, folder, root)
    _check_config(findings, content, root)
    _check_names(findings, content)
    _check_study(findings, content)
    _check_workloads(findings, content)
    for price_list, prices in content.price_lists.items():
        if prices is not None:
            _check_prices(findings, content, price_list, prices)
    _check_all_offers(findings, content)
    _check_figures(findings, content)
    _check_optional_files(findings, content)
    _check_file_names(findings, folder)
    with findings.collect(folder / "scenarios"):
        _check_scenarios(findings, content)
    return findings


def _read_files(findings: Findings, folder: Path, root: Path) -> StudyContent:
    """Read the files that every study has, each by itself."""
    study = findings.load(folder / "study.yaml", lambda: load_study(folder))
    if study is not None:
        findings.count(folder / "study.yaml", study.sources, "source")
    files = instance_files(root, folder.name)
    instances = findings.load(files[-1], lambda: load_instances(*files), "instance")
    workload_file = folder / "workloads.yaml"
    workloads = findings.load(workload_file, lambda: load_workloads(workload_file))
    monthly = {} if workloads is None else load_monthly(workload_file)
    if workloads is not None:
        findings.count(workload_file, {name.partition(".")[0] for name in workloads}, "workload")
    names: list[str] = []
    with findings.collect(folder / "prices"):
        names = price_list_names(folder / "prices")
        if not names:
            raise UserError(f"{folder / 'prices'}: no price list exists; expected at least one *.yaml")
    price_lists = {}
    for name in names:
        file = folder / "prices" / f"{name}.yaml"
        prices = price_lists[name] = findings.load(file, partial(load_price_list, file))
        if prices is not None:
            findings.count(file, prices.offers, "offer")
    return StudyContent(folder, study, files[-1], instances, workloads, monthly, price_lists)


def _check_config(findings: Findings, content: StudyContent, root: Path) -> None:
    file = root / "config.yaml"

    def read() -> Config:
        raw = load_yaml(file)
        return validated(Config, merged(raw, {"study": content.folder.name}) if isinstance(raw, dict) else raw, file)

    config = findings.load(file, read)
    if config is None:
        return
    findings.read[str(file)] = f"measures on {', '.join(config.measure_on) or 'nothing'}"
    if content.study is not None and not content.study.measure:
        return
    if content.instances is None:
        findings.unchecked.append(f"{file}: whether its cells can be measured, until the instances are mended")
        return
    with findings.collect(file):
        measured_cells(config, content.instances, file, load_scripts(config, root, file))


def _check_names(findings: Findings, content: StudyContent) -> None:
    """Warn of unknown devices and providers whose name is surely a misspelt one."""
    devices = shipped_devices()
    for name, machine in (content.instances or {}).items():
        values: list[tuple[str, str, Collection[str]]] = [("provider", machine.provider, PROVIDERS)]
        if not devices.find(machine.gpu):
            values.insert(0, ("gpu", machine.gpu, devices.by_gpu))
        for key, value, known in values:
            meant = slipped(value, known)
            if meant is not None:
                sentence = f"{name}.{key} is '{value}', which is unknown; did you mean '{meant}'?"
                findings.warn(content.instance_file, "near_name", sentence)


def _check_study(findings: Findings, content: StudyContent) -> None:
    """Check the machines, price lists, other studies and logs that study.yaml names."""
    study, file = content.study, content.study_file
    if study is None:
        return
    if content.instances is not None:
        findings.check(file, check_machines, study, content.instances, file)
        findings.check(file, checked_catalogue, study.catalogue, content.instances, content.price_lists, file)
    findings.check(file, check_answer_prices, study, content.price_lists, file)
    findings.check(file, refuse, (f"{file}: {sentence}" for sentence in _unknown_names(study, content)))
    for model in study.cells.model if study.targets else ():
        if not network_facts(model).is_listed:
            warning = unlisted_network_warning(model)
            findings.warn(file, warning["rule"], warning["message"])


def _unknown_names(study: Study, content: StudyContent) -> Iterator[str]:
    for name in study.borrow:
        if not figures_file(name, content.folder.parent).is_file():
            yield f"borrow names {name!r}; expected a study with a throughput.csv"
    for log in log_files(study.logs, content.folder):
        if not Path(log).is_file():
            yield f"logs name {log}; expected a file that exists"
    for number, log_source in enumerate(study.logs):
        if log_source.gpu is None and log_source.instance not in (content.instances or [log_source.instance]):
            yield f"logs[{number}].instance is {log_source.instance!r}; expected one of instances.yaml, or a 'gpu'"
    if study.work is not None and content.workloads is not None:
        # The answer is about a work of months as a whole, not about one class of its jobs.
        classes = tuple(f"{name}." for name in content.monthly)
        known = [*(name for name in content.workloads if not name.startswith(classes)), *content.monthly]
        if study.work not in known:
            yield f"work is {study.work!r}; expected one of {', '.join(known)}{hint(study.work, known)}"


def _check_workloads(findings: Findings, content: StudyContent) -> None:
    file, workloads = content.workload_file, content.workloads
    if workloads is None:
        return
    if content.instances is not None:
        findings.check(file, check_workloads, workloads, content.monthly, content.instances, file)
        findings.check(file, check_devices, workloads, content.instances, file)
    models = [] if content.study is None else content.study.cells.model
    plans = tuple(f"{name}." for name, work in workloads.items() if isinstance(work, Plan))
    for name, work in workloads.items():
        is_job_of_plan = name.startswith(plans)  # Nobody wrote its model.
        if models and not is_job_of_plan and work.model is not None and work.model not in models:
            sentence = (
                f"{name}.model is '{work.model}', which cells.model of study.yaml does not hold; it gets no price"
            )
            findings.warn(file, "model_not_asked", sentence + hint(work.model, models))


def _check_prices(findings: Findings, content: StudyContent, name: str, prices: PriceList) -> None:
    """Check one price list against the machines, the currency and the workloads of the study."""
    file, work_file, study = content.price_file(name), content.workload_file, content.study
    if content.instances is None:
        findings.unchecked.append(f"{file}: its prices, until the instances are mended")
        return
    mistakes = len(findings.errors)
    names = [offer.instance for offer in prices.offers]
    findings.check(file, check_instances, names, content.instances, str(file))
    if len(findings.errors) > mistakes:
        findings.unchecked.append(f"{file}: its prices, until the names of its instances are mended")
        return
    findings.check(file, check_possible, prices, content.instances, str(file), range(len(names)))
    if study is None or len(findings.errors) > mistakes:
        findings.unchecked.append(f"{file}: its prices beside each other, until what is wrong is mended")
        return
    _check_rate(findings, study, prices, file)
    offers, _, lint = price_tables(prices, name, content.instances, study.month_days, study.as_of, study.energy)
    for severity, rule, sentence in zip(lint["severity"], lint["rule"], lint["message"], strict=True):
        if severity == "warning":
            findings.warnings.append((str(file), rule, sentence))
    if content.workloads is None:
        return
    findings.check(file, check_offers, content.workloads, content.monthly, offers, work_file, file)
    findings.check(file, check_purchase_prices, content.monthly, offers, work_file, file)
    for warning in project_findings(content.workloads, content.monthly, offers):
        findings.warn(work_file, warning.rule, warning.message)


def _check_rate(findings: Findings, study: Study, prices: PriceList, file: Path) -> None:
    """Warn where the page shows money at another rate than that by which the list's prices are converted."""
    shown = study.currency
    for rate in prices.rates if shown is not None else ():
        if shown is None or rate.currency != shown.code:
            continue
        if abs(math.log(rate.usd.value / shown.usd_per_unit)) > MAX_LOG_RATE_DIFFERENCE:
            values = f"{rate.usd.value:g} USD here, and {shown.usd_per_unit:g} in study.yaml: currency"
            findings.warn(file, "two_rates", f"1 {shown.code} is {values}")


def _check_all_offers(findings: Findings, content: StudyContent) -> None:
    """Check what the study and its workloads say of the offers of all price lists together."""
    lists = {name: prices for name, prices in content.price_lists.items() if prices is not None}
    if not lists or len(lists) < len(content.price_lists):
        return
    owned = {offer.instance for prices in lists.values() for offer in prices.offers if offer.own is not None}
    findings.check(content.workload_file, check_owned, content.monthly, owned, content.workload_file)
    if content.study is not None:
        findings.check(content.study_file, check_offers_in_hand, content.study, lists, content.study_file)


def _check_figures(findings: Findings, content: StudyContent) -> None:
    file = content.folder / "throughput.csv"
    if file.is_file():
        table = findings.load(file, lambda: read_published(file), "row")
        if table is not None:
            findings.check(file, units_of, table, file)
            findings.check(file, published_cells, table, content.instances or {}, file)
            for line, rule, sentence in warned_lines(table):
                findings.warn(file, rule, f"line {line}: {sentence}")


def _check_optional_files(findings: Findings, content: StudyContent) -> None:
    folder, machines = content.folder, content.instances or {}
    readers: list[tuple[Path, Callable[[Path], Any], str]] = [
        (folder / "efficiency.csv", read_efficiency, "row"),
        (folder / "time_to_target.csv", read_times, "row"),
        (folder / "claims.yaml", load_claims, "claim"),
        (
            folder / "availability.yaml",
            lambda file: checked_facts(file, machines.values(), content.price_lists),
            "figure",
        ),
    ]
    for file, reader, noun in readers:
        with findings.collect(file):
            if file.is_file():
                findings.load(file, partial(reader, file), noun)
    with findings.collect(folder / "prices" / "history"):
        history_days(folder / "prices")


def _check_file_names(findings: Findings, folder: Path) -> None:
    """Find files and folders that nothing reads and whose name is near to one that is read."""
    with findings.collect(folder):
        for file in sorted(folder.glob("*")):
            if file.is_dir():
                meant = None if file.name in FOLDERS else near(file.name.lower(), FOLDERS)
                if meant is not None:
                    findings.errors.append((str(file), f"{file}: nothing reads this folder; did you mean {meant}?"))
            elif file.suffix.lower() in (".yml", ".yaml") and file.suffix != ".yaml":
                findings.errors.append((str(file), f"{file}: nothing reads this file; expected {file.stem}.yaml"))
            elif file.name not in FILES:
                meant = near(file.name.lower(), [name for name in FILES if not (folder / name).is_file()])
                if meant is not None:
                    findings.warn(file, "file_not_read", f"nothing reads this file; did you mean {meant}?")


def _check_scenarios(findings: Findings, content: StudyContent) -> None:
    """Price each scenario as a run would, where the files of the study have no mistake."""
    folder, study = content.folder / "scenarios", content.study
    if not folder.is_dir():
        return
    has_mistakes = bool(findings.errors)
    scenarios = findings.load(folder, lambda: load_scenarios(content.folder), "scenario")
    if not scenarios:
        return
    if has_mistakes or study is None or content.instances is None:
        findings.unchecked.append(f"{folder}: what the scenarios change, until the files of the study are mended")
        return
    files = StudyFiles(
        folder=content.folder,
        workloads=content.workload_file,
        price_lists={name: content.price_file(name) for name in content.price_lists},
        instances=content.instances,
        month_days=study.month_days,
        as_of=study.as_of,
        energy=study.energy,
        price_paths=study.price_paths,
    )
    with tempfile.TemporaryDirectory() as place, findings.collect(folder):
        check_scenarios(scenarios, files, Path(place))
