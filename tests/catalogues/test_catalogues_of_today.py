"""Real lines of catalogues: sums of host and accelerators, bad lines named and left out, titles that are no names."""

import json
from pathlib import Path

import pytest
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

SKYPILOT = Path(__file__).parent.parent / "data" / "skypilot"
HEADING = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"


@pytest.fixture
def read(tmp_path):
    """Read a catalogue from its text."""

    def run(kind, text):
        (tmp_path / "file").write_text(text)
        return read_catalogue(kind, tmp_path / "file")

    return run


def prices(file: str) -> dict[tuple[str, str, str], tuple[float, str, int | None]]:
    """USD an hour, card and count by instance, place and purchase."""
    return {
        (entry.instance, entry.zone, entry.purchase): (entry.per_hour, entry.gpu, entry.gpus)
        for entry in read_catalogue("skypilot", SKYPILOT / file).listings
    }


def test_a_google_machine_costs_its_host_and_its_accelerators():
    found = prices("gcp_2026.csv")
    # 9.46006 + 78.37241, and 10.979 a card, as price surveys of 2024 have it; spot 2.15966 + 17.8848
    assert found["a3-highgpu-8g", "us-east4-a", "on_demand"] == (pytest.approx(87.83247), "H100", 8)
    assert found["a3-highgpu-8g", "us-east4-a", "spot"] == (pytest.approx(20.04446), "H100", 8)
    assert found["a3-highgpu-1g", "us-east4-a", "on_demand"] == (pytest.approx(1.18251 + 9.79655), "H100", 1)
    assert found["a3-megagpu-8g", "asia-northeast1-b", "on_demand"] == (pytest.approx(47.5401), "H100-MEGA", 8)
    # The host is free there, its price stands in the line of the accelerators.
    assert found["a4-highgpu-8g", "us-central1-b", "on_demand"] == (90.216, "B200", 8)
    assert found["c2-standard-16", "us-east4-a", "on_demand"] == (0.94058, "", None)


def test_a_machine_type_that_says_gpus_and_has_none_is_left_out_by_name():
    catalogue = read_catalogue("skypilot", SKYPILOT / "gcp_2026.csv")
    offered = {entry.instance for entry in catalogue.listings}
    assert {"a3-highgpu-8g", "c2-standard-16"} < offered
    for machine in ("a3-edgegpu-8g", "a3-ultragpu-8g"):
        assert machine not in offered
        assert catalogue.reason_without(machine) == f"{machine} says GPUs and its line has none"


COLUMNS = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,AvailabilityZone\n"


def test_googles_l4_machines_have_as_many_devices_as_its_table_says(tmp_path):
    """cloud.google.com, GPU machine types: 1 with 4, 8, 12, 16 and 32 vCPUs, 2 with 24, 4 with 48, 8 with 96."""
    file, sizes = tmp_path / "vms.csv", {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8}
    cards = [f",L4,{count},,,{10 * count},,z\n" for count in range(1, 10)]
    file.write_text(COLUMNS + "".join([*(f"g2-standard-{vcpus},,,{vcpus},16,1,,z\n" for vcpus in sizes), *cards]))
    found = {entry.instance: (entry.gpus, entry.per_hour) for entry in read_catalogue("skypilot", file).listings}
    assert found == {f"g2-standard-{vcpus}": (count, 1 + 10 * count) for vcpus, count in sizes.items()}


def test_a_machine_without_a_price_is_named_by_its_name_or_title(read, tmp_path):
    found = read("skypilot", f"{COLUMNS}p2.xlarge,,,4,61,0,,z\na box,,,4,16,-1,,z\na4-highgpu-8g,B200,8,2,4,9,,z\n")
    reasons = [found.reason_without(name) for name in ("p2.xlarge", "a box", "a4-highgpu-8g", "another")]
    assert reasons == ["no price above 0", "no price above 0", "", ""]
    assert found.skipped() == [f"{tmp_path / 'file'}, line 2 and 1 more: no price above 0"]


