"""The plan's months as rows of FOCUS 1.4, dataset Cost and Usage, which a finance tool can hold beside the bill."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_parquet, to_arrow, write_csv
from sweetspot.study.titles import PROVIDERS
from sweetspot.use.plan_months import TABLES, PlanMonths, plan_of

OWN = "Own machines"
PRICING = {"spot": "Dynamic", "preemptible": "Dynamic"}
ROW_COLUMNS = (
    "BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart",
    "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "HostProviderName",
    "InvoiceIssuerName", "ListCost", "ListUnitPrice", "PricingCategory", "PricingQuantity", "PricingUnit", "ResourceId",
    "ResourceName", "ResourceType", "ServiceCategory", "ServiceName", "ServiceProviderName", "ServiceSubcategory",
    "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId",
)  # fmt: skip
"""All mandatory columns of 1.4 and those of prices, use and resources. USD. Possession is a recurring Purchase of each
month (a machine's price spread over the plan, as the study counts it), work is Usage in hours of machines. The four
costs are equal: a plan has no discount beside its price."""


def write_focus(tables: Path, study: str, title: str, as_of: str) -> None:
    """Write focus.csv beside the tables of a study; nothing where its answer is not of months. as_of: an ISO day."""
    try:
        plan = plan_of({name: read_parquet(tables / f"{name}.parquet") for name in TABLES}, study)
    except UserError:
        return
    write_csv(to_arrow(focus_rows(plan, study, title, date.fromisoformat(as_of))), tables / "focus.csv")


def focus_rows(plan: PlanMonths, study: str, title: str, as_of: date) -> pd.DataFrame:
    """ROW_COLUMNS of every month of the plan, from the month that follows `as_of`; of a last part of one its share."""
    first = pd.Timestamp(as_of).to_period("M") + 1
    rows = []
    for number in range(math.ceil(plan.months - 1e-9)):
        month, share = first + number, min(1.0, plan.months - number)
        times = [f"{moment:%Y-%m-%dT00:00:00Z}" for moment in (month.start_time, (month + 1).start_time)]
        period = {f"{kind}Period{end}": time for kind in ("Billing", "Charge")
                  for end, time in zip(("Start", "End"), times, strict=True)}  # fmt: skip
        account = {"BillingAccountId": study, "BillingAccountName": title, "BillingCurrency": "USD"}
        rows += [account | period | row for part in plan.parts.to_dict("records") for row in _of_part(part, share)]
    return pd.DataFrame(rows, columns=list(ROW_COLUMNS))


def _of_part(part: Mapping[Any, Any], share: float) -> Iterator[dict[str, Any]]:
    """The charges of one machine in a month: for having it, for its work."""
    known = isinstance(part["provider"], str) and part["purchase"] != "own"
    provider = PROVIDERS.get(part["provider"], part["provider"]) if known else OWN
    sku = f"{part['price_list']}/{part['instance']}/{part['purchase']}"
    details = {"InstanceType": part["instance"], "GpuCount": int(part["gpus"]), "x_Gpu": part["gpu"]}
    row = {
        "HostProviderName": provider, "InvoiceIssuerName": provider, "ServiceProviderName": provider,
        "ResourceId": part["option"], "ResourceName": part["title"], "ResourceType": "Machine",
        "ServiceCategory": "Compute", "ServiceName": "Machines for training", "ServiceSubcategory": "Virtual Machines",
        "SkuId": part["instance"], "SkuPriceDetails": json.dumps(details),
    }  # fmt: skip
    if part["usd_having"] > 0:
        yield row | _priced(part["usd_having"] * share, share) | {
            "ChargeCategory": "Purchase", "ChargeFrequency": "Recurring", "PricingCategory": "Standard",
            "PricingUnit": "Months", "SkuMeter": "Possession", "SkuPriceId": f"{sku}/month",
            "ChargeDescription": f"{part['instance']}: having it, whatever its use",
        }  # fmt: skip
    if part["hours"] > 0 or part["usd_using"] > 0:
        hours = part["hours"] * share
        yield row | _priced(part["usd_using"] * share, hours) | {
            "ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based", "ConsumedQuantity": hours,
            "ConsumedUnit": "Hours", "PricingCategory": PRICING.get(part["purchase"], "Standard"),
            "PricingUnit": "Hours", "SkuMeter": "Machine hours", "SkuPriceId": f"{sku}/hour",
            "ChargeDescription": f"{part['instance']}: work",
        }  # fmt: skip


def _priced(usd: float, quantity: float) -> dict[str, float]:
    price = usd / quantity if quantity > 0 else 0.0
    costs = dict.fromkeys(("BilledCost", "ContractedCost", "EffectiveCost", "ListCost"), usd)
    return costs | {"PricingQuantity": quantity, "ListUnitPrice": price, "ContractedUnitPrice": price}
