"""The months of a study's answer: machines that it has and rents, their hours and USD, also as FOCUS 1.4."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.errors import UserError
from sweetspot.files import read_parquet, to_arrow, write_csv
from sweetspot.study.titles import PROVIDERS
from sweetspot.wording import DISPATCH

TABLES = ("verdict", "choices", "sources", "options")
MACHINE = ("option", "instance", "purchase", "price_list", "provider", "gpu", "gpus")
PART_COLUMNS = (*MACHINE, "title", "held", "hours", "device_hours", "usd_having", "usd_using")
RENTED = "rented"
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


class PlanMonths(NamedTuple):
    """What a study plans in a mean month of its answer's work.

    parts: a row a machine, in PART_COLUMNS: `held` whether it is there or paid by the month, `hours` of machines and of
    their devices, `usd_having` whatever the use, `usd_using`. usd, usd_low, usd_high: a month, with 90 %; their sum is
    `usd`. choice, title: of the verdict; work: name of the workload.
    """

    work: str
    choice: str
    title: str
    months: float
    usd: float
    usd_low: float
    usd_high: float
    parts: pd.DataFrame


def read_plan(results: Path, study: str) -> PlanMonths:
    """The plan of results/<study>/. Raises UserError where there is none, or none of months."""
    files = {name: results / "comparison" / f"{name}.parquet" for name in TABLES}
    for file in files.values():
        if not file.is_file():
            raise UserError(f"{file}: is not there; make it first: snakemake --cores all --config study={study}")
    return plan_of({name: read_parquet(file) for name, file in files.items()}, study)


def plan_of(tables: Mapping[str, pd.DataFrame], study: str) -> PlanMonths:
    """The plan by the tables of a comparison. Raises UserError where its answer is not of months."""
    verdict = tables["verdict"]
    answers = verdict[verdict["is_answer"].astype(bool)] if len(verdict) else verdict
    if answers.empty:
        raise UserError(f"study {study} has no answer: nothing does the work; expected a plan of months")
    told = answers.iloc[0]
    if pd.isna(told["months"]):
        raise UserError(f"study {study} answers for one job; expected a workload of months (kind: monthly or plan)")
    choices = tables["choices"]
    best = choices[(choices["workload"] == told["workload"]) & (choices["choice"] == told["best"])].iloc[0]
    of_mix = best["cost"] == DISPATCH
    parts = _of_mix(tables, best) if of_mix else _of_machine(tables, best)
    usd, low, high = (float(best[f"usd_per_month{end}"]) for end in ("", "_low", "_high"))
    months, title = float(told["months"]), str(told["best_title"])
    return PlanMonths(str(told["workload"]), str(told["best"]), title, months, usd, low, high, parts)


def _of_mix(tables: Mapping[str, pd.DataFrame], best: pd.Series) -> pd.DataFrame:
    """Of work in classes: every machine of the mix that works or is had."""
    sources = tables["sources"]
    rows = sources[(sources["workload"] == best["workload"]) & (sources["mix"] == best["choice"])]
    made = rows.merge(_machines(tables), on="option", how="left", validate="one_to_one")
    having = made["fixed_usd_per_month"].fillna(0.0)
    made = made.assign(held=made["kind"] != RENTED, usd_having=having, usd_using=made["usd_per_month"] - having,
                       hours=made["device_hours"] / made["gpus"])  # fmt: skip
    worked = made[(made["device_hours"] > 0) | (made["usd_per_month"] > 0)]
    return worked[list(PART_COLUMNS)].reset_index(drop=True)


def _of_machine(tables: Mapping[str, pd.DataFrame], best: pd.Series) -> pd.DataFrame:
    """Of a plan of phases, or of one job a month: all on one machine."""
    machines = _machines(tables)
    mine = machines[(machines["instance"] == best["instance"]) & (machines["purchase"] == best["purchase"])]
    mine = mine[mine["price_list"] == best["price_list"]].head(1)
    having = 0.0 if pd.isna(best["usd_possession"]) else float(best["usd_possession"]) / best["months"]
    devices = float(best["device_hours"]) / best["months"]
    return mine.assign(
        title=best["title"], held=having > 0, device_hours=devices, hours=devices / mine["gpus"],
        usd_having=having, usd_using=float(best["usd"]) / best["months"] - having,
    )[list(PART_COLUMNS)].reset_index(drop=True)  # fmt: skip


def _machines(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What the options say of each machine; `gpus`: its devices."""
    rows = tables["options"].sort_values("gpus", ascending=False, kind="stable")
    return rows.drop_duplicates("option")[list(MACHINE)]


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
