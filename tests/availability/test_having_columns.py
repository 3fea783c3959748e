"""What it takes to have an option, in the table of options: whose figure, unknown shares, sellers, blocks."""

import json
import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from decision_tables import inputs, settings
from pandas.testing import assert_frame_equal
from sweetspot.availability.having_columns import HAVING, RANGED, having_of, with_having
from sweetspot.decision.compare import compare
from sweetspot.study.stock import load_availability

TODAY = date(2026, 9, 19)
DELIVERY = ("delivery_months", "delivery_months_low", "delivery_months_high")
ALWAYS = [("stock_share", 1.0), ("wait_days", 0.0), ("delivery_weeks", 0.0), ("boot_minutes", 0.0),
          ("repair_days", 0.0), ("failures_per_device_hour", 0.0), ("restart_minutes", 0.0),
          ("checkpoint_minutes", 0.0)]  # fmt: skip


def known(folder, *facts, as_of=TODAY):
    file = folder / "availability.yaml"
    told = [{"quantity": name, "value": value, "as_of": "2026", "source": "ours"} | (more[0] if more else {})
            for name, value, *more in facts]  # fmt: skip
    file.write_text(json.dumps({"facts": told}))
    return load_availability(file, as_of)


def option(provider, gpu="H100 SXM", gpus=8, purchase="on_demand", nodes=None, **more):
    plain = {"price_list": "clouds", "persistent": purchase not in ("spot", "preemptible"), "hours": 6.0,
             "capex_usd": np.nan, **dict.fromkeys(DELIVERY, more.pop("delivery_months", np.nan))}  # fmt: skip
    return plain | {"provider": provider, "gpu": gpu, "gpus": gpus, "purchase": purchase, "nodes": nodes} | more


def had(facts, *rows):
    return with_having(pd.DataFrame(rows), facts, 30.5).to_dict("records")


def test_with_every_machine_there_and_no_failure_every_figure_is_that_of_before(tmp_path):
    facts = known(tmp_path, *ALWAYS, as_of=date(2018, 7, 1))
    asked = settings(deadlines_hours=[30.0, 120.0, 300.0])
    before, after = (compare(inputs(), asked, draws=200, known=one) for one in (None, facts))
    due = after["deadlines"].dropna(subset="option")
    assert len(due) > 1 and due["p_result_in_time"].tolist() == due["p_in_time"].tolist()
    options = after["options"]
    assert len(options) > 1 and options["hours"].notna().all()
    assert options["hours_to_result"].tolist() == options["hours_to_result_p90"].tolist() == options["hours"].tolist()
    for name, table in before.items():
        same = [column for column in table.columns if column not in (*HAVING, "having", "p_result_in_time")]
        assert_frame_equal(table[same], after[name][same])


def test_an_unknown_share_is_no_certainty_and_its_interval_is_the_widest():
    lambda_, aws = had(load_availability(None, TODAY), option("lambda"), option("aws"))
    assert lambda_["p_stock"] == 0.07 and lambda_["stock_source"].startswith("ccir.io")
    assert math.isnan(aws["p_stock"]) and (aws["p_stock_low"], aws["p_stock_high"]) == (0, 1)
    assert aws["stock_confidence"] == "unknown" and aws["hours_to_result_p90"] > 10 * aws["hours"]


@pytest.mark.parametrize("more", [{}, {"gpus": 1}, {"gpu": "B300 SXM"}, {"purchase": "spot"}])
def test_stock_that_nobody_knows_is_never_more_often_there_than_that_of_others(more):
    """AWS publishes nothing: the sellers of the same machine are what is known, and less well."""
    facts = load_availability(None, TODAY)
    aws, other = had(facts, option("aws", **more), option("nebius", **more | {"purchase": "on_demand"}))
    assert math.isnan(aws["p_stock"]) and aws["p_stock_assumed"] == other["p_stock"]
    assert (aws["p_stock_assumed_low"], aws["p_stock_assumed_high"]) == (0, other["p_stock_high"])
    assert aws["p_stock_assumed_low"] < other["p_stock_low"]
    for figure in ("hours_to_result", "hours_to_result_p90"):
        assert aws[figure] >= other[figure]


