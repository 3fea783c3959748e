"""What a record of jobs says of each calendar month: hours of devices, jobs, waiting."""

from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.use.month_sums import by_month, device_hours, held_jobs, last_moment, months_of_record, of_jobs


def job_months(jobs: pd.DataFrame, file: str) -> pd.DataFrame:
    """Columns month (its first moment, UTC), used_device_hours, jobs (begun in it), wait_hours (mean; NaN unknown).

    Months of UTC, as of bills, that the record covers as a whole. Raises UserError where it has none.
    """
    held = held_jobs(jobs)
    if held.empty:
        raise UserError(f"{file}: no job in it held a device; expected some")
    months = months_of_record(held, last_moment(jobs), ZoneInfo("UTC"), None, None)
    if (months.exposure < 1).any():
        raise UserError(f"{file}: covers no whole month; expected one at least, to hold beside a plan of months")
    classes = pd.Series("all", held.index)
    began, count = of_jobs(held, classes, months), len(months.names)
    number = by_month(began, None, count)
    waited = by_month(began[began["wait_hours"].notna()], "wait_hours", count)
    known = by_month(began[began["wait_hours"].notna()], None, count)
    hours = device_hours(held, classes, months).sum().reindex(months.names)
    return pd.DataFrame({
        "month": months.edges[:-1], "used_device_hours": hours.to_numpy(float), "jobs": number,
        "wait_hours": np.divide(waited, known, out=np.full(count, np.nan), where=known > 0),
    })  # fmt: skip
