"""Each published source from a real server, with real rows: what is taken, what is told apart, what is refused."""

import csv
import io
import json
import zipfile
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from price_server import Answer, serving
from sweetspot.catalogues.downloads import Downloads
from sweetspot.catalogues.listing import Asked
from sweetspot.catalogues.published_prices import SOURCES
from sweetspot.catalogues.readers import cheapest
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.catalogues.sources import published_files as files
from sweetspot.errors import UserError
from sweetspot.study.catalogue_map import CatalogueMap

DATA = Path(__file__).parent.parent / "data"
DAY = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
AZURE = json.loads((DATA / "published_prices" / "azure_items.json").read_text())
AWS = (DATA / "published_prices" / "aws_index.csv").read_bytes()
AWS_PATH = "/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.csv"
H100 = "Standard_ND96isr_H100_v5"


@pytest.fixture
def server():
    with serving() as found:
        yield found


def fetch(source: str, key: str, part: dict, server, tmp_path, now=lambda: DAY):
    """What the source makes of a part of study.yaml."""
    asked = CatalogueMap.model_validate({source: {key: {"lists": ["rent"], **part}}})
    ((_, _, model),) = asked.parts()
    net = Downloads(tmp_path / "cache", sleep=lambda _: None, now=now)
    return SOURCES[source].fetch(Asked(key, model, tmp_path), net, server.url)


def prices(fetched) -> dict[tuple[str, str, str], float]:
    return {(entry.title or entry.instance, entry.purchase, entry.place): entry.per_hour
            for entry in fetched.catalogue.listings}  # fmt: skip


def test_only_sources_asked_for_a_studys_own_machines_may_have_none():
    assert {name for name, source in SOURCES.items() if not source.whole} == {"aws", "azure"}


def test_skypilots_zones_belong_to_the_region_of_their_line():
    """AWS' zones of 2026 are use1-az6, which do not begin with us-east-1; each least price by hand from the lines."""
    catalogue = read_skypilot(DATA / "skypilot" / "aws_2026.csv")
    found = {(entry.instance, entry.purchase): entry for entry in cheapest(catalogue, "us-east-1", None)}
    assert found["p5en.48xlarge", "spot"].per_hour == 16.5551  # of 17.2074, 18.2492, 16.5551; us-east-2 has 16.24
    assert found["p5en.48xlarge", "spot"].place == "use1-az6"
    assert found["p5en.48xlarge", "on_demand"].per_hour == 63.296
    assert found["p6-b200.48xlarge", "spot"].per_hour == 13.0338
    assert ("p5e.48xlarge", "on_demand") not in found  # sold by capacity blocks alone
    assert {entry.per_hour for entry in cheapest(catalogue, "use1-az2", None)} == {63.296, 18.2492}


def test_skypilots_file_is_of_the_day_of_its_last_change(server, tmp_path):
    body = (DATA / "skypilot" / "nebius_2026.csv").read_bytes()
    server.routes["/nebius/vms.csv"] = Answer(body, headers={"Last-Modified": "Tue, 01 Sep 2026 01:00:00 GMT"})
    found = fetch("skypilot", "mine", {"file": "nebius", "instances": {"a": "x"}}, server, tmp_path)
    assert found.as_of == date(2026, 9, 1)
    assert found.source.startswith("SkyPilot's catalogue, nebius/vms.csv of 2026-09-01, sha256 ")
    with (DATA / "skypilot" / "nebius_2026.csv").open() as file:
        lines = list(csv.DictReader(file))
    counted = sum(bool(line["Price"]) + bool(line["SpotPrice"]) for line in lines)
    assert len(found.catalogue.listings) == counted


