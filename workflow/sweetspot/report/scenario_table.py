"""Scenarios side by side: what each makes of the study's answer, on the same figures of speed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.report.price_changes import Unpriced, judged_under
from sweetspot.study.scenarios import Scenario, write_scenario
from sweetspot.wording import Money, percent

PLANNED = "as planned"
OF_CHOICE = ("usd", "usd_low", "usd_high", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "usd_outcomes")
COLUMNS = (
    "scenario", "title", "changes", "workload", "sentence", "kind", "best", "best_title", *OF_CHOICE, "confidence",
    "p_cheaper", "rival_title", "ratio", "same_answer",
)  # fmt: skip


def scenario_table(
    scenarios: Mapping[str, Scenario],
    study: Unpriced,
    lists: Mapping[str, Path],
    planned: Mapping[str, pd.DataFrame],
    folder: Path,
    into: Path,
) -> pd.DataFrame:
    """One row a scenario (COLUMNS), the study itself first (`scenario` empty): the verdict on the answer's work, its
    best choice and what that costs, and whether it is the `same_answer` as planned (kind and choice).

    `planned`: tables `verdict` and `choices` of the study; `lists`: its price lists; `folder` of the scenarios' files;
    `into`: where each scenario's workloads and price lists are written. Raises UserError, one sentence a mistake of a
    scenario.
    """
    rows = [_row("", PLANNED, [], planned["verdict"], planned["choices"])]
    for name, one in scenarios.items():
        file = folder / f"{name}.yaml"
        workloads, written, changes = write_scenario(one, file, study.workloads, lists, into / name)
        try:
            verdict, choices = judged_under(written, replace(study, workloads=workloads))
        except UserError as error:
            raise UserError(f"{file}: with it {error}") from None
        rows.append(_row(name, one.title, changes, verdict, choices))
    return pd.DataFrame(
        [row | {"same_answer": _answer(row) == _answer(rows[0])} for row in rows], columns=list(COLUMNS)
    )


def _row(name: str, title: str, changes: list[str], verdict: pd.DataFrame, choices: pd.DataFrame) -> dict[str, object]:
    """What a verdict says; of no answer there are only the changes."""
    row: dict[str, object] = {"scenario": name, "title": title, "changes": changes}
    found = verdict[verdict["is_answer"].astype(bool)] if len(verdict) else verdict
    if found.empty:
        return row | {"sentence": "no answer: nothing does the work"}
    told = found.iloc[0]
    mine = choices[(choices["workload"] == told["workload"]) & (choices["choice"] == told["best"])].iloc[0]
    names = ("workload", "sentence", "kind", "best", "best_title", "confidence", "p_cheaper", "rival_title", "ratio")
    return row | {key: told[key] for key in names} | {key: mine[key] for key in OF_CHOICE}


def _answer(row: Mapping[str, object]) -> tuple[object, object]:
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
