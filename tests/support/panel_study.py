"""A small study whose page has every control of the panel, as files, and the library's tables of it."""

import copy
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from price_lists import cell, price_study
from sweetspot.bills.owning import cash_table
from sweetspot.decision.analyses.days_of_use import break_even
from sweetspot.decision.compare import Inputs, compare
from sweetspot.decision.contenders import found_contenders
from sweetspot.decision.options import CELL, FIGURE, build_options
from sweetspot.decision.simulate import simulate
from sweetspot.study.instances import load_instances
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study

SOURCE = {"currency": "USD", "as_of": "2018-07-01", "source": "this test"}
MODELS = ("resnet50", "vgg16")
# A box with all that a month and an hour can cost; another whose price no control moves; a cloud by the hour, taken
# away and by contract; one more with fees and whole hours; a price that drifts and one that nobody says moves.
BOX = {
    "capex": {"value": 9000.0, "low": 8000.0, "high": 9900.0}, "months": 30.0, "kw": 1.1, "load_share": 0.9, "pue": 1.2,
    "per_kwh": 0.25, "days_per_month": 12.0, "maintenance_per_month": 31.0, "staff_hours_per_month": 2.0,
    "staff_per_hour": 15.0, "downtime_share": 0.05, "discount_rate": 0.07,
    "residual": {"share": 0.8, "points": [[1.0, 0.8, 0.7, 0.9], [3.0, 0.4, 0.3, 0.6], [5.0, 0.1, 0.0, 0.2]]},
}  # fmt: skip
SMALL = {"capex": 2500.0, "months": 24.0, "kw": 0.4, "per_kwh": 0.2, "days_per_month": 15.0, "residual": 300.0}
DRIFT = {"kind": "drift", "change_per_year": -0.1}
AWAY = {"per_hour": 0.05, "checkpoint_s": 90.0, "restore_s": 400.0, "wait_s": 1800.0, "source": "this test"}
LISTS: dict[str, dict[str, Any]] = {
    "own": {"offers": [{"instance": "box", "purchase": "own", "own": BOX},
                       {"instance": "small-box", "purchase": "own", "own": SMALL}]},
    "cloud": {"offers": [{"instance": "cloud-1", "per_hour": 2.0, "trend": DRIFT},
                         {"instance": "cloud-4", "per_hour": 7.4}]},
    "spot": {"interruptions": AWAY, "offers": [{"instance": "cloud-1", "purchase": "spot", "per_hour": 0.7}]},
    "contract": {"days_per_month": 12.0, "offers": [{"instance": "cloud-4", "purchase": "reserved",
                 "commitment": {"term_months": 12, "per_hour": 3.1}}]},
}  # fmt: skip
MACHINES = {
    "box": ("box under the desk", "own", 4), "small-box": ("small box", "own", 1),
    "cloud-1": ("Cloud of one", "north", 1), "cloud-4": ("Cloud of four", "south", 4),
}  # fmt: skip
SPEEDS = {"box": (600.0, 350.0), "small-box": (170.0, 95.0), "cloud-1": (240.0, 160.0), "cloud-4": (900.0, 610.0)}
WORK = {
    "b-long": {"kind": "training", "model": "vgg16", "samples": 94720000},
    "c-short": {"kind": "training", "model": "vgg16", "samples": 5000000},
    "a-other": {"kind": "training", "model": "resnet50", "samples": 150000000},
}


def study(**changes: Any) -> Study:
    """The question of the study."""
    cells = {"model": list(MODELS), "batch_size": [64], "precision": "fp16", "headline_batch_size": 64}
    values = {"name": "panel", "title": "A box or a cloud", "question": "Which?", "as_of": "2018-07-01", "cells": cells,
              "sources": [{"id": "a", "title": "this test", "date": "2018"}], "reference": "box"}  # fmt: skip
    return Study.model_validate({**values, **changes}, strict=False)


def edited(**changes: Any) -> dict[str, dict[str, Any]]:
    """The price lists with inputs of the panel written into them, as a person would edit them.

    days, months, kwh: of every machine owned, days also of the contract; price: of the box, its ends in proportion;
    rent: % a year of every price by the hour.
    """
    lists = copy.deepcopy(LISTS)
    own = [offer["own"] for offer in lists["own"]["offers"]]
    for name, key in (("days", "days_per_month"), ("months", "months"), ("kwh", "per_kwh")):
        if name in changes:
            for one in own:
                one[key] = float(changes[name])
    if "days" in changes:
        lists["contract"]["days_per_month"] = float(changes["days"])
    if "price" in changes:
        ratio = changes["price"] / 9000.0
        own[0]["capex"] = {end: value * ratio for end, value in own[0]["capex"].items()}
    if "rent" in changes:
        for name in ("cloud", "spot"):
            for offer in lists[name]["offers"]:
                offer["trend"] = {"kind": "drift", "change_per_year": changes["rent"] / 100}
    return lists


def inputs(folder: Path, lists: dict[str, dict[str, Any]], question: Study) -> Inputs:
    """What the comparison reads, by the functions that the rules call."""
    folder.mkdir(parents=True, exist_ok=True)
    machines = {name: {"title": title, "provider": provider, "gpu": "a card", "gpus": gpus}
                for name, (title, provider, gpus) in MACHINES.items()}  # fmt: skip
    named = {"instances": machines, "workloads": {name: one | {"source": "this test"} for name, one in WORK.items()}}
    for name, content in named.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    rows = [cell(name, speed, MACHINES[name][2], model=model) | {"logical": False, "runs": 0, "warnings": None}
            for name, speeds in SPEEDS.items() for model, speed in zip(MODELS, speeds, strict=True)]  # fmt: skip
    throughput, made = pd.DataFrame(rows), []
    for name, content in lists.items():
        file = folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(SOURCE | content))
        files = (file, folder / "workloads.yaml", [folder / "instances.yaml"])
        made.append(price_study(throughput, None, *files, name, question.month_days, question.as_of))
    priced = {kind: pd.concat([one[kind] for one in made], ignore_index=True) for kind in made[0]}
    return Inputs(
        **{kind: priced[kind] for kind in ("costs", "offers", "price_lint", "plans")},
        throughput=throughput.assign(unit="images", as_of="2018-07-01"),
        efficiency=pd.DataFrame(columns=["model", "batch_size", "efficiency", "basis"]),
        extrapolation=pd.DataFrame(columns=[*CELL, *FIGURE, "headline", "basis", "source"]),
    )


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """All tables of the study."""
    question = study()
    given = inputs(folder, LISTS, question)
    asked = Settings.of(question, load_instances(folder / "instances.yaml"))
    others = ("throughput", "extrapolation", "efficiency", "costs", "offers")
    cash = cash_table(given.offers)
    rest = {"claims": pd.DataFrame(), "bills": pd.DataFrame(), "cash_flow": cash}
    return compare(given, asked, draws=50) | {name: getattr(given, name) for name in others} | rest


def answered(folder: Path, lists: dict[str, dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """What the panel shows, by the library: options, break-even days, who is judged and held against whom."""
    question = study(**settings)
    given = inputs(folder, lists, question)
    asked = Settings.of(question, load_instances(folder / "instances.yaml"))
    options = build_options(given.costs, given.offers, given.throughput, given.extrapolation, asked)
    draws = simulate(options, asked.seed, 20)
    days = break_even(options, draws, asked.month_days)
    return {"options": options, "break_even": days, "contenders": found_contenders(options)}
