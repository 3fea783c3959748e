"""Lint against known levels: real lists damaged as people damage them, and silence on the lists as they are."""

from datetime import date

import pytest
from linted_lists import DATA, Row, aws, catalogued, found_in, linted, put, times
from price_lists import price_list
from sweetspot.bills.lint.known import device_key, known_range
from sweetspot.bills.lint.rules import warnings_by_offer
from sweetspot.catalogues.readers import read_catalogue


@pytest.mark.parametrize("year", [2018, 2026])
def test_the_lists_as_they_are_raise_nothing(year):
    assert linted(aws(year), year) == set()


@pytest.mark.parametrize("year", [2018, 2026])
@pytest.mark.parametrize(
    ("factor", "rule", "words"),
    [
        (100, "market_level", "cents"),
        (730, "market_level", "the price of a month"),
        (24, "market_level", "the price of a day"),
    ],
)
def test_a_list_shifted_alike_is_one_finding_of_its_own(year, factor, rule, words):
    rows = times(aws(year), factor)
    prices = price_list(*({"instance": row.name, "per_hour": row.usd} for row in rows), as_of=date(year, 6, 15))
    (found,) = found_in(prices, rows)
    assert (found.severity, found.rule, found.instance) == ("warning", rule, "")
    assert words in found.message
    # A finding of the whole list stands beside each of its offers, as a pair.
    assert [[pair["rule"] for pair in pairs] for pairs in warnings_by_offer([found], 2)] == [[rule], [rule]]


@pytest.mark.parametrize("name", ["p2.xlarge", "p3.2xlarge", "p3.8xlarge", "p3.16xlarge"])
def test_a_spot_price_a_tenth_blames_its_own_row(name):
    """Spot prices of the 2018 study's time, 27 to 33 % of on demand: the damaged row alone is named."""
    spot = {"p2.xlarge": 0.27, "p3.2xlarge": 0.918, "p3.8xlarge": 4.05, "p3.16xlarge": 7.5}
    for damaged, told in ((name, {name}), (None, set())):
        offers = [{"instance": one, "purchase": "spot", "per_hour": usd / (10 if one == damaged else 1)}
                  for one, usd in spot.items()]  # fmt: skip
        found = linted(aws(2018), 2018, *offers)
        assert {machine for _, machine in found} == told
        assert not told or ("spot_far_below", name) in found


@pytest.mark.parametrize("file", sorted(path.name for path in (DATA / "skypilot").glob("*.csv")))
def test_real_catalogues_raise_no_warning_about_levels(file):
    listings = read_catalogue("skypilot", DATA / "skypilot" / file).listings
    best = {(entry.instance, entry.purchase): entry for entry in reversed(listings)}
    rows = [catalogued(entry) for entry in best.values()]
    offers = [{"instance": one.instance, "purchase": one.purchase, "per_hour": one.per_hour} for one in best.values()]
    year = int(file[-8:-4])
    rules = {found.rule for found in found_in(price_list(*offers, as_of=date(year, 2, 21)), rows, file[:-9])}
    assert not rules & {"market_level", "known_machine", "spot_far_below"}


def test_one_price_far_off_is_named_with_its_reason():
    (found,) = {found for found in linted(put(aws(2018), "p3.2xlarge", 306.0), 2018) if found[0] == "market_level"}
    assert found == ("market_level", "p3.2xlarge")
    assert found in linted(put(aws(2018), "p3.2xlarge", 2239.92), 2018)  # 3.06 x 732: its month, as the study prints it
    assert ("market_level", "unheard-of") in linted([Row("unheard-of", "a new card", 1, 8, 730.0)], 2026, provider="x")
    assert ("market_level", "n1-standard-8") in linted([Row("n1-standard-8", "", 1, 8, 277.0)], 2018, provider="gce")
    assert linted([Row("n1-standard-8", "", 1, 8, 0.38)], 2018, provider="gce") == set()


@pytest.mark.parametrize("purchase", ["reserved", "committed"])
def test_reserved_dearer_than_on_demand_is_found(purchase):
    dear = {"instance": "p3.2xlarge", "purchase": purchase, "per_hour": 3.9}
    assert linted(aws(2018), 2018, dear) == {("reserved_above_on_demand", "p3.2xlarge")}
    assert linted(aws(2018), 2018, dear | {"per_hour": 1.98}) == set()


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Tesla V100-SXM2-16GB", "v100"), ("V100", "v100"), ("NVIDIA H100 80GB HBM3", "h100"), ("H100 PCIe", "h100"),
        ("GTX 1080 Ti", "gtx1080ti"), ("NVIDIA GeForce RTX 4090", "rtx4090"), ("RTX4090", "rtx4090"),
        ("RTX 6000 Ada", "rtx6000ada"), ("RTX PRO 6000 Blackwell", "rtxpro6000"), ("RTXA6000", "a6000"),
        ("A100-80GB", "a100"), ("A10G", "a10g"),
        ("GB200", "gb200"), ("L40S", "l40s"), ("L4", "l4"), ("Quadro P6000", "p6000"), ("MI300X", "mi300x"),
        ("TPU v5p", ""), ("CPU", ""), ("a card", ""),
    ],
)  # fmt: skip
def test_a_device_is_one_word_however_it_is_written(name, key):
    assert device_key(name) == key


def test_the_table_holds_what_its_sources_say():
    """A K80 was rented at 0.45 to 1.40 USD about 2018; an H100 draws 350 (PCIe) to 700 W (SXM)."""
    assert (known_range("rent", "k80", 2018), known_range("power", "h100")) == ((0.45, 1.4), (350, 700))
    assert known_range("buy", "gtx1080ti")[0] == 699
