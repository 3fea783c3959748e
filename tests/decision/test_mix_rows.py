"""Mixes on a few certain offers by hand: rows of the choices, who does what, the load, one job of each class."""

from dataclasses import replace

import numpy as np
import pytest
from phase_plans import hourly, own
from small_lab import class_of, same, small_lab
from sweetspot.decision.monthly_work import Trial, source_table
from sweetspot.decision.priced_works import works
from sweetspot.decision.verdict import choice_table
from sweetspot.declared_tables import columns_of
from sweetspot.mixes.problem import SpeedErrors

OLD = own("old", capex=0.0)  # 240 hours a month at 0.2 USD, 50 of care
RENTED, DEAR = hourly(6.0), hourly(8.0) | {"instance": "dear"}
DEAL = {"instance": "term", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 700.0}}
KEPT = {"have": ["old"]}


def lab(*offers, per_month, **more):
    """Jobs of two hours, so many a month."""
    given = {"jobs": [class_of("a", per_month)], "hours": {"a": 2.0}}
    return small_lab(*offers, **(given | more))


def rows_of(made):
    one, options, draws, settings = made
    return choice_table(works(options, draws, [], [one], settings, {}), ()).set_index("choice")


def test_every_column_where_renting_beside_what_is_there_is_the_best():
    """Of 300 hours ours does 240: 50 + 48 + 60 x 6 = 458 USD a month; a box does the rest for 1,050 + 12."""
    rows = rows_of(lab(OLD, own(), hourly(6.0), per_month=150.0, **KEPT))
    assert rows.index.tolist() == ["best", "box", "there"]  # the cheapest rental is the best itself
    empty = ["purchase", "price_list", "hours", "planned_hours", "model", "why_not"]
    best = {
        "workload": "lab", "workload_title": "lab", "alternative": "best", "kind": "keep", "commitment": "nothing",
        "title": "rented beside what you have", "instance": "rented", "counts": 0.0, "months": 36.0,
        "device_hours": 36 * 300.0, "usd": 36 * 458.0, "usd_low": 36 * 458.0, "usd_high": 36 * 458.0,
        "usd_per_month": 458.0, "usd_per_month_low": 458.0, "usd_per_month_high": 458.0,
        "p_cheapest": 1.0, "p_cheaper": None, "is_best": True,         "ratio": 1.0, "ratio_low": 1.0,
        "ratio_high": 1.0, "in_hand": True, "cost": "dispatch", "persistent": True,
        "usd_per_month_central": 458.0, "main_rented": "rented", "reasons": [], **dict.fromkeys(empty),
    }  # fmt: skip
    bought = best | {
        "alternative": "box", "kind": "buy", "commitment": "buy", "title": "1 × box", "instance": "box", "counts": 1.0,
        "price_list": "list", "usd": 36 * 1160.0, "usd_low": 36 * 1160.0, "usd_high": 36 * 1160.0,
        "usd_per_month": 1160.0, "usd_per_month_low": 1160.0, "usd_per_month_high": 1160.0,
        "p_cheapest": 0.0, "p_cheaper": 0.0, "is_best": False,         "ratio": 1160 / 458,
        "ratio_low": 1160 / 458, "ratio_high": 1160 / 458,
        "usd_per_month_central": 1160.0, "main_rented": None,
    }  # fmt: skip
    alone = {
        "kind": "keep", "title": "what you have", "instance": None, "device_hours": 36 * 240.0,
        "usd": None, "usd_low": None, "usd_per_month": None, "usd_per_month_central": None, "ratio": None,
        "is_best": False,         "main_rented": None, "why_not": "cannot", "reasons": [],
    }  # fmt: skip
    assert set(best) == set(columns_of("choices")) - {"choice"}
    for key, expected in (("best", best), ("box", bought), ("there", alone)):
        same(rows.loc[key], expected)


@pytest.mark.parametrize(("per_month", "boxes", "rest", "title", "kind"), [
    (200.0, 1, 160.0, "1 × box, the rest on rented", "mix"),  # 400 hours, of which a box does 240
    (240.0, 2, 0.0, "2 × box", "buy"),
    (60.0, 0, 120.0, "rented", "rent"),
])  # fmt: skip
def test_what_is_bought_with_its_price(per_month, boxes, rest, title, kind):
    """A box is 1,050 USD a month and 0.2 an hour; each USD of its price is one of the 36 months, by its number."""
    made = lab(own(), hourly(6.0), per_month=per_month)
    work = works(made[1], made[2], [], [made[0]], made[3], {})[0]
    row = choice_table([work], ()).iloc[0]
    month = 1050 * boxes + 0.2 * (2 * per_month - rest) + 6 * rest
    expected = {"title": title, "kind": kind, "counts": float(boxes), "usd_per_month": month, "usd": 36 * month,
                "commitment": "buy" if boxes else "nothing", "instance": "box" if boxes else "rented"}  # fmt: skip
    same(row, expected)
    assert work.table["usd_per_capex"].iloc[0] == pytest.approx(float(boxes))
    assert work.today.tolist() == work.usd.tolist()
    same(work.table.iloc[0], {"lead": None if boxes else "rented"})


