"""The plan that `sweetspot ask` speaks of: the page's, or decided anew for another use, number of jobs or deadline."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.asked import at_days, readable, verdict_anew
from sweetspot.decision.fits import apart
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import simulate
from sweetspot.errors import UserError
from sweetspot.files import read_parquet
from sweetspot.report.plan_part import OF_A_PLAN, OF_MONTHS, OF_PHASES
from sweetspot.report.tables import Tables
from sweetspot.study.study import Study

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly

Wanted = tuple[float | None, float | None, float | None]  # days of use a month, times the jobs, hours of the deadline
MOST_TIMES = 1000


def check_jobs(jobs: float | None, plans: Collection[str], study: str) -> None:
    """Refuse a factor that no plan could have; `plans`: those of months and of phases. Raises UserError."""
    if jobs is None:
        return
    if not 0 < jobs <= MOST_TIMES:
        raise UserError(f"--jobs is {jobs:g}; expected more than 0, at most {MOST_TIMES}: times the jobs of a plan")
    if not plans:
        raise UserError(f"--jobs is {jobs:g}; expected none: study {study} has no plan, of months or of phases")


def plan_tables(
    folder: Path,
    works: "Mapping[str, Monthly]",
    written: Path,
    options: pd.DataFrame,
    study: Study,
    wanted: Wanted,
    workload: str | None = None,
    model: str | None = None,
) -> Tables:
    """The tables OF_A_PLAN and `verdict`: those of `folder` (results/STUDY/comparison), or, with their rows of
    `queue`, anew for what is `wanted`. `works`: of months; `written`: config/studies/STUDY; `workload`: of its
    deadlines this one alone; `model`: that of the headline.
    """
    days, jobs, due = wanted
    files = {name: folder / f"{name}.parquet" for name in (*OF_A_PLAN, "verdict")}
    known = {name: read_parquet(file) for name, file in files.items() if file.is_file()}
    phased = len(known.get("plan_options", ())) > 0
    if wanted == (None, None, None) or (due is not None and not works and (days, jobs) == (None, None)):
        return known
    if not (works or phased):
        return known | {"verdict": _at_days(options, Settings.of(study), days, model)}
    found = {name: known[name] for name in (*OF_PHASES, "verdict") if name in known} if phased else {}
    if not works and (days, jobs) == (None, None):
        return found  # no deadline changes what is taken for all phases
    offers = _offers(folder.parent / "offers", study.name)
    if phased and (days, jobs) != (None, None):
        from sweetspot.commands.ask_phases import phases_anew  # lazily: it draws pricing in

        found = phases_anew(folder.parent, written, options, offers, study, days, jobs)
    if works:
        from sweetspot.decision.asked_plan import ask_plan  # lazily: it draws the mixes' modules in

        anew = ask_plan(works, options, offers, Settings.of(study), days, 1.0 if jobs is None else jobs, due)
        if workload is not None:
            rows = anew["deadlines"]
            anew["deadlines"] = rows[(rows["workload"] + "." + rows["class"]) == workload]
        found |= {name: anew[name] for name in (*OF_MONTHS, "queue", "verdict")}
    return found


def _at_days(options: pd.DataFrame, settings: Settings, days: float | None, model: str | None) -> pd.DataFrame:
    """The verdict of a study without a plan, owned machines used `days` a month."""
    rows, _ = apart(readable(options))
    rows = rows if days is None else at_days(rows, days)
    return verdict_anew(rows, simulate(rows, settings.seed), settings, model)


def _offers(folder: Path, study: str) -> pd.DataFrame:
    """The offers of all price lists. Raises UserError where there is none."""
    lists = sorted(folder.glob("*.parquet"))
    if not lists:
        raise UserError(f"{folder}: price lists are needed; `make report STUDY={study}` makes them")
    return pd.concat([read_parquet(file) for file in lists], ignore_index=True)
