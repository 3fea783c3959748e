"""Small synthetic tables of the shapes that the decision reads: one box, one machine on demand and spot."""

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
from sweetspot.bills.waiting_times import JobClass, utilization, wait_distribution
from sweetspot.decision.compare import Inputs
from sweetspot.decision.options import build_options
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study

SAMPLES = 94_720_000
BOX, RENTED = "office-4x1080ti", "p3.2xlarge"


def study(**changes):
    cells = {"model": ["vgg16"], "batch_size": [64], "precision": "fp16", "headline_batch_size": 64}
    values = {"name": "paper", "title": "A box or a rented card", "question": "Which?", "as_of": date(2018, 7, 1),
              "sources": [{"id": "paper", "title": "Worked on paper", "date": "2018"}], "cells": cells,
              "reference": BOX}  # fmt: skip
    return Study(**{**values, **changes})


def settings(**changes):
    """What the decision needs to know of `study`."""
    return Settings.of(study(**changes))


def offer(instance, purchase, usd_per_hour, **more):
    """A row of offers.parquet; rented: nothing fixed, an hour of use costs its price."""
    numbers = ("capex_usd", "months", "kw", "usd_per_kwh", "days_per_month")
    empty = {f"{name}{end}": np.nan for name in (*numbers, "usd_per_hour") for end in ("", "_low", "_high")}
    terms = ("residual_usd", "maintenance_usd_per_month", "staff_usd_per_month", "discount_rate", "downtime_share")
    rest = dict.fromkeys((*terms, "pue", "energy_usd_per_hour", "interruptions_per_hour", "spot_overhead"), np.nan)
    named = {"price_list": purchase, "instance": instance, "purchase": purchase, "as_of": "2018-07-01",
             "provider": "own" if purchase == "own" else "aws", "source": "paper", "basis": "published"}  # fmt: skip
    paid = {"usd_per_hour": usd_per_hour, "fixed_usd_per_month": 0.0, "variable_usd_per_hour": usd_per_hour}
    return {**empty, **rest, **named, **paid, **more}


def box_offer(**more):
    # 6500 USD over 30 months, 1.0 kW at 0.20 USD/kWh, 10 days: 216.667 / 240 + 0.20 = 1.102778 USD an hour
    own = {"capex_usd": 6500.0, "months": 30.0, "kw": 1.0, "pue": 1.0, "usd_per_kwh": 0.20, "days_per_month": 10.0}
    own |= dict.fromkeys(("residual_usd", "maintenance_usd_per_month", "staff_usd_per_month"), 0.0)
    own |= {"discount_rate": 0.0, "downtime_share": 0.0, **more}
    fixed, energy = own["capex_usd"] / own["months"], own["kw"] * own["usd_per_kwh"]
    own |= {"fixed_usd_per_month": fixed, "energy_usd_per_hour": energy, "variable_usd_per_hour": energy}
    return offer(BOX, "own", fixed / (24 * own["days_per_month"]) + energy, **own)


def _cell(model, gpus):
    cell = {"framework": "tensorflow", "model": model, "batch_size": 64, "gpus": gpus}
    return cell | {"precision": "fp16", "variant": "default"}


def cost(entry, images_per_s, gpus, model="vgg16", samples=SAMPLES, workload="imagenet"):
    price = entry["usd_per_hour"]
    hours = samples / images_per_s / 3600
    named = {name: entry[name] for name in ("price_list", "instance", "purchase", "provider")}
    money = {"usd_per_hour": price, "images_per_usd": images_per_s * 3600 / price, "hours": hours, "usd": hours * price}
    basis = "extrapolated" if entry["purchase"] == "own" else "published"
    # No power is declared, unless the offer says what an hour takes and emits.
    energy = {f"{name}{end}": hours * entry.get(f"{name}_per_hour", np.nan)
              for name in ("kwh", "kg_co2e") for end in ("", "_low", "_high")}  # fmt: skip
    told = {"workload": workload, "basis": basis, "as_of": "2018-07-01", "source": "paper", "gpu": "card",
            "status": "ok", "power_basis": entry.get("power_basis")}  # fmt: skip
    return {**energy, **named, **_cell(model, gpus), **money, **told}


