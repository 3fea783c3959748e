"""What a monthly workload is made of: classes of jobs, sources that may do them, timings, limits of the team."""

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
    """A limit of the team (a key of the workload) that a mix breaks; USD, or hours."""

    limit: str
    allowed: float
    actual: float


class Trial(NamedTuple):
    """A timing that reveals a speed: its cost, and the offer that it is made on."""

    usd: float
    title: str


class WorkClass(NamedTuple):
    """Jobs of one class, or its urgent ones with a limit of hours; `workload` is that of the options."""

    name: str
    workload: str
    job: "RecurringJob"
    urgent: bool
    limit: float

    @property
    def number(self) -> "Amount":
        """Jobs a month; the urgent ones are among those of their class."""
        urgent = self.job.urgent_per_month if self.urgent else None
        return self.job.per_month if urgent is None else urgent


class Source(NamedTuple):
    """One option of the mix: its offer, its row of the options for each class (None: no speed), how many are owned."""

    offer: Row
    rows: tuple[Row | None, ...]
    there: int

    @property
    def kind(self) -> str:
        """What is done with it: there (owned), bought (or committed to: paid by the month), or rented."""
        row = self.offer
        is_monthly = row["purchase"] in ("own", *COMMITTED) or pd.notna(row["month_usd"])
        return "there" if self.there else "bought" if is_monthly else "rented"

    @property
    def rows_by_label(self) -> dict[int, Row]:
        """Its rows of the options."""
        return {row["row"]: row for row in (self.offer, *self.rows) if row is not None}

    @property
    def labels(self) -> frozenset[int]:
        """The labels of these rows."""
        return frozenset(self.rows_by_label)


def in_time(job_class: WorkClass, row: Row, speed: float = 1.0) -> bool:
    """Return whether a job of the class ends within its limit by its central hours, at so many times that speed."""
    return bool(row["hours"] / speed <= job_class.limit) and bool(np.isfinite(row["usd"]))
