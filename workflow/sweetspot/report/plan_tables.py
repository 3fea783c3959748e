"""The evidence's tables of what to do: verdicts, plans, later purchases, other prices, scenarios, what to find out."""

from functools import partial
from typing import Any

import pandas as pd

from sweetspot.report.cited import Cited, Column, Part
from sweetspot.report.notation import Row, missing, text
from sweetspot.report.tables import asked_model, leading, of_jobs, of_plans
from sweetspot.study.purchases import INTERRUPTIBLE
from sweetspot.study.titles import class_title
from sweetspot.wording import ROUNDS, SHARE, percent

LEAST = 0.001  # of what the project costs: what is worth less is worth nothing to a buyer
TIMING = "minutes of timing at the cheapest offer by the hour"
PLAN = "comparison: all of the plan, by simulation"
TURNING = "comparison: the best mix with one figure moved, on the plan's draws"
MOVED = ["price", "new", "gone"]


def said(name: str, row: Row) -> str:
    """A key that is made of words, as words."""
    return text(row.get(name)).replace("_", " ")


def first(table: pd.DataFrame, name: str, value: object) -> pd.DataFrame:
    """The rows with that value in a column before the others: of very many the page shows only so many."""
    return table.sort_values(name, key=lambda column: column != value, kind="stable") if len(table) else table


def good(name: str, row: Row) -> str:
    """The class of a row that is marked by a column."""
    return "good" if row[name] else ""


def interruptible(row: Row) -> str:
    """The class of a row whose machine can be taken away."""
    return "interruptible" if row["purchase"] in INTERRUPTIBLE else ""


