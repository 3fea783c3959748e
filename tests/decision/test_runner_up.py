"""What a choice is held against is the cheapest that binds to something else, mixes included; one threshold."""

import pandas as pd
import pytest
from phase_plans import hourly, own
from small_lab import class_of, small_lab
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.priced_works import works
from sweetspot.decision.verdict import verdict_table

FREE = {"maintenance_per_month": 0.0, "kw": 1.0, "per_kwh": 0.1}


def two_clouds(capex=5400.0, **more):
    """50 jobs a month of two classes, an hour each on its own cloud at 2 USD, four on the other, one on a box."""

    def change(options):
        other = options["instance"].map({"one": "lab.b", "two": "lab.a"}) == options["workload"]
        return options.assign(**{name: options[name].where(~other, options[name] * 4) for name in ("hours", "usd")})

    clouds = (hourly(2.0) | {"instance": name} for name in ("one", "two"))
    jobs = [class_of(name, 50.0) for name in ("a", "b")]
    return small_lab(*clouds, own(capex=capex, **FREE), jobs=jobs, hours={"a": 1.0, "b": 1.0}, change=change, **more)


def verdict_of(made):
    posed, options, draws, settings = made
    asked = works(options, draws, [], [posed], settings, {})
    return verdict_table(asked, "lab", pd.DataFrame(), {}).iloc[0], asked[0]


def test_a_purchase_is_held_against_the_mix_of_two_clouds():
    """All on one cloud: 50 x 2 + 50 x 8 = 500 USD a month, 18,000 in all. On both: 200 a month, 7,200. The box: 5,400
    and 100 x 0.1 x 36 = 360. 7,200 / 5,760 = 1.25; bought for 1,440 more, 6,840, it costs as much as renting.
    """
    told, work = verdict_of(two_clouds())
    assert (told["best"], told["kind"], told["rival_kind"]) == ("best", "buy", "rent")
    assert told["usd"] == pytest.approx(5760) and told["rival_usd"] == pytest.approx(7200)
    assert told["ratio"] == pytest.approx(1.25) and told["buy_below_usd"] == pytest.approx(6840)
    assert work.table["usd"].tolist() == pytest.approx([5760, 7200, 18_000, 18_000])
    question = monthly_problem(two_clouds()[0])
    ((turn,),) = (turns for one, turns in question.turning_points.items() if one.quantity == "capex_usd")
    assert turn.factor * 5400 == pytest.approx(6840, rel=1e-6)


@pytest.mark.parametrize(("capex", "kind"), [(6839.0, "buy"), (6841.0, "rent")])
def test_the_price_written_turns_it_and_is_the_same_threshold_on_the_other_side(capex, kind):
    told, _ = verdict_of(two_clouds(capex))
    assert told["kind"] == kind and told["buy_below_usd"] == pytest.approx(6840)


def test_the_rival_of_renting_is_as_many_machines_as_cost_the_least():
    """3 x 240 hours of work a month at 2 USD are 1,440; the price of the first box that pays is that of two and of
    three, too: 36 x (2 - 0.1) x 240 = 16,416 each. At 20,000 one costs 3,584 more than none, three 10,752.
    """
    box = own(capex=20_000.0, **FREE)
    told, _ = verdict_of(small_lab(hourly(2.0), box, jobs=[class_of("a", 720.0)], hours={"a": 1.0}))
    assert told["kind"] == "rent" and told["usd"] == pytest.approx(51_840)
    assert told["rival_usd"] == pytest.approx(51_840 + 3584) and told["buy_below_usd"] == pytest.approx(16_416)


def test_the_price_that_pays_is_that_of_the_machine_that_is_worth_most():
    """Of 300 hours the first box does 240 and pays up to 36 x 1.9 x 240, the second does 60 and pays a quarter."""
    told, work = verdict_of(small_lab(hourly(2.0), own(capex=16_000.0, **FREE), jobs=[class_of("a", 300.0)],
                                      hours={"a": 1.0}))  # fmt: skip
    assert work.table["counts"].iloc[0] == 1.0 and told["buy_below_usd"] == pytest.approx(16_416)


def test_what_may_be_spent_up_front_caps_the_price():
    """With at most 6,000 USD up front no box of 6,840 is bought, though it would pay."""
    posed, *more = two_clouds(at_most_up_front=6000.0)
    told, _ = verdict_of((posed.within_budget(1.0), *more))
    assert told["kind"] == "buy" and told["buy_below_usd"] == pytest.approx(6000)
