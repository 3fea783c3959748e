"""What knowing one uncertain figure exactly is worth (EVPPI), estimated from draws by regression."""

from typing import NamedTuple

import numpy as np

# Between these quantiles the regression is piecewise linear: costs are smooth in a figure, or go as its inverse.
KNOTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
FOLDS = 2
BETTER = 4  # options that others are held against before the regression


class Value(NamedTuple):
    """Expected saving of a decision made with the figure known, in the unit of the costs, and its standard error.

    halves: the same of each half of the draws, by a choice that the other half made; below 0 where noise chose.
    """

    worth: float
    error: float
    halves: tuple[float, float] = (0.0, 0.0)


def partial_value(costs: np.ndarray, figure: np.ndarray) -> Value:
    """EVPPI(x) = min over options of E[cost] - E_x[min over options of E[cost given x]]; never negative.

    `costs`: one row an option, one column a draw; `figure`: x in each draw. E[cost given x] is a piecewise linear least
    squares fit of cost differences on x (Strong, Oakley & Brennan 2014 smooth the same way); the option to take at x
    is read from a fit to the other half of the draws, and its cost is that of the draws themselves, so that noise in a
    fit cannot look like a saving. The standard error is that of a mean over draws: it says how far the draws carry, not
    how well the figures are known. A figure that changes the choice in no draw is worth exactly 0.
    (Raiffa & Schlaifer 1961 for what it means.)
    """
    apart = _choosable(costs - costs[costs.mean(axis=1).argmin()])  # less what one takes knowing nothing more
    count = figure.size
    if not len(apart) or not figure.max() > figure.min():
        return Value(0.0, 0.0)
    basis = _basis(figure)
    saved = np.zeros(count)
    for fold in range(FOLDS):
        here, others = np.arange(count) % FOLDS == fold, np.arange(count) % FOLDS != fold
        fitted = _fitted(basis[others], apart[:, others], basis[here])
        best = fitted.argmin(axis=0)
        taken = np.take_along_axis(apart[:, here], best[None, :], axis=0)[0]
        saved[here] = np.where(fitted.min(axis=0) < 0, -taken, 0.0)
    first, second = (float(saved[np.arange(count) % FOLDS == fold].mean()) for fold in range(FOLDS))
    return Value(max(0.0, float(saved.mean())), float(saved.std() / np.sqrt(count)), (first, second))


def without_selection(halves: np.ndarray) -> np.ndarray:
    """Worths of several figures without what ranking them adds: the first of many noisy estimates is too high.

    halves: one row a figure, `Value.halves`. What ranks k-th by one half of the draws is worth what the other half says
    of it; the mean of both ways, made to fall with k (least squares), is what ranks k-th by both together. Unbiased for
    what is named first, whatever the figures (a split sample: Efron & Tibshirani 1993, ch. 17); never negative.
    """
    if len(halves) == 0:
        return np.zeros(0)
    first, second = halves[:, 0], halves[:, 1]
    crossed = (second[np.argsort(-first, kind="stable")] + first[np.argsort(-second, kind="stable")]) / 2
    worth = np.empty(len(halves))
    worth[np.argsort(-halves.sum(axis=1), kind="stable")] = np.maximum(_falling(crossed), 0.0)
    return worth


def _falling(values: np.ndarray) -> np.ndarray:
    """The sequence that never rises and is nearest by least squares: neighbours that do are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, count = float(value), 1
        while blocks and blocks[-1][0] < mean:
            before, many = blocks.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        blocks.append((mean, count))
    return np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])


def _choosable(apart: np.ndarray) -> np.ndarray:
    """The options that could be chosen, of costs less those of the base.

    What is below another in no draw is not below it on average, whatever is known: it is never chosen.
    """
    left = apart[(apart < 0).any(axis=1)]
    for better in np.argsort(left.mean(axis=1), kind="stable")[:BETTER]:
        beaten = (left >= left[better]).all(axis=1)
        beaten[better] = False
        left = np.where(beaten[:, None], np.inf, left)
    return left[np.isfinite(left).all(axis=1)]


def _basis(figure: np.ndarray) -> np.ndarray:
    """Columns 1, x, (x - knot)+ of the figure in units of its own spread."""
    scaled = (figure - figure.mean()) / figure.std()
    knots = np.unique(np.sort(scaled)[[round(knot * (figure.size - 1)) for knot in KNOTS]])
    inner = knots[(knots > scaled.min()) & (knots < scaled.max())]
    return np.column_stack([np.ones(figure.size), scaled, np.maximum(scaled[:, None] - inner, 0.0)])


def _fitted(basis: np.ndarray, costs: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Least squares of each row of `costs` on the basis, at the points asked for; by the normal equations, which are
    eight wide at most.
    """
    weights = np.linalg.lstsq(basis.T @ basis, basis.T @ costs.T, rcond=None)[0]
    fitted: np.ndarray = (asked @ weights).T
    return fitted
