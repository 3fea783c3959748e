"""A check of FOCUS rows by the specification's own columns and rules, which knows nothing of their writer."""

import csv
import io
import json
import re
from decimal import Decimal

import pytest

# FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec, specification/datasets/cost_and_usage/dataset.md: mandatory columns of
# 1.4, and those conditional or recommended ones that a plan may have; `null`: whether a cell may be empty.
MANDATORY = {
    "BilledCost": False, "BillingAccountId": False, "BillingAccountName": True, "BillingCurrency": False,
    "BillingPeriodEnd": False, "BillingPeriodStart": False, "ChargeCategory": False, "ChargeClass": True,
    "ChargeDescription": True, "ChargePeriodEnd": False, "ChargePeriodStart": False, "ContractedCost": False,
    "EffectiveCost": False, "HostProviderName": False, "InvoiceIssuerName": False, "ListCost": False,
    "PricingQuantity": True, "PricingUnit": True, "ServiceCategory": False, "ServiceName": False,
    "ServiceProviderName": False,
}  # fmt: skip
OTHERS = {
    "ChargeFrequency": False, "ConsumedQuantity": True, "ConsumedUnit": True, "ContractedUnitPrice": True,
    "ListUnitPrice": True, "PricingCategory": True, "ResourceId": True, "ResourceName": True, "ResourceType": True,
    "ServiceSubcategory": False, "SkuId": True, "SkuMeter": True, "SkuPriceDetails": True, "SkuPriceId": True,
}  # fmt: skip
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}, "ChargeClass": {"", "Correction"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "PricingCategory": {"Standard", "Dynamic", "Committed", "Other"}, "ServiceCategory": {"Compute"},
    "ServiceSubcategory": {"Containers", "End User Computing", "Quantum Compute", "Serverless Compute",
                           "Virtual Machines", "Other (Compute)"},
}  # fmt: skip
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
NUMBER = re.compile(r"-?\d+(\.\d+)?([Ee]-?\d+)?")


def against_the_specification(text: str) -> list[dict[str, str]]:
    """The rows of a CSV, each of which keeps the rules of the Cost and Usage dataset."""
    rows = list(csv.DictReader(io.StringIO(text)))
    model = MANDATORY | OTHERS
    assert set(MANDATORY) <= set(rows[0]) <= set(model)
    for row in rows:
        empty = {name for name, value in row.items() if not value}
        assert all(model[name] for name in empty), empty
        assert all(row[name] in allowed for name, allowed in ALLOWED.items()), row
        assert re.fullmatch("[A-Z]{3}", row["BillingCurrency"])
        for name in row:
            if name.endswith(("PeriodStart", "PeriodEnd")):
                assert TIME.fullmatch(row[name]), row[name]
            if name.endswith(("Cost", "Quantity", "UnitPrice")) and row[name]:
                assert NUMBER.fullmatch(row[name]), row[name]
        assert row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]
        _of_category(row)
    return rows


def _of_category(row: dict[str, str]) -> None:
    """What depends on ChargeCategory, Usage or Purchase, no correction."""
    assert all(row[name] for name in ("SkuId", "SkuPriceId", "PricingQuantity", "PricingUnit", "PricingCategory"))
    usage = row["ChargeCategory"] == "Usage"
    assert bool(row["ConsumedQuantity"]) == bool(row["ConsumedUnit"]) == usage
    assert usage or row["ChargeFrequency"] != "Usage-Based"
    # No charge covers another here: "EffectiveCost MUST match the BilledCost".
    assert row["EffectiveCost"] == row["BilledCost"]
    for cost, price in (("ListCost", "ListUnitPrice"), ("ContractedCost", "ContractedUnitPrice")):
        product = Decimal(row[price]) * Decimal(row["PricingQuantity"])
        assert float(product) == pytest.approx(float(row[cost]), rel=1e-12)
    details = json.loads(row["SkuPriceDetails"])
    assert {name for name in details if not name.startswith("x_")} <= {"InstanceType", "GpuCount"}
