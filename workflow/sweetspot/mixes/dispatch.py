"""Which machine runs each job: owned machines where running them is cheaper, rental offers for the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import permutations, product

import numpy as np

from sweetspot.mixes.problem import NEVER, Array, Counts, OwnedMachine, Problem, RentalOffer, finite

PERMUTED_KINDS = 3  # Of the first kinds in the order of merit all orders are tried.
ALLOWED_DELAY = 0.01  # share of the jobs of a class that may wait for a quieter month


@dataclass(frozen=True, eq=False)
class DispatchResult:
    """Jobs that each owned kind and rental offer runs, with `counts` machines of each owned kind.

    owned_jobs: jobs on each owned kind with at least one machine, class x sample x month, by name of the kind.
    remaining: jobs run on rental offers (`Problem.used`) or nowhere, class x sample x month.
    running: USD for use of machines and rent, without ownership and trials, sample x month.
    """

    problem: Problem
    counts: Counts
    owned_jobs: dict[str, Array]
    remaining: Array
    running: Array

    @cached_property
    def usd(self) -> Array:
        """USD per month by sample, averaged over the months, with ownership and trials: what mixes are compared by.
        NEVER is added where more than ALLOWED_DELAY of the jobs of a class are not run.
        """
        problem = self.problem
        fixed = sum(count * kind.fixed for kind, count in zip(problem.held, self.counts, strict=True))
        cannot_rent = ~np.isfinite(problem.expected_rent[0][:, 0])
        is_late = self.remaining.sum(axis=(1, 2)) > ALLOWED_DELAY * problem.jobs.sum(axis=(1, 2))
        usd = self.running.mean(axis=1) + problem.trial_usd + (NEVER if is_late[cannot_rent].any() else 0.0)
        # With one month a sample stands for an estimate: the price is its expectation.
        return usd + (fixed if problem.samples is ... else np.mean(fixed))

    @property
    def sources(self) -> dict[str, OwnedMachine | RentalOffer]:
        """All owned kinds, and the rental offers that are given jobs, by name."""
        offers = {name: offer for name, (offer, *_) in self.problem.used.items()}
        return {kind.name: kind for kind in self.problem.held} | offers

    def jobs(self, name: str) -> Array:
        """Return how many jobs a source (owned kind or offer) runs, class x sample x month, to report who does what."""
        if name in self.problem.used:
            return self.problem.used[name][1][:, :, None] * self.remaining
        return self.owned_jobs.get(name, np.zeros(self.remaining.shape))

    def device_hours(self, name: str) -> Array:
        """Return the device-hours that jobs take on a source, sample x month."""
        hours = finite(self.sources[name].device_hours[:, self.problem.samples])
        return np.asarray(np.einsum("jdt,jd->dt", self.jobs(name), hours))

    @cached_property
    def rent_by_offer(self) -> dict[str, float]:
        """Expected USD per month paid to each rental offer that is given jobs, by its name."""
        rents = {name: float(self.problem.rent(self.remaining, name).mean()) for name in self.problem.used}
        return {name: usd for name, usd in rents.items() if usd}

    @property
    def lead(self) -> str:
        """Name of the offer that is paid the most; empty where nothing is rented."""
        return max(self.rent_by_offer, key=self.rent_by_offer.__getitem__, default="")


def dispatch(problem: Problem, counts: Counts) -> DispatchResult:
    """Return which owned machines and rental offers run the jobs of each month, and the USD for it: what a mix costs.
    `counts`: machines of each owned kind (`problem.held`). Kinds are filled one after another, each with the jobs worth
    most per hour; the rest is rented where a job is expected to be the cheapest. A job is worth what it costs elsewhere
    less its running cost. All follows expectations with the timed speeds, not the speeds of a single sample. With one
    kind or one class no dispatch is cheaper at certain figures (a fractional knapsack). Elsewhere the cheapest of
    several orders is taken; docs/decision.md says how far that is from the linear programme.
    """
    used = [index for index, count in enumerate(counts) if count]
    order = sorted(used, key=lambda index: np.ma.masked_invalid(problem.owned_forecasts[index][1]).mean())
    orders = [[*leading, *order[PERMUTED_KINDS:]] for leading in permutations(order[:PERMUTED_KINDS])]
    results = (
        _fill_kinds(problem, counts, order, rounds)
        for order in orders
        for rounds in ((False,), (True, False))[: len(orders)]  # In the only order rivals change nothing.
    )
    return min(results, key=lambda result: result.usd.mean())


def _fill_kinds(problem: Problem, counts: Counts, order: Sequence[int], rounds: Sequence[bool]) -> DispatchResult:
    """Return the dispatch (who runs which jobs, at what cost) that fills owned kinds of machines in one order.
    `dispatch` takes the cheapest of several orders. `counts`: machines by kind; `order`: indices of kinds in
    `problem.held`, filled one after another, each with the jobs worth most; the rest is rented. `rounds`: whether a
    job's worth is compared with the cost on rival kinds too, as if their hours were free, or with renting alone.
    """
    # Not copied where all is rented: hundreds of such mixes would hold a copy each.
    remaining = problem.jobs.copy() if order else problem.jobs
    running = np.zeros(remaining.shape[1:])
    machines = {}
    for index in order:
        kind = problem.held[index]
        hours = counts[index] * kind.capacity[problem.samples, None] * problem.by_month(kind.present)
        machines[index] = kind, np.zeros(remaining.shape), running + hours
    for is_beside, index in product(rounds, order):
        kind, jobs, free = machines[index]
        expected_hours, expected_usd = problem.owned_forecasts[index]
        rivals = [problem.owned_forecasts[rival][1] for rival in order if is_beside and rival != index]
        elsewhere = reduce(np.minimum, rivals, problem.expected_rent[0])
        with np.errstate(invalid="ignore"):
            worth = (elsewhere - expected_usd) / expected_hours
        pays = worth > 0  # False for NaN: the job cannot run.
        hours = np.where(pays, kind.hours[:, problem.samples], NEVER)
        usd = kind.running[:, problem.samples]
        for row in np.argsort(-worth, axis=0, kind="stable")[: pays.sum(axis=0).max()]:
            # Of one class, or one for each sample.
            cells = int(row[0]) if len(row) == 1 else (row, np.arange(len(free)))
            job_hours = hours[cells][:, None]
            added_jobs = np.minimum(remaining[cells], free / job_hours)
            remaining[cells] -= added_jobs
            jobs[cells] += added_jobs
            free -= np.minimum(free, added_jobs * finite(job_hours))
            running += added_jobs * usd[cells][:, None]
    running += problem.rent(remaining)
    owned_jobs = {kind.name: jobs for kind, jobs, _ in machines.values()}
    return DispatchResult(problem, counts, owned_jobs, remaining, running)
