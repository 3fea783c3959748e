"""Read everything that a person wrote for a study as the workflow reads it, and gather what is wrong."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from sweetspot.bills import checks
from sweetspot.bills.pricing import StudyFiles, check_scenarios, price_tables
from sweetspot.commands.render import render, to_json
from sweetspot.errors import UserError, refuse
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.facts.shipped_tables import table as shipped
from sweetspot.matrix import invocation
from sweetspot.scaling.networks import unlisted_network_warnings
from sweetspot.spelling import hint, slipped
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import checked_catalogue
from sweetspot.study.claims import load_claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance, load_instances, memory_warnings
from sweetspot.study.monthly import Monthly
from sweetspot.study.price_list import PriceList, history_days, load_price_list
from sweetspot.study.scenarios import load_scenarios
from sweetspot.study.stock import checked_facts
from sweetspot.study.study import Study, check_study_name, load_study, log_files
from sweetspot.study.workloads import ProjectPlan, Runs, Training, load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import published_cells, read_efficiency, read_published
from sweetspot.throughput.time_to_target import FILE as TIMES_FILE
from sweetspot.throughput.time_to_target import read_times
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.plausibility import impossible_figures

ContentT = TypeVar("ContentT")
FOLDERS = ("prices", "scenarios", "logs")
YAML_FILES = ("study.yaml", "instances.yaml", "workloads.yaml", "claims.yaml", "availability.yaml")
FILES = (*YAML_FILES, "throughput.csv", "efficiency.csv", "time_to_target.csv")
FEWEST_SAMPLES = 1000  # no data set is smaller; a job of runs (time_to_target.csv) may be one
# Results of a benchmark differ by up to 13 times in minutes x devices x peak; seconds are 60 times the minutes.
MINUTES_FACTOR = 20


@dataclass
class Findings:
    """Mistakes (file, sentence) and warnings (file, rule, sentence); `read`: number of entries by faultless file."""

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str, str]] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def collect(self, file: Path | str) -> Iterator[None]:
        """Keep a UserError or OSError of the `with` block as mistakes of `file`, so that checking goes on."""
        try:
            yield
        except UserError as error:
            self.add_errors(file, error.sentences)
        except OSError as error:
            self.add_errors(file, [f"{error.filename or file}: cannot be read ({error.strerror or error})"])

    def add_errors(self, file: Path | str, sentences: Collection[str]) -> None:
        """Add sentences as mistakes of `file`, unless they were added already."""
        earlier = {sentence for _, sentence in self.errors}
        self.errors += [(str(file), sentence) for sentence in sentences if sentence not in earlier]

    def check(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a check, and keep the UserError that it raises as mistakes of its last argument, the file."""
        with self.collect(arguments[-1]):
            function(*arguments)

    def warn(self, file: Path, rule: str, sentence: str) -> None:
        """Add a warning about `file`, unless it was added already."""
        if (str(file), rule, sentence) not in self.warnings:
            self.warnings.append((str(file), rule, sentence))

    def load(self, file: Path, reader: Callable[..., ContentT], *arguments: Any) -> ContentT | None:
        """Read a study's file by `reader(*arguments)`, count its entries and return its content; after a UserError,
        which is kept as mistakes of `file`, None, so that the check goes on.
        """
        content = None
        with self.collect(file):
            content = reader(*arguments)
            self.read[str(file)] = len(content) if isinstance(content, Collection) else 1
        return content


@dataclass(frozen=True)
class StudyContent:
    """What the files of a study hold; None for a file that is wrong. `workloads` are single jobs by name, those of
    months and phases among them; `monthly` the works of months.
    """

    folder: Path
    study: Study | None
    instance_file: Path
    instances: dict[str, Instance] | None
    workloads: dict[str, Training | Runs | ProjectPlan] | None
    monthly: dict[str, Monthly]
    price_lists: dict[str, PriceList | None]

    def price_file(self, name: str) -> Path:
        """Return the path of the price list called `name`."""
        return self.folder / "prices" / f"{name}.yaml"


