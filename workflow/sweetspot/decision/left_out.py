"""Offers that are not compared for a work: machines without a known speed for it, and machines already owned."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.choice_kinds import BUY, CONTRACT
from sweetspot.decision.choice_table import NOTHING, PricedWork
from sweetspot.decision.options import NO_MODEL
from sweetspot.wording import DISPATCH

if TYPE_CHECKING:
    from sweetspot.study.monthly import Monthly  # lazily: its models take longer to import than all this computes

COMMITMENTS = {"own": BUY, "reserved": CONTRACT, "committed": CONTRACT}


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """Return options with `in_answer` False for already owned machines, except the reference, on single jobs.

    The price of such machines is spent: they would always be cheapest and tell nothing about buying.
    """
    names = {name for work in works.values() for name in work.have}
    is_owned = options["instance"].isin(names) & options["purchase"].eq("own")
    return options.assign(in_answer=options["in_answer"].astype(bool) & (options["is_reference"] | ~is_owned))


def with_missing_speeds(
    works: Sequence[PricedWork], options: pd.DataFrame, offers: pd.DataFrame, titles: Mapping[str, str]
) -> list[PricedWork]:
    """Return works with `without_speed`: offers of machines whose speed is unknown for a work or a class of its jobs.

    Parameters
    ----------
    works
        The works.
    options
        All options, those that do not fit included.
    offers
        The offers that may be the answer.
    titles
        Names of machines for people.
    """
    commitments = offers["purchase"].map(COMMITMENTS).fillna(NOTHING)
    offers = offers.assign(title=offers["instance"].replace(dict(titles)), commitment=commitments)
    offers = offers[["instance", "title", "commitment"]].drop_duplicates()
    return [work._replace(without_speed=offers[~offers["instance"].isin(_timed(work, options))]) for work in works]


def _timed(work: PricedWork, options: pd.DataFrame) -> pd.Series:
    """Return names of machines with a speed for every class of a work's jobs; all machines if it needs no speed."""
    is_plan = work.cost == DISPATCH
    rows = options[options["workload"].str.startswith(f"{work.name}.") if is_plan else options["model"] == work.model]
    rows = rows[rows["model"] != NO_MODEL]
    counts = rows.groupby("instance")["workload" if is_plan else "model"].nunique()
    return options["instance"] if rows.empty else counts.index[counts == counts.max()]
