"""Lint of single offers: faults of real tables found unprompted, and prices just inside and just outside each bound."""

from datetime import date
from pathlib import Path

import pytest
from price_lists import findings, machines, offers, price_list
from project_copy import ROOT
from sweetspot.bills.lint.known import known_range
from sweetspot.bills.lint.rules import unit_mistake
from sweetspot.commands.command_line import main
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import load_price_list
from sweetspot.warnings import pairs

DATA = Path(__file__).parent.parent / "data"
STUDY = ROOT / "config" / "studies" / "parkopedia-2018"
EURO = {"currency": "XTS", "as_of": "2018-06-01", "source": "bank"}
NEVER = {"per_hour": 0.0, "checkpoint_s": 60.0, "restore_s": 60.0, "source": "this test"}
ONE = {"instance": "x", "per_hour": 1.0}


def rules(*listed, **keys):
    """The rules of what a list raises, of the list and of its offers."""
    prices = price_list(*listed, **keys)
    return sorted({finding.rule for finding in findings(prices, machines(prices))})


@pytest.mark.parametrize(
    ("name", "rule", "count", "words"),
    [
        ("gce", "per_vcpu", 1, ["GCE_1xK80", "n1-standard-4", "0.04", "0.0475", "0.49"]),
        ("aws-spot", "discount_is_fraction_paid", 9, ["69%", "31%"]),  # in every row of the table of 2018
        ("office-box", "text_against_table", 1, ["1.3 an hour", "1.1028"]),
        ("aws-on-demand", None, 0, []),
    ],
)
def test_lists_of_the_2018_study_as_the_workflow_lints_them(name, rule, count, words):
    known = load_instances(STUDY / "instances.yaml")
    found = findings(load_price_list(STUDY / "prices" / f"{name}.yaml"), known)
    warned = [entry for entry in found if entry.severity == "warning"]
    assert [entry.rule for entry in warned] == [rule] * count
    assert all(word in f"{warned[0].instance} {warned[0].message}" for word in words)


def test_dawnbenchs_swapped_prices_are_found_and_put_right_are_silent(capsys, tmp_path):
    """The source exchanged 4.56 (g3.16xlarge) and 7.20 (p2.8xlarge: 8 x 0.90): the family of p2 disagrees."""
    command = ["--as-of", "2018-04-20", "--provider", "aws", "--currency", "USD"]
    main(["import-prices", "csv", str(DATA / "dawnbench_prices.csv"), *command])
    remarks = capsys.readouterr().err
    assert "0.57 (p2.8xlarge), 0.9 (p2.xlarge)" in remarks
    assert "p3." not in remarks and "swapped" not in remarks
    text, file = (DATA / "dawnbench_prices.csv").read_text(), tmp_path / "prices.csv"
    file.write_text(text.replace(",7.2,", ",X,").replace(",4.56,", ",7.2,").replace(",X,", ",4.56,"))
    main(["import-prices", "csv", str(file), *command])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("offer", "keys", "told"),
    [
        # the list is of June 1, the study of July 1: 30 days
        (ONE, {"as_of": date(2018, 6, 1), "max_age_days": 30}, []),
        (ONE, {"as_of": date(2018, 6, 1), "max_age_days": 29}, ["stale"]),
        # a price may be a week younger than the study
        (ONE, {"as_of": date(2018, 7, 8)}, []),
        (ONE, {"as_of": date(2018, 7, 9)}, ["future_date"]),
        # an offer holds on its last day
        (ONE | {"until": "2018-07-01"}, {"as_of": date(2018, 6, 1)}, []),
        (ONE | {"until": "2018-06-30"}, {"as_of": date(2018, 6, 1)}, ["expired"]),
        # a rate may be a month older or younger: 31 days before July 1 is May 31, 31 days after August 1
        *((ONE, {"currency": "XTS", "rates": [EURO | {"usd": 1.2, "as_of": day}]}, told) for day, told in (
            ("2018-05-31", []), ("2018-05-30", ["stale_rate"]), ("2018-08-01", []), ("2018-08-02", ["stale_rate"]))),
        *((ONE, {"source": source}, ["missing_source"]) for source in ("unknown", "- TODO -", "n/a")),
        (ONE, {"source": "unknown to most"}, []),
        # reserved may cost what on demand does
        (ONE | {"purchase": "reserved", "on_demand_per_hour": 1.0}, {}, []),
        (ONE | {"purchase": "reserved", "on_demand_per_hour": 0.99}, {}, ["reserved_above_on_demand"]),
        # an hour is printed to the cent
        ({"instance": "x", "per_hour": 0.5, "printed": {"per_hour": 0.505}}, {}, []),
        ({"instance": "x", "per_hour": 0.5, "printed": {"per_hour": 0.508}}, {}, ["text_against_table"]),
        # what is printed in euro is held against the price in euro, whatever the ends of the rate
        ({"instance": "x", "per_hour": 2.0, "printed": {"per_day": 48.0}},
         {"currency": "XTS", "rates": [EURO | {"usd": {"value": 1.2, "low": 1.0, "high": 1.5}}]}, []),
    ],
)  # fmt: skip
def test_an_offer_at_its_bounds(offer, keys, told):
    assert rules(offer, **keys) == told


