"""The evidence's tables of what to do: verdicts, plans, later purchases, other prices, scenarios, what to find out."""

from collections.abc import Callable

import pandas as pd

from sweetspot.report.cited import Cells, Cited, Part
from sweetspot.report.notation import Row, missing, text
from sweetspot.report.tables import asked_model, leading, of_jobs, of_plans
from sweetspot.study.titles import class_title
from sweetspot.wording import ROUNDS, SHARE, percent

LEAST = 0.001  # of what the project costs: what is worth less is worth nothing to a buyer
PLAN = "comparison: all of the plan, by simulation"
TURNING = "comparison: the best mix with one figure moved, on the plan's draws"
MOVED = ["price", "new", "gone"]


def said(name: str) -> Callable[[Row], str]:
    """Cells of keys that are made of words, as words."""
    return lambda row: text(row.get(name)).replace("_", " ")


def first(table: pd.DataFrame, name: str, value: object) -> pd.DataFrame:
    """The rows with that value in a column before the others: of very many the page shows only so many."""
    return table.sort_values(name, key=lambda column: column != value, kind="stable") if len(table) else table


def when(months: float) -> str:
    """A purchase after so many months, in words."""
    return "at once" if months == 0 else f"in {months:g} month{'' if months == 1 else 's'}"


class PlanTables(Cited):
    """Makes these tables."""

    def verdict(self) -> Part:
        """The verdict on each single job: the best, what it is held against, by how much and how sure."""
        step, choices, table = "comparison: verdict, by simulation", self.table("choices"), self.table("verdict")
        jobs = set(choices.loc[choices["cost"] == SHARE, "workload"]) if len(choices) else set()
        return self.part(
            table[table["workload"].isin(jobs)] if len(table) else table,
            "job|best|held against|times as much|P(best is cheaper)|the answer", "workload_title", "best_title",
            "rival_title", self.made("ratio", step, unit="×"), self.probability("p_cheaper", step, none=True),
            "sentence",
        )  # fmt: skip

    def worth_knowing(self) -> Part:
        """The figures that are worth anything: more than their Monte Carlo error, and LEAST of what the project costs.

        Those of the answer's model first; the files hold the rest.
        """
        table, step = of_jobs(self.tables, "worth_knowing"), "comparison: EVPPI by regression on the draws"
        told = table
        if len(table):
            worth = (table["evppi_usd_low"] > 0) & (table["evppi_usd"] >= LEAST * table["project_usd"])
            told = first(table[worth], "model", asked_model(self.tables))
        head = "model|figure|value|unit|worth, USD|timing it costs, USD|timed on|the winner changes at"
        return self.part(told, head, self.model, *self._worth(step, "tornado"), of=len(table))

    def _worth(self, step: str, turning: str) -> list[Cells]:
        timing = "minutes of timing at the cheapest offer by the hour"
        return [
            "figure", self.made("value", step), "unit", self.made("evppi_usd", step),
            self.made("cost_to_learn_usd", timing), "learn_on_title", self.made("turning_point", turning),
        ]  # fmt: skip

    def choices(self) -> Part:
        """Every choice of the plans."""
        table = self.table("choices")

        def kind(row: Row) -> str:
            return "good" if row["is_best"] else "" if row["persistent"] else "interruptible"

        return self.part(
            table[table["cost"] != SHARE] if len(table) else table,
            "plan|choice|USD in all|USD a month|times the best|hours|device-hours|P(cheapest)|why it is not the answer",
            self.work, "title", *self.each(PLAN, "usd", "usd_per_month", "ratio", "hours", "device_hours"),
            self.probability("p_cheapest", PLAN, none=True), "why_not", kind=kind,
        )  # fmt: skip

    def jobs(self) -> Part:
        """One job of each class on each machine."""

        def name(row: Row) -> str:
            return f"{class_title(row['class'])}{' (urgent)' if row['urgent'] else ''}"

        def at_once(row: Row) -> str:
            return "" if missing(row["jobs_at_once"]) else f"{row['jobs_at_once']:g}"

        def kind(row: Row) -> str:
            return "" if row["status"] == "fits" else "failed"

        return self.part(
            self.table("jobs"), "workload|class|machine|hours of a job|USD of a job|at once|status", self.work, name,
            "title", *self.each("comparison: one job of each class", "hours", "usd"), at_once, "status", kind=kind,
        )  # fmt: skip

    def deadlines(self) -> Part:
        """The cheapest in time for each deadline that is asked for."""
        table, step = self.table("deadlines"), "comparison: deadlines"
        asked = table[table["is_asked"].astype(bool)] if len(table) else table
        if len(asked):
            asked = asked.assign(said_in=asked["class"].isna().map({True: "study.yaml", False: "workloads.yaml"}))

        def job(row: Row) -> str:
            return self.work(row) if missing(row["class"]) else class_title(row["class"])

        def cheapest(row: Row) -> str:
            return text(row["verdict"]) or text(row["title"]) or text(row["status"])

        chances = ("p_cheapest", "p_in_time", "p_result_in_time", "share_in_time")
        return self.part(
            asked, "job|within h|cheapest in time|hours|USD of one|beyond an ordinary one|P(cheapest)|P(in time)|"
            "P(from today)|others in time", job, self.made("within_hours", "{said_in}"), cheapest,
            *self.each(step, "hours", "usd", "usd_extra"), *(self.probability(name, step) for name in chances),
        )  # fmt: skip

    @property
    def _best(self) -> str:
        return "best" if leading(self.tables) == ROUNDS else "best mix"

    def plan_tornado(self) -> Part:
        """Each assumption of the plan from low to high."""
        margins = [self.made(name, TURNING, "none", unit="×") for name in ("margin", "margin_low", "margin_high")]
        return self.part(
            of_plans(self.tables, "tornado"),
            f"assumption|as planned|low|high|unit|next / {self._best}|at low|at high|what it does", "assumption",
            *(self.made(name, TURNING, "none") for name in ("value", "low", "high")), "unit", *margins, "text",
            kind="flips",
        )  # fmt: skip

    def plan_turning_points(self) -> Part:
        """From where on another choice is the best."""
        usd, there = ("usd", "in all") if leading(self.tables) == ROUNDS else ("usd_per_month", "a month")
        return self.part(
            of_plans(self.tables, "turning_points"),
            f"figure|side|turns at|as planned|unit|the {self._best} is then|USD {there} there", "assumption", "side",
            *self.each(TURNING, "turning_value", "value"), "unit", "to_title", self.made(usd, TURNING),
        )  # fmt: skip

    def plan_break_even(self) -> Part:
        """From when each machine for sale pays."""
        return self.part(
            of_plans(self.tables, "break_even"), "machine|by|pays from|as planned|unit|P(it pays)", "title",
            "assumption", *self.each(TURNING, "pays_from", "planned"), "unit", self.probability("p_pays", TURNING),
        )  # fmt: skip

    def plan_worth_knowing(self) -> Part:
        """What knowing each figure is worth for the plan."""
        table, step = of_plans(self.tables, "worth_knowing"), "comparison: EVPPI by regression on the plan's draws"
        head = f"figure|value|unit|worth, USD|timing it costs, USD|timed on|the {self._best} changes at"
        told = table[table["evppi_usd"] > 0] if len(table) else table
        return self.part(told, head, *self._worth(step, TURNING), of=len(table))

    def price_changes(self) -> Part:
        """The prices that moved, the largest change first; no rows for a study whose lists were never refreshed."""
        table, step = self.table("price_changes"), "comparison: price lists of two days"
        if len(table):
            moved = table[table["what"].isin(MOVED)]
            table = moved.sort_values("change", key=lambda change: -change.abs(), kind="stable")

        def option(row: Row) -> str:
            return f"{self.machine_of(row)}, {said('purchase')(row)}"

        def change(row: Row) -> str:
            return text(row["what"]) if missing(row["change"]) else f"{row['change']:+.1%}"

        def days(row: Row) -> str:
            told = [text(row[name])[:10] for name in ("as_of_before", "as_of_after") if not missing(row[name])]
            return " to ".join(dict.fromkeys(told))

        head = "option|price list|then, USD/hour|now, USD/hour|change|prices of"
        return self.part(table, head, option, "price_list", *self.each(step, "before", "after"), change, days)

    def scenarios(self) -> Part:
        """One row a scenario, the study as it is first; none for a study without."""
        step = "comparison: the study priced and decided anew with what the scenario changes"

        def sure(row: Row) -> str:
            return "" if missing(row["p_cheaper"]) else percent(float(row["p_cheaper"]))

        def changes(row: Row) -> str:
            return "; ".join(map(text, row["changes"])) or "nothing"

        def kind(row: Row) -> str:
            return "" if row["same_answer"] else "good"

        return self.part(
            self.table("scenarios"), "scenario|verdict|best|USD a month|USD|sure|differs by", "title", "sentence",
            "best_title", *self.each(step, "usd_per_month", "usd"), sure, changes, kind=kind,
        )  # fmt: skip
