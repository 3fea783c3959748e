"""What is known of getting an option, in the table of options: whose fact, unknown shares, blocks, deliveries."""

import json
import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sweetspot.availability.columns import start_of_machines, start_times_of, with_start_times
from sweetspot.study.stock import load_availability

TODAY = date(2026, 9, 19)
BEFORE = date(2018, 7, 1)  # of this time no fact is shipped
DELIVERY = ("delivery_months", "delivery_months_low", "delivery_months_high")
CERTAIN = {"stock_share": 1.0, "delivery_weeks": 0.0, "failures_per_device_hour": 0.0}


def stated(folder, *facts, as_of=TODAY, **values):
    """The shipped facts after those of a study: mappings, or quantity=value for all offers."""
    rows = [*facts, *({"quantity": name, "value": value} for name, value in values.items())]
    file = folder / "availability.yaml"
    file.write_text(json.dumps({"facts": [{"as_of": "2026", "source": "ours"} | row for row in rows]}))
    return load_availability(file, as_of)


def option(provider="aws", gpu="H100 SXM", gpus=8, purchase="on_demand", nodes=None, **changes):
    months = changes.pop("delivery_months", (np.nan,) * 3)
    row = {"provider": provider, "gpu": gpu, "gpus": gpus, "purchase": purchase, "nodes": nodes}
    row |= {"price_list": "clouds", "hours": 6.0, "capex_usd": np.nan, "workload": "job", "title": provider}
    return row | dict(zip(DELIVERY, months, strict=True)) | {"option": f"{provider} {purchase}"} | changes


def columns(facts, *rows):
    return with_start_times(pd.DataFrame(rows), facts, 30.5).to_dict("records")


def test_half_of_the_results_of_an_unknown_seller_by_hand():
    # Eight H100: others are free in a share from 0 over 0.15 to 0.5, of 0.2 on average, and otherwise after a wait of
    # about 5 days: half of all cases within -ln(0.5 / 0.8) x 120 h = 56 h at a fixed wait; the wait itself is drawn
    # from 2 to 26 days, so it takes longer.
    (aws,) = columns(load_availability(None, TODAY), option("aws", hours=0.5))
    assert 56 < aws["hours_to_result"] < 106


@pytest.mark.parametrize(
    ("values", "is_known"),
    [
        ({}, False),
        ({"stock_share": 0.5, "failures_per_device_hour": 0.0}, False),  # the wait is missing
        ({"stock_share": 1.0, "failures_per_device_hour": 0.0}, True),  # who always finds one never waits
        ({"delivery_weeks": 2.0, "failures_per_device_hour": 0.0}, True),
    ],
)
def test_what_must_be_known_to_know_when_a_result_is_there(tmp_path, values, is_known):
    (row,) = columns(stated(tmp_path, as_of=BEFORE, **values), option())
    assert (start_times_of(row) is not None) == is_known == (not math.isnan(row["hours_to_result"]))


def test_machines_are_found_one_by_one_and_fail_by_the_device():
    four_nodes = option("lambda", gpus=32, nodes=4)
    rows = option("lambda"), four_nodes, four_nodes | {"purchase": "spot"}
    one, four, spot = columns(load_availability(None, TODAY), *rows)
    assert one["p_stock"] == four["p_stock"] == 0.07
    assert (one["failures_per_hour"], four["failures_per_hour"]) == pytest.approx((8e-4, 32e-4))
    assert four["hours_to_result_p90"] > one["hours_to_result_p90"]
    assert start_times_of(spot).machines == 1  # spot machines of one type and zone come and go together


def test_a_block_begins_on_its_day_and_a_purchase_when_it_is_delivered(tmp_path):
    facts = stated(tmp_path, {"quantity": "delivery_weeks", "price_list": "blocks", "value": 2.0})
    owned = {"provider": "own", "purchase": "own"}
    block, usual, ordered, card, free = columns(
        facts,
        option("aws", price_list="blocks"),
        option(**owned, capex_usd=3e5),
        option(**owned, capex_usd=3e5, delivery_months=(2.0, 1.0, 4.0)),
        option(**owned, capex_usd=2e3, gpu="RTX 4090", gpus=1),
        option(**owned, capex_usd=0.0, delivery_months=(2.0, 1.0, 4.0)),
    )
    assert block["hours_to_result"] == pytest.approx(14 * 24 + 6, abs=0.2)
    assert usual["start_hours"] == 40 * 168 and usual["hours_to_result"] == pytest.approx(40 * 168 + 6, rel=0.05)
    assert [ordered[f"start_hours{end}"] for end in ("_low", "", "_high")] == [732.0, 1464.0, 2928.0]  # 30.5 d x 24 h
    assert card["start_hours"] == free["start_hours"] == 0.0


def test_a_rate_of_interruptions_in_the_price_list_is_not_counted_twice():
    # Of a spot machine of eight H100 at AWS: 1e-4 failures of a device and 1.1e-4 / 8 interruptions an hour.
    unpriced, priced = columns(
        load_availability(None, TODAY),
        option("aws", purchase="spot"),
        option("aws", purchase="spot", interruptions_per_hour=0.04),
    )
    assert unpriced["failures_per_hour"] == pytest.approx(8 * (1e-4 + 1.1e-4 / 8), rel=0.01)
    assert priced["failures_per_hour"] == pytest.approx(8e-4)


def test_the_verdict_has_what_is_known_of_its_machine_and_work():
    options = with_start_times(
        pd.DataFrame([option("lambda"), option("aws", purchase="reserved")]), load_availability(None, TODAY), 30.5
    )
    machines = ["lambda on_demand", "lambda on_demand", "aws reserved", "no such option"]
    table = start_of_machines(options, ["job", "another", "job", "job"], machines)
    assert table["machine_title"].fillna("").tolist() == ["lambda", "lambda", "aws", ""]
    assert table["p_stock"].fillna(-1).tolist() == [0.07, 0.07, -1, -1]
    assert table["p_stock_high"].notna().tolist() == [True, True, False, False]
    assert table["hours_to_result"].notna().tolist() == [True, False, True, False]