def spot(usd, **more):
    return {
        "instance": "x",
        "purchase": "spot",
        "per_hour": usd,
        "on_demand_per_hour": 1.0,
        "interruptions": NEVER,
    } | more


@pytest.mark.parametrize(
    ("usd", "said", "told"),
    [
        (1.0, None, ["spot_loses"]), (1.01, None, ["spot_above_on_demand", "spot_loses"]),
        (0.08, None, []), (0.079, None, ["spot_far_below"]),
        # 0.70 USD of 1.00: a discount of 30 %, 70 % paid; either a per cent off is rounding
        (0.7, 0.3, []), (0.7, 0.31, []), (0.7, 0.29, []), (0.7, 0.315, ["text_against_table"]),
        (0.7, 0.71, ["discount_is_fraction_paid"]), (0.7, 0.69, ["discount_is_fraction_paid"]),
        (0.7, 0.715, ["text_against_table"]), (0.7, 0.5, ["text_against_table"]),
    ],
)  # fmt: skip
def test_spot_between_nothing_and_on_demand_and_its_printed_discount(usd, said, told):
    assert rules(spot(usd, **({} if said is None else {"printed": {"discount": said}}))) == told


def test_spot_without_terms_of_interruption_is_noted_once_even_if_the_list_has_them():
    bare = {key: value for key, value in spot(0.5).items() if key != "interruptions"}
    assert rules(bare) == ["spot_terms"]
    assert rules(bare, interruptions=NEVER) == []


@pytest.mark.parametrize(
    ("unit", "value"), [("per_hour", 2.0), ("per_day", 48.0), ("per_week", 336.0), ("per_month", 1464.0)]
)
def test_what_a_text_prints_is_a_thousandth_or_half_a_cent_off_at_most(unit, value):
    # 2 USD an hour: 24, 168 and 24 x 30.5 of them
    for off, told in ((1.0009, False), (1.0011, True), (0.9991, False), (0.9989, True)):
        far = abs(off - 1) * value > 0.00505
        printed = {"instance": "x", "per_hour": 2.0, "printed": {unit: value * off}}
        assert rules(printed) == ["text_against_table"] * (told and far)


def test_use_that_does_not_earn_a_commitment_and_interruptions_that_eat_a_discount():
    # 1200 / 12 + 0.1 x 732 = 173.2 USD a month, over 24 x 5 hours 1.443 an hour; 0.9 from 8.02 days on
    deal = {"term_months": 12, "upfront": 1200, "per_hour": 0.1}
    rented, reserved = {"instance": "x", "per_hour": 0.9}, {"instance": "x", "purchase": "reserved", "commitment": deal}
    on_demand, idle = offers(price_list(rented, reserved, days_per_month=5))["warnings"].map(pairs)
    assert on_demand == []  # the machine is the same; its on-demand price needs no warning
    assert [pair.rule for pair in idle] == ["not_earned"] and "1.443 an hour, on demand 0.9" in idle[0].message
    # 240 USD a month for nothing by the hour, against 1 USD an hour: 10 days; 735 are more than 732 hours
    for month, days, is_idle in ((240.0, 10.1, False), (240.0, 9.9, True), (735.0, 30.5, True)):
        deal = {"term_months": 12, "per_month": month}
        committed = {"instance": "x", "purchase": "reserved", "commitment": deal, "on_demand_per_hour": 1.0}
        found = pairs(offers(price_list(committed, days_per_month=days))["warnings"].iloc[0])
        assert [pair.rule for pair in found] == ["not_earned"] * is_idle
    (eaten,) = pairs(offers(price_list(spot(1.0, on_demand_per_hour=1.5, interruptions=NEVER | {
        "per_hour": 2.0, "checkpoint_s": 600, "restore_s": 600})))["warnings"].iloc[0])  # fmt: skip
    assert eaten.rule == "spot_loses" and "dearer than on demand" in eaten.message


