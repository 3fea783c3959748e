"""Files that list only what is in stock: a machine is one of their lines by provider, device, board and size."""

import json
from pathlib import Path

import pytest
from price_server import Answer, serving
from sweetspot.catalogues.downloads import Downloads
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


LAMBDA_8, LAMBDA_1 = ("lambda", "H100 SXM", 8, "on_demand"), ("lambda", "A10", 1, "on_demand")
TYPES = {
    "gpu_8x_h100_sxm5": {"regions_with_capacity_available": [{"name": "us-west-1"}]},
    "gpu_1x_a10": {"regions_with_capacity_available": []},
    "cpu_4x_general": {"regions_with_capacity_available": [{"name": "us-west-1"}]},
}


def test_lambdas_own_interface_goes_before_the_files_of_others(tmp_path):
    other = ("nebius", "H200 SXM", 8, "on_demand")
    every = [LAMBDA_8, LAMBDA_1, other]
    (listed,) = stock_files(every, own_lambda=False).values()
    assert [machine for _, machine in listed] == [LAMBDA_1, LAMBDA_8, other]
    own = stock_files(every, own_lambda=True)
    assert [machine for _, machine in own["shadeform"]] == [other]
    with serving() as server:
        server.routes["/instance-types"] = Answer(json.dumps({"data": TYPES}).encode())
        found = fetch_lambda(Downloads(tmp_path), server.url, "k3y")
        assert server.agents[0]["Authorization"] == "Bearer k3y"
    looks = {look.gpu: look.in_stock for look in looks_of(found, own[""])}
    assert looks == {"H100 SXM": True, "A10": False}


@pytest.mark.parametrize("body", [b"{}", b"[]", b"no", b'{"data": {"gpu_1x_a10": {}}}', b'{"data": [1]}'])
def test_what_is_no_answer_of_lambdas_interface(tmp_path, body):
    with serving() as server, pytest.raises(UserError, match="has no types with 'regions_with_capacity_available'"):
        server.routes["/instance-types"] = Answer(body)
        fetch_lambda(Downloads(tmp_path), server.url, "k3y")
