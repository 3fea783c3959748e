"""Every kind of claim said of a market of five machines and two models, each figure worked out on paper."""

import math

import pytest
from market_claims import OFFERS, OPTIONS, computed, option, said
from sweetspot.claims.checks import counted
from sweetspot.claims.lookup import Evidence, Figure, foreign, named, sentences

ON_DEMAND = {"instance": "alpha"}  # an instance without a purchase: its persistent offer


@pytest.mark.parametrize(
    ("claim", "low", "high"),
    [
        # hours: net box 1, alpha 1, beta 2, gamma 1/4; big box 1, alpha and its twin 1/2, beta 2, gamma 1. Equal is not
        # ahead, and alpha counts once for both its prices: second on net; third on big, behind alpha and delta
        ({"kind": "rank", "measure": "hours", "of": {"instance": "box"}}, 2, 3),
        # images/s, most first: gamma is ahead on net, alpha and delta on big
        ({"kind": "rank", "measure": "images_per_s", "of": {"instance": "box"}}, 2, 3),
        # USD: net box 1, alpha 2 and 0.6, beta 0.8, gamma 1.25, delta 2; big 1, 1 and 0.3, 0.8, 5, 1
        ({"kind": "rank", "measure": "usd", "of": {"instance": "box"}}, 3, 3),
        ({"kind": "rank", "measure": "usd", "of": ON_DEMAND}, 3, 5),
        ({"kind": "rank", "measure": "usd", "of": ON_DEMAND, "without": {"purchase": "spot"}}, 1, 3),
        # neither slower nor dearer than alpha, and better in one: on net box, its own spot offer and gamma; on big the
        # spot offer alone. Its twin is equal in both
        ({"kind": "dominated", "of": ON_DEMAND}, 1, 3),
        ({"kind": "dominated", "of": ON_DEMAND, "among": {"persistent": True}}, 0, 2),
        # saved by the box against the cheapest on demand: net gamma 1.25, big alpha 1
        ({"kind": "saving", "of": {"instance": "box"}, "to": {"purchase": "on_demand"}}, 0, 20),
        # of capex 2400: an hour of the box's work costs 2 on alpha (net), and 2 x 10 / 20 = 1 (big), 24 times a day
        ({"kind": "recoup", "of": {"instance": "box"}, "against": ON_DEMAND}, 50, 100),
        ({"kind": "recoup", "of": {"instance": "box"}, "against": ON_DEMAND, "hours_per_day": 8}, 150, 300),
        # 240 / (24 (2 - 0.2)) and 240 / (24 (1 - 0.2)) days
        ({"kind": "break_even", "against": ON_DEMAND}, 50 / 9, 12.5),
        # at ten days an hour of the box costs 240 / 240 + 0.2
        ({"kind": "gain_at", "against": ON_DEMAND, "days": 10}, 1 / 1.2, 2 / 1.2),
        # 3600 x 100 / 1 over 3600 x 100 / 2 images per USD, and 36,000 over 36,000
        ({"kind": "ratio", "measure": "images_per_usd", "of": {"instance": "box"}, "to": ON_DEMAND}, 1, 2),
        ({"kind": "ratio", "measure": "usd", "of": {"instance": "box"}, "to": ON_DEMAND}, 1, 2),
        ({"kind": "ratio", "measure": "images_per_s", "of": ON_DEMAND, "to": {"instance": "beta"}}, 2, 4),
    ],
)
def test_what_is_said_of_two_models_has_the_range_of_both(claim, low, high):
    row = said(**claim)
    assert (row["computed_low"], row["computed_high"]) == pytest.approx((low, high))
    assert row["computed"] == pytest.approx((low + high) / 2)
    assert row["rests_on"] == "the source's own figures"


def test_the_smallest_gain_is_by_ratio():
    # alpha over the box: 180,000 / 360,000 images per USD on net, 36,000 / 36,000 on big
    claim = {"of": ON_DEMAND, "to": {"instance": "box"}}
    assert computed("smallest_gain", **claim, model="net") == 1
    assert computed("smallest_gain", **claim, model="big") == 2
    assert said("smallest_gain", **claim, model="net")["detail"] == "big 1x, net 0.5x"


