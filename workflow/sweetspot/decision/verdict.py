"""The verdict of each work: its choices compared in all samples; commit or not, then which machine and seller."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, Series, concat, isna

from sweetspot.choice_kinds import BUY, COMMIT, CONTRACT, MACHINE, NOT_DECIDED
from sweetspot.decision.decision_problem import Array
from sweetspot.decision.options import NO_MODEL, Row
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval, p_cheaper, shares
from sweetspot.errors import UserError
from sweetspot.wording import DISPATCH, SHARE, TIE, confidence

NOTHING = "nothing"  # The commitment of what is owned already or rented by the hour or month.
RANKS = {NOTHING: 0, CONTRACT: 1, BUY: 2}  # The least binding first.
COMMITMENT = {"own": BUY, "reserved": CONTRACT, "committed": CONTRACT}  # By purchase; of any other: NOTHING.
FIRM_RANGE = 1.05  # A firm price in another currency has the range of its exchange rate.
MIX_TOLERANCE = 0.01  # Mixes of the same machines whose costs differ by no more than this share are one.
NO_OFFERS = DataFrame(columns=["instance", "title", "commitment"])
COLUMNS = columns_of("verdict")
COLUMNS = COLUMNS[: COLUMNS.index("counts")]  # `compare` adds the others.
TOLERANCE = 1e-6  # Choices that differ by a smaller share of their cost in each sample are one alternative.


class PricedWork(NamedTuple):
    """One work (workload) with its choices, cheapest first.

    `table`: columns of the choices and `stands` (may be the answer); `usd`, `today`: USD over the project and USD at
    today's rents, choice x sample; `busy`: days of use a month of an owned machine that a work without a plan assumes;
    `cost`: SHARE, ROUNDS or DISPATCH; `without_speed`: title and commitment of machines without a speed.
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
    without_speed: DataFrame = NO_OFFERS

    @property
    def plan(self) -> bool:
        """Whether the work is a plan of phases or of months, not a single job."""
        return self.cost != SHARE


def choice_table(priced: Sequence[PricedWork], in_hand: Sequence[str]) -> DataFrame:
    """Return the table `choices`, a row per workload and choice (buy, sign, rent ...), cheapest first, which the page
    shows. `_low`, `_high`: 90 % of the samples; `p_cheapest`: share of samples in which its alternative costs least of
    all eligible ones; `p_cheaper`: share in which the choice costs less than the best; `ratio`: its USD / those of the
    best; `is_best`: `standing_of`; `why_not`: rule that excludes a choice, with `reasons`. A choice that cannot do the
    work has no figures. `in_hand`: keys of choices, machines or price lists for which offers have been obtained; empty:
    for all.
    """
    tables = [_compared(work).astype(object) for work in priced]
    table = concat([DataFrame(columns=columns_of("choices")), *tables], ignore_index=True).infer_objects()
    has_offer = table[["choice", "instance", "price_list"]].isin(list(in_hand)).any(axis=1) | (not in_hand)
    return table.assign(in_hand=has_offer)


def _compared(work: PricedWork) -> DataFrame:
    """Return the rows of the table `choices` of one workload, from its samples of USD: ranges, probabilities to be the
    cheapest, and ratios to the best choice.
    """
    table = work.table
    stands = work.table["stands"].to_numpy(bool)
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
    """Return (recommended choice, runner-up or None) as row indices of a workload's choices, on which the verdict
    rests. These are the cheapest choice and the cheapest of another commitment (buy, contract, nothing), else of
    another alternative. If the two are too close to call, the less binding one is recommended, unless the cheaper one
    is a purchase at a firm price. `work`: choices with samples of USD.
    """
    eligible = np.flatnonzero(work.table["stands"]).tolist()
    best = eligible[0]
    ranks = work.table["commitment"].map(RANKS)
    rival = first_alternative(work, best, eligible, "commitment")
    if rival is None:
        return best, first_alternative(work, best, eligible)
    is_tie = confidence(p_cheaper(work.usd[best], work.usd[rival])) == TIE
    is_swapped = is_tie and ranks[rival] < ranks[best] and not has_firm_price(work, best)
    return (rival, best) if is_swapped else (best, rival)


