"""What one cell of a catalogue's line may hold, and which of several faults of a spot history is named."""

import json
from contextlib import nullcontext

import pandas as pd
import pytest
from sweetspot.catalogues import listing
from sweetspot.catalogues.listing import BadLineError, Line
from sweetspot.catalogues.spot_history import SpotAverage, averages, choose_zone, read_history
from sweetspot.errors import UserError

BAD = "refused"


def read(kind, text):
    try:
        line = Line(2, {"cell": text}, dict.fromkeys(("cell", "instance", "gpus"), "cell"))
        return getattr(line, kind)(*(["cell"] if kind in ("price", "value", "count") else []))
    except BadLineError:
        return BAD


@pytest.mark.parametrize(
    ("text", "price", "number", "whole", "cards"),
    [
        ("", BAD, None, None, None),
        ("1,5", 1.5, 1.5, None, BAD),  # a decimal comma
        ("1,500", BAD, BAD, BAD, BAD),  # a thousand and a half, or one and a half
        (" 2 ", 2.0, 2.0, 2, 2),
        ("8.0", 8.0, 8.0, 8, 8),
        ("1", 1.0, 1.0, 1, 1),
        ("0", BAD, 0.0, None, None),  # none of them, and no price
        ("0.5", 0.5, 0.5, None, BAD),  # a card shared with others
        ("1.5", 1.5, 1.5, None, BAD),
        ("-1", BAD, -1.0, None, None),
        ("999999999", 999999999.0, 999999999.0, 999999999, 999999999),
        ("1e9", BAD, BAD, BAD, BAD),
        ("-1e9", BAD, BAD, BAD, BAD),
        ("nan", BAD, BAD, BAD, BAD),
        ("inf", BAD, BAD, BAD, BAD),
        ("two", BAD, BAD, BAD, BAD),
    ],
)
def test_a_cell_as_price_number_count_and_cards(text, price, number, whole, cards):
    found = tuple(read(kind, text) for kind in ("price", "value", "count", "devices"))
    assert found == (price, number, whole, cards)


@pytest.mark.parametrize(
    ("text", "slug", "title"),
    [
        ("p3.2xlarge", "p3.2xlarge", ""),
        ("a b", "a-b", "a b"),
        (f"{'a' * 70} b", "a" * 64, f"{'a' * 70} b"),  # a name for files has at most 64
        (f"a {'b' * 198}", f"a-{'b' * 62}", f"a {'b' * 198}"),  # 200 characters
    ],
)
def test_a_name_for_files_of_a_catalogues_name(text, slug, title):
    assert Line(2, {"cell": text}, {"instance": "cell"}).name() == (slug, title)


@pytest.mark.parametrize("text", ["", "...", f"a {'b' * 199}", "a;b c", "a\nb", "é b"])
def test_what_is_no_name(text):
    assert read("name", text) == BAD


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


def test_two_prices_of_one_moment_are_refused(tmp_path):
    with pytest.raises(UserError, match="z/Linux/UNIX/eu-west-1a has two prices at 2018-06-09"):
        read_history(history(tmp_path, (9, "z", "1"), (9, "z", "2"), (8, "a", "1")))


def test_a_catalogue_of_too_many_bytes_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "vms.csv"
    file.write_text("InstanceType,Price\nx,1\n")  # 23 bytes
    for most, taken in ((23, True), (22, False)):
        monkeypatch.setattr(listing, "SIZE_LIMIT", most)
        with nullcontext() if taken else pytest.raises(UserError, match="23 bytes; expected at most 22"):
            list(listing.read_lines(listing.Catalogue(file), "skypilot"))


def test_a_history_is_read_oldest_first_and_a_record_may_stand_twice(tmp_path):
    read = read_history(history(tmp_path, (9, "z", "2"), (9, "z", "2"), (8, "a", "1"), (7, "z", "3")))
    assert read["instance"].tolist() == ["a", "z", "z"]
    assert read["usd_per_hour"].tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("days", "low", "high"),
    [
        # A price is an end from a twentieth of the time on: of 20 days one is just that, as 19 of them are 95 %.
        ([(1, "2"), (2, "3"), (21, None)], 2.0, 3.0),
        ([(1, "3"), (20, "4"), (21, None)], 3.0, 3.0),
        ([(1, "2"), (2, "3"), (22, None)], 3.0, 3.0),  # of 21 one is less
        ([(1, "3"), (19, "4"), (21, None)], 3.0, 4.0),
    ],
)
def test_the_ends_of_an_average_are_what_a_twentieth_of_the_time_passes(tmp_path, days, low, high):
    *changes, (end, _) = days
    records = [(day, "z", price) for day, price in reversed(changes)]
    (found,) = averages(read_history(history(tmp_path, *records)), end=pd.Timestamp(f"2018-06-{end:02}", tz="UTC"))
    assert (found.low, found.high) == (low, high)


def test_the_cheapest_zone_is_the_first_of_those_that_cost_the_same():
    moment = pd.Timestamp("2018-06-01", tz="UTC")

    def average(zone, mean, instance="m"):
        return SpotAverage(instance, zone, "Linux/UNIX", mean, mean, mean, moment, moment, 0)

    found = [average("a", 2.0), average("b", 1.0), average("c", 1.0), average("d", 3.0), average("d", 5.0, "n")]
    assert {name: entry.zone for name, entry in choose_zone(found).items()} == {"m": "b", "n": "d"}
    assert {name: entry.zone for name, entry in choose_zone(found, "c").items()} == {"m": "c"}
    with pytest.raises(UserError, match="zone 'x' is not in the history; expected one of a, b, c, d"):
        choose_zone(found, "x")


def test_a_time_may_be_of_any_zone(tmp_path):
    file = history(tmp_path, (2, "z", "1"), (1, "z", "999999"))
    file.write_text(file.read_text().replace("2018-06-02T00:00:00Z", "2018-06-02T02:00:00+02:00"))
    assert read_history(file)["time"].tolist() == [pd.Timestamp(f"2018-06-0{day}", tz="UTC") for day in (1, 2)]


def test_what_went_out_before_the_window_is_neither_a_change_nor_a_silence(tmp_path):
    read = read_history(history(tmp_path, (10, "z", "2"), (1, "z", "1")))
    start, end = (pd.Timestamp(f"2018-06-{day}", tz="UTC") for day in (10, 11))
    (found,) = averages(read, start=start, end=end, max_gap_days=5)
    assert (found.mean, found.changes) == (2.0, 0)
    with pytest.raises(UserError, match="empty window"):
        averages(read, start=end, end=end)


@pytest.mark.parametrize(("end", "gap"), [("07-01", False), ("07-02", True)])
def test_a_silence_of_thirty_days_is_none(tmp_path, end, gap):
    read = read_history(history(tmp_path, (1, "z", "1")))
    with pytest.raises(UserError, match="a gap of 31 days") if gap else nullcontext():
        averages(read, end=pd.Timestamp(f"2018-{end}", tz="UTC"))
