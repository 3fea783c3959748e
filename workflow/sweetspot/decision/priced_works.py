"""Prices all works of a study (monthly work, plans of phases, single jobs): a table of choices and samples of USD."""

from collections.abc import Mapping, Sequence

import numpy as np
from pandas import DataFrame, Series

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.rates import possession
from sweetspot.choice_kinds import BUY, CANNOT, CONTRACT, EXCLUDED, KEEP, LIMIT, MAY_STOP, MIX, RENT
from sweetspot.decision.decision_problem import Array, ParameterValues, all_of
from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import NO_MODEL, Row, records
from sweetspot.decision.phases_problem import PhasesProblem
from sweetspot.decision.simulate import Draws
from sweetspot.decision.verdict import COMMITMENT, NOTHING, PricedWork
from sweetspot.mixes.search import Mix
from sweetspot.study.settings import Settings
from sweetspot.wording import DISPATCH, ROUNDS

OWNED_SHARE = 0.5  # Of the device-hours: from here on the choice is called keeping what one has.
MAXIMUM_PRICED = 24  # Machines of a kind for which a break-even price is looked for.
CAPEX = ["capex_usd", "capex_usd_low", "capex_usd_high"]
OPTION_COLUMNS = ["title", "alternative", "instance", "purchase", "price_list", "persistent", "in_answer",
                  "is_reference", *CAPEX]  # fmt: skip


def works(
    options: DataFrame,
    draws: Draws,
    plans: Sequence[PhasesProblem],
    monthly: Sequence[MonthlyWork],
    settings: Settings,
    titles: Mapping[str, str],
) -> list[PricedWork]:
    """Return each workload of a study with its choices and their USD, from which verdicts are made.

    Monthly work comes first, then plans of phases, then each other workload of the options (single jobs).

    Parameters
    ----------
    options, draws, plans, monthly, settings, titles
        The options that fit, and their samples; plans of phases and monthly workloads; the study's settings; titles of
        plans and monthly workloads by name.
    """
    priced = [_monthly_work(work, options) for work in monthly]
    priced += [_phased_work(plan, options, draws) for plan in plans]
    priced = [work._replace(title=titles.get(work.name, work.title)) for work in priced]
    is_part = options["workload"].astype(str).str.startswith(tuple(f"{work.name}." for work in monthly))
    jobs = options[~is_part].groupby("workload", sort=False)
    priced += [_single_work(str(name), rows, draws, settings) for name, rows in jobs]
    return priced


def _sorted_work(name: str, months: float, table: DataFrame, usd: Array, today: Array) -> PricedWork:
    """Return a workload with its choices sorted by USD, and `stands`: whether a choice may be the answer of the
    verdict. It may if feasible, and persistent (nobody takes it away) or the reference; if none is, all feasible ones
    may. `why_not` says why others may not. `table`: a row per choice; `usd`, `today`: choice x sample, at future and at
    today's rents.
    """
    persistent = table["persistent"]
    in_answer = table["in_answer"]
    able = in_answer & np.isfinite(table["usd"].astype(float))
    lasting = able & (persistent | table["is_reference"])
    stands = lasting if lasting.any() else able
    rules = Series(np.select([~in_answer, persistent], [EXCLUDED, CANNOT], MAY_STOP), table.index, dtype=object)
    if "why_not" in table:
        rules = table["why_not"].fillna(rules)
    table = table.assign(stands=stands, why_not=rules.mask(stands, None)).reset_index(drop=True)
    order = table.sort_values(["usd", "choice"], kind="stable").index
    return PricedWork(name, name, months, table.loc[order].reset_index(drop=True), usd[order], today[order])


def _option_work(name: str, months: float, rows: DataFrame, columns: DataFrame, usd: Array, draws: Draws) -> PricedWork:
    """Return a workload whose choices are single options (a machine at a price each) as a priced work for the verdict.

    It is a plan of phases or a single job. `rows`: the options; `columns`: further columns by choice, `ownership_usd`
    of the machine among them; `usd`: choice x sample.
    """
    options = records(rows)
    kinds = [_kind_of(row) for row in options]
    table = rows[OPTION_COLUMNS].assign(
        choice=rows["option"],
        kind=kinds,
        commitment=[kind if kind in (BUY, CONTRACT) else NOTHING for kind in kinds],
        box_title=rows["title"],
        usd_per_capex=list(map(_usd_per_capex, options, columns["ownership_usd"])),
        usd_at_todays_prices=columns["usd"] / rows["rent_factor"],
        **columns,
    )
    rises = 1.0 if draws.rents is None else [draws.rents.factor(row) * row["rent_factor"] for row in options]
    return _sorted_work(name, months, table, usd, usd / rises)


