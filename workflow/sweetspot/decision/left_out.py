"""Offers that take no part in a workload, each with the rule that leaves it out."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.bills.fits import Needs, does_not_fit, with_fits
from sweetspot.decision.options import OFFER, is_requested
from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

    # Its models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly

COLUMNS = ("workload", *OFFER, "model", "rule")
PLAN_TOTAL = "total"  # The phase of results/<study>/plans that stands for the whole plan.
EXCLUDED, DEVICE_SHORTAGE, NO_FIGURE = "not_asked", "too_few_devices", "no_figure"
WarningRow = tuple[object, ...]  # The values of warning_table.WARNINGS.


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """Take machines that are owned already, except the reference, out of the answer on single jobs.

    What they cost is spent: compared with an offer they always win, and say nothing about buying.
    """
    names = {name for work in works.values() for name in work.have}
    is_owned = options["instance"].isin(names) & options["purchase"].eq("own")
    return options.assign(
        in_answer=options["in_answer"].astype(bool) & ~(is_owned & ~options["is_reference"].astype(bool))
    )


def left_out_table(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, settings: Settings, needs: Needs
) -> pd.DataFrame:
    """List every workload and offer that is neither in `options` nor, for a plan, in `choices`.

    Parameters
    ----------
    inputs
        The tables of the study.
    options
        All options, those that do not fit included.
    choices
        The choices.
    settings
        The study's settings.
    needs
        What each workload needs.

    Returns
    -------
    pandas.DataFrame
        COLUMNS. `rule`: no_figure, other_batch (figures at other batch sizes only), too_few_devices, does_not_fit,
        not_asked (the answer leaves it out), or a status of costs or plans.
    """
    plans, offers = inputs.plans, inputs.offers
    totals = plans[plans["phase"] == PLAN_TOTAL].assign(workload=plans["plan"]) if len(plans) else plans
    plan_names = set(totals.get("workload", ()))
    left_out = []
    names = dict.fromkeys([*needs, *inputs.costs.get("workload", ()), *totals.get("workload", ())])
    for name in names if len(offers) else ():
        is_plan = name in plan_names
        rows, results = (
            table[table["workload"] == name] if len(table) else pd.DataFrame(columns=["model", *OFFER])
            for table in ((totals, choices) if is_plan else (inputs.costs, options))
        )
        model, complete = next(iter(rows["model"].dropna()), None), pd.MultiIndex.from_frame(results[list(OFFER)])
        for offer in offers.drop_duplicates(list(OFFER)).to_dict("records"):
            key = [offer[column] for column in OFFER]
            if tuple(key) not in complete:
                rule = _rule(name, offer, rows[(rows[list(OFFER)] == key).all(axis=1)], is_plan, settings, needs)
                left_out.append((name, *key, model, rule))
    return pd.DataFrame(left_out, columns=list(COLUMNS))


def _rule(
    name: str, offer: Mapping[Any, Any], rows: pd.DataFrame, is_plan: bool, settings: Settings, needs: Needs
) -> str:
    devices = needs[name].devices if name in needs else None
    if is_plan and settings.answer_prices and offer["price_list"] not in settings.answer_prices:
        return EXCLUDED
    if rows.empty:
        return DEVICE_SHORTAGE if devices is not None and (offer.get("gpus") or math.inf) < devices else NO_FIGURE
    if is_plan and does_not_fit(with_fits(rows, settings, needs)).all():
        return "does_not_fit"
    requested = rows[is_requested(rows, settings)]
    if requested.empty:
        return "other_batch"
    status = str(requested["status"].iloc[0]) if "status" in rows.columns else "ok"
    return EXCLUDED if status in ("ok", "None", "nan") else status.replace(" ", "_")


def speed_warnings(left_out: pd.DataFrame, offers: pd.DataFrame, options: pd.DataFrame) -> Iterator[WarningRow]:
    """Warn of workloads that no offer serves and of machines that have a speed for other workloads only.

    Parameters
    ----------
    left_out
        The offers left out (`left_out_table`).
    offers, options
        All offers and all options.

    Yields
    ------
    tuple
        A row of the warning table.
    """
    offer_count, machines = len(offers.drop_duplicates(list(OFFER))) if len(offers) else 0, set(options["instance"])
    for name, rows in left_out[left_out["rule"] != EXCLUDED].groupby("workload", sort=False):
        if len(rows) == offer_count:
            message = f"workload {name}: no machine that is offered has a speed for it; it takes no part"
            yield ("comparison", None, None, pd.NA, "no_speed", message)
            continue
        model = rows["model"].iloc[0]
        for instance in rows.loc[rows["rule"] == NO_FIGURE, "instance"].unique():
            if instance in machines:
                message = f"{name}: no figure of {model or 'its model'} is known; it takes no part"
                yield ("comparison", instance, model, pd.NA, "no_speed", message)
