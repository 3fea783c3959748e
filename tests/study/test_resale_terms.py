"""What a machine is worth at an age: between the points of a curve by hand, and what is no curve."""

import pytest
from pydantic import ValidationError
from sweetspot.study.trends import CURVES, PriceChange, Resale

POINTS = [(2.0, 0.8, 0.7, 0.9), (4.0, 0.4, 0.2, 0.6)]


@pytest.mark.parametrize(
    ("age", "told"),
    [
        # half of the purchase is what the curve is of
        (0.0, [(0, 0.5, 0.5, 0.5), (2, 0.4, 0.35, 0.45), (4, 0.2, 0.1, 0.3)]),
        # bought a year after it came out: half way from 1 to 0.8, 0.7, 0.9
        (1.0, [(0, 0.45, 0.425, 0.475), (1, 0.4, 0.35, 0.45), (3, 0.2, 0.1, 0.3)]),
        (2.0, [(0, 0.4, 0.35, 0.45), (2, 0.2, 0.1, 0.3)]),
        (3.5, [(0, 0.25, 0.1625, 0.3375), (0.5, 0.2, 0.1, 0.3)]),  # three quarters of the way
        (4.0, [(0, 0.2, 0.1, 0.3)]),
        (9.0, [(0, 0.2, 0.1, 0.3)]),  # nothing is known of later
    ],
)
def test_shares_of_the_purchase_from_the_day_it_is_made(age, told):
    found = Resale(points=POINTS, share=0.5, age_years=age).by_years()
    assert found == [pytest.approx(row) for row in told]


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_falls_within_its_ends(name):
    found = Resale(curve=name, share=1.0).by_years()
    assert found[0] == (0, 1, 1, 1)
    assert [row[1] for row in found] == sorted((row[1] for row in found), reverse=True)
    assert all(low <= kept <= high <= 1 for _, kept, low, high in found)
    assert [row[0] for row in found] == sorted({row[0] for row in found})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "one of curve, points"),
        ({"curve": "gaming", "points": POINTS}, "one of curve, points"),
        ({"points": POINTS[::-1]}, "points by ascending years"),
        ({"points": [POINTS[0], POINTS[0]]}, "points by ascending years"),
        ({"points": [(1.0, 0.5, 0.6, 0.7)]}, "found 0.6, 0.5, 0.7"),
        ({"points": [(1.0, 0.5, 0.3, 0.4)]}, "found 0.3, 0.5, 0.4"),
        ({"points": [(0.0, 0.5, 0.3, 0.6)]}, "greater than 0"),
        ({"points": [(1.0, 0.5, 0.3, 1.1)]}, "less than or equal to 1"),
    ],
)
def test_what_is_no_curve(keys, words):
    with pytest.raises(ValidationError, match=words):
        Resale(share=1.0, **keys)
    Resale(share=1.0, points=[(1.0, 0.5, 0.5, 0.5)])


@pytest.mark.parametrize(
    ("keys", "ends"),
    [({}, (-0.1, -0.1)), ({"low": -0.2}, (-0.2, -0.1)), ({"high": 0.1}, (-0.1, 0.1)), ({"low": -0.1}, (-0.1, -0.1))],
)
def test_a_change_of_price_without_an_end_is_certain_there(keys, ends):
    assert PriceChange(value=-0.1, **keys).ends == ends


@pytest.mark.parametrize("keys", [{"low": -0.05}, {"high": -0.2}])
def test_a_change_of_price_outside_of_its_ends(keys):
    with pytest.raises(ValidationError, match="low <= value <= high"):
        PriceChange(value=-0.1, **keys)
