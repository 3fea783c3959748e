"""What the plan of months is made of at central figures, for arithmetic elsewhere (the page's what-if)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.mix_problem import Posed
from sweetspot.decision.mix_tables import Worked
from sweetspot.decision.mix_words import Words
from sweetspot.decision.options import Row
from sweetspot.decision.rates import month_of, or_zero

COLUMNS = (
    "workload", "class", "jobs_per_month", "option", "title", "kind", "devices", "there", "best_count", "hours",
    "usd_per_job", "fixed_usd_per_month", "purchase_usd_per_month", "resale_usd_per_month", "capacity_hours", "months",
)  # fmt: skip


def figure_table(worked: Sequence[Worked], words: Words) -> pd.DataFrame:
    """One row a workload, class of jobs (urgent ones apart) and source (COLUMNS), at central figures.

    `kind`: there, for sale (commitments too), by the hour; `there`, `best_count`: machines of it that are there, and in
    the best mix; `hours`: of one machine that a job takes (held) or of all its devices (by the hour), null where it
    does not run; `usd_per_job`: its running, or its rent; `fixed_usd_per_month` of one machine, of which
    `purchase_usd_per_month` goes with its price and, with `resale_usd_per_month`, as one over the `months` that it is
    spread over (null: not so simply: a discount rate, a curve of resale); `capacity_hours`: in which it works a month.
    """
    rows = [row for one in worked for row in _rows(one, words)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(one: Worked, words: Words) -> Iterator[dict[str, Any]]:
    posed, best = one.posed, one.mixes[0]
    for number, each in enumerate(posed.classes):
        about = {"workload": posed.name, "class": each.name, "jobs_per_month": float(posed.central.jobs[number, 0, 0])}
        for kind, count in zip(posed.central.held, best.counts, strict=True):
            hours = float(kind.hours[number, 0])
            yield about | {
                "option": kind.name,
                "title": words.title(kind.name),
                "kind": "there" if kind.there else "for sale",
                "devices": kind.devices,
                "there": kind.there,
                "best_count": count,
                "hours": hours if np.isfinite(hours) else None,
                "usd_per_job": float(kind.running[number, 0]) if np.isfinite(hours) else None,
                "fixed_usd_per_month": float(kind.fixed[0]),
                "capacity_hours": float(kind.capacity[0]),
                **_bought(posed, posed.source(kind.name).offer, float(kind.fixed[0]), kind.there),
            }
        for offer in posed.central.rented:
            usd = float(offer.usd[number, 0])
            runs = bool(np.isfinite(usd))
            yield about | {
                "option": offer.name,
                "title": words.title(offer.name),
                "kind": "by the hour",
                "hours": float(offer.device_hours[number, 0]) if runs else None,
                "usd_per_job": usd if runs else None,
            }


def _bought(posed: Posed, row: Row, fixed: float, there: int) -> dict[str, Any]:
    """The parts of a machine's month that go with its price and with its months."""
    if there or row["purchase"] != "own":
        return {}
    whole = float(month_of(row, row["capex_usd"], row["months"], row["residual_usd"]))
    if not whole > 0:
        return {}
    resale = month_of(row, row["capex_usd"], row["months"], 0.0)
    without = float(month_of(row, 0.0, row["months"], 0.0))
    parts = {"purchase_usd_per_month": fixed * (float(resale) - without) / whole}
    parts["resale_usd_per_month"] = fixed * (whole - float(resale)) / whole
    simple = or_zero(row["discount_rate"]) == 0 and not isinstance(row.get("residual_points"), list | np.ndarray)
    return parts | {"months": float(row["months"]) if simple else None}