def test_where_the_host_tells_no_day_githubs_interface_is_asked(server, tmp_path, monkeypatch):
    """An old file fetched today has the prices of its last change; without that answer the download's day is told."""
    monkeypatch.setattr(files, "SKYPILOT", server.url)
    monkeypatch.setattr(files, "CHANGES", f"{server.url}/commits")
    server.routes["/nebius/vms.csv"] = Answer((DATA / "skypilot" / "nebius_2026.csv").read_bytes())
    commit = json.dumps([{"commit": {"committer": {"date": "2026-02-11T03:00:00Z"}}}]).encode()
    asked = {"path": ["catalogs/v8/nebius/vms.csv"], "per_page": ["1"]}
    server.routes["/commits"] = lambda query: Answer(commit if query == asked else b"[]")
    part = {"instances": {"a": "x"}}
    assert fetch("skypilot", "nebius", part, server, tmp_path).as_of == date(2026, 2, 11)
    dated = Answer(b"InstanceType,Price\nx,1\n", headers={"Last-Modified": "Tue, 01 Sep 2026 01:00:00 GMT"})
    server.routes["/oci/vms.csv"] = dated
    assert fetch("skypilot", "oci", part, server, tmp_path).as_of == date(2026, 9, 1)
    for number, answer in enumerate((Answer(b"rate limit", 403), *map(Answer, (b"[]", b"{}", b"[{}]", b"no")))):
        server.routes["/commits"] = answer
        found = fetch("skypilot", "nebius", part, server, tmp_path / str(number))
        assert found.as_of == DAY.date()
        assert "the day of its last change is unknown, so the download's is taken: " in found.told[1]
        assert number == 0 or "no day of a commit" in found.told[1]


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


def test_gpuhunts_newest_version_is_unpacked_and_dates_the_prices(server, tmp_path, monkeypatch):
    server.routes["/aws/version"] = Answer(b"20260819-1204\n")
    server.routes["/aws/20260819-1204/catalog.zip"] = Answer(zipped("aws.csv", HUNT))
    found = fetch("gpuhunt", "aws", {"instances": {"a": "p5.48xlarge"}}, server, tmp_path)
    assert prices(found) == {
        ("p5.48xlarge", "on_demand", "us-east-1"): 55.04,
        ("p5.48xlarge", "spot", "us-east-1"): 20.784,
    }
    assert found.as_of == date(2026, 8, 19)
    assert "aws 20260819-1204, sha256" in found.source
    assert found.catalogue.why_without("p6-b200.48xlarge") == "price is '0.0'; expected a number above 0, or nothing"
    for most, taken in ((len(HUNT), True), (len(HUNT) - 1, False)):
        monkeypatch.setattr(files, "MOST_BYTES", most)
        with nullcontext() if taken else pytest.raises(UserError, match=f"unpacks to more than {most} bytes"):
            fetch("gpuhunt", "aws", {"instances": {"a": "p5.48xlarge"}}, server, tmp_path / str(most))


DAMAGED = zipped("aws.csv", HUNT)[:45] + bytes([zipped("aws.csv", HUNT)[45] ^ 0xFF]) + zipped("aws.csv", HUNT)[46:]


@pytest.mark.parametrize(
    ("version", "body", "told"),
    [
        (b"latest", b"", "is 'latest'; expected a version such as"),
        (b"20261399-1", b"", "is '20261399-1'; expected a version"),
        (b"20260819-1", zipped("azure.csv", HUNT), "holds no aws.csv"),
        (b"20260819-1", zipped("aws.csv", HUNT)[:-30], "is no whole zip file"),
        (b"20260819-1", b"PK not a zip", "is no whole zip file"),
        (b"20260819-1", DAMAGED, "is no whole zip file"),
        (b"20260819-1", zipped("aws.csv", "name,usd\na,1\n"), "column 'instance_name' is missing"),
    ],
)
def test_what_is_no_catalogue_of_gpuhunt(server, tmp_path, version, body, told):
    server.routes["/aws/version"] = Answer(version)
    server.routes[f"/aws/{version.decode()}/catalog.zip"] = Answer(body)
    with pytest.raises(UserError, match=told):
        fetch("gpuhunt", "aws", {"instances": {"a": "p5.48xlarge"}}, server, tmp_path)


