"""Money spent month by month on what is paid for whether it is used or not: machines owned, terms committed to."""

import math

import pandas as pd

from sweetspot.bills.money import to_usd
from sweetspot.bills.owning import cash_flow, own_numbers
from sweetspot.study.price_list import Offer, PriceList

CASH_COLUMNS = ("price_list", "instance", "purchase", "month", "usd", "cumulative_usd", "present_usd", "npv_usd")


def cash_table(name: str, prices: PriceList, month_days: float) -> pd.DataFrame:
    """CASH_COLUMNS of every machine owned and every term committed to, at the planned use; month 0 is the purchase.

    Spending is positive. `present_usd` is discounted to month 0 where the offer has a discount rate.
    """
    parts = []
    for offer in prices.offers:
        if offer.own is not None:
            numbers = own_numbers(offer.own, factor=to_usd(offer, prices)[0])
            flow = cash_flow(numbers, offer.own.discount_rate, offer.own.boxes, offer.own.downtime_share)
        elif offer.commitment is not None:
            flow = committed_flow(offer, prices, month_days)
        else:
            continue
        parts.append(flow.assign(price_list=name, instance=offer.instance, purchase=offer.purchase))
    kinds = dict.fromkeys(CASH_COLUMNS[:3], "string") | {"month": "int64"} | dict.fromkeys(CASH_COLUMNS[4:], "float64")
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(CASH_COLUMNS))
    return table[list(CASH_COLUMNS)].astype(kinds)


def committed_flow(offer: Offer, prices: PriceList, month_days: float) -> pd.DataFrame:
    """Columns as of `cash_flow`: upfront in month 0, then the monthly sum and the hours due until the term ends.

    Hours due are all of the month, or 24 x days of use where only hours used are charged. Not discounted.
    """
    deal, money = offer.commitment, to_usd(offer, prices)[0]
    use = offer.days_per_month or prices.days_per_month
    days = month_days if deal.charged == "always" or use is None else min(use.value, month_days)
    month = (deal.per_month.value + deal.per_hour.value * 24.0 * days) * money
    term = deal.term_months.value
    months = range(math.ceil(term - 1e-9) + 1)
    usd = [deal.upfront.value * money, *(month * min(1.0, term - (number - 1)) for number in months[1:])]
    table = pd.DataFrame({"month": list(months), "usd": usd})
    table["cumulative_usd"] = table["usd"].cumsum()
    return table.assign(present_usd=table["usd"], npv_usd=table["cumulative_usd"])