def read_study(name: str, root: Path) -> Findings:
    """Check everything that a user wrote for the study called `name` and return all mistakes and warnings, without
    measuring or writing anything. `sweetspot check` prints them, and `new-study` refuses what has any. Checks that
    compare files need faultless ones. Raises UserError if the config folder `root` has no such study.
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
    _check_config(findings, content, root / "config.yaml")
    _check_study(findings, content)
    _check_workloads(findings, content)
    for price_list, prices in content.price_lists.items():
        if prices is not None and content.instances is not None:
            _check_prices(findings, content, price_list, prices, content.instances)
    _check_all_offers(findings, content)
    _check_tables(findings, content)
    _check_file_names(findings, folder)
    with findings.collect(folder / "scenarios"):
        _check_scenarios(findings, content)
    return findings


def run(study: str, config: Path, as_json: bool) -> int:
    """Run `sweetspot check`: print all mistakes and warnings of a study as text or JSON; return 2 with a mistake, else
    0.

    Parameters
    ----------
    study, config, as_json
        Name of the study, and the project's config folder; whether to print JSON. UserError for a missing study.
    """
    findings = read_study(study, config)
    content = {
        "study": study,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "read": [{"file": file, "entries": number} for file, number in findings.read.items()],
    }
    print(to_json(content) if as_json else render("check.txt", **content))
    return 2 if findings.errors else 0


def _read_files(findings: Findings, folder: Path, root: Path) -> StudyContent:
    """Read the files of the study in `folder` for the checks that follow; mistakes are added to `findings`, and a file
    that has any is None in the result. `root`: the project's config folder.
    """
    study = findings.load(folder / "study.yaml", load_study, folder)
    files = invocation.instance_files(root, folder.name)
    instances = findings.load(files[-1], load_instances, *files)
    workload_file = folder / "workloads.yaml"
    workloads = findings.load(workload_file, load_workloads, workload_file)
    monthly = {} if workloads is None else load_monthly(workload_file)
    names: list[str] = []
    with findings.collect(folder / "prices"):
        names = invocation.price_list_names(folder / "prices")
        if not names:
            raise UserError(f"{folder / 'prices'}: no price list exists; expected at least one *.yaml")
    price_lists = {}
    for name in names:
        file = folder / "prices" / f"{name}.yaml"
        prices = price_lists[name] = findings.load(file, load_price_list, file)
        findings.read |= {} if prices is None else {str(file): len(prices.offers)}
    return StudyContent(folder, study, files[-1], instances, workloads, monthly, price_lists)


def _check_config(findings: Findings, content: StudyContent, file: Path) -> None:
    """Add to `findings` what is wrong in config.yaml (`file`): keys, and a matrix that the machines cannot run."""

    def read() -> Config:
        raw = load_yaml(file)
        chosen = {"study": content.folder.name}
        return validated(Config, invocation.merged(raw, chosen) if isinstance(raw, dict) else raw, file)

    config = findings.load(file, read)
    is_measured = content.study is None or content.study.measure
    if config is not None and is_measured and content.instances is not None:
        with findings.collect(file):
            names = [("measure_on", name) for name in config.measure_on]
            invocation.require_names(file, names, content.instances, f"one of {', '.join(sorted(content.instances))}")
            scripts = invocation.load_scripts(config, file.parent, file)
            invocation.measured_cells(config, content.instances, file, scripts)


def _check_study(findings: Findings, content: StudyContent) -> None:
    """Add to `findings` what study.yaml names and nothing in `content` (the study as read) has; misspelt devices."""
    study, file, devices = content.study, content.folder / "study.yaml", shipped_devices()
    for name, machine in (content.instances or {}).items():
        meant = None if devices.find(machine.gpu) else slipped(machine.gpu, devices.by_gpu)
        if meant is not None:
            sentence = f"{name}.gpu is '{machine.gpu}', which is unknown; did you mean '{meant}'?"
            findings.warn(content.instance_file, "near_name", sentence)
        for warning in memory_warnings(machine):
            findings.warn(content.instance_file, warning["rule"], f"{name}.{warning['message']}")
    if study is None:
        return
    if content.instances is not None:
        findings.check(invocation.check_machines, study, content.instances, file)
        findings.check(checked_catalogue, study.catalogue, content.instances, content.price_lists, file)
    findings.check(invocation.check_answer_prices, study, content.price_lists, file)
    findings.add_errors(file, [f"{file}: {sentence}" for sentence in _unknown_names(study, content)])
    for model in study.cells.model if study.targets else ():
        for warning in unlisted_network_warnings(model):
            findings.warn(file, warning["rule"], warning["message"])


def _unknown_names(study: Study, content: StudyContent) -> Iterator[str]:
    """Yield a clause of the user's error message per study, log, device or workload in study.yaml that is unknown."""
    for name in study.borrow:
        if not figures_file(name, content.folder.parent).is_file():
            yield f"borrow names {name!r}; expected a study with a throughput.csv"
    for log in log_files(study.logs, content.folder):
        if not Path(log).is_file():
            yield f"logs name {log}; expected a file that exists"
    for number, log_source in enumerate(study.logs):
        if log_source.gpu is None and log_source.instance not in (content.instances or [log_source.instance]):
            yield f"logs[{number}].instance is {log_source.instance!r}; expected one of instances.yaml, or a 'gpu'"
    machines = content.instances or {}
    gpus = {machine.gpu for machine in machines.values()}
    for device in study.energy.devices if study.energy else ():
        if gpus and device.gpu not in gpus and shipped_devices().find(device.gpu) is None:
            yield f"energy.devices names {device.gpu!r}; expected a gpu of instances.yaml{hint(device.gpu, gpus)}"
    providers = {machine.provider for machine in machines.values()}
    providers |= {"own", *(row["provider"] for row in shipped("providers"))}
    for site in study.energy.sites if study.energy and gpus else ():
        if site.provider not in providers:
            yield f"energy.sites names {site.provider!r}; expected a known provider{hint(site.provider, providers)}"
    if content.instances is not None and content.workloads is not None:
        titled = {*study.cells.model, *(work.model for work in content.workloads.values() if work.model)}
        titled |= {machine.provider for machine in machines.values()}
        for name in study.titles.keys() - titled:
            yield f"titles names {name!r}; expected a model or a provider of the study{hint(name, titled)}"
    if study.work is not None and content.workloads is not None:
        # The answer is about a work of months as a whole, not about one class of its jobs.
        classes = tuple(f"{name}." for name in content.monthly)
        names = [*(name for name in content.workloads if not name.startswith(classes)), *content.monthly]
        if study.work not in names:
            yield f"work is {study.work!r}; expected one of {', '.join(names)}{hint(study.work, names)}"