def ask_aws(server, tmp_path, body=AWS, **names):
    server.routes[AWS_PATH] = Answer(body)
    wanted = names or {"a": "p5.48xlarge", "b": "p6-b200.48xlarge", "c": "p5e.48xlarge"}
    return fetch("aws", "us-east-1", {"instances": wanted}, server, tmp_path)


def test_of_awss_products_only_the_machines_own_hour_is_taken(server, tmp_path):
    found = ask_aws(server, tmp_path)
    assert prices(found) == {
        ("p5.48xlarge", "on_demand", "us-east-1"): 55.04,
        ("p6-b200.48xlarge", "on_demand", "us-east-1"): 113.9328,
    }
    assert {entry.currency for entry in found.catalogue.listings} == {"USD"}
    assert [entry.line for entry in found.catalogue.listings] == [7, 16]  # of the file, whose heading is line 6
    assert found.as_of == date(2026, 7, 6)
    assert found.source.startswith("AWS price list, us-east-1, published 2026-07-06, sha256 ")


@pytest.mark.parametrize(("was", "other"), [(b"AWS Local Zone", b"AWS Region"), (b"us-east-1-atl-2", b"us-east-1")])
def test_a_local_zone_is_told_apart_by_its_type_or_its_code(server, tmp_path, was, other):
    """The row of 7 USD, with either mark of a local zone taken away."""
    found = ask_aws(server, tmp_path, AWS.replace(was, other))
    assert [entry.per_hour for entry in found.catalogue.listings] == [55.04, 113.9328]


def test_a_line_of_aws_without_its_last_field_is_left_out_by_name(server, tmp_path):
    lines = AWS.splitlines(keepends=True)
    lines[6] = lines[6].rstrip(b"\n").rpartition(b",")[0] + b"\n"
    found = ask_aws(server, tmp_path, b"".join(lines))
    assert found.catalogue.why_without("p5.48xlarge") == "not as many fields as the heading has columns"


def test_a_price_of_0_of_aws_is_left_out_by_name(server, tmp_path):
    found = ask_aws(server, tmp_path, AWS.replace(b'"55.0400000000"', b'"0.0000000000"'))
    assert ("p5.48xlarge", "on_demand", "us-east-1") not in prices(found)
    assert "PricePerUnit is '0.0000000000'" in found.catalogue.why_without("p5.48xlarge")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (AWS[:-40], "its last line has no end, so the file is not whole"),
        (AWS.replace(b'"Publication Date"', b'"Day"'), "no 'Publication Date' in its first lines"),
        (AWS.replace(b'"Tenancy"', b'"Tenure"'), "column 'Tenancy' is missing"),
        (b"<html>", "answers a web page"),
    ],
)
def test_what_is_no_price_list_of_aws(server, tmp_path, body, told):
    with pytest.raises(UserError, match=told):
        ask_aws(server, tmp_path, body)


def test_contracts_of_aws_that_are_paid_by_the_hour(server, tmp_path):
    heading = AWS.splitlines(keepends=True)[5]
    names = [name.strip('"') for name in heading.decode().strip().split(",")]
    of_p5 = next(csv.DictReader(io.StringIO(AWS.decode().split("\n", 5)[5])))
    deal = of_p5 | {"TermType": "Reserved", "PurchaseOption": "No Upfront", "OfferingClass": "standard"}
    rows = [
        of_p5,
        deal | {"LeaseContractLength": "3yr", "PricePerUnit": "23.776"},
        deal | {"LeaseContractLength": "1yr", "PricePerUnit": "34.6"},
        deal | {"LeaseContractLength": "1yr", "PricePerUnit": "5.0", "OfferingClass": "convertible"},
        deal | {"LeaseContractLength": "1yr", "PricePerUnit": "6.0", "PurchaseOption": "Partial Upfront"},
        deal | {"LeaseContractLength": "1yr", "PricePerUnit": "7.0", "Unit": "Quantity"},
        deal | {"LeaseContractLength": "1yr", "PricePerUnit": "8.0", "Operating System": "Windows"},
    ]
    told = "".join(",".join(f'"{row[name]}"' for name in names) + "\n" for row in rows)
    server.routes[AWS_PATH] = Answer(b"".join(AWS.splitlines(keepends=True)[:6]) + told.encode())
    part = {"instances": {"a": "p5.48xlarge"}}
    contracts = {("reserved", 36.0): 23.776, ("reserved", 12.0): 34.6}
    for purchases, more in ((["on_demand"], {}), (["on_demand", "reserved"], contracts)):
        found = fetch("aws", "us-east-1", part | {"purchases": purchases}, server, tmp_path / str(len(more)))
        listed = {(entry.purchase, entry.term_months): entry.per_hour for entry in found.catalogue.listings}
        assert listed == {("on_demand", None): 55.04} | more


