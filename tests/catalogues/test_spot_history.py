"""Spot price histories: averages by hand, and which of several faults is named."""

import json
from pathlib import Path

import pandas as pd
import pytest
from sweetspot.catalogues.spot_history import averages, choose_zones, read_history
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

HISTORY = Path(__file__).parent.parent / "data" / "spot_history.json"


def moment(text):
    return pd.Timestamp(text, tz="UTC")


def history(tmp_path, *records):
    """Records (day of June, machine, price), in the order of the file."""
    file = tmp_path / "history.json"
    rows = [
        {"Timestamp": f"2018-06-{day:02}T00:00:00Z", "ProductDescription": "Linux/UNIX", "InstanceType": machine,
         "SpotPrice": price, "AvailabilityZone": "eu-west-1a"}
        for day, machine, price in records
    ]  # fmt: skip
    file.write_text(json.dumps({"SpotPriceHistory": rows}))
    return file


def test_averages_are_weighted_by_the_time_a_price_held():
    found = averages(read_history(HISTORY), end=moment("2018-06-11"))
    by_zone = found.set_index("zone")
    # 1 June (both zones have a price) to 11 June: a has 7 days at 0.2, 1 at 0.3, 2 at 0.9; b has 9 at 0.3, 1 at 0.4
    assert by_zone["mean"].to_dict() == {
        "eu-west-1a": pytest.approx((7 * 0.2 + 1 * 0.3 + 2 * 0.9) / 10),
        "eu-west-1b": pytest.approx((9 * 0.3 + 1 * 0.4) / 10),
    }
    assert by_zone.loc["eu-west-1a", ["low", "high"]].tolist() == [0.2, 0.9]
    assert choose_zones(found, None)["zone"].tolist() == ["eu-west-1b"]
    assert choose_zones(found, "eu-west-1a")["mean"].tolist() == pytest.approx([0.35])


def test_a_window_cuts_the_steps_and_the_price_before_it_still_holds():
    window = {"start": moment("2018-06-07T12:00"), "end": moment("2018-06-08T12:00")}
    found = averages(read_history(HISTORY), **window).set_index("zone")["mean"].to_dict()
    assert found == {"eu-west-1a": pytest.approx(0.25), "eu-west-1b": pytest.approx(0.3)}


def test_a_history_is_read_oldest_first_and_a_record_may_stand_twice(tmp_path):
    read = read_history(history(tmp_path, (9, "z", "2"), (9, "z", "2"), (8, "a", "1"), (7, "z", "3")))
    assert read["instance"].tolist() == ["a", "z", "z"]
    assert read["usd_per_hour"].tolist() == [1.0, 3.0, 2.0]
    with pytest.raises(UserError, match="z/Linux/UNIX/eu-west-1a has two prices at 2018-06-09"):
        read_history(history(tmp_path, (9, "z", "1"), (9, "z", "2"), (8, "a", "1")))


@pytest.mark.parametrize(
    ("days", "low", "high"),
    [
        # A price is a bound from a twentieth of the time on: of 20 days one is just that, as 19 of them are 95 %.
        ([(1, "2"), (2, "3"), (21, None)], 2.0, 3.0),
        ([(1, "3"), (20, "4"), (21, None)], 3.0, 3.0),
        ([(1, "2"), (2, "3"), (22, None)], 3.0, 3.0),  # of 21 one is less
        ([(1, "3"), (19, "4"), (21, None)], 3.0, 4.0),
    ],
)
def test_the_bounds_of_an_average_are_what_a_twentieth_of_the_time_passes(tmp_path, days, low, high):
    *changes, (end, _) = days
    records = [(day, "z", price) for day, price in reversed(changes)]
    found = averages(read_history(history(tmp_path, *records)), end=moment(f"2018-06-{end:02}"))
    assert found[["low", "high"]].to_numpy().tolist() == [[low, high]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"SpotPrice": "nan"}, ["SpotPriceHistory[2].SpotPrice"]),
        ({"Timestamp": "yesterday"}, ["SpotPriceHistory[2].Timestamp"]),
        ({"Timestamp": "2018-06-09T00:00:00Z"}, ["two prices"]),
        ({"InstanceType": "<b>x</b>"}, ["SpotPriceHistory[2]", "name"]),
        ({}, ["NextToken"]),  # the first page of a history is not taken for the whole
    ],
)
def test_a_faulty_record_is_named(tmp_path, change, words):
    data, file = json.loads(HISTORY.read_text()), tmp_path / "history.json"
    data["SpotPriceHistory"][2] |= change
    file.write_text(json.dumps(data | ({} if change else {"NextToken": "abc"})))
    with pytest.raises(UserError) as error:
        main(["import-prices", "aws-spot-history", str(file)])
    assert all(word in str(error.value) for word in ["history.json", *words])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--end", "2018-05-01"], ["empty"]),
        (["--product", "SUSE Linux"], ["'SUSE Linux'", "Windows"]),
        (["--zone", "mars-1a"], ["'mars-1a'", "eu-west-1a"]),
        (["--only", "p9.xlarge"], ["--only"]),
        (["--start", "soon"], ["--start", "'soon'"]),
    ],
)
def test_a_window_that_the_history_cannot_answer_is_refused(arguments, words):
    with pytest.raises(UserError) as error:
        main(["import-prices", "aws-spot-history", str(HISTORY), *arguments])
    assert all(word in str(error.value) for word in words)
