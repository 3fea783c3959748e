"""Lint against known prices: real lists damaged as people damage them, silence on the lists as they are, families."""

from datetime import date

import pytest
from linted_lists import DATA, Row, aws, catalogued, found_in, linted, put, times
from price_lists import findings, price_list
from sweetspot.bills.lint.rules import warnings_by_offer
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.study.instances import Instance

DAY = date(2026, 11, 20)


@pytest.mark.parametrize("year", [2018, 2026])
def test_the_lists_as_they_are_raise_nothing(year):
    assert linted(aws(year), year) == set()


@pytest.mark.parametrize(
    ("year", "factor", "words"), [(2018, 100, "cents"), (2026, 730, "the price of a month"), (2018, 24, "of a day")]
)
def test_a_list_shifted_alike_is_one_finding_of_its_own(year, factor, words):
    rows = times(aws(year), factor)
    prices = price_list(*({"instance": row.name, "per_hour": row.usd} for row in rows), as_of=date(year, 6, 15))
    (found,) = found_in(prices, rows)
    assert (found.severity, found.rule, found.instance, found.offer) == ("warning", "market_level", "", None)
    assert words in found.message
    # A finding of the whole list stands beside each of its offers.
    assert [len(warned) for warned in warnings_by_offer([found], 2)] == [1, 1]


@pytest.mark.parametrize("name", ["p2.xlarge", "p3.16xlarge"])
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
    prices = price_list(*offers, as_of=date(int(file[-8:-4]), 2, 21))
    rules = {found.rule for found in found_in(prices, rows, file[:-9])}
    assert not rules & {"market_level", "known_machine", "spot_far_below"}


def test_one_price_far_off_is_named():
    (found,) = {found for found in linted(put(aws(2018), "p3.2xlarge", 306.0), 2018) if found[0] == "market_level"}
    assert found == ("market_level", "p3.2xlarge")
    assert ("market_level", "unheard-of") in linted([Row("unheard-of", "a new card", 1, 8, 730.0)], 2026, provider="x")
    # 0.38 USD are 4.75 cents a vCPU; 277 are that month.
    cpu = Row("n1-standard-8", "", 1, 8, 0.38)
    assert linted([cpu], 2018, provider="gce") == set()
    assert ("market_level", "n1-standard-8") in linted([cpu._replace(usd=277.0)], 2018, provider="gce")


def found(*rows, provider="a-cloud"):
    """{rule: [message, ...]} of rented machines; rows as `rental` makes them."""
    known = {name: Instance(title=name, provider=provider, **facts) for name, facts, _ in rows}
    prices = price_list(*({"instance": name, **offer} for name, _, offer in rows), as_of=DAY)
    told = {}
    for finding in findings(prices, known, study_date=DAY):
        if finding.rule != "spot_terms":
            told.setdefault(finding.rule, []).append(finding.message)
    return told


def rental(name, usd, gpus=1, gpu="H100", purchase="on_demand", vcpus=None):
    return name, {"gpu": gpu, "gpus": gpus, "vcpus": vcpus}, {"purchase": purchase, "per_hour": usd}


def test_a_price_that_does_not_grow_with_the_devices():
    # 2.99 for 1, 2, 4 and 8 H100: eight would be 23.92
    told = found(*(rental(f"h100-{count}x", 2.99, count) for count in (1, 2, 4, 8)))
    assert len(told["flat_prices"]) == 4 and "family_disagrees" not in told
    assert found(*(rental(f"h100-{count}x", 2.99 * count, count) for count in (1, 2, 4, 8))) == {}
    # The same on spot, and of a device that nobody knows.
    assert "flat_prices" in found(*(rental(f"new-{n}x", 0.08, n, "a new card", "spot") for n in (1, 8)))


def test_the_price_of_one_device_at_eight_and_of_eight_at_one():
    # 2.99 / 8 = 0.374 a device, where 1.00 is the least of 2025 to 2026; 23.92 for all.
    (message,) = found(rental("orion", 2.99, 8))["price_of_one_device"]
    assert "0.3738 a H100" in message and "23.92" in message
    # Half of the least known is still a price: 8 x 0.5 = 4.00.
    assert "price_of_one_device" not in found(rental("orion", 4.01, 8))
    assert "price_of_one_device" in found(rental("orion", 3.99, 8))
    assert "price_of_one_device" not in found(rental("orion", 2.99, 8, purchase="spot"))
    # 23.92 / 8 = 2.99 is a price of an H100; 23.92 for one is above all known (12.29).
    assert "2.99 for one" in found(rental("orion", 23.92))["price_of_one_device"][0]
    assert found(rental("orion", 12.0)) == {}


