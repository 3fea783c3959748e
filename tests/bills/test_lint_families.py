"""Lint within families and against known prices: each bound with a row just inside and one just outside, by hand."""

from collections import Counter
from datetime import date

import pytest
from price_lists import findings, price_list
from sweetspot.bills.lint.families import Family, families_of, name_family, outliers, rented_offers
from sweetspot.bills.lint.known import MACHINES as TABLE
from sweetspot.bills.lint.known import asked, nearest
from sweetspot.study.instances import Instance

YEAR = 2024


def machine(name, gpu="CPU", gpus=1, vcpus=None, memory_gib=None, provider="a-cloud"):
    return Instance(title=name, provider=provider, gpu=gpu, gpus=gpus, vcpus=vcpus, memory_gib=memory_gib)


def linted(rows, purchase="on_demand", provider="a-cloud", severity="warning", day=date(YEAR, 6, 15)):
    """(rule, machine) of a list; rows: name, USD an hour, and what the machine is."""
    known = {name: machine(name, provider=provider, **facts) for name, _, facts in rows}
    listed = ({"instance": name, "purchase": purchase, "per_hour": usd} for name, usd, _ in rows)
    prices = price_list(*listed, as_of=day)
    told = findings(prices, known, study_date=day)
    return {(one.rule, one.instance) for one in told if one.severity == severity and one.rule != "spot_terms"}


def gpus(prices, gpu="a new card"):
    """Machines of 1, 2, 4 and 8 devices."""
    return [(f"m{n}", usd, {"gpu": gpu, "gpus": n}) for n, usd in zip((1, 2, 4, 8), prices, strict=False)]


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


def grouped(rows, **keys):
    known = {name: machine(name, **facts) for name, _, facts in rows}
    prices = price_list(*({"instance": name, "per_hour": usd} for name, usd, _ in rows), as_of=date(YEAR, 6, 15))
    found = families_of(rented_offers(prices, known, {index: usd for index, (_, usd, _) in enumerate(rows)}))
    return sorted(sorted(family.members) for family in found)


def test_a_family_falls_apart_by_vcpus_and_by_memory_a_device():
    card = {"gpu": "L40S", "gpus": 1}
    sizes = {"a": (10, 100), "b": (11, 100), "c": (12, 100), "d": (10, 111)}
    rows = [(name, 2.0, card | {"vcpus": vcpus, "memory_gib": gib}) for name, (vcpus, gib) in sizes.items()]
    # 11 is within a tenth of 10, 12 is not; 111 GiB is not within a tenth of 100.
    assert grouped(rows) == [["a", "b"], ["c"], ["d"]]
    two = {"gpu": "L40S", "gpus": 2, "vcpus": 20, "memory_gib": 200}
    assert grouped([rows[0], ("e", 3.0, two)]) == [["a", "e"]]  # as much a device


def test_processors_fall_apart_by_memory_a_vcpu_where_all_say_theirs():
    rows = [("x.large", 0.1, {"vcpus": 2, "memory_gib": 8}), ("x.xlarge", 0.2, {"vcpus": 4, "memory_gib": 16}),
            ("x.nano", 0.02, {"vcpus": 2, "memory_gib": 0.5})]  # fmt: skip
    assert grouped(rows) == [["x.large", "x.xlarge"], ["x.nano"]]
    unsaid = [*rows[:2], ("x.nano", 0.02, {"vcpus": 2})]
    assert grouped(unsaid) == [["x.large", "x.nano", "x.xlarge"]]
    for place in range(3):  # without vCPUs: of no family, wherever it stands
        assert grouped([*rows[:place], ("y.large", 0.1, {}), *rows[place:2]]) == [["x.large", "x.xlarge"]]


def test_without_vcpus_as_many_devices_at_two_prices_silence_a_family():
    one = [
        ("a", 1.0, {"gpu": "c", "gpus": 1}),
        ("b", 1.06, {"gpu": "c", "gpus": 1}),
        ("c", 4.0, {"gpu": "c", "gpus": 4}),
    ]
    assert grouped(one) == [["a", "b", "c"]]  # 6 % may be
    assert grouped([one[0], ("b", 1.07, one[1][2]), one[2]]) == []