def has_firm_price(work: PricedWork, index: int) -> bool:
    """Return whether a choice (row index) is a purchase at a firm price (no range beyond that of an exchange rate)."""
    row = work.table.iloc[index]
    low, high = price_range(row)
    return bool(row["commitment"] == BUY and 0 < high <= low * FIRM_RANGE)


def price_range(choice: Series) -> tuple[float, float]:
    """Return (low, high) USD of the machine that a choice (row of the choices) buys, to tell whether its price is firm.

    Without a known range it is the price twice.
    """
    low, high = choice[["capex_usd_low", "capex_usd_high"]].astype(float).fillna(choice["capex_usd"])
    return low, high


def first_alternative(work: PricedWork, best: int, indices: Sequence[int], by: str = "alternative") -> int | None:
    """Return the first choice that differs from the best in a column and in some sample's cost, as runner-up; or None.

    Parameters
    ----------
    work, best, indices, by
        The priced workload; row index of the best choice, and those of the choices to look through, in order; the
        column.
    """
    keys = work.table[by]
    usd = work.usd
    for index in indices:
        if keys[index] != keys[best] and not np.allclose(usd[index], usd[best], rtol=TOLERANCE, atol=0.0):
            return index
    return None


def set_aside(options: DataFrame, owned: Collection[str]) -> DataFrame:
    """Return options with `in_answer` False for machines already owned (names), except the reference, on single jobs.

    The price of such machines is spent: they would always be cheapest and tell nothing about buying.
    """
    is_owned = options["instance"].isin(owned) & options["purchase"].eq("own")
    return options.assign(in_answer=options["in_answer"] & (options["is_reference"] | ~is_owned))


def with_missing_speeds(
    works: Sequence[PricedWork], options: DataFrame, offers: DataFrame, titles: Mapping[str, str]
) -> list[PricedWork]:
    """Return works with `without_speed`: offers of machines whose speed is unknown for a work or a class of its jobs.

    The verdict is not decided where such a machine could be the answer.

    Parameters
    ----------
    works, options, offers, titles
        The works (workloads with choices); all options, those that do not fit included; the offers that may be the
        answer; names of machines for people.
    """
    offers = offers.assign(
        title=offers["instance"].replace(dict(titles)), commitment=offers["purchase"].map(COMMITMENT).fillna(NOTHING)
    )
    offers = offers[["instance", "title", "commitment"]].drop_duplicates()

    def timed(work: PricedWork) -> Collection[str]:
        """Return names of machines with a speed for every class of jobs of a work; if it needs none, all machines."""
        is_part = options["model"] == work.model
        if work.cost == DISPATCH:
            is_part = options["workload"].str.startswith(f"{work.name}.")
        counts = options[is_part & options["model"].ne(NO_MODEL)].groupby("instance")["workload"].nunique()
        return options["instance"] if counts.empty else counts.index[counts == counts.max()]

    return [work._replace(without_speed=offers[~offers["instance"].isin(timed(work))]) for work in works]


