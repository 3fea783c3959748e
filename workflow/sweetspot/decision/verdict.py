"""The verdict of each work, made once: commit or not, then which machine and seller."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.choice_kinds import BUY, COMMIT, MACHINE, NOT_DECIDED
from sweetspot.decision.choice_table import NOTHING, PricedWork, first_alternative, has_firm_price, standing_of
from sweetspot.draws import interval, p_cheaper
from sweetspot.errors import UserError
from sweetspot.phrases import decided as texts
from sweetspot.phrases.decided import VERBS
from sweetspot.wording import WORDS, Words, confidence

QUOTES = (0.75, 0.875, 1.0, 1.2)  # Offers to look at, times the price of the machine.
QUOTE_STEP = 500.0  # USD to which such an offer is rounded.


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on one work: a row of comparison/verdict.parquet.

    `level`: COMMIT (some choices commit to a purchase or contract) or MACHINE (none does); `best`, `rival`:
    `standing_of`; `ratio`: USD of the rival / USD of the best; `take`, `take_rival`: the cheapest machine and seller of
    that commitment and the next, at today's prices where nothing binds; `_lead`: what a choice rents most; `timed`,
    `trial_usd`, `saving_usd`: what `take` times first; `buy_below_usd`: price of one machine `box` at which buying
    costs as much as the cheapest choice that buys nothing; `p_at_box_prices`: share of samples in which buying is
    cheaper at an offer of `box_prices_usd`; `work_factor`, `work_until`: times the work from which, and up to which,
    buying pays, `work_month`: the first month with as much; `from_jobs`: jobs per month from which a machine paid by
    the month pays; `pays_from_days`: days of use per month from which buying pays, of a work without a plan.
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
    take_lead: str | None
    take_rival: str | None
    take_rival_title: str | None
    take_rival_lead: str | None
    take_ratio: float
    take_p_cheaper: float
    timed: list[str]
    trial_usd: float
    saving_usd: float
    busy_days_per_month: float
    find_out_first: str
    pays_from_days: float
    work_month: float
    work_factor: float = np.nan
    work_until: float = np.nan
    pays_title: str | None = None
    from_jobs: float = np.nan
    by_hour_title: str | None = None
    box: str | None = None
    box_title: str | None = None
    box_usd: float = np.nan
    box_usd_low: float = np.nan
    box_usd_high: float = np.nan
    firm_price: bool = False
    buy_below_usd: float = np.nan
    box_prices_usd: Sequence[float] = ()
    p_at_box_prices: Sequence[float] = ()
    verb: str = ""
    sentence: str = ""
    do_this: str = ""
    thresholds: Sequence[str] = ()


COLUMNS = tuple(field.name for field in fields(Verdict))


class CostComparison(NamedTuple):
    """A choice and the runner-up: its index (None: none), its USD / those of the choice with 90 %, and how often the
    choice is cheaper.
    """

    choice: int
    rival: int | None
    ratio: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p_cheaper: float = np.nan


def verdict_table(
    works: Sequence[PricedWork],
    answer: str | None,
    break_even: pd.DataFrame,
    worth: Mapping[str, str],
    words: Words = WORDS["train"],
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
    words
        What the study counts, and its currency.

    Returns
    -------
    pandas.DataFrame
        COLUMNS (`Verdict`), that of the answer first.
    """
    eligible = [work for work in works if work.table["stands"].any()]
    verdicts = [_verdict_of(work, answer, break_even, worth.get(work.name, ""), words) for work in eligible]
    rows = [vars(verdict) for verdict in sorted(verdicts, key=lambda verdict: not verdict.is_answer)]
    if len(rows) > 1 and rows[0]["is_answer"] and rows[0]["level"] == MACHINE:
        rivals = texts.of_several(rows[0], [vars(verdict) for verdict in verdicts])
        rows[0] = rows[0] | {"thresholds": [*rows[0]["thresholds"], rivals]}
    return pd.DataFrame(rows, columns=list(COLUMNS))


def answer_work(works: Sequence[PricedWork], requested: str | None, model: str | None) -> str | None:
    """Return the work that the study is about: the requested one, else its plan, else the first of `model`.

    Raises
    ------
    UserError
        Nothing is priced for the requested work.
    """
    names = [work.name for work in works]
    if requested is not None and requested not in names:
        raise UserError(f"study.yaml: work is {requested!r}; expected one of {', '.join(names) or 'none: no price'}")
    order = sorted(works, key=lambda work: (not work.plan, work.model != model))
    return requested or (order[0].name if order else None)


