"""Costs along the controls of the page, of tables of a few rows, and the page with a control moved."""

import pandas as pd
import pytest
from report_tables import opened
from sweetspot.report.outcome import Outcome
from sweetspot.report.sentences import sentence
from sweetspot.report.what_if import sweeps_of
from sweetspot.wording import Money


def rows(quantity, *lines, values=(0.5, 1.0, 2.0)):
    """Rows of comparison/sweeps.parquet: of each (commitment, USD at the values), the second as planned."""
    return [
        {"workload": "w", "quantity": quantity, "control": f"the {quantity}", "unit": "times the plan", "value": value,
         "is_planned": value == values[1], "commitment": commitment, "title": f"{commitment} {value:g}", "usd": usd,
         "usd_low": 0.9 * usd, "usd_high": 1.2 * usd, "p_cheapest": 0.75}
        for commitment, costs in lines for value, usd in zip(values, costs, strict=True)
    ]  # fmt: skip


CHOICES = pd.DataFrame(
    [(None, "w", "keep", "nothing", 700.0), (None, "w", "rent", "nothing", 800.0), (None, "w", "mix", "buy", 1000.0),
     ("too late", "w", "rent", "contract", 1.0)],
    columns=["why_not", "workload", "kind", "commitment", "usd"]
)  # fmt: skip
BOTH = ("buy", (900.0, 1000.0, 1100.0)), ("nothing", (400.0, 800.0, 1600.0))


def found(*table, work_factor=None):
    verdict = Outcome.model_construct(workload="w", work_factor=work_factor)
    return sweeps_of({"sweeps": pd.DataFrame(table), "choices": CHOICES}, verdict)


def test_each_kind_is_a_line_and_what_costs_far_more_is_none():
    # Four times the cheapest as planned, 800, is the limit but for the runner-up; a line that ends early is none.
    far = ("contract", (1.0, 3201.0, 1.0))
    (sweep,) = found(*rows("jobs", *BOTH, far))
    assert [(line.kind, line.usd) for line in sweep.lines] == [("buy", list(BOTH[0][1])), ("keep", list(BOTH[1][1]))]
    assert sweep.lines[0].high == [1080.0, 1200.0, 1320.0] and sweep.lines[0].titles[2] == "buy 2"
    assert (sweep.values, sweep.planned, sweep.best) == ([0.5, 1.0, 2.0], 1, ["keep", "keep", "buy"])
    (alone,) = found(*rows("jobs", *BOTH)[1:])
    assert [line.kind for line in alone.lines] == ["keep"]
    (pair,) = found(*rows("jobs", BOTH[1], ("buy", (1.0, 3201.0, 1.0)), ("contract", (1.0, 3202.0, 1.0))))
    assert [line.kind for line in pair.lines] == ["keep", "buy"]


@pytest.mark.parametrize(("quantity", "factor", "shown"), [
    ("jobs", 1.25, 1.25), ("per_month", 1.25, 1.25), ("jobs", 2.0, None), ("jobs", None, None), ("rents", 1.25, None)
])  # fmt: skip
def test_from_where_buying_pays_stands_on_the_axis_of_work_alone(quantity, factor, shown):
    assert found(*rows(quantity, *BOTH), work_factor=factor)[0].buying_pays_from == shown


def test_another_work_has_none_and_controls_keep_their_order():
    assert found() == [] and found(*[row | {"workload": "x"} for row in rows("jobs", *BOTH)]) == []
    assert [sweep.quantity for sweep in found(*rows("rents", *BOTH), *rows("jobs", *BOTH))] == ["rents", "jobs"]


def test_a_tie_on_the_slider_is_called_one():
    (sweep,) = found(*rows("jobs", *BOTH))
    assert sentence("moved", sweep, 0, Money()) == "The jobs 0.5 × plan: a toss-up."
    sure = sweep.model_copy(
        update={"lines": [line.model_copy(update={"p_cheapest": [0.96] * 3}) for line in sweep.lines]}
    )
    assert sentence("moved", sure, 2, Money()) == "The jobs 2 × plan: buy (clear)."


@pytest.mark.slow
@pytest.mark.browser
def test_a_control_moves_the_answer_by_keyboard_and_back_brings_the_last_one(study_results):
    """Of the office box: at three times the work three boxes cost less than renting, as planned it is a toss-up."""
    file = study_results("office-box-2026") / "report" / "index.html"
    with opened(file) as (tab, noise):
        assert not tab.locator("#moved").is_visible()
        tab.locator("#what-if > summary").click()
        work, rents = (tab.locator(f"#what-if input[name={name}]") for name in ("jobs", "rents"))
        planned, status = tab.inner_text("#moved p"), tab.locator("#moved [role=status]")
        work.focus()
        tab.keyboard.press("End")
        assert "3 × plan" in status.inner_text() and tab.url.endswith("#jobs=12")
        assert tab.inner_text("#moved li >> nth=0").startswith("Buy: 3 × office box with 4 RTX 4090, ")
        assert work.get_attribute("aria-valuetext") == "3 × plan"
        rents.focus()
        tab.keyboard.press("Home")  # the work goes back to its plan
        assert status.inner_text().endswith(": rent (clear).") and work.input_value() == "6"
        tab.go_back()
        assert "3 × plan" in status.inner_text() and rents.input_value() == "6"
        tab.goto(file.as_uri())
        assert tab.inner_text("#moved p") in ("", planned)
        assert noise == []
    with opened(file, javascript=False) as (tab, _):
        tab.evaluate("document.getElementById('what-if').open = true")
        assert tab.locator("#what-if svg").count() == 6 and not tab.locator("#what-if input >> nth=0").is_visible()
