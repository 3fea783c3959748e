"""Lint of prices: faults of real tables found unprompted, and prices just inside and just outside each bound."""

from datetime import date
from pathlib import Path

import pytest
from price_lists import MONTH_DAYS, STUDY_DATE, findings, machines, price_list
from project_copy import ROOT
from sweetspot.bills.lint.known import device_count, device_key, list_range, price_range
from sweetspot.bills.lint.rules import unit_mistake
from sweetspot.bills.pricing import price_tables
from sweetspot.commands.command_line import main
from sweetspot.study.instances import Instance, load_instances
from sweetspot.study.price_list import load_price_list
from sweetspot.warnings import pairs

DATA = Path(__file__).parent.parent / "data"
STUDY = ROOT / "config" / "studies" / "parkopedia-2018"
WIDE = {"value": 1.0, "low": 0.2, "high": 4.0}
TWO = {"machine": {"name": "host", "per_hour": 1.0}, "gpu": {"name": "card", "per_hour": 1.0}, "count": 2}
NEVER = {"per_hour": 0.0, "checkpoint_s": 60.0, "restore_s": 60.0, "source": "this test"}


def messages(prices, known, day=None):
    """{(machine, rule): messages} of the findings of a list at its own date, or at another."""
    told = {}
    for entry in findings(prices, known, study_date=day or prices.as_of):
        told.setdefault((entry.instance, entry.rule), []).append(entry.message)
    return told


def rules_by_machine(cases, **keys):
    """The rules that each offer raises; no two offers are of one device, so that none is held against another."""
    listed = [{"instance": name, "per_hour": 1.0} | offer for name, (offer, _) in cases.items()]
    for offer in listed:
        if offer.keys() & {"commitment", "own", "compose"}:
            del offer["per_hour"]
    known = {name: Instance(title=name, provider="cloud", gpu=f"card {name}", gpus=1) for name in cases}
    told = messages(price_list(*listed, **keys), known, date(2018, 7, 1))
    return {name: sorted(rule for machine, rule in told if machine == name) for name in cases}


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
    assert "p2.xlarge" in remarks and "p2.8xlarge" in remarks and "p3." not in remarks
    text, file = (DATA / "dawnbench_prices.csv").read_text(), tmp_path / "prices.csv"
    file.write_text(text.replace(",7.2,", ",X,").replace(",4.56,", ",7.2,").replace(",X,", ",4.56,"))
    main(["import-prices", "csv", str(file), *command])
    assert capsys.readouterr().err == ""


def spot(usd, **more):
    return {"purchase": "spot", "per_hour": usd, "on_demand_per_hour": 1.0, "interruptions": NEVER} | more


def printed(usd, **figures):
    return {"per_hour": usd, "printed": figures}


