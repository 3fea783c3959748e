"""The tables of the mixes: what to have and what to rent for the work of the months, and who does what."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import confidence
from sweetspot.decision.mix_problem import Posed
from sweetspot.decision.mix_words import Words, bought_in_words, bought_title, mix_title
from sweetspot.decision.simulate import interval
from sweetspot.decision.standing import p_cheaper
from sweetspot.mixes.dispatch import Done, dispatch
from sweetspot.mixes.problem import Array, Problem, load_duration
from sweetspot.mixes.search import BEST, THERE, Mix, machines_for, mixes
from sweetspot.study.titles import class_title

MIXES = (
    "workload", "mix", "kind", "title", "bought", "bought_title", "boxes", "source", "main_rented", "main_rented_title",
    "status", "reasons", "work_device_hours", "there_device_hours", "bought_device_hours", "rented_device_hours", "usd",
    "usd_low", "usd_high", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "usd_per_month_central",
    "months", "times_best", "p_cheaper", "confidence", "same_as_best", "times_best_low", "times_best_high",
)  # fmt: skip
SOURCES = (
    "workload", "mix", "option", "title", "kind", "machines", "device_hours", "device_hours_low", "device_hours_high",
    "device_hours_central", "capacity_device_hours", "use", "usd_per_month", "fixed_usd_per_month",
)  # fmt: skip
LOAD = ("workload", "option", "title", "kind", "share_of_months", "device_hours")
SHARES = np.linspace(0.0, 1.0, 21)
SAME = 0.01  # mixes of the same machines that cost no more than this apart are one
KINDS = ("there", "bought", "rented")


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


def mix_table(worked: Sequence[Worked], words: Words) -> pd.DataFrame:
    """One row a workload and mix (MIXES), the best first.

    USD of the project (`months`) and a month: the mean of the draws with its 90 % interval, and at central figures;
    null where the mix does not do the work: `status` says so, `reasons` (a list of clauses) why. `boxes`: machines
    bought or committed to, `bought_title` their name where they are of one kind, `bought` both in words;
    `times_best`: how many times the best's USD (`_low`, `_high`: 90 %); `p_cheaper`: of the best, to be cheaper than
    the cheapest pure option that is not itself; of a pure option, to be cheaper than the best; `same_as_best`: the best
    is this pure option but for what others do for less, under 1 % of the money.
    """
    rows = [row for one in worked for row in _mix_rows(one, words)]
    return pd.DataFrame(rows, columns=list(MIXES))


def _mix_rows(worked: Worked, words: Words) -> Iterator[dict[str, Any]]:
    posed, best = worked.posed, worked.mixes[0]
    rivals = rivals_of(worked)
    for one, central in zip(worked.mixes, worked.central, strict=True):
        alike = is_best(one, best)
        whole = bool(np.isfinite(one.expected))
        reasons = [] if whole else _reasons(posed, one)
        by = {source: hours.mean() for source, hours in device_hours(one.problem, one.done).items()}
        kinds = {kind: sum(hours for name, hours in by.items() if _kind(posed, name) == kind) for kind in KINDS}
        rented = {name: hours for name, hours in by.items() if _kind(posed, name) == "rented" and hours > 0}
        main = max(rented, key=lambda name: rented[name], default=None)
        row = {
            "workload": posed.name,
            "mix": key_of(one),
            "kind": one.kind,
            "title": mix_title(one, posed, main, words),
            "bought": bought_in_words(one.counts, one.problem, words),
            "bought_title": bought_title(one.counts, one.problem, words),
            "boxes": sum(one.counts) - sum(one.problem.there),
            "source": one.source or None,
            "main_rented": main,
            "main_rented_title": None if main is None else words.title(main),
            "status": "; ".join(["ok"] if whole else ["cannot: " + reasons[0], *reasons[1:]]),
            "reasons": reasons,
            "work_device_hours": sum(by.values()),
            **{f"{kind}_device_hours": hours for kind, hours in kinds.items()},
            "months": posed.work.months,
            "same_as_best": alike and one.kind != BEST,
        }
        if whole:
            row |= _money(posed, one, central, best) | _chance(one, best, rivals, alike)
        yield row


def is_best(one: Mix, best: Mix) -> bool:
    """Whether a mix is the best, but for what others do for less."""
    return one.counts == best.counts and one.expected <= best.expected * (1 + SAME)


def rivals_of(worked: Worked) -> list[Mix]:
    """The pure options that do the work and are not the best itself, the cheapest first."""
    best = worked.mixes[0]
    return [one for one in worked.mixes if not is_best(one, best) and np.isfinite(one.expected)]


def _money(posed: Posed, one: Mix, central: Done, best: Mix) -> dict[str, float]:
    low, high = (float(end) for end in interval(one.done.usd))
    month = {"usd_per_month": one.expected, "usd_per_month_low": low, "usd_per_month_high": high}
    project = {name.replace("_per_month", ""): usd * posed.work.months for name, usd in month.items()}
    times = one.expected / best.expected if best.expected > 0 else np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = interval(one.done.usd / best.done.usd)
    spread = {f"times_best_{end}": float(value) for end, value in zip(("low", "high"), ends, strict=True)}
    return month | project | {"usd_per_month_central": float(central.usd[0]), "times_best": times} | spread


def _chance(one: Mix, best: Mix, rivals: Sequence[Mix], alike: bool) -> dict[str, Any]:
    if one.kind == BEST or alike:
        if not rivals:
            return {}
        chance = p_cheaper(best.done.usd.ravel(), rivals[0].done.usd.ravel())
        return {"p_cheaper": chance, "confidence": confidence(chance)}
    return {"p_cheaper": p_cheaper(one.done.usd.ravel(), best.done.usd.ravel())}


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


def _usd(problem: Problem, done: Done, counts: Sequence[int]) -> dict[str, float]:
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


def _kind(posed: Posed, option: str) -> str:
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
    usd = _usd(mix.problem, mix.done, mix.counts)
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
            "kind": _kind(posed, name),
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
        names = sorted(hours, key=lambda name: KINDS.index(_kind(one.posed, name)))
        if not names:
            continue
        curve = load_duration(np.stack([hours[name] for name in names]), SHARES)
        for name, loads in zip(names, curve, strict=True):
            said = {
                "workload": one.posed.name,
                "option": name,
                "title": words.title(name),
                "kind": _kind(one.posed, name),
            }
            rows += [
                said | {"share_of_months": float(share), "device_hours": float(load)}
                for share, load in zip(SHARES, loads, strict=True)
            ]
    return pd.DataFrame(rows, columns=list(LOAD))
