"""Claims of the cost studies: arithmetic that runs nothing, and what they say where the tables lack something."""

import pandas as pd
import pytest
from claim_tables import checked
from pydantic import ValidationError
from sweetspot.study import claims as kinds
from sweetspot.study.claims import evaluate, spread

BASE = {"id": "claim", "text": "text", "source": "source"}


def check(claim, **tables):
    return checked([claim], **tables).iloc[0]


@pytest.mark.parametrize(
    ("expression", "value"),
    [("0.000000463 * 10 * 60 * 12 * 30", 0.100008), ("2500 / (167 / 43 * 0.9 * 24)", 29.8015), ("-(1 - 3) * 2", 4)],
)
def test_arithmetic_of_printed_numbers(expression, value):
    assert evaluate(expression) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    "expression", ["__import__('os').getpid()", "2 ** 9 ** 9", "x + 1", "1 / 0", "", "True + 1", "[1][0]", "(" * 190]
)
def test_arithmetic_is_nothing_else(expression):
    with pytest.raises(ValueError, match="numbers with"):
        evaluate(expression)
    with pytest.raises(ValidationError, match="numbers with"):
        kinds.Arithmetic(**BASE, kind="arithmetic", expression=expression)


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        ("~3.3 / 2", 1.625, 1.675),  # 3.25 to 3.35
        ("~3.30 / 2", 1.6475, 1.6525),  # 3.295 to 3.305: the zero was printed
        ("~2.42 / ~1.86", 2.415 / 1.865, 2.425 / 1.855),
        ("10 - ~3", 6.5, 7.5),
        ("-~3 * 2", -7, -5),
        ("(~1 - 3) * ~2", -6.25, -2.25),  # corners: -2.5 x 2.5, -1.5 x 1.5
        ("2 * 3", 6, 6),
    ],
)
def test_the_rounding_of_printed_numbers_spreads_what_follows(expression, low, high):
    assert spread(expression)[1:] == pytest.approx((low, high))


@pytest.mark.parametrize("expression", ["1 / ~0", "1 / (~1.0 - 1)", "~x", "~(1 + 2)", "~~1", "1e308 * 10"])
def test_what_no_rounding_can_be_given_is_refused(expression):
    with pytest.raises(ValueError, match="numbers with"):
        spread(expression)


@pytest.mark.parametrize(
    ("printed", "verdict"),
    # 3.24 USD by 1.06 h x 3.06, where 1.06 h may be 1.055 to 1.065: 3.2283 to 3.2589 USD
    [(3.3, "holds"), (3.2, "holds"), (3.4, "contradicted"), (3.1, "contradicted")],
)
def test_the_rounding_of_inputs_goes_into_the_verdict(printed, verdict):
    base = {**BASE, "kind": "arithmetic", "printed": printed, "tolerance": 0.05}
    row = check(kinds.Arithmetic(**base, expression="~1.06 * 3.06"))
    assert (row["verdict"], row["computed_low"]) == (verdict, pytest.approx(1.055 * 3.06))
    same = check(kinds.Arithmetic(**base, expression="1.06 * 3.06", rounded_inputs=["1.06"]))
    assert (same["verdict"], same["computed_high"]) == (verdict, pytest.approx(1.065 * 3.06))


@pytest.mark.parametrize(
    ("relation", "printed", "verdict"),
    [("equals", 3, "contradicted"), ("at_least", 3, "holds"), ("at_least", 4, "contradicted"), ("at_most", 4, "holds"),
     ("at_most", 3, "contradicted"), ("equals", 3.5, "holds")],
)  # fmt: skip
def test_more_than_and_less_than_are_one_sided(relation, printed, verdict):
    claim = kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2", printed=printed, relation=relation)
    assert check(claim)["verdict"] == verdict


