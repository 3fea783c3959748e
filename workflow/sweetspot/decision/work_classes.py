"""Parts of a monthly workload: classes of jobs, machines and offers that may run them, timings, limits of the team."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.options import Row

if TYPE_CHECKING:
    from sweetspot.study.monthly import RecurringJob  # lazily: pydantic takes longer than all this computes
    from sweetspot.study.terms import Amount

COMMITTED = ("reserved", "committed")
PER_MONTH = "per_month"  # quantity: jobs of one class per month
GROWTH = "growth_per_month"  # quantity: growth of one class
UP_FRONT, WAIT = "at_most_up_front", "mean_wait_at_most"


class LimitViolation(NamedTuple):
    """A limit of the team (a key of the workload) that a mix breaks; `allowed` and `actual` in USD or hours."""

    limit: str
    allowed: float
    actual: float


class Trial(NamedTuple):
    """A timing that reveals a speed: its cost in USD, and the title of the offer on which it runs."""

    usd: float
    title: str


class WorkClass(NamedTuple):
    """Jobs of one class, or its urgent jobs; `limit`: hours to the end; `workload`: name in the table of options."""

    name: str
    workload: str
    job: "RecurringJob"
    urgent: bool
    limit: float

    @property
    def number(self) -> "Amount":
        """Jobs per month with range; urgent jobs are counted among those of their class too."""
        urgent = self.job.urgent_per_month if self.urgent else None
        return self.job.per_month if urgent is None else urgent


class Source(NamedTuple):
    """A machine or offer that may run jobs: offer row, option row by class (None: no speed), number already owned."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def kind(self) -> str:
        """How the source is used: `there` (already owned), `bought` (or committed to by the month), or `rented`."""
        row = self.offer
        is_monthly = row["purchase"] in ("own", *COMMITTED) or pd.notna(row["month_usd"])
        return "there" if self.there else "bought" if is_monthly else "rented"

    @property
    def rows_by_label(self) -> dict[int, Row]:
        """The source's distinct option rows, by label."""
        return {row["row"]: row for row in (self.offer, *self.rows) if row is not None}

    @property
    def labels(self) -> frozenset[int]:
        """Labels of the option rows of the source."""
        return frozenset(self.rows_by_label)


def in_time(job_class: WorkClass, row: Row, speed: float = 1.0) -> bool:
    """Return whether a job of a class, at `speed` times the central speed, ends within the class's limit of hours."""
    return bool(row["hours"] / speed <= job_class.limit) and bool(np.isfinite(row["usd"]))
