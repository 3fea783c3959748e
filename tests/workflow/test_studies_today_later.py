"""Buying a server later in eight-gpus-2026: USD by hand, and how the price of a new one went."""

import numpy as np
import pandas as pd
import pytest
import yaml
from borrowed_tables import borrowed_tables
from scipy.stats import linregress, t
from study_tables import STUDIES
from sweetspot.facts.shipped_tables import POOLS

BUYING = STUDIES / "eight-gpus-2026" / "prices" / "buying.yaml"
ELECTRICITY = 10.2 * 0.76 * 1.54 * 0.1222
CARE = 184 * 10.2


@pytest.fixture(scope="module")
def later():
    table = borrowed_tables("eight-gpus-2026").comparison["later"]
    return table[table["box"] == "own-8xh200"].set_index("after_months")


def test_a_server_bought_at_once_and_in_six_months_by_hand(later):
    # Sold after three years, the devices 4.8 years old: 0.59 - 0.4 (0.59 - 0.29) = 0.47 of 80 %.
    sold, hours = 0.47 * 0.8 * 370_000, 7057.924  # hours of three years' work, by the submitters' minutes
    at_once = 370_000 - sold + 36 * CARE + ELECTRICITY * hours
    assert later.loc[0.0, "usd"] == pytest.approx(at_once, rel=1e-5)
    # Nebius, 2,031.687 hours of eight B300 for all of the work, 62.80 USD today and 3 % less a year.
    rent = 2031.687 / 36 * 62.80 * 0.97 ** (np.arange(6) / 12)
    price = 370_000 * 0.96**0.5
    in_six = rent.sum() + price - sold + 30 * CARE + ELECTRICITY * hours * 30 / 36
    assert later.loc[6.0, "usd"] == pytest.approx(in_six, rel=1e-5)
    assert later.loc[6.0, "saved_usd"] == pytest.approx(at_once - in_six, abs=2.0)
    assert later.loc[6.0, "until"] == "nebius-8xb300"


def test_the_price_of_a_new_server_falls_as_eleven_quotes_of_eight_h100_did():
    quotes = pd.read_csv(POOLS / "prices-2026" / "server_prices.csv", parse_dates=["date"])
    offers = {offer["instance"]: offer["own"] for offer in yaml.safe_load(BUYING.read_text())["offers"]}
    days = [*quotes["date"], pd.Timestamp("2026-05-04")]
    usd = [*quotes["usd_per_gpu"], offers["own-8xh100"]["capex"]["value"] / 8]
    years = np.array([(day - days[0]).days / 365.25 for day in days])
    slope = linregress(years, np.log(usd))
    far = t.ppf(0.95, len(usd) - 2) * slope.stderr
    found = np.expm1([slope.slope, slope.slope - far, slope.slope + far])
    assert len(usd) == 11
    for own in offers.values():
        assert list(own["capex_change_per_year"].values()) == pytest.approx(found, abs=0.005)
