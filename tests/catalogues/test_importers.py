"""Importers: output that the price list model accepts, faults named by file."""

from datetime import date

import pytest
import yaml
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.study.price_list import load_price_list

DAY = ("--as-of", "2022-06-01")


@pytest.fixture
def written(tmp_path, capsys):
    """What the command writes of a file's text; a price list is read back through the model too."""

    def run(kind, source, *arguments):
        file = tmp_path / "vms.csv"
        file.write_text(source)
        main(["import-prices", kind, str(file), *arguments])
        text = capsys.readouterr().out
        if "instances" not in arguments:
            (tmp_path / "list.yaml").write_text(text)
            load_price_list(tmp_path / "list.yaml")
        return text

    return run


def offers(text):
    return {(offer["instance"], offer["purchase"]): offer for offer in yaml.safe_load(text)["offers"]}


def test_prices_in_another_currency_come_with_their_rate(written):
    table = "instance,per_hour\nnode,0.516\n"
    words = ("--as-of", "2024-07-19", "--currency", "EUR")
    text = written("csv", table, *words, "--rate", "EUR=1.09", "--rate-source", "the bank")
    data = yaml.safe_load(text)
    assert data["rates"] == [{"currency": "EUR", "usd": 1.09, "as_of": date(2024, 7, 19), "source": "the bank"}]
    assert "&" not in text  # no anchors: the reader of price lists takes none
    assert data["currency"] == "EUR" and data["offers"][0]["per_hour"] == 0.516
    for rate, word in (("EUR", "'EUR'; expected a currency"), ("EUR=-1", "usd"), ("GBP=1.3", "a dated rate for EUR")):
        with pytest.raises(UserError, match=word):
            written("csv", table, *words, "--rate", rate)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("instance,price\np2.xlarge,1\n", ["'per_hour'", "missing"]),
        ("instance,per_hour,currency\np2.xlarge,1,EUR\n", ["EUR", "rates"]),
        ("instance,per_hour,currency\np2.xlarge,1,<b>\n", ["currency"]),
        ("", ["'instance'"]),
    ],
)
def test_a_faulty_table_is_named_by_line(written, text, words):
    with pytest.raises(UserError) as error:
        written("csv", text, *DAY)
    assert all(word in str(error.value) for word in words) and "\n" not in str(error.value)


def test_hostile_text_in_a_source_stays_text_and_a_catalogue_without_a_date_is_refused(written):
    source = '"<script>alert(1)</script>: {x: !!python/object:os.system}"'
    found = offers(written("csv", f"instance,per_hour,source\np2.xlarge,0.9,{source}\n", *DAY))
    assert found["p2.xlarge", "on_demand"]["source"].startswith("<script>")
    with pytest.raises(UserError, match="--as-of"):
        written("csv", "instance,per_hour\nx,1\n")