def test_the_options_compared_with_are_named_by_model_where_they_differ():
    row = said("saving", of={"instance": "box"}, to={"purchase": "on_demand"})
    assert row["detail"] == "big 0, net 20. compared with alpha on_demand on big, gamma on_demand on net"
    same = said("saving", of={"instance": "box"}, to={"instance": "beta"})
    assert same["detail"] == "big -25, net -25. compared with beta spot"
    assert named("with", OPTIONS[:1]) == "with box own"
    assert sentences("One.", None, "", "two.") == "One. two"


def test_what_does_not_fit_is_not_compared_and_a_price_matters_to_costs_alone():
    box, alpha, gamma = OPTIONS[0] | {"fits": True}, OPTIONS[2] | {"fits": None}, OPTIONS[8] | {"fits": False}
    assert Evidence({"options": [box, alpha, gamma, box | {"option": "z", "images_per_s": 0.5}]}).by_model == {
        "net": [box, alpha, box | {"option": "z", "images_per_s": 0.5}]
    }
    tables = {"options": OPTIONS, "offers": [offer | {"basis": "assumed"} for offer in OFFERS]}
    pair = {"of": {"instance": "gamma"}, "to": {"instance": "delta"}}
    rests = [said("ratio", tables, measure=name, **pair)["rests_on"] for name in ("images_per_s", "usd")]
    assert rests == ["the source's own figures", "price of gamma, delta (assumed)"]


def test_wins_are_strict_and_against_the_best_of_all_others():
    gamma = said("wins", measure="images_per_s", of={"instance": "gamma"})
    assert (gamma["computed"], gamma["detail"]) == (1, "Better for net; not for big")
    twin = said("wins", measure="images_per_s", of=ON_DEMAND, to={"instance": "delta"})
    assert (twin["computed"], twin["detail"]) == (0, "Better for none; not for big, net")
    # 0.6 and 0.3 USD against 0.8: less is better
    assert computed("wins", measure="usd", of={"instance": "alpha", "purchase": "spot"}) == 2
    assert computed("wins", measure="usd", of=ON_DEMAND, to={"instance": "delta"}) == 0  # its twin costs the same
    alone = said("wins", measure="usd", of={"instance": "gamma"}, to={"instance": "gamma"})
    assert (alone["verdict"], alone["reason"]) == ("cannot be checked", "nothing to compare with for big")


def test_where_one_model_is_never_reached_the_range_is_open_above():
    # Half of alpha's spot price for the box's work: net 0.3 - 0.2 = 0.1 USD, 240 / 2.4 days; big 0.15 - 0.2: never
    row = said("break_even", against={"instance": "alpha", "purchase": "spot"}, factor=2, printed=100)
    assert (row["computed"], row["computed_low"], row["computed_high"]) == (None, pytest.approx(100), None)
    assert row["verdict"] == "contradicted"
    assert row["detail"].startswith("big never, net 100")


def test_prices_by_hand():
    assert computed("price", of={"instance": "beta"}, hours=24) == pytest.approx(9.6)
    pair = {"of": {"instance": "alpha", "purchase": "spot"}, "to": ON_DEMAND}
    assert computed("price_ratio", **pair) == pytest.approx(0.3)
    assert computed("price_ratio", **pair, as_discount=True, percent=True) == pytest.approx(70)
    assert said("price_ratio", **pair)["detail"] == "0.6 against 2 USD an hour: 30.0% is paid, 70.0% is saved"
    dearer = said("price_ratio", of=ON_DEMAND, to={"instance": "beta"})
    assert dearer["detail"] == "2 against 0.4 USD an hour: 5 times the price"
    equal = said("price_ratio", of=ON_DEMAND, to={"instance": "delta"})
    assert equal["detail"].endswith("100.0% is paid, 0.0% is saved")
    # 4 vCPUs at the mean of 0.2 / 2 and 0.8 / 4 USD a vCPU, and 3 devices at 0.5
    parts = {"vcpus": 4, "siblings": [(2, 0.2), (4, 0.8)], "cards": 3, "usd_per_card_hour": 0.5}
    assert computed("composition", **parts) == pytest.approx(4 * 0.15 + 1.5)


