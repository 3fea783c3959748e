"""The choices of each work of a study, how their costs compare in all samples, and offers that take no part."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame, Series, concat

from sweetspot.choice_kinds import BUY, CONTRACT
from sweetspot.decision.decision_problem import Array
from sweetspot.decision.options import NO_MODEL
from sweetspot.decision.sources import MIX_TOLERANCE
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval, p_cheaper, shares
from sweetspot.wording import DISPATCH, SHARE, TIE, confidence

NOTHING = "nothing"  # The commitment of what is owned already or rented by the hour or month.
RANKS = {NOTHING: 0, CONTRACT: 1, BUY: 2}  # The least binding first.
COMMITMENT = {"own": BUY, "reserved": CONTRACT, "committed": CONTRACT}  # By purchase; of any other: NOTHING.
FIRM_RANGE = 1.05  # A firm price in another currency has the range of its exchange rate.
NO_OFFERS = DataFrame(columns=["instance", "title", "commitment"])
TOLERANCE = 1e-6  # Choices that differ by a smaller share of their cost in each sample are one alternative.


class PricedWork(NamedTuple):
    """One work with its choices, cheapest first.

    `table`: columns of the choices and `stands` (may be the answer); `usd`, `today`: USD over the project and
    USD at today's rents, choice x sample; `busy`: days of use a month
    of an owned machine that a work without a plan assumes; `cost`: SHARE, ROUNDS or DISPATCH; `limit_costs`: the budget
    of the team, with USD per month that it costs; `without_speed`: title and commitment of machines without a speed.
    """

    name: str
    title: str
    months: float
    table: DataFrame
    usd: Array
    today: Array
    busy: float = np.nan
    cost: str = SHARE
    model: str = ""
    limit_costs: Sequence[Mapping[str, Any]] = ()
    without_speed: DataFrame = NO_OFFERS

    @property
    def plan(self) -> bool:
        """Whether the work is a plan of phases or of months, not a single job."""
        return self.cost != SHARE


def choice_table(priced: Sequence[PricedWork], in_hand: Sequence[str]) -> DataFrame:
    """Return the choices of all works, cheapest first, with costs, ranges and probabilities.

    Parameters
    ----------
    priced
        The works.
    in_hand
        Keys of choices, machines or price lists for which offers have been obtained; empty: for all.

    Returns
    -------
    pandas.DataFrame
        The table `choices`, a row per work and choice. `_low`, `_high`: 90 % of the samples; `p_cheapest`: share of
        samples in which its alternative costs least of all eligible ones; `p_cheaper`: share in which the choice costs
        less than the best; `ratio`: its USD / those of the best; `is_best`:
        `standing_of`; `why_not`: rule that excludes a choice, with `reasons`. A choice that cannot do the work has no
        figures.
    """
    tables = [_compared(work).astype(object) for work in priced]
    table = concat([DataFrame(columns=columns_of("choices")), *tables], ignore_index=True).infer_objects()
    has_offer = table[["choice", "instance", "price_list"]].isin(list(in_hand)).any(axis=1) | (not in_hand)
    return table.assign(in_hand=has_offer)


def _compared(work: PricedWork) -> DataFrame:
    """Return the table `choices` of one work: USD with ranges, probabilities, ratios to the best."""
    table, stands = work.table, work.table["stands"].to_numpy(bool)
    low, high = interval(work.usd)
    figures = DataFrame({"usd": table["usd"], "usd_low": low, "usd_high": high}, dtype=float)
    figures = figures.join((figures / work.months).rename(columns=lambda name: name.replace("usd", "usd_per_month")))

    best = standing_of(work)[0] if stands.any() else None
    if best is not None:
        # Of mixes each is its own alternative; a trial of a few dollars makes none of them the more expensive one.
        is_mix = work.cost == DISPATCH
        alternative = table["choice"] if is_mix else table["alternative"].fillna(table["choice"])
        cheapest = shares(work.usd[stands], alternative[stands].tolist(), MIX_TOLERANCE if is_mix else TOLERANCE)
        figures["p_cheapest"] = alternative.map(cheapest)
        figures["p_cheaper"] = [p_cheaper(samples, work.usd[best]) for samples in work.usd]
        figures.loc[best, "p_cheaper"] = np.nan

        with np.errstate(invalid="ignore"):
            figures["ratio"] = figures["usd"] / figures["usd"][best]
            figures["ratio_low"], figures["ratio_high"] = interval(work.usd / work.usd[best])
    figures[~np.isfinite(figures["usd"])] = np.nan
    return table.assign(
        **figures,
        workload=work.name,
        workload_title=work.title,
        months=work.months,
        cost=work.cost,
        model=work.model or None,
        is_best=table.index == best,
    ).reindex(columns=columns_of("choices"))


def standing_of(work: PricedWork) -> tuple[int, int | None]:
    """Return the row indices of the recommended choice and of the runner-up (None: no other alternative).

    These are the cheapest choice and the cheapest of another commitment, else of another alternative. If the two are
    too close to call, the less binding one is recommended, unless the cheaper one is a purchase at a firm price.
    """
    eligible = np.flatnonzero(work.table["stands"]).tolist()
    best, ranks = eligible[0], work.table["commitment"].map(RANKS)
    rival = first_alternative(work, best, eligible, "commitment")
    if rival is None:
        return best, first_alternative(work, best, eligible)
    is_tie = confidence(p_cheaper(work.usd[best], work.usd[rival])) == TIE
    is_swapped = is_tie and ranks[rival] < ranks[best] and not has_firm_price(work, best)
    return (rival, best) if is_swapped else (best, rival)


def has_firm_price(work: PricedWork, index: int) -> bool:
    """Return whether a choice (row index) is a purchase whose price has no range beyond that of an exchange rate."""
    row = work.table.iloc[index]
    low, high = price_range(row)
    return bool(row["commitment"] == BUY and 0 < high <= low * FIRM_RANGE)


def price_range(choice: Series) -> tuple[float, float]:
    """Return low and high USD of the machine that a choice buys: its price twice where no range is known."""
    low, high = choice[["capex_usd_low", "capex_usd_high"]].astype(float).fillna(choice["capex_usd"])
    return low, high


def first_alternative(work: PricedWork, best: int, indices: Sequence[int], by: str = "alternative") -> int | None:
    """Return the first of `indices` that differs from `best` in column `by` and in some sample's cost; else None."""
    keys, usd = work.table[by], work.usd
    for index in indices:
        if keys[index] != keys[best] and not np.allclose(usd[index], usd[best], rtol=TOLERANCE, atol=0.0):
            return index
    return None


def set_aside(options: DataFrame, owned: Collection[str]) -> DataFrame:
    """Return options with `in_answer` False for already owned machines (names), except the reference, on single jobs.

    The price of such machines is spent: they would always be cheapest and tell nothing about buying.
    """
    is_owned = options["instance"].isin(owned) & options["purchase"].eq("own")
    return options.assign(in_answer=options["in_answer"].astype(bool) & (options["is_reference"] | ~is_owned))


def with_missing_speeds(
    works: Sequence[PricedWork], options: DataFrame, offers: DataFrame, titles: Mapping[str, str]
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

    def timed(work: PricedWork) -> Collection[str]:
        """Return names of machines with a speed for every class of jobs; all machines if the work needs no speed."""
        rows, column = options[options["model"] == work.model], "model"
        if work.cost == DISPATCH:
            rows, column = options[options["workload"].str.startswith(f"{work.name}.")], "workload"
        counts = rows[rows["model"] != NO_MODEL].groupby("instance")[column].nunique()
        return options["instance"] if counts.empty else counts.index[counts == counts.max()]

    return [work._replace(without_speed=offers[~offers["instance"].isin(timed(work))]) for work in works]
