"""One offer held against a catalogue, without files or a network: which entry is its own, and when it counts."""

from datetime import date

import pandas as pd
import pytest
from sweetspot.catalogues.fetching import FetchedCatalogue
from sweetspot.catalogues.listing import Catalogue, Listing
from sweetspot.catalogues.refreshing import PriceUpdate, price_updates
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import FilePart
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList

DAY = date(2026, 9, 19)


def entry(purchase: str, usd: float, place: str = "", name: str = "p5.48xlarge", **facts) -> Listing:
    return Listing(name, purchase, usd, zone=place, **facts)


def asked(offer: dict, *entries: Listing, day=DAY, part=None, nodes=1, accepted=()) -> PriceUpdate:
    data = {"as_of": DAY, "source": "x", "offers": [{"instance": "a", **offer}]}
    prices = validated(PriceList, data, "rent.yaml")
    catalogue = Catalogue("vms.csv", list(entries), pd.DataFrame(columns=["line", "machine", "fault"]))
    part = part or FilePart(lists=["rent"], instances={"a": "p5.48xlarge"})
    machine = Instance(title="a", provider="aws", gpu="H100", gpus=8 * nodes, nodes=nodes)
    fetched = FetchedCatalogue(catalogue, "the catalogue", "abc", day)
    (row,) = price_updates("rent", prices, part, fetched, {"a": machine}, accepted)
    return row


@pytest.mark.parametrize(("day", "stays"), [(date(2026, 9, 18), True), (DAY, False), (date(2026, 9, 20), False)])
def test_only_a_catalogue_older_than_the_row_changes_nothing(day, stays):
    found = asked({"per_hour": 55.04}, entry("on_demand", 50.0), day=day)
    assert (bool(found.stays), found.is_unchanged) == (stays, False)
    assert found.values == {} if stays else found.values["per_hour"] == 50.0


def test_a_preemptible_machine_has_the_catalogues_spot_price():
    spot, plain = entry("spot", 20.0), entry("on_demand", 55.0)
    assert asked({"per_hour": 21.0, "purchase": "preemptible"}, plain, spot).new == 20.0
    assert asked({"per_hour": 54.0}, plain, spot).new == 55.0


def test_a_reserved_offer_is_taken_up_only_to_be_named_as_one_that_no_catalogue_refreshes():
    assert asked({"purchase": "reserved", "per_hour": 3.0}).name == "a (reserved)"


def test_the_cheapest_of_the_place_by_zone_region_or_beginning():
    zones = [
        entry("on_demand", 60.0, "use1-az1", region="us-east-1"),
        entry("on_demand", 58.0, "use1-atl2-az1", region="us-east-1"),
        entry("on_demand", 50.0, "euw1-az1", region="eu-west-1"),
        entry("on_demand", 40.0, "use1-az2", name="p4d.24xlarge", region="us-east-1"),
    ]
    prices = {}
    for place in (None, "us-east-1", "us-", "use1-az", "euw1-az1", "ap-"):
        part = FilePart(lists=["rent"], instances={"a": "p5.48xlarge"}, place=place)
        prices[place] = asked({"per_hour": 55.0}, *zones, part=part).new
    expected = {None: 50.0, "us-east-1": 58.0, "us-": 58.0, "use1-az": 60.0, "euw1-az1": 50.0, "ap-": 0.0}
    assert prices == expected


@pytest.mark.parametrize(("usd", "taken"), [(13.77, True), (13.76, False), (220.0, True), (220.16, False)])
def test_four_times_the_price_or_a_fourth_is_not_believed(usd, taken):
    """55.04 / 4 is 13.76, and 4 x 55.04 is 220.16."""
    found = asked({"per_hour": 55.04}, entry("on_demand", usd))
    assert (found.stays == "") == taken
    assert asked({"per_hour": 55.04}, entry("on_demand", usd), accepted=["a"]).stays == ""


def test_a_cluster_costs_its_nodes_and_its_note_says_so():
    note = "2 x 55.04; no fee for the network is listed"
    found = asked({"per_hour": 110.08, "note": note}, entry("on_demand", 50.5, gpus=8), nodes=2)
    assert found.values["per_hour"] == 101.0
    assert found.values["note"] == "2 x 50.5; no fee for the network is listed"
    assert "note" not in asked({"per_hour": 110.08, "note": "no InfiniBand"}, entry("on_demand", 50.5), nodes=2).values
    other = asked({"per_hour": 110.08}, entry("on_demand", 50.5, gpus=4), nodes=2)
    assert other.stays == "has 8 devices a machine in instances.yaml, 4 in the catalogue"


def test_the_price_of_today_is_no_change_and_the_seventh_decimal_is_dropped():
    found = asked({"per_hour": 50.0}, entry("on_demand", 50.0))
    assert (found.stays, found.is_unchanged) == ("is the price of today", True)
    assert asked({"per_hour": 1.2}, entry("on_demand", 1.23456789)).new == 1.234568


@pytest.mark.parametrize(
    ("offer", "stays"),
    [
        ({"purchase": "reserved", "commitment": {"term_months": 12.0, "per_hour": 34.0}}, "hourly rate (reserved)"),
        ({"purchase": "spot", "per_month": 9000.0}, "has no hourly rate (spot)"),
        ({"purchase": "spot", "per_hour": {"value": 17.0, "low": 12.0, "high": 20.0}}, "has a range"),
        ({"per_hour": 55.0, "vat": {"rate": 0.2, "included": True}}, "includes tax"),
        ({"per_hour": 55.0, "currency": "EUR"}, "its price is in EUR"),
    ],
)
def test_a_price_that_no_catalogue_knows_in_that_form_stays(offer, stays):
    entries = (entry(purchase, 30.0) for purchase in ("reserved", "spot", "on_demand"))
    assert stays in asked(offer, *entries).stays
