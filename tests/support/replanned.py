"""A shipped study priced and decided anew with one figure of its files changed: who is the best then, in each work."""

import copy
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import yaml
from borrowed_tables import borrowed_tables
from phase_plans import best_of
from price_lists import price_study
from study_tables import STUDIES
from sweetspot.decision import simulate
from sweetspot.decision.compare import DecisionResult, Inputs, decide_study
from sweetspot.decision.monthly_work import MIX_DRAWS
from sweetspot.decision.options import build_options, records
from sweetspot.decision.verdict import set_aside
from sweetspot.study.instances import load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study
from sweetspot.study.workloads import load_monthly, load_needs
from sweetspot.throughput.speed_errors import Error, speed_error, speed_errors
from three_kinds import OF_OWN

SHARE, PLAN, MONTHS = "job", "plan", "monthly"  # kinds of work; the last two as workloads.yaml names them


class Replanned:
    """The files of a study as data, its speeds and options from its results; changed files go to the folder `where`."""

    def __init__(self, results: Path, where: Path) -> None:
        self.name, self.where, self.tables = results.name, where, borrowed_tables(results)
        name = self.name
        files = (STUDIES / name / "prices").glob("*.yaml")
        self.lists = {file.stem: yaml.safe_load(file.read_text()) for file in files}
        self.works = yaml.safe_load((STUDIES / name / "workloads.yaml").read_text())
        self.options = self.tables.comparison["options"]
        self.points = self.tables.comparison["turning_points"]

    def best(self, point: dict[str, Any], factor: float = 1.0) -> str:
        """What is the best for a point's work with its figure at a factor of what it is: of a job or a plan of phases
        the alternative, of months what is bought, else what is rented most.
        """
        lists, works = copy.deepcopy((self.lists, self.works))
        speeds = {"throughput": self.tables.throughput, "extrapolation": self.tables.extrapolation}
        quantity, subject = point["quantity"], point["subject"]
        work = works.get(point["workload"], {})
        kind = work.get("kind") if point["model"] is None or pd.isna(point["model"]) else SHARE
        if quantity == "speed":
            speeds, whose = self._faster(subject, factor)
            if kind == PLAN and work["instance"] in whose:  # the hours hold there: with another speed the work stays
                _longer(work, 1 / factor)
        elif quantity in ("jobs", "per_month", "growth_per_month"):
            _busier(work, quantity, subject, factor)
        else:
            self._priced(lists, quantity, subject, factor)
            if quantity == "months" and kind != SHARE:  # as much work in each month of the project
                work["months"] *= factor
                if kind == PLAN:
                    _longer(work, factor)
                for prices in lists.values():  # a study refuses a term that is longer than its project
                    prices["offers"] = [one for one in prices["offers"] if _term(one) <= work["months"]]
                lists = {name: prices for name, prices in lists.items() if prices["offers"]}
        inputs = self._inputs(lists, works, speeds)
        return {SHARE: self._job, PLAN: self._phases, MONTHS: self._months}[kind](inputs, point, works)

    def with_jobs(self, factor: float) -> pd.DataFrame:
        """The verdicts with every number of jobs a month written at a factor of what it is."""
        works = copy.deepcopy(self.works)
        for work in works.values():
            _busier(work, "jobs", None, factor)
        speeds = {"throughput": self.tables.throughput, "extrapolation": self.tables.extrapolation}
        inputs = self._inputs(self.lists, works, speeds)
        file = self._written("workloads", works, self.works)
        return self.decided(inputs, file).verdict(self._settings(), pd.DataFrame())

    def decided(self, inputs: Inputs, file: Path | None = None) -> DecisionResult:
        """All works of the study, decided anew; `file`: its workloads.yaml where that differs."""
        file = file or STUDIES / self.name / "workloads.yaml"
        return decide_study(inputs, self._settings(), needs=load_needs(file), monthly=load_monthly(file))

    def _phases(self, inputs: Inputs, *_: Any) -> str:
        return self._alternative(best_of(inputs, self._settings()))

    def _alternative(self, option: str) -> str:
        return str(self.options.set_index("option")["alternative"].groupby(level=0).first()[option])

    def _job(self, inputs: Inputs, point: dict[str, Any], _: Any) -> str:
        """What trains the model for the least, of what nobody takes away."""
        rows = build_options(inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, self._settings())
        works = load_monthly(STUDIES / self.name / "workloads.yaml").values()
        rows = set_aside(rows, {name for work in works for name in work.have})
        rows = rows[(rows["model"] == point["model"]) & rows["in_answer"].astype(bool)]
        stays = rows["persistent"].astype(bool) | rows["is_reference"].astype(bool)
        return self._alternative(rows[stays].sort_values("images_per_usd")["option"].iloc[-1])

    def _months(self, inputs: Inputs, point: dict[str, Any], works: dict[str, Any]) -> str:
        """What the best mix buys, else rents most."""
        file = self._written("workloads", works, self.works)
        monthly = {point["workload"]: load_monthly(file)[point["workload"]]}
        with patch.object(simulate, "speed_error", self._as_planned):
            (posed,) = decide_study(inputs, self._settings(), MIX_DRAWS, load_needs(file), monthly).months
        best = posed.mixes[0]
        return " + ".join(sorted(best.bought)) or best.done.lead

    def _as_planned(self, row: dict[str, Any]) -> Error:
        """The error of a figure at its planned value: the key of its draws has that value, and the mean of a thousand
        others is off by half a percent.
        """
        return self._planned_errors.get((row["option"], row["model"])) or speed_error(row)

    @cached_property
    def _planned_errors(self) -> dict[tuple[str, str], Error]:
        return {(row["option"], row["model"]): speed_error(row) for row in records(self.options)}

    def _priced(self, lists: dict[str, Any], quantity: str, subject: str | None, factor: float) -> None:
        named = self.options.drop_duplicates("option").set_index("option")
        alike = named[named["alternative"] == named["alternative"].get(subject)] if subject in named.index else named
        for name, prices in lists.items():
            for offer in prices["offers"]:
                purchase = offer.get("purchase", "on_demand")
                mine = ((alike["price_list"] == name) & (alike["instance"] == offer["instance"])
                        & (alike["purchase"] == purchase)).any()  # fmt: skip
                if quantity in ("usd_per_hour", "rents"):
                    if purchase != "own" and mine:
                        _dearer(offer, factor)
                elif purchase == "own" and (subject == name if quantity == "usd_per_kwh" else mine):
                    row = named[(named["instance"] == offer["instance"]) & (named["purchase"] == "own")]
                    if quantity == "residual_usd" and isinstance(offer["own"]["residual"], dict):
                        offer["own"]["residual"] = _dearer_when_sold(row.iloc[0], factor)
                        continue
                    _scaled(offer["own"], OF_OWN[quantity], factor)

    def _faster(self, error: str, factor: float) -> tuple[dict[str, pd.DataFrame], set[str]]:
        """Speeds with those of an error at a factor: of the machines that have it, and of the figure they stand on."""
        every = records(self.options)
        errors = speed_errors(every)
        # A point's error has the name of the first offer that the answer may take; of all offers another may be first.
        exact = {one for one in errors.values() if "|".join(map(str, one)) == error}
        named = exact or {errors[row["row"]] for row in every if "|".join(map(str, speed_error(row))) == error}
        rows = [row for row in every if errors[row["row"]] in named]
        kind, machines = error.split("|")[0], {row["instance"] for row in rows}
        values, models = {round(row["images_per_s"], 6) for row in rows}, {row["model"] for row in rows}
        found = {}
        for name, table in (("throughput", self.tables.throughput), ("extrapolation", self.tables.extrapolation)):
            own = table["instance"].isin(machines)
            if kind not in ("prediction", "arithmetic") and name == "throughput":
                own |= table["images_per_s"].round(6).isin(values)
            own &= table["model"].isin(models)
            columns = ["images_per_s", "images_per_s_low", "images_per_s_high"]
            found[name] = table.assign(
                **{column: table[column].mask(own, table[column] * factor) for column in columns}
            )
            machines |= set(table.loc[own, "instance"])
        return found, machines

    def _inputs(self, lists: dict[str, Any], works: dict[str, Any], speeds: dict[str, pd.DataFrame]) -> Inputs:
        study = _study(self.name)
        work = self._written("workloads", works, self.works)
        plain = speeds["throughput"] is self.tables.throughput and works == self.works
        made: dict[str, list[pd.DataFrame]] = {"costs": [], "offers": [], "plans": []}
        for name, prices in lists.items():
            if plain and prices == self.lists[name]:
                for kind, tables in made.items():
                    table = self.tables.priced[kind]
                    tables.append(table[table["price_list"] == name])
                continue
            file = self._written(name, prices, self.lists[name])
            found = price_study(
                speeds["throughput"], speeds["extrapolation"], file, work, [STUDIES / self.name / "instances.yaml"],
                name, study.month_days, study.as_of, study.energy, study.price_paths
            )  # fmt: skip
            for kind, tables in made.items():
                tables.append(found[kind])
        joined = {kind: pd.concat([one for one in tables if len(one)] or tables[:1]) for kind, tables in made.items()}
        empty = Inputs(*(pd.DataFrame() for _ in range(7)))
        return replace(empty, **{kind: table.reset_index(drop=True) for kind, table in joined.items()}, **speeds)

    def _settings(self) -> Settings:
        return Settings.of(_study(self.name), load_instances(STUDIES / self.name / "instances.yaml"))

    def _written(self, name: str, content: dict[str, Any], before: dict[str, Any]) -> Path:
        if content == before:
            return STUDIES / self.name / ("workloads.yaml" if name == "workloads" else f"prices/{name}.yaml")
        file = self.where / f"{name}.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return file


