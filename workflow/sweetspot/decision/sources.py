"""Work of months in tables: mixes by name, who does what, one job of each class on each machine."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.fits import does_not_fit
from sweetspot.decision.monthly_work import MonthlyWork, WorkClass, in_time
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision_words import beside_in_words
from sweetspot.draws import interval
from sweetspot.mixes.dispatch import DispatchResult
from sweetspot.mixes.problem import finite, load_duration
from sweetspot.mixes.search import BEST, THERE, Mix, machines_for
from sweetspot.study.titles import class_title
from sweetspot.wording import listed, the

SOURCES = (
    "workload", "mix", "option", "title", "kind", "machines", "device_hours", "device_hours_low", "device_hours_high",
    "device_hours_central", "capacity_device_hours", "use", "usd_per_month", "fixed_usd_per_month",
)  # fmt: skip
LOAD = ("workload", "option", "title", "kind", "share_of_months", "device_hours")
SHARES = np.linspace(0.0, 1.0, 21)
SAME = 0.01  # mixes of the same machines that cost no more than this apart are one
JOBS = (
    "workload", "class", "urgent", "model", "option", "instance", "purchase", "price_list", "title", "status", "basis",
    "devices", "jobs_at_once", "hours", "usd", "within_hours",
)  # fmt: skip
FIXED, TIMED_FIRST = "fixed", "timed_first"  # strategies
FITS, NO_SPEED, TOO_LATE, TOO_SMALL = "fits", "no speed", "too late", "does not fit"
TOO_FEW, TAKEN = "too few devices", "can be taken away"


def bought_in_words(one: Mix, posed: MonthlyWork) -> str:
    """What is bought or committed to: `2 x office box ...`; empty for nothing."""
    return listed([f"{count} × {posed.title(name)}" for name, count in one.bought.items()])


def mix_title(one: Mix, posed: MonthlyWork) -> str:
    """A mix in words: what is sold, what is bought, and who does the rest."""
    bought, sold = bought_in_words(one, posed), [f"{n} × {posed.title(name)}" for name, n in one.sold.items()]
    left = zip(posed.drawn.held, one.counts, strict=True)
    at_home = [posed.title(kind.name) for kind, count in left for _ in range(min(count, kind.there))]
    name = one.source if one.one_offer else one.done.lead
    rest = posed.title(name) if name else ""
    if one.kind == THERE:
        return "what you have, alone"
    if bought:
        told = f"{bought}, the rest on {the(rest)}" if rest else bought
    elif not rest:
        told = "what you have" if at_home else "nothing"
    else:
        # Beside what is there each job runs on what is the cheapest in its draw.
        another = " or another" * (bool(at_home) and not one.one_offer)
        told = beside_in_words(rest + another, at_home, one.done.share(name))
        told = told if at_home or sold or one.one_offer else f"nothing bought, {told}"
    return f"{listed(sold)} sold, {told}" if sold else told


def mix_rows(posed: MonthlyWork) -> Iterator[tuple[Mix, dict[str, Any]]]:
    """Each mix of a workload once, with what `choices` says of it; the best first. `counts`: machines bought or
    committed to; `mix`: its kind, `source` beside what is there; `main_rented`: the offer that does most of what is
    rented; `used_at_most`: share of their hours to which machines are filled before the rest is rented, where that is
    less than all; USD a month at central figures; USD of the project as the mean of the draws, infinite where the mix
    does not do the work: `why_not` says why; `strategy_of`: how it gives out the work. A pure option that is the best
    but for what others do for less, under 1 % of the money, is that best.
    """
    best, months = posed.mixes[0], posed.work.months
    for one in posed.mixes:
        if one.kind != BEST and is_best(one, best):
            continue
        central = one.at(posed.central)
        hours = {name: one.done.device_hours(name).mean() for name in one.done.sources}
        reasons = [] if np.isfinite(one.expected) else _reasons(posed, one, central)
        there = sum(hours[name] for name in hours if posed.source(name).there)
        all_rented = one.done.lead and not posed.at_home and not one.bought
        told = {
            "choice": one.key, "title": mix_title(one, posed), "counts": float(sum(one.bought.values())),
            "sold": float(sum(one.sold.values())),
            "mix": one.kind, "source": one.source or None, "main_rented": one.done.lead or None,
            "all_rented_title": posed.title(one.done.lead) if all_rented else None,
            "device_hours": sum(hours.values()) * months, "there_device_hours": there * months,
            "used_at_most": one.filled if one.filled < 1 else np.nan, **strategy_of(one, posed),
            "usd": one.expected * months, "usd_per_month_central": np.nan if reasons else float(central.usd[0]),
            "why_not": f"cannot: {'; '.join(reasons)}" if reasons else None,
        }  # fmt: skip
        yield one, told


def strategy_of(one: Mix, posed: MonthlyWork) -> dict[str, Any]:
    """How a mix gives each class a machine: `strategy` (FIXED, TIMED_FIRST), the offers that are `timed`, and USD of
    the project that the trials cost and that they are expected to save.
    """
    months = posed.work.months
    return {
        "strategy": TIMED_FIRST if one.timed else FIXED,
        "timed": list(dict.fromkeys(trial.title for trial in posed.trials_of(one))),
        "trial_usd": one.problem.trial_usd * months,
        "saving_usd": one.saving * months,
    }


def is_best(one: Mix, best: Mix) -> bool:
    """Whether a mix is the best, but for what others do for less."""
    return one.counts == best.counts and one.expected <= best.expected * (1 + SAME)


def _reasons(posed: MonthlyWork, one: Mix, central: DispatchResult) -> list[str]:
    """Why a mix does not do the work: hours, and how many machines would; classes that run nowhere in it."""
    problem, reasons = central.problem, []
    if one.kind == THERE:
        place = next(place for place, kind in enumerate(problem.held) if kind.there)
        need = float((problem.jobs.mean(axis=2) * finite(problem.held[place].device_hours)).sum())
        has = sum(float(other.capacity[0]) * other.there * other.devices for other in problem.held)
        if need > has:
            takes = f"what it can do takes {need:,.0f} device-hours in a middle month"
            reasons.append(f"{takes}, it has {has:,.0f}: {machines_for(problem, place)} would do")
    usd = [kind.usd for kind, count in zip(problem.held, one.counts, strict=True) if count]
    usd += [offer.usd for offer in problem.rented]
    for number, each in enumerate(posed.classes):
        runs = any(np.isfinite(by[number, 0]) for by in usd)
        if problem.jobs[number].any() and not runs:
            reasons.append(f"{class_title(each.name)} does not run on it" + (" in time" if each.urgent else ""))
    return reasons or ["its hours are too few in busy months, and nothing can be rented for them"]


def source_table(works: Sequence[MonthlyWork]) -> pd.DataFrame:
    """One row a workload, mix and source that does something in it, or is there or bought for it (SOURCES).
    `device_hours` of a month: mean of the draws and months, 90 % of the months, and at central figures; `use`: the
    share of a held machine's hours that is used.
    """
    rows = [row for posed in works for mix in posed.mixes for row in _source_rows(posed, mix)]
    return pd.DataFrame(rows, columns=list(SOURCES))


def _source_rows(posed: MonthlyWork, mix: Mix) -> Iterator[dict[str, Any]]:
    central = mix.at(posed.central)
    held = {kind.name: (kind, count) for kind, count in zip(mix.problem.held, mix.counts, strict=True)}
    for name in mix.done.sources:
        hours, used = mix.done.device_hours(name), mix.done.usd_by_use(name)
        kind, count = held.get(name, (None, 0))
        if not count and not hours.any():
            continue
        low, high = map(float, interval(hours.ravel()))
        planned = float(central.device_hours(name).mean()) if name in central.sources else 0.0
        row = _told(posed, name) | {"mix": mix.key, "usd_per_month": used, "device_hours": float(hours.mean())}
        row |= {"device_hours_low": low, "device_hours_high": high, "device_hours_central": planned}
        if kind is not None:
            room, fixed = (count * float(each.mean()) for each in (kind.hours_per_month * kind.devices, kind.fixed))
            row |= {"machines": count, "capacity_device_hours": room, "fixed_usd_per_month": fixed}
            row |= {"use": float(hours.mean()) / room, "usd_per_month": used + fixed}
        yield row


def _told(posed: MonthlyWork, name: str) -> dict[str, Any]:
    return {"workload": posed.name, "option": name, "title": posed.title(name), "kind": posed.source(name).kind}


def load_table(works: Sequence[MonthlyWork]) -> pd.DataFrame:
    """The load of the best mix in the months, the busiest first (LOAD): device-hours by source, at shares of them."""
    rows = []
    for posed, best in ((one, one.mixes[0].done) for one in works):
        hours = {name: best.device_hours(name).ravel() for name in best.sources}  # held first
        names = sorted((name for name in hours if hours[name].any()), key=lambda name: not posed.source(name).there)
        curve = load_duration(np.stack([hours[name] for name in names]), SHARES) if names else ()
        rows += [
            _told(posed, name) | {"share_of_months": float(share), "device_hours": float(load)}
            for name, loads in zip(names, curve, strict=True)
            for share, load in zip(SHARES, loads, strict=True)
        ]
    return pd.DataFrame(rows, columns=list(LOAD))


def job_table(
    works: Sequence[MonthlyWork], every: pd.DataFrame, offers: pd.DataFrame, machines: Mapping[str, str]
) -> pd.DataFrame:
    """One row a class and offer (JOBS), whether it runs there or not, and why not. `every`: the options, those that do
    not fit among them; `machines`: names for people of instances. `usd`: of one job with its share of the machine,
    possession of a machine that is owned included at its planned use.
    """
    small = does_not_fit(every)
    offered = offers.drop_duplicates(list(OFFER)).to_dict("records")
    rows = []
    for name, one in ((posed.name, one) for posed in works for one in posed.classes):
        found = {tuple(row[key] for key in OFFER): row for row in records(every[every["workload"] == one.workload])}
        said = {"workload": name, "class": one.job.name, "urgent": one.urgent, "model": one.job.model}
        said |= {"within_hours": one.limit if np.isfinite(one.limit) else None}
        for offer in offered:
            of = {key: offer[key] for key in OFFER}
            row = found.get(tuple(of.values()))
            told = {"title": machines.get(offer["instance"], offer["instance"])} if row is None else {
                "basis": row["throughput_basis"], "devices": row["gpus"],
                **{key: row[key] for key in ("option", "title", "jobs_at_once", "hours", "usd")}}  # fmt: skip
            rows.append(said | of | told | {"status": _status(one, row, offer, small)})
    return pd.DataFrame(rows, columns=list(JOBS))


def _status(one: WorkClass, row: Row | None, offer: dict[str, Any], small: pd.Series) -> str:
    if row is None:
        wanted = one.job.devices_per_job
        return TOO_FEW if wanted != "all" and offer.get("gpus", np.inf) < wanted else NO_SPEED
    if small[row["row"]]:
        return TOO_SMALL
    if not in_time(one, row):
        return TOO_LATE
    return FITS if row["persistent"] else TAKEN