def figure(instance, images_per_s, gpus, low=np.nan, high=np.nan, model="vgg16", **more):
    span = {"images_per_s": images_per_s, "images_per_s_low": low, "images_per_s_high": high}
    rest = {"runs": 0, "basis": "published", "status": "ok", "source": "paper", "gpu": "card", "warnings": None}
    return {"instance": instance, **_cell(model, gpus), **span, **rest, **more}


def inputs(price_p3=3.06, box=(498.0, 440.0, 560.0), rented=225.0, box_more=None, throughput=None):
    """The market: a box (images/s with 90 % interval), and one rented machine on demand and as spot at 1.11 USD."""
    office = box_offer(**(box_more or {}))
    offers = [office, offer(RENTED, "on_demand", price_p3), offer(RENTED, "spot", 1.11)]
    costs = [cost(office, box[0], 4), *(cost(entry, rented, 1) for entry in offers[1:])]
    measured = pd.DataFrame([figure(RENTED, rented, 1)]) if throughput is None else throughput
    predicted = figure(BOX, box[0], 4, box[1], box[2], basis="extrapolated", method="mean_efficiency", headline=True)
    lint = pd.DataFrame(columns=["severity", "rule", "instance", "message", "source"])
    efficiency = pd.DataFrame(columns=["model", "batch_size", "efficiency", "basis"])
    return Inputs(
        pd.DataFrame(costs), pd.DataFrame(offers), measured, pd.DataFrame([predicted]), efficiency, lint, pd.DataFrame()
    )


def only(**tables):
    """These tables of the market alone."""
    return Inputs(**{name: tables.get(name, pd.DataFrame()) for name in Inputs.__dataclass_fields__})


def options_of(*entries, figures=None, costs=None, needs=None, market=None, models=("vgg16",), reference=BOX, **asked):
    """Options of (offer, images/s, devices), by default of figures published for each machine and model; of a market,
    or of the small one, where there are none. `asked`: what else the settings say.
    """
    market, known = market or inputs(), replace(settings(reference=reference), **asked)
    if not entries:
        return build_options(market.costs, market.offers, market.throughput, market.extrapolation, known, needs)
    rows = [cost(*entry, model=model) for entry in entries for model in models] if costs is None else costs
    if figures is None:
        figures = [figure(entry["instance"], rate, gpus, model=model) for entry, rate, gpus in entries
                   for model in models]  # fmt: skip
    offered, led = pd.DataFrame([entry for entry, *_ in entries]), market.extrapolation.iloc[:0]
    known = replace(known, batch_sizes=known.batch_sizes | dict.fromkeys(models, 64))
    return build_options(pd.DataFrame(rows), offered, pd.DataFrame(figures), led, known, needs)


def drawn(options, **changes):
    """Draws at the central figures, some of them replaced: by the name of a field, {option: values}."""
    count = max([len(values) for rows in changes.values() for values in rows.values()], default=1)
    columns = {"fixed": "fixed_usd_per_month", "variable": "variable_usd_per_hour", "days": "days_per_month"}

    def field(name):
        rows = zip(options["option"], options[columns.get(name, name)], strict=True)
        return np.array([changes.get(name, {}).get(which, [value] * count) for which, value in rows], float)

    return Draws(**{name: field(name) for name in Draws.__dataclass_fields__ if name not in ("figures", "rents")})


def asked(options, month_days=30.5, draws=2):
    """The questions of the models of the options, with few draws."""
    return shared_machine_problems(options, simulate(options, 5, draws), month_days)


def queue_at_box(options: pd.DataFrame) -> pd.DataFrame:
    """Return the queue of six jobs a month at the box, which is open all month."""
    box = options[options["instance"] == BOX].iloc[0]
    job = JobClass(6.0 / (24 * 30.5), box["hours"], 1.0, 1)
    wait = wait_distribution([job])
    row = {"workload": box["workload"], "option": BOX, "title": box["title"], "machines": BOX,
           "per_month": 6.0, "utilisation": utilization([job]), "overloaded": wait.is_overloaded, "hours": box["hours"],
           "wait_hours": wait.mean, "wait_hours_p90": wait.quantile(0.9),
           "hours_to_result": wait.mean + box["hours"]}  # fmt: skip
    return pd.DataFrame([row])
