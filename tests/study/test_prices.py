"""Price lists: their states in time, names in catalogues, rates of currencies, presets of paths, what a machine is
worth at an age, and damage of every kind.
"""

import copy
import csv
import random
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from project_copy import ROOT
from sweetspot.bills.checks import check_instances
from sweetspot.bills.offers import offers_in_usd
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import POOLS
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import CatalogueMap, checked_catalogue
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import history_days, history_file, lists_at, load_price_list
from sweetspot.study.terms import wrong_rate
from sweetspot.study.trends import CURVES, PRESETS, Resale, preset_of

STUDIES = ROOT / "config" / "studies"
LISTS = sorted(STUDIES.glob("*/prices/*.yaml"))
PART = {"lists": ["rent"], "instances": {"a": "p5.48xlarge"}}


def checked(catalogue, machines=("a", "b")):
    return checked_catalogue(
        validated(CatalogueMap, catalogue, "study.yaml"), machines, ["rent", "spot"], "study.yaml"
    ).parts()


@pytest.mark.parametrize(
    ("catalogue", "told"),
    [
        ({"skypilott": {"aws": PART}}, "key 'skypilott' is unknown; .*did you mean 'skypilot'"),
        ({"skypilot": {"aws": {**PART, "instances": {"c": "x"}}}},
         "catalogue.skypilot.aws.instances names 'c'; expected one"),
        ({"skypilot": {"aws": {**PART, "lists": ["rents"]}}},
         "catalogue.skypilot.aws.lists names 'rents'; .*did you mean 'rent'"),
        ({"skypilot": {"aws": PART}, "gpuhunt": {"aws": PART}},
         "catalogue.skypilot.aws and catalogue.gpuhunt.aws both refresh rent a; expected one"),
        ({"shipped": {"rates": ["rents"]}}, "catalogue.shipped.rates names 'rents'"),
    ],
)  # fmt: skip
def test_a_wrong_map_is_one_sentence(catalogue, told):
    with pytest.raises(UserError, match=f"^study.yaml: .*{told}") as error:
        checked(catalogue)
    assert len(error.value.sentences) == 1


def test_shipped_names_are_those_of_its_machines_and_what_the_study_says_comes_first():
    machines = ["lambda-8xh100-sxm", "nebius-8xb200-x4", "gcp-a3-ultragpu-8g", "aws-p5.48xlarge",
                "azure-ND96isr-H100-v5"]  # fmt: skip
    said = {"skypilot": {"aws": {"lists": ["spot"], "instances": {"aws-p5.48xlarge": "p5e.48xlarge"}}}}
    rates = {
        ("skypilot", "shipped-lambda"): (["rent"], {"lambda-8xh100-sxm": "gpu_8x_h100_sxm5"}),
        ("skypilot", "shipped-nebius"): (["rent"], {"nebius-8xb200-x4": "gpu-b200-sxm_8gpu-160vcpu-1792gb"}),
        ("skypilot", "shipped-gcp-us"): (["rent"], {"gcp-a3-ultragpu-8g": "a3-ultragpu-8g"}),
        ("skypilot", "shipped-azure-eastus"): (["rent"], {"azure-ND96isr-H100-v5": "Standard_ND96isr_H100_v5"}),
    }
    own = {("skypilot", "aws"): (["spot"], {"aws-p5.48xlarge": "p5e.48xlarge"})}

    def parts(**shipped):
        return {(source, key): (part.lists, dict(part.instances))
                for source, key, part in checked(said | {"shipped": shipped}, machines)}  # fmt: skip

    assert (parts(rates=["rent"]), parts()) == (own | rates, own)


def price_list(folder: Path, day: str, price: float) -> str:
    offers = [{"instance": "a", "per_hour": price}]
    text = yaml.safe_dump({"as_of": date.fromisoformat(day), "source": "x", "offers": offers})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rent.yaml").write_text(text)
    return text


