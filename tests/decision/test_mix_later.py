"""The machines of a mix bought later, in the lab of five: months by hand, and what falls and what stays."""

import pytest
from month_tables import LabOfFive
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_monthly

ASKED = {"buy_after_months": [6.0, 12.0]}


def ways(where, ours=None, rent=None):
    """The rows by months until the purchase; `ours`: keys of the box, `rent`: of the rented RTX 4090."""

    def box(prices):
        next(offer for offer in prices["offers"] if offer["instance"] == "box-4")["own"].update(ours or {})

    def cloud(prices):
        next(offer for offer in prices["offers"] if offer["instance"] == "runpod-1x4090").update(rent or {})

    lab = LabOfFive(where).edit("workloads.yaml", lambda work: work["lab"].update(ASKED))
    found = lab.edit("prices/ours.yaml", box).edit("prices/rent.yaml", cloud).tables(100)
    return found["later"].set_index("after_months"), found


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    return ways(tmp_path_factory.mktemp("still"))


def test_a_month_of_waiting_costs_the_rent_less_what_the_box_saves_of_it(still):
    table, found = still
    at_once, never = table.loc[0.0, "usd"], table.loc[36.0, "usd"]
    # At once: the purchase and 36 months of care, running and what is rented beside it. Never: 36 months of rent.
    price = 14_900 * 1.1378
    month = (never - (at_once - table.loc[0.0, "box_usd"])) / 36
    assert table.loc[0.0, "box_usd"] == pytest.approx(price, rel=2e-3)  # the mean of the exchange rate's draws
    assert table.loc[6.0, "usd"] == pytest.approx(at_once + 6 * month)
    assert table.loc[12.0, "saved_usd"] == pytest.approx(-12 * month)
    # What is bought at once is the best mix of all.
    assert at_once == pytest.approx(found["choices"]["usd"].iloc[0])
    assert table["machines"].dropna().tolist() == [1, 1, 1]


def test_a_box_that_gets_cheaper_and_a_rent_that_rises(tmp_path, still):
    rises = {"trend": {"kind": "drift", "change_per_year": 0.44}}
    table, _ = ways(tmp_path, {"capex_change_per_year": {"value": -0.19}}, rises)
    constant = still[0]
    for months, share in ((6.0, 0.9), (12.0, 0.81)):
        assert table.loc[months, "box_usd"] == pytest.approx(share * constant.loc[months, "box_usd"])
        # All that is rented until then is the RTX 4090: its months are 1, q, q^2, ... of today's, q = 1.44^(1/12).
        mean = (1.44 ** (months / 12) - 1) / (months * (1.44 ** (1 / 12) - 1))
        assert table.loc[months, "until"] == "runpod-1x4090"
        assert table.loc[months, "rent_usd"] == pytest.approx(mean * constant.loc[months, "rent_usd"], rel=0.02)


def test_a_box_that_is_used_for_other_months_is_named(tmp_path):
    table, _ = ways(tmp_path, {"months": 48})
    assert table["status"].tolist() == ["is used for 48 months, the work lasts 36"]


def test_months_beyond_the_work_are_refused(tmp_path):
    lab = LabOfFive(tmp_path).edit("workloads.yaml", lambda work: work["lab"].update(buy_after_months=[12.0, 36.0]))
    with pytest.raises(UserError, match=r"buy_after_months by ascending months, all below 36, found \[12\.0, 36\.0\]"):
        load_monthly(lab.folder / "workloads.yaml")