def test_what_a_claim_needs_of_its_rival_is_said():
    # 360,000 images per USD over 180,000 is 2; printed 4 it needs alpha at half of its 100 images/s, and with a box of
    # 80 images/s, as the text says, at 40
    published = [{"model": "net", "images_per_s": 90, "batch_size": 32, "source": "page"}]
    claim = {"measure": "images_per_usd", "of": {"instance": "box"}, "to": ON_DEMAND, "models": ["net"], "printed": 4}
    row = said("ratio", **claim, published=published)
    assert "4x on net needs 50 images/s of alpha where page gives 90 at batch 32; used here: 100" in row["detail"]
    assert "needs 40 images/s" in said("ratio", **claim, published=published, stated_images_per_s=80)["detail"]
    assert said("ratio", **{**claim, "measure": "usd"}, published=published)["detail"] is None
    assert said("ratio", **{**claim, "printed": None}, published=published)["detail"] is None


def test_devices_that_stand_idle_count_those_not_used():
    bill = {"price_list": "l", "instance": "vm", "purchase": "on_demand", "workload": "job", "gpus": 1, "usd": 5.0}
    claim = {"of": {"instance": "vm"}, "workload": "job", "utilisation": 0.8, "cards": 4}
    assert computed("idle", evidence={"costs": [bill]}, **claim, cards_used=2) == pytest.approx(5 * (1 - 0.8 * 2 / 4))
    row = said("idle", evidence={"costs": [bill]}, **claim)
    assert (row["computed"], row["detail"]) == (pytest.approx(1), "20% of 5 USD")


def test_what_one_bill_has_more_than_another_names_no_lines():
    use = {"price_list": "l", "purchase": "on_demand", "workload": "job", "gpus": 1, "line": "use"}
    bills = [use | {"instance": "vm", "usd": 5.0}, use | {"instance": "other", "usd": 3.0}]
    tables = {"bills": bills, "costs": [{key: row[key] for key in row if key != "line"} for row in bills]}
    row = said("bill", evidence=tables, of={"instance": "vm"}, workload="job", minus={"instance": "other"})
    assert (row["computed"], row["detail"]) == (2, None)
    assert said("bill", evidence=tables, of={"instance": "vm"}, workload="job", line="use")["detail"] is None
    assert said("bill", evidence=tables, of={"instance": "vm"}, workload="job")["detail"] == "use 5"


def test_an_extrapolated_figure_rests_on_the_speed_of_its_base_and_on_every_efficiency():
    cell = {"model": "net", "batch_size": 64, "basis": "published"}
    tables = {
        "extrapolation": [cell | {"instance": "box", "base_instance": "one", "method": "m", "images_per_s": 7.0}],
        "throughput": [cell | {"instance": name, "source": f"about-{name}"} for name in ("one", "two")],
        "efficiency": [cell | {"instance": "pair", "efficiency": 0.9, "source": "text"},
                       cell | {"instance": "trio", "efficiency": 0.7, "source": "elsewhere"}],
    }  # fmt: skip
    claim = {"instance": "box", "model": "net", "batch_size": 64, "method": "m"}
    row = said("extrapolated", evidence=tables, **claim)
    assert (row["computed"], row["rests_on"]) == (7, "speed of one (about-one); efficiency of trio (elsewhere)")
    assert said("extrapolated", evidence=tables, **claim | {"batch_size": 32})["verdict"] == "cannot be checked"
    assert computed("mean_efficiency", evidence=tables, model="net", batch_size=64) == pytest.approx(0.8)


