"""Offers that are not compared for a work: machines without a known speed for it, and machines already owned."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from sweetspot.decision.choice_table import COMMITMENT, NOTHING, PricedWork
from sweetspot.decision.options import NO_MODEL
from sweetspot.wording import DISPATCH


def set_aside(options: pd.DataFrame, owned: Collection[str]) -> pd.DataFrame:
    """Return options with `in_answer` False for already owned machines (names), except the reference, on single jobs.

    The price of such machines is spent: they would always be cheapest and tell nothing about buying.
    """
    is_owned = options["instance"].isin(owned) & options["purchase"].eq("own")
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
    offers = offers.assign(
        title=offers["instance"].replace(dict(titles)),
        commitment=offers["purchase"].map(COMMITMENT).fillna(NOTHING),
    )
    offers = offers[["instance", "title", "commitment"]].drop_duplicates()
    return [work._replace(without_speed=offers[~offers["instance"].isin(_timed(work, options))]) for work in works]


def _timed(work: PricedWork, options: pd.DataFrame) -> pd.Series:
    """Return names of machines with a speed for every class of a work's jobs; all machines if it needs no speed."""
    rows, column = options[options["model"] == work.model], "model"
    if work.cost == DISPATCH:
        rows, column = options[options["workload"].str.startswith(f"{work.name}.")], "workload"

    rows = rows[rows["model"] != NO_MODEL]
    counts = rows.groupby("instance")[column].nunique()
    return options["instance"] if rows.empty else counts.index[counts == counts.max()]
