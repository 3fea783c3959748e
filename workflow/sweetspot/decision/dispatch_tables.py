"""Work of months in tables: mixes by name, who does what, one job of each class on each machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.dispatch_problem import Class, Posed, in_time
from sweetspot.decision.fits import does_not_fit
from sweetspot.decision.options import OFFER, Row, records
from sweetspot.decision.simulate import interval
from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Array, Problem, load_duration
from sweetspot.mixes.search import BEST, BOUGHT, RENTED, THERE, Mix, machines_for, mixes
from sweetspot.study.titles import class_title
from sweetspot.wording import listed, the

SOURCES = (
    "workload", "mix", "option", "title", "kind", "machines", "device_hours", "device_hours_low", "device_hours_high",
    "device_hours_central", "capacity_device_hours", "use", "usd_per_month", "fixed_usd_per_month",
)  # fmt: skip
LOAD = ("workload", "option", "title", "kind", "share_of_months", "device_hours")
SHARES = np.linspace(0.0, 1.0, 21)
SAME = 0.01  # mixes of the same machines that cost no more than this apart are one
KINDS = ("there", "bought", "rented")
JOBS = (
    "workload", "class", "urgent", "model", "option", "instance", "purchase", "price_list", "title", "status", "basis",
    "devices", "jobs_at_once", "hours", "usd", "within_hours",
)  # fmt: skip
FITS, NO_SPEED, TOO_LATE, TOO_SMALL = "fits", "no speed", "too late", "does not fit"
TOO_FEW, TAKEN = "too few devices", "can be taken away"


@dataclass(frozen=True)
class Words:
    """Names for people of options, and of machines by instance."""

    titles: Mapping[str, str]
    machines: Mapping[str, str]

    def title(self, option: str) -> str:
        """The name of an option; one without has its key."""
        return self.titles.get(option, option)

    def machine(self, instance: str) -> str:
        """The name of a machine; one without has its key."""
        return self.machines.get(instance, instance)


def bought_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to: `2 x office box ...`; empty for nothing."""
    more = [(kind, count - kind.there) for kind, count in zip(problem.held, counts, strict=True)]
    return listed([f"{count} × {words.title(kind.name)}" for kind, count in more if count > 0])