def first_to_find_out(works: Sequence[PricedWork], worth: pd.DataFrame | None) -> dict[str, str]:
    """Return by work the figure that is worth most beyond what finding it out costs, where one is worth its cost."""
    if worth is None:
        return {}
    net = worth["evppi_usd"] - worth["cost_to_learn_usd"].fillna(0.0)
    rows = worth.assign(net=net)[worth["evppi_usd_low"].gt(0) & net.gt(0)].sort_values("net", kind="stable")
    first = {}
    for work in works:
        is_plan = (rows["workload"] == work.name) & rows["model"].isna()
        figures = rows.loc[is_plan if work.plan else rows["model"] == work.model, ["figure", "net"]]
        if len(figures):
            first[work.name] = str(figures.loc[figures["net"].idxmax(), "figure"])
    return first


def _verdict_of(work: PricedWork, answer: str | None, break_even: pd.DataFrame, worth: str, words: Words) -> Verdict:
    rows, commitment = work.table.to_dict("records"), work.table["commitment"]
    best, runner_up = standing_of(work)
    commits = runner_up is not None and commitment.iloc[best] != commitment.iloc[runner_up]
    second = _machines(work, commitment.iloc[best])
    first = _comparison(work, best, runner_up) if commits else second
    best_row, rival = rows[first.choice], {} if first.rival is None else rows[first.rival]
    take, take_rival = rows[second.choice], {} if second.rival is None else rows[second.rival]
    sure = "clear" if first.rival is None else confidence(first.p_cheaper)
    kinds = best_row["kind"], rival.get("kind")
    pays = _by_work(work, break_even)
    busy_months = np.flatnonzero(np.asarray(work.months_work) >= pays.get("work_factor", np.nan))
    work_month = busy_months[0] * work.months / len(work.months_work) + 1 if len(busy_months) else np.nan
    verdict = Verdict(
        workload=work.name,
        workload_title=work.title,
        is_answer=work.name == answer,
        level=COMMIT if commits else MACHINE,
        confidence=sure,
        kind=best_row["kind"],
        months=work.months,
        usd=float(best_row["usd"]),
        usd_per_month=float(best_row["usd"]) / work.months,
        best=best_row["choice"],
        best_title=best_row["title"],
        rival=rival.get("choice"),
        rival_title=rival.get("title"),
        rival_kind=rival.get("kind"),
        rival_usd=rival.get("usd", np.nan),
        ratio=first.ratio,
        ratio_low=first.low,
        ratio_high=first.high,
        p_cheaper=first.p_cheaper,
        take=take["choice"],
        take_title=take["title"],
        take_lead=take.get("all_rented_title"),
        take_rival=take_rival.get("choice"),
        take_rival_title=take_rival.get("title"),
        take_rival_lead=take_rival.get("all_rented_title"),
        take_ratio=second.ratio,
        take_p_cheaper=second.p_cheaper,
        timed=take.get("timed") or [],
        trial_usd=take.get("trial_usd", np.nan),
        saving_usd=take.get("saving_usd", np.nan),
        busy_days_per_month=work.busy,
        find_out_first="" if sure == "clear" else worth,
        pays_from_days=_days(work, first, break_even) if commits and BUY in kinds else np.nan,
        work_month=float(work_month),
        **pays | _by_the_month(work, second.choice) | (_box_prices(work) if commits else {}),
    )
    return _with_sentences(work, verdict, take["kind"], commitment.iloc[best], words)


def _with_sentences(work: PricedWork, verdict: Verdict, kind: str, commitment: str, words: Words) -> Verdict:
    """Return the verdict with its sentences; not decided where a choice of another commitment has no speed."""
    lacking = [title for title, binds in work.without_speed if binds != commitment]
    if verdict.level == MACHINE and lacking:
        sentences = texts.not_decided(lacking, verdict.take_title)
        verdict = replace(verdict, verb=NOT_DECIDED.capitalize(), confidence=NOT_DECIDED)
    else:
        sentences = (
            texts.sentence(vars(verdict), kind, words.money),
            texts.do_this(vars(verdict), kind, words),
        )
        verdict = replace(verdict, verb=VERBS[kind])
    verdict = replace(verdict, sentence=sentences[0], do_this=sentences[1])
    return replace(verdict, thresholds=[*texts.thresholds(vars(verdict), words.money), *work.limits])