OFFERS = {
    # The study is of July 1, a price may be 29 days old, and a week younger than the study.
    "young": ({"as_of": "2018-06-02"}, []), "old": ({"as_of": "2018-06-01"}, ["stale"]),
    "week": ({"as_of": "2018-07-08"}, []), "later": ({"as_of": "2018-07-09"}, ["future_date"]),
    # An offer holds on its last day.
    "last": ({"as_of": "2018-06-20", "until": "2018-07-01"}, []),
    "ended": ({"as_of": "2018-06-20", "until": "2018-06-30"}, ["expired"]),
    # A rate may be a month older or younger: 31 days before July 1 is May 31, 31 days after August 1.
    "r1": ({"currency": "XTA"}, []), "r2": ({"currency": "XTB"}, ["stale_rate"]),
    "r3": ({"currency": "XTC"}, []), "r4": ({"currency": "XTD"}, ["stale_rate"]),
    **{f"s{number}": ({"source": source}, ["missing_source"])
       for number, source in enumerate(("unknown", "- TODO -", "n/a"))},
    "said": ({"source": "unknown to most"}, []),
    **{f"bill-{number}": ({"billing": billing}, rules) for number, (billing, rules) in enumerate([
        ({"minimum_s": 2764800}, []), ({"minimum_s": 2764801}, ["bill_minimum"]),
        ({"monthly_minimum": 1488}, []), ({"monthly_minimum": 1489}, ["bill_minimum"]),
        ({"storage": {"gb": 73000, "per_gb_month": 0.1}}, []),
        ({"storage": {"gb": 74000, "per_gb_month": 0.1}}, ["bill_storage"]),
        ({"storage": {"gb": 1, "per_gb_month": 1}}, []), ({"storage": {"gb": 1, "per_gb_month": 4}}, ["bill_storage"]),
        ({"setup": 7300, "monthly": 7300, "fees": [{"name": "a", "per_start": 100, "count": 73}]}, []),
        *((bill, ["bill_fee"]) for bill in ({"setup": 7301}, {"monthly": 7301}, {"fees": [
            {"name": "a", "per_month": 1}, {"name": "b", "per_start": 100, "count": 73.1}]})),
        ({"egress": {"gb": 1, "per_gb": 1}}, []), ({"egress": {"gb": 1, "per_gb": 9}}, ["bill_egress"]),
        ({"egress": {"gb": 1e4, "per_gb": 0.1}}, []), ({"egress": {"gb": 10010, "per_gb": 0.1}}, ["bill_egress"])])},
    "bill-in-euro": ({"currency": "XTA", "billing": {"fees": [{"name": "a", "per_month": 7301}]}}, ["bill_fee"]),
    "unknown-in-euro": ({"currency": "XTA", "source": "unknown"}, ["missing_source"]),
    "five": ({"until": "2023-06-01"}, []), "six": ({"until": "2023-07-03"}, ["long_offer"]),
    **{f"trend{change}": ({"trend": {"kind": "drift", "change_per_year": change}}, ["trend_far_off"] * is_told)
       for change, is_told in ((-0.6, 0), (-0.61, 1), (1.0, 0), (1.01, 1))},
    "one": ({"compose": TWO | {"count": 1}}, []), "per-cent": ({"printed": {"discount": 3}}, ["text_against_table"]),
    "wide": ({"per_hour": WIDE}, []), "wider": ({"per_hour": WIDE | {"high": 4.1}}, ["market_level"]),
    "equal": ({"purchase": "reserved", "on_demand_per_hour": 1.0}, []),  # as on demand
    **{f"dear-{purchase}": ({"purchase": purchase, "on_demand_per_hour": 0.99}, ["reserved_above_on_demand"])
       for purchase in ("reserved", "committed")},
    # An hour is printed to the cent; 2 USD an hour are 48 a day, 336 a week, 1,464 a month of 30.5 days, of which a
    # thousandth is rounding.
    "cent": (printed(0.5, per_hour=0.505), []), "more": (printed(0.5, per_hour=0.508), ["text_against_table"]),
    **{f"p{unit}": (printed(2.0, **{unit: usd * 1.0009}), [])
       for unit, usd in (("per_day", 48), ("per_week", 336), ("per_month", 1464))},
    **{f"q{unit}": (printed(2.0, **{unit: usd * 1.0011}), ["text_against_table"])
       for unit, usd in (("per_day", 48), ("per_week", 336), ("per_month", 1464))},
    # What is printed in another currency is held against the price in it, whatever the bounds of the rate.
    "euro": (printed(2.0, per_day=48.0) | {"currency": "XTA"}, []),
    # 0.70 USD of 1.00: a discount of 30 %, 70 % paid; either a per cent off is rounding.
    **{f"d{number}": (spot(0.7, printed={"discount": said}), told) for number, (said, told) in enumerate((
        (0.3, []), (0.31, []), (0.29, []), (0.315, ["text_against_table"]), (0.5, ["text_against_table"]),
        (0.71, ["discount_is_fraction_paid"]), (0.69, ["discount_is_fraction_paid"]),
        (0.715, ["text_against_table"])))},
    # A checkpoint of an hour, a start of four, a wait of a week; four interruptions an hour.
    **{f"slow-{number}": (spot(0.5, interruptions=NEVER | terms), ["spot_terms"] * is_told)
       for number, (is_told, terms) in enumerate([
           (0, {"checkpoint_s": 3600, "restore_s": 14400, "wait_s": 604800, "every_s": 3600}), (1, {"every_s": 59}),
           (1, {"checkpoint_s": 3601}), (1, {"restore_s": 14401}), (1, {"wait_s": 604801}),
           *((often > 4, {"per_hour": often, "checkpoint_s": 1, "restore_s": 1}) for often in (4.0, 4.1))])},
    "two": ({"compose": TWO}, ["device_count_differs"]), "spot": (spot(0.99), []),
    "par": (spot(1.0), ["spot_loses"]), "above": (spot(1.01), ["spot_above_on_demand", "spot_loses"]),
    "bid": (spot(0.08), []), "floor": (spot(0.079), ["spot_far_below"]),
    "bare": ({"purchase": "spot", "per_hour": 0.5}, ["spot_terms"]),
    # 240 USD a month for nothing by the hour, against 1 USD an hour: 10 days; 735 are more than 732 hours.
    **{f"c{number}": ({"purchase": "reserved", "days_per_month": days, "on_demand_per_hour": 1.0,
                       "commitment": {"term_months": 12, "per_month": month}}, ["not_earned"] * idle)
       for number, (month, days, idle) in enumerate(((240.0, 10.1, 0), (240.0, 9.9, 1), (735.0, 30.5, 1)))},
    # Interruptions twice an hour eat a discount of a third.
    "eaten": (spot(1.0, on_demand_per_hour=1.5, interruptions=NEVER | {
        "per_hour": 2.0, "checkpoint_s": 600, "restore_s": 600}), ["spot_loses"]),
}  # fmt: skip