def test_half_of_the_results_of_an_unknown_seller_by_hand():
    # Eight H100: others are there in a share drawn linearly from 0 to 0.15 and on to 0.5, of 0.2 on average, and if not
    # after an exponential wait of about 5 days: in half of all cases within -ln(0.5 / 0.8) x 120 h = 56 h at a fixed
    # wait; the wait itself is drawn from 2 to 26 days, so it takes longer. It was half an hour.
    (aws,) = had(load_availability(None, TODAY), option("aws", hours=0.5))
    assert 56 < aws["hours_to_result"] < 106
    assert math.isnan(had(load_availability(None, TODAY), option("lambda"))[0]["p_stock_assumed"])


def test_a_range_that_a_study_states_is_taken_as_it_stands(tmp_path):
    facts = known(tmp_path, ("stock_share", None, {"provider": "aws", "low": 0.8, "high": 1.0}))
    (row,) = had(facts, option("aws"))
    assert (row["p_stock_low"], row["p_stock_high"]) == (0.8, 1.0) and math.isnan(row["p_stock_assumed"])


def test_minutes_and_days_are_hours_and_what_has_a_range_counts_by_its_value(tmp_path):
    told = [("boot_minutes", 6.0), ("restart_minutes", 30.0), ("checkpoint_minutes", 12.0, {"low": 6.0, "high": 18.0}),
            ("longest_run_days", 2.0, {"low": 1.0, "high": 3.0})]  # fmt: skip
    names = {name for name, *_ in told}
    (row,) = had(known(tmp_path, *[fact for fact in ALWAYS if fact[0] not in names], *told), option("x"))
    found = [row[name] for name in ("boot_hours", "restart_hours", "checkpoint_hours", "longest_run_hours")]
    assert found == pytest.approx([0.1, 0.5, 0.2, 48.0])


COLUMNS = {f"{name}{end}": 0.0 for name in RANGED for end in ("", "_low", "_high")} | {
    "checkpoint_hours": 0.0, "longest_run_hours": math.nan, "purchase": "on_demand", "nodes": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "is_known"),
    [
        ({"p_stock": math.nan}, False),
        ({"p_stock": 0.5, "stock_wait_hours": math.nan}, False),
        ({"p_stock": 1.0, "stock_wait_hours": math.nan}, True),  # who always finds one never waits
        ({"p_stock": math.nan, "stock_wait_hours": math.nan, "start_hours": 5.0}, True),
        ({"failures_per_hour": math.nan}, False),
        ({"checkpoint_hours": math.nan}, True),
        ({"checkpoint_hours": math.nan, "failures_per_hour": 0.1}, False),
    ],
)
def test_what_must_be_known_to_know_when_a_result_is_there(changes, is_known):
    row = COLUMNS | dict.fromkeys([f"start_hours{end}" for end in ("", "_low", "_high")], math.nan)
    row |= {f"{name}{end}": value for name, value in changes.items() for end in ("", "_low", "_high")} | changes
    assert (having_of(row) is not None) == is_known
    assert having_of({}) is None


def test_one_seller_has_no_more_than_was_seen_of_all_and_those_known_by_name_add_up():
    nebius, *_ = had(load_availability(None, TODAY), option("nebius", "B300 SXM"))
    assert (nebius["p_stock"], nebius["p_stock_high"], nebius["p_stock_any"]) == (0.13, 0.13, 0.13)  # 0.15 of one
    rows = had(load_availability(None, TODAY), *map(option, ("lambda", "hyperstack", "digitalocean", "nebius", "aws")))
    # 1 - 0.93 x 0.67 x 0.82 = 0.489 of three known by name; nebius adds 0.15 of the rest, up to the 0.5 seen of all
    by_hand = 0.5  # aws: unknown, not counted
    assert [row["p_stock_any"] for row in rows[:4]] == pytest.approx([by_hand] * 4)
    assert had(load_availability(None, TODAY), option("lambda"), option("digitalocean"), option("hyperstack"))[0][
        "p_stock_any"] == pytest.approx(1 - 0.93 * 0.67 * 0.82)  # fmt: skip
    assert rows[0]["sellers"] == "digitalocean, hyperstack, lambda, nebius" and math.isnan(rows[4]["p_stock_any"])


