"""A study decided anew on the same figures of speed: under the price lists of another day, or of scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.bills.pricing import price_study
from sweetspot.bills.scenario_checks import StudyFiles, check_scenarios
from sweetspot.decision.compare import Inputs, asked_of, compare, judge, together
from sweetspot.errors import UserError
from sweetspot.files import read_arrow, read_parquet
from sweetspot.report.notation import records
from sweetspot.report.rank_changes import TOLERANCE, cost_changes, price_changes, side_by_side
from sweetspot.report.sentences import filled
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import load_instances
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario
from sweetspot.study.settings import Settings
from sweetspot.study.stock import AvailabilityFacts, load_availability
from sweetspot.study.workloads import load_monthly, load_needs, load_titles
from sweetspot.wording import SHARE, Money

OFFER = ["price_list", "instance", "purchase"]
COLUMNS = (
    "what", "price_list", "instance", "purchase", "model", "workload", "before", "after", "change", "rank_before",
    "rank_after", "as_of_before", "as_of_after", "said_before", "said_after",
)  # fmt: skip
NUMBERS = ("before", "after", "change", "rank_before", "rank_after")
PLANNED = "as planned"
OF_CHOICE = ("usd", "usd_low", "usd_high", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "usd_outcomes")
SCENARIO_COLUMNS = (
    "scenario", "title", "changes", "workload", "sentence", "kind", "best", "best_title", *OF_CHOICE, "confidence",
    "p_cheaper", "rival_title", "ratio", "same_answer",
)  # fmt: skip
SPEED = ("throughput", "extrapolation", "efficiency", "left_out")
Row = dict[str, object]
PRICED = ("costs", "offers", "plans", "price_lint")


@dataclass(frozen=True)
class State:
    """What a study says under the price lists of one day: its offers, ranks, the verdict in words, and the best
    for each plan (`plans_of`).
    """

    offers: pd.DataFrame
    ranks: pd.DataFrame
    answer: str | None
    plans: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["workload", "usd", "said"]))


@dataclass(frozen=True)
class Unpriced:
    """What no price changes: tables of results/<study>/ by name, and the files and facts that pricing needs."""

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
        """From the files and params of a rule that compares anew. Raises UserError."""
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
    """Compare a study under other price lists.

    Parameters
    ----------
    lists
        Files of the price lists, by the names of the study's own.
    study
        What no price changes.

    Returns
    -------
    State
        Each list is priced as the rule `price_workloads` does, then all are compared.

    Raises
    ------
    UserError
        If a list does not fit the study.
    """
    inputs, work = inputs_under(lists, study), study.workloads
    tables = compare(inputs, study.settings, needs=load_needs(work), monthly=load_monthly(work), known=study.known)
    verdict = tables["verdict"]
    return State(inputs.offers, tables["ranks"], answer_of(verdict), plans_of(verdict, tables["choices"]))


def verdict_under(lists: Mapping[str, Path], study: Unpriced) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdict and the choices of `state_under`, without computing what they rest on."""
    inputs, work = inputs_under(lists, study), study.workloads
    options, planned_work = asked_of(
        inputs, study.settings, load_needs(work), load_monthly(work), load_titles(work), study.known
    )
    result = judge(options, inputs.offers, planned_work, study.settings)
    return result.verdict(study.settings, pd.DataFrame()), result.choices


def inputs_under(lists: Mapping[str, Path], study: Unpriced) -> Inputs:
    """Return what the comparison reads; parameters and errors are those of `state_under`."""
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


def _answer_row(verdict: pd.DataFrame) -> Row | None:
    """Return the verdict on the work that a study is about; None where there is none."""
    rows = records(verdict[verdict["is_answer"].astype(bool)].head(1)) if len(verdict) else []
    return rows[0] if rows else None


def answer_of(verdict: pd.DataFrame) -> str | None:
    """Return the verdict on the work that a study is about and what to do, in words; None where there is none."""
    row = _answer_row(verdict)
    return None if row is None else f"{row['sentence']} {row['do_this']}"


