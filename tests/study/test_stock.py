"""What is known of having a machine: bounds, dates, whose figure counts."""

import json
import math
from datetime import date, timedelta

import pytest
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.instances import Instance
from sweetspot.study.stock import checked_facts, load_availability, study_facts

TODAY = date(2026, 9, 19)


def fact(quantity="stock_share", value=0.5, **more):
    return {"quantity": quantity, "value": value, "as_of": "2026-08", "source": "own probes"} | more


def written(folder, *facts):
    file = folder / "availability.yaml"
    file.write_text(json.dumps({"facts": list(facts)}))  # which YAML reads too
    return file


def test_dates_to_come_are_mistakes_days_need_no_quotes_and_no_value_is_unknown(tmp_path):
    assert study_facts(written(tmp_path, fact(as_of=str(date.today() + timedelta(days=1)))))  # it is there already
    with pytest.raises(UserError, match=r"facts\[0\].as_of' is '2099'; expected a date that has been"):
        study_facts(written(tmp_path, fact(as_of="2099")))
    file = tmp_path / "availability.yaml"
    file.write_text("facts: [{quantity: stock_share, provider: hetzner, value: 0.5, as_of: 2026-08-22, source: ours}]")
    (told,) = checked_facts(file, [Instance(title="Nebius", provider="nebius", gpu="B300 SXM", gpus=8)], [])
    assert (told.as_of, told.provider) == ("2026-08-22", "hetzner")
    (said,) = study_facts(written(tmp_path, fact(value=None)))
    value, low, high = said.bounds
    assert math.isnan(value) and (low, high) == (0, 1)


@pytest.mark.parametrize(
    ("key", "name", "told"),
    [
        ("provider", "nebuis", r"facts\[0\].provider' is 'nebuis'; expected one of the study's: did you mean 'nebius'"),
        ("gpu", "B300  SXM", "'facts.0..gpu' is 'B300  SXM'; .* did you mean 'B300 SXM'"),
        ("price_list", "blocks", "'facts.0..price_list' is 'blocks'; expected one of the study's"),
    ],
)
def test_a_figure_for_nothing_of_the_study_is_a_mistake(tmp_path, key, name, told):
    machines = [Instance(title="Nebius", provider="nebius", gpu="B300 SXM", gpus=8)]
    with pytest.raises(UserError, match=told):
        checked_facts(written(tmp_path, fact(**{key: name})), machines, ["clouds"])


OFFER = {"price_list": "clouds", "provider": "lambda", "gpu": "H100 SXM", "gpus": 8, "purchase": "on_demand"}


@pytest.mark.parametrize(
    ("offer", "ends"),
    [
        ({}, (0.07, 0.07, 0.07)),  # ccir.io: Lambda 8 x H100
        ({"gpus": 4}, (0.22, 0.22, 0.22)),
        ({"provider": "nebius"}, (0.15, 0.02, 0.5)),  # one smaller cloud of which nothing is known
        ({"provider": "aws"}, (None, 0, 1)),
        ({"purchase": "spot"}, (None, 0, 1)),  # the share is that of on-demand machines
    ],
)
def test_the_figure_closest_to_an_offer_counts(offer, ends):
    found = load_availability(None, TODAY).find("stock_share", OFFER | offer).bounds
    assert [None if math.isnan(end) else end for end in found] == list(ends)


def test_a_study_knows_better_than_the_library_and_its_closest_figure_counts(tmp_path):
    file = written(tmp_path, fact(value=0.4), fact(value=0.3, gpus=8), fact(value=0.9, provider="aws"))
    known = load_availability(file, TODAY)
    assert known.find("stock_share", OFFER).value == 0.3
    assert known.find("stock_share", OFFER | {"gpus": 4}).value == 0.4
    assert known.find("stock_share", OFFER | {"provider": "aws"}).value == 0.9


def test_every_shipped_row_is_a_figure_with_date_and_source():
    rows = table("availability")
    assert rows and {row["source"] == "" or row["as_of"] == "" for row in rows} == {False}
    assert len(load_availability(None, TODAY).shipped) >= len([row for row in rows if row["as_of"] >= "2024"])
    # of two years before or after: the newest row is of 2026
    assert load_availability(None, date(2028, 12, 31)).shipped and not load_availability(None, date(2029, 1, 1)).shipped
