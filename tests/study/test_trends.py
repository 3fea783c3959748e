"""Which offer has which path, and what a person may not write."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.base import validated
from sweetspot.study.price_list import PriceList
from sweetspot.study.trends import Drift, preset_of

OWN = {"capex": 6500, "months": 36, "kw": 1.0, "per_kwh": 0.1, "days_per_month": 10}


def prices(**offer):
    given = {"as_of": "2026-09-19", "source": "test", "offers": [{"instance": "one", **offer}]}
    return validated(PriceList, given, "list.yaml").offers[0]


@pytest.mark.parametrize(
    ("provider", "purchase", "gpu", "preset"),
    [
        ("aws", "on_demand", "H100 SXM", "hyperscaler"),
        ("gcp", "on_demand", "A100-SXM4-80GB", "hyperscaler"),
        ("azure", "on_demand", "Tesla V100", "fixed"),  # in 104 series-years of old devices no price changed
        ("aws", "on_demand", "L40S", "fixed"),
        ("oci", "on_demand", "H100 SXM", "small_cloud"),
        ("never-heard-of", "on_demand", "RTX 4090", "small_cloud"),
        ("aws", "spot", "Tesla K80", "spot"),
        ("nebius", "preemptible", "H200 SXM", "spot"),
        ("aws", "reserved", "H100 SXM", "fixed"),
        ("own", "own", "H100 SXM", "fixed"),
    ],
)
def test_the_preset_follows_provider_purchase_and_device(provider, purchase, gpu, preset):
    assert preset_of(provider, purchase, gpu) == preset


def test_an_offer_may_state_its_own_path():
    assert prices(per_hour=3.0, trend="spot").trend == "spot"
    own = prices(per_hour=3.0, trend={"kind": "drift", "change_per_year": -0.1}).trend
    assert own == Drift(kind="drift", change_per_year=-0.1)


@pytest.mark.parametrize(
    ("offer", "told"),
    [
        ({"per_hour": 3.0, "trend": "hyperscalers"}, "key 'offers[0].trend' is 'hyperscalers'"),
        ({"per_hour": 3.0, "trend": {"kind": "falling"}}, "offers[0].trend"),
        ({"per_hour": 3.0, "trend": {"kind": "drift", "change_per_year": -1.0}}, "change_per_year' is -1.0"),
        (
            {"purchase": "reserved", "commitment": {"term_months": 12, "per_hour": 3.0}, "trend": "spot"},
            "a contract keeps its price",
        ),
        ({"purchase": "own", "own": OWN | {"residual": {"curve": "data-centre"}}}, "own.residual.share' is missing"),
        (
            {"purchase": "own", "own": OWN | {"residual": {"curve": "cars", "share": 1.0}}},
            "own.residual.curve' is 'cars'",
        ),
        (
            {"purchase": "own", "own": OWN | {"residual": {"points": [[2.0, 0.5, 0.6, 0.7]], "share": 1.0}}},
            "low <= share <= high at 2 years",
        ),
        ({"purchase": "own", "own": OWN | {"residual": -5}}, "key 'offers[0].own.residual' is"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(offer, told):
    with pytest.raises(UserError) as caught:
        prices(**offer)
    assert told in " ".join(caught.value.sentences)
