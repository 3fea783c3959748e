"""Expressions: arithmetic with rounded numbers, conditions, one value a model, and what is refused."""

import pytest
from claim_tables import check_one
from sweetspot.errors import UserError
from sweetspot.study.claims import load_claims

BOX, ALPHA = {"instance": "box"}, {"instance": "alpha"}
PAIR = {"box": BOX, "alpha": ALPHA}


@pytest.mark.parametrize(
    ("expression", "value", "low", "high"),
    [
        ("2 + 3 * 4", 14, 14, 14),
        ("-(1.5 - 2) / 0.25", 2, 2, 2),
        ("~1.06", 1.06, 1.055, 1.065),  # half a unit of the last digit printed
        ("~3.0", 3, 2.95, 3.05),
        ("~167", 167, 166.5, 167.5),
        ("~1.06 * 3.06", 3.2436, 1.055 * 3.06, 1.065 * 3.06),
        ("-~2 + 10", 8, 7.5, 8.5),
        ("~2.42 / ~1.86", 2.42 / 1.86, 2.415 / 1.865, 2.425 / 1.855),
        ("~3 - ~2", 1, 0, 2),
        ("5 * (~2.0 / 2.0)", 5, 5 * 1.95 / 2, 5 * 2.05 / 2),  # by the rounding of a number it is proportional to
    ],
)
def test_rounded_numbers_widen_a_value(expression, value, low, high):
    row = check_one(expression)
    assert (row["computed"], row["computed_low"], row["computed_high"]) == pytest.approx((value, low, high))


@pytest.mark.parametrize(
    ("expression", "value", "low", "high"),
    [
        ("count(1 < 2, 2 < 2, 2 <= 2)", 2, 2, 2),
        # 1.375 and 1 against 1: the second may be 0.97 to 1.03, so one surely and two possibly
        ("count(1 < ~3.3 / ~2.4, 1 < ~3.3 / ~3.3)", 1, 1, 2),
        ("count(~2 <= 2.4)", 1, 0, 1),  # 1.5 to 2.5
    ],
)
def test_conditions_are_counted_by_value_surely_and_possibly(expression, value, low, high):
    row = check_one(expression)
    assert (row["computed"], row["computed_low"], row["computed_high"]) == (value, low, high)


def test_a_figure_of_a_model_has_a_value_for_each_unless_something_divides_by_zero():
    # the box's job costs 1 USD on both; alpha's on demand 2 on net and 0.5 h x 2 = 1 on big
    row = check_one('option(alpha, "usd") / option(box, "usd")', PAIR)
    assert (row["computed"], row["computed_low"], row["computed_high"]) == (1.5, 1, 2)  # the median and the range
    assert row["detail"] == "big 1, net 2"
    only = check_one('option(alpha, "usd") / option(box, "usd")', PAIR, models=["net"])
    assert (only["computed"], only["computed_low"]) == (2, 2)
    assert check_one('option(alpha, "usd", model="big")', PAIR)["computed"] == 1  # of a model that is named
    # alpha over box in images per USD: 0.5 on net, 1 on big
    gain = 'option(alpha, "images_per_usd"{0}) / option(box, "images_per_usd"{0})'
    assert check_one(f"count({gain.format('')} < 0.9)", PAIR)["computed"] == 1
    # the place of a model in the order of the gains
    for model, place in (("net", 1), ("big", 2)):
        named = f', model="{model}"'
        assert check_one(f"1 + count({gain.format('')} < {gain.format(named)})", PAIR)["computed"] == place
    for expression in ("1 / 0", "1 / (2 - ~2)"):
        assert check_one(expression, printed=1)["verdict"] == "cannot be checked"


def refused(tmp_path, value, let="{a: {instance: x}}"):
    file = tmp_path / "claims.yaml"
    file.write_text(f"- {{id: mine, text: t, source: s, let: {let}, value: {value!r}}}\n")
    with pytest.raises(UserError) as error:
        load_claims(file)
    (sentence,) = error.value.sentences
    assert sentence.startswith(f"{file}: claim 'mine' has ") and "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("value", "offending"),
    [
        ("1 +", "1 +"),
        ("True", "True"),
        ("~price(a)", "~price(a)"),
        ("__import__('os')", "__import__('os')"),
        ("1 < 2", "1 < 2"),  # a comparison outside count
        ("count(1)", "the condition '1'"),
        ("price(b)", "selector b in price(); expected one of a"),
        ("option(a, 'USD')", "column 'USD' in option(); expected one of usd, hours"),
        ("bill(a, 'w', gpus='2')", "gpus"),
        ("speed(a)", "instance a in speed(); expected a number or text in quotes"),
        ("mean_efficiency('m', 1.5)", "batch_size"),
        ("-" * 300 + "a", "a"),
        ("(" * 150 + "1", "((("),
    ],
)
def test_everything_else_is_refused_with_the_offending_text(tmp_path, value, offending):
    assert offending in refused(tmp_path, value)


def test_all_mistakes_of_all_claims_are_named(tmp_path):
    file = tmp_path / "claims.yaml"
    claim = "- {{id: {}, text: t, source: s, value: {}}}\n"
    file.write_text(claim.format("a", "x + y") + claim.format("b", "1 + 1") + claim.format("b", "z"))
    with pytest.raises(UserError) as error:
        load_claims(file)
    found = [sentence.removeprefix(f"{file}: ")[:25] for sentence in error.value.sentences]
    assert found == [
        "expected a name once amon",
        "claim 'a' has 'x'; expect",
        "claim 'a' has 'y'; expect",
        "claim 'b' has 'z'; expect",
    ]
