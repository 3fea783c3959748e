"""What the evidence says in words beside its tables, by a few rows by hand."""

import math

import pandas as pd
import pytest
from report_tables import CLAIM
from sweetspot.decision_words import FACTOR
from sweetspot.report.phrases import (
    NAMED,
    SHOWN,
    ahead,
    beside,
    causes,
    claims_in_words,
    decisive,
    fits,
    lead,
    named,
    never_pays,
    outside,
    price_changes_words,
    some_taken,
    waiting,
    warnings,
    without_speed,
    worth_knowing,
)

NAN = math.nan
ANSWER = {"verdict": pd.DataFrame([{"workload": "w"}]), "choices": pd.DataFrame([{"workload": "w", "model": "m"}])}


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"computed": 0.7612}, "0.76 USD a month printed, 0.761 recomputed."),
        ({"verdict": "differs"}, "0.76 USD a month printed, 0.76 recomputed (differs)."),
        ({"printed": None, "verdict": "not printed"}, "not printed, 0.76 recomputed."),
        ({"computed": None, "verdict": "cannot be checked"}, "0.76 USD a month printed, cannot be checked."),
        ({"unit": None}, "0.76 printed, 0.76 recomputed."),
    ],
)
def test_a_claim_that_leads_stands_printed_beside_recomputed(changes, said):
    others = [CLAIM | {"text": "Another", "lead": lead} for lead in (False, None)]
    assert lead(pd.DataFrame([*others, CLAIM | changes])) == [f"The task costs 0.76 USD a month: {said}"]
    assert lead(pd.DataFrame()) == [] == lead(pd.DataFrame([CLAIM]).drop(columns="lead"))


CLAIMS = frame(
    "text printed computed unit verdict",
    ("An hour costs 1.3", 1.3, 1.1028, "USD/hour", "contradicted"), ("Nine dollars", 9.0, 90.0, "USD", "holds"),
    ("1.9 times GCE_8xK80", 1.9, 13.1, "x", "differs"), ("Unknown", NAN, 2.0, "x", "cannot be checked"),
    ("Never said", NAN, 3.0, "x", "not printed"),
)  # fmt: skip


def test_claims_that_do_not_recompute_are_said_plainly():
    """Apart by a factor: 1.9 against 13.1 is 6.9, 1.3 against 1.1028 is 1.18; but only the latter is contradicted."""
    tally, worst = claims_in_words(CLAIMS)
    apart = "different with stand-ins or other publications' figures: 1; not to be checked: 1."
    assert tally == f"Of 4 claims 1 hold; contradicted by the source's own figures: 1; {apart}"
    assert worst == "Farthest off: “An hour costs 1.3”: printed 1.30, recomputed 1.10 (USD/hour)."
    assert claims_in_words(CLAIMS.iloc[[1, 4]]) == claims_in_words(CLAIMS.iloc[[1]]) == ("Of 1 claims 1 hold.", "")
    assert claims_in_words(CLAIMS.iloc[[4]]) == ("Figures worked out here that the source does not print: 1.", "")
    assert claims_in_words(CLAIMS.head(0)) is None


def test_of_claims_of_one_verdict_the_farthest_off_by_a_factor_is_told():
    """2.5 times and twice; no factor lies between 0 or two signs and a number, nor where one is missing."""
    pairs = [(0.0, 99.0), (99.0, 0.0), (-9.0, 99.0), (NAN, 99.0), (99.0, NAN), (1.0, 2.0), (0.5, 0.2), (0.5, 0.6)]
    rows = [(f"{printed} of {found}", printed, found, "x", "differs") for printed, found in pairs]
    worst = claims_in_words(frame("text printed computed unit verdict", *rows))[1]
    assert worst == "Farthest off: “0.5 of 0.2”: printed 0.500, recomputed 0.200 (x)."
    nothing = frame("text printed computed unit verdict", ("Never the fastest", None, None, "", "contradicted"))
    assert claims_in_words(nothing)[1] == "Farthest off: “Never the fastest”: printed –, recomputed – ()."


COLUMNS = "model assumption unit value low high flip_value"