def test_offers_at_their_bounds():
    usd = {"value": 1.2, "low": 1.0, "high": 1.5}
    days = {"XTA": "2018-05-31", "XTB": "2018-05-30", "XTC": "2018-08-01", "XTD": "2018-08-02"}
    rates = [{"currency": code, "as_of": day, "source": "bank", "usd": usd} for code, day in days.items()]
    told = rules_by_machine(OFFERS, rates=rates, max_age_days=29)
    assert told == {name: rules for name, (_, rules) in OFFERS.items()}


def test_an_offer_holds_on_its_last_day():
    days = {"x": "2018-06-30", "y": "2018-07-01"}
    prices = price_list(*({"instance": x, "per_hour": 1.0, "as_of": "2018-06-20", "until": y} for x, y in days.items()))
    table = price_tables(prices, "list", machines(prices), MONTH_DAYS, STUDY_DATE)[0]
    assert table["offer_ended"].tolist() == [True, False]


def test_terms_of_interruption_may_stand_in_the_list_and_a_finding_is_of_its_offer_alone():
    assert rules_by_machine({"bare": OFFERS["bare"]}, interruptions=NEVER) == {"bare": []}
    # 1200 / 12 + 0.1 x 732 = 173.2 USD a month, over 24 x 5 hours 1.443 an hour; on demand costs 0.9.
    deal = {"term_months": 12, "upfront": 1200, "per_hour": 0.1}
    rented, reserved = {"instance": "x", "per_hour": 0.9}, {"instance": "x", "purchase": "reserved", "commitment": deal}
    both = price_list(rented, reserved, days_per_month=5)
    on_demand, idle = price_tables(both, "list", machines(both), MONTH_DAYS, STUDY_DATE)[0]["warnings"].map(pairs)
    assert on_demand == [] and [pair.rule for pair in idle] == ["not_earned"] and "1.443" in idle[0].message


BOX = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}


