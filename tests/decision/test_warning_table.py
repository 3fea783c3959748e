"""Every warning of a table stands in the table of warnings, whatever its rule; none is read out of a sentence."""

from dataclasses import replace

import pandas as pd
import pytest
from answer_options import option
from decision_tables import only, settings
from sweetspot.decision.compare import WARNINGS, decisive_rows, warning_table, with_decisive
from sweetspot.declared_tables import columns_of
from sweetspot.warnings import warning

CELL = {"instance": "box", "model": "vgg16", "batch_size": 64}
NO_PRICES = pd.DataFrame(columns=["severity", "rule", "instance", "message"])
NO_OPTIONS = pd.DataFrame(columns=columns_of("options"))
NONE = pd.DataFrame(columns=[*CELL, "status", "warnings"])


def made(throughput=NONE, extrapolation=NONE, efficiency=NONE, prices=NO_PRICES, options=NO_OPTIONS):
    tables = {"throughput": throughput, "extrapolation": extrapolation, "efficiency": efficiency, "price_lint": prices}
    return warning_table(only(**tables), options.reindex(columns=columns_of("options")), settings(), {})


def told(table):
    return list(zip(table["scope"], table["rule"], table["message"], strict=True))


def rows(*cells):
    return pd.DataFrame([{**CELL, "status": "ok", **cell} for cell in cells])


def test_prices_are_told_under_the_rule_of_the_lint_and_old_ones_as_stale():
    found = [("warning", "stale_rate", "x", "old"), ("warning", "per_gpu", "", "odd"), ("note", "spot_terms", "x", "-")]
    table = made(prices=pd.DataFrame(found, columns=["severity", "rule", "instance", "message"]))
    assert told(table) == [("price", "per_gpu", "odd"), ("price", "stale_price", "old")]
    assert (list(table.columns), table["instance"].isna().tolist()) == (list(WARNINGS), [True, False])


def test_an_interval_that_nobody_published_is_named():
    row = {**CELL, "images_per_s": 100.0, "images_per_s_high": 129.0, "fits": None, "workload": "job"}
    options = pd.DataFrame([row | {"assumed_interval": True, "throughput_basis": "published"}])
    assumed = made(options=options)
    assert assumed["rule"].tolist() == ["no_interval"]
    assert "a factor of 1.29 is assumed" in assumed["message"].item()  # 129 of 100 images a second


def rounds(*told):
    """The warning of options of (model, device, round, how many rounds behind, in the answer)."""
    options = pd.DataFrame(told, columns=["model", "gpu", "round", "rounds_behind", "in_answer"])
    options = options.assign(assumed_interval=False, throughput_basis="published", instance=options["gpu"])
    found = made(options=options)
    assert set(found["rule"]) <= {"rounds_apart"}
    return found[["scope", "model", "message"]].to_numpy().tolist()


def test_a_warning_is_decisive_where_its_cell_or_offer_carries_the_answer():
    named = [{**CELL, "price_list": "rent", "purchase": "spot"}]
    rows_ = [
        ("throughput", "box", "vgg16", 64, "drift", "a"),
        ("throughput", "box", "vgg16", 32, "drift", "another batch"),
        ("throughput", "other", "vgg16", 64, "drift", "another machine"),
        ("throughput", "box", "resnet50", 64, "drift", "another model"),
        ("comparison", None, "vgg16", 64, "does_not_fit", "the whole model"),
        ("price", "box", None, pd.NA, "spot_price", "of its offer"),
        ("price", "box", None, pd.NA, "per_gpu", "of another offer of the machine"),
        ("price", None, None, pd.NA, "stale_price", "of the whole list"),
    ]
    told = [warning("spot_price", "of its offer"), warning("stale", "of the whole list")]
    other = [warning("per_gpu", "of another offer of the machine")]
    offers = pd.DataFrame([("rent", "box", "spot", told), ("rent", "box", "on_demand", other)],
                          columns=["price_list", "instance", "purchase", "warnings"])  # fmt: skip
    table = with_decisive(pd.DataFrame(rows_, columns=list(WARNINGS)), named, offers)
    assert table["decisive"].tolist() == [True, False, False, False, True, True, False, True]


def decisive(best, rival, *options, cost="share", workload="w", sources=()):
    """Titles and models of the options that carry an answer of `workload` so named."""
    verdict = pd.DataFrame([{"workload": workload, "is_answer": True, "best": best, "rival": rival, "take": best,
                             "take_rival": None}])  # fmt: skip
    choices = pd.DataFrame({"workload": ["other", workload], "cost": ["share", cost], "model": ["x", "m"]})
    done = pd.DataFrame(list(sources), columns=["workload", "mix", "option"])
    found = decisive_rows(verdict, choices, done, pd.DataFrame(list(options)))
    return [(row["title"], row["model"]) for row in found]


LAB = [option("A", 10, workload="lab.bert"), option("B", 20, workload="lab.bert", model="bert"),
       option("C", 30, workload="lab.resnet"), option("A", 5, workload="labour.x")]  # fmt: skip


@pytest.mark.parametrize(("best", "rival", "options", "kind", "expected"), [
    ("a", "b", [option("A", 10), option("B", 20), option("A", 1, workload="else")], {}, [("A", "m"), ("B", "m")]),
    ("a", None, [option("A", 10), option("B", 20)], {}, [("A", "m")]),
    # of a plan of phases the rows of its model
    ("a", "c", [option("A", 10), option("B", 20), option("C", 30), option("A", 1, model="other")],
     {"cost": "rounds"}, [("A", "m"), ("C", "m")]),
    # of work of months those that do the work of the mixes named
    ("best", "rented", LAB, {"cost": "dispatch", "workload": "lab", "sources": [
        ("lab", "best", "a"), ("lab", "rented", "b"), ("lab", "there", "c"), ("else", "best", "c")]},
     [("A", "m"), ("B", "bert")]),
])  # fmt: skip
def test_what_the_verdict_names_carries_the_answer(best, rival, options, kind, expected):
    assert decisive(best, rival, *options, **kind) == expected
    nothing = pd.DataFrame(columns=["workload", "is_answer"])
    assert decisive_rows(nothing, pd.DataFrame(), pd.DataFrame(), pd.DataFrame(options)) == []


def test_a_machine_with_a_figure_and_no_price_is_named_and_the_rest_goes_on():
    # `base` teaches what a box of four does; `other` knows a model that the study does not ask about; `broken` failed
    cells = [
        {"instance": "box", "model": "vgg16"}, {"instance": "unpriced", "model": "vgg16"},
        {"instance": "base", "model": "vgg16"}, {"instance": "other", "model": "lstm"},
        {"instance": "broken", "model": "vgg16", "status": "oom", "warnings": [warning("oom", "too large")]},
    ]  # fmt: skip
    predicted = rows({"instance": "predicted", "model": "vgg16"}).assign(headline=True)
    offers = pd.DataFrame({"instance": ["box"]})
    known = replace(settings(), stands_behind=("base",))
    tables = only(throughput=rows(*cells), extrapolation=predicted, offers=offers)
    table = warning_table(tables, NO_OPTIONS, known, {})
    found = table[table["rule"] == "no_price"]
    assert found["instance"].tolist() == ["predicted", "unpriced"]
    # where nothing has a price the page says that instead
    none = warning_table(replace(tables, offers=offers.head(0)), NO_OPTIONS, known, {})
    assert "no_price" not in set(none["rule"])
