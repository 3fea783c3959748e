"""The comparison as a whole: nothing to compare, what does not fit, what is worth most, and what it imports."""

import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, SAMPLES, inputs, settings
from sweetspot.decision.compare import Inputs, compare, together
from sweetspot.study.memory import Needs
from sweetspot.study.needs import Need


@pytest.mark.parametrize("offered", [0, 1])
def test_without_prices_the_tables_are_empty_and_one_machine_alone_has_a_cost_and_no_rival(offered):
    """A study of one's own may begin with the machine that is there and nothing else."""
    market = inputs()
    found = compare(replace(market, costs=market.costs.iloc[:offered], offers=market.offers.iloc[:offered]), settings())
    if not offered:
        assert all(found[name].empty for name in found if name != "warnings")
        return
    assert found["ranks"]["usd"].tolist() == [pytest.approx(SAMPLES / 498 / 3600 * 1.102778, rel=1e-5)]
    none = ("break_even", "utilisation", "surface", "tornado", "pairs")
    assert all(found[name].empty for name in none)
    assert found["verdict"]["do_this"].tolist() == ["Nothing else does this work."]


def test_a_reference_that_is_rented_has_no_break_even():
    found = compare(inputs(), settings(reference="p3.2xlarge"), draws=50)
    assert found["break_even"].empty and found["tornado"].empty
    assert found["verdict"][["best", "rival"]].to_numpy().tolist() == [[BOX, RENTED]]
    assert not found["ranks"].empty and found["verdict"]["workload_title"].tolist() == ["VGG-16"]


def test_starting_is_quick_nothing_heavy_is_imported():
    heavy = {"scipy", "altair", "pydantic", "tensorflow", "polars"}
    code = "import sys, sweetspot.decision.compare, sweetspot.report.rank_changes; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_of_empty_tables_the_first_gives_the_columns():
    empty, other = pd.DataFrame(columns=["a"]), pd.DataFrame(columns=["b"])
    assert together([empty, other]).columns.tolist() == ["a"]
    assert together([empty, pd.DataFrame({"b": [1]}), pd.DataFrame({"b": [2]})]).to_dict("list") == {"b": [1, 2]}


def test_the_verdict_names_what_is_worth_most_to_know():
    found = compare(inputs(price_p3=0.50), settings())
    worth = found["worth_knowing"]
    net = (worth["evppi_usd"] - worth["cost_to_learn_usd"].fillna(0.0))[worth["evppi_usd_low"] > 0]
    assert net.max() > 0
    assert found["verdict"]["find_out_first"].tolist() == [worth.loc[net.idxmax(), "figure"]]


def test_what_does_not_fit_stands_last_and_among_the_options_alone():
    known = replace(settings(), gpu_memory_gib={RENTED: 16.0, BOX: 24.0})
    needs = {"imagenet": Need(Needs(gpu_memory_gib=20.0), None)}
    found = compare(inputs(), known, 50, needs=needs)
    assert found["options"]["option"].tolist() == [BOX, f"{RENTED} (spot)", RENTED]
    assert found["options"]["fits"].tolist() == [True, False, False] and found["options"].index.tolist() == [0, 1, 2]
    assert found["ranks"]["option"].tolist() == [BOX] and found["choices"]["choice"].tolist() == [BOX]
    assert found["tornado"].empty and found["left_out"].empty


def test_inputs_read_one_file_or_several(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"a": [2]}).to_parquet(tmp_path / "y.parquet")
    one, two = str(tmp_path / "x.parquet"), str(tmp_path / "y.parquet")
    files = dict.fromkeys(Inputs.__dataclass_fields__, one) | {"costs": [one, two], "offers": []}
    read = Inputs.read(files)
    assert read.costs["a"].to_dict() == {0: 1, 1: 2} and read.throughput["a"].tolist() == [1] and read.offers.empty
