"""The plan that `sweetspot ask` speaks of: the page's, or decided anew for another use, number of jobs or deadline."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.settings import Settings
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.report.plan_part import OF_A_PLAN
from sweetspot.report.tables import Tables
from sweetspot.study.study import Study

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly

Wanted = tuple[float | None, float | None, float | None]  # days of use a month, times the jobs, hours of the deadline
MOST_TIMES = 1000


def check_jobs(jobs: float | None, works: "Mapping[str, Monthly]", study: str) -> None:
    """Refuse a factor that no plan could have. Raises UserError."""
    if jobs is None:
        return
    if not 0 < jobs <= MOST_TIMES:
        raise UserError(f"--jobs is {jobs:g}; expected more than 0, at most {MOST_TIMES}: times the jobs of a month")
    if not works:
        raise UserError(f"--jobs is {jobs:g}; expected none: study {study} has no workload of months")


def plan_tables(
    folder: Path,
    works: "Mapping[str, Monthly]",
    options: pd.DataFrame,
    study: Study,
    wanted: Wanted,
    workload: str | None = None,
) -> Tables:
    """The tables OF_A_PLAN: those of `folder` (results/STUDY/comparison), or, with their rows of `queue`, anew for what
    is `wanted`; none without the work of months. `workload`: of its deadlines this one alone.
    """
    days, jobs, due = wanted
    if not works or wanted == (None, None, None):
        files = {name: folder / f"{name}.parquet" for name in OF_A_PLAN}
        return {name: read_parquet(file) for name, file in files.items() if file.is_file()}
    from sweetspot.decision.asked_plan import ask_plan  # lazily: it draws the mixes' modules in

    lists = sorted((folder.parent / "offers").glob("*.parquet"))
    if not lists:
        raise UserError(
            f"{folder.parent / 'offers'}: price lists are needed; `make report STUDY={study.name}` makes them"
        )
    offers = pd.concat([read_parquet(file) for file in lists], ignore_index=True)
    found = ask_plan(works, options, offers, Settings.of(study), days, 1.0 if jobs is None else jobs, due)
    if workload is not None:
        rows = found["deadlines"]
        found["deadlines"] = rows[(rows["workload"] + "." + rows["class"]) == workload]
    return {name: found[name] for name in (*OF_A_PLAN, "queue")}