# ------------------------------------------------------------------------------------------------------- outliers


@pytest.mark.parametrize(
    ("last", "odd"),
    [(8.48, False), (8.53, True), (7.55, False), (7.50, True)],  # 8 / 1.06 = 7.547, 8 x 1.06 = 8.48, and half a cent
)
def test_a_price_per_device_is_off_by_more_than_six_per_cent(last, odd):
    assert linted(gpus([1.0, 2.0, 4.0, last])) == ({("per_gpu", "m8")} if odd else set())


@pytest.mark.parametrize(("last", "odd"), [(1.06, False), (1.07, True)])
def test_a_price_per_vcpu_is_off_by_more_than_six_per_cent(last, odd):
    rows = [(f"x.{size}large", usd, {"vcpus": vcpus}) for size, usd, vcpus in
            (("", 0.125, 2), ("x", 0.25, 4), ("2x", 0.5, 8), ("4x", last, 16))]  # fmt: skip
    assert linted(rows) == ({("per_vcpu", "x.4xlarge")} if odd else set())


@pytest.mark.parametrize(("last", "odd"), [(10.0, set()), (10.1, {("per_gpu", "m1"), ("per_gpu", "m8")})])
def test_of_two_machines_both_are_named_beyond_a_quarter(last, odd):
    rows = [("m1", 1.0, {"gpu": "a new card", "gpus": 1}), ("m8", last, {"gpu": "a new card", "gpus": 8})]
    assert linted(rows) == odd


def test_of_two_spot_machines_both_are_named_beyond_four_times():
    rows = [("m1", 1.0, {"gpu": "a new card", "gpus": 1}), ("m8", 32.0, {"gpu": "a new card", "gpus": 8})]
    assert linted(rows, "spot") == set()
    assert linted([rows[0], ("m8", 32.5, rows[1][2])], "spot") == {("per_gpu", "m1"), ("per_gpu", "m8")}


def test_a_family_that_is_not_linear_blames_nobody():
    # The farthest has four others; three of four agree with their median, or two.
    cents = dict.fromkeys("abcde", 0.0)
    assert outliers({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.5, "e": 3.0}, cents, 0.06) == [("e", 1.0)]
    six = cents | {"f": 0.0}
    assert outliers({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.5, "e": 1.5, "f": 3.0}, six, 0.06) == []


