"""Whole rows of the options, column by column: what each takes from its cost, its offer and the figure behind it."""

import math

import numpy as np
import pandas as pd
import pytest
from decision_tables import BOX, RENTED, box_offer, cost, figure, offer, options_of
from sweetspot.decision.simulate import simulate
from sweetspot.draws import interval
from sweetspot.errors import UserError
from sweetspot.study.instances import Needs
from sweetspot.study.workloads import Need

KEPT = {"month_usd": 1.0, "maintenance_usd_per_month": 2.0, "staff_usd_per_month": 3.0, "discount_rate": 0.04,
        "pue": 1.5, "energy_usd_per_hour": 6.0, "checkpoint_s": 7.0, "restore_s": 8.0, "wait_s": 9.0, "every_s": 10.0,
        "power_source": "data sheet", "grid_source": "ember", "energy_lacks": "cooling", "granularity_s": 11.0,
        "minimum_s": 12.0, "price_list_title": "Prices of a day"}  # fmt: skip
RANGES = {f"{name}{end}": place + shift for end, shift in (("", 0.5), ("_low", 0.25), ("_high", 0.75))
          for place, name in enumerate(("capex_usd", "residual_usd", "months", "kw", "usd_per_kwh", "days_per_month",
                                        "interruptions_per_hour"))}  # fmt: skip
STOOD_IN = {"stand_in_gpu": "V100", "stand_in_framework": "torch", "stand_in_batch_size": 32.0,
            "stand_in_precision": "fp32", "stand_in_years": 2.0, "basis": "stand_in"}  # fmt: skip


