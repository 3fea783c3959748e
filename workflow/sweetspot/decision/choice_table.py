"""The choices of each work of a study, with their costs in all samples, by what they commit one to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import or_zero, possession
from sweetspot.choice_kinds import BUY, CANNOT, CONTRACT, EXCLUDED, KEEP, LIMIT, MAY_STOP, MIX, RENT
from sweetspot.decision.decision_problem import Array, Parameter, ParameterValues
from sweetspot.decision.monthly_work import COMMITTED, UP_FRONT, MonthlyWork
from sweetspot.decision.options import NO_MODEL, Row, records
from sweetspot.decision.phases_problem import PhasesProblem
from sweetspot.decision.simulate import Draws
from sweetspot.decision.sources import MIX_TOLERANCE, failure_reasons, is_best, mix_title, owned_hours
from sweetspot.draws import interval, p_cheaper, shares
from sweetspot.mixes.dispatch import dispatch
from sweetspot.mixes.search import BEST, Mix
from sweetspot.phrases import decided as texts
from sweetspot.phrases.decided import WHY_NOT
from sweetspot.study.settings import Settings
from sweetspot.wording import DISPATCH, ROUNDS, SHARE, TIE, Money, confidence

OWNED_SHARE = 0.5  # Of the device-hours: from here on the choice is called keeping what one has.
NOTHING = "nothing"  # The commitment of what is owned already or rented by the hour or month.
COMMITMENTS = (NOTHING, CONTRACT, BUY)  # The least binding first.
OUTCOMES = 20  # Quantiles of the cost that charts draw, equally likely.
MAXIMUM_PRICED = 24  # Machines of a kind for which a break-even price is looked for.
FIRM_RANGE = 1.05  # A firm price in another currency has the range of its exchange rate.
TOLERANCE = 1e-6  # Choices that differ by a smaller share of their cost in each sample are one alternative.
CAPEX = ("capex_usd", "capex_usd_low", "capex_usd_high")
OPTION_COLUMNS = ("title", "alternative", "instance", "purchase", "price_list", "persistent", "basis", "in_answer",
                  "is_reference", *CAPEX)  # fmt: skip
PLAN_COLUMNS = ("title", "alternative", "counts", "hours", "hours_low", "hours_high", "planned_hours", "device_hours",
                "usd")  # fmt: skip
COLUMNS = (
    "workload", "workload_title", "months", "cost", "model", "choice", "title", "kind", "commitment", "alternative",
    "instance", "purchase", "price_list", "persistent", "basis", "counts", "hours", "hours_low", "hours_high",
    "planned_hours", "device_hours", "usd", "usd_low", "usd_high", "usd_outcomes", "usd_per_month", "usd_per_month_low",
    "usd_per_month_high", "usd_per_month_central", "p_cheapest", "p_cheaper", "ratio", "ratio_low", "ratio_high",
    "is_best", "is_rival", "in_hand", "why_not", "why_not_rule", "mix", "source", "main_rented", "sold", "timed",
    "trial_usd", "saving_usd",
)  # fmt: skip


@dataclass(frozen=True)
class MixChoice:
    """The choice of a mix, its columns of the table of choices that need no samples; USD are of the whole work.

    `counts`: machines bought or signed for; `main_rented`: the offer that does most of what is rented;
    `all_rented_title`: its title where nothing else is used; `usd_per_capex`: USD by each USD of the machine's price;
    `pays_below_usd`: price of one machine below which the best mix holds some of it.
    """

    choice: str
    title: str
    kind: str
    commitment: str
    alternative: str
    instance: str | None
    counts: float
    device_hours: float
    usd: float
    usd_per_month_central: float
    mix: str
    source: str | None
    main_rented: str | None
    all_rented_title: str | None
    sold: float
    timed: list[str]
    trial_usd: float
    saving_usd: float
    why_not: str | None
    why_not_rule: str | None
    in_answer: bool
    persistent: bool = True
    is_reference: bool = False
    price_list: str | None = None
    box_title: str | None = None
    capex_usd: float = np.nan
    capex_usd_low: float = np.nan
    capex_usd_high: float = np.nan
    usd_per_capex: float = 0.0
    pays_below_usd: float = np.nan


class PricedWork(NamedTuple):
    """One work with its choices, cheapest first.

    `table`: columns of the choices and `stands` (may be the answer); `usd`, `today`, `capex`: choice x sample of the
    USD, of those at today's rents, and of the machine's price (infinite: none is bought); `busy`: days of use a month
    that a work without a plan supposes of an owned machine; `cost`: SHARE, ROUNDS or DISPATCH; `limits`: sentences on
    limits of the team and terms of offers; `months_work`: of work that grows, that of each month over the mean;
    `without_speed`: title and commitment of offers without a speed for it.
    """

    name: str
    title: str
    months: float
    table: pd.DataFrame
    usd: Array
    today: Array
    capex: Array
    busy: float = np.nan
    cost: str = SHARE
    model: str = ""
    limits: tuple[str, ...] = ()
    months_work: tuple[float, ...] = ()
    without_speed: tuple[tuple[str, str], ...] = ()

    @property
    def plan(self) -> bool:
        """Whether it is a plan of phases or of months."""
        return self.cost != SHARE


def works(
    options: pd.DataFrame,
    draws: Draws,
    plans: Sequence[PhasesProblem],
    monthly: Sequence[MonthlyWork],
    settings: Settings,
    titles: Mapping[str, str] | None = None,
    options_of_any_fit: pd.DataFrame | None = None,
    offers: pd.DataFrame | None = None,
) -> list[PricedWork]:
    """Price the work of months, the plans of phases, then each workload of the options that is no part of these.

    Parameters
    ----------
    options, draws
        The options that fit, and their samples.
    plans, monthly
        Plans of phases and work of months.
    settings
        The study's settings.
    titles
        Names of plans for people.
    options_of_any_fit, offers
        All options and all offers; without them no offer is looked for that lacks a speed.
    """
    priced = [_monthly_work(work, options, draws, settings.money) for work in monthly]
    priced += [_phased_work(plan, options, draws) for plan in plans]
    priced = [work._replace(title=(titles or {}).get(work.name, work.title)) for work in priced]
    prefixes = tuple(f"{work.name}." for work in monthly)
    jobs = options[~options["workload"].astype(str).str.startswith(prefixes)] if prefixes else options
    priced += [_single_work(str(name), rows, draws, settings) for name, rows in jobs.groupby("workload", sort=False)]
    if options_of_any_fit is None or offers is None or offers.empty:
        return priced
    eligible = offers[offers["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)]
    problems = {work.name: work for work in monthly}
    lacking = [_without_speed(work, problems.get(work.name), options_of_any_fit, eligible) for work in priced]
    titles_of = [tuple((settings.titles.get(name, name), binds) for name, binds in offers) for offers in lacking]
    return [work._replace(without_speed=names) for work, names in zip(priced, titles_of, strict=True)]


def _without_speed(
    work: PricedWork, monthly: MonthlyWork | None, options: pd.DataFrame, offers: pd.DataFrame
) -> list[tuple[str, str]]:
    """List machine and commitment of the offers without a speed for a work, or for a class of its jobs."""
    models = {work.model} if monthly is None else {str(job.model) for job in monthly.work.jobs if job.model}
    if not models or NO_MODEL in models:
        return []
    timed = [set(options.loc[options["model"] == model, "instance"]) for model in models]
    owned = () if monthly is None else monthly.work.have
    missing = offers[~offers["instance"].isin(set.intersection(*timed).union(owned))]
    binds = missing["purchase"].map({"own": BUY} | dict.fromkeys(COMMITTED, CONTRACT)).fillna(NOTHING)
    return list(dict.fromkeys(zip(missing["instance"].astype(str), binds, strict=True)))


def choice_table(priced: Sequence[PricedWork], in_hand: Sequence[str]) -> pd.DataFrame:
    """List the choices of all works, cheapest first, with how they compare.

    Parameters
    ----------
    priced
        The works.
    in_hand
        Keys of choices, machines or price lists of which one holds offers; none: of all.

    Returns
    -------
    pandas.DataFrame
        COLUMNS, a row per work and choice. `_low`, `_high`: 90 % of the samples; `usd_outcomes`: OUTCOMES quantiles;
        `p_cheapest`: share of samples in which its alternative costs least of all that may be the answer; `p_cheaper`:
        in which it costs less than the best; `ratio`: its USD / those of the best; `is_best`, `is_rival`:
        `standing_of`. A choice that does not do the work has no figures.
    """
    rows = [row for work in priced for row in _compared(work, list(in_hand)).to_dict("records")]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _compared(work: PricedWork, in_hand: Sequence[str]) -> pd.DataFrame:
    table, stands = work.table, work.table["stands"].to_numpy(bool)
    best, rival = standing_of(work) if stands.any() else (None, None)
    complete = np.flatnonzero(np.isfinite(table["usd"].to_numpy(float)))
    usd, central = work.usd[complete], table["usd"].iloc[complete]
    low, high = interval(usd)
    figures = pd.DataFrame({"usd": central, "usd_low": low, "usd_high": high})
    figures = figures.join((figures / work.months).rename(columns=lambda name: name.replace("usd", "usd_per_month")))
    quantiles = (np.arange(OUTCOMES) + 0.5) / OUTCOMES
    figures["usd_outcomes"] = np.quantile(usd, quantiles, axis=1, method="nearest").T.tolist()
    if best is not None:
        # Of mixes each is its own alternative; a trial of a few dollars makes none of them the more expensive one.
        is_mix = work.cost == DISPATCH
        alternative = table["choice"] if is_mix else table["alternative"].fillna(table["choice"])
        cheapest = shares(work.usd[stands], alternative[stands].tolist(), MIX_TOLERANCE if is_mix else TOLERANCE)
        figures["p_cheapest"] = alternative.map(cheapest)
        figures["p_cheaper"] = [p_cheaper(samples, work.usd[best]) for samples in usd]
        figures.loc[best, "p_cheaper"] = np.nan
        with np.errstate(invalid="ignore"):
            figures["ratio"] = central / central[best]
            figures["ratio_low"], figures["ratio_high"] = interval(usd / work.usd[best])
    has_offer = table[["choice", "instance", "price_list"]].isin(in_hand).any(axis=1) | (not in_hand)
    table = table.drop(columns="usd").join(figures).assign(
        workload=work.name, workload_title=work.title, months=work.months, cost=work.cost, model=work.model or None,
        is_best=table.index == best, is_rival=table.index == rival, in_hand=has_offer,
    )  # fmt: skip
    return table.reindex(columns=list(COLUMNS))


def standing_of(work: PricedWork) -> tuple[int, int | None]:
    """Return the indices of the recommended choice and of the runner-up of a work with an eligible choice.

    These are the cheapest and the cheapest of another commitment, where none has another the cheapest of another
    alternative. Where the two are too close to call the lesser commitment is recommended, except that of a purchase at
    a firm price the cheaper one is.
    """
    eligible = np.flatnonzero(work.table["stands"]).tolist()
    best, ranks = eligible[0], work.table["commitment"].map(COMMITMENTS.index)
    rival = first_alternative(work, best, eligible, "commitment")
    if rival is None:
        return best, first_alternative(work, best, eligible)
    is_tie = confidence(p_cheaper(work.usd[best], work.usd[rival])) == TIE
    is_swapped = is_tie and ranks[rival] < ranks[best] and not has_firm_price(work, best)
    return (rival, best) if is_swapped else (best, rival)


def has_firm_price(work: PricedWork, index: int) -> bool:
    """Return whether a choice is a purchase at a price without a range, but for that of an exchange rate."""
    row = work.table.iloc[index]
    low, high = row[list(CAPEX[1:])].astype(float).fillna(row["capex_usd"])
    return bool(row["commitment"] == BUY and 0 < high <= low * FIRM_RANGE)


def first_alternative(work: PricedWork, best: int, indices: Sequence[int], by: str = "alternative") -> int | None:
    """Return the first of `indices` that differs from `best` in the column `by` and in some sample of its cost."""
    keys, usd = work.table[by].to_numpy(object), work.usd
    rivals = (index for index in indices if keys[index] != keys[best])
    return next((index for index in rivals if not np.allclose(usd[index], usd[best], rtol=TOLERANCE, atol=0.0)), None)


def _sorted_work(
    name: str, months: float, table: pd.DataFrame, samples: Sequence[Any], limits: Iterable[str]
) -> PricedWork:
    """Sort choices by cost; of those that do the work the persistent and the study's own may be the answer, else all.

    `samples`: `usd`, `today`, `capex` of a PricedWork.
    """
    persistent, in_answer = table["persistent"].astype(bool), table["in_answer"].astype(bool)
    able = in_answer & np.isfinite(table["usd"].astype(float))
    lasting = able & (persistent | table["is_reference"].astype(bool))
    stands = lasting if lasting.any() else able
    rule = pd.Series(np.select([~in_answer, persistent], [EXCLUDED, CANNOT], MAY_STOP), table.index, dtype=object)
    rules = table.reindex(columns=["why_not", "why_not_rule"]).astype(object)
    reasons = rules["why_not"].fillna(rule.map(WHY_NOT))
    rule = rules["why_not_rule"].fillna(rule.mask(rules["why_not"].notna(), CANNOT))
    table = table.assign(stands=stands, why_not=reasons.mask(stands, None), why_not_rule=rule.mask(stands, None))
    table = table.reset_index(drop=True).sort_values(["usd", "choice"], kind="stable")
    usd, today, capex = (np.asarray(values)[table.index] for values in samples)
    return PricedWork(name, name, months, table.reset_index(drop=True), usd, today, capex, limits=tuple(limits))


def _offer_terms(rows: Sequence[Row], at_once: bool) -> Iterator[str]:
    """Say until when offers stand and, where the costs suppose all machines `at_once`, which ones come later."""
    eligible = [row for row in rows if row["in_answer"]]
    late = {row["title"]: row["delivery_months"] for row in eligible if or_zero(row.get("delivery_months")) > 0}
    if late and at_once:
        yield texts.late_in_words(late)
    dated = [row for row in eligible if pd.notna(row.get("offer_until"))]
    for ended in (True, False):
        days = {row["title"]: row["offer_until"] for row in dated if bool(row["offer_ended"]) == ended}
        if days:
            yield texts.until_in_words(days, ended)


def _option_work(
    name: str, months: float, rows: pd.DataFrame, columns: pd.DataFrame, usd: Array, fixed_usd: pd.Series, draws: Draws
) -> PricedWork:
    """Return a work whose choices are options, with other `columns`; `fixed_usd`: USD for having the machine."""
    options = records(rows)
    kinds, binds = zip(*map(_kind_of, options), strict=True)
    slopes = [_usd_per_capex(*pair) for pair in zip(options, fixed_usd, strict=True)]
    table = rows[list(OPTION_COLUMNS)].assign(
        choice=rows["option"], kind=kinds, commitment=binds, box_title=rows["title"], usd_per_capex=slopes,
        usd_at_todays_prices=columns["usd"] / rows["rent_factor"], **columns,
    )  # fmt: skip
    capex = [_capex(row, draws, usd.shape[1]) for row in options]
    rises = 1.0 if draws.rents is None else [draws.rents.factor(row) * float(row["rent_factor"]) for row in options]
    return _sorted_work(name, months, table, (usd, usd / rises, capex), _offer_terms(options, at_once=True))


def _phased_work(plan: PhasesProblem, options: pd.DataFrame, draws: Draws) -> PricedWork:
    rows = options[options["model"] == plan.phase_model].drop_duplicates("option", keep="last")
    rows = rows.loc[pd.Series(rows.index, rows["option"])[plan.table["option"]]]
    costs = plan.table.set_axis(rows.index).rename(columns={"boxes": "counts"})
    work = _option_work(
        plan.workload, plan.months, rows, costs[list(PLAN_COLUMNS)], plan.samples_usd, costs["ownership_usd"], draws
    )
    return work._replace(cost=ROUNDS, model=plan.phase_model)


def _single_work(name: str, rows: pd.DataFrame, draws: Draws, settings: Settings) -> PricedWork:
    months_of_use = rows["hours"].astype(float) / (HOURS_A_DAY * rows["days_per_month"])  # Of an owned machine.
    fixed_usd, first = months_of_use * rows["fixed_usd_per_month"].fillna(0.0), rows.iloc[0]
    columns = rows[["usd", "hours", "month_usd"]].assign(device_hours=rows["hours"] * rows["gpus"].fillna(1))
    months, title = 1.0 if settings.counts == "month" else np.nan, str(first.get("workload_title") or name)
    work = _option_work(name, months, rows, columns.assign(counts=1.0), draws.usd[rows.index], fixed_usd, draws)
    days = rows.loc[[_kind_of(row)[0] == BUY for row in records(rows)], "days_per_month"].astype(float)
    if title == name and first["model"] != NO_MODEL:
        title = str(first["model_title"])
    return work._replace(title=title, model=str(first["model"]), busy=next(iter(days), np.nan))


def _kind_of(row: Row) -> tuple[str, str]:
    """Return kind and commitment of one option."""
    if row["purchase"] == "own":
        return (BUY, BUY) if or_zero(row["capex_usd"]) > 0 else (KEEP, NOTHING)
    return (CONTRACT, CONTRACT) if row["purchase"] in COMMITTED else (RENT, NOTHING)


def _capex(row: Row | None, draws: Draws, size: int) -> Array:
    """Return samples of the price of a machine for sale; infinite for what is not."""
    if row is None or _kind_of(row)[0] != BUY:
        return np.full(size, np.inf)
    sampled = (figure.values for figure in draws.figures if figure.name == "capex_usd" and row["row"] in figure.rows)
    return next(sampled, np.full(size, float(row["capex_usd"])))[:size]


def _usd_per_capex(row: Row, fixed_usd: float) -> float:
    """Return the derivative of a work's USD with respect to the machine's price, by a finite difference of 10 %."""
    if _kind_of(row)[0] != BUY or not row["fixed_usd_per_month"] > 0:
        return 0.0

    def month(rise: float) -> Any:
        return possession(row, lambda name: rise if name == "capex_usd" else 1.0)

    return float(fixed_usd / row["fixed_usd_per_month"] * (month(1.1) - month(1.0)) / (0.1 * row["capex_usd"]))


def _monthly_work(monthly: MonthlyWork, options: pd.DataFrame, draws: Draws, money: Money) -> PricedWork:
    rows = {row["option"]: row for row in records(options.drop_duplicates("option"))}
    best, months, choices, capex, rented_kind = monthly.mixes[0], float(monthly.work.months), [], [], ""
    mixes = [mix for mix in monthly.mixes if mix.kind == BEST or not is_best(mix, best)]
    for mix in mixes:
        box = rows[next(iter(mix.bought))] if mix.bought else None
        choice = _mix_choice(monthly, mix, box, money)
        if box is None and choice.main_rented and not choice.sold:
            # As the cheapest of them: a faster device takes fewer hours for the same work.
            rented_kind = rented_kind or choice.kind
            choice = replace(choice, kind=rented_kind)
        choices.append(choice)
        capex.append(_capex(box, draws, mix.done.usd.size))
    table, usd = pd.DataFrame(map(asdict, choices)), np.stack([mix.done.usd * months for mix in mixes])
    limits = [texts.sooner_in_words(best.filled)] if best.filled < 1 else []
    limits += [texts.price_of_limit(limit.limit, limit.allowed, usd, money) for limit, usd in monthly.limit_costs]
    limits += _offer_terms([source.offer for source in monthly.sources if not source.there], at_once=False)
    table = table.assign(usd_at_todays_prices=table["usd"])
    work = _sorted_work(monthly.name, months, table, (usd, usd, capex), limits)._replace(cost=DISPATCH)
    if not monthly.growth.any():
        return work
    central = best.at(monthly.central)
    hours = np.sum([central.device_hours(name) for name in central.sources], axis=(0, 1))
    return work._replace(months_work=tuple(hours / hours.mean()))


def _mix_choice(monthly: MonthlyWork, mix: Mix, box: Row | None, money: Money) -> MixChoice:
    """Return the choice of a mix; `box`: what it buys or signs for first."""
    months, lead, count = float(monthly.work.months), mix.done.lead or None, sum(mix.bought.values())
    hours, owned = owned_hours(monthly, mix)
    reasons = [] if np.isfinite(mix.expected) else failure_reasons(monthly, mix)
    violations = [] if reasons else [texts.breaks(*limit, money) for limit in monthly.violations(mix)]
    # Renting on one offer mostly is the choice of that offer alone, where nothing is owned.
    alternative, details = lead if box is None and not any(monthly.drawn.owned) else None, dict[str, Any]()
    if box is None:
        stays = (monthly.at_home and lead is None) or owned >= OWNED_SHARE * hours
        kind, commitment = KEEP if stays else RENT, NOTHING
    else:
        kind, commitment = _kind_of(box)
        kind = MIX if lead is not None and commitment == BUY else kind
        fixed_usd = box["fixed_usd_per_month"] * next(iter(mix.bought.values())) * months
        details = {name: box[name] for name in ("price_list", *CAPEX)} | {"box_title": box["title"]}
        details["usd_per_capex"] = _usd_per_capex(box, fixed_usd)
        details["pays_below_usd"] = price_that_pays(monthly, str(box["option"])) if commitment == BUY else np.nan
    return MixChoice(
        choice=mix.key,
        title=mix_title(mix, monthly),
        kind=kind,
        commitment=commitment,
        alternative=alternative or mix.key,
        instance=lead if box is None else box["instance"],
        counts=float(count),
        device_hours=hours * months,
        usd=mix.expected * months,
        usd_per_month_central=np.nan if reasons else float(mix.at(monthly.central).usd[0]),
        mix=mix.kind,
        source=mix.source or None,
        main_rented=lead,
        all_rented_title=monthly.title(lead) if lead and not monthly.at_home and not count else None,
        sold=float(sum(mix.sold.values())),
        timed=list(dict.fromkeys(trial.title for trial in monthly.trials_of(mix))),
        trial_usd=mix.problem.trial_usd * months,
        saving_usd=mix.saving * months,
        why_not=f"cannot: {'; '.join(reasons)}" if reasons else "; ".join(violations) or None,
        why_not_rule=LIMIT if violations else None,
        in_answer=not violations,
        **details,
    )


def price_that_pays(monthly: MonthlyWork, name: str) -> float:
    """Return USD of one machine of a kind at which the cheapest mix with some costs as much as the best without any.

    With a given number of machines the cost is linear in their price; the number that is best at the price that pays
    is the one of which it is highest. NaN without such a mix.
    """
    owned, source = monthly.drawn.owned, monthly.source(name)
    for_sale = {offered.offer["option"] for offered in monthly.sources if offered.offer["purchase"] == "own"}
    rivals = [mix for mix in monthly.mixes if for_sale.isdisjoint(mix.bought) and not monthly.violations(mix)]
    index = [kind.name for kind in monthly.drawn.held].index(name)
    price = float(source.offer["capex_usd"])
    doubled = Parameter("capex_usd", name, name, "USD", 1.0, 1.0, 1.0, "declared", "capex_usd", source.labels)
    problems = monthly.moved(ParameterValues(1, {doubled: 2.0})), monthly.drawn
    month = float(np.subtract(*(problem.held[index].fixed.mean() for problem in problems)))  # USD for the price alone.
    if not rivals or not month > 0:
        return np.nan
    rival_usd = min(mix.expected for mix in rivals)
    up_front, highest = monthly.limits.get(UP_FRONT, np.inf), np.nan
    for base in {owned, monthly.mixes[0].counts}:
        previous = -np.inf
        for number in range(1, MAXIMUM_PRICED + 1):
            counts = (*base[:index], owned[index] + number, *base[index + 1 :])
            mix = monthly.with_strategy(Mix(BEST, "", dispatch(monthly.drawn, counts)))
            if any(violation.limit != UP_FRONT for violation in monthly.violations(mix)):
                continue
            below = price * (1 + (rival_usd - mix.expected) / (number * month))
            if below < previous:
                break
            previous, highest = below, np.fmax(highest, min(below, up_front / number))
    return float(highest)
