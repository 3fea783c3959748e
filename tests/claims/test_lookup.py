"""The functions of claims about a market of five machines and two models, each figure worked out on paper."""

import pytest
from claim_tables import OFFERS, OPTIONS, check_one, offer, option

BOX, ALPHA, SPOT = {"instance": "box"}, {"instance": "alpha"}, {"purchase": "spot"}
ON_DEMAND, EVERYTHING = {"purchase": "on_demand"}, {}
NAMES = {"box": BOX, "alpha": ALPHA, "spot": SPOT, "on_demand": ON_DEMAND, "everything": EVERYTHING,
         "alpha_spot": ALPHA | SPOT, "persistent": {"persistent": True}}  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("price(box)", 1),
        ("price(alpha)", 2),  # an instance without a purchase is its persistent offer
        ("24 * price(alpha_spot)", 14.4),
        ("price(alpha_spot) / price(alpha)", 0.3),
        ("price(spot)", 0.6),  # the first that matches
        ('offer(box, "capex_usd")', 2400),
    ],
)
def test_offers(expression, value):
    assert check_one(expression, NAMES)["computed"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("expression", "big", "net"),
    [
        # USD of the job: net box 1, alpha 2 and 0.6, beta 0.8, gamma 1.25, delta 2; big 1, 1 and 0.3, 0.8, 5, 1
        ('option(everything, "usd")', 0.3, 0.6),
        ('option(on_demand, "usd")', 1, 1.25),
        ('option(everything, "usd", but=alpha_spot)', 0.8, 0.8),
        # images/s: the most is best. hours: the least, 0.25 h of gamma and 0.5 h of alpha
        ('option(everything, "images_per_s")', 20, 400),
        ('option(everything, "hours")', 0.5, 0.25),
        ('option(alpha, "images_per_usd")', 3600 * 20 / 2, 3600 * 100 / 2),
        ('100 * (1 - option(box, "usd") / option(on_demand, "usd"))', 0, 20),
        # of 2400 USD: an hour of the box's work costs 2 x 10 / 20 = 1 on alpha (big) and 2 (net), 24 times a day
        ('offer(box, "capex_usd") / (24 * price(alpha) * option(box, "images_per_s") / option(alpha, "images_per_s"))',
         100, 50),
        # by USD the box is behind alpha's spot and beta on both (net: 0.6, 0.8; big: 0.3, 0.8)
        ('rank(box, "usd")', 3, 3),
        # alpha on demand: net behind alpha spot, beta, box, gamma; big behind alpha spot and beta
        ('rank(alpha, "usd")', 3, 5),
        ('rank(alpha, "usd", among=on_demand)', 1, 2),
        # hours: net gamma is ahead of the box; big alpha and delta. alpha counts once for both its prices
        ('rank(box, "hours")', 3, 2),
        ('rank(box, "images_per_s")', 3, 2),
        # neither slower nor dearer than alpha, and better in one: net box, its own spot and gamma; big its spot.
        # Its twin is equal in both
        ("dominated(alpha)", 1, 3),
        ("dominated(alpha, among=persistent)", 0, 2),
    ],
)  # fmt: skip
def test_options_of_two_models(expression, big, net):
    row = check_one(expression, NAMES)
    assert (row["computed_low"], row["computed_high"]) == pytest.approx((min(big, net), max(big, net)))
    for model, value in (("big", big), ("net", net)):
        assert check_one(expression, NAMES, models=[model])["computed"] == pytest.approx(value)
    assert row["rests_on"] == "the source's own figures"


def test_winning_is_strict_and_against_all_but_oneself():
    for expression, models in {
        'count(option(everything, "images_per_s", but=gamma) < option(gamma, "images_per_s"))': 1,
        'count(option(alpha_spot, "usd") < option(everything, "usd", but=alpha_spot))': 2,
        'count(option(alpha, "usd") < option(delta, "usd"))': 0,  # its twin costs the same
    }.items():
        names = NAMES | {"gamma": {"instance": "gamma"}, "delta": {"instance": "delta"}}
        assert check_one(expression, names)["computed"] == models
    alone = check_one('option(box, "usd", but=box)', NAMES)
    assert alone["verdict"] == "cannot be checked"


def test_options_without_a_speed_or_that_do_not_fit_are_none():
    rows = [
        option("a", usd_per_hour=3.0),
        option("b", fits=False),
        option("c", images_per_s=1e-9) | {"images_per_s": 0},
    ]
    tables = {"options": [*rows, rows[0]], "offers": [offer("a", usd_per_hour=3.0)]}
    assert check_one('option(everything, "usd")', NAMES, tables=tables)["computed"] == 3
    assert check_one('rank(everything, "usd")', NAMES, tables=tables)["computed"] == 1


