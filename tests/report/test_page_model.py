"""The program of the page against the library: three costs, at the study's own figures and at others.

The model is asked with what a control says; the library is given the same in a price list or in the work.
"""

import copy
from functools import cache
from typing import Any

import pytest
from decision_tables import study
from report_tables import browser
from sweetspot.decision.compare import compare
from sweetspot.report.case import evidence_case
from sweetspot.report.finished import ASSETS
from three_kinds import ROUNDS, SHARE, Market, hourly, own, price

WORK = {SHARE: "job", ROUNDS: "work"}
SOLD = {"share": 0.8, "points": [[1.0, 0.8, 0.7, 0.9], [3.0, 0.4, 0.3, 0.6], [5.0, 0.1, 0.0, 0.2]]}
FALLS = {"trend": {"kind": "drift", "change_per_year": -0.1}}
CONTRACT = {"instance": "contract", "purchase": "reserved",
            "commitment": {"term_months": 12, "per_month": 300, "per_hour": 0.5, "charged": "used"}}  # fmt: skip
OFFERS = {
    "plain": (own(), hourly("near", 6.0), hourly("far", 7.0)),
    "discount": (own(discount_rate=0.1), hourly("near", 6.0)),
    "downtime": (own(downtime_share=0.1), hourly("near", 6.0)),
    "all": (own(discount_rate=0.07, downtime_share=0.04, residual=SOLD, days_per_month=20.0),
            hourly("near", 5.0, **FALLS), hourly("far", 9.0), CONTRACT),
    "alone": (own(),),
    "limited": (own(), own("other", capex=10000.0, days_per_month=5.0, kw=0.5), hourly("near", 6.0)),
    "sold": (own(), own("old", capex=0.0, sell_for=30000.0), hourly("near", 6.0)),
    "late and growing": (own() | {"available_from_weeks": 11.0}, hourly("near", 6.0)),
    "two boxes": (own(), own("other", capex=20000.0, months=24.0, residual=3000.0, kw=0.5), hourly("near", 6.0)),
}  # fmt: skip
HAVE = {"sold": ("old",)}
GROWTH = {"late and growing": 0.02}
SPEEDS = {"far": 150.0, "other": 60.0}
# What controls say; `times`: of all prices by the hour, which move with that of the machine that has the control.
MOVED: list[dict[str, float]] = [
    {}, {"days": 25.0}, {"months": 48.0}, {"price": 20000.0}, {"kwh": 0.5}, {"times": 0.6},
    {"days": 8.0, "months": 24.0, "price": 50000.0, "kwh": 0.1, "times": 2.0},
]  # fmt: skip
OF_OWN = {"days": "days_per_month", "months": "months", "kwh": "per_kwh"}
PLAIN, LAST = 0, len(MOVED) - 1  # of MOVED: nothing, and all at once
# Each control by itself where all terms are; the other markets as they are and at all controls together.
ASKED = [(name, moved) for name in OFFERS for moved in range(len(MOVED)) if name == "all" or moved in (PLAIN, LAST)]


def market(name: str, at: dict[str, float], jobs: float = 1.0) -> Market:
    """The market of that name with what the controls say written into its price list."""
    offers = copy.deepcopy(OFFERS[name])
    for one in offers:
        for control, key in OF_OWN.items():
            if "own" in one and control in at:
                one["own"][key] = at[control]
        if "own" in one and one["instance"] == "box" and "price" in at:
            one["own"]["capex"] = at["price"]
        if "per_hour" in one:
            one["per_hour"] *= at.get("times", 1.0)
    return Market(offers, SPEEDS, jobs=100.0 * jobs, months=at.get("months", 36.0),
                  growth=GROWTH.get(name, 0.0), have=HAVE.get(name, ()),
                  allowed=20_000.0 if name == "limited" else None)  # fmt: skip


@cache
def _tables(name: str, moved: int, jobs: float = 1.0) -> dict[str, Any]:
    made = price(market(name, MOVED[moved], jobs))
    found = compare(made.tables, made.settings, 2, monthly=made.works)
    return found | {"offers": made.tables.offers}


@pytest.fixture(scope="module")
def program():
    """Asks the model of the page: name of the market, kind of work, what the controls say."""
    tab = browser().new_page()
    tab.add_script_tag(content=(ASSETS / "model.js").read_text())
    figures = {name: evidence_case(_tables(name, PLAIN), study(reference="box")) for name in OFFERS}

    def ask(name: str, kind: str, at: dict[str, float]) -> Any:
        work = next(n for n, one in enumerate(figures[name]["works"]) if one["workload"] == WORK[kind])
        asked = """([figures, work, at]) => {
          const data = model.unpack(figures), rent = data.works[work].rent?.usd_per_hour;
          const found = model.answer(data, data.works[work], at.times ? { ...at, hourly: at.times * rent } : at);
          return found.best ? found : found.rows.map(row => ({...row, option: row.offer.option}));
        }"""
        return tab.evaluate(asked, [figures[name], work, {"interruptible": True, **at}])

    yield ask
    tab.close()


@pytest.mark.parametrize(("name", "moved"), [one for one in ASKED if one[0] not in HAVE])  # of months have machines
@pytest.mark.parametrize(("kind", "table", "work"), [(SHARE, "options", "job"), (ROUNDS, "choices", "work")])
def test_a_job_and_a_plan_of_phases_cost_what_the_library_says(program, name, moved, kind, table, work):
    options = _tables(name, moved)[table]
    options = options[options["workload"] == work].set_index("option" if kind == SHARE else "choice")
    rows = {row["option"]: row for row in program(name, kind, MOVED[moved])}
    assert set(rows) == set(options.index)
    for option, row in rows.items():
        expected = options.loc[option]
        assert (row["usd"], row["hours"]) == pytest.approx((expected["usd"], expected["hours"]), rel=1e-9), option


@pytest.mark.parametrize("jobs", [0.5, 2.0])
def test_more_work_costs_what_the_library_says(program, jobs):
    """Twice as many jobs a month; the control makes each job longer, which costs as much here."""
    choices = _tables("all", PLAIN, jobs)["choices"]
    expected = choices[choices["cost"] == ROUNDS].set_index("choice")["usd"]
    rows = program("all", ROUNDS, {"jobs": 100.0 * jobs})
    assert {row["option"]: row["usd"] for row in rows} == pytest.approx(expected.to_dict(), rel=1e-2)
