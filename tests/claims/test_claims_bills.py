"""Claims of the cost studies: arithmetic that runs nothing, and what they say where the tables lack something."""

import pandas as pd
import pytest
from claim_tables import checked
from pydantic import ValidationError
from sweetspot.study import bill_claims as kinds
from sweetspot.study.arithmetic import evaluate

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
    ("relation", "printed", "verdict"),
    [("equals", 3, "does not"), ("at_least", 3, "holds"), ("at_least", 4, "does not"), ("at_most", 4, "holds"),
     ("at_most", 3, "does not"), ("equals", 3.5, "holds")],
)  # fmt: skip
def test_more_than_and_less_than_are_one_sided(relation, printed, verdict):
    claim = kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2", printed=printed, relation=relation)
    assert check(claim)["verdict"] == verdict


def test_a_figure_that_the_text_does_not_print_is_shown_without_a_verdict_on_it():
    row = check(kinds.Arithmetic(**BASE, kind="arithmetic", expression="7 / 2"))
    assert (row["computed"], row["verdict"]) == (3.5, "not printed")


RATES = pd.DataFrame(
    [("a", "m", 10.0, "published", "ok"), ("a", "m", 99.0, "stand_in", "ok"), ("b", "m", 4.0, "published", "ok"),
     ("b", "n", 4.0, "published", "ok"), ("c", "m", 1.0, "published", "failed")],
    columns=["instance", "model", "images_per_s", "basis", "status"],
)  # fmt: skip


def test_a_throughput_ratio_uses_the_best_evidence_of_models_that_both_have():
    row = check(kinds.ThroughputRatio(**BASE, kind="throughput_ratio", instance="a", to="b"), throughput=RATES)
    assert row["computed"] == 2.5


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
    assert (row["computed"], row["verdict"], row["reason"]) == (5, "holds", "storage 3 + use 2")
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
