"""Who does which job: owned machines where running them is cheaper, rental offers for the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import permutations

import numpy as np

from sweetspot.mixes.problem import NEVER, Array, Counts, OwnedMachine, Problem, RentalOffer, finite

PERMUTED_KINDS = 3  # Of the first kinds in the order of merit all orders are tried.
SLIGHT = 1e-9  # of a job, and of its worth: decides between jobs that are worth the same
ALLOWED_DELAY = 0.01  # share of the jobs of a class that may wait for a quieter month


@dataclass(frozen=True, eq=False)
class DispatchResult:
    """Who does the jobs of a problem with some number of machines of each owned kind.

    Parameters
    ----------
    problem, counts
        What was dispatched.
    owned_jobs
        Jobs on each owned kind that does some, class x sample x month, by name.
    rented, undone
        Jobs that are rented (on the offers by `Problem.share_of`) and that nobody does.
    usd
        USD per month by sample, mean of the months, ownership included; NEVER where more than
        ALLOWED_DELAY of the jobs of a class are not done.
    running
        The part of it for use, sample x month.
    """

    problem: Problem
    counts: Counts
    owned_jobs: dict[str, Array]
    rented: Array
    undone: Array
    usd: Array
    running: Array

    @cached_property
    def offers(self) -> dict[str, int]:
        """Index of each offer that is given jobs, by name."""
        return {self.problem.rented[index].name: index for index in self.problem.used}

    @cached_property
    def sources(self) -> dict[str, OwnedMachine | RentalOffer]:
        """All owned kinds, and the offers that are given jobs."""
        owned = {kind.name: kind for kind in self.problem.held}
        return owned | {name: self.problem.rented[index] for name, index in self.offers.items()}

    def jobs(self, name: str) -> Array:
        """Return the jobs that a source does, class x sample x month."""
        if name in self.offers:
            return self.problem.share_of(self.offers[name])[:, :, None] * self.rented
        return self.owned_jobs.get(name, np.zeros(self.rented.shape))

    def device_hours(self, name: str) -> Array:
        """Return the device-hours of a source, sample x month."""
        hours = finite(self.sources[name].device_hours)
        return np.asarray(np.einsum("jdt,jd->dt", self.jobs(name), hours))

    def usd_by_use(self, name: str) -> float:
        """Return the expected USD per month of work on a source, without ownership."""
        source = self.sources[name]
        usd = np.einsum("jdt,jd->dt", self.jobs(name), finite(source.usd))
        return float((usd * source.path if isinstance(source, RentalOffer) else usd).mean())

    @cached_property
    def _usd_by_offer(self) -> dict[str, float]:
        return {name: self.usd_by_use(name) for name in self.offers}

    @cached_property
    def lead(self) -> str:
        """The offer that is paid the most; empty where nothing is rented."""
        name = max(self._usd_by_offer, key=self._usd_by_offer.__getitem__, default="")
        return name if name and self.jobs(name).any() else ""

    def share(self, name: str) -> float:
        """Return the share of all rent that is paid to an offer."""
        return self._usd_by_offer.get(name, 0.0) / (sum(self._usd_by_offer.values()) or 1.0)


def dispatch_once(problem: Problem, counts: Counts) -> DispatchResult:
    """Return `dispatch`, cached in a problem that is small enough to keep its results."""
    if counts not in problem.results:
        problem.results[counts] = dispatch(problem, counts)
    result: DispatchResult = problem.results[counts]
    return result


def dispatch(problem: Problem, counts: Sequence[int]) -> DispatchResult:
    """Dispatch the jobs of each month to owned machines and rental offers.

    Kinds are filled one after another, each with the jobs that are worth most per hour; the rest
    is rented where a job is expected to be the cheapest. A job is worth what it costs elsewhere
    less its running cost. All of this follows what is expected with the timed speeds: no sample
    has an order that nobody could have known.

    With one kind, one class, or kinds whose speeds are in proportion no dispatch is cheaper at
    certain figures (a fractional knapsack). Elsewhere the cheapest of several orders is taken;
    docs/decision.md says how far that is from the linear programme.

    Parameters
    ----------
    problem
        The jobs and what can do them.
    counts
        Machines of each owned kind.

    Returns
    -------
    DispatchResult
        Jobs by source and their cost.
    """
    merit = [index for index in problem.by_running if counts[index]]
    leading, tail = merit[:PERMUTED_KINDS], merit[PERMUTED_KINDS:]
    best = _fill_kinds(problem, counts, merit, False)
    is_optimal = len(merit) < 2 or _are_in_proportion([problem.held[index] for index in merit])
    for order in () if is_optimal else permutations(leading):
        for shared in (True, False):
            # Jobs that nobody rents must not stay undone for being cheap.
            best = min(best, _fill_kinds(problem, counts, [*order, *tail], shared), key=_rank)
    fixed = np.zeros(problem.jobs.shape[1])
    for kind, count in zip(problem.held, counts, strict=True):
        fixed += count * kind.fixed
    late = best.undone.sum(axis=(1, 2)) > ALLOWED_DELAY * problem.jobs.sum(axis=(1, 2))
    usd = fixed + best.running.mean(axis=1) + problem.trial_usd + (NEVER if late.any() else 0.0)
    jobs = best.owned_jobs
    return DispatchResult(problem, tuple(counts), jobs, best.rented, best.undone, usd, best.running)


def _are_in_proportion(kinds: Sequence[OwnedMachine]) -> bool:
    """Tell whether each kind differs from the first by one factor for all classes that run, in hours and running."""
    hours, usd = (np.stack([getattr(kind, name) for kind in kinds]) for name in ("hours", "usd"))
    is_run = np.isfinite(hours).any(axis=(0, 2))
    if not np.isfinite(hours[:, is_run]).all():
        return False
    for values in (hours[:, is_run], usd[:, is_run]):
        products, others = values[0] * values[:, :1], values * values[0, :1]
        if (np.abs(products - others) > SLIGHT * others).any():
            return False
    return True


@dataclass(frozen=True, eq=False)
class FilledKinds:
    """Jobs after owned kinds were filled in one order, and what all of them cost to run."""

    owned_jobs: dict[str, Array]
    rented: Array
    undone: Array
    running: Array


def _rank(filled: FilledKinds) -> tuple[int, float]:
    undone = float(filled.undone.sum(axis=0).mean())
    return round(undone / SLIGHT), float(filled.running.mean())


def _fill_kinds(problem: Problem, counts: Sequence[int], order: Sequence[int], shared: bool) -> FilledKinds:
    """Fill owned kinds in an order.

    `shared`: a job's worth is first compared with the cost on rival kinds too, as if their hours were
    free, then against renting alone.
    """
    remaining = problem.jobs.copy()
    running = np.zeros(remaining.shape[1:])
    kinds = {index: problem.held[index] for index in order}
    owned_jobs = {kind.name: np.zeros(remaining.shape) for kind in kinds.values()}
    free_hours = {
        index: problem.filled * counts[index] * kind.hours_per_month + running for index, kind in kinds.items()
    }
    forecasts = {index: problem.owned_forecast(kind) for index, kind in kinds.items()}
    # Of jobs worth the same, those that fewer kinds can do come first.
    scarcity = 1.0 - SLIGHT * sum(np.isfinite(hours) for hours, _ in forecasts.values())
    for beside in (True, False) if shared else (False,):
        for index, kind in kinds.items():
            hours, usd = forecasts[index]
            rivals = [
                np.where(np.isfinite(rival_hours), rival_usd, NEVER)
                for rival, (rival_hours, rival_usd) in forecasts.items()
                if beside and rival != index
            ]
            elsewhere = reduce(np.minimum, rivals, problem.expected_rent)
            with np.errstate(invalid="ignore"):
                worth = np.where(np.isfinite(hours), scarcity * (elsewhere - usd) / hours, -NEVER)
            running += _fill(kind, worth, owned_jobs[kind.name], remaining, free_hours[index])
    undone = np.where(np.isfinite(problem.rentable)[:, :, None], 0.0, remaining)
    return FilledKinds(owned_jobs, remaining - undone, undone, running + problem.rent_of(remaining))


def _fill(kind: OwnedMachine, worth: Array, jobs: Array, remaining: Array, free_hours: Array) -> Array:
    """Give a kind the jobs worth most per hour and return their USD, sample x month.

    Changes `jobs`, `remaining` and `free_hours` (sample x month). `worth` is class x 1 where one order
    holds for all samples, else class x sample.
    """
    usd, samples = np.zeros(remaining.shape[1:]), np.arange(remaining.shape[1])
    for row in np.argsort(-worth, axis=0, kind="stable"):
        pays = np.atleast_1d(worth[row, np.arange(len(row))] > 0)
        if not pays.any():
            break
        at = int(row[0]) if len(row) == 1 else (row, samples)
        hours = np.where(pays, kind.hours[at], 1.0)[:, None]
        added_jobs = np.where(pays[:, None], np.minimum(remaining[at], free_hours / hours), 0.0)
        remaining[at] -= added_jobs
        jobs[at] += added_jobs
        free_hours -= np.minimum(free_hours, added_jobs * hours)
        usd += added_jobs * np.where(pays, kind.running[at], 0.0)[:, None]
    return usd
