"""Small problems of mixes, with the same figures in every draw."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog
from sweetspot.mixes.problem import ALWAYS, OwnedMachine, Problem, RentalOffer, SpeedErrors


def held(name, hours, running, capacity, fixed=0.0, there=0, draws=1, **changes):
    """A kind held with the same figures in every sample; hours and running by class, or class x sample."""
    samples = np.ones(draws)
    hours, running = (as_samples(values, draws) for values in (hours, running))
    values = {"devices": 1, "present": ALWAYS, "running_at_speed": running, "speed_keys": ("",) * len(hours)}
    return OwnedMachine(name=name, there=there, fixed=fixed * samples, capacity=capacity * samples, hours=hours,
                        running=running, **values | changes)  # fmt: skip


def rented(name, usd, hours=None, draws=1, **changes):
    """An offer; USD and device-hours of a job by class, or class x sample."""
    usd, hours = as_samples(usd, draws), as_samples(usd if hours is None else hours, draws)
    expected = usd.mean(axis=1, keepdims=True)
    values = {"expected_usd": expected, "usd_at_speed": usd, "path": ALWAYS, "speed_keys": ("",) * len(usd)}
    return RentalOffer(name=name, usd=usd, device_hours=hours, **values | changes)


def as_samples(values, draws):
    values = np.asarray(values, float)
    return values if values.ndim == 2 else values[:, None] * np.ones(draws)


def problem(jobs, kinds, offers):
    """`jobs`: class x draw x month."""
    amounts = np.asarray(jobs, float)
    errors = SpeedErrors((), np.zeros((0, amounts.shape[1])))
    return Problem(amounts, tuple(kinds), tuple(offers), {}, errors)


def by_linear_programme(one, counts):
    """USD of the cheapest dispatch of the only draw and month, written without regard to the order of merit."""
    kinds = [(kind.hours[:, 0], kind.running[:, 0], place) for place, kind in enumerate(one.held)]
    kinds += [(np.where(np.isfinite(offer.usd[:, 0]), 0.0, np.inf), offer.usd[:, 0], None) for offer in one.rented]
    columns = [(job, place, hours[job], usd[job]) for hours, usd, place in kinds for job in range(len(one.jobs))
               if np.isfinite(hours[job])]  # fmt: skip
    done = np.array([[float(job == column[0]) for column in columns] for job in range(len(one.jobs))])
    used = np.array([[column[2] * (column[1] == kind) for column in columns] for kind in range(len(one.held))])
    room = np.multiply(counts, [kind.capacity[0] for kind in one.held])
    found = linprog([column[3] for column in columns], used, room, done, one.jobs[:, 0, 0])
    assert found.status == 0
    return found.fun + np.dot(counts, [kind.fixed[0] for kind in one.held])


def timing(problem, keys=(), trial=0.0):
    """The problem with uncertain speeds, one a class and source; `keys`: those timed, for `trial` USD a month each."""
    every = [*problem.held, *problem.rented]
    known = {one.name: tuple(f"{one.name}: {name}" for name in "abcdef"[: len(problem.jobs)]) for one in every}
    some = [replace(one, speed_keys=known[one.name]) for one in every]
    count, names = len(problem.held), [name for names in known.values() for name in names]
    taken = np.concatenate([one.usd if isinstance(one, RentalOffer) else one.hours for one in every])
    speeds = -np.log(np.where(np.isfinite(taken), taken, 1.0))
    return replace(problem, held=tuple(some[:count]), rented=tuple(some[count:]), timed=frozenset(keys),
                   trials=dict.fromkeys(names, trial), errors=SpeedErrors(tuple(names), speeds))  # fmt: skip


figures = st.floats(0.1, 10.0)
# USD a month of a machine: nothing, or more than the tolerance of the solver (1e-7) can lose.
monthly = st.just(0.0) | st.floats(0.01, 300.0)
unlimited = frozenset().isdisjoint  # a budget that rules out no numbers of machines


@st.composite
def small_problems(draw, kinds=2):
    """One draw, one month: up to three classes, `kinds` of machines for sale, two offers by the hour."""
    classes, kinds, offers = (draw(st.integers(1, most)) for most in (3, kinds, 2))
    amounts = [[[draw(st.floats(0.0, 60.0))]] for _ in range(classes)]

    def column():
        return np.array([draw(figures) for _ in range(classes)])

    kept = [held(f"k{n}", column(), column(), draw(st.floats(20, 200)), draw(monthly)) for n in range(kinds)]
    return problem(amounts, kept, [rented(f"r{n}", column()) for n in range(offers)])
