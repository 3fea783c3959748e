"""Lint within families: each bound with a row just inside and one just outside, by hand."""

from collections import Counter

import pytest
from price_lists import findings, price_list
from rented_rows import DAY, aws, card, gpus, known_machines, linted, listed, said
from sweetspot.bills.lint.families import Family, digits_exchanged, families_of, name_family, outliers, rented_offers
from sweetspot.bills.lint.known import asked, nearest

# ----------------------------------------------------------------------------------------------- names and groups


@pytest.mark.parametrize(
    ("name", "vcpus", "memory", "family"),
    [
        ("c5.2xlarge", 8, 16, "c5"),
        ("c5.metal", 96, 192, "c5"),
        ("u-6tb1.112xlarge", 448, 6144, "u-6tb1"),
        ("Standard_D4as_v5", 4, 16, "Standard_D#as_v5"),
        ("Standard_D2_v2", 2, 7, "Standard_D#_v2"),  # the version stays, though the machine has 2 vCPUs
        ("Standard_E16-4as_v5", 4, 128, "Standard_E16-#as_v5"),
        ("n1-standard-16", 16, 60, "n1-standard-#"),
        ("n1-standard-16", None, None, "n1-standard-#"),
        ("h1v72m288", 72, 288, "h1v#m#"),
        ("h1v72m288", 72, None, "h1v#m#"),  # at the end
        ("s1v2m32x", 2, None, "s1v#m32x"),
        ("Standard_D11_v2", 2, 14, "Standard_D11_v2"),
    ],
)
def test_the_family_of_a_name_is_the_name_without_its_size(name, vcpus, memory, family):
    assert name_family(name, vcpus, memory) == family


def rented(rows, provider="a-cloud"):
    prices, known = listed(rows, provider)
    return rented_offers(prices, known, {index: usd for index, (_, usd, _) in enumerate(rows)})


def grouped(rows):
    return sorted(sorted(family.members) for family in families_of(rented(rows)))


def test_a_family_falls_apart_by_vcpus_and_by_memory_a_device():
    sizes = {"a": (10, 100), "b": (11, 100), "c": (12, 100), "d": (10, 111)}
    rows = [card(name, 2.0, gpu="L40S", vcpus=vcpus, memory_gib=gib) for name, (vcpus, gib) in sizes.items()]
    # 11 is within a tenth of 10, 12 is not; 111 GiB is not within a tenth of 100.
    assert grouped(rows) == [["a", "b"], ["c"], ["d"]]
    assert grouped([rows[0], card("e", 3.0, 2, "L40S", vcpus=20, memory_gib=200)]) == [["a", "e"]]  # as much a device


def test_processors_fall_apart_by_memory_a_vcpu_where_all_say_theirs():
    rows = [("x.large", 0.1, {"vcpus": 2, "memory_gib": 8}), ("x.xlarge", 0.2, {"vcpus": 4, "memory_gib": 16}),
            ("x.nano", 0.02, {"vcpus": 2, "memory_gib": 0.5})]  # fmt: skip
    assert grouped(rows) == [["x.large", "x.xlarge"], ["x.nano"]]
    assert grouped([*rows[:2], ("x.nano", 0.02, {"vcpus": 2})]) == [["x.large", "x.nano", "x.xlarge"]]
    for place in range(3):  # without vCPUs: of no family, wherever it stands
        assert grouped([*rows[:place], ("y.large", 0.1, {}), *rows[place:2]]) == [["x.large", "x.xlarge"]]


def test_without_vcpus_as_many_devices_at_two_prices_silence_a_family():
    for usd, found in ((1.06, [["a", "b", "c"]]), (1.07, [])):  # 6 % may be
        assert grouped([card("a", 1.0), card("b", usd), card("c", 4.0, 4)]) == found
    assert grouped([card("a", 1.0), card("b", 2.0, vcpus=8), card("c", 4.0, 4, vcpus=32)]) == []  # where one lacks them


# ------------------------------------------------------------------------------------------------------- outliers

V100 = {"gpu": "V100"}
P2 = [card("p2.xlarge", 0.9, 1, "K80"), card("p2.8xlarge", 4.56, 8, "K80"), card("g3.16xlarge", 7.2, 4, "M60")]
TWO = {("per_gpu", "m1"), ("per_gpu", "m8")}