def test_the_first_three_of_the_answers_model_are_told_with_range_and_turn():
    days = ("m", "days of use a month", "days/month", 20.0, 8.0, 30.0, 13.7)
    speed = ("m", "speed of the box", FACTOR, 1.0, 0.5, 1.5, NAN)
    rents = ("m", "mean rent over the project", FACTOR, 0.8, 0.4, 1.0, 0.6)  # planned at 0.8 of today's
    other, plan = (
        ("other", "price of the box", "USD", 1.0, 1.0, 1.0, 1.0),
        (None, "a plan's", "USD", 1.0, 1.0, 1.0, 1.0),
    )
    fourth = ("m", "electricity price", "USD/kWh", 0.2, 0.1, 0.3, NAN)
    assert causes(ANSWER | {"tornado": frame(COLUMNS, plan, other, days, days, speed, rents, fourth)}) == [
        "Days of use a month (20 days, from 8 to 30): the cheapest changes at 13.7.",
        "Speed of the box (−50 % to +50 %): no value changes the cheapest.",
        "Mean rent over the project (−50 % to +25 %): the cheapest changes at −25 %.",
    ]
    assert causes({}) == [] == causes(ANSWER | {"tornado": frame(COLUMNS)})


def test_when_owning_never_pays_is_that_of_the_answer_s_model():
    surface = frame("model condition", ("n", "no"), ("m", "Never below 3 days"), ("m", "no"))
    assert never_pays(ANSWER | {"surface": surface}) == "Never below 3 days."
    assert never_pays(ANSWER | {"surface": surface.head(1)}) == never_pays(ANSWER) == ""


def test_of_several_models_it_is_said_which_hangs_on_nothing():
    worth = frame("model evppi_usd evppi_usd_low cost_to_learn_usd", ("m", 0.0, 0.0, 1.0), (None, 5.0, 5.0, 1.0))
    named_m = ANSWER | {"options": frame("workload model model_title", ("w", "m", "The net")), "worth_knowing": worth}
    nothing = "single uncertain figure, known exactly, would change the choice."
    assert worth_knowing(named_m | {"ranks": frame("model", ("m",), ("m",))}) == [f"No {nothing}"]
    assert worth_knowing(named_m | {"ranks": frame("model", ("m",), ("n",))}) == [f"On The net no {nothing}"]
    assert worth_knowing(named_m | {"worth_knowing": worth.tail(1)}) == []


def test_waiting_names_works_by_their_titles():
    row = {"workload": "w", "model": "m", "title": "Box", "option": "box", "held": True, "is_reference": False,
           "overloaded": True, "hours_to_result": NAN, "per_month": 5.0, "utilisation": 1.2, "rival": None}  # fmt: skip
    titles = frame("workload workload_title", ("w", "All work"))
    (said,) = waiting({"queue": pd.DataFrame([row]), "options": titles})
    assert said.startswith("Box with 5 jobs a month of “All work” would be busy 120 %") and waiting({}) == []


FITS = "workload title fits memory_need_gib gpu_memory_gib workload_title"


def test_what_does_not_fit_is_named_and_else_what_is_tightest():
    """11 of 12 GiB is tighter than 20 of 80; a machine of which nothing is known says nothing."""
    room, tight, unknown = (
        ("w", "Big", True, 20.0, 80.0, "Work"),
        ("w", "Box", True, 11.0, 12.0, "Work"),
        ("w", "X", *[None] * 4),
    )
    assert fits({"options": frame(FITS, room, tight, unknown)}) == (
        "All options hold what is asked; the tightest: Work needs 11 GiB on each device of Box, which has 12."
    )
    small = ("w", "Small", False, 12.0, 11.0, "Work")
    assert fits({"options": frame(FITS, room, small, small)}) == (
        "Does not fit, and takes no part: Work needs 12 GiB on each device of Small, which has 11."
    )
    many = fits({"options": frame(FITS, *(("w", f"m{place}", *small[2:]) for place in range(NAMED + 1)))})
    assert many.count("; Work needs") == 11 and many.endswith("of m11, which has 11; and 1 more.")
    assert fits({"options": frame(FITS, unknown)}) == fits({"options": frame("title", ("a",))}) == fits({}) == ""


