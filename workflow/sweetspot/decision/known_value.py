"""What knowing one uncertain figure exactly is worth (EVPPI), estimated from draws by regression."""

from typing import NamedTuple

import numpy as np

# Between these quantiles the regression is piecewise linear: costs are smooth in a figure, or go as its inverse.
KNOTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
FOLDS = 2


class Value(NamedTuple):
    """Expected saving if a figure is known before the decision, in the unit of the costs, and its standard error.

    halves: saving in each half of the draws with choices fitted to the other half; below 0 from noise alone.
    """

    worth: float
    error: float
    halves: tuple[float, float] = (0.0, 0.0)


def partial_value(costs: np.ndarray, figure: np.ndarray) -> Value:
    """Return EVPPI(x) = min over options of E[cost] - E_x[min over options of E[cost given x]]; never negative.

    `costs`: option x draw; `figure`: x in each draw. E[cost given x] is a piecewise linear least
    squares fit of cost differences on x (Strong, Oakley & Brennan 2014 smooth the same way); the option to take at x
    is read from a fit to the other half of the draws, and its cost is that of the draws themselves, so that noise in a
    fit cannot look like a saving. The standard error is that of a mean over draws: it says how far the draws carry, not
    how well the figures are known. A figure that changes the choice in no draw is worth exactly 0.
    (Raiffa & Schlaifer 1961 for what it means.)
    """
    differences = costs - costs[costs.mean(axis=1).argmin()]  # less the choice without more knowledge
    differences = differences[(differences < 0).any(axis=1)]  # others cost no less on average
    count = figure.size
    if not len(differences) or not figure.max() > figure.min():
        return Value(0.0, 0.0)
    basis, saved, fold = _basis(figure), np.zeros(count), np.arange(count) % FOLDS
    for number in range(FOLDS):
        test, training = fold == number, fold != number
        columns = basis[training].T
        weights = np.linalg.lstsq(columns @ columns.T, columns @ differences[:, training].T, rcond=None)[0]
        fitted = basis[test] @ weights  # draw x option
        chosen = differences[fitted.argmin(axis=1), np.flatnonzero(test)]
        saved[test] = np.where(fitted.min(axis=1) < 0, -chosen, 0.0)
    first, second = (float(saved[fold == number].mean()) for number in range(FOLDS))
    return Value(max(0.0, float(saved.mean())), float(saved.std() / np.sqrt(count)), (first, second))


def without_selection(halves: np.ndarray) -> np.ndarray:
    """Return worths of figures corrected for ranking, one per figure: the highest of noisy estimates is too high.

    halves: figure x 2, `Value.halves`. The worth of the figure that ranks k-th by one half of the draws is estimated by
    the other half; the mean of both ways, made to fall with k (least squares), goes to the k-th by both together.
    Unbiased for the first figure (a split sample: Efron & Tibshirani 1993, ch. 17); never negative.
    """
    from scipy.optimize import isotonic_regression  # lazily: it takes longer to import than the rest

    if len(halves) == 0:
        return np.zeros(0)
    first, second = halves[:, 0], halves[:, 1]
    crossed = (second[np.argsort(-first, kind="stable")] + first[np.argsort(-second, kind="stable")]) / 2
    worth = np.empty(len(halves))
    falling = isotonic_regression(crossed, increasing=False).x
    worth[np.argsort(-halves.sum(axis=1), kind="stable")] = np.maximum(falling, 0.0)
    return worth


def _basis(figure: np.ndarray) -> np.ndarray:
    """Return a matrix, draw x column: 1, x and (x - knot)+ for the figure x in standard deviations."""
    scaled = (figure - figure.mean()) / figure.std()
    knots = np.unique(np.quantile(scaled, KNOTS, method="nearest"))
    inner = knots[(knots > scaled.min()) & (knots < scaled.max())]
    return np.column_stack([np.ones(figure.size), scaled, np.maximum(scaled[:, None] - inner, 0.0)])