def verdict_table(
    works: Sequence[PricedWork], answer: str | None, break_even: DataFrame, worth: Mapping[str, str]
) -> DataFrame:
    """Return the table `verdict`, one row per work: the recommended choice, the runner-up and their USD, the answer
    first. A work without an eligible choice has no row. `level`: COMMIT (some choices commit to a purchase or contract)
    or MACHINE (none does); `best`, `rival`: `standing_of`; `ratio`: USD of the rival / USD of the best; `take`,
    `take_rival`: the cheapest and next machine and seller of that commitment, at today's prices if not committed;
    `machine`: the option that `take` uses most; `timed`, `trial_usd`, `saving_usd`: its timings, their cost and saving;
    `without_speed`: machines without a speed that may matter; `buy_below_usd`: price of one machine (`box_title`) at
    which buying costs as much as the cheapest choice that buys nothing; `work_factor`, `work_until`: times the work
    from which, and up to which, buying pays; `from_jobs`: jobs per month from which paying by the month is cheaper;
    `pays_from_days`: days of use per month from which buying pays, of a work without a plan.

    Parameters
    ----------
    works, answer, break_even, worth
        The works (workloads with choices); name of the work that the study is about; the table of values from which
        purchases pay off; the figure to find out first, by work, of single jobs by model (`first_to_find_out`).
    """
    break_even = break_even.reindex(columns=columns_of("break_even"))
    rows = [
        _verdict_row(work, break_even) | {"find_out_first": worth.get(work.name if work.plan else work.model, "")}
        for work in sorted(works, key=lambda work: work.name != answer)
        if work.table["stands"].any()
    ]
    table = DataFrame(rows).reindex(columns=COLUMNS).infer_objects()
    return table.assign(
        is_answer=table["workload"] == answer,
        firm_price=table["firm_price"].eq(True),
        find_out_first=table["find_out_first"].mask(table["confidence"].eq("clear"), ""),
    )


def answer_work(works: Sequence[PricedWork], requested: str | None) -> str | None:
    """Return the name of the work (workload) that the study's answer is about: `requested`, else the first plan or
    work. None without any; UserError if `requested` has no price.
    """
    names = [work.name for work in sorted(works, key=lambda work: not work.plan)]
    if requested is not None and requested not in names:
        raise UserError(f"study.yaml: work is {requested!r}; expected one of {', '.join(names) or 'none: no price'}")
    return requested or next(iter(names), None)


def first_to_find_out(worth: DataFrame) -> dict[str, str]:
    """Return {work or model: the figure to find out first}: its worth (`worth_knowing`) most exceeds the cost to learn
    it. Works without such a figure are left out.
    """
    net_usd = worth["evppi_usd"] - worth["cost_to_learn_usd"].fillna(0.0)
    rows = worth.assign(net_usd=net_usd)[worth["evppi_usd_low"].gt(0) & net_usd.gt(0)]
    rows = rows.sort_values("net_usd", ascending=False, kind="stable").drop_duplicates("workload")
    return dict(zip(rows["workload"], rows["figure"], strict=True))


def _verdict_row(work: PricedWork, break_even: DataFrame) -> Row:
    """Return the verdict on one work as a row of the table, {column: value}.

    It has the recommended choice, the runner-up, machine and seller to take, ratios of cost, and break-even values from
    the table `break_even`.
    """
    table = work.table
    best, rival = standing_of(work)
    commitment = table["commitment"].iloc[best]
    commits = rival is not None and table["commitment"].iloc[rival] != commitment

    # What binds nobody is chosen at today's prices.
    column, samples = ("usd_at_todays_prices", work.today) if commitment == NOTHING else ("usd", work.usd)
    candidates = table[table["stands"] & table["commitment"].eq(commitment)]
    take, *rivals = candidates.sort_values([column, "choice"], kind="stable").index.tolist()
    take_rival = first_alternative(work, take, rivals)
    ratios = _ratios(samples, table[column], take, take_rival)
    facts: Row = {f"take_{name}": value for name, value in ratios.items()}
    if commits:
        ratios = _ratios(work.usd, table["usd"], best, rival) | _box_price(work)
    else:
        best = take
        rival = take_rival
    for name, index in {"best": best, "rival": rival, "take": take, "take_rival": take_rival}.items():
        if index is not None:
            facts |= {name: table["choice"][index], **table.loc[index].add_prefix(f"{name}_")}

    facts |= {name: facts.get(f"take_{name}") for name in ("timed", "trial_usd", "saving_usd")}
    lacking = work.without_speed[work.without_speed["commitment"].ne(commitment) & (not commits)]
    sure = "clear" if rival is None else confidence(ratios["p_cheaper"])
    return facts | ratios | _by_use(work, break_even, best, rival) | _by_the_month(work, take) | {
        "workload": work.name,
        "workload_title": work.title,
        "level": COMMIT if commits else MACHINE,
        "confidence": NOT_DECIDED if len(lacking) else sure,
        "kind": facts["best_kind"],
        "months": work.months,
        "usd": facts["best_usd"],
        "usd_per_month": facts["best_usd"] / work.months,
        "machine": facts.get("take_lead_option") or facts["take"],
        "busy_days_per_month": work.busy,
        "without_speed": lacking["title"].unique().tolist(),
    }  # fmt: skip