def test_an_option_has_the_terms_of_its_offer_and_the_figure_behind_it():
    stood = figure(RENTED, 225.0, 1, nodes=1, interval_df=3.0, round="v1", rounds_behind=2, **STOOD_IN)
    entry = offer(RENTED, "spot", 2.0, spot_overhead=1.25, usd_per_hour_low=1.5, usd_per_hour_high=3.0, **KEPT | RANGES)
    row = options_of((entry, 225.0, 1), figures=[stood], reference=None).iloc[0]
    for name, value in (KEPT | RANGES).items():
        assert row[name] == value, name
    expected = {
        "option": "p3.2xlarge (spot)", "title": "p3.2xlarge (spot)", "model_title": "VGG-16", "instance": RENTED,
        "purchase": "spot", "price_list": "spot", "provider": "aws", "alternative": "p3.2xlarge (spot)",
        "workload": "imagenet", "model": "vgg16", "batch_size": 64, "gpus": 1, "gpu": "card", "usd_per_hour": 2.0,
        "usd_per_hour_low": 1.5, "usd_per_hour_high": 3.0, "fixed_usd_per_month": 0.0, "variable_usd_per_hour": 2.5,
        "persistent": False, "in_answer": True, "is_reference": False, "nodes": 1, "level": 0.9,
        "interval_df": 3.0, "throughput_basis": "stand_in", "throughput_source": "paper",
        "round": "v1", "rounds_behind": 2.0, "rounds_apart": 0.0, "jobs_at_once": 1.0, "figure_images_per_s": 225.0,
        "figure_gpus": 1.0, "images_per_s": 225.0, "assumed_interval": True, "rent_factor": 1.0, "spot_overhead": 1.25,
        "stand_in_years": 2.0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert math.isnan(row["rent_months"]) and pd.isna(row["fits"])
    # 1.56 either way of a stand-in, 1.38 for each of two years: independent, the logarithms add by their squares
    factor = math.exp(math.sqrt(math.log(1.56) ** 2 + (2 * math.log(1.38)) ** 2))
    assert row[["images_per_s_low", "images_per_s_high"]].tolist() == pytest.approx([225 / factor, 225 * factor])


def test_the_month_of_a_box_is_borne_by_the_hours_in_which_it_works():
    row = options_of((box_offer(downtime_share=0.2), 498.0, 4)).iloc[0]
    assert (row["fixed_usd_per_month"], row["variable_usd_per_hour"]) == pytest.approx((6500 / 30 / 0.8, 0.2))
    with pytest.raises(UserError, match=f"study paper: offer 'own' of {BOX} has no days_per_month; expected a number"):
        options_of((box_offer(days_per_month=np.nan), 498.0, 4))


@pytest.mark.parametrize(("known", "expected"), [
    ([figure(RENTED, 999.0, 1, status="oom"), figure(RENTED, 225.0, 1, basis="measured", runs=3)],
     (225 / 1.29, 225 * 1.29, 0.9, True)),  # a run that failed stands behind nothing
    ([figure(RENTED, 225.0, 1, 200.0, 250.0, basis="measured", runs=3)], (200.0, 250.0, 0.95, False)),
    ([figure(RENTED, 225.0, 1)], (225 / 1.29, 225 * 1.29, 0.9, True)),
    ([figure(RENTED, 225.0, 1, low=220.0)], (225 / 1.29, 225 * 1.29, 0.9, True)),  # one end is none
    ([figure(RENTED, 225.0, 1, basis="stand_in")], (225 / 1.56, 225 * 1.56, 0.9, True)),
    # of another framework than what is priced
    ([figure(RENTED, 9e3, 1, framework="jax"), figure(RENTED, 225.0, 1)], (225 / 1.29, 225 * 1.29, 0.9, True)),
])  # fmt: skip
def test_a_figure_has_its_interval_else_that_of_its_kind(known, expected):
    row = options_of((offer(RENTED, "on_demand", 3.0), 225.0, 1), figures=known, reference=None).iloc[0]
    found = row[["images_per_s_low", "images_per_s_high", "level", "assumed_interval"]].tolist()
    assert found == pytest.approx(expected) and row["images_per_s"] == 225.0


def test_of_several_cells_of_an_offer_the_precision_asked_then_the_framework_then_the_best_counts():
    entry = offer(RENTED, "on_demand", 3.06)
    rows = [
        cost(entry, 900.0, 1) | {"precision": "fp32"},
        cost(entry, 800.0, 1) | {"framework": "jax"},
        cost(entry, 225.0, 1),
        cost(entry, 300.0, 1) | {"gpus": 2},
        cost(entry, 999.0, 1) | {"batch_size": 32},
        cost(entry, 999.0, 1) | {"status": "oom"},
    ]
    for places, rate in (((0, 1, 2, 3, 4, 5), 300), ((0, 1, 2), 225), ((0, 1), 800), ((0, 4, 5), 900)):
        found = options_of((entry, 225.0, 1), costs=[rows[place] for place in places], reference=None)
        assert found["images_per_usd"].tolist() == [pytest.approx(rate * 3600 / 3.06)], places


def referred(*entries, **changes):
    found = options_of(*entries, reference=RENTED, **changes)
    return found.loc[found["is_reference"], "option"].tolist()


def test_the_reference_is_owned_else_stays_else_costs_the_least_an_hour():
    dear, cheap = (offer(RENTED, "on_demand", usd, price_list=key) for usd, key in ((3.0, "a"), (2.0, "b")))
    spot, own = offer(RENTED, "spot", 1.0), box_offer(capex_usd=1e6) | {"instance": RENTED}
    rented = [(one, 225.0, 1) for one in (dear, cheap, spot)]
    assert referred(*rented, (own, 225.0, 1)) == ["p3.2xlarge [own]"]
    assert referred(*rented) == ["p3.2xlarge [b]"]
    assert referred(*rented, answer_prices=("a", "spot")) == ["p3.2xlarge [a]"]
    assert referred(rented[2]) == ["p3.2xlarge (spot)"]


def test_a_reference_that_does_not_fit_one_workload_is_asked_about_the_others():
    entry = (offer(RENTED, "on_demand", 1.0), 225.0, 1)  # at 1 USD it does not cost nothing
    costs = [cost(*entry, workload=name) for name in ("first", "second")]
    gib = {"gpu_memory_gib": {RENTED: 16.0}}

    def found(first, second):
        needs = {name: Need(Needs(gpu_memory_gib=size), None) for name, size in (("first", first), ("second", second))}
        return options_of(entry, costs=costs, needs=needs, reference=RENTED, **gib).set_index("workload")

    table = found(24.0, 16.0)
    assert table["fits"].to_dict() == table["in_answer"].to_dict() == {"first": False, "second": True}
    assert table["memory_need_gib"].to_dict() == {"first": 24.0, "second": 16.0}
    assert table["gpu_memory_gib"].tolist() == [16.0, 16.0]
    told = f"reference '{RENTED}' has no priced figure at batch .*64. on devices with enough memory"
    with pytest.raises(UserError, match=told):
        found(24.0, 32.0)


def test_a_reference_that_is_free_is_told_and_another_free_machine_takes_part():
    free = offer(RENTED, "on_demand", 0.0)
    costs = [
        cost(offer(RENTED, "on_demand", 2.0), 225.0, 1) | {"usd_per_hour": 0.0, "usd": 0.0, "images_per_usd": None}
    ]
    costs.append(cost(offer(RENTED, "reserved", 2.0), 225.0, 1))
    entries = (free, 225.0, 1), (offer(RENTED, "reserved", 2.0), 225.0, 1)
    with pytest.raises(UserError, match=f"reference '{RENTED}' costs nothing; expected a machine with"):
        options_of(*entries, costs=costs, reference=RENTED)
    table = options_of(*entries, costs=costs, reference=None)
    assert table["usd"].tolist()[0] == 0 and not simulate(table, 1, 5).usd[0].any()
    assert np.isfinite(simulate(table, 1, 5).hours).all()


@pytest.mark.parametrize(
    ("batches", "said"),
    [({"vgg16": 64, "alex": 32}, r"at batch .'vgg16': 64, 'alex': 32. on"),
     ({"vgg16": 64, "alex": None}, r"'vgg16': 64, 'alex': None. on"),
     (None, r"reference 'none' has no priced figure at batch .'vgg16': 64. on devices")],
)  # fmt: skip
def test_a_reference_without_a_figure_is_told_with_the_batches_asked(batches, said):
    with pytest.raises(UserError, match=said):
        options_of(reference="none", **({"batch_sizes": batches} if batches else {}))


def side(name, jobs, **more):
    """A machine with `jobs` at once: 388 images/s together, from a figure of 100 of one device."""
    rates = {"images_per_s": 388.0, "images_per_s_low": 300.0, "images_per_s_high": 500.0}
    rates |= {"figure_images_per_s": 100.0, "figure_gpus": 1.0, "basis": "published", "source": "shared"} | more
    told = {"jobs_at_once": jobs} | {f"side_{key}": value for key, value in rates.items()}
    return cost(offer(name, "on_demand", 4.0), 388.0, 4) | told


def test_jobs_side_by_side_have_the_figure_of_all_of_them_together():
    entries = [(offer(name, "on_demand", 4.0), 388.0, 4) for name in ("alone", "four", "two")]
    costs = [side("alone", np.nan), side("four", 4.0), side("two", 2.0, basis="extrapolated")]
    own = [figure(name, 390.0, 4, 380.0, 400.0, interval_df=3.0, **STOOD_IN) for name in ("alone", "four", "two")]
    found = options_of(*entries, costs=costs, figures=own, reference=None).set_index("option")
    columns = ["images_per_s", "images_per_s_low", "images_per_s_high", "figure_images_per_s", "figure_gpus",
               "throughput_basis", "throughput_source", "level", "jobs_at_once"]  # fmt: skip
    assert found[columns].T.to_dict("list") == {
        "alone": [390.0, 380.0, 400.0, 390.0, 4.0, "stand_in", "paper", 0.95, 1.0],
        "four": [388.0, 300.0, 500.0, 100.0, 1.0, "published", "shared", 0.95, 4.0],
        "two": [388.0, 300.0, 500.0, 100.0, 1.0, "extrapolated", "shared", 0.90, 2.0],
    }
    stood = ["interval_df", "stand_in_years"]
    assert found.loc["alone", stood].tolist() == [3.0, 2.0]
    assert found.loc[["four", "two"], stood].isna().all(axis=None)
    assert not [name for name in found.columns if name.startswith("side_")]
    # drawn in their own interval, 90 % of a prediction
    drawn = simulate(found.reset_index(), 1, 4000).images_per_s[found.index.get_loc("two")]
    assert interval(drawn) == pytest.approx((300, 500), rel=0.02)


def test_rounds_apart_are_counted_within_a_model_and_each_is_drawn():
    exact = [figure(name, 225.0, 1, 225.0, 225.0, gpu=name, model=model, round=f"v{9 - behind}", rounds_behind=behind)
             for name, model, behind in (("new", "vgg16", 1), ("one", "vgg16", 2), ("two", "vgg16", 3),
                                         ("other", "alex", 4))]  # fmt: skip
    plain = figure("plain", 225.0, 1, 225.0, 225.0)
    entries = [(offer(name, "on_demand", 3.0), 225.0, 1) for name in ("new", "one", "two", "other", "plain")]
    costs = [cost(*entry, model="alex" if entry[0]["instance"] == "other" else "vgg16") for entry in entries]
    for row in costs:
        row["gpu"] = row["instance"]
    options = options_of(
        *entries, costs=costs, figures=[*exact, plain], batch_sizes={"vgg16": 64, "alex": 64}, reference=None
    )
    found = options.set_index("option")
    assert found["rounds_apart"].to_dict() == {"new": 0.0, "one": 1.0, "two": 2.0, "other": 0.0, "plain": 0.0}
    assert found["rounds_behind"].drop("plain").to_dict() == {"new": 1.0, "one": 2.0, "two": 3.0, "other": 4.0}
    drawn = dict(zip(options["option"], simulate(options, 3, 4000).images_per_s / 225.0, strict=True))
    assert np.ptp(drawn["new"]) == np.ptp(drawn["other"]) == 0.0
    # a published machine became 0.98 to 1.35 times as fast from one round to the next
    assert interval(drawn["one"]) == pytest.approx((0.98, 1.35), rel=0.03)
    assert np.median(drawn["one"]) == pytest.approx(1.0, rel=0.01)
    assert interval(drawn["two"] / drawn["one"]) == pytest.approx((0.98, 1.35), rel=0.03)
    assert abs(np.corrcoef(drawn["one"], drawn["two"] / drawn["one"])[0, 1]) < 0.1