def _phased_work(plan: PhasesProblem, options: DataFrame, draws: Draws) -> PricedWork:
    """Return a plan of phases as a priced work for the verdict: a choice per option that can run it, USD choice x
    sample. `options`, `draws`: all options (a machine at a price) and their samples.
    """
    rows = options.loc[[choice.row["row"] for choice in plan.choices]]
    columns = plan.table.set_axis(rows.index)
    work = _option_work(plan.workload, plan.months, rows, columns, plan.samples_usd, draws)
    return work._replace(cost=ROUNDS, model=rows["model"].iloc[0])


def _single_work(name: str, rows: DataFrame, draws: Draws, settings: Settings) -> PricedWork:
    """Return the workload of a single job as a priced work for the verdict: a choice per option that can do it.

    `rows`: its options, a machine at a price each; `draws`: samples, of which the choices' USD are taken, choice x
    sample.
    """
    months_of_use = rows["hours"].astype(float) / (HOURS_A_DAY * rows["days_per_month"])  # Of an owned machine.
    columns = rows[["usd", "hours", "month_usd"]].assign(
        device_hours=rows["hours"] * rows["gpus"].fillna(1),
        counts=1.0,
        ownership_usd=months_of_use * rows["fixed_usd_per_month"],
    )
    months = 1.0 if settings.counts == "month" else np.nan
    work = _option_work(name, months, rows, columns, draws.usd[rows.index], draws)
    first = rows.iloc[0]
    model = first["model"]
    title = first.get("workload_title") or name
    if title == name and model != NO_MODEL:
        title = first["model_title"]
    days = rows.loc[rows["purchase"].eq("own") & (rows["capex_usd"] > 0), "days_per_month"].tolist()
    return work._replace(title=title, model=model, busy=next(iter(days), np.nan))


def _kind_of(row: Row) -> str:
    """Return what taking an option means to the team: BUY, KEEP (owned already), CONTRACT or RENT."""
    if row["purchase"] == "own" and not row["capex_usd"] > 0:
        return KEEP
    return COMMITMENT.get(row["purchase"], RENT)


def _usd_per_capex(row: Row, fixed_usd: float) -> float:
    """Return by how much a workload's USD rise per USD of the machine's price, to find the price below which buying
    pays. A finite difference of 10 %; 0: not for sale. `fixed_usd`: USD of ownership in the workload.
    """
    if _kind_of(row) != BUY or not row["fixed_usd_per_month"] > 0:
        return 0.0
    rise = possession(row, lambda name: 1.1 if name == "capex_usd" else 1.0) - possession(row, lambda name: 1.0)
    return float(fixed_usd / row["fixed_usd_per_month"] * rise / (0.1 * row["capex_usd"]))


def _monthly_work(monthly: MonthlyWork, options: DataFrame) -> PricedWork:
    """Return a monthly workload as a priced work for the verdict: a choice per mix of machines.

    A mix is numbers of machines owned and offers rented beside them; USD are over the project, choice x sample.
    `options`: table of options, from which titles and prices are taken.
    """
    rows = {row["option"]: row for row in records(options.drop_duplicates("option"))}
    mixes = monthly.distinct_mixes
    months = monthly.work.months
    table = DataFrame([dict.fromkeys(CAPEX, np.nan) | _mix_choice(monthly, mix, rows) for mix in mixes])
    table = table.assign(persistent=True, is_reference=False, usd_at_todays_prices=table["usd"])
    # Rentals alone are of one kind, as the cheapest of them: a faster device takes fewer hours for the same work.
    is_rental = table["commitment"].eq(NOTHING) & table["main_rented"].notna()
    table["kind"] = table["kind"].mask(is_rental, next(iter(table["kind"][is_rental]), RENT))
    usd = np.stack([mix.done.usd * months for mix in mixes])
    work = _sorted_work(monthly.name, months, table, usd, usd)
    return work._replace(cost=DISPATCH)


