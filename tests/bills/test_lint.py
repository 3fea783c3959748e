"""Lint of prices: faults of real tables found unprompted, and silence where nothing is wrong."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from price_lists import findings, machines, offers, price_list
from project_copy import ROOT, environment
from sweetspot.commands.command_line import main
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.warnings import pairs

DATA = Path(__file__).parent.parent / "data"
STUDY = ROOT / "config" / "studies" / "parkopedia-2018"


def rules(prices: PriceList, **facts) -> set[tuple[str, str]]:
    return {(entry.rule, entry.instance) for entry in findings(prices, machines(prices, **facts))}


def of_study(name: str) -> list:
    """Lint of one of the 2018 study's lists, exactly as the workflow lints it."""
    known = load_instances(STUDY / "instances.yaml")
    return findings(load_price_list(STUDY / "prices" / f"{name}.yaml"), known)


def test_the_n1_standard_4_of_the_2018_table_is_found():
    (found,) = of_study("gce")
    assert (found.severity, found.rule, found.instance) == ("warning", "per_vcpu", "GCE_1xK80")
    for figure in ("n1-standard-4", "0.04", "0.0475", "0.19", "0.64", "0.49"):
        assert figure in found.message


def test_the_discount_of_the_2018_table_is_the_fraction_paid_in_every_row():
    found = [entry for entry in of_study("aws-spot") if entry.severity == "warning"]
    assert {entry.rule for entry in found} == {"discount_is_fraction_paid"}
    assert len(found) == 9
    assert "31%" in found[0].message
    assert "69%" in found[0].message


def test_the_hour_of_the_text_is_held_against_its_table():
    (found,) = of_study("office-box")
    assert found.rule == "text_against_table"
    assert "1.3 per hour" in found.message
    assert "1.1028" in found.message


def test_lists_without_a_fault_are_silent():
    assert of_study("aws-on-demand") == []


def test_dawnbenchs_swapped_prices_are_found(capsys):
    main(["import-prices", "csv", str(DATA / "dawnbench_prices.csv"), "--as-of", "2018-04-20", "--provider", "aws"])
    remarks = capsys.readouterr().err
    assert "p2.8xlarge (4.56) and g3.16xlarge (7.2) look swapped" in remarks
    # Nothing is wrong with the other three rows.
    assert "p2.xlarge at" not in remarks
    assert "p3." not in remarks


def test_dawnbench_with_the_two_prices_put_right_is_silent(capsys, tmp_path):
    text = (DATA / "dawnbench_prices.csv").read_text()
    file = tmp_path / "prices.csv"
    file.write_text(text.replace(",7.2,", ",X,").replace(",4.56,", ",7.2,").replace(",X,", ",4.56,"))
    main(["import-prices", "csv", str(file), "--as-of", "2018-04-20", "--provider", "aws"])
    assert capsys.readouterr().err == ""


def test_age_is_counted_to_the_study_or_to_today():
    offer = {"instance": "x", "per_hour": 1.0}
    then = price_list(offer, as_of=date(2018, 6, 1), max_age_days=60)
    assert findings(then, machines(then), today=date(2026, 1, 1)) == []
    now = price_list(offer, as_of=date(2018, 6, 1), max_age_days=60, age_at="today")
    assert "2771 days old at today" in findings(now, machines(now), today=date(2026, 1, 1))[0].message


def test_a_rate_of_another_year_is_named():
    rate = {"currency": "EUR", "usd": 1.1, "as_of": date(2017, 1, 1), "source": "a bank"}
    assert rules(price_list({"instance": "x", "per_hour": 1.0}, currency="EUR", rates=[rate])) == {("stale_rate", "x")}


@pytest.mark.parametrize(
    "arguments", [["csv", "absent.csv", "--as-of", "2018-01-01"], ["aws-spot-history", "absent.json"]]
)
def test_the_command_ends_on_one_sentence_and_code_2(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "sweetspot", "import-prices", *arguments],
        capture_output=True, text=True, env=environment(ROOT), check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: absent")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_lint_finds_what_a_careful_reader_finds():
    old = price_list({"instance": "x", "per_hour": 1}, as_of=date(2017, 1, 1), max_age_days=365, source="unknown")
    assert rules(old) == {("stale", "x"), ("missing_source", "x")}
    dear = price_list({"instance": "x", "per_hour": 1}, {"instance": "x", "purchase": "spot", "per_hour": 1.1})
    assert ("spot_above_on_demand", "x") in rules(dear)
    right = {"discount": 0.69}
    honest = {"instance": "x", "purchase": "spot", "per_hour": 0.28, "on_demand_per_hour": 0.9, "printed": right}
    assert not {rule for rule, _ in rules(price_list(honest))} & {"discount_is_fraction_paid", "text_against_table"}


def test_lint_says_when_use_does_not_earn_a_commitment():
    deal = {"term_months": 12, "upfront": 1200, "per_hour": 0.1}
    rented, reserved = {"instance": "x", "per_hour": 0.9}, {"instance": "x", "purchase": "reserved", "commitment": deal}
    on_demand, idle = offers(price_list(rented, reserved, days_per_month=5))["warnings"].map(pairs)
    assert on_demand == []  # the machine is the same; its on-demand price needs no warning
    assert [pair.rule for pair in idle] == ["not_earned"]
    assert "takes 8.0 days a month" in idle[0].message  # 173.2 USD a month / (24 x 0.9)
    assert pairs(offers(price_list(rented, reserved, days_per_month=9))["warnings"].iloc[1]) == []


def test_lint_says_when_interruptions_eat_the_discount():
    terms = {"per_hour": 2.0, "checkpoint_s": 600, "restore_s": 600, "source": "-"}
    spot = {"instance": "x", "purchase": "spot", "per_hour": 1.0, "on_demand_per_hour": 1.5, "interruptions": terms}
    (told,) = pairs(offers(price_list(spot))["warnings"].iloc[0])
    assert told.rule == "spot_loses"
    assert "dearer than on demand" in told.message


def test_lint_needs_three_machines_to_blame_one():
    cards = {"a": {"gpus": 1}, "b": {"gpus": 4}, "c": {"gpus": 8}}
    prices = price_list(*({"instance": name, "per_hour": usd} for name, usd in (("a", 1), ("b", 4), ("c", 6))))
    assert rules(prices, **cards) == {("per_gpu", "c")}
    fine = price_list(*({"instance": name, "per_hour": usd} for name, usd in (("a", 1), ("b", 4), ("c", 8))))
    assert rules(fine, **cards) == set()
