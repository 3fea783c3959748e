"""`sweetspot import-prices`: the list and the machines as they are written, by hand from a few lines."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.study.price_list import load_price_list

HISTORY = Path(__file__).parent.parent / "data" / "spot_history.json"
HEADING = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"
LINES = (
    "box one,here,2.0,8,61.0,4,V100,16.0,False,\n"
    "box one,there,1.5,8,61.0,4,V100,16.0,False,\n"
    "plain,here,0.1,,,0,,,False,\n"
)


def written(capsys, *arguments):
    main(["import-prices", *map(str, arguments)])
    return yaml.safe_load(capsys.readouterr().out)


@pytest.fixture
def catalogue(tmp_path):
    file = tmp_path / "cloud.csv"
    file.write_text(HEADING + LINES)
    return file


def test_a_spot_history_as_a_price_list(capsys):
    """Zone b from 1 June: nine days at 0.3 and one at 0.4. The day is that of the window's end, else the one given."""
    history = ("aws-spot-history", HISTORY, "--end", "2018-06-11")
    assert written(capsys, *history, "--as-of", "2018-07-01")["as_of"] == date(2018, 7, 1)
    assert written(capsys, *history) == {
        "currency": "USD",
        "as_of": date(2018, 6, 11),
        "source": "spot_history.json (aws-spot-history), time-weighted mean",
        "offers": [
            {
                "instance": "p2.xlarge",
                "purchase": "spot",
                "per_hour": {"value": 0.31, "low": 0.3, "high": 0.4},
                "note": "eu-west-1b, Linux/UNIX, 2018-06-01 00:00:00+00:00 to 2018-06-11 00:00:00+00:00",
            }
        ],
    }


def test_a_catalogue_as_a_price_list_takes_the_cheapest_place_and_titles_what_is_no_name(capsys, catalogue):
    day = ("--as-of", "2026-01-02")
    assert written(capsys, "gpuhunt", catalogue, *day) == {
        "currency": "USD",
        "as_of": date(2026, 1, 2),
        "source": "cloud.csv (gpuhunt), cheapest place",
        "offers": [
            {"instance": "box-one", "purchase": "on_demand", "per_hour": 1.5, "note": "box one, there"},
            {"instance": "plain", "purchase": "on_demand", "per_hour": 0.1, "note": "here"},
        ],
    }
    heading = written(capsys, "gpuhunt", catalogue, *day, "--rate", "EUR=1,09")  # a decimal comma
    rate = {"currency": "EUR", "usd": 1.09, "as_of": date(2026, 1, 2), "source": "given when the prices were imported"}
    assert heading["rates"] == [rate]
    box = {"title": "box one", "provider": "unknown", "gpu": "V100 16GB", "gpus": 4, "vcpus": 8, "memory_gib": 61.0}
    assert written(capsys, "gpuhunt", catalogue, *day, "--print", "instances") == {
        "box-one": box,
        "plain": {"title": "plain", "provider": "unknown", "gpu": "CPU", "gpus": 1},
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--as-of is missing: cloud.csv does not say of which day"),
        (("--as-of", "2999-01-01"), "--as-of is 2999-01-01, a day to come"),
        (("--as-of", "2026-01-02", "--rate", "EUR=much"), "--rate EUR is 'much'"),
    ],
)
def test_what_a_catalogue_needs_beside_it(catalogue, arguments, words):
    with pytest.raises(UserError, match=words):
        main(["import-prices", "gpuhunt", str(catalogue), *arguments])
    with pytest.raises(UserError, match="says nothing of the machines"):
        main(["import-prices", "aws-spot-history", str(HISTORY), "--end", "2018-06-11", "--print", "instances"])


@pytest.fixture
def own_list(tmp_path, capsys):
    """A table of prices as a list that the study reads, as data."""

    def read(text, *arguments):
        (tmp_path / "prices.csv").write_text(text)
        main(["import-prices", "csv", str(tmp_path / "prices.csv"), "--as-of", "2024-07-19", *arguments])
        printed = capsys.readouterr().out
        (tmp_path / "list.yaml").write_text(printed)
        load_price_list(tmp_path / "list.yaml")
        return yaml.safe_load(printed)

    return read


def test_prices_in_another_currency_come_with_their_rate(own_list):
    table, euro = "instance,per_hour\nnode,0.516\n", ("--currency", "EUR", "--rate")
    prices = own_list(table, *euro, "EUR=1.09", "--rate-source", "the bank")
    assert prices["rates"] == [{"currency": "EUR", "usd": 1.09, "as_of": date(2024, 7, 19), "source": "the bank"}]
    assert prices["currency"] == "EUR" and prices["offers"][0]["per_hour"] == 0.516
    for rate, word in (("EUR", "'EUR'; expected a currency"), ("EUR=-1", "usd"), ("GBP=1.3", "a dated rate for EUR")):
        with pytest.raises(UserError, match=word):
            own_list(table, *euro, rate)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("instance,price\np2.xlarge,1\n", "'per_hour' is missing"),
        ("instance,per_hour,currency\np2.xlarge,1,EUR\n", "EUR.*rates"),
        ("instance,per_hour,currency\np2.xlarge,1,<b>\n", "currency"),
        ("", "'instance'"),
    ],
)
def test_a_faulty_table_is_one_sentence(own_list, text, words):
    with pytest.raises(UserError, match=f"^.*{words}.*$"):
        own_list(text)


def test_hostile_text_in_a_source_stays_text(own_list):
    source = '"<script>alert(1)</script>: {x: !!python/object:os.system}"'
    prices = own_list(f"instance,per_hour,source\np2.xlarge,0.9,{source}\n")
    assert prices["offers"][0]["source"].startswith("<script>")
