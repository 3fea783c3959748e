"""Offers that take no part in a workload, each with the rule that leaves it out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.decision.options import NO_MODEL, OFFER
from sweetspot.study.settings import Settings
from sweetspot.wording import DISPATCH

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

    # Its models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly

KEY = ["workload", *OFFER]
COLUMNS = [*KEY, "model", "rule"]
PLAN_TOTAL = "total"  # The phase of results/<study>/plans that stands for the whole plan.
EXCLUDED, NO_FIGURE = "not_asked", "no_figure"
WarningRow = tuple[object, ...]  # The values of warning_table.WARNINGS.


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """Take machines that are owned already, except the reference, out of the answer on single jobs.

    What they cost is spent: compared with an offer they always win, and say nothing about buying.
    """
    names = {name for work in works.values() for name in work.have}
    is_owned = options["instance"].isin(names) & options["purchase"].eq("own")
    return options.assign(in_answer=options["in_answer"].astype(bool) & (options["is_reference"] | ~is_owned))


def offers_without_speed(name: str, model: str, cost: str, options: pd.DataFrame, offers: pd.DataFrame) -> pd.DataFrame:
    """Return the offers whose machine has no speed for a work, or for a class of its jobs.

    Parameters
    ----------
    name, model, cost
        The work; `model` is that of its jobs, if these are not monthly classes.
    options, offers
        All options, and the offers.
    """
    is_part = options["workload"].str.startswith(f"{name}.") if cost == DISPATCH else options["model"] == model
    rows = options[is_part & options["model"].ne(NO_MODEL)]
    if rows.empty:
        return offers.head(0)
    timed = rows.groupby("instance")["workload" if cost == DISPATCH else "model"].nunique()
    return offers[~offers["instance"].isin(timed.index[timed == timed.max()])]


def left_out_table(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, settings: Settings, works: Iterable[str]
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
    works
        Names of the workloads.

    Returns
    -------
    pandas.DataFrame
        COLUMNS. `rule`: no_figure, not_asked (the answer leaves it out), another status of costs or plans, or
        other_batch (its usable figures are at other batch sizes, or it does not fit).
    """
    plans, answer_prices = inputs.plans, list(settings.answer_prices)
    totals = plans[plans["phase"] == PLAN_TOTAL].assign(workload=plans["plan"]) if len(plans) else plans
    rows = pd.concat([inputs.costs, totals]).reindex(columns=[*KEY, "model", "status"])
    names = pd.DataFrame({"workload": list(dict.fromkeys([*works, *rows["workload"]]))}, dtype=object)
    offers = inputs.offers.reindex(columns=list(OFFER)).drop_duplicates()
    missing = names.merge(offers, how="cross")
    present = pd.MultiIndex.from_frame(pd.concat([options, choices]).reindex(columns=KEY))
    missing = missing[~pd.MultiIndex.from_frame(missing[KEY]).isin(present)]
    missing = missing.merge(rows.drop(columns="model").drop_duplicates(KEY), on=KEY, how="left")
    rule = missing["status"].astype(object).fillna(NO_FIGURE).str.replace(" ", "_").replace("ok", "other_batch")
    is_excluded = missing["workload"].isin(totals.get("workload", ())) & ~missing["price_list"].isin(answer_prices)
    models = rows.dropna(subset="model").drop_duplicates("workload").set_index("workload")["model"]
    return missing.assign(
        model=missing["workload"].map(models), rule=rule.mask(is_excluded & bool(answer_prices), EXCLUDED)
    )[COLUMNS]


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
    offer_count = len(offers.drop_duplicates(list(OFFER))) if len(offers) else 0
    for name, rows in left_out[left_out["rule"] != EXCLUDED].groupby("workload", sort=False):
        if len(rows) == offer_count:
            message = f"workload {name}: no machine that is offered has a speed for it; it takes no part"
            yield ("comparison", None, None, pd.NA, "no_speed", message)
            continue
        rows = rows[rows["rule"].eq(NO_FIGURE) & rows["instance"].isin(options["instance"])]
        for instance, model in rows[["instance", "model"]].drop_duplicates().itertuples(index=False):
            message = (
                f"{name}: no figure of {model if isinstance(model, str) else 'its model'} is known; it takes no part"
            )
            yield ("comparison", instance, model, pd.NA, "no_speed", message)
