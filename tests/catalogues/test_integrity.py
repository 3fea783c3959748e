"""What a catalogue says of devices, prices and currency is checked when it is imported, by real kinds of fault."""

import pytest
import yaml
from sweetspot.catalogues.readers import parse_catalogue
from sweetspot.commands.command_line import main
from sweetspot.transfer.device_names import device_of

SKYPILOT = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n"
GPUHUNT = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"


@pytest.fixture
def imported(tmp_path, capsys):
    """Import lines of a format: the YAML that is printed, and what is said on stderr."""

    def read(kind, text, what="prices", *more):
        file = tmp_path / "list.csv"
        file.write_text(text)
        main(["import-prices", kind, str(file), "--as-of", "2026-11-20", "--print", what, *more])
        printed, told = capsys.readouterr()
        return yaml.safe_load(printed), told

    return read


def info(name, mebibytes):
    return f"\"{{'Gpus': [{{'Name': '{name}', 'Count': 1, 'MemoryInfo': {{'SizeInMiB': {mebibytes}}}}}]}}\""


@pytest.mark.parametrize(
    ("name", "accelerator", "detail", "device"),
    [
        ("HX-1-80G", "H100", info("NVIDIA H100 PCIe", 81559), "H100 PCIe"),
        ("x", "H100", info("H100", 81920), "H100"),  # neither form is said
        ("x", "A100", "", "A100 40GB"),  # SkyPilot's A100 is the one with 40 GB
        ("x", "A100-80GB", info("NVIDIA A100 80GB PCIe", 81920), "A100 PCIe 80GB"),
        ("p4d.24xlarge", "A100", "", "A100 SXM 40GB"),  # by AWS
        ("Standard_NC24ads_A100_v4", "A100-80GB", "", "A100 PCIe 80GB"),  # by Azure
        ("Standard_NC40ads_H100_v5", "H100", "", "H100 NVL"),
        ("x", "RTX4090", "", "RTX 4090"),
        ("x", "H100-MEGA", "", "H100-MEGA"),
    ],
)
def test_the_device_is_named_as_the_other_commands_know_it(name, accelerator, detail, device):
    text = f"{SKYPILOT}{name},{accelerator},1,8,64,{detail},2.5,,US\n"
    (entry,) = parse_catalogue("skypilot", text.encode(), "file").listings
    assert device_of(entry) == device


def test_gpuhunt_tells_two_sizes_of_memory_apart():
    lines = "a,eu,1.1,8,64,1,A100,40.0,False,\nb,eu,1.5,8,64,1,A100,80.0,False,\n"
    found = parse_catalogue("gpuhunt", (GPUHUNT + lines).encode(), "file").listings
    assert [device_of(entry) for entry in found] == ["A100 40GB", "A100 80GB"]


def test_a_currency_that_nobody_states_is_said_to_be_assumed(imported):
    line = f"{SKYPILOT}L4-1-24G,L4,1,8,48,,0.75,,par-2\n"
    prices, told = imported("skypilot", line)
    assert prices["currency"] == "USD" and "currency" in told
    prices, told = imported("skypilot", line, "prices", "--currency", "EUR", "--rate", "EUR=1.14")
    assert prices["currency"] == "EUR" and told == ""


def test_findings_of_several_lines_are_said_once(imported):
    # 2.99 for 1, 2, 4 and 8 H100: eight would be 23.92
    lines = "".join(f"h100-{count}x,H100,{count},,,,2.99,,US\n" for count in (1, 2, 4, 8))
    _, told = imported("skypilot", SKYPILOT + lines)
    assert told.count("all cost 2.99") == 1
