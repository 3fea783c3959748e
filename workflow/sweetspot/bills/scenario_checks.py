"""What is wrong in the scenarios of a study, found before any of them is decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sweetspot.bills.checks import check_owned
from sweetspot.bills.pricing import read_pricing_inputs
from sweetspot.errors import Faults
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario
from sweetspot.study.workloads import load_monthly


@dataclass(frozen=True)
class StudyFiles:
    """The files of a study that a scenario changes, and what they are read with.

    `price_lists`: file of each list by name; `month_days`: days of the study's month.
    """

    folder: Path
    workloads: Path
    price_lists: Mapping[str, Path]
    instances: Mapping[str, Instance]
    month_days: float
    as_of: date
    energy: Energy | None = None
    price_paths: bool | None = None


def check_scenarios(scenarios: Mapping[str, Scenario], study: StudyFiles, into: Path) -> None:
    """Write each scenario's files below `into` and refuse what does not fit, as pricing would.

    Parameters
    ----------
    scenarios
        By name, as `load_scenarios` reads them.
    study
        The study's own files.
    into
        Folder for the files; each scenario has one of its own in it.

    Raises
    ------
    UserError
        One sentence a mistake, naming the scenario's file.
    """
    faults = Faults()
    for name, scenario in scenarios.items():
        file, folder = scenario_file(study.folder, name), into / name
        with faults.gather():
            workloads, price_lists, _ = write_scenario(scenario, file, study.workloads, study.price_lists, folder)
            for sentence in _pricing_mistakes(workloads, price_lists, study):
                faults.add(f"{file}: with it {sentence.replace(f'{folder}/', '')}")
    faults.end()


def _pricing_mistakes(workloads: Path, price_lists: Mapping[str, Path], study: StudyFiles) -> Sequence[str]:
    faults, owned = Faults(), set[str]()
    terms = (study.month_days, study.as_of, study.energy, study.price_paths)
    for name, file in price_lists.items():
        with faults.gather():
            inputs = read_pricing_inputs(file, workloads, study.instances, name, *terms)
            owned |= set(inputs.offers.loc[inputs.offers["purchase"] == "own", "instance"])
    if not faults.sentences:
        with faults.gather():
            check_owned(load_monthly(workloads), owned, workloads)
    return list(dict.fromkeys(faults.sentences))
