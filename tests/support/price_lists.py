"""Price lists made in a test: a heading, offers as plain data, machines that are all alike unless told."""

from datetime import date

import pandas as pd
from sweetspot.bills.offers import offers_table
from sweetspot.study.base import validated
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, check_together

STUDY_DATE = date(2018, 7, 1)
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


def offers(prices: PriceList, **facts) -> pd.DataFrame:
    return offers_table("list", prices, machines(prices, **facts), 30.5, STUDY_DATE).set_index("instance")
