"""Lint within families and against known prices: each bound with a row just inside and one just outside, by hand."""

from collections import Counter
from datetime import date

import pytest
from price_lists import findings, price_list
from sweetspot.bills.lint.families import Family, digits_exchanged, families_of, name_family, outliers, rented_offers
from sweetspot.bills.lint.known import MACHINES as TABLE
from sweetspot.bills.lint.known import asked, dearest_rent, nearest, rent_of, vcpu_rent
from sweetspot.study.instances import Instance

DAY = date(2024, 6, 15)


def machine(name, gpu="CPU", gpus=1, vcpus=None, memory_gib=None, provider="a-cloud"):
    return Instance(title=name, provider=provider, gpu=gpu, gpus=gpus, vcpus=vcpus, memory_gib=memory_gib)


def listed(rows, provider="a-cloud", purchase="on_demand", day=DAY, **keys):
    """A list and its machines; rows: name, USD an hour, and what the machine is."""
    known = {name: machine(name, provider=provider, **facts) for name, _, facts in rows}
    offers = ({"instance": name, "purchase": purchase, "per_hour": usd} for name, usd, _ in rows)
    return price_list(*offers, as_of=day, **keys), known


def said(rows, provider="aws", **keys):
    """Messages by rule and machine."""
    prices, known = listed(rows, provider, **keys)
    return {(one.rule, one.instance): one.message for one in findings(prices, known, study_date=prices.as_of)}


def linted(rows, provider="a-cloud", severity="warning", **keys):
    """(rule, machine) of a list."""
    prices, known = listed(rows, provider, **keys)
    told = findings(prices, known, study_date=prices.as_of)
    return {(one.rule, one.instance) for one in told if one.severity == severity and one.rule != "spot_terms"}


def card(name, usd, gpus=1, gpu="a new card", **facts):
    return (name, usd, {"gpu": gpu, "gpus": gpus, **facts})


def gpus(prices, gpu="a new card"):
    """Machines of 1, 2, 4 and 8 devices."""
    return [card(f"m{n}", usd, n, gpu) for n, usd in zip((1, 2, 4, 8), prices, strict=False)]


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

# AWS, us-east-1: c5 is linear in vCPUs; c4.8xlarge has 36 vCPUs for 16 times c4.large.
AWS = {
    "c5": {"large": (0.085, 2), "xlarge": (0.17, 4), "2xlarge": (0.34, 8), "4xlarge": (0.68, 16)},
    "c4": {"large": (0.1, 2), "xlarge": (0.199, 4), "2xlarge": (0.398, 8), "4xlarge": (0.796, 16),
           "8xlarge": (1.591, 36)},
    "p3": {"2xlarge": (3.06, 1), "8xlarge": (12.24, 4), "16xlarge": (24.48, 8)},
    "p2": {"xlarge": (0.9, 1), "8xlarge": (7.2, 8), "16xlarge": (14.4, 16)},
}  # fmt: skip


def aws(name="c5", factor=1.0, sizes=None, **changed):
    """Rows of an AWS family, all times `factor`; changed prices by size with an x in front of a digit."""
    rows = []
    for size, (usd, units) in AWS[sizes or name].items():
        facts = {"vcpus": units} if name.startswith("c") else {"gpu": {"p3": "V100", "p2": "K80"}[name], "gpus": units}
        rows.append((f"{name}.{size}", round(changed.get(f"x{size}", usd) * factor, 6), facts))
    return rows


def known_machines(sizes=None):
    """AWS' processors at their only known price, by name: USD; of `sizes` alone, if any."""
    lines = [line.split(",") for line in TABLE.read_text().splitlines()]
    known = {name: float(usd) for provider, name, usd in lines if provider == "aws" and " " not in usd}
    first = "cmrti" if sizes is None else "cmr"
    wanted = (name for name in known if sizes is None or name.rpartition(".")[2] in sizes)
    return {name: known[name] for name in wanted if name[0] in first}


def families(count, shifted=(), factor=1.2):
    """So many families of AWS of two machines each, as known; those with the numbers in `shifted` times the factor."""
    vcpus, by_family = {"xlarge": 4, "2xlarge": 8}, {}
    for name, usd in known_machines(vcpus).items():
        by_family.setdefault(name.partition(".")[0], []).append((name, usd, vcpus[name.rpartition(".")[2]]))
    pairs = [rows for rows in by_family.values() if len(rows) == 2][:count]
    assert len(pairs) == count
    return [(name, round(usd * (factor if number in shifted else 1), 6), {"vcpus": cores})
            for number, rows in enumerate(pairs) for name, usd, cores in rows]  # fmt: skip


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


# ------------------------------------------------------------------------------------------------- shifted and digits