def rates(**speeds):
    return {
        "throughput": [
            {"instance": name, "model": f"m{place}", "images_per_s": speed, "basis": "published", "status": "ok",
             "source": "text"}
            for name, values in speeds.items()
            for place, speed in enumerate(values)
        ]
    }  # fmt: skip


@pytest.mark.parametrize(("values", "middle"), [([3.0], 3), ([1.0, 2.0], 1.5), ([9.0, 1, 2], 2), ([8.0, 4, 2, 1], 3)])
def test_of_several_models_the_median_is_given(values, middle):
    evidence = rates(a=values, b=[1.0] * len(values))
    row = said("throughput_ratio", evidence=evidence, instance="a", to="b")
    assert (row["computed"], row["computed_low"], row["computed_high"]) == (middle, min(values), max(values))


def test_of_equal_evidence_the_fastest_counts():
    evidence = rates(a=[2.0], b=[1.0])
    evidence["throughput"].append({**evidence["throughput"][0], "images_per_s": 5.0})
    evidence["throughput"].append({**evidence["throughput"][0], "images_per_s": None})
    assert computed("throughput_ratio", evidence=evidence, instance="a", to="b") == 5


def test_both_bounds_of_a_count_are_within():
    found = counted({"one": 1.5, "two": 2.5, "three": 2.6}, (1.5, 2.5), ())
    assert found.values == {"all": 2}
    assert found.note == "Between 1.5 and 2.5 of one 1.5, two 2.5, three 2.6"


def test_options_without_a_speed_are_none():
    rows = [{"model": "m", "option": str(place), "images_per_s": speed} for place, speed in enumerate((None, 0, 0.5))]
    assert Evidence({"options": rows}).by_model == {"m": rows[2:]}


@pytest.mark.parametrize(
    ("expression", "printed", "verdict"),
    [
        ("1000000.0005", 1e6, "holds"),  # a part in a thousand million, for large numbers
        ("1000000.002", 1e6, "contradicted"),
        ("0.5000000008", 0.5, "holds"),  # and as much of 1 for small ones
        ("0.500000002", 0.5, "contradicted"),
        ("-5", -5, "holds"),
    ],
)
def test_the_last_digit_of_a_float_decides_nothing(expression, printed, verdict):
    assert said("arithmetic", expression=expression, printed=printed)["verdict"] == verdict


def test_the_rounding_of_an_input_widens_a_negative_value_too():
    row = said("arithmetic", expression="-1.06 * 3", rounded_inputs=["1.06"])
    assert (row["computed_low"], row["computed_high"]) == pytest.approx((-1.065 * 3, -1.055 * 3))


def test_a_verdict_is_given_in_the_words_of_the_claim_else_of_the_computation():
    assert said("arithmetic", expression="7 / 2", printed=3.5)["reason"] == "7 / 2 = 3.5"
    assert said("arithmetic", expression="7 / 2", printed=4)["reason"] == "7 / 2 = 3.5"
    assert said("arithmetic", expression="7 / 2")["reason"] == "The source prints no number for it"
    price = {"of": {"instance": "beta"}}
    assert said("price", **price, printed=0.4)["reason"] == "It comes out of the source's own figures"
    assert said("price", **price, printed=0.5)["reason"] == "Nothing is computed from it"
    elsewhere = {"expression": "7 / 2", "also": ["page"]}
    assert said("arithmetic", **elsewhere, printed=3.5)["reason"] == "It comes out with the figures of page"
    row = said("arithmetic", **elsewhere, printed=4, reason="Rounded")
    assert row["reason"] == "Rounded; used here: figures of page"
    assert said("arithmetic", expression="7 / 2", printed=4, reason="Rounded")["reason"] == "Rounded"
    assert said("fact")["reason"] == "A statement, not a computed figure"


def test_four_machines_are_named_and_of_five_three():
    figures = [Figure("speed", name, "stand_in", "") for name in "abcde"]
    assert foreign(figures[:4], frozenset()) == ["speed of a, b, c, d (stand-in)"]
    assert foreign(figures, frozenset()) == ["speed of a, b, c and 2 more (stand-in)"]


