"""The covariance of figures, built here by another way, and its spreads: those of greatest marginal likelihood."""

import numpy as np
import pytest
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.transfer.figures import shipped_figures
from sweetspot.transfer.relation import CENTRE, EFFECTS, NOISE, SLOPES, WORKLOAD, fit_relation, predict

FIGURES = shipped_figures(STUDIES)
COUNT = len(FIGURES)


def alike(*names):
    """1 where two figures have these in common."""
    of = FIGURES[list(names)].astype(str).agg(" | ".join, axis=1).to_numpy()
    return (of[:, None] == of[None, :]).astype(float)


def parts():
    """Each spread's name, value, and what its square multiplies."""
    for group, slopes in SLOPES.items():
        shared = np.ones((COUNT, COUNT)) if group == "all" else alike(group)
        for feature, spread in slopes.items():
            off = FIGURES[feature].to_numpy() - CENTRE[feature]
            yield f"{feature} of {group}", spread, shared * off[:, None] * off[None, :]
    for names, spread in EFFECTS.items():
        yield " and ".join(names), spread, alike(*names)
    yield "noise", NOISE, np.eye(COUNT)


PARTS = list(parts())
WHOLE = WORKLOAD**2 * alike("workload") + sum(spread**2 * part for _, spread, part in PARTS)
GAPS = (FIGURES["log_rate"] - FIGURES["peak"] / 2 - FIGURES["bandwidth"] / 2).to_numpy()


def test_the_covariance_is_the_sum_of_slopes_effects_level_and_noise():
    fitted = fit_relation(FIGURES)
    assert fitted.inverse @ WHOLE == pytest.approx(np.eye(COUNT), abs=1e-5)
    assert WHOLE @ fitted.weighed == pytest.approx(GAPS, abs=1e-5)


def test_what_is_told_of_two_figures_anew_is_the_textbooks_prediction():
    """Mean k' K^-1 gap and variance k - k' K^-1 k of the figures' own cells, measured once more."""
    rows, own = [3, 400], WHOLE - NOISE**2 * np.eye(COUNT)
    told = predict(fit_relation(FIGURES), FIGURES.iloc[rows])
    across, prior = own[rows], (FIGURES["log_rate"] - GAPS).to_numpy()[rows]
    assert told.mean == pytest.approx(prior + across @ np.linalg.solve(WHOLE, GAPS), abs=1e-6)
    spread = own[np.ix_(rows, rows)] + NOISE**2 * np.eye(2) - across @ np.linalg.solve(WHOLE, across.T)
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


def test_slopes_are_taken_around_the_middle_of_the_devices_learnt_from():
    """Within one sd of their mean: a slope is then of what a device is above or below a usual one."""
    devices = FIGURES.drop_duplicates("device")
    for feature, centre in CENTRE.items():
        assert abs(centre - devices[feature].mean()) < devices[feature].std(), feature