def azure_pages(*pages, counts=None):
    """The interface: items of the asked machine and region, each page with the link to the next."""

    def answer(query):
        condition = query["$filter"][0]
        at = int(query.get("$skip", ["0"])[0])
        here = [item for item in pages[at] if f"'{item['armSkuName']}'" in condition]
        link = None
        if at + 1 < len(pages):
            # As the original has it: its own host and port, whoever was asked.
            asked = f"$filter={condition.replace(' ', '%20')}&$skip={at + 1}"
            link = f"https://prices.azure.com:443/api/retail/prices?{asked}"
        content = {"BillingCurrency": "USD", "Items": here, "NextPageLink": link}
        content["Count"] = (counts or {}).get(at, len(here))
        return Answer(json.dumps(content).encode())

    return answer


def ask_azure(server, tmp_path, answer, **names):
    server.routes["/api/retail/prices"] = answer
    return fetch("azure", "eastus", {"instances": names or {"a": H100}}, server, tmp_path)


def test_of_azures_products_linux_on_demand_and_spot_are_taken(server, tmp_path):
    """Windows has the same meter name as Linux (102.736), and low priority is another product (41.094)."""
    found = ask_azure(server, tmp_path, azure_pages(AZURE))
    assert prices(found) == {(H100, "on_demand", "eastus"): 98.32, (H100, "spot", "eastus"): 18.169536}
    assert found.as_of == date(2026, 11, 22)
    (target,) = server.asked
    assert "armRegionName%20eq%20%27eastus%27" in target and "priceType%20eq%20%27Consumption%27" in target
    days = iter([DAY, DAY + timedelta(days=1)])  # asked around midnight: the older day is told
    server.routes["/api/retail/prices"] = azure_pages(AZURE[:2], AZURE[2:])
    late = fetch("azure", "eastus", {"instances": {"a": H100}}, server, tmp_path / "3", lambda: next(days))
    assert late.as_of == date(2026, 11, 22)
    server.asked.clear()
    # pages are followed on the host that was asked
    low = AZURE[0] | {"meterName": "ND96isrH100v5 Low Priority", "retailPrice": 1.0}
    assert prices(ask_azure(server, tmp_path / "1", azure_pages([low, *AZURE]))) == prices(found)
    paged = ask_azure(server, tmp_path / "2", azure_pages(AZURE[:2], AZURE[2:]))
    assert prices(paged) == prices(found) and (len(server.asked), len(paged.told)) == (3, 2)


def test_a_reservation_of_azure_is_spread_over_the_hours_of_its_term(server, tmp_path):
    """The item of Microsoft's documentation: 25,007 USD for a year of E64 v4, under the unit `1 Hour`."""
    year = next(item for item in AZURE if item["type"] == "Reservation")
    three = year | {"reservationTerm": "3 Years", "retailPrice": 52_560.0}
    broken = year | {"reservationTerm": "a while"}
    server.routes["/api/retail/prices"] = azure_pages([year, three, broken])
    asked = {"instances": {"a": "Standard_E64_v4"}, "purchases": ["reserved"]}
    found = fetch("azure", "southcentralus", asked, server, tmp_path)
    told = [(entry.purchase, entry.term_months, entry.per_hour) for entry in found.catalogue.listings]
    assert told == [("reserved", 12.0, pytest.approx(25007 / 365 / 24)), ("reserved", 36.0, pytest.approx(2.0))]
    (left,) = found.catalogue.left_out()
    assert left.endswith(", line 3: reservationTerm is 'a while'; expected 1 Year or 3 Years")
    (target,) = server.asked
    assert "priceType%20eq%20%27Reservation%27" in target


