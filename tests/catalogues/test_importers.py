"""Importers: output that the price list model accepts, faults named by file."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.study.price_list import load_price_list

HISTORY = Path(__file__).parent.parent / "data" / "spot_history.json"
SKYPILOT = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
    "p3.2xlarge,V100,1.0,8.0,61.0,\"{'Gpus': [{'Name': 'V100'}]}\",3.06,1.6227,us-east-1,us-east-1a\n"
    "p3.2xlarge,V100,1.0,8.0,61.0,V100,3.305,1.2,eu-west-1,eu-west-1a\n"
    ",V100,1.0,,,V100,2.48,0.74,us-central1,us-central1-a\n"
    "p4d.24xlarge,A100,8.0,96.0,1152.0,A100,32.7726,,us-east-1,us-east-1a\n"
)
# The same prices, columns in another order and one missing, as other clouds have them.
REORDERED = (
    "GpuInfo,Region,SpotPrice,Price,InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB\n"
    "V100,us-east-1,1.6227,3.06,p3.2xlarge,V100,1.0,8.0,61.0\n"
)
GPUHUNT = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,provider_data\n"
    "p3.2xlarge,us-east-1,3.06,8,61.0,1,V100,16.0,False,,nvidia,,x86,{}\n"
    "p3.2xlarge,us-east-1,1.2,8,61.0,1,V100,16.0,True,,nvidia,,x86,{}\n"
)
DAY = ("--as-of", "2022-06-01")


@pytest.fixture
def written(tmp_path, capsys):
    """What the command writes of a file's text, or of a file; a price list is read back through the model too."""

    def run(kind, source, *arguments):
        file = source if isinstance(source, Path) else tmp_path / "vms.csv"
        if not isinstance(source, Path):
            file.write_text(source)
        main(["import-prices", kind, str(file), *arguments])
        text = capsys.readouterr().out
        if "instances" not in arguments:
            (tmp_path / "list.yaml").write_text(text)
            load_price_list(tmp_path / "list.yaml")
        return text

    return run


def offers(text):
    return {(offer["instance"], offer["purchase"]): offer for offer in yaml.safe_load(text)["offers"]}


def test_history_becomes_a_price_list_of_the_end_of_its_window(written):
    text = written("aws-spot-history", HISTORY, "--end", "2018-06-11")
    assert offers(text)["p2.xlarge", "spot"]["per_hour"] == {"value": 0.31, "low": 0.3, "high": 0.4}
    assert yaml.safe_load(text)["as_of"] == date(2018, 6, 11)
    windows = written("aws-spot-history", HISTORY, "--product", "Windows", "--end", "2018-06-11")
    assert offers(windows)["p2.xlarge", "spot"]["per_hour"]["value"] == 0.7


@pytest.mark.parametrize("text", [SKYPILOT, REORDERED])
def test_skypilot_is_read_by_column_name(written, text):
    found = offers(written("skypilot", text, *DAY, "--zone", "us-east-1"))
    assert found["p3.2xlarge", "on_demand"]["per_hour"] == 3.06
    assert found["p3.2xlarge", "spot"]["per_hour"] == 1.6227
    assert ("p4d.24xlarge", "spot") not in found


def test_skypilot_takes_the_cheapest_place_without_a_zone_and_writes_instances_too(written):
    spot = offers(written("skypilot", SKYPILOT, *DAY))["p3.2xlarge", "spot"]
    assert (spot["per_hour"], spot["note"]) == (1.2, "eu-west-1a")
    machines = yaml.safe_load(written("skypilot", SKYPILOT, *DAY, "--provider", "aws", "--print", "instances"))
    assert (machines["p4d.24xlarge"]["gpus"], machines["p4d.24xlarge"]["vcpus"]) == (8, 96)


def test_gpuhunt_has_spot_as_a_row_of_its_own(written):
    found = offers(written("gpuhunt", GPUHUNT, *DAY))
    assert [found["p3.2xlarge", purchase]["per_hour"] for purchase in ("on_demand", "spot")] == [3.06, 1.2]


def test_prices_in_another_currency_come_with_their_rate(written):
    table = "instance,per_hour\nnode,0.516\n"
    words = ("--as-of", "2024-07-19", "--currency", "EUR")
    text = written("csv", table, *words, "--rate", "EUR=1.09", "--rate-source", "the bank")
    data = yaml.safe_load(text)
    assert data["rates"] == [{"currency": "EUR", "usd": 1.09, "as_of": date(2024, 7, 19), "source": "the bank"}]
    assert "&" not in text  # no anchors: the reader of price lists takes none
    assert data["currency"] == "EUR" and data["offers"][0]["per_hour"] == 0.516
    for rate, word in (("EUR", "'EUR'; expected a currency"), ("EUR=-1", "usd"), ("GBP=1.3", "a dated rate for EUR")):
        with pytest.raises(UserError, match=word):
            written("csv", table, *words, "--rate", rate)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("instance,price\np2.xlarge,1\n", ["'per_hour'", "missing"]),
        ("instance,per_hour,currency\np2.xlarge,1,EUR\n", ["EUR", "rates"]),
        ("instance,per_hour,currency\np2.xlarge,1,<b>\n", ["currency"]),
        ("", ["'instance'"]),
    ],
)
def test_a_faulty_table_is_named_by_line(written, text, words):
    with pytest.raises(UserError) as error:
        written("csv", text, *DAY)
    assert all(word in str(error.value) for word in words) and "\n" not in str(error.value)


def test_hostile_text_in_a_source_stays_text_and_a_catalogue_without_a_date_is_refused(written):
    source = '"<script>alert(1)</script>: {x: !!python/object:os.system}"'
    found = offers(written("csv", f"instance,per_hour,source\np2.xlarge,0.9,{source}\n", *DAY))
    assert found["p2.xlarge", "on_demand"]["source"].startswith("<script>")
    with pytest.raises(UserError, match="--as-of"):
        written("skypilot", SKYPILOT)
