"""Lint against what providers ask and against the market: what is said, of whom, and what keeps it silent."""

from datetime import date

import pytest
from price_lists import findings, price_list
from sweetspot.bills.lint.families import digits_exchanged
from sweetspot.bills.lint.known import MACHINES as TABLE
from sweetspot.bills.lint.known import dearest_rent
from test_lint_families import P2, P3, aws, gpus, linted, machine

DAY = date(2024, 6, 15)


def said(rows, provider="aws", **keys):
    """Messages by rule and machine."""
    known = {name: machine(name, provider=provider, **facts) for name, _, facts in rows}
    prices = price_list(*({"instance": name, "per_hour": usd} for name, usd, _ in rows), as_of=DAY, **keys)
    return {(one.rule, one.instance): one.message for one in findings(prices, known, study_date=DAY)}


def families(count, shifted=(), factor=1.2):
    """So many families of AWS of two machines each, as known; those with the numbers in `shifted` times the factor."""
    by_family = {}
    for line in TABLE.read_text().splitlines():
        provider, name, usd = line.split(",")
        size = name.rpartition(".")[2]
        if provider == "aws" and name[0] in "cmr" and size in ("xlarge", "2xlarge") and " " not in usd:
            by_family.setdefault(name.partition(".")[0], []).append((name, float(usd), 8 if size[0] == "2" else 4))
    pairs = [rows for rows in by_family.values() if len(rows) == 2][:count]
    assert len(pairs) == count
    return [
        (name, round(usd * (factor if number in shifted else 1), 6), {"vcpus": vcpus})
        for number, rows in enumerate(pairs)
        for name, usd, vcpus in rows
    ]


def test_what_is_said_of_a_family():
    told = said([*aws(factor=1.2), *aws(P3, "p3"), *aws(P2, "p2")])
    assert told == {
        (
            "family_shifted",
            "c5.large",
        ): "the 4 prices of c5 are 1.2 times known ones of aws, the list's 6 others are as known"
    }
    told = said([*aws(), *aws(P3, "p3", 1.2), *aws(P2, "p2")])
    assert (
        "the 3 prices of V100 are 1.2 times known ones of aws, the list's 7 others"
        in told["family_shifted", "p3.2xlarge"]
    )
    told = said([*aws(factor=1.1), *aws(P3, "p3", 1.32), *aws(P2, "p2", 1.1)])
    assert told["family_shifted", "p3.2xlarge"].endswith(
        "are 1.32 times known ones of aws, the list's 7 others are 1.1 times"
    )


def test_one_processor_is_no_family_but_two_are():
    rows = families(10)
    one, two = rows[0], rows[1]
    dear = [(one[0], one[1] * 1.2, one[2]), (two[0], two[1] * 1.2, two[2])]
    assert ("family_shifted", one[0]) in linted([*dear, *rows[2:]], provider="aws")
    assert linted([dear[0], *rows[2:]], provider="aws") == set()


@pytest.mark.parametrize(("count", "shifted", "told"), [(10, (3,), 1), (10, (3, 5), 0), (60, (3, 5), 0), (49, (3,), 1)])
def test_many_families_off_are_another_day(count, shifted, told):
    """One family, or two in a hundred: 1.2 of 60 is one."""
    found = linted(families(count, shifted), provider="aws")
    assert len([rule for rule, _ in found if rule == "family_shifted"]) == told


def test_a_list_of_one_family_has_no_level_of_its_own():
    assert linted(aws(P3, "p3", 0.79), provider="aws") == set()


def test_digits_of_a_machine_without_a_family():
    rows = [*aws(P3, "p3", x8xlarge=12.42)[1:2], *aws()]
    assert linted(rows, provider="aws") == {("digits_exchanged", "p3.8xlarge")}
    assert said(rows)["digits_exchanged", "p3.8xlarge"] == (
        "p3.8xlarge at 12.42 looks like 12.24 with two digits exchanged; that is a known price of it"
    )
    # Where the others are not as known, nothing is said of digits.
    rows = [*aws(P3, "p3", x8xlarge=12.42)[1:2], *aws(factor=1.3)]
    assert ("digits_exchanged", "p3.8xlarge") not in linted(rows, provider="aws")


