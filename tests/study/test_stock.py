"""What is known of having a machine: bounds, dates, whose figure counts; own looks at stock, how they count beside a
default, held-back months, and what is wrong in a history.
"""

import csv
import json
import math
from collections import defaultdict
from datetime import date, timedelta

import numpy as np
import pytest
from project_copy import ROOT
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.instances import Instance
from sweetspot.study.stock import (
    Look,
    days_of,
    load_availability,
    looks_file,
    named_facts,
    own_facts,
    read_looks,
    share_of,
    shipped_facts,
    write_looks,
)  # fmt: skip

TODAY = date(2026, 9, 19)
DAY = date(2026, 11, 22)


def fact(quantity="stock_share", value=0.5, **more):
    return {"quantity": quantity, "value": value, "as_of": "2026-08", "source": "own probes"} | more


def written(folder, *facts):
    file = folder / "availability.yaml"
    file.write_text(json.dumps({"facts": list(facts)}))  # which YAML reads too
    return file


def test_a_date_to_come_is_a_mistake(tmp_path):
    assert own_facts(written(tmp_path, fact(as_of=str(date.today() + timedelta(days=1)))))  # it is there already
    with pytest.raises(UserError, match=r"facts\[0\].as_of' is '2099'; expected a date that has been"):
        own_facts(written(tmp_path, fact(as_of="2099")))


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
        named_facts(written(tmp_path, fact(**{key: name})), machines, ["clouds"])


def test_a_day_needs_no_quotes_and_a_provider_of_another_study_is_none_of_ours(tmp_path):
    file = tmp_path / "availability.yaml"
    file.write_text("facts: [{quantity: stock_share, provider: hetzner, value: 0.5, as_of: 2026-08-22, source: ours}]")
    (told,) = named_facts(file, [Instance(title="Nebius", provider="nebius", gpu="B300 SXM", gpus=8)], [])
    assert (told.as_of, told.provider) == ("2026-08-22", "hetzner")


def test_without_a_value_it_is_unknown_and_never_certain(tmp_path):
    (said,) = own_facts(written(tmp_path, fact(value=None)))
    value, low, high = said.ends
    assert math.isnan(value) and (low, high) == (0, 1)


OFFER = {"price_list": "clouds", "provider": "lambda", "gpu": "H100 SXM", "gpus": 8, "purchase": "on_demand"}


@pytest.mark.parametrize(
    ("offer", "ends"),
    [
        ({}, (0.07, 0.07, 0.07)),  # ccir.io: Lambda 8 x H100
        ({"gpus": 4}, (0.22, 0.22, 0.22)),
        ({"provider": "nebius"}, (0.15, 0.02, 0.5)),  # one smaller cloud of which nothing is known
        ({"provider": "aws"}, (None, 0, 1)),
        ({"provider": "aws", "purchase": "spot"}, (None, 0, 1)),
        ({"purchase": "spot"}, (None, 0, 1)),  # the share is that of on-demand machines
    ],
)
def test_the_figure_closest_to_an_offer_counts(offer, ends):
    found = load_availability(None, TODAY).find("stock_share", OFFER | offer).ends
    assert [None if math.isnan(end) else end for end in found] == list(ends)


def test_a_study_knows_better_than_the_library_and_its_closest_figure_counts(tmp_path):
    file = written(tmp_path, fact(value=0.4), fact(value=0.3, gpus=8), fact(value=0.9, provider="aws"))
    known = load_availability(file, TODAY)
    assert known.find("stock_share", OFFER).value == 0.3 and known.is_own(known.find("stock_share", OFFER))
    assert not known.is_own(known.find("wait_days", OFFER | {"provider": "nebius"}))
    assert known.find("stock_share", OFFER | {"gpus": 4}).value == 0.4
    assert known.find("stock_share", OFFER | {"provider": "aws"}).value == 0.9


def test_every_shipped_row_is_a_figure_with_date_and_source():
    rows = table("availability")
    assert rows and {row["source"] == "" or row["as_of"] == "" for row in rows} == {False}
    assert len(shipped_facts(TODAY)) >= len([row for row in rows if row["as_of"] >= "2024"])
    # of two years before or after: the newest row is of 2026
    assert shipped_facts(date(2028, 12, 31)) and not shipped_facts(date(2029, 1, 1))
    assert all("ccir.io" in row["source"] for row in rows if row["quantity"].startswith("any_"))


def seen(with_stock, without, last=DAY):
    """Days up to `last`: those without stock first."""
    days = [0.0] * without + [1.0] * with_stock
    return {last - timedelta(days=place): share for place, share in enumerate(reversed(days))}


def look(day=DAY, there=True, provider="nebius", gpus=8, source="file 1"):
    return Look(day, provider, "H100 SXM", gpus, "on_demand", there, source)


def drawn(with_stock, without, size=400_000):
    """Beta by two gamma variates: independent of the library's incomplete beta function."""
    random = np.random.default_rng(5)
    one, other = random.standard_gamma(with_stock, size), random.standard_gamma(without, size)
    return one / (one + other)


