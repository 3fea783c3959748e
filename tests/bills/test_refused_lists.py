"""What cannot be of a price list and the work beside it: one sentence with file, key and what is expected."""

from datetime import date
from pathlib import Path

import pytest
from price_lists import HEADING, list_tables, machines, price_list, works_of
from sweetspot.bills.checks import check_offers, check_owned, check_possible, check_workloads
from sweetspot.bills.pricing import price_tables
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList

WORK, LIST = Path("s/workloads.yaml"), Path("s/prices/list.yaml")
PLAN = {"kind": "plan", "model": "m", "instance": "x", "parallel": 1, "months": 12.0,
        "phases": [{"name": "a", "jobs": 1, "hours": 1.0}]}  # fmt: skip
TRAINING = {"kind": "training", "model": "m", "samples": 1.0, "devices_per_job": 2}
JOB = {"name": "a", "model": "m", "samples": 1.0, "per_month": 1, "devices_per_job": 1, "source": "x"}
MONTH = {"kind": "monthly", "months": 12, "have": ["x"], "jobs": [JOB]}
BOX = {"instance": "x", "purchase": "own",
       "own": {"capex": 0.0, "months": 36.0, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10.0}}  # fmt: skip


def deal(months):
    return {"instance": "x", "purchase": "reserved", "commitment": {"term_months": months, "per_hour": 1.0}}


@pytest.mark.parametrize(
    ("check", "work", "offer", "told"),
    [
        (check_workloads, PLAN, None, None),
        (check_workloads, PLAN | {"instance": "xx"}, None, "workloads.yaml: w.instance"),
        (check_workloads, {"kind": "runs", "runs": 1, "hours": 1.0, "instance": "xx"}, None, "w.instance"),
        (check_workloads, TRAINING, None, None),
        (check_workloads, TRAINING | {"devices_per_job": "all"}, None, None),
        (check_workloads, TRAINING | {"devices_per_job": 3}, None, "w.devices_per_job is 3; expected at most 2"),
        (check_workloads, MONTH, None, None),
        (check_workloads, MONTH | {"have": ["x", "xx"]}, None, "w.have[1]"),
        (check_owned, MONTH, None, None),
        (check_owned, MONTH | {"have": ["x", "xx", "xx"]}, None, "workloads.yaml: w.have names 'xx'; expected a"),
        (check_offers, PLAN, deal(12.0), None),
        (check_offers, PLAN | {"months": None}, deal(13.0), None),
        (check_offers, PLAN, deal(13.0), "list.yaml: offers[0].commitment.term_months is 13; expected at most the 12"),
        (check_offers, MONTH, deal(13.0), None),  # Below: 30.5 weeks, 213.5 days, are 7 months.
        (check_offers, PLAN | {"months": 7.0}, deal(6.0) | {"available_from_weeks": 30.5}, "after 7 months"),
        (check_offers, MONTH, BOX, None),
        (check_offers, MONTH | {"have": []}, BOX, "offers[0].own.capex is 0 for 'x'; expected its price"),
        (check_offers, MONTH | {"have": []}, BOX | {"own": BOX["own"] | {"capex": 1000.0}}, None),
    ],
)  # fmt: skip
def test_work_and_prices_that_do_not_fit(check, work, offer, told):
    works = works_of({"w": work})
    works, monthly = ({}, works) if work["kind"] == "monthly" else (works, {})
    known = {name: Instance(title="x", provider="p", gpu="g", gpus=gpus) for name, gpus in (("x", 2), ("y", 1))}
    if offer is not None:
        prices = price_list(offer)
        offers = list_tables(prices, machines(prices))[0]
    given = {
        check_workloads: lambda: (works, monthly, known, WORK),
        check_owned: lambda: (monthly, ["x"], WORK),
        check_offers: lambda: (works, monthly, offers, WORK, LIST),
    }[check]()
    if told is None:
        check(*given)
    else:
        with pytest.raises(UserError) as error:
            check(*given)
        assert len(error.value.sentences) == 1 and told in error.value.sentences[0]


def owned(**own):
    return BOX | {"own": BOX["own"] | own}


# An offer, its devices, and what is said of it.
EXTREMES = [
    ({"per_hour": 800.0}, 8, None), ({"per_month": 73_200.0}, 1, None),  # 100 an hour and device; 732 hours
    ({"per_hour": 801.0}, 8, "per_hour is 801 USD an hour for 8 x a card, which cannot be; 100 "),
    ({"per_hour": {"value": 1.0, "low": 0.009, "high": 1.0}}, 1, "per_hour is 0.009 USD"),
    ({"per_month": 73_201.0}, 1, "per_month is 100.0013"), ({"per_hour": 50.0, "currency": "XTS"}, 1, None),
    ({"per_hour": 50.1, "currency": "XTS"}, 1, "per_hour is 100.2 USD"),  # at 2 USD
    (owned(kw=8.0, capex=800_000.0, per_kwh=3.0), 2, None), (owned(kw=8.1), 2, "own.kw is 8.1"),
    (owned(capex=800_001.0), 2, "own.capex is 800,001"), (owned(per_kwh=3.01), 2, "own.per_kwh is 3.01"),
    (deal(12.0) | {"commitment": {"term_months": 12.0}}, 1, "commitment costs nothing"),
    ({"per_hour": 1.0, "until": "2999-12-31"}, 1, None), ({"per_hour": 1.0, "until": "2018-07-01"}, 1, None),
    ({"per_hour": 1.0, "until": "2018-06-30"}, 1, "until is 2018-06-30; expected no day before that of its price"),
    (owned() | {"available_from": "2018-06-30"}, 1, "available_from is before the day of its price, 2018-07-01"),
    ({"per_hour": 1.0, "purchase": "spot", "interruptions": {"per_hour": 2.0, "checkpoint_s": 3600, "source": "x"}}, 1,
     "interruptions are 2 an hour at 3600 s a checkpoint"),
    *(({"per_hour": 1.0, "trend": {"kind": "drift", "change_per_year": 0.1, "low": low}}, 1, told)
      for low, told in ((0.1, None), (0.2, "trend changes by 0.1 a year; expected low and high around it"))),
]  # fmt: skip


def test_purchases_powers_and_rents_that_no_machine_has():
    rates = [{"currency": "XTS", "usd": 2.0, "as_of": date(2018, 7, 1), "source": "bank"}]
    listed = [offer | {"instance": f"x{number}"} for number, (offer, *_) in enumerate(EXTREMES)]
    known = {f"x{number}": Instance(title="x", provider="p", gpu="a card", gpus=gpus)
             for number, (_, gpus, _) in enumerate(EXTREMES)}  # fmt: skip
    for number, gpu in enumerate(("CPU of some kind", "none")):  # whose hour may cost next to nothing
        listed.append({"instance": f"bare{number}", "per_hour": 0.001})
        known[f"bare{number}"] = Instance(title="x", provider="p", gpu=gpu, gpus=1)
    prices = PriceList.model_validate({**HEADING, "rates": rates, "offers": listed})
    with pytest.raises(UserError) as error:
        check_possible(price_tables(prices, "list", known, 30.5, date(2018, 7, 1))[2], LIST)
    expected = {number: told for number, (*_, told) in enumerate(EXTREMES) if told is not None}
    assert len(error.value.sentences) == len(expected)
    for number, told in expected.items():
        (sentence,) = (text for text in error.value.sentences if f"offers[{number}]." in text)
        assert told in sentence