OCI = [("h100", 80.0, "H100", 8), ("p100", 1.275, "P100", 1), ("a10", 2.0, "A10", 1), ("h200", 80.0, "H200", 8)]


def oci(*more):
    return [(name, usd, {"gpu": gpu, "gpus": count}) for name, usd, gpu, count in (*OCI, *more)]


def told_of(rows):
    found = linted(rows, provider="oci")
    return {name for rule, name in found if rule == "family_shifted"}


def test_a_family_is_told_where_four_fifths_of_the_others_are_as_known():
    v100, b200 = ("v100", 3.54, "V100", 1), ("b200", 15.0, "B200", 1)  # 15 for 14: 7 % is no fifth
    assert told_of(oci(v100, b200)) == {"v100"}  # four of five others
    assert told_of(oci(v100)[1:] + oci(b200)[4:]) == set()  # three of four


def test_a_list_in_pounds_is_found_though_a_nearer_factor_fits_one_device():
    """3.16 for an A100 is 0.79 of a known 4, and 1.04 of a known 3.05."""
    rows = [(name, usd * 0.79, facts) for name, usd, facts in oci(("v100", 2.95, "V100", 1), ("a100", 4.0, "A100", 1))]
    assert linted(rows, provider="oci") == {("list_shifted", "")}


def test_googles_machines_are_compared_by_device_but_not_those_with_any_host():
    """An H200 is known at 10.601 alone; a V100's machine costs 2.48 and what its host does."""
    known = [("a", 3.6725, "A100"), ("h", 11.0612, "H100"), ("l", 0.71, "L4"), ("v", 2.55 * 1.2, "V100")]
    rows = [(name, usd, {"gpu": gpu, "gpus": 1}) for name, usd, gpu in (*known, ("new", 12.721, "H200"))]
    assert linted(rows, provider="google") == {("family_shifted", "new")}


def test_a_provider_with_several_prices_or_unlike_ratios_tells_nothing():
    # an A100 at Oracle is known at 3.05, 4 and 5
    assert told_of(oci(("a100", 36.6, "A100", 8))) == set()
    assert told_of(oci(("v1", 3.54, "V100", 1), ("v2", 4.5, "V100", 1))) == set()
    assert told_of(oci(("v1", 3.54, "V100", 1), ("v2", 7.12, "V100", 2))) == {"v1"}


# ---------------------------------------------------------------------------------------------- orders of magnitude


def unknown(*prices):
    return [(f"x{number}", usd, {"gpu": f"card {number}"}) for number, usd in enumerate(prices)]


def test_beyond_four_times_the_dearest_known():
    assert linted(unknown(4 * dearest_rent())) == set()
    assert linted(unknown(4 * dearest_rent() * 1.001)) == {("market_level", "x0")}


def test_the_hint_of_a_price_far_off_an_unknown_device():
    """The middle of the range of an unknown device is a tenth of the dearest known."""
    (words,) = said(unknown(0.1 * dearest_rent() * 900)).values()
    assert words.endswith("(the price of a month?)")
    assert "a card 0; known prices are 0 to" in words
    (words,) = said(unknown(0.1 * dearest_rent() * 1600)).values()
    assert words.endswith(f"to {dearest_rent():.3g}")
    (words,) = said([("n1", 50.0, {"vcpus": 4})], provider="b").values()
    assert "is 12.5 a vCPU; known prices are" in words


def test_one_finding_where_four_fifths_are_far_off():
    far = 5 * dearest_rent()
    assert set(said(unknown(far, far, far, far, 1.0))) == {("market_level", "")}
    assert set(said(unknown(far, far, far, 1.0, 1.0))) == {("market_level", f"x{number}") for number in range(3)}


def test_a_list_shifted_as_a_whole_says_so_once():
    rows = [*aws(factor=8.0), *aws(P3, "p3", 8.0), *aws(P2, "p2", 8.0)]
    assert set(said(rows)) in ({("list_shifted", "")}, {("market_level", "")})


# --------------------------------------------------------------------------------------------------------- families


