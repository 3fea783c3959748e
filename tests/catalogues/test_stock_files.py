"""Files that list only what is in stock: a machine is one of their lines by provider, device, board and size."""

import json
from contextlib import nullcontext
from datetime import date
from pathlib import Path

import pytest
from price_server import Answer, serving
from sweetspot.catalogues.downloads import Downloads
from sweetspot.catalogues.listing import Fetched
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.catalogues.stock_files import fetch_lambda, looks_of, stock_files
from sweetspot.errors import UserError

SKYPILOT = Path(__file__).parents[1] / "data" / "skypilot"


@pytest.mark.parametrize(
    ("file", "machine", "listed"),
    [
        ("shadeform", ("hyperstack", "H100 PCIe", 8, "on_demand"), True),  # hyperstack_H100x8-NVLINK
        ("shadeform", ("hyperstack", "H100 SXM", 8, "on_demand"), False),
        ("shadeform", ("nebius", "H200", 8, "on_demand"), True),
        ("shadeform", ("nebius", "H200 SXM", 8, "spot"), False),
        ("shadeform", ("lambda", "A100 SXM 80GB", 1, "on_demand"), False),  # 40 GB is listed
        ("shadeform", ("lambda", "A100 SXM 40GB", 1, "on_demand"), True),
        ("shadeform", ("paperspace", "A100 SXM 80GB", 8, "on_demand"), True),
        ("shadeform", ("crusoe", "A100 PCIe 80GB", 1, "on_demand"), True),
        ("shadeform", ("imwt", "RTX A6000", 1, "on_demand"), True),
        ("verda", ("verda", "H100 SXM", 1, "on_demand"), True),
        ("verda", ("verda", "B200 SXM", 8, "spot"), True),
        ("verda", ("verda", "B200 SXM", 8, "on_demand"), False),  # its Price is empty: spot alone
        ("verda", ("verda", "RTX PRO 6000", 8, "spot"), True),
    ],
)
def test_a_machine_is_found_by_device_board_and_size(file, machine, listed):
    catalogue = read_skypilot(SKYPILOT / f"{file}_2026.csv")
    (asked,) = stock_files([machine], own_lambda=False).get(file, [None])
    found = asked is not None and any(asked[0].has(listing, machine) for listing in catalogue.listings)
    assert found == listed


def test_lambdas_own_interface_says_of_each_type_where_there_is_one(tmp_path):
    """A listing a region; a type without a region, and one whose name has no devices, has none."""
    types = {
        "gpu_8x_h100_sxm5": {"instance_type": {"price_cents_per_hour": 2392},
                             "regions_with_capacity_available": [{"name": "us-east-1"}, {"name": "us-west-1"}]},
        "gpu_1x_a10": {"instance_type": {"price_cents_per_hour": 75}, "regions_with_capacity_available": []},
        "cpu_4x_general": {"instance_type": {"price_cents_per_hour": 20},
                           "regions_with_capacity_available": [{"name": "us-east-1"}]},
    }  # fmt: skip
    with serving() as server:
        server.routes["/instance-types"] = Answer(json.dumps({"data": types}).encode())
        found = fetch_lambda(Downloads(tmp_path), server.url, "key")
    told = [(entry.gpu, entry.gpus, entry.per_hour, entry.place) for entry in found.catalogue.listings]
    assert told == [("h100_sxm5", 8, 23.92, "us-east-1"), ("h100_sxm5", 8, 23.92, "us-west-1")]
    machines = [("lambda", "H100 SXM", 8, "on_demand"), ("lambda", "A10", 1, "on_demand")]
    assert [look.in_stock for look in looks_of(found, stock_files(machines, own_lambda=True)[""])] == [False, True]


@pytest.mark.parametrize(("line", "whole"), [("x,1,2", False), ("x,none,1", True)])
def test_of_a_file_with_half_a_line_nothing_is_said(tmp_path, line, whole):
    file = tmp_path / "vms.csv"
    file.write_text(
        f"InstanceType,Price,vCPUs\nnebius_H200x8,1,1\n{line}\n" if whole else f"InstanceType,Price\n{line}\n"
    )
    fetched = Fetched(read_skypilot(file), "a file", date(2026, 9, 1), [])
    with nullcontext() if whole else pytest.raises(UserError, match=r"not as many fields .*; the file may be cut off"):
        list(looks_of(fetched, []))


def test_lambdas_machines_are_asked_of_its_interface_where_there_is_a_key():
    machines = [("lambda", "H100 SXM", 8, "on_demand"), ("nebius", "H200 SXM", 8, "on_demand")]
    for own, files in (
        (True, {"lambda": "", "nebius": "shadeform"}),
        (False, dict.fromkeys(("lambda", "nebius"), "shadeform")),
    ):
        asked = stock_files(machines, own_lambda=own)
        assert {machine[0]: file for file, rows in asked.items() for _, machine in rows} == files
