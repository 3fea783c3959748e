"""Lint of machines with several devices, and the unit that a refused price was probably meant in."""

from datetime import date

from price_lists import findings, price_list
from sweetspot.bills.lint.known import rent_of
from sweetspot.bills.lint.rules import BOUNDS
from sweetspot.study.instances import Instance

DAY = date(2026, 11, 20)


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


def test_a_known_machine_at_the_price_of_one_of_its_devices():
    # Azure asks 98.32 for eight: 12.29 each
    told = found(rental("Standard_ND96isr_H100_v5", 12.29, 8), provider="azure")
    assert "98.32" in told["known_machine"][0] and "12.29 a H100" in told["known_machine"][0]
    # 0.4 of a known price may be a contract or a cut: 39.33
    assert "known_machine" not in found(rental("Standard_ND96isr_H100_v5", 39.5, 8), provider="azure")
    assert "known_machine" in found(rental("Standard_ND96isr_H100_v5", 39.0, 8), provider="azure")


def test_the_factor_that_is_suggested_leads_to_what_the_device_costs():
    # 2,900 for 8 x H100 is 362.50 a device: in cents 3.63 (known 1.00 to 12.29), by the month (732 h) 0.50
    known = rent_of("h100", 2026)
    assert BOUNDS["per_hour"].meant(2900.0, 1 / 8, known) == "did you mean 29? (100 times less: cents)"
    # 2,190 for one H100 by the month is 2.99 an hour (/ 732); in cents 21.90
    assert BOUNDS["per_hour"].meant(2190.0, 1.0, known) == "did you mean 2.992? (732 times less)"
