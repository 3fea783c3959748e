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
    single_job = work["cost"] == SHARE
    by_option = {offer["option"]: offer for offer in offers}
    box = by_option.get(work.get("box"))
    rows: list[Row] = []
    if work.get("jobs"):
        label = "jobs" if work.get("months") is None else "jobs a month"
        rows.append(_slider("jobs", label, _scaled(work["jobs"], 6), work["jobs"]))
    if hours:
        rows.append({"kind": "limit", "key": "within", "label": "finish within", "unit": "hours"})
    if not short:
        rows.append({"kind": "limit", "key": "spend", "label": "spend at most", "unit": code})
    if any(offer["purchase"] in INTERRUPTIBLE for offer in offers):
        rows.append({"kind": "check", "key": "interruptible", "label": "interruptible machines allowed"})

    owned = [offer for offer in offers if offer["purchase"] == "own"]
    if owned and (box or not single_job):
        days, folded = (box or owned[0])["days_per_month"], short and not single_job
        rows.append(_slider("days", "days of use a month", (1, study.month_days, 0.5), days, more=folded))
        if single_job and work.get("reference") == work.get("box"):
            rows.append({"kind": "jobs", "key": "jobs a week", "label": "or jobs a week"})
    rows += _money(work, by_option, box, code, short)
    return rows if short else [*rows, *_rarer(work, offers, box, study, code)]


def _slider(key: str, label: str, ends: Sequence[float], value: float | None, **more: Any) -> Row:
    return {"kind": "range", "key": key, "label": label, "ends": list(ends), "value": value, **more}


def _scaled(value: float, most: float) -> tuple[float, float, float]:
    """From a twentieth to `most` times a value, in steps of its third digit."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    low = max(1, round(value / 20 / step)) * step
    return tuple(float(f"{end:.6g}") for end in (low, most * value, step))  # type: ignore[return-value]


def _money(work: Row, by_option: dict[str, Row], box: Row | None, code: str, short: bool) -> Iterator[Row]:
    if box:
        yield _slider("months", "months of the project", MONTHS, work.get("months") or box["months"])
        if box["kw"] and not short:
            yield _slider("kwh", f"electricity, {code}/kWh", KWH, box["usd_per_kwh"] or 0)
        only_purchase = sum(bool(offer.get("capex_usd")) for offer in by_option.values()) == 1
        yield _price("price", "the machine" if short and only_purchase else box["name"], box, code)
    rental = by_option.get(str(work.get("rent")))
    if rental:
        hourly, folded = rental["usd_per_hour"], work["cost"] == SHARE and not short
        yield _slider("hourly", f"rent, {code} an hour", _scaled(hourly, 3), hourly, more=folded)


def _price(key: str, name: str, box: Row, code: str, **more: Any) -> Row:
    """The price of a machine for sale: not below what it is sold for."""
    capex = box["capex_usd"]
    least = max(0.2 * capex, 0 if box["resale"] else box["residual_usd"] or 0)
    ends = (math.ceil(least), math.ceil(3 * capex), max(1, round(capex / 100)))
    return _slider(key, f"price of {name}, {code}", ends, capex, digits=4, **more)


def _rarer(work: Row, offers: Sequence[Row], box: Row | None, study: Study, code: str) -> Iterator[Row]:
    changes = [offer["rent_change"] for offer in offers if offer.get("rent_change") is not None]
    if changes and (box or work.get("months")):
        bounds = " to ".join(dict.fromkeys(number(100 * change, 2) for change in (min(changes), max(changes))))
        label = "rental prices change a year, %"
        yield _slider("rent", label, (-60, 60, 1), None, digits=2, assumed=f"as assumed ({bounds})")
    for offer in offers:
        if offer is not box and offer["purchase"] == "own" and offer["capex_usd"]:
            yield _price(f"price:{offer['option']}", offer["name"], offer, code, more=True)

    interruptible = [offer for offer in offers if offer["purchase"] in INTERRUPTIBLE]
    groups = {"spot-price": ("spot prices", interruptible)}
    rented = [offer for offer in offers if offer["purchase"] != "own"]
    for provider in dict.fromkeys(offer["provider"] for offer in rented):
        provider_offers = [offer for offer in rented if offer["provider"] == provider]
        groups[f"provider:{provider}"] = f"prices of {study.provider_title(provider)}", provider_offers
    for key, (label, group) in groups.items():
        yield from _by_factor(key, f"{label}, {code} an hour", TIMES, [offer["usd_per_hour"] for offer in group])
    rates = [offer["interruptions_per_hour"] for offer in interruptible]
    yield from _by_factor("spot-rate", "interruptions an hour", (0, 10, 0.1), rates)


def _by_factor(key: str, label: str, ends: Sequence[float], values: Sequence[float | None]) -> Iterator[Row]:
    """What moves together, by a factor; told as what the least and the greatest come to by it."""
    positive = [value for value in values if value]
    if positive:
        bounds = list(dict.fromkeys((min(positive), max(positive))))
        yield _slider(key, label, ends, 1, more=True, told=bounds)