BILL = {"price_list": "l", "instance": "vm", "purchase": "on_demand", "provider": "p", "workload": "job", "gpus": 1}
LINES = [BILL | {"line": "use", "usd": 3.0}, BILL | {"line": "use", "usd": 1.0}, BILL | {"line": "storage", "usd": 2.0}]
COSTS = [BILL | {"usd": 6.0, "basis": "published", "source": "text"},
         BILL | {"gpus": 2, "usd": 5.0, "basis": "published", "source": "text"}]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('bill(vm, "job")', 5),  # the cheapest number of devices
        ('bill(vm, "job", gpus=1)', 6),
        ('bill(vm, "job", gpus=1, line="use")', 4),
        ('bill(vm, "job", gpus=1) - bill(vm, "job", gpus=2)', 1),
        ('bill(vm, "job", gpus=1) * (1 - 0.8 * 1 / 2)', 3.6),  # idle: one of two devices used, by 80 %
    ],
)
def test_bills(expression, value):
    row = check_one(expression, {"vm": {"instance": "vm"}}, tables={"costs": COSTS, "bills": LINES})
    assert (row["computed"], row["rests_on"]) == (pytest.approx(value), "the source's own figures")


def run(instance, images_per_s, **changes):
    return {"instance": instance, "model": "net", "batch_size": 64, "images_per_s": images_per_s, "basis": "published",
            "status": "ok", "source": "text"} | changes  # fmt: skip


def test_a_speed_is_of_the_best_basis_then_the_fastest():
    rows = [
        run("a", 9.0, basis="stand_in"),
        run("a", 2.0),
        run("a", 5.0),
        run("a", None),
        run("a", 7.0, status="failed"),
    ]
    tables = {"throughput": [*rows, run("b", 1.0)]}
    row = check_one('speed("a") / speed("b")', models=["net"], tables=tables)
    assert (row["computed"], row["rests_on"]) == (5, "the source's own figures")
    assert check_one('speed("a") / speed("c")', models=["net"], tables=tables)["verdict"] == "cannot be checked"


def test_efficiencies_and_what_is_extrapolated_with_them():
    cell = {"model": "net", "batch_size": 64, "basis": "published"}
    tables = {
        "extrapolation": [cell | {"instance": "box", "base_instance": "one", "method": "mean_efficiency",
                                  "images_per_s": 7.0}],
        "throughput": [run("one", 4.0, source="page-2017, p. 3"), run("two", 4.0, source="page-2018")],
        "efficiency": [cell | {"instance": "pair", "efficiency": 0.9, "source": "text"},
                       cell | {"instance": "trio", "efficiency": 0.7, "source": "elsewhere"},
                       cell | {"instance": "ours", "efficiency": 0.1, "source": "ours", "basis": "measured"}],
    }  # fmt: skip
    assert check_one('mean_efficiency("net", 64)', tables=tables)["computed"] == pytest.approx(0.8)
    row = check_one('extrapolated("box", "net", 64)', tables=tables)
    assert (row["computed"], row["rests_on"]) == (7, "speed of one (page-2017); efficiency of trio (elsewhere)")
    for missing in ('extrapolated("box", "net", 32)', 'mean_efficiency("big", 64)'):
        assert check_one(missing, tables=tables)["verdict"] == "cannot be checked"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("price(nobody)", "no figure of instance nobody"),
        ('offer(alpha, "capex_usd")', "alpha has no capex_usd"),
        ('option(nobody, "usd")', "no figure of instance nobody, model big"),
    ],
)
def test_a_claim_about_something_unknown_cannot_be_checked(expression, reason):
    row = check_one(expression, NAMES | {"nobody": {"instance": "nobody"}}, printed=1)
    assert (row["verdict"], row["reason"]) == ("cannot be checked", reason)


def test_a_price_matters_to_costs_alone():
    tables = {"options": OPTIONS, "offers": [row | {"basis": "assumed"} for row in OFFERS]}
    names = {"gamma": {"instance": "gamma"}, "delta": {"instance": "delta"}}
    ratio = 'option(gamma, "{0}") / option(delta, "{0}")'
    assert check_one(ratio.format("images_per_s"), names, tables=tables)["rests_on"] == "the source's own figures"
    assert check_one(ratio.format("usd"), names, tables=tables)["rests_on"] == "price of gamma, delta (assumed)"