def test_digits_need_two_others_that_agree():
    assert linted(gpus([3.06, 6.12, 12.42])) == {("digits_exchanged", "m4")}
    assert linted([gpus([3.06])[0], gpus([0, 0, 12.42])[2]]) == set()
    assert linted(gpus([3.06, 6.15, 12.42])) == set()  # 0.5 % apart
    assert linted(gpus([3.00, 6.24, 12.42])) == set()  # 4 % apart, though their middle makes 12.24


def test_what_is_off_its_family_is_not_also_digits():
    assert linted(gpus([1.2, 2.4, 4.8, 6.9])) == {("per_gpu", "m8")}  # 9.6 exchanged


def test_digits_in_the_lists_own_money():
    rate = {"currency": "XTS", "usd": 1.25, "as_of": DAY, "source": "a bank"}
    told = said(gpus([3.06, 6.12, 12.42]), provider="b", currency="XTS", rates=[rate])
    assert set(told) == {("digits_exchanged", "m4")}


def test_digits_to_the_decimals_of_what_was_found():
    assert digits_exchanged(3.6, 3.064)  # written with two decimals
    assert not digits_exchanged(3.6, 3.604)
    assert not digits_exchanged(3.601, 3.064)


def test_of_two_odd_spot_prices_the_one_far_below_on_demand_is_named():
    card = {"a": 1, "b": 4}
    known = {name: machine(name, gpu="V100", gpus=count) for name, count in card.items()}
    offers = [{"instance": "a", "per_hour": 3.06}, {"instance": "b", "per_hour": 12.24},
              {"instance": "a", "purchase": "spot", "per_hour": 0.1},
              {"instance": "b", "purchase": "spot", "per_hour": 4.9}]  # fmt: skip
    told = findings(price_list(*offers, as_of=DAY), known, study_date=DAY)
    assert {(one.rule, one.instance) for one in told if one.severity == "warning"} == {
        ("per_gpu", "a"), ("spot_far_below", "a")
    }  # fmt: skip


def test_an_exchange_is_between_prices_of_one_purchase():
    rows = {"p2.xlarge": (0.9, "K80", 1), "p2.8xlarge": (4.56, "K80", 8), "g3.16xlarge": (7.2, "M60", 4)}
    known = {name: machine(name, gpu=gpu, gpus=count, provider="aws") for name, (_, gpu, count) in rows.items()}
    for purchase, expected in (("on_demand", True), ("reserved", False)):
        offers = [
            {"instance": name, "per_hour": usd, "purchase": purchase if name[0] == "g" else "on_demand"}
            for name, (usd, _, _) in rows.items()
        ]
        told = findings(price_list(*offers, as_of=DAY), known, study_date=DAY)
        assert any(one.rule == "swapped" for one in told) == expected


def test_a_known_price_is_not_another_one_with_digits_exchanged():
    """RunPod asked 5.89 and 5.98 for a B200 in 2026: each is a known price, neither the other mistyped."""
    card = {"gpu": "B200", "gpus": 1}
    other = [("h", 2.99, {"gpu": "H100", "gpus": 1})]
    for usd in (5.98, 5.89):
        found = linted([("x", usd, card), *other], provider="runpod", day=date(2026, 6, 15))
        assert ("digits_exchanged", "x") not in found


def test_accelerators_of_a_composition_are_held_in_usd():
    """Google asks 2.48 for a V100 and 1.46 for a P100; in euros at 1.25 USD (1.00 to 1.50) 1.984 and 1.168."""
    rate = {"currency": "XTS", "usd": {"value": 1.25, "low": 1.0, "high": 1.5}, "as_of": DAY, "source": "a bank"}
    known, offers = {}, []
    for card, usd in (("V100", 2.48), ("P100", 1.46)):
        for count in (1, 2, 4):
            name = f"n1-{card}-{count}"
            known[name] = machine(name, gpu=card, gpus=count, provider="gce")
            host = {"name": f"n1-standard-{8 * count}", "per_hour": 0.304 * count}
            gpu = {"name": card, "per_hour": usd / 1.25}
            offers.append({"instance": name, "compose": {"machine": host, "gpu": gpu, "count": count}})
    told = findings(price_list(*offers, as_of=DAY, currency="XTS", rates=[rate]), known, study_date=DAY)
    assert [one for one in told if "shifted" in one.rule] == []