@pytest.mark.parametrize(
    ("factor", "severity"),
    [(0.94, "warning"), (0.96, None), (1.02, None), (1.05, "note"), (2.05, "note"), (2.15, "warning")],
)
def test_a_list_at_another_level(factor, severity):
    rows = [*aws(factor=factor), *aws("p3", factor), *aws("p2", factor)]
    for kind in ("note", "warning"):
        assert (("list_shifted", "") in linted(rows, provider="aws", severity=kind)) == (kind == severity)


@pytest.mark.parametrize(
    ("level", "factor", "told"),
    [(1.0, 1.2, True), (1.0, 1.11, True), (1.0, 1.09, False), (1.0, 0.92, False), (1.0, 0.89, True),
     (1.1, 1.2, True), (1.1, 1.09, False), (1.1, 0.85, True)],
)  # fmt: skip
def test_a_family_off_a_list_as_known_or_at_the_level_of_a_region(level, factor, told):
    rows = [*aws(factor=level * factor), *aws("p3", level), *aws("p2", level)]
    assert linted(rows, provider="aws") == ({("family_shifted", "c5.large")} if told else set())


@pytest.mark.parametrize(("machines", "told"), [(5, True), (4, False)])
def test_five_unlike_machines_tell_the_level_of_a_list(machines, told):
    """1.14 to 1.26 times what is known, no factor of all: 1.2 in the middle, which is another region's."""
    prices = {"xlarge": 1.14, "2xlarge": 1.18, "4xlarge": 1.22}
    rows = aws(**{f"x{size}": AWS["c5"][size][0] * factor for size, factor in prices.items()})[1:]
    rows += [*aws("p3", 1.2)[:1], *aws("p2", 1.26)[:1]][: machines - 3]
    assert (("list_shifted", "") in linted(rows, provider="aws", severity="note")) == told


@pytest.mark.parametrize(("machines", "told"), [(5, True), (4, False)])
def test_five_machines_tell_the_level_of_a_list(machines, told):
    """At 1.1 times, one K80 at 1.2 times that."""
    rows = [*aws("p2", 1.32)[:1], *aws("p3", 1.1)[:2], *aws(factor=1.1)[: machines - 3]]
    assert (("family_shifted", "p2.xlarge") in linted(rows, provider="aws")) == told


def test_where_a_regions_families_differ_a_family_must_be_farther_off():
    # p3 1.0, p2 1.12: the level is p3's and c5's median; twice log 1.12 is log 1.25
    for factor, told in ((1.2, False), (1.3, True)):
        rows = [*aws(factor=factor), *aws("p3"), *aws("p2", 1.12), *aws("c4")]
        assert (("family_shifted", "c5.large") in linted(rows, provider="aws")) == told


def test_what_is_said_of_a_family():
    told = said([*aws(factor=1.2), *aws("p3"), *aws("p2")])
    words = "the 4 prices of c5 are 1.2 times known ones of aws, the list's 6 others are as known"
    assert told == {("family_shifted", "c5.large"): words}
    told = said([*aws(), *aws("p3", 1.2), *aws("p2")])["family_shifted", "p3.2xlarge"]
    assert "the 3 prices of V100 are 1.2 times known ones of aws, the list's 7 others" in told
    told = said([*aws(factor=1.1), *aws("p3", 1.32), *aws("p2", 1.1)])["family_shifted", "p3.2xlarge"]
    assert told.endswith("are 1.32 times known ones of aws, the list's 7 others are 1.1 times")


def test_one_processor_is_no_family_but_two_are():
    one, two, *rest = families(10)
    dear = [(name, usd * 1.2, facts) for name, usd, facts in (one, two)]
    assert ("family_shifted", one[0]) in linted([*dear, *rest], provider="aws")
    assert linted([dear[0], *rest], provider="aws") == set()


@pytest.mark.parametrize(("count", "shifted", "told"), [(10, (3,), 1), (10, (3, 5), 0), (60, (3, 5), 0), (49, (3,), 1)])
def test_many_families_off_are_another_day(count, shifted, told):
    """One family, or two in a hundred: 1.2 of 60 is one."""
    found = linted(families(count, shifted), provider="aws")
    assert len([rule for rule, _ in found if rule == "family_shifted"]) == told


def test_a_list_of_one_family_has_no_level_of_its_own():
    assert linted(aws("p3", 0.79), provider="aws") == set()


@pytest.mark.parametrize(
    ("size", "usd", "told"),
    [("8xlarge", 12.42, True), ("8xlarge", 12.25, False), ("16xlarge", 24.84, True), ("16xlarge", 24.48, False)],
)
def test_two_digits_of_a_known_price(size, usd, told):
    found = linted([*aws("p3", **{f"x{size}": usd}), *aws()], provider="aws")
    assert found == ({("digits_exchanged", f"p3.{size}")} if told else set())


