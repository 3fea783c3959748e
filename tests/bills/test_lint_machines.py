"""Lint of machines with several devices: the price of one taken for all, counts against names, families."""

from datetime import date

import pytest
from price_lists import findings, price_list
from sweetspot.bills.lint.known import device_count, known_range
from sweetspot.study.instances import Instance

DAY = date(2026, 11, 20)
COUNTS = (1, 2, 4, 8)


def found(*rows, provider="a-cloud"):
    """{rule: [message, ...]} of rented machines; rows: name, device, count, USD an hour, purchase, vCPUs."""
    known, offers = {}, []
    for name, gpu, gpus, usd, purchase, vcpus in rows:
        known[name] = Instance(title=name, provider=provider, gpu=gpu, gpus=gpus, vcpus=vcpus)
        offers.append({"instance": name, "purchase": purchase, "per_hour": usd})
    told = {}
    for finding in findings(price_list(*offers, as_of=DAY), known, study_date=DAY):
        if finding.rule != "spot_terms":
            told.setdefault(finding.rule, []).append(finding.message)
    return told


def rental(name, usd, gpus=1, gpu="H100", purchase="on_demand", vcpus=None):
    return (name, gpu, gpus, usd, purchase, vcpus)


def test_a_price_that_does_not_grow_with_the_devices():
    # 2.99 for 1, 2, 4 and 8 H100: eight would be 23.92
    flat = [rental(f"h100-{count}x", 2.99, count) for count in COUNTS]
    told = found(*flat)
    assert len(told["flat_prices"]) == 4 and "all cost 2.99" in told["flat_prices"][0]
    assert "family_disagrees" not in told
    assert found(*[rental(f"h100-{count}x", 2.99 * count, count) for count in COUNTS]) == {}
    # the same on spot, and of a device that nobody knows
    assert "flat_prices" in found(*[rental(f"new-{n}x", 0.08, n, "a new card", "spot") for n in COUNTS])


def test_the_price_of_one_device_at_eight():
    # 2.99 / 8 = 0.374 a device, where 1.38 is the least of 2026 (1.00 of the years beside); 23.92 for all
    assert known_range("rent", "h100", 2026)[0] == 1.0
    (message,) = found(rental("orion", 2.99, 8))["price_of_one_device"]
    assert "0.3738 a H100" in message and "23.92" in message
    # half of the least known is still a price: 8 x 0.5 = 4.00
    assert "price_of_one_device" not in found(rental("orion", 4.01, 8))
    assert "price_of_one_device" in found(rental("orion", 3.99, 8))
    assert "price_of_one_device" not in found(rental("orion", 2.99, 8, purchase="spot"))


def test_the_price_of_eight_devices_at_one():
    # 23.92 / 8 = 2.99 is a price of an H100; 23.92 for one is above all known (12.29)
    assert "2.99 for one" in found(rental("orion", 23.92))["price_of_one_device"][0]
    assert found(rental("orion", 12.0)) == {}


def test_on_demand_equals_spot_everywhere():
    rows = [("h100.8x", "H100", 9.6), ("a100.8x", "A100-80GB", 6.4), ("h200.8x", "H200", 11.2)]
    both = [rental(name, usd, 8, gpu, purchase) for name, gpu, usd in rows for purchase in ("on_demand", "spot")]
    (message,) = found(*both)["on_demand_equals_spot"]
    assert "all 3 machines" in message
    assert "on_demand_equals_spot" not in found(*both[:-1], rental("h200.8x", 8.0, 8, "H200", "spot"))
    assert "on_demand_equals_spot" not in found(*both[:2])  # of one machine it may be chance


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("p5.48xlarge", 8), ("Standard_ND96isr_H100_v5", 8), ("Standard_NC80adis_H100_v5", 2),
        ("gpu_8x_h100_sxm5", 8), ("8x-H100_SXM-32-65536", 8), ("gpu-l40s-d_4gpu-128vcpu-768gb", 4),
        ("a2-highgpu-8g", 8), ("h100.8x", 8), ("h100-4x", 4), ("BM.GPU.A10.4", 4), ("hyperstack_H100x8-NVLINK", 8),
        ("digitalocean_H100-sxm5x8", 8), ("H100-2-80G", 2), ("2H200.141S.88V", 2),
        ("c5.4xlarge", None), ("box", None), ("n1-standard-8", None), ("crusoe_A100-80GB", None),
    ],
)  # fmt: skip
def test_names_that_say_how_many_devices(name, count):
    assert device_count(name) == count


def test_another_count_than_the_name_says():
    # 98.32 / 8 = 12.29 a device, not 98.32 / 16 = 6.145
    told = found(rental("p5.48xlarge", 98.32, 16), provider="aws")
    assert "12.29 each" in told["device_count_differs"][0]
    assert "device_count_differs" not in found(rental("p5.48xlarge", 55.04, 8), provider="aws")


def test_a_known_machine_at_the_price_of_one_of_its_devices():
    # Azure asks 98.32 for eight: 12.29 each
    told = found(rental("Standard_ND96isr_H100_v5", 12.29, 8), provider="azure")
    assert "98.32 for 8 x H100" in told["known_machine"][0]
    # 0.4 of a known price may be a contract or a cut: 39.33
    assert "known_machine" not in found(rental("Standard_ND96isr_H100_v5", 39.5, 8), provider="azure")
    assert "known_machine" in found(rental("Standard_ND96isr_H100_v5", 39.0, 8), provider="azure")


def test_a_family_that_disagrees_blames_nobody():
    # 1.90 a device once, 4.94 / 2 = 9.88 / 4 = 2.47 twice; which is wrong nobody can say
    rows = [rental("n12", 1.90, 1, "L40S", vcpus=12), rental("n24", 4.94, 2, "L40S", vcpus=24),
            rental("n48", 9.88, 4, "L40S", vcpus=48)]  # fmt: skip
    told = found(*rows)["family_disagrees"]
    assert len(told) == 3 and len(set(told)) == 1
    assert "1.9 (n12), 2.47 (n24), 2.47 (n48)" in told[0] and "which makes" not in told[0]
    # another shape has another price
    assert found((*rows[0][:5], 8), *rows[1:]) == {}
    # 12 % is what many providers give on large machines; of two machines 25 % (and half a cent)
    assert found(rental("a", 2.24, vcpus=8), rental("b", 4.0, 2, vcpus=16), rental("c", 8.0, 4, vcpus=32)) == {}
    assert found(rental("a", 2.27, vcpus=8), rental("b", 4.0, 2, vcpus=16), rental("c", 8.0, 4, vcpus=32)) != {}
    assert found(rental("a", 2.50, vcpus=8), rental("b", 4.0, 2, vcpus=16)) == {}
    assert found(rental("a", 2.51, vcpus=8), rental("b", 4.0, 2, vcpus=16)) != {}
