"""Ranges of months: what the first half of simulated records says holds in the second as often as it claims."""

import numpy as np
import pytest
from sweetspot.use.month_counts import counted, ratio_range

HALF = 12


def poisson(source, mean):
    return np.full(2 * HALF, mean)


def overdispersed(differ):
    return lambda source, mean: mean * source.gamma(1 / differ, differ, 2 * HALF)


def lognormal(source, mean):
    return mean * np.exp(source.normal(0, 0.4, 2 * HALF))


def growing(source, mean):
    return mean * 1.03 ** np.arange(2 * HALF) * source.gamma(20, 1 / 20, 2 * HALF)


def persistent(source, mean):
    level = [source.normal(0, 0.3)]
    for _ in range(2 * HALF - 1):
        level.append(0.5 * level[-1] + source.normal(0, 0.3 * np.sqrt(0.75)))
    return mean * np.exp(level)


def seasonal(source, mean):
    wave = np.sin(2 * np.pi * np.arange(2 * HALF) / 12 + source.uniform(0, 6.28))
    return mean * (1 + 0.3 * wave) * source.gamma(33, 1 / 33, 2 * HALF)


KINDS = {"poisson": poisson, "0.05": overdispersed(0.05), "0.2": overdispersed(0.2), "0.5": overdispersed(0.5),
         "lognormal": lognormal, "growing": growing, "persistent": persistent, "seasonal": seasonal}  # fmt: skip


def covered(rates, seed, months, classes=60):
    """The share of the class-months of the second half within what the first `months` of the other say."""
    source, inside = np.random.default_rng(seed), []
    for number in range(classes):
        jobs = source.poisson(rates(source, np.exp(source.uniform(np.log(5), np.log(200)))))
        first, second = jobs[HALF - months : HALF], jobs[HALF : HALF + months]
        found = counted(first, np.ones(months), 1, str(number))
        ahead = np.arange(months) * found.clear
        low = found.jobs.low * (1 + found.growth.low) ** ahead
        high = found.jobs.high * (1 + found.growth.high) ** ahead
        inside.append(((second >= low) & (second <= high)).mean())
    return float(np.mean(inside))


@pytest.mark.parametrize("months", [3, 6, 12])
def test_the_second_half_lies_within_what_the_first_says(months):
    shares = {name: covered(rates, 38, months) for name, rates in KINDS.items()}
    assert 0.85 <= np.mean(list(shares.values())) <= 0.95, shares
    # Pure chance is covered too often, months that differ by 70 % somewhat too seldom.
    assert min(shares.values()) >= 0.75 and max(shares.values()) <= (0.995 if months > 3 else 1), shares


def test_growth_is_told_where_it_is_clear():
    source = np.random.default_rng(5)
    found = [counted(source.poisson(100 * 1.06 ** np.arange(18)), np.ones(18), 1, str(n)) for n in range(40)]
    assert np.mean([one.clear for one in found]) > 0.9
    assert np.mean([one.growth.low <= 0.06 <= one.growth.high for one in found]) >= 0.8
    level = [counted(source.poisson(np.full(18, 40)), np.ones(18), 1, str(n)).clear for n in range(40)]
    assert np.mean(level) < 0.1


def test_few_months_say_little_and_a_part_of_one_less():
    wide = [counted(np.full(n, 20), np.ones(n), 1, "a").jobs for n in (1, 3, 12)]
    spans = [one.high / one.low for one in wide]
    assert spans[0] > spans[1] > spans[2] and all(one.value == 20 for one in wide)
    part = counted(np.array([10]), np.array([0.5]), 1, "a").jobs
    endless = counted(np.array([0, 10**9]), np.array([1.0, 0.01]), 1, "a").jobs
    assert endless.low < 10**9 / 1.01 < endless.high < 1e15  # as absurd a record has a range, and no traceback
    assert part.value == 20 and part.high / part.low > spans[0] * 0.9


def test_ratios_by_hand_and_by_coverage():
    assert ratio_range(np.array([10.0, 30.0]), np.array([1.0, 3.0]), 1, "a").value == 10
    source, inside = np.random.default_rng(2), []
    for number in range(200):  # 12 months of 30 jobs with hours of mean 2, half of them failing
        hours = source.gamma(1, 2.0, (12, 30)).sum(axis=1)
        failed = source.binomial(30, 0.2, 12).astype(float)
        one = ratio_range(hours, np.full(12, 30.0), 1, str(number))
        two = ratio_range(failed, np.full(12, 30.0), 1, str(number), share=True)
        inside += [one.low <= 2 <= one.high, two.low <= 0.2 <= two.high]
    assert np.mean(inside) >= 0.88
    none = ratio_range(np.zeros(3), np.full(3, 10.0), 1, "none", share=True)
    assert none.value == none.low == 0 or (none.low == 0 and none.high > 0.01)