def test_a_figure_that_the_text_does_not_print_is_shown_without_a_verdict_on_it():
    row = check(kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2"))
    assert (row["computed"], row["verdict"]) == (3.5, "not printed")


def test_with_another_publications_number_it_differs_and_is_not_contradicted():
    claim = kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2", printed=3, also=["elsewhere-2018"])
    row = check(claim)
    assert (row["verdict"], row["rests_on"]) == ("differs", "figures of elsewhere-2018")
    assert row["reason"] == "The source does not print the figures of elsewhere-2018, with which it comes out otherwise"


def test_what_agrees_by_construction_cannot_be_checked():
    row = check(kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2", printed=3.5, checkable=False))
    assert (row["computed"], row["verdict"]) == (3.5, "cannot be checked")


def test_counting_takes_the_rounding_of_each_figure():
    # 3.4 / 2.4 and 2.5 / 1.6 are above 1 whatever their rounding, 3.3 / 3.3 may be, 3 / 4 is not.
    claim = kinds.Counted(
        **BASE,
        kind="counted",
        expressions={"a": "~3.4 / ~2.4", "b": "~2.5 / ~1.6", "c": "~3.3 / ~3.3", "d": "~3.0 / ~4.0"},
    )
    row = check(claim)
    assert (row["computed"], row["computed_low"], row["computed_high"]) == (2, 2, 3)
    assert row["detail"] == "a 1.42, b 1.56, c 1, d 0.75"


RATES = pd.DataFrame(
    [("a", "m", 10.0, "published", "ok", "source 1"), ("a", "m", 99.0, "stand_in", "ok", "elsewhere"),
     ("b", "m", 4.0, "published", "ok", "source 2"), ("b", "n", 4.0, "published", "ok", "source 2"),
     ("c", "m", 1.0, "published", "failed", "source 3"), ("d", "m", 2.0, "stand_in", "ok", "elsewhere"),
     ("d", "n", 4.0, "published", "ok", "other-2017, p. 3")],
    columns=["instance", "model", "images_per_s", "basis", "status", "source"],
)  # fmt: skip


def test_a_throughput_ratio_uses_the_best_evidence_of_models_that_both_have():
    row = check(kinds.ThroughputRatio(**BASE, kind="throughput_ratio", instance="a", to="b"), throughput=RATES)
    assert (row["computed"], row["rests_on"]) == (2.5, "the source's own figures")


@pytest.mark.parametrize(
    ("to", "model", "verdict", "rests_on"),
    [
        ("b", "m", "contradicted", "the source's own figures"),  # 10 / 4
        ("d", "m", "differs", "speed of d (stand-in)"),
        ("d", "n", "differs", "speed of d (other-2017)"),
    ],
)
def test_a_stand_in_or_another_publication_refutes_nothing(to, model, verdict, rests_on):
    # "b" on n is this source's 4, "a" on m its 10.
    first = "a" if model == "m" else "b"
    claim = {**BASE, "kind": "throughput_ratio", "instance": first, "to": to, "models": [model], "printed": 7}
    row = check(kinds.ThroughputRatio(**claim), throughput=RATES)
    assert (row["verdict"], row["rests_on"]) == (verdict, rests_on)


def test_ratios_are_counted_within_bounds():
    claim = {**BASE, "kind": "throughput_ratio", "instance": "b", "to": "d"}  # m 4 / 2, n 4 / 4
    assert check(kinds.ThroughputRatio(**claim, within=(1.5, 2.5)), throughput=RATES)["computed"] == 1
    assert check(kinds.ThroughputRatio(**claim, within=(0.5, 2.5)), throughput=RATES)["computed"] == 2


@pytest.mark.parametrize(
    ("to", "models", "reason"), [("c", [], "no throughput of c"), ("b", ["n"], "no model that both")]
)
def test_a_throughput_ratio_without_figures_cannot_be_checked(to, models, reason):
    claim = kinds.ThroughputRatio(**BASE, kind="throughput_ratio", instance="a", to=to, models=models)
    row = check(claim, throughput=RATES)
    assert row["verdict"] == "cannot be checked"
    assert reason in row["reason"]


BILLS = pd.DataFrame(
    [("p", "vm", "on_demand", "job", 1, "use", 2.0), ("p", "vm", "on_demand", "job", 1, "storage", 3.0)],
    columns=["price_list", "instance", "purchase", "workload", "gpus", "line", "usd"],
)
COSTS = BILLS.groupby(["price_list", "instance", "purchase", "workload", "gpus"], as_index=False)["usd"].sum()


def bill(**given):
    return kinds.Bill(**BASE, kind="bill", of={"instance": "vm"}, **{"workload": "job", **given})


def test_a_bill_is_its_total_and_names_its_lines():
    row = check(bill(printed=5), costs=COSTS, bills=BILLS)
    assert (row["computed"], row["verdict"], row["detail"]) == (5, "holds", "storage 3 + use 2")
    assert check(bill(line="storage"), costs=COSTS, bills=BILLS)["computed"] == 3


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"line": "egress"}, "no line 'egress'; its lines are storage, use"),
        ({"workload": "other"}, "no bill of workload other"),
        ({"gpus": 4}, "no bill of workload job on 4 devices"),
    ],
)
def test_a_bill_that_is_not_there_cannot_be_checked(given, reason):
    row = check(bill(**given), costs=COSTS, bills=BILLS)
    assert row["verdict"] == "cannot be checked"
    assert reason in row["reason"]


def test_idle_cards_count_those_not_used():
    claim = {**BASE, "kind": "idle", "of": {"instance": "vm"}, "workload": "job", "utilisation": 0.8}
    assert check(kinds.Idle(**claim), costs=COSTS, bills=BILLS)["computed"] == pytest.approx(5 * 0.2)
    half = kinds.Idle(**claim, cards=2, cards_used=1)
    assert check(half, costs=COSTS, bills=BILLS)["computed"] == pytest.approx(5 * 0.6)