class PlanTables(Cited):
    """Makes these tables."""

    def verdict(self) -> Part:
        """The verdict on each single job: the best, what it is held against, by how much and how sure."""
        step, choices, table = "comparison: verdict, by simulation", self.table("choices"), self.table("verdict")
        jobs = set(choices.loc[choices["cost"] == SHARE, "workload"]) if len(choices) else set()
        return self.part(
            table[table["workload"].isin(jobs)] if len(table) else table,
            [
                ("job", "workload_title"),
                ("best", "best_title"),
                ("held against", "rival_title"),
                ("times as much", self.made("ratio", step, unit="×")),
                ("P(best is cheaper)", self.probability("p_cheaper", step, none=True)),
                ("the answer", "sentence"),
            ],
        )

    def worth_knowing(self) -> Part:
        """The figures that are worth anything: more than their Monte Carlo error, and LEAST of what the project costs.

        Those of the answer's model first; the files hold the rest.
        """
        table, step = of_jobs(self.tables, "worth_knowing"), "comparison: EVPPI by regression on the draws"
        told = table
        if len(table):
            worth = (table["evppi_usd_low"] > 0) & (table["evppi_usd"] >= LEAST * table["project_usd"])
            told = first(table[worth], "model", asked_model(self.tables))
        turns = ("the winner changes at", self.made("turning_point", "tornado"))
        return self.part(told, [("model", self.model), *self.worth(step), turns], of=len(table))

    def worth(self, step: str) -> list[Column]:
        """What figures are worth, and what finding each out costs."""
        return [
            ("figure", "figure"),
            ("value", self.made("value", step)),
            ("unit", "unit"),
            ("worth, USD", self.made("evppi_usd", step)),
            ("timing it costs, USD", self.made("cost_to_learn_usd", TIMING)),
            ("timed on", "learn_on_title"),
        ]

    def choices(self) -> Part:
        """Every choice of the plans."""
        table = self.table("choices")

        def kind(row: Row) -> str:
            return "good" if row["is_best"] else "" if row["persistent"] else "interruptible"

        return self.part(table[table["cost"] != SHARE] if len(table) else table, [
            ("plan", self.work),
            ("choice", "title"),
            *self.each(PLAN, usd="USD in all", usd_per_month="USD a month", ratio="times the best", hours="hours",
                       device_hours="device-hours"),
            ("P(cheapest)", self.probability("p_cheapest", PLAN, none=True)),
            ("why it is not the answer", "why_not"),
        ], kind)  # fmt: skip

    def jobs(self) -> Part:
        """One job of each class on each machine."""

        def name(row: Row) -> str:
            return f"{class_title(row['class'])}{' (urgent)' if row['urgent'] else ''}"

        def at_once(row: Row) -> str:
            return "" if missing(row["jobs_at_once"]) else f"{row['jobs_at_once']:g}"

        def kind(row: Row) -> str:
            return "" if row["status"] == "fits" else "failed"

        return self.part(self.table("jobs"), [
            ("workload", self.work),
            ("class", name),
            ("machine", "title"),
            *self.each("comparison: one job of each class", hours="hours of a job", usd="USD of a job"),
            ("at once", at_once),
            ("status", "status"),
        ], kind)  # fmt: skip

    def deadlines(self) -> Part:
        """The cheapest in time for each deadline that is asked for."""
        table, step = self.table("deadlines"), "comparison: deadlines"

        def job(row: Row) -> str:
            return self.work(row) if missing(row["class"]) else class_title(row["class"])

        def within(row: Row) -> Any:
            return self.made("within_hours", "study.yaml" if missing(row["class"]) else "workloads.yaml")(row)

        def cheapest(row: Row) -> str:
            return text(row["verdict"]) or text(row["title"]) or text(row["status"])

        chances = {
            "p_cheapest": "P(cheapest)", "p_in_time": "P(in time)", "p_result_in_time": "P(from today)",
            "share_in_time": "others in time",
        }  # fmt: skip
        return self.part(table[table["is_asked"].astype(bool)] if len(table) else table, [
            ("job", job),
            ("within h", within),
            ("cheapest in time", cheapest),
            *self.each(step, hours="hours", usd="USD of one", usd_extra="beyond an ordinary one"),
            *((head, self.probability(name, step)) for name, head in chances.items()),
        ])  # fmt: skip

    @property
    def _best(self) -> str:
        return "best" if leading(self.tables) == ROUNDS else "best mix"

    def plan_tornado(self) -> Part:
        """Each assumption of the plan from low to high."""
        heads = {"margin": f"next / {self._best}", "margin_low": "at low", "margin_high": "at high"}
        table = of_plans(self.tables, "tornado")
        return self.part(table.drop(columns=["value_low", "value_high"], errors="ignore"), [
            ("assumption", "assumption"),
            *((head, self.made(name, TURNING, "value"))
              for name, head in {"value": "as planned", "low": "low", "high": "high"}.items()),
            ("unit", "unit"),
            *((head, self.made(name, TURNING, "none", unit="×")) for name, head in heads.items()),
            ("what it does", "text"),
        ], partial(good, "flips"))  # fmt: skip

    def plan_turning_points(self) -> Part:
        """From where on another choice is the best."""
        whole = leading(self.tables) == ROUNDS
        there = "USD in all there" if whole else "USD a month there"
        return self.part(of_plans(self.tables, "turning_points"), [
            ("figure", "assumption"),
            ("side", "side"),
            *self.each(TURNING, turning_value="turns at", value="as planned"),
            ("unit", "unit"),
            (f"the {self._best} is then", "to_title"),
            (there, self.made("usd" if whole else "usd_per_month", TURNING)),
        ])  # fmt: skip

    def plan_break_even(self) -> Part:
        """From when each machine for sale pays."""
        return self.part(of_plans(self.tables, "break_even"), [
            ("machine", "title"),
            ("by", "assumption"),
            *self.each(TURNING, pays_from="pays from", planned="as planned"),
            ("unit", "unit"),
            ("P(it pays)", self.probability("p_pays", TURNING)),
        ])  # fmt: skip

    def plan_worth_knowing(self) -> Part:
        """What knowing each figure is worth for the plan."""
        table = of_plans(self.tables, "worth_knowing")
        turns = (f"the {self._best} changes at", self.made("turning_point", TURNING))
        columns = [*self.worth("comparison: EVPPI by regression on the plan's draws"), turns]
        return self.part(table[table["evppi_usd"] > 0] if len(table) else table, columns, of=len(table))

    def later(self) -> Part:
        """Each machine bought at once, later and never, of every plan that asks; shaded: the cheapest of a plan."""
        table, step = self.table("later"), "comparison: renting until the purchase, by price paths"
        least = table.groupby("workload")["usd"].min() if len(table) else {}

        def bought(row: Row) -> str:
            if missing(row["box"]):
                return "never"
            when = "at once" if row["after_months"] == 0 else f"in {row['after_months']:g} months"
            return f"{text(row['box_title'])}, {when}"

        def until(row: Row) -> str:
            return text(row["until_title"]) or ("" if row["status"] == "ok" else text(row["status"]))

        def kind(row: Row) -> str:
            return "good" if row["usd"] == least[row["workload"]] else "" if row["status"] == "ok" else "failed"

        return self.part(table, [
            ("plan", self.work),
            ("bought", bought),
            ("rented until then", until),
            *self.each(step, box_usd="USD of the machine then", rent_usd="USD of renting", usd="USD in all",
                       saved_usd="USD less than at once"),
            ("P(less)", self.probability("p_saves", step, none=True)),
        ], kind)  # fmt: skip

    def price_changes(self) -> Part:
        """The prices that moved, the largest change first; no rows for a study whose lists were never refreshed."""
        table, step = self.table("price_changes"), "comparison: price lists of two days"
        if len(table):
            moved = table[table["what"].isin(MOVED)]
            table = moved.sort_values("change", key=lambda change: -change.abs(), kind="stable")

        def option(row: Row) -> str:
            return f"{self.machine(row['instance'])}, {said('purchase', row)}"

        def change(row: Row) -> str:
            return text(row["what"]) if missing(row["change"]) else f"{row['change']:+.1%}"

        def days(row: Row) -> str:
            told = [text(row[name])[:10] for name in ("as_of_before", "as_of_after") if not missing(row[name])]
            return " to ".join(dict.fromkeys(told))

        return self.part(table, [
            ("option", option),
            ("price list", "price_list"),
            *self.each(step, before="then, USD/hour", after="now, USD/hour"),
            ("change", change),
            ("prices of", days),
        ])  # fmt: skip

    def scenarios(self) -> Part:
        """One row a scenario, the study as it is first; none for a study without."""
        step = "comparison: the study priced and decided anew with what the scenario changes"

        def sure(row: Row) -> str:
            return "" if missing(row["p_cheaper"]) else percent(float(row["p_cheaper"]))

        def changes(row: Row) -> str:
            return "; ".join(map(text, row["changes"])) or "nothing"

        def kind(row: Row) -> str:
            return "" if row["same_answer"] else "good"

        return self.part(self.table("scenarios"), [
            ("scenario", "title"),
            ("verdict", "sentence"),
            ("best", "best_title"),
            *self.each(step, usd_per_month="USD a month", usd="USD"),
            ("sure", sure),
            ("differs by", changes),
        ], kind)  # fmt: skip
