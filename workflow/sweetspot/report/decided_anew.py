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
from sweetspot.report.rank_changes import SAME, cost_changes, price_changes, side_by_side
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import load_instances
from sweetspot.study.scenarios import Scenario, scenario_file, write_scenario
from sweetspot.study.settings import Settings
from sweetspot.study.stock import Known, load_availability
from sweetspot.study.workloads import load_monthly, load_needs, load_titles
from sweetspot.wording import SHARE, Money, percent

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
    known: Known | None = None

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
    """The study under other price lists: each is priced as `price_workloads` does, then all are compared.

    Raises UserError where a list does not fit the study.
    """
    inputs, work = inputs_under(lists, study), study.workloads
    needs, monthly, known = load_needs(work), load_monthly(work), study.known
    found = compare(inputs, study.settings, needs=needs, monthly=monthly, known=known)
    return State(
        inputs.offers, found["ranks"], answer_of(found["verdict"]), plans_of(found["verdict"], found["choices"])
    )


def judged_under(lists: Mapping[str, Path], study: Unpriced) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict and the choices of the study under other price lists, without what they rest on.

    Raises UserError where a list does not fit the study.
    """
    inputs, work = inputs_under(lists, study), study.workloads
    given = load_needs(work), load_monthly(work), load_titles(work)
    every, asked = asked_of(inputs, study.settings, *given, study.known)
    judged = judge(every, inputs.offers, asked, study.settings)
    return judged.verdict(study.settings, pd.DataFrame()), judged.choices


def inputs_under(lists: Mapping[str, Path], study: Unpriced) -> Inputs:
    """What the comparison reads, with each list priced as `price_workloads` does. Raises UserError."""
    throughput, extrapolation = (read_arrow(study.tables[name]) for name in ("throughput", "extrapolation"))
    priced: dict[str, list[pd.DataFrame]] = {kind: [] for kind in PRICED}
    for name, file in lists.items():
        made = price_study(
            throughput, extrapolation, file, study.workloads, study.instances, name,
            study.month_days, study.as_of, study.energy, study.price_paths,
        )  # fmt: skip
        for kind in PRICED:
            priced[kind].append(made[kind].to_pandas())
    speed = {name: read_parquet(file) for name, file in study.tables.items()}
    return Inputs(**{kind: together(tables) for kind, tables in priced.items()}, **speed)


def answer_of(verdict: pd.DataFrame) -> str | None:
    """The verdict on the work that a study is about and what to do, in words; None where there is none."""
    found = verdict[verdict["is_answer"].astype(bool)] if len(verdict) else verdict
    return f"{found['sentence'].iloc[0]} {found['do_this'].iloc[0]}" if len(found) else None


def plans_of(verdict: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """The verdict on each plan, of months or of phases: `workload`, `usd` of the project, `said`."""
    plans = set(choices.loc[choices["cost"].ne(SHARE), "workload"]) if len(choices) else set()
    found = verdict[verdict["workload"].isin(plans)] if len(verdict) else verdict
    found = found.assign(said=found["sentence"] + " " + found["do_this"])
    return found[["workload", "usd", "said"]].reset_index(drop=True)


def moved(before: State, after: State) -> pd.DataFrame:
    """What differs, one row a change, with COLUMNS; the first row has both answers (`said_before`, `said_after`).

    `what`: answer; plan (USD of a project, and what is the best for it); price (USD an hour of an offer), new, gone;
    rank, cost (USD of a workload). Offers are told apart by their price list, unlike in `difference`, where the
    cheapest offer of a machine stands for all.
    """
    answer = pd.DataFrame([{"what": "answer", "said_before": before.answer, "said_after": after.answer}])
    plans = side_by_side(before.plans, after.plans, ["workload"], "usd", "said").assign(what="plan")
    same = plans["said_before"].eq(plans["said_after"]) & (plans["change"].abs() <= SAME)
    prices = price_changes(before.offers, after.offers, OFFER)
    parts = [answer, plans[~same], prices, cost_changes(before.ranks, after.ranks)]
    table = pd.concat([part.reindex(columns=list(COLUMNS)).astype(object) for part in parts], ignore_index=True)
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
    into: Path,
) -> pd.DataFrame:
    """One row a scenario (SCENARIO_COLUMNS), the study itself first (`scenario` empty): the verdict on the answer's
    work, its best choice and what that costs, and whether it is the `same_answer` as planned (kind and choice).

    `planned`: tables `verdict` and `choices` of the study; `lists`: its price lists; `folder` of the scenarios' files;
    `into`: where each scenario's workloads and price lists are written. Raises UserError, one sentence a mistake of any
    scenario, before the first is decided.
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
    check_scenarios(scenarios, files, into)
    rows = [_scenario("", PLANNED, [], planned["verdict"], planned["choices"])]
    for name, one in scenarios.items():
        file = scenario_file(folder, name)
        workloads, written, changes = write_scenario(one, file, study.workloads, lists, into / name)
        try:
            verdict, choices = judged_under(written, replace(study, workloads=workloads))
        except UserError as error:
            raise UserError(f"{file}: with it {error}") from None
        rows.append(_scenario(name, one.title, changes, verdict, choices))
    return pd.DataFrame(
        [row | {"same_answer": _done(row) == _done(rows[0])} for row in rows], columns=list(SCENARIO_COLUMNS)
    )


def _scenario(
    name: str, title: str, changes: list[str], verdict: pd.DataFrame, choices: pd.DataFrame
) -> dict[str, object]:
    """What a verdict says; of no answer there are only the changes."""
    row: dict[str, object] = {"scenario": name, "title": title, "changes": changes}
    found = verdict[verdict["is_answer"].astype(bool)] if len(verdict) else verdict
    if found.empty:
        return row | {"sentence": "no answer: nothing does the work"}
    told = found.iloc[0]
    mine = choices[(choices["workload"] == told["workload"]) & (choices["choice"] == told["best"])].iloc[0]
    names = ("workload", "sentence", "kind", "best", "best_title", "confidence", "p_cheaper", "rival_title", "ratio")
    return row | {key: told[key] for key in names} | {key: mine[key] for key in OF_CHOICE}


def _done(row: Row) -> tuple[object, object]:
    """What is done, and with which machines: a mix by its title, for its key is the same whatever is in it."""
    return row.get("kind"), row.get("best_title")


def to_markdown(table: pd.DataFrame, money: Money) -> str:
    """The table for a terminal or a ticket: scenario, verdict, best, money a month with 90 %, what it changes."""
    lines = ["| scenario | verdict | best | a month | sure | differs by |", "|---|---|---|---|---|---|"]
    for row in table.to_dict("records"):
        paid = ""
        if pd.notna(row["usd_per_month"]):
            ends = " to ".join(money.words(row[f"usd_per_month_{end}"]).rpartition(" ")[0] for end in ("low", "high"))
            paid = f"{money.words(row['usd_per_month'])} ({ends})"
        elif pd.notna(row["usd"]):
            paid = f"{money.words(row['usd'])} in all"
        sure = "" if pd.isna(row["p_cheaper"]) else percent(float(row["p_cheaper"]))
        told = (row["title"], row["sentence"], row["best_title"] or "", paid, sure, "; ".join(row["changes"]) or "-")
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines) + "\n"