def test_a_share_is_the_default_as_one_look_and_days_as_twentieths_of_one():
    """12 of 30 days and a default of 0.15: 0.15 + 12/20 = 0.75 with stock, 0.85 + 18/20 = 1.75 without: 0.75/2.5."""
    found = share_of(seen(12, 18), 0.15)
    assert found.value == pytest.approx(0.3) and (found.days, found.with_stock, found.newest) == (30, 12, DAY)
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn(0.75, 1.75), (0.05, 0.95)), abs=0.005)


@pytest.mark.parametrize(("days", "own"), [(1, 0.0476), (19, 0.487), (21, 0.512), (30, 0.6)])
def test_after_a_month_ones_own_counts_more(days, own):
    """n/20 of n/20 + 1 looks: of a default of 0.25 and a machine always there, 0.25 + 0.75 x that."""
    assert share_of(seen(days, 0), 0.25).value == pytest.approx(0.25 + 0.75 * own, abs=1e-3)


def test_looks_of_another_month_no_longer_count():
    late = seen(0, 30)
    old = {DAY - timedelta(days=30 + place): 1.0 for place in range(60)}
    assert share_of(old | late, 0.5) == share_of(late, 0.5)


def test_nothing_is_certain_and_an_unknown_default_is_half():
    """(0.5 + 3/20) / (1 + 3/20) of a default that nobody knows; 0.95 of one of 1; range from 5 to 95 %."""
    unknown, always = share_of(seen(3, 0), None), share_of(seen(30, 0), 1.0)
    assert unknown.value == pytest.approx(0.65 / 1.15) and unknown.high - unknown.low > 0.8
    assert always.value == pytest.approx((0.95 + 1.5) / 2.5) and always.low < 0.95


def test_looks_of_a_day_share_it_and_a_machine_never_seen_says_nothing():
    looks = [look(there=True), look(there=False), look(DAY - timedelta(days=1), False), look(there=False, gpus=1)]
    assert days_of(looks) == {("nebius", "H100 SXM", 8, "on_demand"): {DAY: 0.5, DAY - timedelta(days=1): 0.0}}


def digitalocean():
    """Share of each day's samples with stock, by device (tests/data/README.md)."""
    found = defaultdict(dict)
    with (ROOT / "tests" / "data" / "stock" / "digitalocean_2026.csv").open() as file:
        for row in csv.DictReader(file):
            found[row["gpu"]][date.fromisoformat(row["day"])] = int(row["samples_with_stock"]) / int(row["samples"])
    return found


def held_back(length):
    """(forecast, default alone, own days alone, what came, in the range) of each stretch of so many days."""
    for days in digitalocean().values():
        order = sorted(days)
        for start in range(30, len(order) - length + 1, length):
            before, after = order[max(0, start - 30) : start], order[start : start + length]
            found = share_of({day: days[day] for day in before}, 0.6)  # facts/availability.csv: one device
            came = float(np.mean([days[day] for day in after]))
            own = float(np.mean([days[day] for day in before]))
            # A stretch without any stock is what a share of 0.5 % gives too.
            yield found.value, 0.6, own, came, found.low - 0.005 <= came <= found.high + 0.005


def test_held_back_months_are_foretold_better_than_by_the_default_or_ones_own_alone():
    """DigitalOcean, April to August 2026, whose stock went from none to always: six months and 26 weeks held back."""
    months, weeks = (np.array(list(held_back(length))) for length in (30, 7))
    assert (len(months), len(weeks)) == (6, 26)
    both, default, own = (((months[:, place] - months[:, 3]) ** 2).mean() for place in range(3))
    assert both < 0.75 * own and both < 0.75 * default
    # A range of 90 % that must hold of so violent a series what it can: days as looks of their own hold 2 of 6.
    assert months[:, 4].sum() >= 5 and weeks[:, 4].mean() >= 0.7
    assert ((weeks[:, 0] - weeks[:, 3]) ** 2).mean() < 0.5 * ((weeks[:, 1] - weeks[:, 3]) ** 2).mean()


@pytest.mark.parametrize("default", [0.15, 0.6])
def test_ranges_hold_nine_of_ten_shares_where_sellers_are_as_assumed(default):
    """Sellers drawn around the default as one look is (beta), each seen for one independent look of 20 days."""
    random = np.random.default_rng(11)
    shares = random.beta(default, 1 - default, 20_000)
    there = random.random(20_000) < shares
    ranges = {True: share_of(seen(20, 0), default), False: share_of(seen(0, 20), default)}
    held = [ranges[bool(one)].low <= share <= ranges[bool(one)].high for one, share in zip(there, shares, strict=True)]
    # Where none was seen the range begins at 0.0003 to 0.02, so about 5 % each lie below and above.
    assert np.mean(held) == pytest.approx(0.9, abs=0.01)


