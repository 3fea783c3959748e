"""Energy and carbon: the sentences from a few rows by hand, and the columns of the page."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, study
from report_tables import evidence, make_report, opened, small_tables
from sweetspot.report.energy_words import in_words
from sweetspot.report.tables import energy_columns

NAN = math.nan
NOTHING = "the study states neither the power of rented machines nor the grid"
EMBODIED = "What making the machines emitted (embodied carbon) is not counted."
SITES = {"sites": [{"provider": "own", "g_per_kwh": {"value": 400, "as_of": "2018", "source": "a grid"}}]}
NAMES = "option title usd kwh kg_co2e kg_co2e_low kg_co2e_high power_basis energy_lacks provider persistent in_answer"
# 350 kWh at 50 g are 17.5 kg, 52.8 kWh at 400 g 21.1 kg.
BOXED = ("box", "office box", 58.0, 52.8, 21.12, 10.6, 42.3, "measured", None, "own", True, True)
CLOUD = ("cloud", "Cloud", 350.0, 350.0, 17.5, 8.77, 35.1, "estimated", None, "aws", True, True)
SPOT = ("spot", "Spot", 20.0, 1.0, 0.1, 0.1, 0.1, "estimated", None, "aws", False, True)
LISTED = ("listed", "Listed", 10.0, 1.0, 0.1, 0.1, 0.1, "estimated", None, "aws", True, False)
PARTS = (
    "measured at the plug for 1 option and estimated (devices × W of the data sheet × host × utilisation) for 1 option"
)


def tables(*rows):
    ranks = pd.DataFrame(rows, columns=NAMES.split()).assign(model="vgg16", workload="w")
    choices = pd.DataFrame([{"workload": "w", "model": "vgg16"}])
    return {"ranks": ranks, "verdict": pd.DataFrame([{"workload": "w"}]), "choices": choices}


def said(*rows, energy=True):
    return in_words(tables(*rows), study(**({"energy": SITES} if energy else {})))


def changed(row, **values):
    return tuple(values.get(name, value) for name, value in zip(NAMES.split(), row, strict=True))


def bare(row, *but):
    """A row without energy or carbon; `but`: the kWh alone."""
    return changed(row, kwh=but[0] if but else NAN, kg_co2e=NAN, kg_co2e_low=NAN, kg_co2e_high=NAN,
                   power_basis="measured" if but else None)  # fmt: skip


CLEANEST = ("Of all machines that cannot be interrupted, Cloud emits least: 17.5 kg CO2e from 350 kWh at 50 g/kWh "
            "(8.77 to 35.1 kg, with all factors low or all high)")  # fmt: skip


def test_who_emits_least_stands_beside_the_cheapest_that_stays_in_the_answer():
    """What can be interrupted, and what the answer leaves out, emit less and count for nothing; one is told once."""
    assert said(CLOUD, CLOUD, BOXED) == [
        f"{CLEANEST}; the cheapest, the office box, emits 21.1 kg CO2e from 52.8 kWh at 400 g/kWh, and "
        "the ranges overlap.",
        f"Power is {PARTS}; ≈ marks what is estimated.", EMBODIED,
    ]  # fmt: skip
    power = said(CLOUD, BOXED, SPOT, LISTED)
    assert power[0].startswith(CLEANEST) and power[1].endswith("for 3 options; ≈ marks what is estimated.")


def test_ranges_apart_are_not_said_to_overlap_and_the_cheapest_may_emit_least():
    apart = said(changed(CLOUD, kg_co2e_high=10.6), BOXED)[0]  # they touch at 10.6 kg
    assert apart.endswith("the cheapest, the office box, emits 21.1 kg CO2e from 52.8 kWh at 400 g/kWh.")
    assert said(BOXED, changed(CLOUD, kg_co2e=22.0))[0].endswith("; it is the cheapest too.")
    unknown = said(bare(BOXED, 52.8), CLOUD)[0]
    assert unknown == f"{CLEANEST}; that of the cheapest, the office box, is not known."


def test_what_is_not_declared_is_said_once_for_each_reason():
    grid = changed(bare(CLOUD, 350.0), energy_lacks="grid intensity of aws")
    told = said(BOXED, grid, changed(grid, option="spot"))
    assert told[2] == "Carbon of 2 of 3 options was not computed: grid intensity of Amazon Web Services is not known."
    dark = changed(bare(CLOUD), energy_lacks="PUE of aws, grid intensity of aws")
    told = said(BOXED, dark, changed(dark, option="spot"))
    why = "PUE and grid intensity of Amazon Web Services are not known"
    assert told[2:] == [f"Energy of 2 of 3 options was not computed: {why}.", EMBODIED]
    told = said(BOXED, dark, changed(grid, option="spot"))
    assert told[2:4] == [f"Energy of 1 of 3 options was not computed: {why}.",
                         f"Carbon of 2 of 3 options was not computed: {why}."]  # fmt: skip
    assert said(dark) == [f"Energy and carbon were not computed: {why}."]
    assert said(grid)[-2] == "Carbon was not computed: grid intensity of Amazon Web Services is not known."


def test_of_many_providers_eight_are_named_and_a_lack_of_no_provider_is_its_own():
    rows = [changed(bare(CLOUD), option=f"o{place}", provider=f"p{place}", energy_lacks=f"PUE of p{place}, utilisation")
            for place in range(10)]  # fmt: skip
    named = ", ".join(f"p{place}" for place in range(8))
    assert said(*rows) == [
        f"Energy and carbon were not computed: PUE of {named} and 2 more; utilisation are not known."
    ]
    named = ", ".join(f"p{place}" for place in range(7))
    assert said(*rows[:8])[0].startswith(f"Energy and carbon were not computed: PUE of {named} and p7; utilisation are")


def test_a_study_that_declares_nothing_says_so_once():
    dark = bare(CLOUD)
    assert said(bare(BOXED, 52.8), dark, changed(dark, option="spot"), energy=False)[1:] == [
        "Power is measured at the plug for 1 option.",
        f"Energy of 2 of 3 options and all carbon were not computed: {NOTHING}.", EMBODIED,
    ]  # fmt: skip
    assert said(dark, energy=False) == []  # nothing declared and nothing known: no note
    assert said(changed(dark, usd=5.0), bare(LISTED, 3.0), energy=False) == []  # known of what the answer leaves out
    assert (
        in_words(tables(), study(energy=SITES))
        == in_words({}, study())
        == in_words({"ranks": tables(BOXED)["ranks"]}, study())
        == []
    )
    without = tables(BOXED) | {"ranks": tables(BOXED)["ranks"].drop(columns="kwh")}
    assert in_words(without, study(energy=SITES)) == []


@pytest.mark.parametrize(("counts", "each"), [("train", " to train VGG-16 once"), ("month", " a month")])
def test_without_carbon_what_the_judged_machine_takes_is_said(counts, each):
    made = tables(bare(BOXED, 52.8), bare(changed(CLOUD, usd=70.0), 350.0))
    made["verdict"] = made["verdict"].assign(counts=counts, currency="USD", usd_per_unit=1.0)
    assert in_words(made, study())[0] == f"The office box takes 52.8 kWh{each}."


def test_which_columns_any_option_has():
    assert energy_columns(tables(bare(CLOUD), BOXED)) == ["kwh", "kg_co2e"]
    assert energy_columns(tables(bare(BOXED, 1.0))) == ["kwh"]
    assert energy_columns(tables(bare(CLOUD))) == energy_columns({}) == []


def market(basis="measured"):
    """The box takes 1 kWh an hour at 400 g, the rented machine 3 at 50 g.

    94,720,000 images: 52.83 hours on the box at 498 images/s, 116.94 on the rented machine at 225.
    """
    given = inputs()
    own = given.costs["instance"] == BOX
    costs = given.costs.assign(
        kwh=own.map({True: 1.0, False: 3.0}) * given.costs["hours"],
        power_basis=own.map({True: basis, False: "estimated"}),
    )
    costs["kg_co2e"] = costs["kwh"] * own.map({True: 0.4, False: 0.05})
    for name in ("kwh", "kg_co2e"):
        costs[f"{name}_low"], costs[f"{name}_high"] = costs[name] / 2, costs[name] * 2
    return replace(given, costs=costs, offers=given.offers.assign(
        power_source="a sheet", grid_source="a grid", energy_lacks=None))  # fmt: skip


@pytest.mark.parametrize(("basis", "sign"), [("measured", "● 52.8"), ("declared", "52.8")])
def test_measured_declared_and_estimated_never_look_alike(basis, sign):
    text = evidence(small_tables(market(basis)))
    for interval, cell in ((f"{basis} power · 26.4 to 106", sign), ("estimated power · 175 to 702", "≈ 351")):
        prefix, _, value = cell.rpartition(" ")
        title = f"{interval} (with all factors low or all high) · a sheet · 2018-07-01"
        link = f'<a class="n {interval.split(" · ")[0]}" href="#p'
        before, _, rest = text.partition(f'title="{title}">{value}</a>')
        assert rest and before.rpartition(link)[0].endswith(f">{prefix} " if prefix else ">")


def test_a_study_without_power_has_no_columns_of_it():
    text = evidence()
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