# --- machines owned -------------------------------------------------------------------------------------------------

BOX = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}


def said(gpu="GTX 1080 Ti", gpus=4, **keys):
    """Messages by rule about one owned machine."""
    known = {"box": Instance(title="box", provider="own", gpu=gpu, gpus=gpus)}
    prices = price_list({"instance": "box", "purchase": "own", "own": BOX | keys})
    return {one.rule: one.message for one in findings(prices, known)}


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        # four of 250 W: 4 x 0.2 x 250 = 200 W at least, 4 x 2 x 250 + 600 = 2,600 W at most
        ({"kw": 0.2}, None), ({"kw": 0.199}, "own_power"), ({"kw": 2.6}, None), ({"kw": 2.61}, "own_power"),
        ({"kw": 0}, None),
        ({"per_kwh": 0.02}, None), ({"per_kwh": 0.019}, "own_electricity"),
        ({"per_kwh": 1.0}, None), ({"per_kwh": 1.01}, "own_electricity"), ({"per_kwh": 0}, None),
        ({"months": 6}, None), ({"months": 5.9}, "own_months"),
        ({"months": 120}, None), ({"months": 121}, "own_months"),
        ({"days_per_month": 1}, None), ({"days_per_month": 0.99}, "own_days"),
    ],
)  # fmt: skip
def test_an_amount_at_its_bound_and_beyond(keys, rule):
    assert set(said(**keys)) == ({rule} if rule else set())


def test_what_is_paid_in_other_money_is_held_in_dollars_at_its_central_rate():
    """0.85 for a kWh at 1.25 USD (1.00 to 1.50) is 1.0625 USD."""
    known = {"box": Instance(title="box", provider="own", gpu="GTX 1080 Ti", gpus=4)}
    rates = [EURO | {"usd": {"value": 1.25, "low": 1.0, "high": 1.5}}]
    least = 4 * 0.4 * known_range("buy", "gtx1080ti")[0]  # what four cost at the least
    listed = {"instance": "box", "purchase": "own", "own": BOX | {"per_kwh": 0.85, "capex": (least + 1) / 1.25}}
    told = {one.rule: one.message for one in findings(price_list(listed, currency="XTS", rates=rates), known)}
    assert set(told) == {"own_electricity"} and "1.0625 USD" in told["own_electricity"]


def test_the_end_of_a_range_that_is_beyond_is_named():
    assert "for 5 months" in said(months={"value": 30, "low": 5, "high": 40})["own_months"]
    assert "for 130 months" in said(months={"value": 30, "low": 6, "high": 130})["own_months"]
    assert "0.5 days" in said(days_per_month={"value": 10, "low": 0.5, "high": 12})["own_days"]


def test_a_purchase_at_its_bounds():
    """0.4 of the cheapest known to 4 times the dearest and 5,000 USD for the host, a device."""
    low, high = known_range("buy", "gtx1080ti")
    least, most = 4 * 0.4 * low, 4 * 4 * high + 5000
    assert said(capex=least + 1) == said(capex=most - 1) == {}
    assert set(said(capex=least - 1)) == set(said(capex=most + 1)) == {"own_purchase"}


def test_of_an_unknown_device_anything_that_there_is():
    assert said("new", 2, kw=10, capex=100) == said("new", 2, kw=0.001, capex=600_000) == {}
    beyond = {"own_power", "own_purchase"}
    assert set(said("new", 2, kw=10.1, capex=99)) == set(said("new", 2, kw=10.1, capex=600_100)) == beyond


