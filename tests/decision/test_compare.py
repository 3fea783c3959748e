"""The comparison as a whole: nothing to compare, what does not fit, what is worth most, and what it imports."""

import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, SAMPLES, inputs, offer, settings
from sweetspot.decision.compare import compare, decide_study, together
from sweetspot.study.instances import Needs
from sweetspot.study.workloads import Need


@pytest.mark.parametrize("offered", [0, 1])
def test_without_prices_the_tables_are_empty_and_one_machine_alone_has_a_cost_and_no_rival(offered):
    """A study of one's own may begin with the machine that is there and nothing else."""
    market = inputs()
    found = compare(replace(market, costs=market.costs.iloc[:offered], offers=market.offers.iloc[:offered]), settings())
    if not offered:
        assert all(found[name].empty for name in found if name != "warnings")
        return
    assert found["ranks"]["usd"].tolist() == [pytest.approx(SAMPLES / 498 / 3600 * 1.102778, rel=1e-5)]
    assert found["break_even"].empty and found["tornado"].empty and found["worth_knowing"].empty
    assert together([market.costs] * 2).index.is_unique  # rows of several lists are told apart
    assert found["verdict"]["rival"].isna().tolist() == [True]


def test_a_reference_that_is_rented_has_no_break_even():
    found = compare(inputs(), settings(reference="p3.2xlarge"), draws=50)
    assert found["break_even"].empty and found["tornado"].empty
    assert found["verdict"][["best", "rival"]].to_numpy().tolist() == [[BOX, RENTED]]
    owned = compare(inputs(), settings(), draws=2)
    assert len(owned["tornado"]) > 3 and owned["sweeps"].empty
    assert not found["ranks"].empty and found["verdict"]["workload_title"].tolist() == ["VGG-16"]


def test_offers_without_a_speed_are_named_where_they_may_be_the_answer():
    market, silent = inputs(), [offer(name, "on_demand", 1.0, price_list=name) for name in ("silent", "elsewhere")]
    market = replace(market, offers=pd.concat([market.offers, pd.DataFrame(silent)], ignore_index=True))
    for lists, names in (((), ["silent", "elsewhere"]), (("own", "on_demand", "spot", "silent"), ["silent"])):
        (work,) = decide_study(market, replace(settings(), answer_prices=lists), 2).works
        assert work.without_speed["instance"].tolist() == names


def test_starting_is_quick_nothing_heavy_is_imported():
    heavy = {"scipy", "altair", "pydantic", "tensorflow"}
    code = "import sys, sweetspot.decision.compare, sweetspot.report.rank_changes; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_what_does_not_fit_stands_last_and_among_the_options_alone():
    known = replace(settings(), gpu_memory_gib={RENTED: 16.0, BOX: 24.0})
    needs = {"imagenet": Need(Needs(gpu_memory_gib=20.0), None), "silent": Need(Needs(), None)}
    found = compare(inputs(), known, 50, needs=needs, titles={"imagenet": "Ninety epochs"})
    assert found["verdict"]["workload_title"].tolist() == ["Ninety epochs"]
    told = found["warnings"].set_index("rule")["message"]
    assert "silent" in told["no_speed"] and found["warnings"].index.tolist() == list(range(len(told)))
    assert found["options"]["option"].tolist() == [BOX, f"{RENTED} (spot)", RENTED]
    assert found["options"]["fits"].tolist() == [True, False, False] and found["options"].index.tolist() == [0, 1, 2]
    assert found["ranks"]["option"].tolist() == [BOX] and found["choices"]["choice"].tolist() == [BOX]
    assert found["tornado"].empty
