"""Work of months in tables: names of mixes, who does what, one job of each class on each machine."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.fits import does_not_fit
from sweetspot.decision.monthly_work import MonthlyWork, WorkClass, in_time
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.mixes.problem import finite, load_duration
from sweetspot.mixes.search import THERE, Mix
from sweetspot.phrases.decided import beside_in_words
from sweetspot.titles import class_title
from sweetspot.wording import listed, the

SOURCES = ("workload", "option", "title", "kind", "mix", "machines", "device_hours", "capacity_device_hours")
LOAD = ("workload", "option", "title", "kind", "share_of_months", "device_hours")
JOBS = ("workload", "class", "urgent", *OFFER, "title", "status", "option", "jobs_at_once", "hours", "usd")
SHARES_OF_MONTHS = np.linspace(0.0, 1.0, 21)
MIX_TOLERANCE = 0.01  # Mixes of the same machines whose costs differ by no more than this share are one.
FITS, NO_SPEED, TOO_LATE, TOO_SMALL = "fits", "no speed", "too late", "does not fit"
DEVICE_SHORTAGE, INTERRUPTED = "too few devices", "can be taken away"


def mix_title(mix: Mix, monthly: MonthlyWork) -> str:
    """Name a mix: what is sold, what is bought, and who does the rest."""
    bought, resold = (
        listed([f"{count} × {monthly.title(name)}" for name, count in counts.items()])
        for counts in (mix.bought, mix.sold)
    )
    owned = zip(monthly.drawn.held, mix.counts, strict=True)
    at_home = [monthly.title(kind.name) for kind, count in owned for _ in range(min(count, kind.there))]
    name = mix.source if mix.one_offer else mix.done.lead
    rest = monthly.title(name) if name else ""
    if mix.kind == THERE:
        return "what you have, alone"
    if bought:
        title = f"{bought}, the rest on {the(rest)}" if rest else bought
    elif not rest:
        title = "what you have" if at_home else "nothing"
    else:
        # Beside what is owned each job runs on the offer that is cheapest in its sample.
        another = " or another" if at_home and not mix.one_offer else ""
        title = beside_in_words(rest + another, at_home, mix.done.share(name))
        title = title if at_home or resold or mix.one_offer else f"nothing bought, {title}"
    return f"{resold} sold, {title}" if resold else title


def owned_hours(monthly: MonthlyWork, mix: Mix) -> tuple[float, float]:
    """Return the mean device-hours per month of a mix, and those on machines that are owned already."""
    hours = {name: float(mix.done.device_hours(name).mean()) for name in mix.done.sources}
    return sum(hours.values()), sum(value for name, value in hours.items() if monthly.source(name).there)


def is_best(mix: Mix, best: Mix) -> bool:
    """Return whether a mix has the machines of the best and costs as much within MIX_TOLERANCE."""
    return mix.counts == best.counts and mix.expected <= best.expected * (1 + MIX_TOLERANCE)


def failure_reasons(monthly: MonthlyWork, mix: Mix) -> list[str]:
    """Say why a mix does not do the work: hours, and how many machines would do; classes that run nowhere in it."""
    problem, reasons = mix.at(monthly.central).problem, []
    if mix.kind == THERE:
        owned = next(kind for kind in problem.held if kind.there)
        needed = float((problem.jobs.mean(axis=2) * finite(owned.device_hours)).sum())
        capacity = sum(float(kind.capacity[0]) * kind.there * kind.devices for kind in problem.held)
        if needed > capacity:
            work = f"what it can do takes {needed:,.0f} device-hours in a middle month, it has {capacity:,.0f}"
            machines = math.ceil(needed / (float(owned.capacity[0]) * owned.devices))
            reasons.append(f"{work}: {machines} would do")
    usd = [kind.hours for kind, count in zip(problem.held, mix.counts, strict=True) if count]
    usd += [offer.usd for offer in problem.rented]
    for number, job_class in enumerate(monthly.classes):
        if problem.jobs[number].any() and not any(np.isfinite(costs[number, 0]) for costs in usd):
            reasons.append(f"{class_title(job_class.name)} does not run on it{' in time' * job_class.urgent}")
    return reasons or ["its hours are too few in busy months, and nothing can be rented for them"]


def source_table(works: Sequence[MonthlyWork]) -> pd.DataFrame:
    """List the sources of each mix that do something in it or are held for it.

    Returns
    -------
    pandas.DataFrame
        SOURCES; `device_hours` per month: mean of samples and months; `machines`, `capacity_device_hours` of a machine
        that is held.
    """
    rows = [row for monthly in works for mix in monthly.mixes for row in _source_rows(monthly, mix)]
    return pd.DataFrame(rows, columns=list(SOURCES))


def _source_rows(monthly: MonthlyWork, mix: Mix) -> Iterator[dict[str, Any]]:
    machines = {kind.name: (kind, count) for kind, count in zip(mix.problem.held, mix.counts, strict=True)}
    for name in mix.done.sources:
        hours, (kind, count) = mix.done.device_hours(name), machines.get(name, (None, 0))
        if count or hours.any():
            row = _source(monthly, name) | {"mix": mix.key, "device_hours": float(hours.mean())}
            if kind is not None:
                capacity = count * float((kind.hours_per_month * kind.devices).mean())
                row |= {"machines": count, "capacity_device_hours": capacity}
            yield row


def _source(monthly: MonthlyWork, name: str) -> dict[str, Any]:
    return {"workload": monthly.name, "option": name, "title": monthly.title(name), "kind": monthly.source(name).kind}


def load_table(works: Sequence[MonthlyWork]) -> pd.DataFrame:
    """List the load of the best mix in device-hours by source (LOAD), at shares of the months, the busiest first."""
    tables = []
    for monthly in works:
        result = monthly.mixes[0].done
        hours = {name: load.ravel() for name in result.sources if (load := result.device_hours(name)).any()}
        names = sorted(hours, key=lambda name: not monthly.source(name).there)
        curves = load_duration(np.stack([hours[name] for name in names]), SHARES_OF_MONTHS) if names else ()
        for name, loads in zip(names, curves, strict=True):
            curve = pd.DataFrame({"share_of_months": SHARES_OF_MONTHS, "device_hours": loads})
            tables.append(curve.assign(**_source(monthly, name))[list(LOAD)])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(LOAD))


def job_table(
    works: Sequence[MonthlyWork], options: pd.DataFrame, offers: pd.DataFrame, titles: Mapping[str, str]
) -> pd.DataFrame:
    """List one job of each class on each offer, and whether it runs there.

    Parameters
    ----------
    works
        The work of months.
    options, offers
        All options, and the offers.
    titles
        Names of machines for people.

    Returns
    -------
    pandas.DataFrame
        JOBS; `usd` of one job with its share of the machine, ownership at its planned use included.
    """
    is_small = does_not_fit(options)
    offered = offers.drop_duplicates(list(OFFER)).to_dict("records")
    rows = []
    for name, job_class in ((monthly.name, job_class) for monthly in works for job_class in monthly.classes):
        rows_of_class = records(options[options["workload"] == job_class.workload])
        by_offer = {tuple(row[key] for key in OFFER): row for row in rows_of_class}
        for offer in offered:
            option = by_offer.get(tuple(offer[key] for key in OFFER))
            row = {key: offer[key] for key in OFFER} | {"title": titles.get(offer["instance"], offer["instance"])}
            if option is not None:
                row |= {key: option[key] for key in ("option", "title", "jobs_at_once", "hours", "usd")}
            row |= {"workload": name, "class": job_class.job.name, "urgent": job_class.urgent}
            rows.append(row | {"status": _status(job_class, option, offer, is_small)})
    return pd.DataFrame(rows, columns=list(JOBS))


def _status(job_class: WorkClass, option: Row | None, offer: Mapping[Any, Any], is_small: pd.Series) -> str:
    if option is None:
        devices = job_class.job.devices_per_job
        return DEVICE_SHORTAGE if devices != "all" and offer.get("gpus", np.inf) < devices else NO_SPEED
    if is_small[option["row"]]:
        return TOO_SMALL
    if not in_time(job_class, option):
        return TOO_LATE
    return FITS if option["persistent"] else INTERRUPTED