def _check_workloads(findings: Findings, content: StudyContent) -> None:
    """Add to `findings` where workloads.yaml (jobs to price) does not fit the machines and models of the study."""
    file, workloads = content.folder / "workloads.yaml", content.workloads
    if workloads is None:
        return
    if content.instances is not None:
        findings.check(checks.check_workloads, workloads, content.monthly, content.instances, file)
    models = [] if content.study is None else content.study.cells.model
    plans = tuple(f"{name}." for name, work in workloads.items() if isinstance(work, ProjectPlan))
    for name, work in workloads.items():
        is_job_of_plan = name.startswith(plans)  # Nobody wrote its model.
        if models and not is_job_of_plan and work.model is not None and work.model not in models:
            reason = f"which cells.model of study.yaml does not hold; it gets no price{hint(work.model, models)}"
            findings.warn(file, "model_not_asked", f"{name}.model is '{work.model}', {reason}")
        is_by_runs = (content.folder / TIMES_FILE).is_file()
        if isinstance(work, Training) and work.samples < FEWEST_SAMPLES and not is_by_runs:
            sentence = f"{name} has {work.samples:g} samples or tokens; expected {FEWEST_SAMPLES} or more, all of a job"
            findings.warn(file, "few_samples", sentence)


def _check_prices(
    findings: Findings, content: StudyContent, name: str, prices: PriceList, instances: dict[str, Instance]
) -> None:
    """Add to `findings` where a price list does not fit the study's machines, currency or workloads, or has odd
    prices. `name`, `prices`: the list; `content`: the study as read; `instances`: its machines by name.
    """
    file, work_file, study = content.price_file(name), content.folder / "workloads.yaml", content.study
    mistakes = len(findings.errors)
    findings.check(checks.check_instances, prices, instances, file)
    if study is None or len(findings.errors) > mistakes:
        return
    offers, _, lint = price_tables(prices, name, instances, study.month_days, study.as_of, study.energy)
    findings.check(checks.check_possible, lint, file)
    for row in lint[lint["severity"] == "warning"].itertuples():
        findings.warnings.append((str(file), row.rule, row.message))
    if content.workloads is not None:
        findings.check(checks.check_offers, content.workloads, content.monthly, offers, work_file, file)
        for warning in checks.project_findings(content.workloads, content.monthly, offers):
            findings.warn(work_file, warning.rule, warning.message)


def _check_all_offers(findings: Findings, content: StudyContent) -> None:
    """Add to `findings` what is wrong with the price lists of a study taken together: owned machines without a price,
    two exchange rates of one currency, offers in hand that no list has. `content`: the study as read.
    """
    lists = {name: prices for name, prices in content.price_lists.items() if prices is not None}
    if not lists or len(lists) < len(content.price_lists):
        return
    owned = {offer.instance for prices in lists.values() for offer in prices.offers if offer.own is not None}
    work_file, study_file = content.folder / "workloads.yaml", content.folder / "study.yaml"
    findings.check(checks.check_owned, content.monthly, owned, work_file)
    files_by_rate = {(rate.currency, rate.usd.value): name for name, prices in lists.items() for rate in prices.rates}
    if content.study is not None:
        findings.check(invocation.check_offers_in_hand, content.study, lists, study_file)
        if (currency := content.study.currency) is not None:
            files_by_rate[currency.code, currency.usd_per_unit] = "study"
    currencies = {row["currency"] for row in shipped("currencies")} | {"USD"}
    for code, rates in groupby(sorted(files_by_rate), key=itemgetter(0)):
        if code not in currencies:
            findings.warn(study_file, "unknown_currency", f"{code} is none of the ECB's; its rate is not checked")
        texts = [f"{usd:g} USD in {files_by_rate[code, usd]}.yaml" for _, usd in rates]
        if len(texts) > 1:
            findings.warn(study_file, "two_rates", f"one {code} is {' and '.join(texts)}; expected one rate")


