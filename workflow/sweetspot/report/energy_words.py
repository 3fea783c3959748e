"""Energy and carbon on the page: which columns are shown, and the sentences beside them."""

from collections.abc import Mapping

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.energy import ESTIMATED
from sweetspot.decision.certainty import amount
from sweetspot.decision.counted import counted, listed
from sweetspot.report.cited import Cited, Row, text
from sweetspot.report.notation import interval_text, missing, number
from sweetspot.report.tables import Tables, table_of
from sweetspot.report.words import counted_in
from sweetspot.study.study import Study

ENDS = "every factor at that end"
SHOWN = {"kwh": "kWh", "kg_co2e": "kg CO2e"}
LACKING = 8  # things not declared that one sentence names
POWER = {
    "measured": "measured at the plug",
    "declared": "declared in the price list",
    ESTIMATED: "estimated (devices × W of the data sheet × host × utilisation)",
}


def shown(tables: Tables) -> list[str]:
    """Which of `kwh`, `kg_co2e` any option has."""
    ranks = table_of(tables, "ranks")
    return [name for name in SHOWN if name in ranks.columns and ranks[name].notna().any()]


def figure(cited: Cited, row: Row, name: str) -> Markup:
    """`kwh` or `kg_co2e` of a row of the ranks; what rests on estimated power stands behind a sign of its own."""
    value, ends = row[name], (row[f"{name}_low"], row[f"{name}_high"])
    if missing(value):
        return cited.origin.cite(value)
    mark = "≈ " if row["power_basis"] == ESTIMATED else ""
    source = text(row["power_source"])
    if name == "kg_co2e":
        source += f" ; {text(row['grid_source'])}"
    basis = f"{text(row['power_basis'])} power"
    return cited.origin.cite(mark + number(value), basis, source, cited.study.as_of, *ends, level=ENDS)


def in_words(tables: Tables, study: Study) -> list[str]:
    """The sentences on energy and carbon, each with what it leaves out; none where the study has no answer."""
    ranks, headline = table_of(tables, "ranks"), table_of(tables, "headline")
    if ranks.empty or headline.empty or "kwh" not in ranks.columns:
        return []
    options = ranks.drop_duplicates("option")
    powered, clean = options[options["kwh"].notna()], options[options["kg_co2e"].notna()]
    if powered.empty:
        return [f"Energy and carbon were not computed: {_why_not(options, study)}."]
    said = [*_least(ranks, headline.iloc[0], counted_in(tables).each), _power(powered)]
    for what, known in {"Energy": powered, "Carbon": clean}.items():
        rest = options[~options["option"].isin(known["option"])]
        if len(rest) and (what == "Energy" or len(clean) < len(powered)):
            said.append(f"{what} was not computed for {len(rest)} of {len(options)} options: {_why_not(rest, study)}.")
    return [*said, "What making the machines emitted (embodied carbon) is not counted."]


def _least(ranks: pd.DataFrame, first: Mapping[str, object], each: str) -> list[str]:
    """Who emits least, and what the cheapest does."""
    if missing(first["least_carbon"]):
        return []
    rows = ranks[ranks["model"] == first["model"]].drop_duplicates("option").set_index("option")
    best, cheapest = rows.loc[first["least_carbon"]], rows.loc[first["winner"]]
    span = interval_text(best["kg_co2e_low"], best["kg_co2e_high"])
    least = f"{best['title']} emits least of those that stay: {_both(best)}{each} ({span} kg, {ENDS})"
    if first["least_carbon"] == first["winner"]:
        return [f"{least}; it is the cheapest too."]
    if missing(cheapest["kg_co2e"]):
        return [f"{least}; that of the cheapest, {cheapest['title']}, is not known."]
    overlap = ", and the ranges overlap" if best["kg_co2e_high"] > cheapest["kg_co2e_low"] else ""
    return [f"{least}; the cheapest, {cheapest['title']}, {_both(cheapest)}{overlap}."]


def _both(row: pd.Series) -> str:
    return f"{amount(row['kg_co2e'])} kg CO2e from {amount(row['kwh'])} kWh"


def _power(powered: pd.DataFrame) -> str:
    counts = powered["power_basis"].value_counts()
    told = [f"{words} for {counted(int(counts[basis]), 'option', 'options')}" for basis, words in POWER.items()
            if basis in counts]  # fmt: skip
    sign = "; ≈ marks what is estimated" if ESTIMATED in counts else ""
    return f"Power is {listed(told)}{sign}."


def _why_not(options: pd.DataFrame, study: Study) -> str:
    """What is not declared, of options that lack it."""
    if study.energy is None:
        return "study.yaml declares no power of rented machines and no grid (key energy)"
    lacks = [part for told in options["energy_lacks"].dropna() for part in str(told).split(", ")]
    names = list(dict.fromkeys(lacks))
    rest = f" and {len(names) - LACKING} more" if len(names) > LACKING else ""
    return f"not declared: {', '.join(names[:LACKING])}{rest}"
