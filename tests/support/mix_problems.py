"""Small problems of mixes, with the same figures in every draw."""

import numpy as np
from hypothesis import strategies as st
from sweetspot.mixes.problem import Held, Problem, Rented


def held(name, hours, running, capacity, fixed=0.0, there=0, for_sale=True, draws=1):
    """A kind held with the same figures in every draw; hours and running by class."""
    every = np.ones(draws)
    by_class = [np.asarray(part, float)[:, None] * every for part in (hours, running)]
    return Held(name, there, for_sale, fixed * every, capacity * every, *by_class)


def rented(name, usd, hours=None, draws=1):
    prices = np.asarray(usd, float)[:, None] * np.ones(draws)
    return Rented(name, prices, np.asarray(hours if hours is not None else usd, float)[:, None] * np.ones(draws))


def problem(jobs, kinds, offers):
    """`jobs`: class x draw x month."""
    amounts = np.asarray(jobs, float)
    return Problem(tuple("abcdef"[: len(amounts)]), amounts, tuple(kinds), tuple(offers))


figures = st.floats(0.1, 10.0)
# USD a month of a machine: nothing, or more than the tolerance of the solver (1e-7) can lose.
monthly = st.just(0.0) | st.floats(0.01, 300.0)


@st.composite
def small_problems(draw, kinds=2):
    """One draw, one month: up to three classes, `kinds` of machines for sale, two offers by the hour."""
    classes, kinds, offers = (draw(st.integers(1, most)) for most in (3, kinds, 2))
    amounts = [[[draw(st.floats(0.0, 60.0))]] for _ in range(classes)]

    def column():
        return np.array([draw(figures) for _ in range(classes)])

    kept = [held(f"k{n}", column(), column(), draw(st.floats(20, 200)), draw(monthly)) for n in range(kinds)]
    return problem(amounts, kept, [rented(f"r{n}", column()) for n in range(offers)])