def test_azure_is_asked_for_both_where_both_are_wanted(server, tmp_path):
    server.routes["/api/retail/prices"] = azure_pages([])
    fetch("azure", "eastus", {"instances": {"a": "x"}, "purchases": ["on_demand", "reserved"]}, server, tmp_path)
    assert ["Reservation" in target for target in server.asked] == [False, True]


def test_azures_other_money_and_other_regions(server, tmp_path):
    """The item of Microsoft's documentation: F16s Spot in westeurope at 0.6176 EUR."""
    item = AZURE[-1] | {"productName": "Virtual Machines FS Series"}
    server.routes["/api/retail/prices"] = azure_pages([item, item | {"armRegionName": "eastus"}])
    found = fetch("azure", "westeurope", {"instances": {"a": "Standard_F16s"}}, server, tmp_path)
    ((entry,),) = [found.catalogue.listings]
    assert (entry.currency, entry.per_hour, entry.purchase, entry.place) == ("EUR", 0.6176, "spot", "westeurope")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (azure_pages(AZURE, counts={0: 100}), "4 of 100 prices came"),
        (Answer(b'{"Items": [{"retail'), "is no whole JSON"),
        (Answer(b'{"Message": "throttled"}'), "has no list 'Items'"),
        (lambda _: Answer(json.dumps({"Items": [], "NextPageLink": "https://x/api/retail/prices?$skip=1"}).encode()),
         "its pages do not end"),
    ],
)  # fmt: skip
def test_partial_answers_of_azure(server, tmp_path, answer, told):
    with pytest.raises(UserError, match=told):
        ask_azure(server, tmp_path, answer)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"retailPrice": 0.0}, "retailPrice is '0.0'; expected a number above 0, or nothing"),
        ({"retailPrice": None}, "retailPrice is ''; expected a number above 0"),
        ({"unitOfMeasure": "1/Month"}, "unitOfMeasure is '1/Month'; expected 1 Hour"),
        ({"isPrimaryMeterRegion": False, "retailPrice": 90.0}, ""),  # another region bills it: no price here
    ],
)
def test_a_price_of_azure_that_is_none_is_left_out_by_name(server, tmp_path, change, told):
    found = ask_azure(server, tmp_path, azure_pages([AZURE[0] | change])).catalogue
    assert found.listings == [] and found.why_without(H100) == told


def test_a_table_of_ones_own_as_a_file_and_at_an_address(server, tmp_path):
    text = "instance,per_hour,currency,source\nbox,1.25,EUR,by mail\n"
    (tmp_path / "mine.csv").write_text(text)
    own = fetch("csv", "mine", {"file": "mine.csv", "as_of": "2026-10-01", "instances": {"a": "box"}}, server, tmp_path)
    server.routes["/mine.csv"] = Answer(text.encode(), headers={"Last-Modified": "Fri, 02 Oct 2026 08:00:00 GMT"})
    far = fetch("csv", "far", {"url": f"{server.url}/mine.csv", "instances": {"a": "box"}}, server, tmp_path)
    assert (own.as_of, far.as_of) == (date(2026, 10, 1), date(2026, 10, 2))
    for found in (own, far):
        assert [(entry.per_hour, entry.currency) for entry in found.catalogue.listings] == [(1.25, "EUR")]
    with pytest.raises(UserError, match=r"no\.csv: No such file"):
        fetch("csv", "mine", {"file": "no.csv", "instances": {"a": "box"}}, server, tmp_path)
