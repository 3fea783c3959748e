"""Files that list only what is in stock: a machine is one of their lines by provider, device, board and size."""

from pathlib import Path

import pytest
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.catalogues.stock_files import stock_files

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
