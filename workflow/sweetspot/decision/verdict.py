"""The verdict of each work, made once: commit or not, then which machine and seller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.choice_kinds import BUY, COMMIT, MACHINE, NOT_DECIDED
from sweetspot.decision.choice_table import NOTHING, PricedWork, first_alternative, has_firm_price, standing_of
from sweetspot.decision.decision_problem import Array
from sweetspot.draws import interval, p_cheaper
from sweetspot.errors import UserError
from sweetspot.wording import confidence


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on one work: a row of comparison/verdict.parquet.

    `level`: COMMIT (some choices commit to a purchase or contract) or MACHINE (none does); `best`, `rival`:
    `standing_of`; `ratio`: USD of the rival / USD of the best; `take`, `take_rival`: the cheapest machine and seller of
    that commitment and the next, at today's prices where nothing binds; `_lead`: what a choice rents most; `timed`,
    `trial_usd`, `saving_usd`: what `take` times first; `without_speed`: machines that could turn it and have no speed;
    `buy_below_usd`: price of one machine (`box_title`) at which buying costs as much as the cheapest choice that buys
    nothing; `work_factor`, `work_until`: times the work from which, and up to which, buying pays; `from_jobs`: jobs per
    month from which a machine paid by the month pays; `pays_from_days`: days of use per month from which buying pays,
    of a work without a plan; `filled`, `limit_costs`: as of PricedWork.
    """

    workload: str
    workload_title: str
    is_answer: bool
    level: str
    confidence: str
    kind: str
    months: float
    usd: float
    usd_per_month: float
    best: str
    best_title: str
    rival: str | None
    rival_title: str | None
    rival_kind: str | None
    rival_usd: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_cheaper: float
    take: str
    take_title: str
    take_kind: str
    take_lead: str | None
    take_rival: str | None
    take_rival_title: str | None
    take_rival_lead: str | None
    take_ratio: float
    take_p_cheaper: float
    timed: Sequence[str] | float
    trial_usd: float
    saving_usd: float
    busy_days_per_month: float
    find_out_first: str
    without_speed: Sequence[str]
    filled: float
    limit_costs: Sequence[Mapping[str, Any]]
    pays_from_days: float = np.nan
    work_factor: float = np.nan
    work_until: float = np.nan
    pays_title: str | None = None
    from_jobs: float = np.nan
    by_hour_title: str | None = None
    box_title: str | None = None
    box_usd: float = np.nan
    box_usd_low: float = np.nan
    box_usd_high: float = np.nan
    firm_price: bool = False
    buy_below_usd: float = np.nan


COLUMNS = tuple(field.name for field in fields(Verdict))


def verdict_table(
    works: Sequence[PricedWork], answer: str | None, break_even: pd.DataFrame, worth: Mapping[str, str]
) -> pd.DataFrame:
    """Decide each work that has an eligible choice.

    Parameters
    ----------
    works
        The works.
    answer
        The work that the study is about.
    break_even
        From when purchases pay.
    worth
        By work what to find out first.

    Returns
    -------
    pandas.DataFrame
        COLUMNS (`Verdict`), that of the answer first.
    """
    eligible = [work for work in works if work.table["stands"].any()]
    eligible.sort(key=lambda work: work.name != answer)
    verdicts = [_verdict_of(work, answer, break_even, worth.get(work.name, "")) for work in eligible]
    return pd.DataFrame([vars(verdict) for verdict in verdicts], columns=list(COLUMNS))


def answer_work(works: Sequence[PricedWork], requested: str | None) -> str | None:
    """Return the work that the study is about: the requested one, else its first plan, else the first.

    Raises
    ------
    UserError
        Nothing is priced for the requested work.
    """
    names = [work.name for work in sorted(works, key=lambda work: not work.plan)]
    if requested is not None and requested not in names:
        raise UserError(f"study.yaml: work is {requested!r}; expected one of {', '.join(names) or 'none: no price'}")
    return requested or next(iter(names), None)


def first_to_find_out(works: Sequence[PricedWork], worth: pd.DataFrame | None) -> dict[str, str]:
    """Return by work the figure that is worth most beyond what finding it out costs, where one is worth its cost."""
    if worth is None:
        return {}
    net = worth["evppi_usd"] - worth["cost_to_learn_usd"].fillna(0.0)
    rows = worth.assign(net=net)[worth["evppi_usd_low"].gt(0) & net.gt(0)]
    rows = rows.sort_values("net", ascending=False, kind="stable")
    is_of = {
        work.name: rows["workload"].eq(work.name) & rows["model"].isna() if work.plan else rows["model"] == work.model
        for work in works
    }
    return {name: str(rows.loc[mask, "figure"].iloc[0]) for name, mask in is_of.items() if mask.any()}