def _mix_choice(monthly: MonthlyWork, mix: Mix, rows: Mapping[str, Row]) -> Row:
    """Return a mix (numbers of machines owned, offers rented beside them) as a row of the table `choices`, {column:
    value}. It has kind and commitment (buy, contract, rent ...), title, price of the machine, USD over the project, the
    offer that is rented most, machines to time first, and the reason why it cannot be the answer. `rows`: option rows
    by key.
    """
    months = monthly.work.months
    lead = mix.done.lead or None
    done = mix.done
    name, count = next(iter(mix.bought.items()), (None, 0))
    hours = {source: done.device_hours(source).mean() for source in done.sources}
    owned_hours = sum(hours[kind.name] for kind in monthly.drawn.held if kind.there)
    is_owned = (monthly.has_machines and lead is None) or owned_hours >= OWNED_SHARE * sum(hours.values())
    is_able = np.isfinite(mix.expected)
    excess = monthly.over_budget(mix) if is_able else []
    trials = sorted((monthly.trials[key] for key in mix.timed), reverse=True)
    columns: Row = {
        "kind": KEEP if is_owned else RENT,
        "commitment": NOTHING,
        "instance": lead,
        "lead_option": lead,
        "usd_per_capex": 0.0,
    }
    if name is not None:
        box = rows[name]
        kind = _kind_of(rows[name])
        columns = {column: box[column] for column in ("instance", "price_list", *CAPEX)} | {
            "kind": MIX if lead is not None and kind == BUY else kind,
            "commitment": kind,
            "box_title": box["title"],
            "lead_option": None,
            "usd_per_capex": _usd_per_capex(box, box["fixed_usd_per_month"] * count * months),
            "pays_below_usd": price_that_pays(monthly, name) if kind == BUY else np.nan,
        }
    return columns | {
        "choice": mix.key,
        "title": monthly.mix_title(mix),
        # Renting on one offer mostly is the choice of that offer alone, where nothing is owned.
        "alternative": mix.key if name or lead is None or any(monthly.drawn.owned) else lead,
        "counts": float(sum(mix.bought.values())),
        "device_hours": sum(hours.values()) * months,
        "usd": mix.expected * months,
        "usd_per_month_central": mix.at(monthly.central).usd[0] if is_able else np.nan,
        "main_rented": lead,
        "lead": monthly.title(lead) if lead and not monthly.has_machines and not name else None,
        "timed": list(dict.fromkeys(trial.title for trial in trials)),
        "trial_usd": mix.problem.trial_usd * months,
        "saving_usd": mix.saving * months,
        "why_not": LIMIT if excess else None if is_able else CANNOT,
        "reasons": excess,
        "in_answer": not excess,
    }  # fmt: skip


def price_that_pays(monthly: MonthlyWork, name: str) -> float:
    """Return the USD per machine at which the best mix that buys this kind costs as much as the best without purchases:
    the price to negotiate below. With a given number of machines the cost is linear in their price; the highest such
    price over all numbers is returned. NaN without such a mix. `name`: option of the machine.
    """
    owned = monthly.drawn.owned
    source = monthly.source_by_name[name]
    for_sale = {offered.offer["option"] for offered in monthly.sources if offered.offer["purchase"] == "own"}
    rivals = [mix.expected for mix in monthly.mixes if for_sale.isdisjoint(mix.bought) and monthly.affords(mix.counts)]
    rival_usd = min(rivals, default=np.nan)
    index = [kind.name for kind in monthly.drawn.held].index(name)
    price = source.offer["capex_usd"]
    highest = np.nan
    twice = all_of(name, "capex_usd", "capex_usd", frozenset(source.rows_by_label))
    doubled = monthly.moved(ParameterValues(1, {twice: 2.0}))
    month = (doubled.held[index].fixed - monthly.drawn.held[index].fixed).mean()  # USD for the price alone.
    for base in {owned, monthly.mixes[0].counts} if month > 0 else ():
        previous = -np.inf
        for number in range(1, MAXIMUM_PRICED + 1):
            mix = monthly.mix_of((*base[:index], owned[index] + number, *base[index + 1 :]))
            below = price * (1 + (rival_usd - mix.expected) / (number * month))
            if below < previous:
                break
            previous = below
            highest = np.fmax(highest, min(below, monthly.budget_usd / number))
    return float(highest)
