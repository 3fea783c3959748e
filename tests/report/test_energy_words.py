"""Energy and carbon on the page: what is estimated has a sign of its own, and what is left out is said."""

from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, study
from report_tables import make_report, opened, small_tables
from sweetspot.report import energy_words
from sweetspot.report.energy_words import in_words

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
def test_measured_declared_and_estimated_never_look_alike(tmp_path, basis, shown):
    page = make_report(tmp_path, small_tables(market(basis))) / "evidence.html"
    text = page.read_text()
    assert (
        f'title="{basis} power · 26.4 to 106 (with all factors low or all high) · a sheet · 2018-07-01">{shown}</a>'
        in text
    )
    assert (
        'title="estimated power · 175 to 702 (with all factors low or all high) · a sheet · 2018-07-01">≈ 351</a>'
        in text
    )
    assert 'a sheet ; a grid · 2018-07-01">≈ 17.5</a>' in text


def test_a_study_without_power_has_no_columns_of_it(tmp_path):
    tables = small_tables()
    assert energy_words.shown(tables) == []
    text = (make_report(tmp_path, tables) / "evidence.html").read_text()
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