def _ratios(samples: Array, usd: Series, best: int, rival: int | None) -> dict[str, float]:
    """Return how clearly the best beats a rival: `ratio` of their USD with 90 % range, `p_cheaper`; {} without a rival.

    `samples`: USD, choice x sample; `usd`: at central figures; `best`, `rival`: indices of choices.
    """
    if rival is None:
        return {}
    with np.errstate(invalid="ignore", divide="ignore"):  # What is owned and free costs nothing.
        low, high = map(float, interval(samples[rival] / samples[best]))
        ratio = usd[rival] / usd[best]
    share = p_cheaper(samples[best], samples[rival])
    return {"ratio": ratio, "ratio_low": low, "ratio_high": high, "p_cheaper": share}


def _box_price(work: PricedWork) -> Row:
    """Return {verdict column: value} of the machine of the cheapest purchase: title, USD, and USD at which buying
    breaks even. The page then says below which price to buy; {} if nothing is bought.
    """
    stands = work.table[work.table["stands"]]
    is_bought = stands["commitment"].eq(BUY)
    for index, box in stands[is_bought & stands["usd_per_capex"].gt(0)].head(1).iterrows():
        low, high = price_range(box)
        below = box.get("pays_below_usd")
        if isna(below):  # With another number of machines the work is another: only the price changes.
            saving_usd = stands.loc[~is_bought, "usd"].iloc[0] - box["usd"]
            below = box["capex_usd"] + saving_usd / box["usd_per_capex"]
        return {
            "box_title": box["box_title"],
            "box_usd": box["capex_usd"],
            "box_usd_low": low,
            "box_usd_high": high,
            "firm_price": has_firm_price(work, index),
            "buy_below_usd": below if below > 0 else np.nan,
        }
    return {}


def _by_the_month(work: PricedWork, index: int) -> Row:
    """Return `from_jobs`, jobs per month from which paying by the month is cheaper, and `by_hour_title`, the offer by
    the hour that it is compared with; or {}.

    `index`: the row of the machine and seller to take.
    """
    month_usd = work.table.get("month_usd", work.table["usd"] * np.nan)
    rivals = work.table[work.table["stands"] & month_usd.isna()]
    if work.months == 1.0 or isna(month_usd[index]) or rivals.empty:
        return {}
    rival = rivals.iloc[0]
    return {"from_jobs": month_usd[index] / rival["usd"], "by_hour_title": rival["title"]}


def _by_use(work: PricedWork, rows: DataFrame, best: int, rival: int | None) -> Row:
    """Return {verdict column: value}: from which multiple of the work, or of a single job from which days of use per
    month, buying pays. `rows`: the table `break_even`; `best`, `rival`: row indices of the work's choices; {}: no such
    value.
    """
    is_amount = rows["workload"].eq(work.name) & rows["quantity"].isin(["jobs", "device_hours"])
    for row in rows[is_amount].sort_values("factor", kind="stable").head(1).to_dict("records"):
        until = row["pays_until"] / row["planned"]
        return {"work_factor": row["factor"], "work_until": until, "pays_title": row["title"]}

    pair = work.table.loc[[best, best if rival is None else rival]]
    if work.plan or not pair["kind"].eq(BUY).any():
        return {}
    is_pair = rows["workload"].eq(work.model) & rows[["reference", "option"]].isin([*pair["choice"]]).all(axis=1)
    return {"pays_from_days": next(iter(rows.loc[is_pair, "break_even_value"]), np.nan)}
