"""The controls of the panel "your case", in real units: which a work has, from where to where, and in what words."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.report.notation import number
from sweetspot.study.study import Study
from sweetspot.wording import SHARE

MONTHS = (3, 72, 1)
KWH = (0, 1, 0.01)
TIMES = (0.2, 3, 0.05)  # of a price today
Row = dict[str, Any]


def controls(work: Row, offers: Sequence[Row], study: Study, code: str, hours: bool, short: bool) -> list[Row]:
    """The controls of a work: key in the address, kind, label, and of a slider its ends, step and what is planned.

    `work` as `case.evidence_case` has it, of which `offers` are; `short`: those of the page, in few words; else also
    the rarer ones. `more`: folded away; `told`: figures that a factor is said by. Kinds: range, limit (a number or
    none), check, jobs (a week; they stand for days of use).
    """
    share = work["cost"] == SHARE
    named = {one["option"]: one for one in offers}
    box = named.get(work.get("box"))
    made = [*_work(work, short), *_limits(code, hours, short)]
    if any(one["purchase"] in INTERRUPTIBLE for one in offers):
        made.append({"kind": "check", "key": "interruptible", "label": "interruptible machines allowed"})
    own = [one for one in offers if one["purchase"] == "own"]
    if own and (box or not share):
        days = (box or own[0])["days_per_month"]
        made.append(_slider("days", "days of use a month", (1, study.month_days, 0.5), days, more=short and not share))
        judged = share and work.get("reference") == work.get("box")
        made += [{"kind": "jobs", "key": "jobs a week", "label": "or jobs a week"}] if judged else []
    made += _money(work, named, box, code, short)
    return made if short else [*made, *_rarer(work, offers, box, study, code)]


def _slider(key: str, label: str, ends: Sequence[float], value: float | None, **more: Any) -> Row:
    return {"kind": "range", "key": key, "label": label, "ends": list(ends), "value": value, **more}


def _scaled(value: float, most: float) -> tuple[float, float, float]:
    """From a twentieth to `most` times a value, in steps of its third digit."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    low = max(1, round(value / 20 / step)) * step
    return tuple(float(f"{end:.6g}") for end in (low, most * value, step))  # type: ignore[return-value]


def _work(work: Row, short: bool) -> Iterator[Row]:
    if work.get("jobs"):
        label = "jobs" if work.get("months") is None else "jobs a month"
        yield _slider("jobs", label, _scaled(work["jobs"], 6), work["jobs"])


def _limits(code: str, hours: bool, short: bool) -> Iterator[Row]:
    if hours:
        yield {"kind": "limit", "key": "within", "label": "finish within", "unit": "hours"}
    if not short:
        yield {"kind": "limit", "key": "spend", "label": "spend at most", "unit": code}


def _money(work: Row, named: dict[str, Row], box: Row | None, code: str, short: bool) -> Iterator[Row]:
    rent, share = named.get(str(work.get("rent"))), work["cost"] == SHARE
    if box:
        yield _slider("months", "months of the project", MONTHS, work.get("months") or box["months"])
        if box["kw"] and not short:
            yield _slider("kwh", f"electricity, {code}/kWh", KWH, box["usd_per_kwh"] or 0)
        alone = sum(bool(one.get("capex_usd")) for one in named.values()) == 1
        yield _price("price", "the machine" if short and alone else box["name"], box, code)
    if rent:
        label = f"rent, {code} an hour"
        yield _slider("hourly", label, _scaled(rent["usd_per_hour"], 3), rent["usd_per_hour"], more=share and not short)


def _price(key: str, name: str, box: Row, code: str, **more: Any) -> Row:
    """The price of a machine for sale: not below what it is sold for."""
    capex = box["capex_usd"]
    least = max(0.2 * capex, 0 if box["resale"] else box["residual_usd"] or 0)
    ends = (math.ceil(least), math.ceil(3 * capex), max(1, round(capex / 100)))
    return _slider(key, f"price of {name}, {code}", ends, capex, digits=4, **more)


def _rarer(work: Row, offers: Sequence[Row], box: Row | None, study: Study, code: str) -> Iterator[Row]:
    changes = [one["rent_change"] for one in offers if one.get("rent_change") is not None]
    if changes and (box or work.get("months")):
        ends = " to ".join(dict.fromkeys(number(100 * end, 2) for end in (min(changes), max(changes))))
        label = "rental prices change a year, %"
        yield _slider("rent", label, (-60, 60, 1), None, digits=2, assumed=f"as assumed ({ends})")
    for one in offers:
        if one is not box and one["purchase"] == "own" and one["capex_usd"]:
            yield _price(f"price:{one['option']}", one["name"], one, code, more=True)
    away = [one for one in offers if one["purchase"] in INTERRUPTIBLE]
    groups = {"spot-price": ("spot prices", away)}
    for name in dict.fromkeys(one["provider"] for one in offers if one["purchase"] != "own"):
        mine = [one for one in offers if one["provider"] == name and one["purchase"] != "own"]
        groups[f"provider:{name}"] = f"prices of {study.provider_title(name)}", mine
    for key, (label, mine) in groups.items():
        yield from _by_factor(key, f"{label}, {code} an hour", TIMES, [one["usd_per_hour"] for one in mine])
    rates = [one["interruptions_per_hour"] for one in away]
    yield from _by_factor("spot-rate", "interruptions an hour", (0, 10, 0.1), rates)


def _by_factor(key: str, label: str, ends: Sequence[float], values: Sequence[float | None]) -> Iterator[Row]:
    """What moves together, by a factor; told as what the least and the greatest come to by it."""
    known = [value for value in values if value]
    if known:
        yield _slider(key, label, ends, 1, more=True, told=list(dict.fromkeys((min(known), max(known)))))
