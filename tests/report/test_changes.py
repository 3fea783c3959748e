"""What other prices changed: between two tables, between two days, and on the page."""

import json
from dataclasses import asdict
from types import SimpleNamespace

import pandas as pd
import pytest
from decision_tables import settings
from sweetspot.choice_kinds import RENT
from sweetspot.decision.verdict import verdict_table
from sweetspot.report.decided_anew import OF_CHOICE, SPEED, State, Unpriced, answer_columns, moved
from sweetspot.report.rank_changes import difference, to_markdown
from works import work

ALONE = "Nothing else does this work."


def ranked(*rows):
    names = ["instance", "purchase", "model", "workload", "usd_per_hour", "usd", "rank", "as_of"]
    return pd.DataFrame([(name, "on_demand", "m", "w", *rest) for name, *rest in rows], columns=names)


def test_an_edit_of_prices_is_told_by_what_it_changed():
    before = ranked(("a", 1.0, 10.0, 1, "2018"), ("b", 2.0, 20.0, 2, "2018"), ("C", 3.0, 30.0, 3, "2018"),
                    ("same", 5.0, 50.0, 4, "2018"), ("gone", 6.0, 60.0, 5, "2018"))  # fmt: skip
    after = ranked(("b", 2.0, 20.0, 1, "2019"), ("a", 2.5, 25.0, 2, "2019"), ("a", 9.0, 90.0, 7, "2019"),
                   ("C", 3.3, 33.0, 3, "2019"), ("same", 5.0 + 2e-9, 50.0, 4, "2019"),
                   ("New", 7.0, 70.0, 5, "2019"))  # fmt: skip
    table = difference(before, after)
    assert list(zip(table["what"], table["instance"], strict=True)) == [
        ("price", "C"), ("new", "New"), ("price", "a"), ("gone", "gone"), ("rank", "a"), ("rank", "b"), ("cost", "C")
    ]  # fmt: skip
    found = table.set_index(["what", "instance"])
    # of two offers of a the cheaper counts
    assert found.loc[("price", "a"), ["before", "after", "change"]].to_list() == [1.0, 2.5, 1.5]
    assert found.loc[("rank", "a"), ["rank_before", "rank_after"]].to_list() == [1, 2]
    assert found.loc[("rank", "b"), ["rank_before", "rank_after", "change"]].to_list() == [2, 1, 0]
    assert found.loc[("cost", "C"), "change"] == pytest.approx(0.1)
    lines = to_markdown(table, "old", "n|w", (None, "Buy <it>")).splitlines()
    assert lines[:3] == ["# From old to n\\|w", "", "After: Buy &lt;it>"]
    assert "| C (on_demand) | 3 | 3.3 | +10.0% | 2018 -> 2019 |" in lines
    assert "| m, w | a (on_demand) | 1 | 2 | 25 | +150.0% |" in lines


def offers(**usd: float) -> pd.DataFrame:
    rows = [
        {"price_list": "rent", "instance": name, "purchase": "on_demand", "usd_per_hour": price, "as_of": day}
        for name, (price, day) in usd.items()
    ]
    return pd.DataFrame(rows)


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Ten hours of each machine."""
    placed = table.assign(model="vgg16", workload="w", usd=10 * table["usd_per_hour"])
    return placed.assign(rank=placed["usd"].rank())


def said(answer: str) -> pd.DataFrame:
    """The verdict on a work that one machine alone does; `answer`: `Rent b.`"""
    name = answer.removeprefix("Rent ").removesuffix(".")
    return verdict_table([work((name, RENT, [1.0, 1.0], {"title": name}))], "plan", pd.DataFrame(), {})


def changes(after_answer: str = "Rent b.") -> pd.DataFrame:
    before = offers(a=(1.0, "2026-09-19"), b=(2.0, "2026-09-19"), c=(5.0, "2026-09-19"), gone=(9.0, "2026-09-19"))
    after = offers(a=(3.0, "2026-11-22"), b=(2.0, "2026-09-19"), c=(4.0, "2026-11-22"), new=(8.0, "2026-11-22"))
    return moved(State(before, ranks(before), said("Rent a.")), State(after, ranks(after), said(after_answer)))


def test_what_moved_between_two_states():
    table = changes()
    found = {(row.what, row.instance): (row.before, row.after, row.change) for row in table.iloc[1:].itertuples()}
    assert found["price", "a"] == (1.0, 3.0, 2.0)
    assert found["price", "c"][:2] == (5.0, 4.0) and abs(found["price", "c"][2] + 0.2) < 1e-12
    assert {key for key in found if key[0] in ("new", "gone")} == {("new", "new"), ("gone", "gone")}
    assert ("price", "b") not in found
    # a was first and is second of a, b, c; b the other way round; c stays third with another cost.
    assert {key for key in found if key[0] in ("rank", "cost")} == {("rank", "a"), ("rank", "b"), ("cost", "c")}
    assert (table["said_before"][0], table["said_after"][0]) == (f"Rent a. {ALONE}", f"Rent b. {ALONE}")


def test_the_same_offer_of_two_lists_is_told_apart():
    """A capacity block is cheaper than the on-demand price of the same machine, which alone moved."""
    two = pd.concat([offers(a=(3.0, "2026-09-19")), offers(a=(2.0, "2026-09-19")).assign(price_list="blocks")])
    later = two.assign(usd_per_hour=[2.5, 2.0])
    table = moved(State(two, ranks(two), pd.DataFrame()), State(later, ranks(later), pd.DataFrame()))
    (row,) = table[table["what"] == "price"].itertuples()
    assert (row.price_list, row.before, row.after) == ("rent", 3.0, 2.5)


def test_a_study_decided_anew_has_its_own_facts_of_stock(tmp_path):
    """Scenarios and refreshed prices are decided with availability.yaml, as the study itself is."""
    file = tmp_path / "availability.yaml"
    fact = {"quantity": "stock_share", "value": 0.3, "as_of": "2026-09", "source": "own probes"}
    file.write_text(json.dumps({"facts": [fact]}))
    plain = {"month_days": 30.5, "as_of": "2026-09-19", "energy": None, "price_paths": None}
    params = SimpleNamespace(settings=asdict(settings()), **plain)
    files = dict.fromkeys(SPEED, "x.parquet") | {"workloads": "w.yaml", "instances": []}
    for stock, share in (([str(file)], 0.3), ([], 0.07)):
        known = Unpriced.of_rule(files | {"stock": stock}, params).known
        found = known.find("stock_share", {"provider": "lambda", "gpu": "H100 SXM", "gpus": 8})
        assert found.value == share


def test_a_scenario_says_the_best_choice_of_the_answers_work():
    works = [work((name, RENT, [1.0, 1.0]), name=one) for name, one in (("a", "other"), ("b", "w"))]
    verdict = verdict_table(works, "w", pd.DataFrame(), {})
    costs = [("other", "b", 5.0), ("w", "a", 9.0), ("w", "b", 7.0)]
    choices = pd.DataFrame(
        [dict.fromkeys(OF_CHOICE, usd) | {"workload": work, "choice": name} for work, name, usd in costs]
    )
    row = answer_columns({"verdict": verdict, "choices": choices})
    assert (row["workload"], row["best_title"], row["usd"], row["usd_high"]) == ("w", "B", 7.0, 7.0)
    none = answer_columns({"verdict": verdict.assign(is_answer=False), "choices": choices})
    assert none["sentence"] == "no answer: nothing does the work" and "usd" not in none
