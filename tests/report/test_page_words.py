"""What the page and the summary say of choices, waits and figures, of a few rows by hand."""

from types import SimpleNamespace

import pandas as pd
import pytest
from sweetspot.decision_words import MAY_STOP
from sweetspot.report import outcome, page, summary
from sweetspot.report.outcome import Figure, Named, Outcome, choices_of, group_of, key_figures
from sweetspot.report.page import _dots, _jobs, _notes, _untimed, _waits
from sweetspot.report.summary import Listed, _at_once, _table, of_choices, short
from sweetspot.wording import Money

NONE = float("nan")


def choice(name, kind="rent", usd=100.0, **more):
    row = {"workload": "w", "choice": name, "title": name.capitalize(), "kind": kind, "usd": usd, "usd_low": usd / 2,
           "usd_high": 2 * usd, "usd_per_month": 10.0, "hours": 8.0, "device_hours": 64.0, "why_not": None,
           "why_not_rule": None, "ratio": usd / 100, "p_cheaper": 0.25, "in_hand": False, "main_rented": None,
           "alternative": name, "is_best": False, "usd_outcomes": [usd, 2 * usd]}  # fmt: skip
    return row | more


def found(**changes):
    told = {"workload": "w", "usd_per_month": 10.0, "find_out_first": "", "having": [], "thresholds": []}
    names = {"best": Named(choice="a", title="A"), "start_with": Named(choice="a", title="A"), "rival": None}
    return SimpleNamespace(**told | names | changes)


SPOT = {"why_not": "may be interrupted", "why_not_rule": MAY_STOP}


@pytest.fixture
def of_work(monkeypatch):
    """The choices of these rows, of a verdict with these changes."""

    def asked(rows, most=outcome.ROWS, **changes):
        monkeypatch.setattr(outcome, "outcome_of", lambda _: found(**changes))
        return [row["choice"] for row in choices_of({"choices": pd.DataFrame(rows)}, most)]

    return asked


def test_the_choices_listed_are_best_rival_start_kinds_and_one_cheaper_that_is_no_answer(of_work):
    rows = [choice("spot", usd=50.0, **SPOT), choice("spot2", usd=60.0, **SPOT), choice("a", is_best=True),
            choice("b", usd=110.0), choice("c", usd=120.0), choice("keep", "keep", 130.0), choice("d", usd=140.0),
            choice("late", "contract", 150.0, why_not="too late"), choice("box", "buy", 160.0),
            choice("box2", "buy", 170.0), choice("none", "buy", NONE),
            choice("other", workload="x", usd=1.0)]  # fmt: skip
    rival = Named(choice="box2", title="")
    # best, start and rival; then one of each kind (a, keep, box), the spot that is cheaper, and the next by cost
    assert of_work(rows, rival=rival) == ["spot", "a", "keep", "box", "box2"]
    assert of_work(rows, 6, rival=rival) == ["spot", "a", "b", "keep", "box", "box2"]
    assert of_work(rows, 3, rival=rival) == ["a", "box", "box2"] == of_work(rows, 3, rival=rival, start_with=rival)
    assert of_work(rows[2:], 4) == ["a", "b", "keep", "box"]
    assert of_work([rows[0] | {"alternative": "a"}, *rows[2:5]], 3) == ["a", "b", "c"]  # the best itself, as spot
    assert of_work([rows[0] | {"ratio": 1.0}, *rows[2:5]], 3) == ["a", "b", "c"]  # no cheaper


def test_offers_in_hand_stand_first_unless_all_are(of_work):
    rows = [choice("a", is_best=True), *(choice(name, usd=110.0) for name in "bcd")]
    mine = [row | {"in_hand": row["choice"] == "d"} for row in rows]
    assert of_work(mine, 2) == ["a", "d"] and of_work([row | {"in_hand": True} for row in rows], 2) == ["a", "b"]
    assert of_work([row | {"in_hand": True} for row in rows[1:]] + [rows[0]], 2) == ["b", "c", "d", "a"]


@pytest.mark.parametrize(("row", "said"), [
    (choice("a", "keep"), "Keep what you have"), (choice("a", "keep", main_rented="c"), "Keep what you have, and rent"),
    (choice("a", main_rented="c"), "Rent by the hour"),
])  # fmt: skip
def test_who_keeps_may_rent_beside_it(row, said):
    assert group_of(row) == said


UNKNOWN = Figure(value=None, low=None, high=None)
TOLD = {"level": "machine", "kind": "rent", "rival_kind": "buy", "confidence": "clear", "p_cheaper": 0.97,
        "work_factor": None, "best": Named(choice="a", title="office box of 4"), "p_stock": UNKNOWN,
        "rival": Named(choice="b", title="Nebius"), "ratio": Figure(value=2.5, low=1.7, high=4.4),
        "buy_below_usd": None, "machine_title": None}  # fmt: skip
