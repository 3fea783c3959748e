"""The pooled relation of devices: against a direct fit, textbook conditioning, and a world whose law is known."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import STUDIES
from sweetspot.transfer.figures import as_figures, shipped_devices, shipped_figures
from sweetspot.transfer.left_out import BOTH, MODERN, PROGRAMS, TWO, WORKLOADS, errors, summary, yardstick
from sweetspot.transfer.relation import (
    CENTRE,
    EFFECTS,
    FREE,
    NOISE,
    SLOPES,
    WORKLOAD,
    Told,
    fit_relation,
    given,
    predict,
    without,
)  # fmt: skip

FIGURES = shipped_figures(STUDIES)
DEVICES = shipped_devices()
WORLD = ("RTX 3090", "RTX 4090", "A100 SXM 80GB", "H100 SXM", "RTX A6000", "Tesla V100-SXM2-16GB")


def world(rate, names=WORLD, workloads=range(6)):
    """Figures of a made-up benchmark: rate(workload, Device)."""
    rows = [
        {
            "benchmark": "made up", "framework": "tensorflow", "model": f"net{number}", "batch_size": np.nan,
            "precision": "fp16", "dataset": "", "xla": False, "gpu": name,
            "images_per_s": rate(number, DEVICES.get(name)),
        }
        for number in workloads
        for name in names
    ]  # fmt: skip
    return as_figures(pd.DataFrame(rows), DEVICES)


def test_rows_left_out_are_predicted_as_by_a_fit_without_them():
    rows = np.flatnonzero((FIGURES["workload"] == FIGURES["workload"][7]) | (FIGURES["device"] == "B200"))
    rest = FIGURES.drop(index=rows).reset_index(drop=True)
    direct = predict(fit_relation(rest), FIGURES.iloc[rows])
    quick = without(fit_relation(FIGURES), rows)
    # Only differences within a workload are determined: its level may be anything.
    same = FIGURES["workload"].to_numpy()[rows]
    first = np.array([np.flatnonzero(same == name)[0] for name in same])
    assert direct.mean - direct.mean[first] == pytest.approx(quick.mean - quick.mean[first], abs=1e-6)
    np.testing.assert_allclose(direct.covariance, quick.covariance, rtol=1e-5, atol=1e-5)


def test_a_known_figure_conditions_as_two_normals_do():
    # Sds 2 and 1, correlation 0.6: given x = 3 the mean of y is 1 + 0.6 (1/2) (3 - 0) = 1.9, its sd sqrt(1 - 0.36).
    told = given(Told(np.array([0.0, 1.0]), np.array([[4.0, 1.2], [1.2, 1.0]])), [0], np.array([3.0]))
    assert told.mean[1] == pytest.approx(1.9)
    assert told.covariance[1, 1] == pytest.approx(0.64)
    # Known with an sd of 2 itself the figure counts half: 1 + 1.2 / 8 x 3, variance 1 - 1.44 / 8.
    unsure = given(Told(np.array([0.0, 1.0]), np.array([[4.0, 1.2], [1.2, 1.0]])), [0], np.array([3.0]), 2.0)
    assert (unsure.mean[1], unsure.covariance[1, 1]) == pytest.approx((1.45, 0.82))


def test_in_a_world_of_one_law_a_new_workload_follows_it():
    figures = world(lambda number, device: 10 * (number + 1) * device.peak("fp16") ** 0.8 * device.memory_gb**0.1)
    table = errors(figures, WORKLOADS)
    assert np.expm1(table["gap"]).abs().max() < 0.08  # the noise that it expects of any figure
    assert (np.exp(yardstick(figures, table)) - 1).abs().max() < 1e-9  # the ratio is the same in every workload


def test_a_device_unlike_its_data_sheet_is_learnt_from_its_figures():
    half = {"RTX A6000": 0.5}
    figures = world(lambda number, device: (number + 1) * device.peak("fp16") * half.get(device.gpu, 1.0))
    known, blind = errors(figures, WORKLOADS), errors(figures, BOTH)
    slow = [float(np.expm1(table.loc[table["device"] == "RTX A6000", "gap"]).median()) for table in (known, blind)]
    assert abs(slow[0]) < 0.1 and slow[1] > 0.4  # twice too fast, less what its kind pulls


def test_the_yardstick_by_hand():
    # Ratios H100 / A100 of the other workloads: 2, 3, 4, so 3; the workload's own is 2: 50 % too much.
    ratios = [2.0, 2.0, 3.0, 4.0]
    figures = world(
        lambda number, device: 100 * (ratios[number] if device.gpu == "H100 SXM" else 1),
        ("A100 SXM 80GB", "H100 SXM"),
        range(4),
    )
    table = errors(figures, WORKLOADS).assign(simple=lambda known: yardstick(figures, known))
    first = table[(table["device"] == "H100 SXM") & table["workload"].str.contains("net0")]
    assert np.exp(first["simple"].iloc[0]) == pytest.approx(1.5)


@pytest.mark.slow
def test_it_is_as_good_as_was_asked_on_what_the_project_ships():
    workload, both, two = (errors(FIGURES, away) for away in (WORKLOADS, BOTH, TWO))
    simple = yardstick(FIGURES, workload)
    new, sheet, twice = (
        summary(table["gap"], table["inside90"], pd.Series(np.nan, table.index)) for table in (workload, both, two)
    )
    assert new["median_abs_error"] <= 0.10 and new["p90_abs_error"] <= 0.27
    assert sheet["median_abs_error"] <= 0.20
    assert twice["median_abs_error"] < new["median_abs_error"] and twice["p90_abs_error"] < new["p90_abs_error"]
    for table in (workload, both, two):
        assert 0.85 <= table["inside90"].mean() <= 0.95
    program = errors(FIGURES, PROGRAMS)
    new = program[program["era"] == MODERN]
    off, plain = np.expm1(new["told"]).abs(), np.expm1(new["plain"]).abs()
    assert off.median() <= 0.15 and off.quantile(0.9) <= 0.40 and 0.85 <= new["inside90"].mean() <= 0.95
    assert off.median() < 0.8 * plain.median() and off.quantile(0.9) < 0.8 * plain.quantile(0.9)
    suite = workload["workload"].str.startswith("Lambda")
    ours, theirs = np.expm1(workload["gap"][suite]).abs(), np.expm1(simple[suite]).abs()
    # Asked of the 19 workloads of the suites: 10 and 27 %, to the percent that docs/scaling.md prints.
    assert ours.median() <= 0.10 and ours.quantile(0.9) < 0.275
    assert ours.median() < 0.8 * theirs.median() and ours.quantile(0.9) < 0.9 * theirs.quantile(0.9)


# --- spreads -------------------------------------------------------------------------------------------------------

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
    np.testing.assert_allclose(fitted.inverse @ WHOLE, np.eye(COUNT), atol=1e-5)
    np.testing.assert_allclose(WHOLE @ fitted.weighed, GAPS, atol=1e-5)


def test_slopes_that_are_free_are_those_without_a_prior():
    """What is told of data sheets alone is that of generalised least squares with a fixed effect of each feature."""
    gone = FIGURES["device"].isin(["RTX 4090", "B200"]).to_numpy()
    rest, cells = np.flatnonzero(~gone), np.flatnonzero(gone)
    shrunk = [part for name, _, part in PARTS if name.endswith(" of all")]
    random = WHOLE - sum(SLOPES["all"][name] ** 2 * part for name, part in zip(SLOPES["all"], shrunk, strict=True))
    design = np.column_stack([FIGURES[name] - CENTRE[name] for name in SLOPES["all"]])
    inverse = np.linalg.inv(random[np.ix_(rest, rest)])
    slopes = np.linalg.solve(design[rest].T @ inverse @ design[rest], design[rest].T @ inverse @ GAPS[rest])
    left = inverse @ (GAPS[rest] - design[rest] @ slopes)
    gaps = design[cells] @ slopes + random[np.ix_(cells, rest)] @ left
    own = FIGURES.iloc[cells]
    told = {
        name: predict(fit_relation(FIGURES.iloc[rest].reset_index(drop=True), shared), own).mean
        - (own["peak"] + own["bandwidth"]) / 2
        for name, shared in (("free", FREE), ("shrunk", SLOPES["all"]))
    }
    assert np.abs(told["free"] - gaps).max() < 0.01
    assert np.abs(told["shrunk"] - gaps).max() > 0.03


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