@pytest.mark.parametrize(
    ("gpu", "gpus", "keys"),
    [
        ("GTX 1080 Ti", 1, {"capex": 2500, "kw": 0, "per_kwh": 0}),  # power not told
        ("H100 SXM", 8, {"capex": 285_000, "kw": 10.2, "per_kwh": 0.12}),  # a server of 2026
        ("B200", 8, {"capex": 515_000, "kw": 14.3, "per_kwh": 0.12}),
        ("RTX PRO 6000 Blackwell", 4, {"capex": 65_000, "kw": 3.2, "months": 60}),
        ("a card of 2030", 2, {"capex": 20_000, "kw": 2.5, "days_per_month": 30}),
    ],
)
def test_real_machines_raise_nothing(gpu, gpus, keys):
    assert said(gpu, gpus, **keys) == {}


@pytest.mark.parametrize(
    ("printed", "told"),
    [({"per_hour": 1.1}, []), ({"per_month": 264.0}, []), ({"per_month": 264.3}, ["text_against_table"]),
     ({"per_hour": 1.13}, ["text_against_table"])],
)  # fmt: skip
def test_what_is_printed_of_an_owned_machine_is_of_its_planned_use(printed, told):
    # 240 USD a month over 240 h and 0.1 USD of power: 1.1 USD an hour, 264 a month
    own = {"capex": 7200.0, "months": 30.0, "kw": 1.0, "per_kwh": 0.1, "days_per_month": 10.0}
    found = rules({"instance": "x", "purchase": "own", "own": own, "printed": printed})
    assert [rule for rule in found if rule == "text_against_table"] == told


@pytest.mark.parametrize(
    ("value", "low", "high", "factors", "meant"),
    [
        (450.0, 0.02, 4.0, [1000], "1000 times too much"),  # W for kW
        (5000.0, 0.02, 4.0, [1000], ""),  # a thousandth of it is too much as well
        # 2,900 USD for 8 x H100 is 362.50 a device: in cents 3.63, by the month 0.50
        (362.5, 1.0, 12.29, [730, 100], "100 times too much (cents)"),
        (2190.0, 1.0, 12.29, [100, 730], "730 times too much (the price of a month)"),
        (0.04, 1.0, 12.29, [100], "100 times too little"),
    ],
)
def test_the_mistake_that_is_named_leads_into_what_is_known(value, low, high, factors, meant):
    text = unit_mistake(value, low, high, factors)
    assert meant in text if meant else text == ""


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        # A GTX 1080 Ti costs 699 to 1,300 USD: four sell for at most 4 x 4 x that and 5,000 for the host.
        ({"sell_for": 2000.0}, None), ({"sell_for": 200_000.0}, "own_resale"),
        ({"staff_hours_per_month": 1, "staff_per_hour": 500}, None),
        ({"staff_hours_per_month": 1, "staff_per_hour": 60_000}, "own_staff"),
    ],
)  # fmt: skip
def test_resale_in_cents_and_care_by_the_year_are_asked_about(keys, rule):
    assert set(said(**keys)) == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("deal", "is_far"),
    [
        # An H100 was rented at 1.00 to 12.29 USD about 2026; within 0.25 to 49.16 nothing is remarkable.
        ({"per_hour": 49.0}, False), ({"per_hour": 179.0}, True), ({"per_hour": 0.2}, True),
        # 200 million for 12 months of 732 hours: 22,769 an hour. 17,568 are 2 an hour.
        ({"upfront": 200e6}, True), ({"upfront": 17_568.0}, False), ({"per_month": 1464.0}, False),
    ],
)  # fmt: skip
def test_a_commitment_is_held_against_the_rents_of_its_device(deal, is_far):
    known = {"x": Instance(title="x", provider="cloud", gpu="H100", gpus=1)}
    committed = {"instance": "x", "purchase": "committed", "commitment": {"term_months": 12} | deal}
    found = findings(price_list(committed, as_of=date(2026, 6, 1)), known, date(2026, 6, 1))
    assert [finding.rule for finding in found] == ["market_level"] * is_far
