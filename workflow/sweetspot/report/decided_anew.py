"""A study decided anew on the same figures of speed: under the price lists of another day, or of scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.bills.pricing import StudyFiles, check_scenarios, price_study
from sweetspot.decision.compare import Inputs, compare, decide_study, together
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
    """The tables offers, ranks and verdict of a study under given price lists."""

    offers: pd.DataFrame
    ranks: pd.DataFrame
    verdict: pd.DataFrame


@dataclass(frozen=True)
class Unpriced:
    """All inputs of a comparison but price lists: files of result tables by name, workloads, machines, settings."""

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
        """Return all inputs of a study but price lists, from a Snakemake rule's `inputs` (files by name) and `params`
        (settings and day), to price it anew. Raises UserError if they are wrong.
        """
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
    """Return offers, ranks and verdict of a study, priced and decided anew under other price lists, as `diff` needs it.
    `lists`: path of a price list by the name of the study's own list. Raises UserError if one does not fit the study.
    """
    inputs = inputs_under(lists, study)
    tables = compare(inputs, study.settings, **_work_of(study), availability=study.known)
    return State(inputs.offers, tables["ranks"], tables["verdict"])


def verdict_under(lists: Mapping[str, Path], study: Unpriced) -> dict[str, pd.DataFrame]:
    """Return the tables {'verdict', 'choices'} of a study under a scenario's price lists, faster than `state_under`.
    `lists`: path of a price list by the name of the study's own list.
    """
    inputs = inputs_under(lists, study)
    result = decide_study(inputs, study.settings, **_work_of(study), availability=study.known)
    return {"verdict": result.verdict(study.settings, pd.DataFrame()), "choices": result.choices}


def _work_of(study: Unpriced) -> dict[str, Any]:
    """Return from workloads.yaml what `compare` takes: memory needs (`needs`), works of months, titles by key."""
    file = study.workloads
    return {"needs": load_needs(file), "monthly": load_monthly(file), "titles": load_titles(file)}


def inputs_under(lists: Mapping[str, Path], study: Unpriced) -> Inputs:
    """Return the tables from which a study is decided anew: its own speeds, and offers and costs priced by other lists.
    `lists`: path of a price list by the name of the study's own list.
    """
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
    """Return in words the verdict on the study's main work (of table `verdict`) and what to do; None without one."""
    rows = (row for row in verdict_rows({"verdict": verdict}) if row["is_answer"])
    return next((f"{row['sentence']} {row['do_this']}" for row in rows), None)


def moved(before: State, after: State) -> pd.DataFrame:
    """Return what an edit of prices did: a row per difference between two states of a study (table `price_changes`).
    The first row has both answers in words. Offers of different price lists are different, unlike in `difference`.
    """
    answers = {"said_before": answer_of(before.verdict), "said_after": answer_of(after.verdict)}
    prices, costs = price_changes(before.offers, after.offers), cost_changes(before.ranks, after.ranks)
    return change_table([pd.DataFrame([{"what": "answer", **answers}]), prices, costs])


def scenario_table(
    scenarios: Mapping[str, Scenario],
    study: Unpriced,
    lists: Mapping[str, Path],
    planned: Mapping[str, pd.DataFrame],
    folder: Path,
    scratch: Path,
) -> pd.DataFrame:
    """Return the study's answer under each of its scenarios (what-if changes), as the page and `compare-scenarios` show
    it. One row per scenario (SCENARIO_COLUMNS), the study itself first with an empty `scenario`: the verdict on the
    main work, the best choice, its cost, and `same_answer`: whether kind and best choice are as planned. Raises
    UserError with one sentence per mistake in any scenario, before the first comparison.

    Parameters
    ----------
    scenarios, study, lists
        The scenarios by name; all inputs of the study but its price lists; files of these by name.
    planned
        The study's tables `verdict` and `choices` without a scenario.
    folder, scratch
        Folder with the files of the scenarios; folder to write each scenario's workloads and price lists to.
    """
    instances, days = load_instances(*study.instances), study.month_days
    files = StudyFiles(folder, study.workloads, lists, instances, days, study.as_of, study.energy, study.price_paths)
    check_scenarios(scenarios, files, scratch)
    rows = [{"scenario": "", "title": PLANNED, "changes": [], **answer_columns(planned)}]
    for name, scenario in scenarios.items():
        file = scenario_file(folder, name)
        workloads, changed_lists, changes = write_scenario(scenario, file, study.workloads, lists, scratch / name)
        try:
            decided = verdict_under(changed_lists, replace(study, workloads=workloads))
        except UserError as error:
            raise UserError(f"{file}: with it {error}") from None
        rows.append({"scenario": name, "title": scenario.title, "changes": changes, **answer_columns(decided)})
    table = pd.DataFrame(rows, columns=list(SCENARIO_COLUMNS))
    # A mix is compared by its title, for its key is the same whatever is in it.
    actions = [(row.get("kind"), row.get("best_title")) for row in rows]
    return table.assign(same_answer=[action == actions[0] for action in actions])


def answer_columns(decided: Mapping[str, pd.DataFrame]) -> Row:
    """Return the verdict on the main work and the cost of its best choice as {column: value}, a row of
    `scenario_table`. `decided`: the tables `verdict` and `choices`; without a verdict only `sentence`, which says so.
    """
    for verdict in filter(lambda verdict: verdict["is_answer"], verdict_rows(dict(decided))):
        (best,) = rows_where(decided, "choices", workload=verdict["workload"], choice=verdict["best"])
        return {key: verdict[key] for key in OF_VERDICT} | {key: best[key] for key in OF_CHOICE}
    return {"sentence": "no answer: nothing does the work"}


def to_markdown(table: pd.DataFrame, money: Money) -> str:
    """Return the rows of `scenario_table` as Markdown: scenario, verdict, best choice, cost a month, differences."""
    return filled("scenarios.md.j2", {"rows": records(table), "money": money})
