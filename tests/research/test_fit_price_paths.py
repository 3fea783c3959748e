"""The presets of the program against the history that it ships, within the rounding stated in docs/studies.md."""

import numpy as np
import pandas as pd
import pytest
from sweetspot.facts.shipped_tables import POOLS

from research.fit_price_paths import fitted
from research.rent_history import Series, read_history, read_resale, series_of, windows

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


def test_smaller_clouds_within_five_points_of_each_reading(numbers):
    # three readings of stale tables kept by hand: moved rows only, all rows, whole series
    for row in of(numbers, "small_cloud", "change a year"):
        assert row.shipped == pytest.approx(row.history, abs=0.06)
    share = of(numbers, "small_cloud", "market share")[0]
    assert share.shipped == pytest.approx(share.history, abs=0.02)


def test_spot_within_three_hundredths_of_the_logarithm(numbers):
    for row in of(numbers, "spot", "sd of the log"):
        assert row.shipped == pytest.approx(row.history, abs=0.03)
    assert of(numbers, "spot", "market share")[0].history < 0.05


def test_resale_to_the_second_digit_and_at_most_the_price(numbers):
    for name in ("resale data-centre", "resale gaming"):
        for row in of(numbers, name, "years"):
            assert row.shipped == pytest.approx(min(1.0, row.history), abs=0.0051), row


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


def test_a_stale_row_of_a_hand_kept_table_counts_only_where_all_do():
    rows = [
        ("cloud", "p", "g", "", time, usd, hand)
        for time, usd, hand in ((0, 2.0, "no"), (6, 2.0, "yes"), (13, 1.0, "yes"))
    ]
    assert series_of(history(rows), "cloud")[0].times.tolist() == [0, 6, 13]
    assert series_of(history(rows), "cloud", strict=True)[0].times.tolist() == [0, 13]
