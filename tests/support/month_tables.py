"""The comparison of a study with a monthly workload, by the library functions that the rules call."""

import shutil
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import yaml
from phase_plans import ANALYSES
from price_lists import price_study
from study_tables import STUDIES, throughput_of
from sweetspot.decision import compare as compare_module
from sweetspot.decision.compare import Inputs, compare
from sweetspot.report.tables import of_plans
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.study.instances import load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly, load_needs
from sweetspot.throughput.published import read_efficiency

PREDICTED = ("instance", "framework", "model", "batch_size", "gpus", "precision", "images_per_s", "headline", "source")


def month_tables(folder: Path, draws: int = 1000, known=None, turning: bool = True) -> dict[str, pd.DataFrame]:
    """The comparison's tables of the study in `folder`, without extrapolation; `costs` and `offers` beside them.

    The analyses of work of months, which take longer than all else, are empty but with `turning`.
    """
    study, instances = load_study(folder), load_instances(folder / "instances.yaml")
    throughput = throughput_of(study, instances, folder)
    work, machines = folder / "workloads.yaml", [folder / "instances.yaml"]
    made = [
        price_study(throughput, None, file, work, machines, file.stem, study.month_days, study.as_of)
        for file in sorted((folder / "prices").glob("*.yaml"))
    ]
    priced = {kind: pd.concat([tables[kind] for tables in made], ignore_index=True) for kind in made[0]}
    inputs = Inputs(
        **{kind: priced[kind] for kind in ("costs", "offers", "price_lint", "plans")},
        throughput=throughput,
        extrapolation=pd.DataFrame(columns=[*PREDICTED, "images_per_s_low", "images_per_s_high", "warnings"]),
        efficiency=study_efficiency(throughput, read_efficiency(folder / "efficiency.csv"), instances),
    )
    needs, monthly = load_needs(work), load_monthly(work)
    asked = compare_module.monthly_problem if turning else lambda *_: None
    with patch.object(compare_module, "monthly_problem", asked):
        found = compare(inputs, Settings.of(study, instances), draws, needs=needs, monthly=monthly, availability=known)
    return found | {"costs": priced["costs"], "offers": priced["offers"]}


class LabOfFive:
    """A copy of the study lab-of-five whose files can be edited: `edit("workloads.yaml", change)`."""

    def __init__(self, where: Path) -> None:
        self.folder = Path(shutil.copytree(STUDIES / "lab-of-five", where / "lab-of-five"))

    def edit(self, name: str, change) -> "LabOfFive":
        """`change` what stands in a file."""
        file = self.folder / name
        content = yaml.safe_load(file.read_text())
        change(content)
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return self

    def table(self, name: str, change) -> "LabOfFive":
        """The rows of a CSV file changed: `change` takes and returns a table."""
        file = self.folder / name
        change(pd.read_csv(file)).to_csv(file, index=False)
        return self

    def certain(self) -> "LabOfFive":
        """Every range taken out: each draw and each month is the central one."""
        for name in ("prices/ours.yaml", "prices/rent.yaml", "workloads.yaml"):
            self.edit(name, lambda content: content.update(_plain(content)))
        return self.table(
            "throughput.csv",
            lambda rows: rows.assign(images_per_s_low=rows["images_per_s"], images_per_s_high=rows["images_per_s"]),
        )

    def tables(self, draws: int = 400, turning: bool = False) -> dict[str, pd.DataFrame]:
        """The tables, the analyses of the plan alone; these are empty but with `turning`."""
        found = month_tables(self.folder, draws, turning=turning)
        return found | {name: of_plans(found, name) for name in ANALYSES} if turning else found


def _plain(content):
    """Each range of a file replaced by its value."""
    if isinstance(content, dict):
        return content["value"] if "low" in content else {name: _plain(one) for name, one in content.items()}
    return [_plain(one) for one in content] if isinstance(content, list) else content
