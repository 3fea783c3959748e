"""The presets of the program against the history that it ships, within the rounding stated in docs/studies.md."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import POOLS

from research.fit_price_paths import fitted
from research.path_fit import list_cuts, market_share
from research.rent_history import Series, read_history, read_resale, windows

FOLDER = POOLS / "prices-2026"


@pytest.fixture(scope="module")
def numbers():
    return fitted(read_history(FOLDER), read_resale(FOLDER))


def of(numbers, preset, part):
    found = [row for row in numbers if row.preset == preset and part in row.number]
    assert found
    return found


def test_list_prices_were_cut_six_times_in_45_series_years_and_old_ones_never(numbers):
    rate = of(numbers, "hyperscaler", "jumps a year")[0]
    assert rate.of == "6 cuts in 45 series-years of 15 series"  # as counted by hand in the source of the history
    assert rate.shipped == pytest.approx(rate.history, abs=0.005)
    assert of(numbers, "hyperscaler, older devices", "jumps a year")[0].history == 0
    for row in of(numbers, "hyperscaler", "size"):
        assert row.shipped == pytest.approx(row.history, abs=0.005)


def series(prices, times, step=False, gap=np.inf):
    return Series(("a", "b", ""), np.array(times, float), np.array(prices, float), step, gap)


def test_a_window_is_a_line_of_the_logarithm_or_the_last_price_seen():
    smooth, step = (series([1.0, 4.0], [0, 24], one) for one in (False, True))
    # 4^(12/24) = 2 after a year; a list price still is 1
    assert np.expm1(windows([smooth])["log_change"].iloc[0]) == pytest.approx(1.0)
    assert windows([step])["log_change"].tolist()[:12] == [0.0] * 12
    assert windows([series([1.0, 4.0], [0, 24], gap=12.0)]).empty


def history(rows):
    columns = ["kind", "provider", "gpu", "machine", "time", "usd_per_gpu_hour", "hand_kept"]
    return pd.DataFrame(rows, columns=columns)


def test_a_change_below_one_per_cent_is_no_cut():
    rows = [("list", "aws", "H100", "m", time, usd, "no") for time, usd in ((0, 10.0), (12, 10.05), (24, 7.0))]
    found = list_cuts(history(rows), "H100")
    assert (found.years, found.sizes) == (2.0, (pytest.approx(7.0 / 10.05 - 1),))
    assert list_cuts(history(rows), "H100", inside=False).series == 0


def test_the_market_share_is_that_of_an_analysis_of_variance():
    draws = np.random.default_rng(3)
    market, own = draws.normal(0, 0.3, 200), draws.normal(0, 0.6, (200, 30))
    rows = [
        {
            "provider": f"p{one}",
            "gpu": "g",
            "machine": "",
            "start": year * 12,
            "log_change": market[year] + own[year, one],
        }
        for year in range(200)
        for one in range(30)
    ]
    found = pd.DataFrame(rows)
    # 0.09 / (0.09 + 0.36)
    assert market_share(found, (found["start"] // 12).tolist()) == pytest.approx(0.2, abs=0.03)