def test_the_farthest_is_blamed_up_or_down():
    cents = dict.fromkeys("abcd", 0.0)
    assert outliers({"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.1}, cents, 0.06) == [("d", 1.0)]
    tie = outliers(
        {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 2.0, "g": 0.4}, cents | {x: 0.0 for x in "efg"}, 0.06
    )
    assert tie == [("g", 1.0)]
    assert outliers({"a": 1.0}, cents, 0.06) == []


def test_half_a_cent_is_rounding():
    # A tenth of a cent: 0.0115 and 0.0175 for twice 0.0065 are within half a cent.
    assert outliers({"a": 0.0065, "b": 0.0065, "c": 0.0115}, dict.fromkeys("abc", 0.005), 0.06) == []
    assert outliers({"a": 0.0065, "b": 0.0065, "c": 0.0120}, dict.fromkeys("abc", 0.005), 0.06) == [("c", 0.0065)]
    assert outliers({"a": 0.0065, "b": 0.0065, "c": 0.0012}, dict.fromkeys("abc", 0.005), 0.06) == []
    assert outliers({"a": 0.0065, "b": 0.0065, "c": 0.0010}, dict.fromkeys("abc", 0.005), 0.06) == [("c", 0.0065)]


# ----------------------------------------------------------------------------------------- known prices of machines

# AWS, us-east-1: c5 is linear in vCPUs; c4.8xlarge has 36 vCPUs for 16 times c4.large.
C5 = {"large": (0.085, 2), "xlarge": (0.17, 4), "2xlarge": (0.34, 8), "4xlarge": (0.68, 16)}
C4 = {"large": (0.1, 2), "xlarge": (0.199, 4), "2xlarge": (0.398, 8), "4xlarge": (0.796, 16), "8xlarge": (1.591, 36)}
P3 = {"2xlarge": (3.06, 1), "8xlarge": (12.24, 4), "16xlarge": (24.48, 8)}
P2 = {"xlarge": (0.9, 1), "8xlarge": (7.2, 8), "16xlarge": (14.4, 16)}


def aws(family=C5, name="c5", factor=1.0, **changed):
    """Rows of an AWS family, all times `factor`; changed prices by size with an x in front of a digit."""
    rows = []
    for size, (usd, units) in family.items():
        facts = {"vcpus": units} if name.startswith("c") else {"gpu": {"p3": "V100", "p2": "K80"}[name], "gpus": units}
        rows.append((f"{name}.{size}", round(changed.get(f"x{size}", usd) * factor, 6), facts))
    return rows


def every_known_machine(count):
    """So many of AWS' machines without devices at their known prices; of which vCPUs plays no part then."""
    lines = [line.split(",") for line in TABLE.read_text().splitlines()]
    rows = [(name, float(usd), {"vcpus": 8}) for provider, name, usd in lines if provider == "aws" and " " not in usd]
    processors = [row for row in rows if row[0][0] in "cmrti"]
    assert len(processors) >= count
    return processors[:count]


def test_known_prices_are_found_by_provider_and_machine():
    assert asked("aws", "c5.large") == (0.085,)
    assert asked("Amazon", "p3.2xlarge") == (3.06,)
    assert asked("gce", "n1-standard-4") == pytest.approx((0.19,), rel=1e-3)
    assert asked("aws", "no.such") == asked("a-cloud", "c5.large") == ()
    assert nearest(10.0, (1.0, 30.0)) == 30.0  # by ratio: 10 times or 3 times
    assert nearest(5.0, (1.0, 30.0)) == 1.0


def test_a_machine_whose_known_price_is_not_linear_is_no_fault():
    assert linted(aws(C4, "c4"), provider="aws") == set()
    assert linted(aws(C4, "c4"), provider="a-cloud") == {("per_vcpu", "c4.8xlarge")}


@pytest.mark.parametrize(("usd", "odd"), [(0.76, False), (0.77, True), (0.61, False), (0.60, True)])
def test_a_known_machine_is_off_its_family_by_more_than_twelve_per_cent(usd, odd):
    # 0.68 x 1.12 = 0.7616 and 0.68 / 1.12 = 0.6071, each with half a cent
    found = linted(aws(x4xlarge=usd), provider="aws")
    assert (("per_vcpu", "c5.4xlarge") in found) == odd


@pytest.mark.parametrize(("share", "odd"), [(1.002, False), (1.006, True), (0.994, True)])
def test_a_machine_that_costs_what_is_known_is_not_odd_in_a_family_that_does_not(share, odd):
    found = linted(aws(factor=1.2, x4xlarge=0.68 * share / 1.2), provider="aws")
    assert (("per_vcpu", "c5.4xlarge") in found) == odd


def test_many_odd_known_machines_are_of_another_day():
    odd = [row for name in ("c5", "c5a", "c5d", "c5n") for row in aws(C5, name)]
    rows = [(name, usd * (1.3 if name.endswith(".4xlarge") else 1.0), facts) for name, usd, facts in odd]
    assert not any(rule == "per_vcpu" for rule, _ in linted(rows, provider="aws"))


# ------------------------------------------------------------------------------------------------- shifted and digits


@pytest.mark.parametrize(
    ("factor", "severity"),
    [(0.94, "warning"), (0.96, None), (1.02, None), (1.05, "note"), (2.05, "note"), (2.15, "warning")],
)
def test_a_list_at_another_level(factor, severity):
    rows = [*aws(factor=factor), *aws(P3, "p3", factor), *aws(P2, "p2", factor)]
    for kind in ("note", "warning"):
        told = ("list_shifted", "") in linted(rows, provider="aws", severity=kind)
        assert told == (kind == severity)


@pytest.mark.parametrize(("factor", "told"), [(1.2, True), (1.11, True), (1.09, False), (0.92, False), (0.89, True)])
def test_a_family_off_a_list_as_known(factor, told):
    rows = [*aws(factor=factor), *aws(P3, "p3"), *aws(P2, "p2")]
    assert linted(rows, provider="aws") == ({("family_shifted", "c5.large")} if told else set())


@pytest.mark.parametrize(("factor", "told"), [(1.2, True), (1.09, False), (0.85, True)])
def test_a_family_off_the_level_of_a_region(factor, told):
    """Everything 1.1 times the usual place's prices, one family that times the factor."""
    rows = [*aws(factor=1.1 * factor), *aws(P3, "p3", 1.1), *aws(P2, "p2", 1.1)]
    assert linted(rows, provider="aws") == ({("family_shifted", "c5.large")} if told else set())


def test_where_a_regions_families_differ_a_family_must_be_farther_off():
    # p3 1.0, p2 1.12: the level is p3's and c5's median; twice log 1.12 is log 1.25
    near = [*aws(factor=1.2), *aws(P3, "p3"), *aws(P2, "p2", 1.12), *aws(C4, "c4")]
    far = [*aws(factor=1.3), *aws(P3, "p3"), *aws(P2, "p2", 1.12), *aws(C4, "c4")]
    assert ("family_shifted", "c5.large") not in linted(near, provider="aws")
    assert ("family_shifted", "c5.large") in linted(far, provider="aws")


@pytest.mark.parametrize(
    ("size", "usd", "told"),
    [("8xlarge", 12.42, True), ("8xlarge", 12.25, False), ("16xlarge", 24.84, True), ("16xlarge", 24.48, False)],
)
def test_two_digits_of_a_known_price(size, usd, told):
    found = linted([*aws(P3, "p3", **{f"x{size}": usd}), *aws()], provider="aws")
    assert found == ({("digits_exchanged", f"p3.{size}")} if told else set())


def test_two_digits_in_a_region_by_the_others_of_the_family():
    # Seoul: p3 1.3 times: 3.978, 15.912, 31.824; 15.192 has two digits exchanged
    rows = [("p3.2xlarge", 3.978), ("p3.8xlarge", 15.192), ("p3.16xlarge", 31.824)]
    card = {"p3.2xlarge": 1, "p3.8xlarge": 4, "p3.16xlarge": 8}
    listed = [(name, usd, {"gpu": "V100", "gpus": card[name]}) for name, usd in rows]
    assert ("digits_exchanged", "p3.8xlarge") in linted(listed, provider="aws")


def test_rows_exchanged_must_put_both_right():
    """DAWNBench's two prices; and two machines that happen to cost the same are no exchange."""
    g3 = ("g3.16xlarge", 7.2, {"gpu": "M60", "gpus": 4})
    swapped = [("p2.xlarge", 0.9, {"gpu": "K80", "gpus": 1}), ("p2.8xlarge", 4.56, {"gpu": "K80", "gpus": 8}), g3]
    found = linted(swapped, provider="aws")
    assert {("swapped", "p2.8xlarge"), ("swapped", "g3.16xlarge")} <= found
    # g3.16xlarge costs 7.2 here: p2.8xlarge should, and its own price is none for four M60.
    other = [swapped[0], ("p2.8xlarge", 70.0, swapped[1][2]), ("g3.16xlarge", 7.2, g3[2])]
    assert not any(rule == "swapped" for rule, _ in linted(other, provider="aws"))
    # A card with a surcharge (8 at 98 instead of 88.488) beside another machine at 88.488.
    h100 = [("a1", 11.061, {"gpu": "new card", "gpus": 1}), ("a2", 22.122, {"gpu": "new card", "gpus": 2}),
            ("a8", 98.0, {"gpu": "new card", "gpus": 8}), ("b8", 88.488, {"gpu": "other card", "gpus": 8})]  # fmt: skip
    assert not any(rule == "swapped" for rule, _ in linted(h100))


def test_two_families_with_exchanged_prices_are_both_odd():
    rows = [("a1", 1.0, {"gpu": "one", "gpus": 1}), ("a2", 2.0, {"gpu": "one", "gpus": 2}),
            ("a4", 12.0, {"gpu": "one", "gpus": 4}), ("b1", 3.0, {"gpu": "two", "gpus": 1}),
            ("b2", 6.0, {"gpu": "two", "gpus": 2}), ("b4", 4.0, {"gpu": "two", "gpus": 4})]  # fmt: skip
    assert {name for rule, name in linted(rows) if rule == "swapped"} == {"a4", "b4"}


def test_a_provider_of_one_price_only():
    """Oracle asked 2.95 for a V100 in all that is known; 1.2 times that is named, where the rest is as known."""
    others = [("BM.GPU.H100.8", 80.0, {"gpu": "H100", "gpus": 8}), ("VM.GPU2.1", 1.275, {"gpu": "P100", "gpus": 1}),
              ("VM.GPU.A10.1", 2.0, {"gpu": "A10", "gpus": 1})]  # fmt: skip
    for usd, told in ((2.95, False), (3.2, False), (3.54, True)):
        rows = [*others, ("VM.GPU3.1", usd, {"gpu": "V100", "gpus": 1})]
        assert (("family_shifted", "VM.GPU3.1") in linted(rows, provider="oci")) == told


def test_a_family_goes_by_known_prices_where_each_of_it_has_one():
    """p3.2xlarge and p3.8xlarge are known at 3.06 and 12.24; a machine that nobody knows has its devices alone."""
    rows = [("p3.2xlarge", 6.12, {"gpu": "V100", "gpus": 1}), ("p3.8xlarge", 24.48, {"gpu": "V100", "gpus": 4}),
            ("p3.huge", 50.0, {"gpu": "V100", "gpus": 10})]  # fmt: skip
    known = {name: machine(name, provider="aws", **facts) for name, _, facts in rows}
    prices = price_list(*({"instance": name, "per_hour": usd} for name, usd, _ in rows), as_of=date(YEAR, 6, 15))
    members = {one.name: one for one in rented_offers(prices, known, {i: usd for i, (_, usd, _) in enumerate(rows)})}
    assert Family({name: members[name] for name in ("p3.2xlarge", "p3.8xlarge")}).per_unit == pytest.approx(
        {"p3.2xlarge": 2.0, "p3.8xlarge": 2.0}
    )
    assert Family(members).per_unit == pytest.approx({"p3.2xlarge": 6.12, "p3.8xlarge": 6.12, "p3.huge": 5.0})


def test_a_machine_alone_at_a_usual_price_of_its_device_is_no_exchange():
    """a4 costs 16 instead of 20, which b8 costs: 2.5 for each of its eight V100, as they do; at 16 it would be 2."""
    rows = [("a1", 5.0, {"gpu": "a new card", "gpus": 1}), ("a2", 10.0, {"gpu": "a new card", "gpus": 2}),
            ("a4", 16.0, {"gpu": "a new card", "gpus": 4}), ("b8", 20.0, {"gpu": "V100", "gpus": 8})]  # fmt: skip
    assert not any(rule == "swapped" for rule, _ in linted(rows))


@pytest.mark.parametrize(("odd", "machines", "told"), [(2, 60, 2), (3, 60, 0), (3, 596, 0), (3, 604, 3), (4, 604, 0)])
def test_how_many_odd_machines_say_that_known_prices_are_of_another_day(odd, machines, told):
    """More than two, and more than five in a thousand: of 600 known machines three are just that."""
    rows = every_known_machine(machines)
    sizes = Counter(name.partition(".")[0] for name, _, _ in rows)
    dear = {name.partition(".")[0]: name for name, _, _ in rows if sizes[name.partition(".")[0]] > 3}
    chosen = set(list(dear.values())[:odd])
    assert len(chosen) == odd
    found = linted([(name, usd * (1.5 if name in chosen else 1), facts) for name, usd, facts in rows], provider="aws")
    named = {name for rule, name in found if rule == "per_vcpu"}
    assert named == (chosen if told else set())