@pytest.mark.parametrize(
    ("file", "listed", "skipped"),
    [
        ("vast_2026.csv", 4, ["line 2 and 3 more: no price above 0"]),
        ("azure_2024.csv", 6, ["line 3: no price above 0"]),
        ("oci_2024.csv", 7, []),
        ("nebius_2026.csv", 23, []),
    ],
)
def test_a_bad_price_is_named_and_the_others_are_read(file, listed, skipped):
    catalogue = read_catalogue("skypilot", SKYPILOT / file)
    assert len(catalogue.listings) == listed
    assert catalogue.skipped() == [f"{SKYPILOT / file}, {text}" for text in skipped]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA A100 80GB PCIe", "NVIDIA-A100-80GB-PCIe"),
        ("custom:0:49CA322D5074468E99EF80A20EB47838", "custom-0-49CA322D5074468E99EF80A20EB47838"),
    ],
)
def test_a_name_with_spaces_is_a_title(read, name, slug):
    """Names as gpuhunt writes them for RunPod (`pod["id"]`), and FluidStack's."""
    (entry,) = read("gpuhunt", f"{HEADING}{name},EU-SE-1,1.64,8,117.0,1,A100,80.0,False,\n").listings
    assert (entry.instance, entry.title, entry.zone) == (slug, name, "EU-SE-1")


def test_one_card_and_eight_under_one_name_are_two_machines(read):
    rows = (f"NVIDIA H200,US,{3.59 * count:.2f},{12 * count},188.0,{count},H200,141.0,False,\n" for count in (1, 8))
    catalogue = read("gpuhunt", HEADING + "".join(rows))
    kept = {entry.instance: (entry.per_hour, entry.gpus, entry.title) for entry in catalogue.cheapest(None)}
    assert kept == {"1x-NVIDIA-H200": (3.59, 1, "1x NVIDIA H200"), "8x-NVIDIA-H200": (28.72, 8, "8x NVIDIA H200")}
    (one,) = catalogue.cheapest(None, ["1x-NVIDIA-H200"])
    assert one.per_hour == 3.59


def test_a_table_as_json(read):
    rows = [{"instance": "box", "per_hour": 1.25, "gpus": 8, "gpu": "H100"}, {"instance": "y", "per_hour": None}]
    catalogue = read("json", json.dumps(rows))
    assert [(entry.per_hour, entry.gpus) for entry in catalogue.listings] == [(1.25, 8)]
    assert catalogue.reason_without("y") == "no price above 0"
    for text in ("{}", "[1]", "no"):
        with pytest.raises(UserError, match="file: "):
            read("json", text)


GOOD = "good,1\n"
NO_NAMES = ["<b>x</b>", "'; rm -rf /", "...", "", "a;b c", '"a\nb"', "é b", f"a {'b' * 199}"]
NO_PRICES = ["", "0", "0.0", "-1", "nan", "two", '"1,500"']


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        *((f"{name},1", "no name of letters") for name in NO_NAMES),
        *((f"box,{price}", "no price above 0") for price in NO_PRICES),
        *((line, "not as many fields") for line in ("x,1,2", "x")),
    ],
)
def test_a_faulty_line_is_left_out_with_its_reason(read, line, fault):
    catalogue = read("csv", f"instance,per_hour\n{line}\n{GOOD}")
    assert [entry.instance for entry in catalogue.listings] == ["good"]
    assert f"line 2: {fault}" in catalogue.skipped()[0]


def test_an_offer_is_on_demand_or_spot(read):
    catalogue = read("gpuhunt", f"{HEADING}x,US,1,1,1,1,A100,1,perhaps,\ny,US,1,1,1,1,A100,1,,\n")
    assert [entry.instance for entry in catalogue.listings] == ["y"]
    assert "line 2: no purchase" in catalogue.skipped()[0]


@pytest.mark.parametrize(
    ("text", "count"), [("1", 1), (" 8.0 ", 8), ("0", None), ("0.33", None), ("1.5", None), ("-1", None), ("x", None)]
)
def test_a_named_device_needs_a_whole_number_of_it(read, text, count):
    catalogue = read("csv", f"instance,per_hour,gpu,gpus,vcpus\nbox,2,H100,{text},{text}\nplain,1,,{text},{text}\n")
    found = {entry.instance: (entry.gpus, entry.vcpus) for entry in catalogue.listings}
    assert found == {name: (count, count) for name in (("box", "plain") if count else ("plain",))}


def test_a_file_of_which_nothing_is_left_is_refused(tmp_path):
    file = tmp_path / "vms.csv"
    file.write_text("InstanceType,Price\np2.xlarge,0\np3.2xlarge,none\n")
    with pytest.raises(UserError, match="line 2: no price above 0"):
        read_catalogue("skypilot", file)
    file.write_text(f"instance,per_hour\n{GOOD}")
    with pytest.raises(UserError, match="no price is left"):
        main(["import-prices", "csv", str(file), "--as-of", "2026-09-01", "--only", "other"])
