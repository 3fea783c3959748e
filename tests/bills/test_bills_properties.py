"""Properties of bills: finer is never dearer, more use never cheaper, break-even separates (money is never created)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweetspot.bills.owning import break_even_days, office_hour
from sweetspot.bills.renting import billed_seconds, monthly_bill
from sweetspot.errors import UserError

starts = st.lists(st.floats(0.001, 400_000), min_size=1, max_size=8)
rates = st.floats(0.001, 100)


@settings(max_examples=200)
@given(used=starts, rate=rates, fine=st.floats(0.001, 3600), times=st.integers(1, 3600), least=st.floats(0, 7200))
def test_a_finer_granularity_never_costs_more(used, rate, fine, times, least):
    finer = monthly_bill(used, rate, fine, least)
    assert finer <= monthly_bill(used, rate, fine * times, least) * (1 + 1e-6)
    assert monthly_bill(used, rate, 0.0, least) <= finer * (1 + 1e-6)


@settings(max_examples=200)
@given(
    used=starts, more=st.floats(0, 400_000), rate=rates,
    step=st.just(0.0) | st.floats(0.001, 3600), least=st.floats(0, 7200),
    fee=st.floats(0, 100), floor=st.floats(0, 1000),
    fractions=st.lists(st.floats(0, 1), min_size=1, max_size=4),
)  # fmt: skip
def test_more_use_never_lowers_a_monthly_bill(used, more, rate, step, least, fee, floor, fractions):
    tiers = [((n + 1) / len(fractions), fraction) for n, fraction in enumerate(fractions)]
    terms = {
        "granularity_s": step,
        "minimum_s": least,
        "monthly_usd": fee,
        "monthly_minimum_usd": floor,
        "tiers": tiers,
    }
    before = monthly_bill(used, rate, **terms)
    assert monthly_bill([used[0] + more, *used[1:]], rate, **terms) >= before * (1 - 1e-6)
    assert monthly_bill([*used, more], rate, **terms) >= before * (1 - 1e-6)


@settings(max_examples=200)
@given(used=st.floats(0, 1e7), step=st.floats(0.001, 1e5), least=st.floats(0, 1e5))
def test_never_less_is_billed_than_used_nor_a_unit_more(used, step, least):
    billed = float(billed_seconds(used, step, least))
    assert billed >= used * (1 - 1e-8)
    assert billed <= max(least, used + step) * (1 + 1e-8)


@settings(max_examples=200)
@given(
    capex=st.floats(100, 1e5), months=st.floats(1, 60), price=st.floats(0.05, 50), ours=st.floats(1, 1000),
    theirs=st.floats(1, 1000), kw=st.floats(0, 3), kwh=st.floats(0, 1),
)  # fmt: skip
def test_break_even_separates_cheaper_from_dearer(capex, months, price, ours, theirs, kw, kwh):
    own = {"capex": capex, "months": months, "residual": 0.0, "maintenance": 0.0, "staff": 0.0, "kw": kw, "pue": 1.0,
           "per_kwh": kwh}  # fmt: skip
    days = break_even_days(capex, months, price, ours, theirs, kw, kwh)
    rival = price * ours / theirs  # what the alternative asks for the work of one hour of the box
    if days is None:
        assert all(office_hour(own | {"days": d}) >= rival for d in (0.1, 10, 30.5))
    else:
        assert office_hour(own | {"days": days * 1.001}) < rival
        assert office_hour(own | {"days": days * 0.999}) > rival


def test_break_even_of_the_machine_bought_in_2017():
    # initialized-2017: 2500 USD recouped in just under 30 days against p2.xlarge at 0.9; 134 days at 0.20
    assert break_even_days(2500, 1, 0.9, 167, 43, 0, 0) == pytest.approx(29.8, abs=0.05)
    assert break_even_days(2500, 1, 0.2, 167, 43, 0, 0) == pytest.approx(134, abs=0.5)
    with pytest.raises(UserError, match="rival_per_hour"):
        break_even_days(2500, 1, 0.0, 167, 43, 0, 0)
