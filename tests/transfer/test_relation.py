"""The pooled relation of devices: against a direct fit, textbook conditioning, and a world whose law is known."""

import numpy as np
import pytest
from sweetspot.facts.shipped_tables import STUDIES, table
from sweetspot.transfer.figures import shipped_figures
from sweetspot.transfer.relation import CENTRE, LEVEL_SD, NOISE_SD, JointPrediction, condition, fit_relation, predict

FIGURES = shipped_figures(STUDIES)


def test_a_known_figure_conditions_as_two_normals_do():
    # Sds 2 and 1, correlation 0.6: given x = 3 the mean of y is 1 + 0.6 (1/2) (3 - 0) = 1.9, its sd sqrt(1 - 0.36).
    told = condition(JointPrediction(np.array([0.0, 1.0]), np.array([[4.0, 1.2], [1.2, 1.0]])), [0], np.array([3.0]))
    assert told.mean[1] == pytest.approx(1.9)
    assert told.covariance[1, 1] == pytest.approx(0.64)
    # Known with an sd of 2 itself the figure counts half: 1 + 1.2 / 8 x 3, variance 1 - 1.44 / 8.
    prior = JointPrediction(np.array([0.0, 1.0]), np.array([[4.0, 1.2], [1.2, 1.0]]))
    unsure = condition(prior, [0], np.array([3.0]), 2.0)
    assert (unsure.mean[1], unsure.covariance[1, 1]) == pytest.approx((1.45, 0.82))


# --- spreads -------------------------------------------------------------------------------------------------------

COUNT = len(FIGURES)


def alike(*names):
    """1 where two figures have these in common."""
    of = FIGURES[list(names)].astype(str).agg(" | ".join, axis=1).to_numpy()
    return (of[:, None] == of[None, :]).astype(float)


def parts():
    """Each spread's name, value, and what its square multiplies."""
    for row in table("device_relation"):
        groups, feature, spread = row["groups"].split(), row["feature"], float(row["sd"])
        part = alike(*groups) if groups else np.ones((COUNT, COUNT))
        off = FIGURES[feature].to_numpy() - CENTRE[feature] if feature else np.ones(COUNT)
        yield f"{feature} of {groups}", spread, part * off[:, None] * off[None, :]
    yield "noise", NOISE_SD, np.eye(COUNT)


PARTS = list(parts())
WHOLE = LEVEL_SD**2 * alike("workload") + sum(spread**2 * part for _, spread, part in PARTS)
GAPS = (FIGURES["log_rate"] - FIGURES["peak"] / 2 - FIGURES["bandwidth"] / 2).to_numpy()


def test_the_covariance_is_the_sum_of_slopes_effects_level_and_noise():
    fitted = fit_relation(FIGURES)
    np.testing.assert_allclose(fitted.inverse @ WHOLE, np.eye(COUNT), atol=1e-5)
    np.testing.assert_allclose(WHOLE @ fitted.weighted_gaps, GAPS, atol=1e-5)


def test_what_is_told_of_two_figures_anew_is_the_textbooks_prediction():
    """Mean k' K^-1 gap and variance k - k' K^-1 k of the figures' own cells, measured once more."""
    rows, own = [3, 400], WHOLE - NOISE_SD**2 * np.eye(COUNT)
    told = predict(fit_relation(FIGURES), FIGURES.iloc[rows])
    across, prior = own[rows], (FIGURES["log_rate"] - GAPS).to_numpy()[rows]
    assert told.mean == pytest.approx(prior + across @ np.linalg.solve(WHOLE, GAPS), abs=1e-6)
    spread = own[np.ix_(rows, rows)] + NOISE_SD**2 * np.eye(2) - across @ np.linalg.solve(WHOLE, across.T)
    assert told.covariance == pytest.approx(spread, abs=1e-6)


def test_each_spread_is_that_of_greatest_likelihood():
    """A step of Fisher's scoring in the spread's logarithm, the prior's sd of 1 around 0.1 with it, is below 10 %.

    d/ds log likelihood = (w' D w - tr(K^-1 D)) / 2 with D = 2 s^2 part; the information tr(K^-1 D K^-1 D) / 2.
    """
    inverse = np.linalg.inv(WHOLE)
    weighed = inverse @ GAPS
    for name, spread, part in PARTS:
        moved = 2 * spread**2 * part
        of = inverse @ moved
        slope = (weighed @ moved @ weighed - np.trace(of)) / 2 - np.log(spread / 0.1)
        assert abs(slope) / (np.sum(of * of.T) / 2 + 1) < 0.1, name