def plans_of(verdict: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on each plan, of months or of phases: `workload`, `usd` of the project, `said`."""
    plans = set(choices.loc[choices["cost"].ne(SHARE), "workload"]) if len(choices) else set()
    rows = verdict[verdict["workload"].isin(plans)] if len(verdict) else verdict
    rows = rows.assign(said=rows["sentence"] + " " + rows["do_this"])
    return rows[["workload", "usd", "said"]].reset_index(drop=True)


def moved(before: State, after: State) -> pd.DataFrame:
    """List what differs between two states of a study.

    Parameters
    ----------
    before, after
        The states. Offers are told apart by their price list, unlike in `difference`.

    Returns
    -------
    pandas.DataFrame
        One row a change, with COLUMNS; the first has both answers (`said_before`, `said_after`). `what`: answer, plan
        (USD of a project, and what is best for it), price (USD an hour of an offer), new, gone, rank, cost (USD of a
        workload).
    """
    answer = pd.DataFrame([{"what": "answer", "said_before": before.answer, "said_after": after.answer}])
    plans = side_by_side(before.plans, after.plans, ["workload"], "usd", "said").assign(what="plan")
    is_unchanged = plans["said_before"].eq(plans["said_after"]) & (plans["change"].abs() <= TOLERANCE)
    prices = price_changes(before.offers, after.offers, OFFER)
    changes = [answer, plans[~is_unchanged], prices, cost_changes(before.ranks, after.ranks)]
    table = pd.concat([rows.reindex(columns=list(COLUMNS)).astype(object) for rows in changes], ignore_index=True)
    for name in COLUMNS:
        text = [None if pd.isna(value) else str(value) for value in table[name]]
        table[name] = pd.to_numeric(table[name]) if name in NUMBERS else text
    return table


def scenario_table(
    scenarios: Mapping[str, Scenario],
    study: Unpriced,
    lists: Mapping[str, Path],
    planned: Mapping[str, pd.DataFrame],
    folder: Path,
    scratch: Path,
) -> pd.DataFrame:
    """Decide a study under each of its scenarios.

    Parameters
    ----------
    scenarios
        The scenarios by name.
    study
        What no price changes.
    lists
        Files of its price lists by name.
    planned
        Its tables `verdict` and `choices`.
    folder
        Where the files of the scenarios lie.
    scratch
        Where each scenario's workloads and price lists are written.

    Returns
    -------
    pandas.DataFrame
        One row a scenario (SCENARIO_COLUMNS), the study itself first, with an empty `scenario`: the verdict on its
        answer's work, the best choice, what that costs, and whether it is the `same_answer` as planned.

    Raises
    ------
    UserError
        One sentence a mistake of any scenario, before the first is decided.
    """
    files = StudyFiles(
        folder=folder,
        workloads=study.workloads,
        price_lists=lists,
        instances=load_instances(*study.instances),
        month_days=study.month_days,
        as_of=study.as_of,
        energy=study.energy,
        price_paths=study.price_paths,
    )
    check_scenarios(scenarios, files, scratch)
    rows = [_scenario("", PLANNED, [], planned["verdict"], planned["choices"])]
    for name, scenario in scenarios.items():
        file = scenario_file(folder, name)
        workloads, changed_lists, changes = write_scenario(scenario, file, study.workloads, lists, scratch / name)
        try:
            verdict, choices = verdict_under(changed_lists, replace(study, workloads=workloads))
        except UserError as error:
            raise UserError(f"{file}: with it {error}") from None
        rows.append(_scenario(name, scenario.title, changes, verdict, choices))
    # A mix is compared by its title, for its key is the same whatever is in it.
    actions = [(row.get("kind"), row.get("best_title")) for row in rows]
    return pd.DataFrame(
        [row | {"same_answer": action == actions[0]} for row, action in zip(rows, actions, strict=True)],
        columns=list(SCENARIO_COLUMNS),
    )


def _scenario(name: str, title: str, changes: list[str], verdict: pd.DataFrame, choices: pd.DataFrame) -> Row:
    """Return a row of `scenario_table`; where nothing does the work only the changes."""
    row: Row = {"scenario": name, "title": title, "changes": changes}
    answer = _answer_row(verdict)
    if answer is None:
        return row | {"sentence": "no answer: nothing does the work"}
    of_work = choices[(choices["workload"] == answer["workload"]) & (choices["choice"] == answer["best"])]
    best = of_work.iloc[0]
    names = ("workload", "sentence", "kind", "best", "best_title", "confidence", "p_cheaper", "rival_title", "ratio")
    return row | {key: answer[key] for key in names} | {key: best[key] for key in OF_CHOICE}


def to_markdown(table: pd.DataFrame, money: Money) -> str:
    """Write `scenario_table` as Markdown: scenario, verdict, best, money a month with its 90 % range, what differs."""
    return filled("scenarios.md.j2", {"rows": records(table), "money": money})
