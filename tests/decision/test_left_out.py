"""What takes no part in a work: machines that are owned already, and those without a speed for it."""

import numpy as np
import pandas as pd
from decision_tables import only, settings
from sweetspot.choice_kinds import RENT
from sweetspot.decision.compare import warning_table
from sweetspot.decision.verdict import set_aside, with_missing_speeds
from sweetspot.declared_tables import columns_of
from works import work


def test_what_is_there_already_is_no_rival_but_for_the_reference():
    rows = [("x", "own", False, True), ("x", "spot", False, True), ("y", "own", True, True), ("z", "own", False, True),
            ("z", "spot", False, False)]  # fmt: skip
    options = pd.DataFrame(rows, columns=["instance", "purchase", "is_reference", "in_answer"])
    assert set_aside(options, {"x", "y"})["in_answer"].tolist() == [False, True, True, True, False]
    assert set_aside(options, set())["in_answer"].tolist() == [True, True, True, True, False]


def speeds(*rows):
    return pd.DataFrame(list(rows), columns=["workload", "model", "instance"])


def offers(*instances):
    return pd.DataFrame({"instance": list(instances), "purchase": ["on_demand", "own", "reserved"][: len(instances)]})


def missing(one, options, offered):
    (found,) = with_missing_speeds([one], options, offered, {"b": "Machine B"})
    return found, found.without_speed[["title", "commitment"]].to_numpy().tolist()


def job(model, cost="share"):
    return work(("a", RENT, [1.0]), name="lab", model=model, cost=cost)


def test_a_machine_without_a_speed_for_a_work_is_named_with_what_it_commits_to():
    """Of `vgg16` only `a` has one; `b` is known for another model, `c` for none."""
    options = speeds(("lab", "vgg16", "a"), ("else", "bert", "b"))
    found, pairs = missing(job("vgg16"), options, offers("a", "b", "c"))
    assert pairs == [["Machine B", "buy"], ["c", "contract"]]
    figures = pd.DataFrame(columns=["instance", "model", "status"])
    tables = only(throughput=figures, price_lint=pd.DataFrame(columns=["severity"]))
    options = options.reindex(columns=columns_of("options")).assign(assumed_interval=False, in_answer=False)
    told = warning_table(tables, options, settings(), ["lab", "else", "nobody"], [found])
    assert told["instance"].fillna("").tolist() == ["", "b", "c"] and "nobody" in told["message"][0]


def test_a_work_of_classes_needs_a_speed_for_each_and_one_without_a_model_none():
    options = speeds(("lab.a", "vgg16", "a"), ("lab.b", "bert", "a"), ("lab.a", "vgg16", "b"), ("lab.c", "any", "c"))
    assert missing(job("", "dispatch"), options, offers("a", "b"))[1] == [["Machine B", "buy"]]
    assert missing(job("any"), options, offers("a", "b"))[1] == []
    assert np.all(missing(job("any"), options, offers("a", "c"))[0].without_speed.columns[:1] == ["instance"])