@pytest.mark.parametrize(("offers", "per_month", "have", "expected"), [
    # what is there is kept where it does half of the work
    ((OLD, RENTED), 240.0, True, {"kind": "keep"}), ((OLD, RENTED), 240.5, True, {"kind": "rent"}),
    ((OLD, RENTED), 60.0, True, {"kind": "keep", "title": "what you have"}),
    # 732 hours for 700 USD: 800 hours take one contract and 68 hours of the rented one, 1,000 two; with help it is
    # a contract all the same: nobody buys
    ((DEAL, own(), RENTED), 400.0, False, {"kind": "contract", "commitment": "contract", "counts": 1.0}),
    ((DEAL, own(), RENTED), 500.0, False, {"kind": "contract", "counts": 2.0}),
])  # fmt: skip
def test_what_the_best_is_called(offers, per_month, have, expected):
    same(rows_of(lab(*offers, per_month=per_month, **(KEPT if have else {}))).loc["best"], expected)


@pytest.fixture(scope="module")
def uneven():
    """Months of 100 and of 150 jobs, planned 150. A job costs 12 on the rented one and 18 on the other, which is so
    fast in the second draw that it costs 10; the box is not worth it.
    """
    made = lab(OLD, own(), hourly(6.0), hourly(9.0) | {"instance": "other"}, per_month=150.0,
               facts={"old": {"gpus": 2}, "other": {"gpus": 4}}, **KEPT)  # fmt: skip
    one, options = made[0], made[1].set_index("option")
    row = [*made[1]["option"]].index("other")
    usd, hours = (one.figures[name].copy() for name in ("usd", "hours"))
    usd[row, 1], hours[row, 1] = 10.0, hours[row, 1] * 10 / 18
    assert options.loc["other", "usd"] == 18.0
    errors = SpeedErrors(("speed of other",), -np.log(usd[[row]]))
    timed = {"speed_keys": {row: "speed of other"}, "trials": {"speed of other": Trial(3.6, "other")}}
    return replace(
        one,
        figures=one.figures | {"usd": usd, "hours": hours},
        numbers=np.array([[[100.0, 150.0]] * 2]),
        speed_errors=errors,
        central_work=replace(
            one.central_work, speed_errors=SpeedErrors(errors.keys, np.zeros((len(errors.keys), 1))), **timed
        ),
        **timed,
    )


def test_every_source_of_the_best_mix_by_hand(uneven):
    """The other is timed for 3.60 USD. Ours, of two devices, works 200 and 240 hours; 30 jobs of the busy months are
    rented: on the rented one in the first draw, on the other in the second.
    """
    rows = source_table([uneven])
    assert rows.columns.tolist() == columns_of("sources")
    best = rows[rows["mix"] == "best"].set_index("option")
    assert sorted(best.index) == ["old", "other", "rented"]
    same(best.loc["old"], {
        "workload": "lab", "mix": "best", "title": "old", "kind": "there", "machines": 1.0, "device_hours": 440.0,
        "capacity_device_hours": 480.0,
    })  # fmt: skip
    same(best.loc["rented"], {
        "kind": "rented", "machines": None, "device_hours": 15.0, "capacity_device_hours": None,
    })  # fmt: skip
    same(
        best.loc["other"], {"kind": "rented", "device_hours": 60.0 * 10 / 18}
    )  # four devices for two hours, or for less
    bought = rows[rows["mix"] == "box"].set_index("option")
    assert sorted(bought.index) == ["box", "old"]
    same(bought.loc["box"], {"kind": "bought", "machines": 1.0})


def test_a_mix_says_how_it_gives_out_the_work(uneven):
    """A month of ours costs 50 + 44. Without a timing 15 jobs a month in the mean are rented for 12 USD, 274 in all;
    with one for 12 or 10: 165 + 94, and 3.60 USD once in 36 months.
    """
    (work,) = works(*uneven_lab(uneven))
    mixes, table = work.table.set_index("choice"), choice_table([work], ()).set_index("choice")
    same(mixes.loc["best"], {"timed": ["other"], "title": "rented and others beside what you have", "trial_usd": 3.6,
                             "usd": 36 * (94 + 165) + 3.6, "saving_usd": 36 * 15 - 3.6})  # fmt: skip
    same(mixes.loc["rented"], {"timed": [], "lead": None, "trial_usd": 0.0, "saving_usd": 0.0,
                               "usd": 36 * 274.0})  # fmt: skip
    # It is the cheapest in both draws but for the trial, a dime in 274 USD; each of the others in one.
    assert table["p_cheapest"].dropna().to_dict() == {"best": 1.0, "rented": 0.5, "other": 0.5, "box": 0.0}


def uneven_lab(uneven):
    """Its options, draws and settings, as `works` takes them."""
    _, options, draws, settings = lab(OLD, own(), hourly(6.0), hourly(9.0) | {"instance": "other"}, per_month=150.0,
                                      facts={"old": {"gpus": 2}, "other": {"gpus": 4}}, **KEPT)  # fmt: skip
    return options, draws, [], [uneven], settings, {}
