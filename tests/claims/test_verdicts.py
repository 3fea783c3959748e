"""Verdicts of claims: tolerance and relation, whose figures were used, and the table that is written."""

import pytest
from claim_tables import OFFERS, check_one, option


@pytest.mark.parametrize(
    ("relation", "printed", "verdict"),
    [
        ("equals", 3.6, "holds"),  # 3.5 within 0.1
        ("equals", 3.61, "contradicted"),
        ("at_least", 3.6, "holds"),  # "more than 3.6": 3.5 reaches it within the tolerance
        ("at_least", 2, "holds"),
        ("at_least", 3.61, "contradicted"),
        ("at_most", 4, "holds"),
        ("at_most", 3.39, "contradicted"),
    ],
)
def test_a_claim_holds_within_its_tolerance(relation, printed, verdict):
    row = check_one("7 / 2", printed=printed, relation=relation, tolerance=0.1)
    assert (row["verdict"], row["computed"]) == (verdict, 3.5)


@pytest.mark.parametrize(("printed", "verdict"), [(3.24, "holds"), (3.25, "holds"), (3.26, "contradicted")])
def test_a_claim_holds_within_the_rounding_of_its_numbers(printed, verdict):
    # ~1.06 x 3.06 is 3.228 to 3.259
    assert check_one("~1.06 * 3.06", printed=printed)["verdict"] == verdict


@pytest.mark.parametrize(
    ("expression", "printed", "verdict"),
    [
        ("1000000.0005", 1e6, "holds"),  # a part in a thousand million, for large numbers
        ("1000000.002", 1e6, "contradicted"),
        ("0.5000000008", 0.5, "holds"),  # and as much of 1 for small ones
        ("0.500000002", 0.5, "contradicted"),
    ],
)
def test_the_last_digit_of_a_float_decides_nothing(expression, printed, verdict):
    assert check_one(expression, printed=printed)["verdict"] == verdict


def test_it_must_hold_for_every_model():
    # the box's job costs 1 USD on net and on big, alpha's 2 and 1
    ratio = 'option(alpha, "usd") / option(box, "usd")'
    names = {"box": {"instance": "box"}, "alpha": {"instance": "alpha"}}
    for printed, tolerance, verdict in ((1.5, 0.5, "holds"), (1.5, 0.4, "contradicted"), (2, 0, "contradicted")):
        assert check_one(ratio, names, printed=printed, tolerance=tolerance)["verdict"] == verdict
    assert check_one(ratio, names, printed=1, relation="at_least")["verdict"] == "holds"


def test_verdicts_without_a_comparison():
    assert check_one("7 / 2")["verdict"] == "not printed"
    assert check_one(None, printed=3)["verdict"] == "cannot be checked"
    row = check_one("7 / 2", printed=9, checkable=False, reason="Its input is taken from it")
    assert (row["verdict"], row["computed"], row["reason"]) == ("cannot be checked", 3.5, "Its input is taken from it")


def test_with_figures_of_others_a_claim_differs():
    row = check_one("7 / 2", printed=4, borrowed_from=["page-2017"], reason="Rounded")
    assert (row["verdict"], row["rests_on"]) == ("differs", "figures of page-2017")
    assert row["reason"] == "Rounded; used here: figures of page-2017"
    assert check_one("7 / 2", printed=3.5, borrowed_from=["page-2017"])["verdict"] == "holds"
    assert check_one("7 / 2", printed=4, borrowed_from=["text"])["verdict"] == "contradicted"  # the source itself


@pytest.mark.parametrize(
    ("basis", "source", "rests_on"),
    [
        ("published", "text, table 1", "the source's own figures"),
        ("scaled", "text ; text", "the source's own figures"),
        ("published", "text ; page-2017, p. 3", "speed of a (page-2017)"),
        ("published", "page-2017: x", "speed of a (page-2017)"),
        ("published", "", "speed of a (no source)"),
        ("published", None, "speed of a (no source)"),
        ("stand_in", "text", "speed of a (stand-in)"),
        (None, "text", "speed of a (no basis)"),
    ],
)
def test_whose_figure_it_is(basis, source, rests_on):
    tables = {"options": [option("a", throughput_basis=basis, throughput_source=source)], "offers": OFFERS}
    row = check_one('option(a, "images_per_s")', {"a": {"instance": "a"}}, tables=tables, printed=1)
    assert row["rests_on"] == rests_on
    assert row["verdict"] == ("contradicted" if rests_on == "the source's own figures" else "differs")
