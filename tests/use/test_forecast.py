"""Ranges of months: what the first half of simulated records says holds in the second as often as it claims."""

import math

import numpy as np
import pytest
from scipy import stats
from sweetspot.use.monthly_use import forecast_jobs

HALF = 12


def poisson(source, mean):
    return np.full(2 * HALF, mean)


def overdispersed(differ):
    return lambda source, mean: mean * source.gamma(1 / differ, differ, 2 * HALF)


def growing(source, mean):
    return mean * 1.03 ** np.arange(2 * HALF) * source.gamma(20, 1 / 20, 2 * HALF)


KINDS = {"poisson": poisson, "0.05": overdispersed(0.05), "0.2": overdispersed(0.2), "0.5": overdispersed(0.5),
         "growing": growing}  # fmt: skip


def covered(rates, seed, months, classes=30):
    """The share of the class-months of the second half within what the first `months` of the other say."""
    source, inside = np.random.default_rng(seed), []
    for number in range(classes):
        jobs = source.poisson(rates(source, np.exp(source.uniform(np.log(5), np.log(200)))))
        first, second = jobs[HALF - months : HALF], jobs[HALF : HALF + months]
        forecast = forecast_jobs(first, str(number))
        ahead = np.arange(months) * forecast.growth_is_clear
        low = forecast.jobs_low * (1 + forecast.growth_low) ** ahead
        high = forecast.jobs_high * (1 + forecast.growth_high) ** ahead
        inside.append(((second >= low) & (second <= high)).mean())
    return float(np.mean(inside))


@pytest.mark.parametrize("months", [3, 12])
def test_the_second_half_lies_within_what_the_first_says(months):
    shares = {name: covered(rates, 38, months) for name, rates in KINDS.items()}
    assert 0.85 <= np.mean(list(shares.values())) <= 0.95, shares
    # Pure chance is covered too often, months that differ by 70 % somewhat too seldom.
    assert min(shares.values()) >= 0.75 and max(shares.values()) <= (0.995 if months > 3 else 1), shares


def test_jobs_to_come_and_growth_as_a_sum_over_a_grid_says():
    """The same priors and likelihood over 121 levels, 81 growths and 40 dispersions, by scipy's distributions."""
    counts = np.array([18, 25, 22, 31, 16, 27])
    time = np.arange(6) - 2.5
    level, growth = np.linspace(2.2, 4.2, 121), np.linspace(-0.16, 0.16, 81)
    dispersion = np.exp(np.linspace(math.log(0.001), math.log(4), 40))
    log_density = stats.norm.logpdf(level, math.log(139 / 6), 3)[:, None, None]  # 139 jobs in 6 months
    log_density = log_density + stats.norm.logpdf(growth, 0, 0.04)[:, None]
    log_density = log_density + stats.norm.logpdf(np.log(dispersion), math.log(0.1), 2)
    for count, offset in zip(counts, time, strict=True):
        mean = np.exp(level[:, None] + growth * offset)[:, :, None]
        log_density = log_density + stats.nbinom.logpmf(count, 1 / dispersion, 1 / (1 + dispersion * mean))
    weight = np.exp(log_density - log_density.max())
    random = np.random.default_rng(3)
    chosen = np.unravel_index(random.choice(weight.size, 20_000, p=(weight / weight.sum()).ravel()), weight.shape)
    mean = np.exp(level[chosen[0]] + growth[chosen[1]] * (2.5 + random.integers(1, 7, 20_000)))
    alpha = dispersion[chosen[2]]
    jobs = random.negative_binomial(1 / alpha, 1 / (1 + alpha * mean))
    forecast = forecast_jobs(counts, "a")
    assert forecast.jobs == pytest.approx(139 / 6) and not forecast.growth_is_clear
    assert (forecast.jobs_low, forecast.jobs_high) == pytest.approx(np.quantile(jobs, (0.05, 0.95)), rel=0.1)
    growths = (forecast.growth, forecast.growth_low, forecast.growth_high)
    assert growths == pytest.approx(np.expm1(np.quantile(growth[chosen[1]], (0.5, 0.05, 0.95))), abs=0.006)
    shared, alone = np.var(np.log(mean)), alpha.mean() + 6 / 139
    assert forecast.correlation_of_months == pytest.approx(shared / (shared + alone), rel=0.2)