@pytest.mark.parametrize(
    ("counted", "said"), [((False, False, False), True), ((True, False, False), True), ((False, True, False), False)]
)
def test_brackets_are_told_where_the_answer_leaves_out_all_that_have_them(counted, said):
    ranks = pd.DataFrame({"title": ["A", "B [old list]", "C [old list]"], "in_answer": counted})
    assert beside(ranks).startswith("Behind some options stands in [brackets] another price list.") == said
    assert beside(ranks.head(1)) == beside(pd.DataFrame()) == ""


def test_what_can_be_taken_away_is_explained_where_something_can():
    found = [some_taken(pd.DataFrame({"persistent": kept})) for kept in ([True, False], [False], [True, True])]
    assert found == [True, True, False] and not some_taken(pd.DataFrame())


OFFER = {"trend": None, "trend_kind": None, "trend_change": NAN, "trend_change_low": NAN, "trend_change_high": NAN,
         "residual_points": None, "residual_usd": 0.0, "capex_usd": NAN}  # fmt: skip
DRIFT = {"trend_kind": "drift", "trend_change": -0.03, "trend_change_low": -0.4, "trend_change_high": 0.27}
SOLD = {"residual_points": [{"years": 0.0, "kept": 0.8}], "residual_usd": 40.0, "capex_usd": 100.0}
SMALL = "smaller clouds change by −3 % a year (each year anew, −40 % to +27 %)"


@pytest.mark.parametrize(("offers", "said"), [
    ([{}], ""),
    ([DRIFT | {"trend": "small_cloud"}] * 2 + [{"trend": "spot", "trend_kind": "random_walk"}],
     f"{SMALL} and spot prices walk at random"),
    ([DRIFT | {"trend": "own drift", "trend_change": -0.1}], "own drift (−10 % a year)"),
])  # fmt: skip
def test_each_path_is_named_once_with_its_numbers(offers, said):
    tables = {"offers": pd.DataFrame([OFFER | one for one in offers])}
    rents = f"Rents are means over the months of the project, not today's: {said}."
    assert ahead(tables | ANSWER) == (rents if said else "")
    assert ahead(tables) == ahead(ANSWER) == ahead(ANSWER | {"offers": pd.DataFrame([{"usd": 1.0}])}) == ""


@pytest.mark.parametrize(("more", "share"), [([], "40 %"), ([SOLD | {"residual_usd": 55.4}], "40 to 55 %")])
def test_what_machines_are_sold_for_is_said_as_a_share(more, share):
    offers = pd.DataFrame([OFFER | one for one in [{}, SOLD, *more]])
    assert ahead(ANSWER | {"offers": offers}) == (
        f"Bought machines are sold at the end of the project for {share} of their price, by their devices' age then."
    )


CHANGES = "what workload before after change said_before said_after"
ASKED = ("answer", None, NAN, NAN, NAN, "Buy.", "Rent.")
PRICE, RANK = ("price", *[None] * 6), ("rank", *[None] * 6)


@pytest.mark.parametrize(("rows", "said"), [
    ([ASKED, PRICE, RANK], ["1 price moved, and 1 option of a workload changed place in the ranks.", "Then: Buy.",
                            "Now: Rent."]),
    ([ASKED, PRICE, ("new", *PRICE[1:]), ("gone", *PRICE[1:])],
     ["3 prices moved, and no options of a workload changed place in the ranks.", "Then: Buy.", "Now: Rent."]),
    ([(*ASKED[:6], "Buy."), RANK, RANK, ("plan", "lab", 7.0, NAN, NAN, "Rent.", None)],
     ["0 prices moved, and 2 options of a workload changed place in the ranks.",
      "The answer is the same, in every figure that it says.",
      "Plan lab, then (7.00 USD): Rent. Now (– USD): nothing."]),
    ([ASKED, PRICE, ("plan", "lab", 9000.0, 9900.0, 0.1, "Buy.", "Rent."), ("plan", "x", 5.0, 4.0, NAN, "K.", "K.")],
     ["1 price moved, and no options of a workload changed place in the ranks.",  # the plan is the answer
      "Plan lab, then (9,000 USD): Buy. Now (9,900 USD): Rent.",
      "Plan x, 5.00 USD then and 4.00 USD now, as then: K."]),
    ([ASKED, ("plan", "lab", 9000.0, 9900.0, 0.1, "Buy.", "Buy.")],
     ["0 prices moved, and no options of a workload changed place in the ranks.", "Then: Buy.", "Now: Rent.",
      "Plan lab, 9,000 USD then and 9,900 USD now (+10.0%), as then: Buy."]),
])  # fmt: skip
def test_what_refreshed_prices_changed(rows, said):
    assert price_changes_words({"price_changes": frame(CHANGES, *rows)}) == said


