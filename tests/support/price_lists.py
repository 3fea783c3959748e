"""Price lists made in a test, as plain data, and the tables made of them as data frames."""

from datetime import date
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
from sweetspot.bills import pricing
from sweetspot.bills.costs import BILL_COLUMNS, COST_COLUMNS, EXTRAPOLATION_COLUMNS, PRICED_COLUMNS, price_cells
from sweetspot.bills.lint.rules import Finding, lint
from sweetspot.bills.offers import OFFER_COLUMNS, offers_in_usd
from sweetspot.bills.plans import PLAN_COLUMNS, plan_table
from sweetspot.bills.schemas import table_of, to_arrow_table
from sweetspot.study.base import validated
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.study.workloads import Workloads

STUDY_DATE = date(2018, 7, 1)
MONTH_DAYS = 30.5
HEADING = {"currency": "USD", "as_of": STUDY_DATE, "source": "this test"}


def price_list(*offers: dict, **keys) -> PriceList:
    prices = validated(PriceList, {**HEADING, **keys, "offers": list(offers)}, "list.yaml")
    check_together(prices, "list.yaml")
    return prices


def machines(prices: PriceList, **facts) -> dict[str, Instance]:
    plain = {"provider": "cloud", "gpu": "a card", "gpus": 1}
    return {
        offer.instance: Instance(title=offer.instance, **{**plain, **facts.get(offer.instance.replace("-", "_"), {})})
        for offer in prices.offers
    }


def cell(instance: str, images_per_s: float = 100.0, gpus: int = 1, **other) -> dict:
    """A VGG16 figure of `instance`."""
    return {
        "instance": instance, "framework": "tensorflow", "model": "vgg16", "batch_size": 64, "gpus": gpus,
        "precision": "fp16", "variant": "default", "images_per_s": images_per_s, "images_per_s_low": None,
        "images_per_s_high": None, "basis": "published", "status": "ok", "source": "this test", "gpu": "a card"
    } | other  # fmt: skip


def findings(prices: PriceList, known: dict[str, Instance], study_date: date = STUDY_DATE) -> list[Finding]:
    """What the lint of a whole list finds."""
    table, _ = offers_in_usd("list", prices, known, MONTH_DAYS)
    return [finding for finding in lint(prices, table, known, study_date) if finding.severity != "error"]


def offers(prices: PriceList, known: dict[str, Instance] | None = None) -> pd.DataFrame:
    """The offers table, by instance; without the lint, which takes ten times as long."""
    table, _ = offers_in_usd("list", prices, machines(prices) if known is None else known, MONTH_DAYS)
    table = table.assign(warnings=None, offer_ended=table["offer_until"].fillna("9") < STUDY_DATE.isoformat())
    return to_arrow_table(table, OFFER_COLUMNS).to_pandas().set_index("instance")


def list_tables(
    prices: PriceList, known: dict[str, Instance], energy: Energy | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Offers and fees of a list, as the bills have them."""
    return offers_in_usd("list", prices, known, MONTH_DAYS, energy)


def powered(
    prices: PriceList, cells: list[dict], energy: Energy | None, known: dict[str, Instance] | None = None, **work: dict
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Offers by instance, costs and bills of workloads, where a study declares `energy`."""
    declared = machines(prices) if known is None else known
    table, fees = list_tables(prices, declared, energy)
    costs, bills = price_cells(table_of(cells, PRICED_COLUMNS), table, fees, works_of(work), declared)
    told = to_arrow_table(table, OFFER_COLUMNS).to_pandas().set_index("instance")
    return told, to_arrow_table(costs, COST_COLUMNS).to_pandas(), to_arrow_table(bills, BILL_COLUMNS).to_pandas()


def works_of(workloads: dict[str, dict]) -> dict[str, Any]:
    """Workloads as workloads.yaml has them."""
    described = {name: work | {"source": "this test"} for name, work in workloads.items()}
    return validated(Workloads, described, "workloads.yaml").root


def priced(
    prices: PriceList, cells: list[dict], declared: dict[str, Instance] | None = None, **workloads: dict
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Costs and bills of `workloads` on `cells`; `declared`: the machines, where not those of the list."""
    table, fees = list_tables(prices, machines(prices) if declared is None else declared)
    costs, bills = price_cells(table_of(cells, PRICED_COLUMNS), table, fees, works_of(workloads), declared)
    return to_arrow_table(costs, COST_COLUMNS).to_pandas(), to_arrow_table(bills, BILL_COLUMNS).to_pandas()


def planned(prices: PriceList, cells: list[dict], known: dict[str, Instance], **workloads: dict) -> pd.DataFrame:
    """The plans among `workloads`."""
    table, fees = list_tables(prices, known)
    plans = plan_table(table_of(cells, PRICED_COLUMNS), table, fees, works_of(workloads), known)
    return to_arrow_table(plans, PLAN_COLUMNS).to_pandas()


def price_study(throughput, extrapolation: pd.DataFrame | None, *args, linted=False, **keys) -> dict[str, pd.DataFrame]:
    """`pricing.price_study` on data frames, with the lint, a quarter of the time, only where `linted`."""
    predicted = to_arrow_table(table_of([], EXTRAPOLATION_COLUMNS), EXTRAPOLATION_COLUMNS)
    if extrapolation is not None:
        predicted = pa.Table.from_pandas(extrapolation, preserve_index=False)
    figures = pa.Table.from_pandas(throughput, preserve_index=False)
    with patch.object(pricing, "lint", lint if linted else lambda *_: []):
        tables = pricing.price_study(figures, predicted, *args, **keys)
    return {name: table.to_pandas() for name, table in tables.items()}