LOW, HIGH = price_range("buy", "gtx1080ti")
CARD, NEW = ("GTX 1080 Ti", 4), ("new", 2)
OWNED = [
    # Four of 250 W: 4 x 0.2 x 250 = 200 W at least, 4 x 2 x 250 + 600 = 2,600 W at most; 0: nobody says.
    *((*CARD, {"kw": kw}, rule)
      for kw, rule in ((0.2, None), (0.199, "own_power"), (2.6, None), (2.61, "own_power"), (0, None))),
    *((*CARD, {"per_kwh": usd}, rule) for usd, rule in (
        (0, None), (0.02, None), (0.019, "own_electricity"), (1.0, None), (1.01, "own_electricity"))),
    *((*CARD, {"months": months}, rule) for months, rule in (
        (6, None), (5.9, "own_months"), (120, None), (121, "own_months"),
        ({"value": 30, "low": 5, "high": 40}, "own_months"))),
    (*CARD, {"days_per_month": 1}, None), (*CARD, {"days_per_month": 0.99}, "own_days"),
    # 0.4 of the cheapest known to 4 times the dearest and 5,000 USD for the host, a device; so is its resale.
    (*CARD, {"capex": 4 * 0.4 * LOW + 1}, None), (*CARD, {"capex": 4 * 0.4 * LOW - 1}, "own_purchase"),
    (*CARD, {"capex": 16 * HIGH + 4999}, None), (*CARD, {"capex": 16 * HIGH + 5001}, "own_purchase"),
    (*CARD, {"staff_hours_per_month": 1, "staff_per_hour": 500}, None),
    (*CARD, {"staff_hours_per_month": 0.01, "staff_per_hour": 60_000}, "own_staff"),
    (*CARD, {"staff_hours_per_month": 1, "staff_per_hour": 0.6}, "own_staff"),
    *((*CARD, {"capex": 10_000, "maintenance_per_month": usd}, rule)
      for usd, rule in ((0.1, None), (0.09, "own_upkeep"), (500, None), (501, "own_upkeep"))),
    (*CARD, {"capex": 10_000, "staff_hours_per_month": 50, "staff_per_hour": 60}, None),
    (*CARD, {"capex": 10_000, "staff_hours_per_month": 51, "staff_per_hour": 60}, "own_upkeep"),
    (*CARD, {"staff_per_hour": 60}, "own_staff"), (*CARD, {"staff_hours_per_month": 1}, "own_staff"),
    *((*CARD, {"capex": 10_000, "residual": usd}, rule)
      for usd, rule in ((50, None), (49, "own_resale"), (9500, None), (9501, "own_resale"))),
    *((*CARD, {"per_kwh": {"value": 0.2, "low": 0.05, "high": high}}, rule)
      for high, rule in ((0.5, None), (0.51, "own_electricity"))),
    (*CARD, {"downtime_share": 0.25}, None), (*CARD, {"downtime_share": 0.26}, "own_downtime"),
    (*CARD, {"discount_rate": 0.3}, None), (*CARD, {"discount_rate": 0.31}, "own_discount"),
    # Of an unknown device anything that there is: 5 kW, 50 to 300,000 USD.
    (*NEW, {"kw": 10, "capex": 100}, None), (*NEW, {"kw": 0.001, "capex": 600_000}, None),
    (*NEW, {"kw": 10.1}, "own_power"), (*NEW, {"capex": 99}, "own_purchase"),
    (*NEW, {"capex": 600_100}, "own_purchase"),
    # Servers of 2026.
    ("H100 SXM", 8, {"capex": 285_000, "kw": 10.2, "per_kwh": 0.12}, None),
    ("B200", 8, {"capex": 515_000, "kw": 14.3, "per_kwh": 0.12}, None),
    ("RTX PRO 6000 Blackwell", 4, {"capex": 65_000, "kw": 3.2, "months": 60}, None),
]  # fmt: skip


def test_amounts_of_owned_machines_at_their_bounds_and_beyond():
    """Each is an offer of one list: device, number of devices, what differs from BOX, and the rule that it breaks."""
    cases = {f"box{index}": case for index, case in enumerate(OWNED)}
    known = {name: Instance(title=name, provider="own", gpu=gpu, gpus=gpus) for name, (gpu, gpus, *_) in cases.items()}
    listed = [{"instance": name, "purchase": "own", "own": BOX | keys} for name, (*_, keys, _) in cases.items()]
    broken = {(name, rule) for name, (*_, rule) in cases.items() if rule}
    assert set(messages(price_list(*listed), known)) == broken


