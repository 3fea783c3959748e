"""What is wrong in the scenarios of a study, found before any of them is decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sweetspot.bills.checks import check_owned
from sweetspot.bills.pricing import PricingInputs, read_pricing_inputs
from sweetspot.errors import Faults, UserError
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario


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
        file = scenario_file(study.folder, name)
        with faults.gather():
            workloads, price_lists, _ = write_scenario(scenario, file, study.workloads, study.price_lists, into / name)
            faults.sentences += [
                f"{file}: with it {sentence.replace(f'{into / name}/', '')}"
                for sentence in _pricing_mistakes(workloads, price_lists, study)
            ]
    faults.end()


def read_offers(
    workloads: Path, price_lists: Mapping[str, Path], study: StudyFiles, faults: Faults
) -> list[PricingInputs]:
    """Read all price lists with the workloads; mistakes go to `faults`."""
    inputs = []
    terms = (study.month_days, study.as_of, study.energy, study.price_paths)
    for name, file in price_lists.items():
        with faults.gather():
            inputs.append(read_pricing_inputs(file, workloads, study.instances, name, *terms))
    return inputs


def _pricing_mistakes(workloads: Path, price_lists: Mapping[str, Path], study: StudyFiles) -> list[str]:
    faults = Faults()
    inputs = read_offers(workloads, price_lists, study, faults)
    if inputs and len(inputs) == len(price_lists):
        offers = [offer for priced in inputs for offer in priced.prices.offers]
        owned = {offer.instance for offer in offers if offer.own is not None}
        try:
            check_owned(inputs[0].monthly, owned, workloads)
        except UserError as error:
            faults.sentences += error.sentences
    return list(dict.fromkeys(faults.sentences))
