"""What the team's own record says, in one sentence beside the answer."""

from pathlib import Path

from sweetspot.study.workloads import load_monthly
from sweetspot.wording import percent


def use_in_words(workloads: str | Path | None, workload: str) -> str:
    """The sentence of a workload of months with `measured`; empty for any other. Raises UserError."""
    work = load_monthly(workloads).get(workload) if workloads is not None else None
    if work is None or work.measured is None:
        return ""
    found = work.measured
    jobs, busy = found.jobs_per_month, found.busy_share
    low, high = (_jobs(end) for end in jobs.ends)
    told = f"{percent(busy)} busy, " if busy is not None else ""
    since = "month" if found.months == 1 else f"{found.months:.3g} months"
    return f"Your last {since}: {told}{_jobs(jobs.value)} jobs a month ({low} to {high})."


def _jobs(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"