def test_what_was_seen_of_all_bounds_a_seller_by_its_value_and_not_by_its_ends(tmp_path):
    facts = known(tmp_path, ("any_share", 0.125, {"gpu": "B300 SXM", "low": 0.0625, "high": 0.25}))
    (row,) = had(facts, option("nebius", "B300 SXM"))  # 0.15 of one, by default
    assert (row["p_stock"], row["p_stock_high"], row["p_stock_any"]) == (0.125, 0.125, 0.125)


def test_failures_without_a_checkpoint_time_give_no_time(tmp_path):
    """Of another time than the library's figures, with all that a study can say but one."""
    facts = [one for one in ALWAYS if one[0] not in ("checkpoint_minutes", "failures_per_device_hour")]
    for per_hour, known_ in ((0.0, True), (1e-4, False)):
        told = known(tmp_path, *facts, ("failures_per_device_hour", per_hour), as_of=date(2018, 7, 1))
        (row,) = had(told, option("aws"))
        assert math.isnan(row["hours_to_result"]) is not known_


def test_a_study_is_believed_over_all_that_was_seen(tmp_path):
    (row,) = had(known(tmp_path, ("stock_share", 0.9, {"gpus": 8})), option("nebius", "B300 SXM"))
    assert row["p_stock"] == 0.9


def test_nodes_are_found_by_the_machine_and_fail_by_the_device():
    one, four = had(load_availability(None, TODAY), option("lambda"), option("lambda", gpus=32, nodes=4))
    assert one["p_stock"] == four["p_stock"] == 0.07 and four["p_stock_all"] == pytest.approx(0.07**4)
    assert (one["failures_per_hour"], four["failures_per_hour"]) == pytest.approx((8e-4, 32e-4))
    assert four["hours_to_result_p90"] > one["hours_to_result_p90"]


def test_a_block_begins_on_its_day_and_a_purchase_when_it_is_delivered(tmp_path):
    facts = known(tmp_path, ("start_days", 14.0, {"price_list": "blocks"}))
    block, server, ordered, card, there = had(
        facts,
        option("aws", price_list="blocks"),
        option("own", purchase="own", capex_usd=3e5, delivery_months=0.0),
        option("own", purchase="own", capex_usd=3e5, delivery_months=2.0),
        option("own", "RTX 4090", 1, "own", capex_usd=2e3, delivery_months=0.0),
        option("own", purchase="own", capex_usd=0.0),
    )
    assert block["hours_to_result"] == pytest.approx(14 * 24 + 6.1, abs=0.1)
    assert server["start_hours"] == 40 * 168 and server["hours_to_result"] == pytest.approx(40 * 168 + 6, rel=0.05)
    assert ordered["hours_to_result"] == pytest.approx(2 * 30.5 * 24 + 6, rel=0.01)
    ranged = dict(zip(DELIVERY, (2.0, 1.0, 4.0), strict=True))
    (late,) = had(facts, option("own", purchase="own", capex_usd=3e5) | ranged)
    assert [late[f"start_hours{end}"] for end in ("_low", "", "_high")] == [732.0, 1464.0, 2928.0]
    assert card["hours_to_result"] == there["hours_to_result"] == 6.0
    # 3 % of devices a year of 8,766 hours over 2e-5 stops an hour: 17 % of the stops wait for a repair
    ends = [server[f"repaired_share{end}"] for end in ("", "_low", "_high")]
    assert ends == pytest.approx([share / 8766 / 2e-5 for share in (0.03, 0.01, 0.06)])  # 1 to 6 % a year


@pytest.mark.parametrize(("per_hour", "lost", "share"), [(0, 0.5, math.nan), (1e-4, 1.0, 1), (1e-4, 0.5, 0.5 / 0.8766)])
def test_the_stops_that_wait_for_a_repair_are_at_most_all(tmp_path, per_hour, lost, share):
    facts = known(tmp_path, ("failures_per_device_hour", per_hour), ("lost_devices_per_year", lost))
    (row,) = had(facts, option("own", purchase="own", capex_usd=3e5))
    assert row["repaired_share"] == pytest.approx(share, nan_ok=True)