def _comparison(work: PricedWork, best: int, rival: int | None, at_todays_prices: bool = False) -> CostComparison:
    if rival is None:
        return CostComparison(best, None)
    samples, column = (work.today, "usd_at_todays_prices") if at_todays_prices else (work.usd, "usd")
    usd, rival_usd = samples[best], samples[rival]
    with np.errstate(invalid="ignore", divide="ignore"):  # What is owned and free costs nothing.
        low, high = map(float, interval(rival_usd / usd))
        ratio = float(work.table[column].iloc[rival] / work.table[column].iloc[best])
    return CostComparison(best, rival, ratio, low, high, p_cheaper(usd, rival_usd))


def _machines(work: PricedWork, commitment: str) -> CostComparison:
    """Compare the cheapest machine and seller of a commitment with the next, at today's prices where nothing binds."""
    nothing_binds = commitment == NOTHING
    rows = work.table[work.table["stands"] & (work.table["commitment"] == commitment)]
    order = rows.sort_values(["usd_at_todays_prices" if nothing_binds else "usd", "choice"], kind="stable").index
    best, *rivals = order.tolist()
    return _comparison(work, best, first_alternative(work, best, rivals), nothing_binds)


def _box_prices(work: PricedWork) -> dict[str, Any]:
    """Return the price at which the cheapest machine for sale pays, and the answer at some offers for it."""
    stands = work.table[work.table["stands"]]
    for_sale = stands[(stands["commitment"] == BUY) & (stands["usd_per_capex"] > 0)]
    if for_sale.empty:
        return {}
    box, rival = for_sale.iloc[0], stands[stands["commitment"] != BUY].iloc[0]
    index, rival_usd = int(for_sale.index[0]), work.usd[int(rival.name)]
    price, slope = float(box["capex_usd"]), float(box["usd_per_capex"])
    below = box.get("pays_below_usd", np.nan)
    if pd.isna(below):  # With another number of machines the work is another: only the price changes.
        below = price + (rival["usd"] - box["usd"]) / slope
    steps = [round(price * factor / QUOTE_STEP) * QUOTE_STEP for factor in QUOTES]
    quotes = steps if price > 4 * QUOTE_STEP else [price * factor for factor in QUOTES]
    usd = [work.usd[index] + slope * (quote - work.capex[index]) for quote in quotes]
    low, high = box[["capex_usd_low", "capex_usd_high"]].astype(float).fillna(price)
    return {
        "box": box["choice"],
        "box_title": box["box_title"],
        "box_usd": price,
        "box_usd_low": low,
        "box_usd_high": high,
        "firm_price": has_firm_price(work, index),
        "buy_below_usd": float(below) if below > 0 else np.nan,
        "box_prices_usd": quotes,
        "p_at_box_prices": [p_cheaper(samples, rival_usd) for samples in usd],
    }


def _by_the_month(work: PricedWork, index: int) -> dict[str, Any]:
    """Return from how many jobs a machine paid by the month pays, and who serves fewer; {} where neither is known."""
    if work.months == 1.0 or "month_usd" not in work.table.columns or pd.isna(work.table["month_usd"].iloc[index]):
        return {}
    rivals = work.table[work.table["stands"] & work.table["month_usd"].isna()].head(1)
    pays = work.table["month_usd"].iloc[index] / rivals["usd"]
    return {} if rivals.empty else {"from_jobs": float(pays.iloc[0]), "by_hour_title": rivals["title"].iloc[0]}


def _by_work(work: PricedWork, break_even: pd.DataFrame) -> dict[str, Any]:
    """Return the least factor of the work from which a purchase pays, up to which, and which; {} where none does."""
    rows = break_even
    if len(rows):
        rows = rows[(rows["workload"] == work.name) & rows["quantity"].isin(["jobs", "device_hours"])]
    if rows.empty:
        return {}
    row = rows.sort_values("factor", kind="stable").iloc[0]
    until = float(row["pays_until"] / row["planned"])
    return {"work_factor": float(row["factor"]), "work_until": until, "pays_title": row["title"]}


def _days(work: PricedWork, pair: CostComparison, break_even: pd.DataFrame) -> float:
    """Return the days of use per month from which a purchase pays against the runner-up; NaN for a plan."""
    if break_even.empty or np.isnan(work.busy):
        return np.nan
    keys = work.table["choice"].iloc[[pair.choice, pair.rival]]
    is_pair = break_even.reindex(columns=["reference", "option"]).isin(list(keys)).all(axis=1)
    days = break_even.loc[(break_even["workload"] == work.model) & is_pair, "break_even_value"]
    return float(days.iloc[0]) if len(days) else np.nan