@cache
def _study(name: str):
    return load_study(STUDIES / name)


def _dearer_when_sold(row: pd.Series, factor: float) -> dict[str, Any]:
    """A curve that ends at a factor of what a machine is sold for, with its range."""
    ends = [float(row[f"residual_usd{end}"] / row["capex_usd"] * factor) for end in ("", "_low", "_high")]
    return {"points": [[float(row["months"]) / 12, *(min(1.0, end) for end in ends)]], "share": 1.0}


def _scaled(entry: dict[str, Any], name: str, factor: float) -> None:
    value = entry[name]
    if isinstance(value, dict):
        entry[name] = {key: end * factor if key in ("value", "low", "high") else end for key, end in value.items()}
    else:
        entry[name] = value * factor


def _dearer(offer: dict[str, Any], factor: float) -> None:
    """All that is paid for a rented machine."""
    made_of = offer.get("compose", {})
    for place in (offer, offer.get("commitment", {}), *(made_of.get(part, {}) for part in ("machine", "gpu"))):
        for name in ("per_hour", "per_month", "upfront"):
            if name in place:
                _scaled(place, name, factor)


def _term(offer: dict[str, Any]) -> float:
    return float(offer.get("commitment", {}).get("term_months", 0.0))


def _busier(work: dict[str, Any], quantity: str, subject: str | None, factor: float) -> None:
    """More work: longer jobs of a plan; more jobs a month, of all classes with their urgent ones, or of one without."""
    if "phases" in work:
        _longer(work, factor)
        return
    for job in work["jobs"]:
        urgent = f"{job['name']} (urgent)"
        if quantity == "growth_per_month" and job["name"] == subject:
            _scaled(job, quantity, factor)
        if quantity == "jobs" or (quantity == "per_month" and job["name"] == subject):
            _scaled(job, "per_month", factor)
        if "urgent_per_month" in job and (quantity == "jobs" or (quantity == "per_month" and urgent == subject)):
            _scaled(job, "urgent_per_month", factor)


def _longer(plan: dict[str, Any], factor: float) -> None:
    for phase in plan["phases"]:
        phase["hours"] *= factor