def test_a_spare_is_in_at_once_while_one_is_left(tmp_path):
    """128 devices of which 3 % a year break: 0.0736 are away for 168 h on average, so one spare misses 7.1 %."""
    owned = option("own", purchase="own", capex_usd=3e6, gpus=128, nodes=16, hours=2000.0)
    (none,) = had(load_availability(None, TODAY), owned)
    (one,) = had(known(tmp_path, ("spare_devices", 1.0)), owned)
    assert one["repaired_share"] == pytest.approx(none["repaired_share"] * (1 - math.exp(-0.0736)), rel=1e-3)
    assert none["hours_to_result_p90"] - none["start_hours"] > one["hours_to_result_p90"] - one["start_hours"]


@pytest.mark.parametrize(
    ("offer", "taken"),
    [
        ({"provider": "aws", "gpu": "H100 SXM"}, (0.075 / 0.925 / 730.5, 0, 0.2 / 0.8 / 24)),  # 5 to 10 % a month
        ({"provider": "aws", "gpu": "H100 SXM", "nodes": 4, "gpus": 32}, (0.075 / 0.925 / 730.5, 0, 0.2 / 0.8 / 24)),
        ({"provider": "nebius", "gpu": "B300 SXM"}, (0.004, 1e-4, 0.15)),
    ],
)
def test_a_spot_machine_without_a_rate_is_taken_as_was_published(offer, taken):
    """Once for all nodes: machines of one type and zone go together. With a rate `hours` has it already."""
    row = option(purchase="spot", **offer)
    unknown, known_rate = had(load_availability(None, TODAY), row, row | {"interruptions_per_hour": 0.04})
    assert (unknown["p_stock_low"], unknown["p_stock_high"]) == (0, 1)  # what was seen of all was not of spot
    for end, rate, of_device in zip(("", "_low", "_high"), taken, (1e-4, 2e-5, 1.1e-4), strict=True):
        assert known_rate[f"failures_per_hour{end}"] == pytest.approx(of_device * row["gpus"])
        assert unknown[f"failures_per_hour{end}"] == pytest.approx(of_device * row["gpus"] + rate, rel=0.02)


def test_blocks_by_the_name_of_their_list_begin_within_eight_weeks_and_end(tmp_path):
    block, flex = had(
        known(tmp_path, ("failures_per_device_hour", 0.0)),
        option("aws", price_list="capacity-blocks", hours=5000.0),
        option("gcp", price_list="flex-start", hours=100.0),
    )
    assert (block["start_hours_low"], block["start_hours_high"]) == (0, 56 * 24) and math.isnan(block["start_hours"])
    assert (block["longest_run_hours"], flex["longest_run_hours"]) == (182 * 24, 7 * 24)
    # 5,000 hours without failures take two blocks of 4,368: two starts of 28 days in the middle.
    assert block["hours_to_result"] == pytest.approx(5000 + 2 * 28 * 24, rel=0.02)


def test_spot_machines_of_one_type_and_zone_are_one_event(tmp_path):
    facts = known(tmp_path, ("stock_share", 0.5), ("wait_days", 2.0), ("failures_per_device_hour", 0.0),
                  ("restart_minutes", 0.0))  # fmt: skip
    one, spot, four = had(facts, option("aws", purchase="spot"), option("aws", purchase="spot", gpus=32, nodes=4),
                          option("aws", gpus=32, nodes=4))  # fmt: skip
    assert spot["p_stock_all"] == 0.5 and four["p_stock_all"] == 0.5**4
    assert spot["hours_to_result_p90"] == one["hours_to_result_p90"] < four["hours_to_result_p90"]


def test_who_is_there_together_has_one_event():
    sellers = ("lambda", "hyperstack", "nebius", "crusoe")
    *four, cluster, b200, other, block = had(
        load_availability(None, TODAY), *map(option, sellers), option("lambda", gpus=16, nodes=2),
        option("nebius", "B200 SXM"), option("crusoe", "B200 SXM"), option("somebody", "V100"))  # fmt: skip
    events = [row["stock_event"] for row in four]
    # Lambda and Hyperstack are known by name; of the others no more is known than of all sellers together (0.5).
    assert events[2] == events[3] and len(set(events)) == 3 and cluster["stock_event"] == events[0]
    assert b200["stock_event"] != other["stock_event"]  # of that device nothing is known of all together
    assert pd.isna(block["stock_event"])
