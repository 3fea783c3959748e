"""The controls of the panel "your case": from where to where, in which steps, and by which figures a factor is told."""

from decision_tables import study
from sweetspot.report.case_controls import _rarer, _scaled


def offer(name, purchase, **figures):
    known = {"option": name, "name": name, "provider": "cloud", "purchase": purchase, "usd_per_hour": None}
    return known | {"capex_usd": None, "rent_change": None, "interruptions_per_hour": None} | figures


def test_a_slider_has_steps_of_the_third_digit_from_a_twentieth_on():
    assert _scaled(1234.0, 3) == (60.0, 3702.0, 10.0)  # 61.7 in tens
    assert _scaled(0.02, 6) == (0.001, 0.12, 0.0001)


def test_ends_and_steps_of_the_rarer_controls():
    """A second machine for 1,001.20 USD, sold for 300.50: three times are 3,003.60, a hundredth is 10."""
    box = offer("box", "own", capex_usd=6500.0, resale=[], residual_usd=0.0)
    offers = [
        box, offer("old", "own", capex_usd=1001.2, resale=[], residual_usd=300.5), offer("gift", "own", capex_usd=0.0),
        offer("near", "on_demand", usd_per_hour=3.0, rent_change=-0.03),
        offer("far", "spot", usd_per_hour=1.0, interruptions_per_hour=0.2),
        offer("away", "spot", usd_per_hour=2.0, interruptions_per_hour=0.05),
    ]  # fmt: skip
    found = list(_rarer({"months": 36}, offers, box, study(), "USD"))
    assert {one["key"]: (one["ends"], one["value"], one.get("told")) for one in found} == {
        "rent": ([-60, 60, 1], None, None),
        "price:old": ([301, 3004, 10], 1001.2, None),
        "spot-price": ([0.2, 3, 0.05], 1, [1.0, 2.0]),
        "provider:cloud": ([0.2, 3, 0.05], 1, [1.0, 3.0]),
        "spot-rate": ([0, 10, 0.1], 1, [0.05, 0.2]),
    }
    (other,) = _rarer({}, offers[:2], offers[1], study(), "USD")  # the one that is held against has its own control
    assert other["key"] == "price:box"