BELOW = ("1,000 EUR", "price of the machine below which buying pays", "")


def figures(**changes):
    return [tuple(one) for one in key_figures(Outcome.model_construct(**TOLD | changes), Money("EUR", 1.25))]


def test_figures_of_a_verdict_on_machines_and_on_commitment():
    sure = ("97 %", "likely that the office box of 4 costs less than Nebius", "")
    assert figures() == [sure, ("2.5 ×", "as much for Nebius as for the office box of 4", "1.70 to 4.40")]
    assert figures(level="commit")[0][1] == "likely that renting costs less than buying"
    assert figures(ratio=UNKNOWN) == [sure] and figures(p_cheaper=None) == figures(rival=None) == []
    for low, high in ((None, 4.4), (2.5001, 2.4999)):  # an end is not known, or all is the same as printed
        assert figures(ratio=Figure(value=2.5, low=low, high=high))[1][2] == ""


@pytest.mark.parametrize(("changes", "third"), [
    ({"work_factor": 3.6}, ("3.6 ×", "as much work before buying pays", "")), ({"work_factor": 1.0}, None),
    ({"work_factor": 3.6, "kind": "buy"}, None),
    ({"buy_below_usd": 1250.0}, None),
    ({"buy_below_usd": 1250.0, "kind": "mix"}, BELOW),
    ({"buy_below_usd": 1250.0, "confidence": "too close to call"}, BELOW),
    ({"p_stock": Figure(value=0.5, low=None, high=0.6), "machine_title": "A"}, ("50 %", "of attempts find A free", "")),
    ({"p_stock": Figure(value=0.5, low=0.4, high=0.6)}, None),
    ({"p_stock": Figure(value=0.13, low=0.02, high=0.13), "machine_title": "A"},
     ("13 %", "of attempts find A free", "2 % to 13 %")),
    ({"p_stock": Figure(value=1.0, low=1.0, high=1.0), "machine_title": "A"}, None),
])  # fmt: skip
def test_the_third_figure_is_stock_then_work_then_price(changes, third):
    assert figures(**changes)[2:] == ([third] if third else [])


def test_no_more_than_three_figures():
    stock = {"p_stock": Figure(value=0.5, low=0.4, high=0.6), "machine_title": "A"}
    assert [one[0] for one in figures(work_factor=3.6, **stock)] == ["97 %", "2.5 ×", "50 %"]


def dots(rows, **changes):
    return [(one.group, one.outcomes[0], one.strong) for one in _dots(rows, found(**changes), 1.25)]


def test_a_group_is_named_once():
    assert dots([choice("a"), choice("b")]) == [("Rent by the hour", 80.0, True), ("", 80.0, False)]  # 100 / 1.25
    mixed = [
        choice("spot", usd=50.0, **SPOT),
        choice("a"),
        choice("b"),
        choice("late", why_not="too late"),
        choice("x", "buy"),
    ]
    groups = ["If jobs may be interrupted", "Rent by the hour", "", "Too late", "Buy"]
    assert [one[0] for one in dots(mixed)] == groups
    assert [one[0] for one in dots([choice("a"), choice("late", why_not="too late")])] == [
        "Rent by the hour",
        "Too late",
    ]


@pytest.mark.parametrize(("hands", "groups"), [
    ((True, False), ["Your offer", "Rent by the hour"]), ((True, True, False), ["Your offers", "", "Rent by the hour"]),
    ((True, True), ["", ""]),
])  # fmt: skip
def test_what_is_in_hand_is_yours_beside_others(hands, groups):
    rows = [choice(str(n), in_hand=mine) for n, mine in enumerate(hands)]
    assert [one[0] for one in dots(rows)] == groups


def test_notes_say_what_spot_would_cost_where_it_is_cheaper():
    spot = "If jobs may be interrupted: Spot, 50.0 EUR; say “accepts_interruptions: true” in study.yaml."
    rows = [
        choice("spot", usd=50.0, **SPOT),
        choice("same", usd=100.0, **SPOT),
        choice("late", usd=5.0, why_not="too late"),
    ]
    told = found(find_out_first="the speed", having=["have"], thresholds=["from"])
    assert _notes(told, rows, "EUR") == ["have", "from", spot, "Find out first: the speed."]
    assert _notes(found(), rows[1:], "EUR") == []


def queue(**changes):
    row = {
        "workload": "w.runs",
        "option": "a",
        "held": True,
        "overloaded": False,
        "wait_hours": 2.5,
        "hours": 10.0,
        "machines": "2 x box",
    }
    return {"queue": pd.DataFrame([row | changes])}