def test_a_rent_a_fifth_of_that_of_its_rivals_on_the_list_is_named():
    rivals = [rental(name, 2.99, vcpus=count) for count, name in enumerate("abc", 8)]
    for usd, count, rules in ((0.6, 3, []), (0.59, 1, []), (0.59, 3, ["market_level"])):  # 2.99 / 5 = 0.598
        assert list(found(*rivals[:count], rental("d", usd, vcpus=16))) == rules


def test_on_demand_equals_spot_everywhere():
    rows = [("h100.8x", "H100", 9.6), ("a100.8x", "A100-80GB", 6.4)]
    both = [rental(name, usd, 8, gpu, purchase) for name, gpu, usd in rows for purchase in ("on_demand", "spot")]
    (message,) = found(*both)["on_demand_equals_spot"]
    assert "all 2 machines" in message
    assert "on_demand_equals_spot" not in found(*both[:-1], rental("a100.8x", 5.0, 8, "A100-80GB", "spot"))
    assert "on_demand_equals_spot" not in found(*both[:2])  # Of one machine it may be chance.


def test_another_count_than_the_name_says_and_a_known_machine_at_the_price_of_one_device():
    # 98.32 / 8 = 12.29 a device, not 98.32 / 16 = 6.145.
    told = found(rental("p5.48xlarge", 98.32, 16), provider="aws")
    assert "12.29 each" in told["device_count_differs"][0]
    assert "device_count_differs" not in found(rental("p5.48xlarge", 55.04, 8), provider="aws")
    # Azure asks 98.32 for eight; 0.4 of a known price may be a contract or a cut: 39.33.
    for usd, is_found in ((12.29, True), (39.0, True), (39.5, False)):
        assert ("known_machine" in found(rental("Standard_ND96isr_H100_v5", usd, 8), provider="azure")) == is_found


def test_a_family_that_disagrees_blames_nobody():
    # 1.90 a device once, 4.94 / 2 = 9.88 / 4 = 2.47 twice; which is wrong nobody can say.
    rows = [rental("n12", 1.90, 1, "L40S", vcpus=12), rental("n24", 4.94, 2, "L40S", vcpus=24),
            rental("n48", 9.88, 4, "L40S", vcpus=48)]  # fmt: skip
    told = found(*rows)["family_disagrees"]
    assert len(told) == 3 and len(set(told)) == 1 and all(word in told[0] for word in ("1.9 (n12)", "2.47 (n48)"))
    # Another shape has another price.
    assert found(rental("n12", 1.90, 1, "L40S", vcpus=8), *rows[1:]) == {}
    # 12 % is what many providers give on large machines; of two machines 25 % (and half a cent).
    four, eight = rental("b", 4.0, 2, vcpus=16), rental("c", 8.0, 4, vcpus=32)
    three, pair = (four, eight), (four,)
    for usd, others, count in ((2.24, three, 0), (2.27, three, 3), (2.5, pair, 0), (2.51, pair, 2)):
        assert len(found(rental("a", usd, vcpus=8), *others).get("family_disagrees", ())) == count


@pytest.mark.parametrize(
    ("deal", "is_far"),
    [
        # An H100 was rented at 1.00 to 12.29 USD about 2026; within 0.25 to 49.16 nothing is remarkable.
        ({"per_hour": 49.0}, False), ({"per_hour": 179.0}, True), ({"per_hour": 0.2}, True),
        # 200 million for 12 months of 732 hours: 22,769 an hour. 17,568 are 2 an hour.
        ({"upfront": 200e6}, True), ({"upfront": 17_568.0}, False), ({"per_month": 1464.0}, False),
    ],
)  # fmt: skip
def test_a_commitment_is_held_against_the_rents_of_its_device(deal, is_far):
    offer = {"purchase": "committed", "commitment": {"term_months": 12} | deal}
    assert list(found(("x", {"gpu": "H100", "gpus": 1}, offer))) == ["market_level"] * is_far
