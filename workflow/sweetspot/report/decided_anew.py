"""A study decided anew on the same figures of speed: under the price lists of another day, or of scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.bills.pricing import StudyFiles, check_scenarios, price_study
from sweetspot.decision.compare import Inputs, asked_of, compare, judge, together
from sweetspot.errors import UserError
from sweetspot.files import read_arrow, read_parquet
from sweetspot.report.decision_text import verdict_rows
from sweetspot.report.notation import Row, records, rows_where
from sweetspot.report.rank_changes import change_table, cost_changes, price_changes
from sweetspot.report.sentences import filled
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import load_instances
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario
from sweetspot.study.settings import Settings
from sweetspot.study.stock import AvailabilityFacts, load_availability
from sweetspot.study.workloads import load_monthly, load_needs, load_titles
from sweetspot.wording import Money

PLANNED = "as planned"
OF_VERDICT = ("workload", "sentence", "kind", "best", "best_title", "confidence", "p_cheaper", "rival_title", "ratio")
OF_CHOICE = ("usd", "usd_low", "usd_high", "usd_per_month", "usd_per_month_low", "usd_per_month_high")
SCENARIO_COLUMNS = ("scenario", "title", "changes", *OF_VERDICT, *OF_CHOICE, "same_answer")
SPEED = ("throughput", "extrapolation", "efficiency", "left_out")
PRICED = ("costs", "offers", "plans", "price_lint")


@dataclass(frozen=True)
class State:
    """The result tables of a study under given price lists: its offers, ranks and verdicts."""

    offers: pd.DataFrame
    ranks: pd.DataFrame
    verdict: pd.DataFrame

    @property
    def answer(self) -> str | None:
        """The verdict and the advice in words (`answer_of`); None without a verdict."""
        return answer_of(self.verdict)


@dataclass(frozen=True)
class Unpriced:
    """All inputs of a comparison except price lists: files of result tables by name, workloads, machines, settings."""

    tables: Mapping[str, Path]
    workloads: Path
    instances: Sequence[Path]
    settings: Settings
    month_days: float
    as_of: date
    energy: Energy | None = None
    price_paths: bool | None = None
    known: AvailabilityFacts | None = None

    @classmethod
    def of_rule(cls, inputs: Mapping[str, Any], params: Any) -> "Unpriced":
        """Build from `inputs` (files by name) and `params` of a Snakemake rule. Raises UserError for wrong values."""
        as_of = date.fromisoformat(params.as_of)
        return cls(
            tables={name: Path(inputs[name]) for name in SPEED},
            workloads=Path(inputs["workloads"]),
            instances=[Path(file) for file in inputs["instances"]],
            settings=Settings(**params.settings),
            month_days=params.month_days,
            as_of=as_of,
            energy=None if params.energy is None else Energy.model_validate(params.energy),
            price_paths=params.price_paths,
            known=load_availability(next(iter(inputs["stock"]), None), as_of),
        )


def state_under(lists: Mapping[str, Path], study: Unpriced) -> State:
    """Price and compare a study anew under other price lists.

    Parameters
    ----------
    lists
        Files of the price lists, by the names of the study's own lists.
    study
        All other inputs of the comparison.

    Returns
    -------
    State
        Offers, ranks and verdicts under these lists, computed as the workflow's rules do.

    Raises
    ------
    UserError
        If a list does not fit the study.
    """
    inputs = inputs_under(lists, study)
    tables = compare(inputs, study.settings, **_work_of(study), known=study.known)
    return State(inputs.offers, tables["ranks"], tables["verdict"])


def verdict_under(lists: Mapping[str, Path], study: Unpriced) -> dict[str, pd.DataFrame]:
    """Return only the tables `verdict` and `choices`, by name, of a study under other price lists (files by name)."""
    inputs = inputs_under(lists, study)
    options, planned_work = asked_of(inputs, study.settings, **_work_of(study), known=study.known)
    result = judge(options, inputs.offers, planned_work, study.settings)
    return {"verdict": result.verdict(study.settings, pd.DataFrame()), "choices": result.choices}


def _work_of(study: Unpriced) -> dict[str, Any]:
    file = study.workloads
    return {"needs": load_needs(file), "monthly": load_monthly(file), "titles": load_titles(file)}


def inputs_under(lists: Mapping[str, Path], study: Unpriced) -> Inputs:
    """Return the input tables of a comparison: offers and costs priced by `lists`, and the study's other tables."""
    throughput, extrapolation = (read_arrow(study.tables[name]) for name in ("throughput", "extrapolation"))
    priced = [
        price_study(
            throughput, extrapolation, file, study.workloads, study.instances, name,
            study.month_days, study.as_of, study.energy, study.price_paths,
        )
        for name, file in lists.items()
    ]  # fmt: skip
    prices = {table: together([tables[table].to_pandas() for tables in priced]) for table in PRICED}
    return Inputs(**prices, **{name: read_parquet(file) for name, file in study.tables.items()})