@pytest.mark.parametrize(("changes", "said"), [
    ({"wait_hours": 2.6}, "A job (runs) waits 2.60 h on average for a free machine (2 x box), then takes 10.0 h."),
    ({}, None),  # a quarter of its hours is not long
    ({"overloaded": True}, "A job (runs) waits without end for a free machine (2 x box)."),
    ({"overloaded": True, "held": False}, None), ({"overloaded": True, "option": "b"}, None),
    ({"overloaded": True, "option": "w: a"}, "A job (runs) waits without end for a free machine (2 x box)."),
    ({"overloaded": True, "workload": "x.runs"}, None),
])  # fmt: skip
def test_a_wait_of_more_than_a_quarter_of_a_jobs_hours_is_said(changes, said):
    assert _waits(queue(**changes), found()) == ([said] if said else [])
    assert _waits({}, found()) == []


@pytest.mark.parametrize(("bases", "said"), [
    (("arithmetic", "arithmetic"), True), (("arithmetic", "published"), False), (("published", "published"), False),
])  # fmt: skip
def test_that_nobody_timed_it_is_said_where_no_speed_is_one(bases, said):
    options = pd.DataFrame({"throughput_basis": [*bases, "measured"], "in_answer": [True, True, False]})
    assert bool(_untimed({"options": options})) == said
    assert _untimed({"options": options.assign(in_answer=False)}) == _untimed({}) == []


@pytest.mark.parametrize(("count", "said"), [(9.94, "9.9"), (10.0, "10"), (1234.5, "1,234"), (0.123, "0.12")])
def test_jobs_of_a_month_are_whole_from_ten_on(count, said):
    assert _jobs(count) == said


@pytest.mark.parametrize(("changes", "title"), [
    ({"usd_per_month": 100.0}, "What 36 months cost"), ({"usd_per_month": 3600.0}, "Our work"),
    ({"usd_per_month": None}, "Our work"), ({"usd_per_month": 1800.0}, "What 2 months cost"),
])  # fmt: skip
def test_the_first_chart_says_over_how_many_months(monkeypatch, changes, title):
    for name, empty in (("choices_of", []), ("sections", [])):
        monkeypatch.setattr(page, name, lambda *_, empty=empty: empty)
    prices = [SimpleNamespace(usd=1250.0, p_buying_cheaper=0.6)]
    told = found(usd=3600.0, title="Our work", at_prices=prices, confidence="too close to call", **changes)
    made = page._of_verdict({}, None, told, Money("EUR", 1.25), "recorded")
    assert made["dots_title"] == f"{title}, in EUR: 20 equally likely outcomes each"
    assert (made["dots"], made["notes"]) == ("", ["recorded"])
    assert made["prices"] == [("1,000", "60 %")]
    told.confidence = "clear"
    assert page._of_verdict({}, None, told, Money(), "")["prices"] == []


def listed(monkeypatch, rows, differ=True, **changes):
    for name, made in (("choices_of", rows), ("outcome_of", found(**changes)), ("hours_differ", differ)):
        monkeypatch.setattr(summary, name, lambda _, made=made: made)
    return of_choices({}, "EUR")


def test_the_table_of_choices_has_a_column_for_what_is_known(monkeypatch):
    rows = [
        choice("a"),
        choice("b", "keep", usd_low=99.99, usd_high=100.01, p_cheaper=NONE, why_not="too late", main_rented="c"),
    ]
    head, cells, note = listed(monkeypatch, rows)
    assert head == ["what to do", "EUR in all", "EUR a month", "hours", "cheaper"]
    assert cells == [["Rent: A", "100 (50.0 to 200)", "10.0", "8.00", "25 %"],
                     ["Keep, and rent: B (too late)", "100", "10.0", "8.00", "–"]]  # fmt: skip
    assert note.startswith("In brackets: the 90 % interval. Cheaper: how often it costs less than A")
    head, _, note = listed(monkeypatch, rows[1:], usd_per_month=None, differ=False)
    assert head == ["what to do", "EUR", "cheaper"] and note.startswith("Cheaper:")
    assert "hours" not in listed(monkeypatch, [choice("a", hours=NONE)]).head
    assert listed(monkeypatch, []) == Listed()


@pytest.mark.parametrize(("devices", "said"), [((64.0, 96.0), "here 8 to 12."), ((64.0, 95.0), ""), ((64.0, NONE), "")])
def test_hours_of_half_as_many_devices_again_are_explained(devices, said):
    rows = [choice("a", device_hours=hours) for hours in devices]
    assert _at_once([*rows, choice("b", hours=0.0, device_hours=9e9)]).endswith(said)
    assert bool(_at_once(rows)) == bool(said) and _at_once([]) == ""


def test_a_text_of_just_the_length_is_whole_and_one_more_is_cut():
    assert short("one two", 7) == "one two" and short("one two", 6) == "one …" and short("onetwo", 5) == "one …"


def test_a_table_in_markdown_has_its_numbers_on_the_right():
    made = _table(Listed(["a", "b", "c"], [["x|y", "1", "2"]], "note"))
    assert made == ["| a | b | c |", "|---|---:|---:|", "| x\\|y | 1 | 2 |", "", "note"]
    assert _table(Listed()) == []