@pytest.mark.parametrize(
    ("rows", "purchase", "told"),
    [
        # 8 / 1.06 = 7.547, 8 x 1.06 = 8.48, and half a cent
        *((gpus([1.0, 2.0, 4.0, last]), "on_demand", {("per_gpu", "m8")} if odd else set())
          for last, odd in ((8.48, False), (8.53, True), (7.55, False), (7.50, True))),
        *(([(f"x.{size}large", usd, {"vcpus": vcpus}) for size, usd, vcpus in
            (("", 0.125, 2), ("x", 0.25, 4), ("2x", 0.5, 8), ("4x", last, 16))], "on_demand", told)
          for last, told in ((1.06, set()), (1.07, {("per_vcpu", "x.4xlarge")}))),
        # of two both are named, beyond a quarter, and of spot beyond four times
        *(([card("m1", 1.0), card("m8", last, 8)], purchase, told) for purchase, last, told in (
            ("on_demand", 10.0, set()), ("on_demand", 10.1, TWO), ("spot", 32.0, set()), ("spot", 32.5, TWO))),
        # digits need two others that agree
        (gpus([3.06, 6.12, 12.42]), "on_demand", {("digits_exchanged", "m4")}),
        ([gpus([3.06])[0], gpus([0, 0, 12.42])[2]], "on_demand", set()),
        (gpus([3.06, 6.15, 12.42]), "on_demand", set()),  # 0.5 % apart
        (gpus([3.00, 6.24, 12.42]), "on_demand", set()),  # 4 % apart, though their middle makes 12.24
        # what is off its family is not also digits: 9.6 exchanged
        (gpus([1.2, 2.4, 4.8, 6.9]), "on_demand", {("per_gpu", "m8")}),
    ],
)  # fmt: skip
def test_a_price_off_its_family(rows, purchase, told):
    assert linted(rows, purchase=purchase) == told


@pytest.mark.parametrize(
    ("per_unit", "cents", "odd"),
    [
        # The farthest has four others; three of four agree with their median, or two.
        ([1.0, 1.0, 1.0, 1.5, 3.0], 0.0, [(4, 1.0)]),
        ([1.0, 1.0, 1.0, 1.5, 1.5, 3.0], 0.0, []),
        ([1.0, 1.0, 1.0, 0.1], 0.0, [(3, 1.0)]),  # a tenth is as far off as ten times
        ([1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.4], 0.0, [(6, 1.0)]),
        ([1.0], 0.0, []),
        # Half a cent is rounding: 0.0115 and 0.0012 for 0.0065 are within it.
        ([0.0065, 0.0065, 0.0115], 0.005, []),
        ([0.0065, 0.0065, 0.0120], 0.005, [(2, 0.0065)]),
        ([0.0065, 0.0065, 0.0012], 0.005, []),
        ([0.0065, 0.0065, 0.0010], 0.005, [(2, 0.0065)]),
    ],
)
def test_the_farthest_is_blamed_where_most_others_agree(per_unit, cents, odd):
    members = dict(enumerate(per_unit))
    assert outliers(members, dict.fromkeys(members, cents), 0.06) == odd


@pytest.mark.parametrize(
    ("found", "expected", "exchanged"),
    [
        (12.42, 12.24, True), (3.6, 3.06, True), (21.24, 12.24, True), (12.24, 12.24, False), (12.25, 12.24, False),
        (14.22, 12.24, False), (112.42, 12.24, False),  # 3.60 and 3.06; not neighbours; another length
        (3.6, 3.064, True), (3.6, 3.604, False), (3.601, 3.064, False),  # to the decimals of what was found, at least 2
    ],
)  # fmt: skip
def test_which_digits_are_exchanged(found, expected, exchanged):
    assert digits_exchanged(found, expected) == exchanged


def test_digits_in_the_lists_own_money():
    rate = {"currency": "XTS", "usd": 1.25, "as_of": DAY, "source": "a bank"}
    told = said(gpus([3.06, 6.12, 12.42]), "b", currency="XTS", rates=[rate])
    assert set(told) == {("digits_exchanged", "m4")}


def test_of_two_odd_spot_prices_the_one_far_below_on_demand_is_named():
    _, known = listed([card("a", 1.0, 1, "V100"), card("b", 1.0, 4, "V100")])
    offers = [{"instance": "a", "per_hour": 3.06}, {"instance": "b", "per_hour": 12.24},
              {"instance": "a", "purchase": "spot", "per_hour": 0.1},
              {"instance": "b", "purchase": "spot", "per_hour": 4.9}]  # fmt: skip
    told = findings(price_list(*offers, as_of=DAY), known, study_date=DAY)
    warned = {(one.rule, one.instance) for one in told if one.severity == "warning"}
    assert warned == {("per_gpu", "a"), ("spot_far_below", "a")}


def swapped(rows, **keys):
    return {name for rule, name in linted(rows, **keys) if rule == "swapped"}