def test_digits_of_a_machine_without_a_family_and_in_a_region_by_the_others_of_the_family():
    lone = aws("p3", x8xlarge=12.42)[1]
    assert said([lone, *aws()]) == {("digits_exchanged", "p3.8xlarge"): (
        "p3.8xlarge at 12.42 looks like 12.24 with two digits exchanged; that is a known price of it")}  # fmt: skip
    # Where the others are not as known, nothing is said of digits.
    assert ("digits_exchanged", "p3.8xlarge") not in said([lone, *aws(factor=1.3)])
    # Seoul: p3 1.3 times: 3.978, 15.912, 31.824; 15.192 has two digits exchanged
    rows = [card("p3.2xlarge", 3.978, 1, "V100"), card("p3.8xlarge", 15.192, 4, "V100"),
            card("p3.16xlarge", 31.824, 8, "V100")]  # fmt: skip
    assert ("digits_exchanged", "p3.8xlarge") in linted(rows, provider="aws")


def test_a_known_price_is_not_another_one_with_digits_exchanged():
    """RunPod asked 5.89 and 5.98 for a B200 in 2026: each is a known price, neither the other mistyped."""
    for usd in (5.98, 5.89):
        rows = [card("x", usd, 1, "B200"), card("h", 2.99, 1, "H100")]
        assert ("digits_exchanged", "x") not in linted(rows, provider="runpod", day=date(2026, 6, 15))


OCI = [card("h100", 80.0, 8, "H100"), card("p100", 1.275, 1, "P100"), card("a10", 2.0, 1, "A10"),
       card("h200", 80.0, 8, "H200")]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        # Oracle asked 2.95 for a V100 in all that is known; 1.2 times that is named, where the rest is as known.
        *(([*OCI[:3], card("v100", usd, 1, "V100")], told)
          for usd, told in ((2.95, set()), (3.2, set()), (3.54, {"v100"}))),
        # four of five others are as known: 15 for 14, 7 %, is no fifth; three of four
        ([*OCI, card("v100", 3.54, 1, "V100"), card("b200", 15.0, 1, "B200")], {"v100"}),
        ([*OCI[1:], card("v100", 3.54, 1, "V100"), card("b200", 15.0, 1, "B200")], set()),
        # nor does a family of which one machine is as known
        ([*OCI, *(card(f"v{number}", 3.54, 1, "V100") for number in range(4)), card("known", 2.95, 1, "V100")], set()),
        # what is as known is so to four thousandths: 10.03 for 10, not 10.07
        *(([card("h100", usd, 8, "H100"), *OCI[1:3], card("v100", 3.54, 1, "V100")], told)
          for usd, told in ((80.24, {"v100"}), (80.56, set()))),
        # several prices or unlike ratios tell nothing: an A100 at Oracle is known at 3.05, 4 and 5
        ([*OCI, card("a100", 36.6, 8, "A100")], set()),
        ([*OCI, card("v1", 3.54, 1, "V100"), card("v2", 4.5, 1, "V100")], set()),
        ([*OCI, card("v1", 3.54, 1, "V100"), card("v2", 7.12, 2, "V100")], {"v1"}),
    ],
)  # fmt: skip
def test_a_family_is_told_where_four_fifths_of_the_others_are_as_known(rows, told):
    assert {name for rule, name in linted(rows, provider="oci") if rule == "family_shifted"} == told


def test_a_list_in_pounds_is_found_though_a_nearer_factor_fits_one_device():
    """3.16 for an A100 is 0.79 of a known 4, and 1.04 of a known 3.05."""
    whole = [*OCI, card("v100", 2.95, 1, "V100"), card("a100", 4.0, 1, "A100")]
    rows = [(name, usd * 0.79, facts) for name, usd, facts in whole]
    assert linted(rows, provider="oci") == {("list_shifted", "")}


def test_four_of_five_at_one_factor_are_the_list():
    rows = [(name, round(usd * 0.79, 6), facts) for name, usd, facts in OCI] + [card("b200", 15.0, 1, "B200")]
    assert ("list_shifted", "") in linted(rows, provider="oci")


def test_googles_machines_are_compared_by_device_but_not_those_with_any_host():
    """An H200 is known at 10.601 alone; a V100's machine costs 2.48 and what its host does."""
    rows = [card("a", 3.6725, 1, "A100"), card("h", 11.0612, 1, "H100"), card("l", 0.71, 1, "L4"),
            card("v", 2.55 * 1.2, 1, "V100"), card("new", 12.721, 1, "H200")]  # fmt: skip
    assert linted(rows, provider="google") == {("family_shifted", "new")}