def answer_of(verdict: pd.DataFrame) -> str | None:
    """Return in words the verdict on the study's main work and what to do; None if the table has no such verdict."""
    rows = (row for row in verdict_rows({"verdict": verdict}) if row["is_answer"])
    return next((f"{row['sentence']} {row['do_this']}" for row in rows), None)


def moved(before: State, after: State) -> pd.DataFrame:
    """List what differs between two states of a study.

    Parameters
    ----------
    before, after
        The two states. Offers of different price lists are different offers, unlike in `difference`.

    Returns
    -------
    pandas.DataFrame
        Table of `change_table`, one row per change; the first row has both answers (`said_before`, `said_after`).
    """
    answer = pd.DataFrame([{"what": "answer", "said_before": before.answer, "said_after": after.answer}])
    prices = price_changes(before.offers, after.offers)
    return change_table([answer, prices, cost_changes(before.ranks, after.ranks)])


def scenario_table(
    scenarios: Mapping[str, Scenario],
    study: Unpriced,
    lists: Mapping[str, Path],
    planned: Mapping[str, pd.DataFrame],
    folder: Path,
    scratch: Path,
) -> pd.DataFrame:
    """Compare a study anew under each of its scenarios.

    Parameters
    ----------
    scenarios
        The scenarios by name.
    study
        All inputs of the study but its price lists.
    lists
        Files of the study's price lists by name.
    planned
        The study's tables `verdict` and `choices` without a scenario.
    folder
        Folder with the files of the scenarios.
    scratch
        Folder to write each scenario's workloads and price lists to.

    Returns
    -------
    pandas.DataFrame
        One row per scenario (SCENARIO_COLUMNS), the study itself first with an empty `scenario`: the verdict on the
        main work, the best choice, its cost, and `same_answer`: whether kind and best choice are as planned.

    Raises
    ------
    UserError
        With one sentence per mistake in any scenario, before the first comparison.
    """
    files = StudyFiles(
        folder,
        study.workloads,
        lists,
        load_instances(*study.instances),
        study.month_days,
        study.as_of,
        study.energy,
        study.price_paths,
    )
    check_scenarios(scenarios, files, scratch)
    rows = [scenario_row("", PLANNED, [], planned)]
    for name, scenario in scenarios.items():
        file = scenario_file(folder, name)
        workloads, changed_lists, changes = write_scenario(scenario, file, study.workloads, lists, scratch / name)
        try:
            decided = verdict_under(changed_lists, replace(study, workloads=workloads))
        except UserError as error:
            raise UserError(f"{file}: with it {error}") from None
        rows.append(scenario_row(name, scenario.title, changes, decided))
    table = pd.DataFrame(rows, columns=list(SCENARIO_COLUMNS))
    # A mix is compared by its title, for its key is the same whatever is in it.
    actions = [(row.get("kind"), row.get("best_title")) for row in rows]
    return table.assign(same_answer=[action == actions[0] for action in actions])


def scenario_row(name: str, title: str, changes: list[str], decided: Mapping[str, pd.DataFrame]) -> Row:
    """Return one row {column: value} of `scenario_table`; without a verdict only the changes and a sentence.

    Parameters
    ----------
    name, title
        Key and title of the scenario.
    changes
        Differences from the study, in words.
    decided
        The tables `verdict` and `choices` with these changes.
    """
    row: dict[str, Any] = {"scenario": name, "title": title, "changes": changes}
    for verdict in filter(lambda verdict: verdict["is_answer"], verdict_rows(dict(decided))):
        (best,) = rows_where(decided, "choices", workload=verdict["workload"], choice=verdict["best"])
        return row | {key: verdict[key] for key in OF_VERDICT} | {key: best[key] for key in OF_CHOICE}
    return row | {"sentence": "no answer: nothing does the work"}


def to_markdown(table: pd.DataFrame, money: Money) -> str:
    """Return `scenario_table` as Markdown: scenario, verdict, best choice, cost a month (90 % range), differences."""
    return filled("scenarios.md.j2", {"rows": records(table), "money": money})
