"""The answer in sentences, on outcomes made for it: who wins, loses, ties, stands alone. Words and sums are by hand."""

import numpy as np
import pandas as pd
import pytest
from answer_options import box, option, spot
from said_answers import answer, read
from sweetspot.decision.counted import the
from sweetspot.decision.sentences import no_answer


def test_a_reference_that_wins_is_the_cheapest():
    # 20 / 10 = 2.0 times; no figure varies, so neither interval nor probability is said
    first, second, _ = read(answer(option("Box", 10), option("Rival", 20), option("Third", 30), reference="Box"))
    assert first == "Take Box: 2.0 times cheaper than Rival."
    assert second == "It is also the fastest."


def test_an_interval_and_a_probability_are_said_where_there_is_something_to_say():
    # Box 10 e^(-0.5 to 0.5) USD: the middle 90 % is e^(-0.45 to 0.45), gains 2 e^-0.45 = 1.28 and 2 e^0.45 = 3.14
    first, _, _ = read(answer(option("Box", 10), option("Rival", 20), reference="Box", spread=0.5))
    assert first == "Take Box: 2.0 times cheaper than Rival (1.3 to 3.1), almost certain (over 99 %)."


def test_a_reference_that_loses_is_what_the_winner_is_held_against():
    # 30 / 10 = 3.0 times cheaper than what is judged, though another comes between
    first, _, _ = read(answer(option("Box", 30), option("Rival", 10), option("Third", 20), reference="Box"))
    assert first == "Take Rival: 3.0 times cheaper than Box."


def test_a_tie_is_said_first():
    # 10.5 / 10 = 1.05; the box varies by a factor of e^0.5: cheaper in (0.5 + ln 1.05) / 1.0 = 55 % of the draws;
    # the ends: 1.05 e^-0.45 = 0.67 and 1.05 e^0.45 = 1.65
    first, _, _ = read(answer(option("Box", 10), option("Rival", 10.5), reference="Box", spread=0.5))
    assert first == "Too close to call: Box looks 1.05 times cheaper than Rival (0.67 to 1.6), an even chance (55 %)."


def test_a_tie_of_equal_costs_says_so():
    # 10.2 / 10 = 1.02: cheaper in (0.5 + ln 1.02) / 1.0 = 52 % of the draws; the ends e^-0.45 and e^0.45 times 1.02
    first, _, _ = read(answer(option("Box", 10), option("Rival", 10.2), reference="Box", spread=0.5))
    assert first == (
        "Too close to call: Box costs about as much as Rival (1.02 times cheaper, 0.65 to 1.6), an even chance (52 %)."
    )


def test_a_tie_on_several_models_says_that_it_is_told_on_the_least_favourable():
    rows = [option(name, usd, model=model) for model, usds in (("hard", (10, 10.5)), ("easy", (10, 12)))
            for name, usd in zip(("Box", "Rival"), usds, strict=True)]  # fmt: skip
    first, second, _ = read(answer(*rows, reference="Box", spread=0.5))
    assert first.startswith("Too close to call on hard: Box looks 1.05 times")
    assert second.startswith("That is on hard, the closest of 2 models, against Rival.")


def test_a_rented_reference_has_no_days_and_an_owned_one_has_its_condition():
    days = pd.DataFrame([{"model": "m", "option": "rival", "days": 6.7, "days_low": 4.1, "days_high": np.nan}])
    owned = answer(box("Box", 10), option("Rival", 20), reference="Box", days=days)
    assert read(owned)[0].endswith(" Owning pays from 6.7 days of use a month.")
    assert read(owned)[1] == (
        "It is also the fastest. This counts 10 days of use a month for 30 months, with electricity at 0.2 USD/kWh. "
        "Owning pays at best from 4.1 days, at worst never."
    )
    rented = answer(option("Box", 10), option("Rival", 20), reference="Box", days=days)
    assert "Owning" not in " ".join(read(rented)) and np.isnan(rented["planned_days"])


