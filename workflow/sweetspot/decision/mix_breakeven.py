"""From how much work, and over how many months, a machine that is for sale pays beside what is there."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import begun, the
from sweetspot.decision.lever_names import ALL_JOBS, JOBS
from sweetspot.decision.mix_levers import Lever, move
from sweetspot.decision.mix_tables import device_hours
from sweetspot.decision.mix_tornado import Turned
from sweetspot.decision.mix_words import Words
from sweetspot.decision.simulate import interval
from sweetspot.mixes.turning import FURTHEST, pays_from, pays_from_by_draw

WORK = "device_hours"
COLUMNS = (
    "workload", "option", "title", "quantity", "subject", "assumption", "unit", "planned", "pays_from",
    "pays_from_low", "pays_from_high", "factor", "p_pays", "text", "pays_until",
)  # fmt: skip


def break_even_table(turned: Sequence[Turned], words: Words) -> pd.DataFrame:
    """One row a workload, machine for sale or commitment, and quantity (COLUMNS).

    `pays_from`: from there on what is there and one of the machine costs no more than what is there and rentals alone;
    of all work, in device-hours a month with the classes as planned, of one class's jobs a month, and of the months
    that the purchase is spread over, the others fixed. 0: it pays at a fifth of what is planned already; null: not at
    five times. `_low`, `_high`: 90 % of the draws, over six months of each; `p_pays`: share of the draws in which it
    pays as planned. `pays_until` is for plans of phases; null here.
    """
    rows = [row for one in turned for row in _rows(one, words)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(one: Turned, words: Words) -> Iterator[dict[str, Any]]:
    posed, best = one.worked.posed, one.worked.mixes[0]
    work = sum(float(hours.mean()) for hours in device_hours(posed.drawn, best.done).values())
    for place, kind in enumerate(posed.drawn.held):
        if not kind.for_sale:
            continue
        for lever in _asked(one.levers, kind.name):
            whole = lever.quantity == ALL_JOBS or (lever.quantity == JOBS and len(posed.work.jobs) == 1)
            planned, unit = (work, "device-hours/month") if whole else (lever.value, lever.unit)
            at = move(posed, lever, one.known)
            most = lever.most / lever.value
            factor = pays_from(one.plans, at, place, most)
            drawn = pays_from_by_draw(one.plans, at, place, most)
            low, high = (float(end) for end in interval(drawn))
            ends = {"pays_from": factor, "pays_from_low": low, "pays_from_high": high}
            yield {
                "workload": posed.name,
                "option": kind.name,
                "title": words.title(kind.name),
                "quantity": WORK if whole else lever.quantity,
                "subject": lever.subject or None,
                "assumption": "the work of a month" if whole else lever.name,
                "unit": unit,
                "planned": planned,
                **{name: end * planned if np.isfinite(end) else np.nan for name, end in ends.items()},
                "factor": factor if np.isfinite(factor) else np.nan,
                "p_pays": float(np.mean(drawn <= 1.0)),
                "text": in_words(words.title(kind.name), factor * planned, planned, unit),
            }


def _asked(levers: list[Lever], option: str) -> Iterator[Lever]:
    for lever in levers:
        urgent = lever.subject.endswith("(urgent)")
        jobs = lever.quantity == ALL_JOBS or (lever.quantity == JOBS and not urgent)
        if jobs or (lever.quantity == "months" and lever.subject == option):
            yield lever


def in_words(title: str, value: float, planned: float, unit: str, most: float = np.inf, until: float = np.inf) -> str:
    """From how much on a machine pays; 0: from less than a fifth of what is planned; infinite: at no number; `most`:
    more there is not; `until`: with more it pays no longer.
    """
    box = begun(the(title))
    if not np.isfinite(value):
        return f"{box} pays at no number up to {amount(min(FURTHEST * planned, most))} {unit}"
    if np.isfinite(until):
        least = amount(value) if value > 0 else f"less than {amount(planned / FURTHEST)}"
        return f"{box} pays from {least} to {amount(until)} {unit}; {amount(planned)} are planned"
    if value == 0:
        return f"{box} pays from less than {amount(planned / FURTHEST)} {unit} on"
    return f"{box} pays from {amount(value)} {unit} on; {amount(planned)} are planned"