@pytest.mark.parametrize(
    ("basis", "source", "words"),
    [
        ("published", "text, table 1", []),
        ("scaled", "text ; text", []),
        ("published", "text ; page-2017, p. 3", ["speed of a (page-2017)"]),
        ("published", "", ["speed of a (no source)"]),
        ("", "text", ["speed of a (no basis)"]),
        ("extrapolated", "text", ["speed of a (extrapolated)"]),
        ("published", "text ; follow-up, p. 1", []),  # each link of one of the two
        ("published", "follow-up (2018) ; page-2017 ; other", ["speed of a (page-2017)"]),
        ("published", " ; ", ["speed of a (no source)"]),
    ],
)
def test_a_figure_is_the_sources_own_if_every_link_of_its_chain_is(basis, source, words):
    assert foreign([Figure("speed", "a", basis, source)] * 2, frozenset({"text", "follow-up"})) == words


def test_numbers_that_are_not_there_cannot_be_checked():
    rows = [{**row, "usd": math.nan} for row in OPTIONS if row["instance"] == "gamma"]
    others = [row for row in OPTIONS if row["instance"] != "gamma"]
    tables = {"options": [*others, *rows], "offers": OFFERS}
    assert said("rank", evidence=tables, measure="usd", of={"instance": "gamma"})["reason"] == "no usd there"
    assert said("rank", evidence=tables, measure="usd", of=ON_DEMAND)["computed"] == 3.5  # net 4th, big 3rd
    assert said("dominated", evidence=tables, of={"instance": "gamma"})["reason"] == "gamma has no usd"
    assert said("price", evidence={}, of={"instance": "gamma"})["verdict"] == "cannot be checked"


def test_an_option_without_usd_dominates_nothing():
    # Of net the box and alpha's own spot offer, of big the spot offer; gamma, faster than both, has no price.
    options = [{**row, "usd": None} if row["instance"] == "gamma" else row for row in OPTIONS]
    found = said("dominated", evidence={"options": options, "offers": []}, of=ON_DEMAND)
    assert (found["computed_low"], found["computed_high"]) == (1, 2)


def test_the_box_is_the_reference_that_is_owned_not_its_rental_nor_another_box():
    more = [option("box", "on_demand", 9.0, "net", 100.0), option("other", "own", 9.0, "net", 50.0)]
    assert Evidence({"options": [*OPTIONS, *more], "offers": []}).boxes["net"]["option"] == "box own"


def test_what_is_as_cheap_and_faster_or_as_fast_and_cheaper_dominates_and_a_twin_does_not():
    rows = [(4.0, 2.0), (4.0, 1.0), (3.0, 2.0), (4.0, 2.0), (3.0, 3.0)]  # the first is asked about
    options = [
        option(f"m{place}", "on_demand", 1.0, "net", 100.0) | {"usd": usd, "hours": hours}
        for place, (usd, hours) in enumerate(rows)
    ]
    found = said("dominated", evidence={"options": options, "offers": []}, of={"instance": "m0"})
    assert found["computed"] == 2


@pytest.mark.parametrize(
    ("days", "downtime", "part", "usd"),
    [
        # 24 x 20 hours, three quarters of them up: 360 at half a dollar, and a hundred whatever it does
        (20.0, 0.25, "electricity", 180.0),
        (20.0, 0.25, "all", 280.0),
        (20.0, 0.25, "fixed", 100.0),
        (20.0, 0.0, "electricity", 240.0),
        (30.0, 0.5, "all", 280.0),
    ],
)
def test_a_month_of_a_machine_draws_power_while_it_is_up(days, downtime, part, usd):
    offer = {**OFFERS[0], "days_per_month": days, "downtime_share": downtime, "fixed_usd_per_month": 100.0,
             "energy_usd_per_hour": 0.5}  # fmt: skip
    found = said("monthly_cost", evidence={"options": [], "offers": [offer]}, of={"instance": "box"}, part=part)
    assert found["computed"] == pytest.approx(usd)
