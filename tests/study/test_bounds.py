"""Amounts that no machine or building can have are refused where the list is read, with key, value and bound."""

import pytest
from price_lists import price_list
from sweetspot.errors import UserError

BOX = {"capex": 6500, "months": 30, "kw": 1.0, "per_kwh": 0.2, "days_per_month": 10}


def owned(**keys):
    return price_list({"instance": "box", "purchase": "own", "own": BOX | keys})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"residual": 65000}, ["own", "residual of at most capex", "65000", "6500"]),
        ({"residual": {"value": 1000, "low": 0, "high": 7000}}, ["residual of at most capex", "7000"]),
        (
            {"capex": {"value": 6500, "low": 900, "high": 9000}, "residual": 1000},
            ["residual of at most capex", "1000", "900"],
        ),
        ({"load_share": 80}, ["own.load_share", "at most 1 (not a percentage)", "80"]),
        ({"load_share": {"value": 0.9, "high": 1.1}}, ["own.load_share", "1.1"]),
        ({"pue": 0.5}, ["own.pue", "from 1 to 3", "0.5"]),
        ({"pue": 15}, ["own.pue", "from 1 to 3", "15"]),
        ({"pue": {"value": 1.2, "low": 0.9}}, ["own.pue", "0.9"]),
        ({"days_per_month": 32}, ["32 days a month", "at most 31"]),
        ({"months": 601}, ["own.months", "600"]),
    ],
)
def test_what_physics_forbids_is_refused(keys, words):
    with pytest.raises(UserError) as error:
        owned(**keys)
    for word in ["list.yaml", *words]:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "keys",
    [{"residual": 6500}, {"load_share": 1}, {"load_share": 0.4}, {"pue": 1}, {"pue": 3}, {"days_per_month": 31}],
)
def test_the_bounds_themselves_are_taken(keys):
    assert owned(**keys).offers[0].own is not None


def test_a_project_of_half_a_month_rents():
    # a commitment may be no longer than the project; what is rented by the hour commits to nothing
    rented = {"instance": "x", "per_hour": 1.0}
    assert price_list(rented, project_months=0.5).offers[0].commitment is None
    deal = {"instance": "x", "purchase": "reserved", "commitment": {"term_months": 1, "per_month": 5}}
    assert price_list(deal, project_months=1).project_months.value == 1
    with pytest.raises(UserError, match=r"term_months is 1; expected at most project_months 0\.5"):
        price_list(deal, project_months=0.5)


def test_a_commitment_without_any_price_is_refused():
    offer = {"instance": "x", "purchase": "reserved", "commitment": {"term_months": 12}}
    with pytest.raises(UserError, match=r"at least one price above 0 of upfront, per_month, per_hour"):
        price_list(offer)
    for key in ("upfront", "per_month", "per_hour"):
        assert price_list(offer | {"commitment": {"term_months": 12, key: 1}}).offers[0].commitment is not None