@pytest.mark.parametrize(("factor", "shifted"), [(1.0, []), (1.4, [("family_shifted", "n1-V100-1")])])
def test_accelerators_of_a_composition_are_held_in_usd(factor, shifted):
    """Google asks 2.48 for a V100 and 1.46 for a P100; in euros at 1.25 USD (1.00 to 1.50) 1.984 and 1.168."""
    rate = {"currency": "XTS", "usd": {"value": 1.25, "low": 1.0, "high": 1.5}, "as_of": DAY, "source": "a bank"}
    known, offers = {}, []
    for gpu, usd in (("V100", 2.48 * factor), ("P100", 1.46)):
        for count in (1, 2, 4):
            known[f"n1-{gpu}-{count}"] = machine("n1", gpu=gpu, gpus=count, provider="gce")
            host = {"name": f"n1-standard-{8 * count}", "per_hour": 0.304 * count}
            parts = {"machine": host, "gpu": {"name": gpu, "per_hour": usd / 1.25}, "count": count}
            offers.append({"instance": f"n1-{gpu}-{count}", "compose": parts})
    told = findings(price_list(*offers, as_of=DAY, currency="XTS", rates=[rate]), known, study_date=DAY)
    assert [(one.rule, one.instance) for one in told if "shifted" in one.rule] == shifted


# ---------------------------------------------------------------------------------------------- orders of magnitude


def unknown(*prices):
    return [card(f"x{number}", usd, 1, f"card {number}") for number, usd in enumerate(prices)]


def test_beyond_four_times_the_dearest_known():
    assert linted(unknown(4 * dearest_rent())) == set()
    assert linted(unknown(4 * dearest_rent() * 1.001)) == {("market_level", "x0")}


@pytest.mark.parametrize("purchase", ["on_demand", "spot"])
def test_a_fourth_of_the_cheapest_known_spot_or_on_demand(purchase):
    level = rent_of("t4", DAY.year, spot=purchase == "spot")
    for factor, told in ((0.251, set()), (0.249, {("market_level", "x")})):
        assert linted([card("x", factor * level.low, 1, "T4")], purchase=purchase) == told
    assert rent_of("t4", DAY.year, spot=True).low < rent_of("t4", DAY.year).low / 4


@pytest.mark.parametrize(("factor", "told"), [(1 / 39.9, set()), (1 / 40.1, {("market_level", "x")})])
def test_spot_processors_go_down_to_a_tenth(factor, told):
    """Four times below a tenth of the cheapest on demand."""
    low = vcpu_rent().low
    assert vcpu_rent().high >= 2 * low
    rows = [card("x", 8 * factor * low, gpu="CPU", vcpus=8, memory_gib=32)]
    assert linted(rows, purchase="spot") == told


@pytest.mark.parametrize(("year", "usd"), [(2010, (0.9, 0.9)), (2040, (0.45, 0.9))])  # of 2016, of 2026
def test_a_device_without_a_price_of_about_that_year_has_that_of_the_nearest_alone(year, usd):
    level = rent_of("k80", year)
    assert (level.low, level.high) == usd


def test_the_hint_of_a_price_far_off_an_unknown_device():
    """The middle of the range of an unknown device is a tenth of the dearest known."""
    # 24, 100, 168 and 730 times that, within half and twice each
    hints = {47: "(the price of a day?)", 51: "(cents?)", 199: "(cents?)", 201: "(the price of a week?)",
             335: "(the price of a week?)", 366: "(the price of a month?)",
             1459: "(the price of a month?)"}  # fmt: skip
    for factor in (*hints, 49, 337, 364, 1461):
        (words,) = said(unknown(0.1 * dearest_rent() * factor)).values()
        assert words.endswith(hints.get(factor, f"a card 0; known prices are 0 to {dearest_rent():.3g}"))
    (words,) = said([("n1", 50.0, {"vcpus": 4})], provider="b").values()
    assert "is 12.5 a vCPU; known prices are" in words


def test_one_finding_where_four_fifths_are_far_off_and_of_a_list_shifted_as_a_whole():
    far = 5 * dearest_rent()
    assert set(said(unknown(far, far, far, far, 1.0))) == set(said(unknown(far, far))) == {("market_level", "")}
    (words,) = said(unknown(far, 2 * far)).values()  # of a tenth of the dearest, the middle of what is known
    assert words.startswith("all 2 prices are far off: 50 to 100 the known level")
    # a T4 was 0.28 to 4.35: 1.104 in the middle
    (words,) = said([card("a", 0.01, 1, "T4"), card("b", 0.02, 1, "T4")], provider="b").values()
    assert words.startswith("all 2 prices are far off: 1/110 of to 1/55.2 of the known level")
    assert set(said(unknown(far, far, far, 1.0, 1.0))) == {("market_level", f"x{number}") for number in range(3)}
    rows = [*aws(factor=8.0), *aws("p3", 8.0), *aws("p2", 8.0)]
    assert set(said(rows)) in ({("list_shifted", "")}, {("market_level", "")})