def test_days_of_use_are_against_renting_where_the_rival_is_owned_too():
    days = pd.DataFrame(
        [("m", "other", 14.0, 6.0, np.nan), ("m", "cloud", 8.0, 5.0, 20.0), ("m", "dear", 2.0, 1.0, 3.0)],
        columns=["model", "option", "days", "days_low", "days_high"],
    )
    rented = [option("Dear", 40), option("Cloud", 20), spot("Spot", 5)]
    row = answer(box("Box", 10), box("Other", 11), *rented, reference="Box", days=days)
    assert row["alternative_title"] == "Other"  # cheaper than all that is rented and stays
    assert (row["days"], row["days_against_title"]) == (8.0, "Cloud")
    assert "Owning pays from 8.0 days of use a month." in row["first"]
    assert row["second"].endswith("Owning is held against Cloud, the cheapest rented. The 8.0 days may be 5.0 to 20.0.")
    # nothing rented: there is no use from which owning pays, and none at which it does not
    alone = answer(box("Box", 10), box("Other", 11), reference="Box", days=days)
    assert "Owning" not in " ".join(read(alone)) and np.isnan(alone["days"])
    assert read(alone)[1].endswith("electricity at 0.2 USD/kWh. Nothing here is rented.")


def test_day_and_night_with_free_electricity_is_called_so():
    free = box("Box", 10, days_per_month=30.5, energy_usd_per_hour=0.0, usd_per_kwh=0.0)
    days = pd.DataFrame([{"model": "m", "option": "rival", "days": 4.5, "days_low": 4.5, "days_high": 4.5}])
    first, second, _ = read(answer(free, option("Rival", 20), reference="Box", days=days))
    assert first.endswith("Owning pays from 4.5 days of use a month.")
    assert second == "It is also the fastest. This counts use day and night for 30 months, with free electricity."


def test_beside_free_electricity_stands_the_multiple_with_paid_one():
    free = box("Box", 10, energy_usd_per_hour=0.0, usd_per_kwh=0.0)
    paid = box("Box", 16, option="box [paid]", price_list="paid", price_list_title="paid", in_answer=False)
    days = pd.DataFrame([{"model": "m", "option": "rival", "days": 4.5, "days_low": 4.5, "days_high": 4.5}])
    _, second, more = read(answer(free, option("Rival", 40), paid, reference="Box", days=days))
    # 40 / 10 = 4.0 times in the first sentence; 40 / 16 = 2.5 with paid electricity
    assert second.endswith("with free electricity. With electricity paid at 0.2 USD/kWh it is 2.5 times cheaper.")
    assert "There are other prices of Box. By the prices of “paid” it costs 16.0 USD." in more


def test_a_common_noun_has_its_article_and_a_name_has_none():
    owned = answer(box("office box with 4 GPUs", 10), option("Rival", 20), reference="office box with 4 GPUs")
    assert read(owned)[0].startswith("Take the office box with 4 GPUs: 2.0 times cheaper than R")
    rented = answer(option("Rival", 10), option("always-on server", 20), reference="Rival")
    assert "cheaper than the always-on server" in read(rented)[0]
    named = {
        "office box with 4 GTX 1080 Ti": "the office box with 4 GTX 1080 Ti",
        "home-built machine": "the home-built machine",
        "p3.2xlarge (spot)": "p3.2xlarge (spot)",
        "digital-ocean [list]": "digital-ocean [list]",
        "workstation": "workstation",
        "Google Cloud TPU v2": "Google Cloud TPU v2",
        "1 H100 SXM as Lambda measured it": "1 H100 SXM as Lambda measured it",
    }
    assert {title: the(title) for title in named} == named


def test_an_owned_machine_that_never_pays_says_so():
    first, _, _ = read(answer(box("Box", 20), option("Rival", 10), reference="Box"))
    assert first == "Take Rival: 2.0 times cheaper than Box. Owning never pays."


def test_the_cheapest_of_all_stands_in_the_second_sentence():
    row = answer(
        option("Box", 47, hours=43.0), option("Rival", 66), spot("Card (spot)", 37, hours=33.0), reference="Box"
    )
    first, second, _ = read(row)
    # 66 / 47 = 1.404
    assert first == "Take Box: 1.4 times cheaper than Rival."
    assert second == (
        "It is the cheapest that cannot be taken away. Cheapest of all is Card (spot), which can be taken away. It "
        "takes 33 h for 37.0 USD, against 43 h for 47.0 USD. Fastest is Rival: 10 h for 66.0 USD."
    )
    assert (row["cheapest_of_all"], row["winner"]) == ("card (spot)", "box")
    assert row["fastest_hours_share"] == pytest.approx(10 / 43)


