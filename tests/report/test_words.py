"""What the evidence says in sentences: causes, months to come, energy, waits, what to find out, names for people."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, settings, study
from report_tables import evidence, make_report, one_job, opened, small_tables
from sweetspot.decision.compare import compare
from sweetspot.decision_words import FACTOR
from sweetspot.report import energy_words
from sweetspot.report.case import _ahead, evidence_case
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS
from sweetspot.report.charts.owning import cash_lines
from sweetspot.report.cited import Provenance
from sweetspot.report.energy_words import in_words
from sweetspot.report.outcome import outcome_of
from sweetspot.report.page import render_page
from sweetspot.report.phrases import ahead, causes, some_taken, span_in_words, worth_knowing
from sweetspot.report.sections import Sections
from sweetspot.report.sheet import render_summary
from sweetspot.study.memory import Needs
from sweetspot.study.needs import Demand, Need
from sweetspot.study.titles import model_title

ANSWER = {"verdict": pd.DataFrame([{"workload": "w"}]), "choices": pd.DataFrame([{"workload": "w", "model": "m"}])}
COLUMNS = ["model", "assumption", "quantity", "unit", "value", "low", "high", "flip_value"]


def causes_told(*rows):
    return causes(ANSWER | {"tornado": pd.DataFrame(rows, columns=COLUMNS)})


def test_the_first_three_of_the_answers_model_are_told_with_range_and_turn():
    days = ("m", "days of use a month", "days_per_month", "days/month", 20.0, 8.0, 30.0, 13.7)
    speed = ("m", "speed of the box", "images_per_s", "images/s", 0.0002, 0.0001, 0.0003, 0.00025)
    rents = ("m", "all rented prices", "usd_per_hour", FACTOR, 1.0, 0.8, 1.2, None)
    other = ("other", "price of the box", "capex_usd", "USD", 1.0, 1.0, 1.0, 1.0)
    fourth = ("m", "electricity price", "usd_per_kwh", "USD/kWh", 0.2, 0.1, 0.3, None)
    assert causes_told(other, days, speed, rents, fourth) == [
        "Days of use a month (20 days, from 8 to 30): the cheapest changes at 13.7.",
        "Speed of the box (−50 % to +50 %): the cheapest changes at +25 %.",  # 0.00025 / 0.0002 = 1.25
        "All rented prices (−20 % to +20 %): no value changes the cheapest.",
    ]


def test_without_an_answer_or_an_owned_machine_nothing_is_told():
    assert causes({}) == [] == causes(ANSWER | {"tornado": pd.DataFrame(columns=COLUMNS)})


@pytest.mark.parametrize(("gains", "said"), [
    ((1.4, 4.0, 2.0), "Box is still the cheaper on m, by 1.4 to 4.0 times."),
    ((0.25, 0.5), "Box is still the cheaper on m, by 2.0 to 4.0 times."),  # 1 / 0.5 and 1 / 0.25
    ((0.5, 2.0), "the multiple on m is 0.50 to 2.0: the cheapest changes."),
])  # fmt: skip
def test_other_figures_are_told_of_the_model_asked_alone(gains, said):
    named = {"device": "V100", "alternative_figure": "as used", "alternative_title": "Card"}
    named |= {"winner": "box", "winner_title": "Box"}
    table = pd.DataFrame([named | {"model": "m", "gain": gain} for gain in gains] + [named | {"model": "n", "gain": 9}])
    assert span_in_words(table, "m") == f"With other published figures of the V100, {said}"
    assert span_in_words(table, "other") == ""


DRIFT = {"trend_kind": "drift", "trend_change": -0.03, "trend_change_low": -0.4, "trend_change_high": 0.27}
UNMOVED = {"trend": None, "trend_kind": None, "trend_change": None, "trend_change_low": None, "trend_change_high": None}
SOLD = [{"years": 0.0, "kept": 0.8}, {"years": 3.0, "kept": 0.4}]


def ahead_told(*offers):
    blank = {"residual_points": None, "residual_usd": 0.0, "capex_usd": None}
    return ahead(
        {"offers": pd.DataFrame([UNMOVED | blank | one for one in offers]), "verdict": pd.DataFrame([{"a": 1}])}
    )


def test_nothing_is_said_where_every_price_stays():
    assert ahead_told({}) == ""
    assert ahead({"offers": pd.DataFrame(), "verdict": pd.DataFrame()}) == ""


def test_each_path_is_named_once_with_its_numbers():
    line = ahead_told(
        DRIFT | {"trend": "small_cloud"},
        DRIFT | {"trend": "small_cloud"},
        {"trend": "spot", "trend_kind": "random_walk"},
    )
    assert line.count("smaller clouds change by −3 % a year (each year anew, −40 % to +27 %)") == 1
    assert "spot prices walk at random" in line
    own = ahead_told(DRIFT | {"trend": "own drift", "trend_change": -0.1})
    assert "own drift (−10 % a year)" in own


def test_what_machines_are_sold_for_is_said_as_a_share():
    line = ahead_told({"residual_points": SOLD, "residual_usd": 40.0, "capex_usd": 100.0})
    assert (
        line
        == "Bought machines are sold at the end of the project for 40 % of their price, by their devices' age then."
    )


def test_money_paid_for_a_falling_rent_bends_and_ends_where_the_mean_says():
    months = list(range(25))
    flow = {"instance": "box", "price_list": "own", "month": months, "cumulative_usd": 0.0, "days_per_month": 10.0}
    row = {"model": "m", "persistent": True, "in_answer": True, "purchase": "own", "images_per_s": 1.0}
    row |= {"price_list": "own"}
    far = {"instance": "far", "option": "far", "purchase": "on_demand", "images_per_usd": 864.0}
    ranks = [
        row | {"instance": "box", "option": "box", "images_per_usd": 1.0, "trend_kind": None, "trend_change": None},
        row | far | {"trend_kind": "drift", "trend_change": -0.5},
    ]
    lines = cash_lines(pd.DataFrame(flow), pd.DataFrame(ranks), "box", "m")
    paid = lines[lines["option"] == "far"].set_index("month")["cumulative_usd"]
    # 24 x 10 x 3600 images a month at 864 a USD: 1,000 USD a month on average; the first year pays 1 of 1 + 0.5 parts
    assert (paid[0], paid[24]) == pytest.approx((0.0, 24000.0))
    assert paid[12] == pytest.approx(24000 / 1.5)


def test_the_sliders_know_the_curve_of_the_box_and_which_rents_may_move():
    assert _ahead({"purchase": "own", "residual_points": SOLD}) == {"resale": [[0.0, 0.8], [3.0, 0.4]]}
    assert _ahead({"purchase": "own", "residual_points": None}) == {"resale": []}
    assert _ahead({"purchase": "on_demand", **DRIFT}) == {"rent_change": -0.03}
    assert _ahead({"purchase": "spot", "trend_kind": "random_walk", "trend_change": float("nan")}) == {
        "rent_change": 0.0
    }
    assert _ahead({"purchase": "reserved", "trend_kind": "fixed"}) == {"rent_change": None}


WAITING = "office-4x1080ti with 6 jobs a month of “imagenet” is busy 43 % of the time. A job waits 40.4 h on average"


def test_a_shared_machine_has_its_sentence_and_its_table():
    demands = {"imagenet": Demand((6.0, 6.0, 6.0), 1.0, 3, 1)}
    tables = small_tables() | {"queue": compare(inputs(), settings(), draws=200, demands=demands)["queue"]}
    (note,) = re.findall(r'<p class="note" id="waiting">(.*?)</p>', evidence(tables))
    assert WAITING in note and 'href="tables/queue.csv"' in note
    assert WAITING in render_summary(tables, study())


def test_a_study_that_shares_nothing_says_nothing():
    assert 'id="waiting"' not in evidence()
    assert "jobs a month of" not in render_summary(small_tables(), study())


def test_who_is_in_time_stands_beside_it():
    """The box takes 52.8 h: none can within 1 h, and within 60 h it is alone."""
    asked = replace(settings(), deadlines_hours=(1.0, 60.0))
    page = evidence(small_tables() | {"deadlines": compare(inputs(), asked, draws=200)["deadlines"]})
    (found,) = re.findall(r'<table id="t-deadlines">.*?</table>', page, re.DOTALL)
    late, early = ([re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
                   for row in re.findall(r"<tr><td.*?</tr>", found, re.DOTALL))  # fmt: skip
    assert (
        late[2] == "none can: the fastest, office-4x1080ti, takes 52.8 h for 58.3 USD once it is bought for 6,500 USD"
    )
    assert early[2] == "office-4x1080ti" and [cell.split(" ")[0] for cell in early[3:5]] == ["52.8", "58.3"]


@pytest.mark.parametrize(("wait", "overloaded", "said"), [
    (13.2, False, "waits 13.2 h on average for a free machine (2 × X1), then takes 24.3 h."),
    (0.0, True, "waits without end for a free machine (2 × X1)."),
    (6.0, False, None),  # under a quarter of its hours
])  # fmt: skip
def test_a_long_wait_for_what_is_held_stands_on_the_page(wait, overloaded, said):
    tables = one_job()
    found = outcome_of(tables)
    row = {"held": True, "option": found.best.choice, "workload": found.workload, "overloaded": overloaded,
           "wait_hours": wait, "hours": 24.3, "machines": "2 × X1"}  # fmt: skip
    page = render_page(tables | {"queue": pd.DataFrame([row])}, study())
    assert re.findall(r"waits (?:\d|without)[^<]*", page) == ([said] if said else [])


# A box as dear as the rented machine for its work: every figure of either could change the choice.
CLOSE = inputs(price_p3=0.5, box=(498.0, 300.0, 800.0))


def test_the_table_of_the_page_has_what_is_worth_anything_and_counts_the_rest():
    tables = one_job(CLOSE)
    worth = tables["worth_knowing"]
    part = Sections(tables, study(), Provenance()).worth_knowing()
    told = worth[(worth["evppi_usd_low"] > 0) & (worth["evppi_usd"] >= 0.001 * worth["project_usd"])]
    assert len(told) > 0
    assert [row[1] for row in part.rows] == list(told["figure"])
    assert part.left_out == len(worth) - len(told)
    assert all(len(row) == len(part.head) for row in part.rows)
    # Of a project of 1e9 USD such figures are worth nothing to anybody; within its Monte Carlo error nothing is.
    for name, value in (("project_usd", 1e9), ("evppi_usd_low", 0.0)):
        tables["worth_knowing"] = worth.assign(**{name: value})
        assert Sections(tables, study(), Provenance()).worth_knowing().rows == []


def test_the_summary_says_what_to_find_out_first():
    of_one_job = one_job(CLOSE)
    text = render_summary(of_one_job, study())
    assert f"Find out first: speed of {BOX}" in text or f"Find out first: speed of {RENTED}" in text


def test_the_summary_names_what_does_not_fit():
    tables = small_tables(CLOSE)
    needs = {"imagenet": Need(Needs(gpu_memory_gib=12.0))}
    asked = replace(settings(reference=None), gpu_memory_gib={BOX: 11.0, RENTED: 16.0})
    text = render_summary(tables | compare(CLOSE, asked, draws=500, needs=needs), study())
    assert "Does not fit, and takes no part: imagenet needs 12 GiB on each device of " + BOX in text
    assert "fits" not in render_summary(tables, study())


def test_the_chart_of_use_is_empty_where_the_answer_s_model_has_no_owned_machine():
    # another model's box takes part; that of the answer's does not fit
    tables = small_tables(CLOSE)
    tables["break_even"] = tables["break_even"].assign(model="other")
    drawing = CHARTS["utilisation"].draw(ChartData(tables, None))
    assert "No owned machine takes part for vgg16" in " ".join(drawing.data["rows"]["text"])


NAMED = {
    "verdict": pd.DataFrame([{"workload": "w"}]), "choices": pd.DataFrame([{"workload": "w", "model": "vgg16"}]),
    "options": pd.DataFrame([{"workload": "w", "model": "vgg16", "model_title": "VGG-16"}]),
}  # fmt: skip


def test_of_several_models_it_is_said_which_hangs_on_nothing():
    worth = pd.DataFrame({"model": ["vgg16"], "evppi_usd": 0.0, "evppi_usd_low": 0.0, "cost_to_learn_usd": 1.0})
    alone = worth_knowing(NAMED | {"ranks": pd.DataFrame({"model": ["vgg16"]}), "worth_knowing": worth})
    assert alone == ["No single uncertain figure, known exactly, would change the choice."]
    both = pd.DataFrame({"model": ["vgg16", "resnet50"]})
    (said,) = worth_knowing(NAMED | {"ranks": both, "worth_knowing": worth})
    assert said.startswith("On VGG-16 no single uncertain figure")


def test_speeds_are_told_in_the_study_s_unit_and_models_by_their_titles():
    """Were the unit or the title lost where a sentence is made, the page would have images and a key instead."""
    market = inputs(1.53)
    market = replace(market, throughput=market.throughput.assign(unit="relative"))
    found = compare(market, settings(titles={"vgg16": "The old net"}), draws=200)
    speeds = found["tornado"][found["tornado"]["quantity"] == "speed"]
    assert len(speeds) == 2 and set(speeds["unit"]) == {"times the plan"}
    worth = found["worth_knowing"].set_index("quantity")["unit"]
    assert worth[["speed"]].unique().tolist() == ["relative units/s"]
    assert set(found["tornado"]["model_title"]) == {"The old net"}


def test_workloads_have_their_titles_in_the_folded_tables():
    tables = small_tables()
    named = compare(inputs(), settings(), draws=200, titles={"imagenet": "ImageNet, 90 epochs"})
    made = Sections(tables | named, study(), Provenance())
    for part in (made.ranks(), made.front()):
        place = part.head.index("workload")
        assert {row[place] for row in part.rows} == {"ImageNet, 90 epochs"}
    assert evidence_case(tables | named, study())["works"][0]["title"] == "ImageNet, 90 epochs"


def test_the_panel_has_the_providers_names():
    payload = evidence_case(small_tables(), study())
    assert study().provider_title("aws") == "Amazon Web Services"
    told = {one["label"]: one.get("told") for one in payload["works"][0]["controls"]}
    # its cheapest and its dearest hour: spot and on demand
    assert told["prices of Amazon Web Services, USD an hour"] == [1.11, 3.06]


def test_a_slice_of_all_figures_is_not_told_beside_all():
    """Two figures held out, both of one precision: its row would repeat the row above it; one of a family does not."""
    errors = dict.fromkeys(("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90"), 0.1)
    rows = [("all", 2), ("precision=fp16", 2), ("family=p100", 1)]
    held = pd.DataFrame([{"method": "amdahl", "slice": name, "rows": count} | errors for name, count in rows])
    part = Sections(small_tables() | {"validation": held}, study(), Provenance()).validation()
    assert [row[1] for row in part.rows] == ["all", "family: p100"]


def test_what_can_be_taken_away_is_explained_where_something_can():
    ranks = small_tables()["ranks"]
    assert some_taken(ranks) and not some_taken(ranks[ranks["persistent"].astype(bool)])
    assert not some_taken(pd.DataFrame())


def test_work_by_tokens_is_named_by_what_is_done_to_the_model():
    assert model_title("llama-3.1-8b.lora.2048") == "LoRA of Llama-3.1-8b"
    assert model_title("nanochat-d20.pretrain.2048") == "pretraining of Nanochat-d20"
    assert model_title("qwen2.5-32b.full.2048", {"qwen2.5-32b.full.2048": "All of Qwen"}) == "All of Qwen"
    assert model_title("a.lora.b") == "a.lora.b"  # no length of a sequence: a name of one's own


JOB = {"name": "a", "model": "resnet50", "samples": 1e6, "per_month": 61, "devices_per_job": 1, "source": "us"}
MEASURED = {"period": "2025-01 to 2025-11", "months": 11.0, "busy_share": 0.338, "source": "sacct",
            "jobs_per_month": {"value": 61.2, "low": 47.9, "high": 79.0}}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Your last 11 months: 34 % busy, 61 jobs a month (48 to 79)."),
        ({"months": 1.0, "busy_share": None, "jobs_per_month": 3.25},
         "Your last month: 3.2 jobs a month (3.2 to 3.2)."),
        (None, None),
    ],
)  # fmt: skip
def test_the_sentence_of_the_record(changes, said, tmp_path):
    tables = one_job()
    work = {"kind": "monthly", "months": 36, "jobs": [JOB], "source": "us"}
    if changes is not None:
        work["measured"] = MEASURED | changes
    file = tmp_path / "workloads.yaml"
    file.write_text(json.dumps({outcome_of(tables).workload: work, "unused": work | {"measured": MEASURED}}))
    page = render_page(tables, study(), file)
    assert re.findall(r"Your last [^<]*", page) == ([said] if said else [])
    assert "Your last" not in render_page(tables, study())


NOTHING = "the study states neither the power of rented machines nor the grid."


def market(basis="measured", rented=3.0, grid=50.0, box_grid=400.0):
    """The box takes 1 kWh an hour, the rented machine `rented`; grids in g a kWh, None where it is not known.

    94,720,000 images: 52.83 hours on the box at 498 images/s, 116.94 on the rented machine at 225.
    """
    given = inputs()
    own = given.costs["instance"] == BOX
    per_hour = own.map({True: 1.0, False: rented})
    grids = own.map({True: box_grid, False: grid}).astype(float)
    costs = given.costs.assign(
        kwh=per_hour * given.costs["hours"], power_basis=own.map({True: basis, False: "estimated"})
    )
    costs["kg_co2e"] = costs["kwh"] * grids / 1000
    for name in ("kwh", "kg_co2e"):
        costs[f"{name}_low"], costs[f"{name}_high"] = costs[name] / 2, costs[name] * 2
    costs["power_basis"] = costs["power_basis"].where(costs["kwh"].notna(), None)
    lacks = {(True, False): "PUE of aws, grid intensity of aws", (False, True): "grid intensity of aws"}
    offers = given.offers.assign(
        power_source="a sheet", grid_source="a grid",
        energy_lacks=[
            None if name == BOX else lacks.get((pd.isna(rented), grid is None)) for name in given.offers["instance"]
        ],
    )  # fmt: skip
    return replace(given, costs=costs, offers=offers)


def said(given, energy=True):
    facts = {"sites": [{"provider": "own", "g_per_kwh": {"value": 400, "as_of": "2018", "source": "a grid"}}]}
    return in_words(small_tables(given), study(**({"energy": facts} if energy else {})))


def test_who_emits_least_stands_beside_the_cheapest():
    first, *rest = said(market())
    # 350.8 kWh at 50 g are 17.5 kg, 52.8 kWh at 400 g 21.1 kg; 8.77 to 35.1 kg holds 10.6 to 42.3 partly
    assert first == (
        "Of all machines that cannot be interrupted, p3.2xlarge emits least: 17.5 kg CO2e from 351 kWh at 50 g/kWh "
        "(8.77 to 35.1 kg, with all factors low or all high); the cheapest, office-4x1080ti, emits 21.1 kg CO2e from "
        "52.8 kWh at 400 g/kWh, and the ranges overlap."
    )
    assert rest[-1] == "What making the machines emitted (embodied carbon) is not counted."
    assert rest[0] == (
        "Power is measured at the plug for 1 option and estimated (devices × W of the data sheet × host × utilisation) "
        "for 2 options; ≈ marks what is estimated."
    )
    assert len(rest) == 2


def test_ranges_apart_are_not_said_to_overlap_and_the_cheapest_may_emit_least():
    assert "overlap" not in said(market(grid=1.0))[0]
    assert said(market(grid=400.0))[0].endswith("; it is the cheapest too.")


def test_what_is_not_declared_is_said():
    told = said(market(grid=None))
    assert "Carbon of 2 of 3 options was not computed: grid intensity of Amazon Web Services is not known." in told
    dark = said(market(rented=float("nan")))
    why = "PUE and grid intensity of Amazon Web Services are not known"
    assert f"Energy of 2 of 3 options was not computed: {why}." in dark
    assert not [words for words in dark if words.startswith("Carbon")]  # one reason is said once


def test_a_study_that_declares_nothing_says_so_once():
    bare = market(rented=float("nan"), grid=None, box_grid=float("nan"))
    assert said(bare, energy=False) == [
        "office-4x1080ti takes 52.8 kWh to train VGG-16 once.",
        "Power is measured at the plug for 1 option.",
        f"Energy of 2 of 3 options and all carbon were not computed: {NOTHING}",
        "What making the machines emitted (embodied carbon) is not counted.",
    ]
    assert said(inputs(), energy=False) == []  # nothing declared and nothing known: no note


def test_a_study_that_declares_nothing_is_silent_on_a_power_that_the_answer_leaves_out():
    bare = market(rented=float("nan"), grid=None, box_grid=float("nan"))
    tables = small_tables(bare)
    dark = tables["ranks"]["option"] == BOX
    tables["ranks"] = tables["ranks"].assign(kwh=tables["ranks"]["kwh"].mask(dark).where(dark, 3.0))
    tables["ranks"] = tables["ranks"].assign(power_basis=tables["ranks"]["power_basis"].fillna("declared"))
    assert in_words(tables, study()) == []


@pytest.mark.parametrize(("basis", "shown"), [("measured", "52.8 ●"), ("declared", "52.8")])
def test_measured_declared_and_estimated_never_look_alike(basis, shown):
    text = evidence(small_tables(market(basis)))
    for told in (f"{basis} power · 26.4 to 106", shown), ("estimated power · 175 to 702", "≈ 351"):
        title = f"{told[0]} (with all factors low or all high) · a sheet · 2018-07-01"
        assert f'title="{title}">{told[1]}</a>' in text
    assert 'a sheet ; a grid · 2018-07-01">≈ 17.5</a>' in text


def test_a_study_without_power_has_no_columns_of_it():
    tables = small_tables()
    assert energy_words.shown(tables) == []
    text = evidence(tables)
    assert '<th scope="col">kWh</th>' not in text
    assert '<p class="note" id="energy">' not in text


@pytest.mark.slow
def test_the_columns_are_seen_in_a_browser(tmp_path):
    page = make_report(tmp_path, small_tables(market())) / "evidence.html"
    with opened(page, width=390) as (tab, noise):
        heads = tab.locator("#t-ranks thead th").all_text_contents()
        assert heads[-1] == "by carbon" and {"kWh", "kg CO2e"} <= set(heads)
        rows = [row.locator("td").all_text_contents() for row in tab.locator("#t-ranks tbody tr").all()]
        least = {cell for row in rows if row[-1] == "1" for cell in row}  # the same machine, on demand and as spot
        assert RENTED in least and BOX not in least
        assert "with carbon" in tab.locator("#t-front thead th").all_text_contents()
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert noise == []
