"""A shipped study's plan of phases priced anew with one figure of its files changed: who is the best then."""

import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from borrowed_tables import borrowed_tables
from phase_plans import best_of
from price_lists import price_study
from study_tables import STUDIES
from sweetspot.decision.compare import Inputs
from sweetspot.decision.options import records
from sweetspot.report.tables import of_plans
from sweetspot.study.settings import Settings
from sweetspot.study.study import load_study
from sweetspot.throughput.speed_errors import speed_errors
from three_kinds import OF_OWN


class Replanned:
    """The files of a study as data, its speeds and options; `where`: a folder to write changed files to."""

    def __init__(self, name: str, where: Path) -> None:
        self.name, self.where, self.tables = name, where, borrowed_tables(name)
        self.lists = {
            file.stem: yaml.safe_load(file.read_text()) for file in (STUDIES / name / "prices").glob("*.yaml")
        }
        self.works = yaml.safe_load((STUDIES / name / "workloads.yaml").read_text())
        self.options = self.tables.comparison["options"]
        self.points = of_plans(self.tables.comparison, "turning_points")

    def best(self, point: pd.Series, factor: float) -> str:
        """The alternative that is the best with a point's figure at a factor of what it is."""
        lists, works = copy.deepcopy((self.lists, self.works))
        speeds = {"throughput": self.tables.throughput, "extrapolation": self.tables.scaling["extrapolation"]}
        quantity, subject = point["quantity"], point["subject"]
        plan = works[point["workload"]]
        if quantity == "speed":
            speeds, whose = self._faster(subject, factor)
            if plan["instance"] in whose:  # the hours hold on that machine: with another speed the work stays
                _longer(plan, 1 / factor)
        elif quantity == "jobs":
            _longer(plan, factor)
        else:
            self._priced(lists, quantity, subject, factor)
        option = best_of(self._inputs(lists, works, speeds), self._settings())
        return str(self.options.set_index("option")["alternative"].groupby(level=0).first()[option])

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
                    if quantity == "residual_usd":  # a sum instead of a curve, of a price without a range below it
                        offer["own"] |= {name: float(row[f"{name}_usd"].iloc[0]) for name in ("residual", "capex")}
                    _scaled(offer["own"], OF_OWN[quantity], factor)

    def _faster(self, error: str, factor: float) -> tuple[dict[str, pd.DataFrame], set[str]]:
        """Speeds with those of an error at a factor: of the machines that have it, and of the figure they stand on."""
        errors = speed_errors(records(self.options))
        rows = [row for row in records(self.options) if "|".join(map(str, errors[row["row"]])) == error]
        kind, machines = error.split("|")[0], {row["instance"] for row in rows}
        values = {round(row["images_per_s"], 6) for row in rows}
        found = {}
        for name, table in (
            ("throughput", self.tables.throughput),
            ("extrapolation", self.tables.scaling["extrapolation"]),
        ):
            own = table["instance"].isin(machines)
            if kind != "prediction" and name == "throughput":
                own |= table["images_per_s"].round(6).isin(values)
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
                name, study.month_days, study.as_of, study.energy, study.price_paths,
            )  # fmt: skip
            for kind, tables in made.items():
                tables.append(found[kind])
        joined = {kind: pd.concat([one for one in tables if len(one)]) for kind, tables in made.items()}
        empty = Inputs(*(pd.DataFrame() for _ in range(7)))
        return replace(empty, **{kind: table.reset_index(drop=True) for kind, table in joined.items()}, **speeds)

    def _settings(self) -> Settings:
        return Settings.of(_study(self.name))

    def _written(self, name: str, content: dict[str, Any], before: dict[str, Any]) -> Path:
        if content == before:
            found = STUDIES / self.name / ("workloads.yaml" if name == "workloads" else f"prices/{name}.yaml")
            return found
        file = self.where / f"{name}.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return file


@cache
def _study(name: str):
    return load_study(STUDIES / name)


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


def _longer(plan: dict[str, Any], factor: float) -> None:
    for phase in plan["phases"]:
        phase["hours"] *= factor