def purchase_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to as a machine is called where it is one: `office box ...`, `2 × office box ...`."""
    title = bought_title(counts, problem, words)
    if title is not None and sum(counts) - sum(problem.there) == 1:
        return title
    return bought_in_words(counts, problem, words)


def bought_title(counts: Sequence[int], problem: Problem, words: Words) -> str | None:
    """The name of the machine that is bought or committed to; None where there is none, or more than one kind."""
    kinds = [kind.name for kind, count in zip(problem.held, counts, strict=True) if count > kind.there]
    return words.title(kinds[0]) if len(kinds) == 1 else None


def mix_title(one: Mix, posed: Posed, main: str | None, words: Words) -> str:
    """A mix in words: what is bought, and who does the rest."""
    bought, rest = bought_in_words(one.counts, one.problem, words), "" if main is None else words.title(main)
    there = any(posed.drawn.there)
    if one.kind == THERE:
        return "what is there, alone"
    if one.kind == RENTED:
        return f"{words.title(one.source)} for the rest" if there else f"all on {the(words.title(one.source))}"
    if bought:
        return f"{bought}, the rest on {the(rest)}" if rest else bought
    if one.kind == BOUGHT or not rest:
        return "what is there"
    if there:
        return f"{rest} or another for the rest"  # each job on what is the cheapest in its draw
    return f"nothing bought, all on {the(rest)}"


class Worked(NamedTuple):
    """One monthly workload with its mixes, the best first, and what each is at central figures."""

    posed: Posed
    mixes: list[Mix]
    central: list[Done]


def work_out(posed: Posed) -> Worked:
    """Choose the mixes of a workload."""
    found = mixes(posed.drawn)
    return Worked(posed, found, [dispatch(_restricted(posed.central, one), one.counts) for one in found])


def _restricted(central: Problem, one: Mix) -> Problem:
    """The central problem with the offers by the hour that the mix may use."""
    if one.kind == THERE:
        return Problem(central.classes, central.jobs, central.held, ())
    return central.only(one.source) if any(one.source == offer.name for offer in central.rented) else central


def key_of(one: Mix) -> str:
    """The key of a mix in all tables: best, there, or that of its source."""
    return one.kind if one.kind == BEST else one.source or one.kind


def mix_rows(worked: Worked, words: Words) -> Iterator[tuple[Mix, dict[str, Any]]]:
    """Each mix of a workload once, with what `choices` says of it; the best first.

    `counts`: machines bought or committed to; `mix`: its kind, `source` beside what is there; `main_rented`: the offer
    that does most of what is rented; USD a month at central figures; USD of the project as the mean of the draws,
    infinite where the mix does not do the work: `why_not` says why. A pure option that is the best but for what others
    do for less, under 1 % of the money, is that best.
    """
    posed, best = worked.posed, worked.mixes[0]
    for one, central in zip(worked.mixes, worked.central, strict=True):
        if one.kind != BEST and is_best(one, best):
            continue
        by = {source: hours.mean() for source, hours in device_hours(one.problem, one.done).items()}
        kinds = {name: kind_of(posed, name) for name in by}
        rented = {name: hours for name, hours in by.items() if kinds[name] == "rented" and hours > 0}
        main = max(rented, key=lambda name: rented[name], default=None)
        reasons = [] if np.isfinite(one.expected) else _reasons(posed, one)
        yield (
            one,
            {
                "choice": key_of(one),
                "title": mix_title(one, posed, main, words),
                "counts": float(sum(one.counts) - sum(one.problem.there)),
                "mix": one.kind,
                "source": one.source or None,
                "main_rented": main,
                "device_hours": sum(by.values()) * posed.work.months,
                "there_device_hours": sum(by[name] for name in by if kinds[name] == "there") * posed.work.months,
                "usd": one.expected * posed.work.months,
                "usd_per_month_central": float(central.usd[0]) if not reasons else np.nan,
                "why_not": "; ".join(["cannot: " + reasons[0], *reasons[1:]]) if reasons else None,
            },
        )


def is_best(one: Mix, best: Mix) -> bool:
    """Whether a mix is the best, but for what others do for less."""
    return one.counts == best.counts and one.expected <= best.expected * (1 + SAME)


def rivals_of(worked: Worked) -> list[Mix]:
    """The pure options that do the work and are not the best itself, the cheapest first."""
    best = worked.mixes[0]
    return [one for one in worked.mixes if not is_best(one, best) and np.isfinite(one.expected)]


def _reasons(posed: Posed, one: Mix) -> list[str]:
    """Why a mix does not do the work: hours, and how many machines would; classes that run nowhere in it."""
    problem, reasons = posed.central, []
    place = next((place for place, kind in enumerate(problem.held) if kind.there), None)
    if one.kind == THERE and place is not None:
        kind = problem.held[place]
        hours = np.where(np.isfinite(kind.hours), kind.hours, 0.0)
        need = float((problem.jobs[:, :, 0] * hours).sum()) * kind.devices
        has = sum(float(other.capacity[0]) * other.there * other.devices for other in problem.held)
        if need > has:
            count = machines_for(problem, place)
            takes = f"what it can do takes {need:,.0f} device-hours in a middle month"
            reasons.append(f"{takes}, it has {has:,.0f}: {count} would do")
    held = [kind.hours for kind, count in zip(problem.held, one.counts, strict=True) if count]
    offers = [offer.usd for offer in _restricted(problem, one).rented]
    for number, name in enumerate(problem.classes):
        if problem.jobs[number].any() and not any(np.isfinite(part[number]).any() for part in (*held, *offers)):
            reasons.append(
                f"{class_title(name)} does not run on it" + (" in time" if posed.classes[number].urgent else "")
            )
    return reasons or ["its hours are too few in busy months, and nothing can be rented for them"]


def device_hours(problem: Problem, done: Done) -> dict[str, Array]:
    """Device-hours of a month by source, draw x month: of all kinds held, and of the offers that do something."""
    found: dict[str, Array] = {}
    for place, kind in enumerate(problem.held):
        hours = np.where(np.isfinite(kind.hours), kind.hours, 0.0) * kind.devices
        found[kind.name] = np.einsum("jdt,jd->dt", done.held[:, place], hours)
    for number in np.unique(done.chosen[done.chosen >= 0]):
        offer = problem.rented[number]
        taken = np.where(done.chosen == number, offer.device_hours, 0.0)
        found[offer.name] = np.einsum("jdt,jd->dt", done.rented, taken)
    return found


def source_usd(problem: Problem, done: Done, counts: Sequence[int]) -> dict[str, float]:
    """USD of a month by source, possession included: the mean of the draws."""
    found = {}
    for place, kind in enumerate(problem.held):
        running = np.where(np.isfinite(kind.hours), kind.running, 0.0)
        used = np.einsum("jdt,jd->dt", done.held[:, place], running).mean()
        found[kind.name] = float(used + counts[place] * kind.fixed.mean())
    for number in np.unique(done.chosen[done.chosen >= 0]):
        offer = problem.rented[number]
        usd = np.where(done.chosen == number, np.where(np.isfinite(offer.usd), offer.usd, 0.0), 0.0)
        found[offer.name] = float(np.einsum("jdt,jd->dt", done.rented, usd).mean())
    return found


def kind_of(posed: Posed, option: str) -> str:
    """Whether a source is there, bought (or committed to), or rented."""
    source = posed.source(option)
    return "there" if source.there else "bought" if source.held else "rented"


def source_table(worked: Sequence[Worked], words: Words) -> pd.DataFrame:
    """One row a workload, mix and source that does something in it, or is there or bought for it (SOURCES).

    `device_hours` of a month: mean of the draws and months, 90 % of the months, and at central figures; `use`: the
    share of a held machine's hours that is used.
    """
    rows = []
    for one in worked:
        for mix, middle in zip(one.mixes, one.central, strict=True):
            rows += list(_source_rows(one.posed, mix, middle, words))
    return pd.DataFrame(rows, columns=list(SOURCES))


def _source_rows(posed: Posed, mix: Mix, middle: Done, words: Words) -> Iterator[dict[str, Any]]:
    central = device_hours(_restricted(posed.central, mix), middle)
    usd = source_usd(mix.problem, mix.done, mix.counts)
    held = {kind.name: (kind, count) for kind, count in zip(mix.problem.held, mix.counts, strict=True)}
    for name, hours in device_hours(mix.problem, mix.done).items():
        kind, count = held.get(name, (None, 0))
        if not count and not hours.any():
            continue
        low, high = interval(hours.ravel())
        row = {
            "workload": posed.name,
            "mix": key_of(mix),
            "option": name,
            "title": words.title(name),
            "kind": kind_of(posed, name),
            "device_hours": float(hours.mean()),
            "device_hours_low": float(low),
            "device_hours_high": float(high),
            "device_hours_central": float(central[name].mean()) if name in central else 0.0,
            "usd_per_month": usd[name],
        }
        if kind is not None:
            room = count * float(kind.capacity.mean()) * kind.devices
            row |= {"machines": count, "capacity_device_hours": room}
            row |= {"use": float(hours.mean()) / room if room > 0 else None}
            row |= {"fixed_usd_per_month": count * float(kind.fixed.mean())}
        yield row


def load_table(worked: Sequence[Worked], words: Words) -> pd.DataFrame:
    """The load of the best mix in the months, the busiest first (LOAD): device-hours by source, at shares of them."""
    rows = []
    for one in worked:
        best = one.mixes[0]
        hours = {name: by.ravel() for name, by in device_hours(best.problem, best.done).items() if by.any()}
        names = sorted(hours, key=lambda name: KINDS.index(kind_of(one.posed, name)))
        if not names:
            continue
        curve = load_duration(np.stack([hours[name] for name in names]), SHARES)
        for name, loads in zip(names, curve, strict=True):
            said = {
                "workload": one.posed.name,
                "option": name,
                "title": words.title(name),
                "kind": kind_of(one.posed, name),
            }
            rows += [
                said | {"share_of_months": float(share), "device_hours": float(load)}
                for share, load in zip(SHARES, loads, strict=True)
            ]
    return pd.DataFrame(rows, columns=list(LOAD))


def job_table(worked: Sequence[Worked], every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> pd.DataFrame:
    """One row a class and offer (JOBS), whether it runs there or not, and why not.

    `every`: the options, those that do not fit among them. `usd`: of one job with its share of the machine, possession
    of a machine that is owned included at its planned use.
    """
    rows = [row for one in worked for row in _job_rows(one.posed, every, offers, words)]
    return pd.DataFrame(rows, columns=list(JOBS))


def _job_rows(posed: Posed, every: pd.DataFrame, offers: pd.DataFrame, words: Words) -> Iterator[dict[str, Any]]:
    machines = offers.drop_duplicates(list(OFFER)).to_dict("records")
    small = does_not_fit(every)
    for one in posed.classes:
        rows = {tuple(row[name] for name in OFFER): row for row in records(every[every["workload"] == one.workload])}
        for offer in machines:
            row = rows.get(tuple(offer[name] for name in OFFER))
            said = {
                "workload": posed.name,
                "class": one.job.name,
                "urgent": one.urgent,
                "model": one.job.model,
                **{name: offer[name] for name in OFFER},
                "option": None if row is None else row["option"],
                "title": words.machine(str(offer["instance"])) if row is None else row["title"],
                "status": _status(one, row, offer, small),
                "within_hours": one.limit if np.isfinite(one.limit) else None,
            }
            if row is not None:
                more = {"basis": "throughput_basis", "devices": "gpus", "jobs_at_once": "jobs_at_once"}
                said |= {name: row[column] for name, column in {**more, "hours": "hours", "usd": "usd"}.items()}
            yield said


def _status(one: Class, row: Row | None, offer: dict[str, Any], small: pd.Series) -> str:
    if row is None:
        wanted = one.job.urgent_devices_per_job if one.urgent else None
        wanted = wanted or one.job.devices_per_job
        return TOO_FEW if wanted != "all" and offer.get("gpus", np.inf) < wanted else NO_SPEED
    if small[row["row"]]:
        return TOO_SMALL
    if not in_time(one, row):
        return TOO_LATE
    return FITS if row["persistent"] else TAKEN