def test_the_state_of_a_list_on_a_day(tmp_path):
    for day, price in (("2026-09-19", 1.0), ("2026-10-05", 2.0)):
        text = price_list(tmp_path, day, price)
        kept = history_file(tmp_path, "rent", load_price_list(tmp_path / "rent.yaml"), text)
        kept.parent.mkdir(parents=True)
        kept.write_text(text)
    price_list(tmp_path, "2026-11-22", 3.0)
    assert history_days(tmp_path) == [date(2026, 9, 19), date(2026, 10, 5)]

    def price(day: str) -> float:
        return load_price_list(lists_at(tmp_path, ["rent"], date.fromisoformat(day))["rent"]).offers[0].per_hour.value

    expected = {"2026-09-01": 1.0, "2026-09-19": 1.0, "2026-10-04": 1.0, "2026-10-05": 2.0, "2026-11-21": 2.0,
                "2026-11-22": 3.0, "2027-01-01": 3.0}  # fmt: skip
    assert {day: price(day) for day in expected} == expected


def test_states_of_one_day_are_all_kept_and_the_same_state_once(tmp_path):
    first = price_list(tmp_path, "2026-09-19", 1.0)
    loaded = load_price_list(tmp_path / "rent.yaml")
    for number in range(1, 11):  # the tenth comes after the second, whatever their names
        text = first.replace("1.0", f"{number}.0")
        place = history_file(tmp_path, "rent", loaded, text)
        assert place == tmp_path / "history" / f"2026-09-19{f'_{number}' * (number > 1)}" / "rent.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(text)
        assert history_file(tmp_path, "rent", loaded, text) == place
    price_list(tmp_path, "2026-09-20", 99.0)
    assert lists_at(tmp_path, ["rent"], date(2026, 9, 19))["rent"].parent.name == "2026-09-19_10"
    assert history_days(tmp_path) == [date(2026, 9, 19)]


# The euro was 1.126 to 1.249 USD in 2018: a tenth beside it may be a bank's.
FAR = "expected one beside the 1.126 to 1.249 USD of 2018 (ECB)"
OF_2026 = "expected one beside the 1.113 to 1.197 USD of 2026 (ECB)"


@pytest.mark.parametrize(
    ("currency", "usd", "year", "told"),
    [
        ("EUR", 1.249 * 1.1, 2018, None),
        ("EUR", 1.249 * 1.101, 2018, FAR),
        ("EUR", 1 / 1.2, 2018, "expected 1.2, the rate turned round, or another beside the 1.126 to 1.249 USD of 2018"),
        # The franc was 0.9906 to 1.082: 0.98 is within 2 % of that, and the rate turned round besides.
        ("CHF", 0.9906 / 1.02, 2018, None),
        ("CHF", 0.97, 2018, "expected 1.031, the rate turned round"),
        # A year that the table does not know has the nearest's, 2026: by half.
        ("EUR", 1.197 * 1.5, 2030, None),
        ("EUR", 1.197 * 1.51, 2030, OF_2026),
        ("XXX", 1e6, 2018, None),  # of which nothing is known
        ("USD", 1.0, 2018, None),
        ("USD", 1.001, 2018, "expected 1, or no rate of USD"),
    ],
)
def test_a_rate_that_no_day_had(currency, usd, year, told):
    found = wrong_rate(currency, usd, date(year, 7, 1))
    assert found is None if told is None else found.startswith(told)


@pytest.mark.parametrize(
    ("provider", "purchase", "gpu", "preset"),
    [
        ("aws", "on_demand", "H100 SXM", "hyperscaler"),
        ("azure", "on_demand", "Tesla V100", "fixed"),  # in 104 series-years of old devices no price changed
        ("oci", "on_demand", "H100 SXM", "small_cloud"),
        ("never-heard-of", "on_demand", "RTX 4090", "small_cloud"),
        ("aws", "spot", "Tesla K80", "spot"),
        ("aws", "reserved", "H100 SXM", "fixed"),
    ],
)
def test_the_preset_follows_provider_purchase_and_device(provider, purchase, gpu, preset):
    assert preset_of(provider, purchase, gpu) == preset