WARNED = "scope rule instance model message decisive"


def test_what_has_no_speed_is_named_at_the_top():
    table = frame(WARNED, ("c", "no_figure", "aws-p5", None, "it is offered", True),
                  ("c", "no_speed", "aws-p5", "bert", "said once already", True),
                  ("c", "no_speed", "l40s", "t5", "priced, but no speed for runs", True),
                  ("c", "no_speed", "l40s", "bert", "priced, but no speed for runs", True),
                  ("c", "no_speed", None, "gpt", "lab.gpt: no machine has a speed", True),
                  ("c", "stale_price", "old", "bert", "of 2016", False),
                  ("c", "stale_price", None, None, "x", False))  # fmt: skip
    said = without_speed({"warnings": table}, {"aws-p5": "AWS p5.48xlarge", "l40s": "one L40S"}, str.upper)
    assert said == (
        "Priced, but no speed: AWS p5.48xlarge. Priced, but no speed for T5: one L40S. Priced, but no speed for "
        "BERT: one L40S. Lab.gpt: no machine has a speed."
    )
    many = frame(WARNED, *(("c", "no_figure", f"m{place}", None, "x", True) for place in (*range(15), 0)))
    assert without_speed({"warnings": many}, {}, str).endswith("m10, m11 and 3 more.")
    assert without_speed({"warnings": many.head(12)}, {}, str).endswith("m10, m11.")
    assert without_speed({"warnings": table.tail(2)}, {}, str) == without_speed({}, {}, str) == ""
    assert decisive(table)["rule"].tolist() == ["no_figure"] + ["no_speed"] * 4 and decisive(pd.DataFrame()).empty


def test_who_takes_no_part_is_said_with_what_is_lacking():
    table = frame("rule instance", ("no_figure", "a"), ("no_price", "b"), ("no_figure", "c"), ("no_figure", "a"))
    assert outside(table) == "Left out of the comparison: without a price: b; without a speed: a, c."
    assert outside(table.iloc[[0]]) == "Left out of the comparison: without a speed: a."
    assert outside(frame("rule instance", ("note", "a"))) == outside(pd.DataFrame()) == ""


def test_warnings_are_told_by_rule_with_their_machines():
    """One of a rule that nobody knows, or of none, is shown as well."""
    rows = [("price", "new_rule", "p3", None, "something new", True),
            ("price", None, None, None, "no rule", True), (None,) * 6,
            ("c", "no_interval", "k80", None, "a factor", True), ("c", "no_interval", "p3", None, "a factor", True),
            ("c", "no_interval", "p3", None, "a factor", True),
            ("c", "no_interval", "p3", None, "b", True)]  # fmt: skip
    table = named(frame(WARNED, *rows), {"k80": "the old machine"})
    told = {one["what"]: (one["count"], one["messages"], one["left_out"]) for one in warnings(table)}
    assert told == {
        "price: new rule": (1, [{"message": "something new", "where": "p3"}], 0),
        "price: unnamed": (1, [{"message": "no rule", "where": ""}], 0),
        "unnamed": (1, [{"message": "", "where": ""}], 0),
        "Speeds without an interval": (
            4, [{"message": "a factor", "where": "the old machine, p3"}, {"message": "b", "where": "p3"}], 0),
    }  # fmt: skip
    many = frame(WARNED, *(("c", "note", None, None, f"m{place}", True) for place in range(401)))
    (found,) = warnings(many)
    assert (found["count"], len(found["messages"]), found["left_out"], SHOWN) == (401, 400, 1, 400)
    assert warnings(pd.DataFrame()) == [] and named(pd.DataFrame(), {}).empty