def test_what_is_written_is_read_and_a_name_with_a_comma_too(tmp_path):
    looks, file = [look(gpus=1), look(there=False, source='a, "b"', gpus=100_000)], looks_file(tmp_path)
    write_looks(file, looks)
    assert read_looks(file, DAY - timedelta(days=1)) == looks  # where it is tomorrow already
    with pytest.raises(UserError, match="a day that has been, at most 2026-11-20"):
        read_looks(file, DAY - timedelta(days=2))
    assert read_looks(file) == looks and file == tmp_path / "prices" / "history" / "stock.csv"


COLUMNS = Look._fields
GOOD = ["2026-11-22", "nebius", "H100 SXM", "8", "on_demand", "1", "file"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "begins with 'nothing'; expected the columns as_of,provider"),
        ("<html>portal</html>\n", "begins with '<html>portal</html>'; expected the columns"),
        ("provider,as_of\n", "begins with 'provider,as_of'"),
        ({"as_of": ""}, "line 2: as_of is ''; expected a day such as 2026-11-22"),
        ({"as_of": "2026-11"}, "line 2: as_of is '2026-11'"),
        ({"as_of": "2099-01-01"}, "line 2: as_of is '2099-01-01'; expected a day that has been"),
        ({"gpus": "0"}, "line 2: gpus is '0'; expected a count of at least 1"),
        ({"gpus": "eight"}, "line 2: gpus is 'eight'"),
        ({"gpus": "100001"}, "line 2: gpus is '100001'"),
        ({"purchase": "rent"}, "line 2: purchase is 'rent'; expected one of on_demand"),
        ({"in_stock": "1.2"}, "line 2: in_stock is '1.2'; expected 0 or 1"),
        ({"in_stock": "-1"}, "line 2: in_stock is '-1'"),
        ({"provider": " "}, "line 2: provider is ' '; expected some text"),
        (",".join(COLUMNS) + "\n2026-11-22,nebius,H1", r"line 2: has 3 cells; expected 7 \(is the file whole\?\)"),
        (",".join(COLUMNS) + '\n2026-11-22,nebius,"H1', "not CSV in UTF-8"),
    ],
)
def test_a_mistake_in_the_history_is_one_sentence(tmp_path, text, told):
    file = tmp_path / "stock.csv"
    if isinstance(text, dict):
        cells = dict(zip(COLUMNS, GOOD, strict=True)) | text
        text = "\n".join([",".join(COLUMNS), ",".join(cells.values())])
    file.write_text(text)
    with pytest.raises(UserError, match=told) as found:
        read_looks(file)
    assert len(found.value.sentences) == 1 and "stock.csv" in str(found.value)


NEBIUS = OFFER | {"provider": "nebius"}


def history(folder, days=30, last=DAY):
    file = folder / "stock.csv"
    write_looks(file, [look(last - timedelta(days=place), place < 12, source=f"file {place}") for place in range(days)])
    return file


def test_a_default_is_counted_together_with_own_looks_of_that_machine_alone(tmp_path):
    known, plain = load_availability(None, TODAY, history(tmp_path)), load_availability(None, TODAY)
    fact = known.find("stock_share", NEBIUS)
    assert fact.value == pytest.approx(0.3) and fact.low < 0.05 and fact.high > 0.7  # 0.15 and 12 of 30 days
    assert fact.source.startswith(
        "own looks, in stock on 12 of 30 days to 2026-11-22, together with the default 0.15 ("
    )
    assert (fact.as_of, fact.confidence) == ("2026-11-22", "middling") and not known.is_own(fact)
    others = ({"gpus": 1}, {"provider": "lambda"}, {"purchase": "spot"}, {"gpu": "H200 SXM"})
    for other in others:
        assert known.find("stock_share", NEBIUS | other) == plain.find("stock_share", NEBIUS | other)
    assert known.find("wait_days", NEBIUS) == plain.find("wait_days", NEBIUS)


def test_a_few_looks_are_weak_and_what_the_team_wrote_goes_before_them(tmp_path):
    looks = history(tmp_path, days=13)
    assert load_availability(None, TODAY, looks).find("stock_share", NEBIUS).confidence == "weak"
    own = tmp_path / "availability.yaml"
    own.write_text("facts: [{quantity: stock_share, value: 0.9, as_of: '2026-11', source: ours}]")
    assert load_availability(own, TODAY, looks).find("stock_share", NEBIUS).value == 0.9


def test_looks_of_another_time_say_nothing_of_a_study(tmp_path):
    file, day = history(tmp_path), date(2018, 6, 1)
    write_looks(file, [*read_looks(file), look(day, gpus=1)])
    two_later = date(2020, 12, 31)
    assert load_availability(None, two_later, file).find("stock_share", NEBIUS | {"gpus": 1}).as_of == "2018-06-01"
    assert load_availability(None, date(2018, 7, 1), history(tmp_path)).find("stock_share", NEBIUS) is None