def _check_tables(findings: Findings, content: StudyContent) -> None:
    """Add to `findings` the mistakes in optional files: published speeds and times, claims, availability."""
    machines, speeds = content.instances or {}, content.folder / "throughput.csv"
    readers: dict[str, Callable[[Path], Any]] = {
        speeds.name: read_published,
        "efficiency.csv": read_efficiency,
        TIMES_FILE: read_times,
        "claims.yaml": load_claims,
        "availability.yaml": lambda file: checked_facts(file, machines.values(), content.price_lists),
    }
    for name, reader in readers.items():
        file = content.folder / name
        with findings.collect(file):
            table = findings.load(file, reader, file) if file.is_file() else None
            if not isinstance(table, pd.DataFrame):
                continue
            if name == TIMES_FILE and content.study is not None:
                _check_times(findings, table, content.study.cells.model, file)
            if name == "efficiency.csv" and machines:
                findings.check(_check_efficiencies, table, machines, file)
            if file == speeds:
                findings.check(published_cells, table, machines, file)
                for figure in impossible_figures(table):
                    findings.warn(file, figure.rule, f"line {table.index[figure.row] + 2}: {figure.message}")
    findings.check(history_days, content.folder / "prices")


def _check_efficiencies(table: pd.DataFrame, machines: Mapping[str, Instance], file: Path) -> None:
    """Raise UserError for rows of efficiency.csv (`table`) of unknown machines, or of more devices than they have."""
    refuse(
        f"{file}, line {row.Index + 2}: {row.gpus} x {row.instance} by {row.base_instance}; instances.yaml has none"
        for row in table.itertuples()
        if not {row.instance, row.base_instance} <= machines.keys() or row.gpus > machines[row.instance].gpus
    )


def _check_times(findings: Findings, table: pd.DataFrame, models: Collection[str], file: Path) -> None:
    """Warn of benchmarks in time_to_target.csv (`table`) that are not among the study's `models`, and of seconds."""
    for name in sorted(set(table["benchmark"]).difference(models)):
        sentence = f"benchmark is '{name}', which cells.model of study.yaml does not hold{hint(name, models)}"
        findings.warn(file, "model_not_asked", sentence)
    devices = {gpu: shipped_devices().find(gpu) for gpu in table["gpu"]}
    peaks = table["gpu"].map({gpu: device.peak("fp16") for gpu, device in devices.items() if device}).astype(float)
    work = table["minutes"] * table["gpus"] * peaks.fillna(1)
    # A device of unknown peak is compared with itself alone.
    factors = work / work.groupby([table["benchmark"], table["gpu"].where(peaks.isna())], dropna=False).transform("min")
    for row, factor in factors[factors > MINUTES_FACTOR].items():
        sentence = f"line {row + 2}: minutes is {table.at[row, 'minutes']:g}, {factor:.3g} times the work of another"
        findings.warn(file, "unlike_minutes", f"{sentence}; in seconds?")


def _check_file_names(findings: Findings, folder: Path) -> None:
    """Add to `findings` each table or YAML file of a study that nothing reads, and what else seems misspelt."""
    with findings.collect(folder):
        patterns = ("*", "prices/*/*.yaml")
        present = {str(file.relative_to(folder)) for pattern in patterns for file in folder.glob(pattern)}
        missing = [name for name in (*FILES, *FOLDERS) if name not in present]
        for name in sorted(present.difference(FILES, FOLDERS)):
            suggestion = hint(name.lower(), missing)
            if suggestion or name.endswith((".csv", ".yaml", ".yml")):
                findings.add_errors(folder / name, [f"{folder / name}: nothing reads this{suggestion}"])


def _check_scenarios(findings: Findings, content: StudyContent) -> None:
    """Price each scenario (a variant of the study) as a run would and add its mistakes to `findings`; nothing is done
    if it has mistakes already. `content`: the study as read.
    """
    folder, study = content.folder / "scenarios", content.study
    if not folder.is_dir():
        return
    has_mistakes = bool(findings.errors)
    scenarios = findings.load(folder, load_scenarios, content.folder)
    if not scenarios or has_mistakes or study is None or content.instances is None:
        return
    work, lists = content.folder / "workloads.yaml", {name: content.price_file(name) for name in content.price_lists}
    facts = study.month_days, study.as_of, study.energy, study.price_paths
    files = StudyFiles(content.folder, work, lists, content.instances, *facts)
    with tempfile.TemporaryDirectory() as scratch, findings.collect(folder):
        check_scenarios(scenarios, files, Path(scratch))
