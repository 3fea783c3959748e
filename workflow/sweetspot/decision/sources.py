"""Monthly work in tables: titles of mixes, reasons of failure, jobs by machine and offer."""

from collections.abc import Sequence

import numpy as np
from pandas import DataFrame

from sweetspot.decision.monthly_work import MonthlyWork
from sweetspot.decision.options import Row
from sweetspot.declared_tables import columns_of
from sweetspot.mixes.problem import OwnedMachine
from sweetspot.mixes.search import OWNED, Mix
from sweetspot.titles import class_title
from sweetspot.wording import listed, the

SOURCES = columns_of("sources")
MIX_TOLERANCE = 0.01  # Mixes of the same machines whose costs differ by no more than this share are one.
ALL = 0.95  # Of the money: from here on one offer does all that is rented.


def mix_title(mix: Mix, monthly: MonthlyWork) -> str:
    """Return the title of a mix: machines sold, machines bought, and the offer or machines for the rest."""
    if mix.kind == OWNED:
        return "what you have, alone"
    bought, resold = (
        listed([f"{count} × {monthly.title(name)}" for name, count in counts.items()])
        for counts in (mix.bought, mix.resold)
    )
    owned = zip(monthly.drawn.held, mix.counts, strict=True)
    at_home = [monthly.title(kind.name) for kind, count in owned for _ in range(min(count, kind.there))]
    name = mix.source if mix.one_offer else mix.done.lead
    rest = monthly.title(name) if name else ""
    if bought:
        title = f"{bought}, the rest on {the(rest)}" if rest else bought
    elif not rest:
        title = "what you have" if at_home else "nothing"
    else:
        # Beside what is owned each job runs on the offer that is cheapest in its sample.
        another = " or another" if at_home and not mix.one_offer else ""
        title = rental_title(rest + another, at_home, mix.done.share(name))
        title = title if at_home or resold or mix.one_offer else f"nothing bought, {title}"
    return f"{resold} sold, {title}" if resold else title


def rental_title(rented: str, owned: Sequence[str], share: float = 1.0) -> str:
    """Return a title for renting `rented` beside owned machines, such as 'X beside your Y'.

    Parameters
    ----------
    rented
        Title of what is rented.
    owned
        A title for each machine that one has.
    share
        Share of the rent paid for `rented` (all, most or some), stated only without owned machines.
    """
    if not owned:
        return f"{'all' if share > ALL else 'most' if share > 0.5 else 'some'} on {the(rented)}"
    owned_title = f"your {owned[0].removeprefix('your ')}" if len(owned) == 1 else "what you have"
    return f"{rented} beside {owned_title}"


def is_best(mix: Mix, best: Mix) -> bool:
    """Return whether a mix has the best mix's numbers of machines and costs at most MIX_TOLERANCE more."""
    return mix.counts == best.counts and mix.expected <= best.expected * (1 + MIX_TOLERANCE)


def failure_reasons(monthly: MonthlyWork, mix: Mix) -> list[Row]:
    """Return the reasons why a mix cannot run all jobs, a dictionary each with the key `limit`.

    `limit` is `class` or `urgent_class` (the class `title` runs nowhere), else `hours` (the machines' are too few).
    """
    problem, reasons = mix.at(monthly.central).problem, []
    usd = [kind.hours for kind, count in zip(problem.held, mix.counts, strict=True) if count]
    usd += [offer.usd for offer in problem.rented]
    for number, job_class in enumerate(monthly.classes):
        if problem.jobs[number].any() and not any(np.isfinite(costs[number, 0]) for costs in usd):
            limit = "urgent_class" if job_class.urgent else "class"
            reasons.append({"limit": limit, "title": class_title(job_class.name)})
    return reasons or [{"limit": "hours"}]


def source_table(works: Sequence[MonthlyWork]) -> DataFrame:
    """Return the machines and offers of each mix that run jobs in it or are owned or bought for it.

    Returns
    -------
    pandas.DataFrame
        SOURCES; `device_hours` per month: mean of samples and months; `machines` and `capacity_device_hours` per month
        of owned or bought kinds.
    """
    rows = []
    for monthly in works:
        for mix in monthly.mixes:
            counts = {kind.name: count for kind, count in zip(mix.problem.held, mix.counts, strict=True)}
            for name, machine in mix.done.sources.items():
                device_hours, count = float(mix.done.device_hours(name).mean()), counts.get(name)
                if count or device_hours:
                    capacity, use = None, monthly.source_by_name[name].kind
                    if isinstance(machine, OwnedMachine):
                        capacity = counts[name] * float((machine.hours_per_month * machine.devices).mean())
                    rows.append((monthly.name, name, monthly.title(name), use, mix.key, count, device_hours, capacity))
    return DataFrame(rows, columns=SOURCES)