def test_rows_exchanged_must_put_both_right():
    """DAWNBench's two prices; and two machines that happen to cost the same are no exchange."""
    assert swapped(P2, provider="aws") == {"p2.8xlarge", "g3.16xlarge"}
    # To a hundredth: 7.26 for 7.2, not 7.30.
    for usd, told in ((7.26, {"p2.8xlarge", "g3.16xlarge"}), (7.30, set())):
        assert swapped([*P2[:2], card("g3.16xlarge", usd, 4, "M60")], provider="aws") == told
    # g3.16xlarge costs 7.2 here: p2.8xlarge should, and its own price is none for four M60.
    assert swapped([P2[0], card("p2.8xlarge", 70.0, 8, "K80"), P2[2]], provider="aws") == set()
    # A card with a surcharge (8 at 98 instead of 88.488) beside another machine at 88.488.
    h100 = [card("a1", 11.061), card("a2", 22.122, 2), card("a8", 98.0, 8), card("b8", 88.488, 8, "other card")]
    assert swapped(h100) == set()
    # Two families with exchanged prices are both odd.
    both = [card("a1", 1.0, 1, "one"), card("a2", 2.0, 2, "one"), card("a4", 12.0, 4, "one"),
            card("b1", 3.0, 1, "two"), card("b2", 6.0, 2, "two"), card("b4", 4.0, 4, "two")]  # fmt: skip
    assert swapped(both) == {"a4", "b4"}
    # a4 costs 16 instead of 20, which b8 costs: 2.5 for each of its eight V100, as they do; at 16 it would be 2.
    usual = [card("a1", 5.0), card("a2", 10.0, 2), card("a4", 16.0, 4), card("b8", 20.0, 8, "V100")]
    assert swapped(usual) == set()


def test_an_exchange_is_between_prices_of_one_purchase():
    _, known = listed(P2, "aws")
    for purchase, expected in (("on_demand", True), ("reserved", False)):
        offers = [{"instance": name, "per_hour": usd, "purchase": purchase if name[0] == "g" else "on_demand"}
                  for name, usd, _ in P2]  # fmt: skip
        told = findings(price_list(*offers, as_of=DAY), known, study_date=DAY)
        assert any(one.rule == "swapped" for one in told) == expected


# ----------------------------------------------------------------------------------------- known prices of machines


def test_known_prices_are_found_by_provider_and_machine():
    assert asked("aws", "c5.large") == (0.085,)
    assert asked("Amazon", "p3.2xlarge") == (3.06,)
    assert asked("gce", "n1-standard-4") == pytest.approx((0.19,), rel=1e-3)
    assert asked("aws", "no.such") == asked("a-cloud", "c5.large") == ()
    assert nearest(10.0, (1.0, 30.0)) == 30.0  # by ratio: 10 times or 3 times
    assert nearest(5.0, (1.0, 30.0)) == 1.0


def test_a_machine_whose_known_price_is_not_linear_is_no_fault():
    assert linted(aws("c4"), provider="aws") == set()
    assert linted(aws("c4"), provider="a-cloud") == {("per_vcpu", "c4.8xlarge")}


@pytest.mark.parametrize(
    ("factor", "usd", "odd"),
    [
        # 0.68 x 1.12 = 0.7616 and 0.68 / 1.12 = 0.6071, each with half a cent
        (1.0, 0.76, False), (1.0, 0.77, True), (1.0, 0.61, False), (1.0, 0.60, True),
        # what costs what is known is not odd in a family that does not
        (1.2, 0.68 * 1.002 / 1.2, False), (1.2, 0.68 * 1.006 / 1.2, True), (1.2, 0.68 * 0.994 / 1.2, True),
    ],
)  # fmt: skip
def test_a_known_machine_is_off_its_family_by_more_than_twelve_per_cent(factor, usd, odd):
    assert (("per_vcpu", "c5.4xlarge") in linted(aws(factor=factor, x4xlarge=usd), provider="aws")) == odd


@pytest.mark.parametrize(("odd", "machines", "told"), [(2, 60, 2), (3, 60, 0), (3, 596, 0), (3, 604, 3), (4, 604, 0)])
def test_how_many_odd_machines_say_that_known_prices_are_of_another_day(odd, machines, told):
    """More than two, and more than five in a thousand: of 600 known machines three are just that."""
    rows = [(name, usd, {"vcpus": 8}) for name, usd in known_machines().items()][:machines]
    sizes = Counter(name.partition(".")[0] for name, _, _ in rows)
    dear = {name.partition(".")[0]: name for name, _, _ in rows if sizes[name.partition(".")[0]] > 3}
    chosen = set(list(dear.values())[:odd])
    assert (len(rows), len(chosen)) == (machines, odd)
    found = linted([(name, usd * (1.5 if name in chosen else 1), facts) for name, usd, facts in rows], provider="aws")
    assert {name for rule, name in found if rule == "per_vcpu"} == (chosen if told else set())


def test_a_family_goes_by_known_prices_where_each_of_it_has_one():
    """p3.2xlarge and p3.8xlarge are known at 3.06 and 12.24; a machine that nobody knows has its devices alone."""
    rows = [
        card("p3.2xlarge", 6.12, 1, "V100"),
        card("p3.8xlarge", 24.48, 4, "V100"),
        card("p3.huge", 50.0, 10, "V100"),
    ]
    members = {one.name: one for one in rented(rows, "aws")}
    known = Family({name: members[name] for name in ("p3.2xlarge", "p3.8xlarge")})
    assert known.per_unit == pytest.approx({"p3.2xlarge": 2.0, "p3.8xlarge": 2.0})
    assert Family(members).per_unit == pytest.approx({"p3.2xlarge": 6.12, "p3.8xlarge": 6.12, "p3.huge": 5.0})