def test_a_dearer_machine_that_can_be_taken_away_is_not_in_the_answer():
    row = answer(option("Box", 10), option("Rival", 20), spot("Card (spot)", 15), reference="Box")
    assert "Card" not in " ".join(read(row)) and row["cheapest_of_all"] == "box"
    assert row["second"].startswith("Nothing that can be taken away is cheaper.")


def test_where_all_can_be_taken_away_the_cheapest_is_said_with_it():
    first, second, _ = read(answer(spot("A", 10), spot("B", 20)))
    assert first == "Take A: 2.0 times cheaper than B."
    assert second.startswith("Like all here, it can be taken away while it works.")


@pytest.mark.parametrize(
    ("usd", "said", "beside"),
    [
        (5, "Take Card if it may be taken away: 2.0 times cheaper than Box.", "Only Box cannot be taken away."),
        (20, "Take Box: 2.0 times cheaper than Card.", "It is the only one that cannot be taken away."),
    ],
)
def test_the_only_one_that_stays_is_held_against_what_does_not(usd, said, beside):
    first, second, _ = read(answer(option("Box", 10), spot("Card", usd), reference="Box"))
    assert first == said and second.startswith(beside)


def test_one_option_has_no_rival():
    row = answer(option("Box", 10), reference="Box")
    assert read(row)[:2] == (
        "Only Box can be judged: 10.0 USD. Nothing else has both a price and a speed.",
        "",
    )
    assert np.isnan(row["gain"]) and row["alternative"] is None


def test_one_machine_under_two_price_lists_is_no_rival_to_itself():
    rows = option("Box", 10), option("Box", 12, option="box [y]", price_list="y")
    assert read(answer(*rows, reference="Box"))[0].startswith("Only Box can be")


@pytest.mark.parametrize(
    ("offers", "figures", "said"),
    [
        (0, 5, "No answer yet: nothing here has a price."),
        (3, 0, "No answer yet: no machine here has a speed, measured or published."),
        (3, 5, "No answer yet: no machine has both a price and a speed at the batch that is asked for."),
    ],
)
def test_without_a_priced_figure_the_page_says_what_is_missing(offers, figures, said):
    assert no_answer(offers, figures) == said


def test_a_month_s_machine_is_the_cheapest_only_if_it_works_all_month():
    # 161.2 / 1.612 = 100 runs; 0.50 USD a run = 161.2 / 322 runs of 2.27 h in 732 h
    rows = (
        option("Server", 0.5, hours=2.27, month_usd=161.2),
        option("P6000", 1.612, hours=1.82),
        option("V100", 3.24, hours=1.06),
    )
    first, second, _ = read(answer(*rows, reference="V100", counts="run"))
    assert first == (
        # 3.24 / 0.5 = 6.48, held against what is judged
        "Take Server if it works all month: 0.50 USD a run, 6.5 times cheaper than V100. It pays from 100 runs a "
        "month; for fewer, take P6000."
    )
    assert second == "Fastest is V100: 1.06 h for 3.24 USD a run. A month of Server costs 161 USD, used or not."


def test_a_month_s_bill_has_no_word_of_speed_or_training():
    # bills that are not in proportion to USD an image decide: 5 / 0.76 = 6.58
    rows = (
        option("Cron", 0.76, images=180.0, images_per_usd=3000.0),
        option("Always on", 5.0, images=180.0, images_per_usd=4032.0, throughput_basis="equivalent"),
        option("Cron", 0.71, option="cron [told]", price_list="told", price_list_title="As told", in_answer=False),
    )
    row = answer(*rows, reference="Cron", counts="month")
    first, second, more = read(row)
    assert first == "Take Cron: 0.76 USD a month, 6.6 times cheaper than Always on."
    assert second == "" and bool(row["bills_decide"])
    assert more == "There are other prices of Cron. By the prices of “As told” it costs 0.71 USD a month."
