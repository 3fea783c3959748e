"""Each published source from a real server, with real rows: what is taken, what is told apart, what is refused."""

import csv
import io
import json
import zipfile
from datetime import date
from pathlib import Path

import pytest
from price_server import Answer, serving
from sweetspot.catalogues import downloads, fetching
from sweetspot.catalogues.fetching import fetch_gpuhunt, fetch_skypilot
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.errors import UserError

DATA = Path(__file__).parent.parent / "data"
DAY = date(2026, 11, 22)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloads, "current_day", lambda: DAY)
    with serving() as found:
        yield found


def test_skypilots_zones_belong_to_the_region_of_their_line():
    """AWS' zones of 2026 are use1-az6, which do not begin with us-east-1; each least price by hand from the lines."""
    catalogue = read_catalogue("skypilot", DATA / "skypilot" / "aws_2026.csv")
    found = {(entry.instance, entry.purchase): entry for entry in catalogue.cheapest("us-east-1")}
    assert found["p5en.48xlarge", "spot"].per_hour == 16.5551  # of 17.2074, 18.2492, 16.5551; us-east-2 has 16.24
    assert found["p5en.48xlarge", "spot"].zone == "use1-az6"
    assert found["p5en.48xlarge", "on_demand"].per_hour == 63.296
    assert found["p6-b200.48xlarge", "spot"].per_hour == 13.0338
    assert ("p5e.48xlarge", "on_demand") not in found  # sold by capacity blocks alone
    assert {entry.per_hour for entry in catalogue.cheapest("use1-az2")} == {63.296, 18.2492}


def test_skypilots_file_is_of_the_day_of_its_last_change(server):
    body = (DATA / "skypilot" / "nebius_2026.csv").read_bytes()
    server.routes["/nebius/vms.csv"] = Answer(body, headers={"Last-Modified": "Tue, 01 Sep 2026 01:00:00 GMT"})
    found = fetch_skypilot("nebius", server.url)
    assert found.as_of == date(2026, 9, 1)
    assert found.source == "SkyPilot's catalogue, nebius/vms.csv of 2026-09-01"
    lines = csv.DictReader(io.StringIO(body.decode()))
    assert len(found.catalogue.listings) == sum(bool(row["Price"]) + bool(row["SpotPrice"]) for row in lines)


def test_githubs_interface_says_the_day_of_its_file(server, monkeypatch):
    """An old file fetched today has the prices of its last change; without that answer it is named as fetched."""
    monkeypatch.setattr(fetching, "SKYPILOT", server.url)
    monkeypatch.setattr(fetching, "CHANGES", f"{server.url}/commits")
    server.routes["/nebius/vms.csv"] = Answer((DATA / "skypilot" / "nebius_2026.csv").read_bytes())
    commit = json.dumps([{"commit": {"committer": {"date": "2026-02-11T03:00:00Z"}}}]).encode()
    expected = {"path": ["catalogs/v8/nebius/vms.csv"], "per_page": ["1"]}
    server.routes["/commits"] = lambda query: Answer(commit if query == expected else b"[]")
    assert fetch_skypilot("nebius", server.url).as_of == date(2026, 2, 11)
    for answer in (Answer(b"rate limit", 403), Answer(b"[]"), Answer(b"no")):
        server.routes["/commits"] = answer
        found = fetch_skypilot("nebius", server.url)
        assert (found.as_of, "fetched 2026-11-22" in found.source) == (DAY, True)


def zipped(name: str, text: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return packed.getvalue()


HUNT = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"
    "p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,\n"
    "p5.48xlarge,us-east-1,20.784,192,2048.0,8,H100,80.0,True,\n"
    "p6-b200.48xlarge,us-east-1,0.0,192,2048.0,8,B200,180.0,False,\n"
)


def test_gpuhunts_newest_version_is_unpacked_and_dates_the_prices(server):
    server.routes["/aws/version"] = Answer(b"20260819-1204\n")
    server.routes["/aws/20260819-1204/catalog.zip"] = Answer(zipped("aws.csv", HUNT))
    found = fetch_gpuhunt("aws", server.url)
    listings = {(entry.instance, entry.purchase, entry.zone): entry.per_hour for entry in found.catalogue.listings}
    assert listings == {("p5.48xlarge", "on_demand", "us-east-1"): 55.04, ("p5.48xlarge", "spot", "us-east-1"): 20.784}
    assert (found.as_of, found.source) == (date(2026, 8, 19), "gpuhunt's catalogue, aws 20260819-1204")
    assert found.catalogue.reason_without("p6-b200.48xlarge") == "no price above 0"


DAMAGED = zipped("aws.csv", HUNT)[:45] + bytes([zipped("aws.csv", HUNT)[45] ^ 0xFF]) + zipped("aws.csv", HUNT)[46:]


@pytest.mark.parametrize(
    ("version", "body", "told"),
    [
        (b"latest", b"", "is 'latest'; expected a version such as"),
        (b"20260819-1", zipped("azure.csv", HUNT), "no whole zip file with aws.csv"),
        (b"20260819-1", zipped("aws.csv", HUNT)[:-30], "is no whole zip"),
        (b"20260819-1", DAMAGED, "is no whole zip"),
        (b"20260819-1", zipped("aws.csv", "name,usd\na,1\n"), "column 'instance_name' is missing"),
    ],
)
def test_what_is_no_catalogue_of_gpuhunt(server, version, body, told):
    server.routes["/aws/version"] = Answer(version)
    server.routes[f"/aws/{version.decode()}/catalog.zip"] = Answer(body)
    with pytest.raises(UserError, match=told):
        fetch_gpuhunt("aws", server.url)