def _verdict_of(work: PricedWork, answer: str | None, break_even: pd.DataFrame, worth: str) -> Verdict:
    table = work.table.reindex(columns=[*dict.fromkeys([*work.table, "lead", "timed", "trial_usd", "saving_usd"])])
    best, rival = standing_of(work)
    binds = table["commitment"].iloc[best]
    commits = rival is not None and table["commitment"].iloc[rival] != binds
    # What binds nobody is chosen at today's prices.
    column, samples = ("usd_at_todays_prices", work.today) if binds == NOTHING else ("usd", work.usd)
    rows = table[table["stands"] & table["commitment"].eq(binds)]
    take, *others = rows.sort_values([column, "choice"], kind="stable").index.tolist()
    take_rival = first_alternative(work, take, others)
    second = _ratios(samples, table[column], take, take_rival)
    first = _ratios(work.usd, table["usd"], best, rival) if commits else second
    if not commits:
        best, rival = take, take_rival
    sure = "clear" if rival is None else confidence(first[3])
    lacking = work.without_speed[work.without_speed["commitment"].ne(binds) & (not commits)]
    chosen = table.iloc[best]
    named, machine = (table.reindex([index]).iloc[0] for index in (rival, take_rival))
    return Verdict(
        workload=work.name,
        workload_title=work.title,
        is_answer=work.name == answer,
        level=COMMIT if commits else MACHINE,
        confidence=NOT_DECIDED if len(lacking) else sure,
        kind=chosen["kind"],
        months=work.months,
        usd=float(chosen["usd"]),
        usd_per_month=float(chosen["usd"]) / work.months,
        best=chosen["choice"],
        best_title=chosen["title"],
        rival=named["choice"],
        rival_title=named["title"],
        rival_kind=named["kind"],
        rival_usd=float(named["usd"]),
        ratio=first[0],
        ratio_low=first[1],
        ratio_high=first[2],
        p_cheaper=first[3],
        take=table["choice"].iloc[take],
        take_title=table["title"].iloc[take],
        take_kind=table["kind"].iloc[take],
        take_lead=table["lead"].iloc[take],
        take_rival=machine["choice"],
        take_rival_title=machine["title"],
        take_rival_lead=machine["lead"],
        take_ratio=second[0],
        take_p_cheaper=second[3],
        timed=table["timed"].iloc[take],
        trial_usd=table["trial_usd"].iloc[take],
        saving_usd=table["saving_usd"].iloc[take],
        busy_days_per_month=work.busy,
        find_out_first="" if sure == "clear" else worth,
        without_speed=lacking["title"].unique().tolist(),
        filled=work.filled,
        limit_costs=work.limit_costs,
        **_by_use(
            work, break_even, {chosen["choice"], named["choice"]} if BUY in (chosen["kind"], named["kind"]) else {}
        ),
        **_by_the_month(work, take),
        **_box_price(work) if commits else {},
    )


def _ratios(samples: Array, usd: pd.Series, best: int, rival: int | None) -> tuple[float, float, float, float]:
    """Return USD of the rival / USD of the best with 90 %, and how often the best is cheaper; NaN without a rival."""
    if rival is None:
        return np.nan, np.nan, np.nan, np.nan
    with np.errstate(invalid="ignore", divide="ignore"):  # What is owned and free costs nothing.
        low, high = map(float, interval(samples[rival] / samples[best]))
        return float(usd.iloc[rival] / usd.iloc[best]), low, high, p_cheaper(samples[best], samples[rival])


def _box_price(work: PricedWork) -> dict[str, Any]:
    """Return the price of the cheapest machine for sale, and that at which it pays."""
    stands = work.table[work.table["stands"]]
    rivals = stands[stands["commitment"] != BUY]
    for index, box in stands[stands["commitment"].eq(BUY) & stands["usd_per_capex"].gt(0)].head(1).iterrows():
        price, below = float(box["capex_usd"]), box.get("pays_below_usd", np.nan)
        if pd.isna(below):  # With another number of machines the work is another: only the price changes.
            below = price + (rivals["usd"].iloc[0] - box["usd"]) / box["usd_per_capex"]
        low, high = box[["capex_usd_low", "capex_usd_high"]].astype(float).fillna(price)
        return {
            "box_title": box["box_title"],
            "box_usd": price,
            "box_usd_low": low,
            "box_usd_high": high,
            "firm_price": has_firm_price(work, index),
            "buy_below_usd": float(below) if below > 0 else np.nan,
        }
    return {}


def _by_the_month(work: PricedWork, index: int) -> dict[str, Any]:
    """Return from how many jobs a machine paid by the month pays, and who serves fewer; {} where neither is known."""
    month_usd = work.table.get("month_usd", work.table["usd"] * np.nan)
    rivals = work.table[work.table["stands"] & month_usd.isna()]
    if work.months == 1.0 or np.isnan(month_usd.iloc[index]) or rivals.empty:
        return {}
    rival = rivals.iloc[0]
    return {"from_jobs": float(month_usd.iloc[index] / rival["usd"]), "by_hour_title": rival["title"]}


def _by_use(work: PricedWork, break_even: pd.DataFrame, pair: Collection[str]) -> dict[str, Any]:
    """Return from how much use a purchase pays: times the work, or of a work without a plan days against the `pair`."""
    if break_even.empty:
        return {}
    quantity = break_even["quantity"]
    if work.plan:
        rows = break_even[(break_even["workload"] == work.name) & quantity.isin(["jobs", "device_hours"])]
        for row in rows.nsmallest(1, "factor").to_dict("records"):
            until = row["pays_until"] / row["planned"]
            return {"work_factor": row["factor"], "work_until": until, "pays_title": row["title"]}
        return {}
    is_pair = break_even.reindex(columns=["reference", "option"]).isin(pair).all(axis=1)
    days = break_even.loc[(break_even["workload"] == work.model) & is_pair, "break_even_value"]
    return {"pays_from_days": float(days.iloc[0])} if len(days) else {}