@pytest.mark.parametrize(
    ("age", "told"),
    [
        # half of the purchase is what the curve is of
        (0.0, [(0, 0.5, 0.5, 0.5), (2, 0.4, 0.35, 0.45), (4, 0.2, 0.1, 0.3)]),
        # bought a year after it came out: half way from 1 to 0.8, 0.7, 0.9
        (1.0, [(0, 0.45, 0.425, 0.475), (1, 0.4, 0.35, 0.45), (3, 0.2, 0.1, 0.3)]),
        (3.5, [(0, 0.25, 0.1625, 0.3375), (0.5, 0.2, 0.1, 0.3)]),  # three quarters of the way
        (9.0, [(0, 0.2, 0.1, 0.3)]),  # nothing is known of later
    ],
)
def test_shares_of_the_purchase_from_the_day_it_is_made(age, told):
    found = Resale(points=[(2.0, 0.8, 0.7, 0.9), (4.0, 0.4, 0.2, 0.6)], share=0.5, age_years=age).by_years()
    assert found == [pytest.approx(row) for row in told]


# Ages at which the used prices of facts/pools/prices-2026 are parted (research/README.md).
AGES = {"data-centre": (1.0, 2.5, 4.5, 6.5, 8.5, 13.0), "gaming": (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 8.5)}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_the_median_and_the_ends_of_the_prices_of_its_ages(name):
    """Of few prices the least and the most are the ends, of more than twenty 5 and 95 %; nobody plans with above 1."""
    with (POOLS / "prices-2026" / "resale.csv").open() as file:
        seen = np.array([(float(row["age_years"]), float(row["ratio_to_new"])) for row in csv.DictReader(file)
                         if row["class"] == name])  # fmt: skip
    for (first, last), told in zip(pairwise(AGES[name]), CURVES[name], strict=True):
        age, kept = seen[(seen[:, 0] >= first) & (seen[:, 0] < last)].T
        ends = (0.05, 0.95) if len(kept) > 20 else (0, 1)
        shares = np.minimum(np.quantile(kept, [0.5, *ends]), 1)
        assert told[0] == pytest.approx(np.median(age), abs=0.051) and told[1:] == pytest.approx(shares, rel=0.08)


def test_presets_are_what_the_history_was():
    """research/README.md: 6 cuts in 45 series-years, of -0.330 (-0.458 to -0.254); smaller clouds by three readings."""
    jumps, drift, walk = (PRESETS[name] for name in ("hyperscaler", "small_cloud", "spot"))
    cuts = (jumps.per_year, jumps.change, jumps.change_low, jumps.change_high)
    assert cuts == pytest.approx((6 / 45, -0.330, -0.458, -0.254), abs=0.005)
    year = (drift.change_per_year, drift.low, drift.high, drift.market_share)
    assert year == pytest.approx((0, -0.43, 0.22, 0.21), abs=0.051) and drift.change_per_year < 0
    assert (walk.sd_log_year, walk.market_share) == pytest.approx((0.51, 0.01), abs=0.02)


DAMAGE = [
    None, -1, 0, 1e308, 1e-320, 10**40, float("nan"), float("inf"), True, "x", "", "<b>", "a\nb", [], {},
    {"value": 1, "low": 2}, date(2018, 1, 1),
]  # fmt: skip


def places(value, path=()):
    """Every key and position in plain data."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


@pytest.mark.parametrize("file", LISTS, ids=lambda file: f"{file.parent.parent.name}/{file.stem}")
def test_a_damaged_list_gives_finite_offers_or_one_sentence(file: Path, tmp_path):
    chance = random.Random(file.stem)
    whole = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
    known = load_instances(ROOT / "config" / "instances.yaml", file.parent.parent / "instances.yaml")
    target = tmp_path / "list.yaml"
    for _ in range(3):
        damaged = copy.deepcopy(whole)
        *way, last = chance.choice(list(places(whole)))
        at = damaged
        for key in way:
            at = at[key]
        at[last] = chance.choice(DAMAGE)
        target.write_text(yaml.dump(damaged, Dumper=yaml.CSafeDumper))
        try:
            prices = load_price_list(target)
            check_instances(prices, known, target)
            offers, fees = offers_in_usd("list", prices, known, 30.5)
        except UserError as error:
            assert "\n" not in str(error)
            assert str(target) in str(error)
        else:
            numbers = [offers[name].to_numpy() for name in offers if offers[name].dtype == float]
            assert len(numbers) > 50
            assert not any(np.isinf(column).any() for column in numbers)
            assert np.isfinite(fees["usd"]).all()