def test_what_is_paid_in_other_money_is_held_in_dollars_at_its_central_rate():
    """0.85 for a kWh at 1.25 USD (1.00 to 1.50) is 1.0625 USD."""
    known = {"box": Instance(title="box", provider="own", gpu="GTX 1080 Ti", gpus=4)}
    rate = {"currency": "XTS", "as_of": "2018-06-01", "source": "b", "usd": {"value": 1.25, "low": 1.0, "high": 1.5}}
    listed = {"instance": "box", "purchase": "own", "own": BOX | {"per_kwh": 0.85, "capex": (1.6 * LOW + 1) / 1.25}}
    told = messages(price_list(listed, currency="XTS", rates=[rate]), known)
    assert set(told) == {("box", "own_electricity")} and "1.0625 USD" in told["box", "own_electricity"][0]


@pytest.mark.parametrize(
    ("text", "is_told"), [({"per_hour": 1.1}, 0), ({"per_month": 264.0}, 0), ({"per_month": 264.3}, 1)]
)
def test_what_is_printed_of_an_owned_machine_is_of_its_planned_use(text, is_told):
    # 240 USD a month over 240 h and 0.1 USD of power: 1.1 USD an hour, 264 a month
    own = {"capex": 7200.0, "months": 30.0, "kw": 1.0, "per_kwh": 0.1, "days_per_month": 10.0}
    told = rules_by_machine({"x": ({"purchase": "own", "own": own, "printed": text}, [])})["x"]
    assert ("text_against_table" in told) == is_told


@pytest.mark.parametrize(
    ("value", "low", "high", "factors", "meant"),
    [
        # W for kW, to the highest that is known; a thousandth of the second is too much as well
        (4000.0, 0.02, 4.0, [1000], "1000 times too much"), (5000.0, 0.02, 4.0, [1000], ""),
        # 2,900 USD for 8 x H100 is 362.50 a device: in cents 3.63, by the month 0.50
        (362.5, 1.0, 12.29, [730, 100], "100 times too much (cents)"),
        (2190.0, 1.0, 12.29, [100, 730], "730 times too much (the price of a month)"),
        (504.0, 1.0, 12.29, [168], "(the price of a week)"), (0.01, 1.0, 12.29, [100], "100 times too little"),
    ],
)  # fmt: skip
def test_the_mistake_that_is_named_leads_into_what_is_known(value, low, high, factors, meant):
    text = unit_mistake(value, low, high, factors)
    assert meant in text if meant else text == ""


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Tesla V100-SXM2-16GB", "v100"), ("NVIDIA H100 80GB HBM3", "h100"), ("H100 PCIe", "h100"),
        ("GTX 1080 Ti", "gtx1080ti"), ("NVIDIA GeForce RTX 4090", "rtx4090"), ("RTX4090", "rtx4090"),
        ("RTX 6000 Ada", "rtx6000ada"), ("6000 Ada", "rtx6000ada"), ("RTX PRO 6000 Blackwell", "rtxpro6000"),
        ("A100-80GB", "a100"), ("A10G", "a10g"), ("GB200", "gb200"), ("L40S", "l40s"), ("L4", "l4"), ("a card", ""),
        ("RTXA6000", "a6000"), ("Quadro P6000", "p6000"), ("MI300X", "mi300x"), ("TPU v5p", ""), ("CPU", ""),
    ],
)  # fmt: skip
def test_a_device_is_one_word_however_it_is_written(name, key):
    assert device_key(name) == key


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


def test_known_prices_are_those_of_their_sources_about_the_year():
    """A K80 was rented at 0.45 to 1.40 USD about 2018; an H100 draws 350 (PCIe) to 700 W (SXM)."""
    assert (price_range("rent", "k80", 2018), price_range("power", "h100")) == ((0.45, 1.4), (350, 700))
    assert price_range("buy", "gtx1080ti")[0] == 699 and price_range("rent", "h100", 2026) == (1.0, 12.29)
    assert price_range("rent", "no such device", 2026) is None
    assert list_range("AWS", "c6g.metal") == (2.176, 2.3066)
