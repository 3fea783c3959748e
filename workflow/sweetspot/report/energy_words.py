"""Energy and carbon on the page: which columns are shown, and the sentences beside them."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.bills.energy import ESTIMATED, GRAMS_A_KG, METERED
from sweetspot.report.notation import interval_text, missing, records
from sweetspot.report.tables import Tables, asked_model, counted_in, judged_option, table_of
from sweetspot.study.study import Study
from sweetspot.wording import amount, begun, counted, listed, the

ENDS = "with all factors low or all high"
LACKING = 8  # providers without a declaration that one sentence names
POWER = {
    "measured": "measured at the plug",
    METERED: "measured by the counters of devices and processor (without supplies and fans)",
    "declared": "that of the price list",
    ESTIMATED: "estimated (devices × W of the data sheet × host × utilisation)",
}


def in_words(tables: Tables, study: Study) -> list[str]:
    """The sentences on energy and carbon, each with what it leaves out; none where there is nothing to say."""
    ranks, model = table_of(tables, "ranks"), asked_model(tables)
    if ranks.empty or not model or "kwh" not in ranks.columns:
        return []
    options = ranks.drop_duplicates("option")
    powered = options[options["kwh"].notna()]
    if powered.empty and study.energy is None:
        return []  # nothing was stated, so there is nothing to say
    if powered.empty:
        return [f"Energy and carbon were not computed: {_why_not(options, study)}."]
    rows = ranks[ranks["model"] == model].drop_duplicates("option")
    once = f" to train {study.model_title(model)} once"
    least = _least(rows, judged_option(tables, model), counted_in(tables).each, once)
    if study.energy is None and not least:
        return []  # the only power known is that of a price list which the answer leaves out
    said = [*least, _power(powered)]
    return [*said, *_left_out(options, study), "What making the machines emitted (embodied carbon) is not counted."]


def _left_out(options: pd.DataFrame, study: Study) -> list[str]:
    """For how many options energy or carbon is not known, and what is not declared."""
    dark, unclean = options[options["kwh"].isna()], options[options["kg_co2e"].isna()]
    total = len(options)
    if len(unclean) == total:
        what = f"Energy of {len(dark)} of {total} options and all carbon were" if len(dark) else "Carbon was"
        return [f"{what} not computed: {_why_not(unclean, study)}."]
    said = [f"Energy of {len(dark)} of {total} options was not computed: {_why_not(dark, study)}."] if len(dark) else []
    if len(unclean) > len(dark):
        said.append(f"Carbon of {len(unclean)} of {total} options was not computed: {_why_not(unclean, study)}.")
    return said


def _least(rows: pd.DataFrame, judged: str, each: str, once: str) -> list[str]:
    """Who emits least, and what the cheapest does; without any carbon what the judged machine takes."""
    stays = rows[rows["in_answer"].astype(bool) & rows["persistent"].astype(bool)].sort_values("usd", kind="stable")
    clean = stays[stays["kg_co2e"].notna()]
    if clean.empty:
        found = rows[rows["option"] == judged]
        known = records(found.dropna(subset="kwh"))
        return [begun(f"{the(row['title'])} takes {amount(row['kwh'])} kWh{each or once}.") for row in known]
    best, cheapest = clean.loc[clean["kg_co2e"].idxmin()], stays.iloc[0]
    span = interval_text(best["kg_co2e_low"], best["kg_co2e_high"])
    least = (
        f"Of all machines that cannot be interrupted, {the(best['title'])} emits least: "
        f"{_both(best)}{each} ({span} kg, {ENDS})"
    )
    if best["option"] == cheapest["option"]:
        return [f"{least}; it is the cheapest too."]
    if missing(cheapest["kg_co2e"]):
        return [f"{least}; that of the cheapest, {the(cheapest['title'])}, is not known."]
    overlap = ", and the ranges overlap" if best["kg_co2e_high"] > cheapest["kg_co2e_low"] else ""
    return [f"{least}; the cheapest, {the(cheapest['title'])}, emits {_both(cheapest)}{overlap}."]


def _both(row: pd.Series) -> str:
    grid = GRAMS_A_KG * row["kg_co2e"] / row["kwh"]
    return f"{amount(row['kg_co2e'])} kg CO2e from {amount(row['kwh'])} kWh at {amount(grid)} g/kWh"


def _power(powered: pd.DataFrame) -> str:
    counts = powered["power_basis"].value_counts()
    told = [f"{words} for {counted(int(counts[basis]), 'option', 'options')}" for basis, words in POWER.items()
            if basis in counts]  # fmt: skip
    sign = "; ≈ marks what is estimated" if ESTIMATED in counts else ""
    return f"Power is {listed(told)}{sign}."


def _why_not(options: pd.DataFrame, study: Study) -> str:
    if study.energy is None:
        return "the study states neither the power of rented machines nor the grid"
    whose: dict[str, list[str]] = {}
    for told, provider in options[["energy_lacks", "provider"]].dropna().itertuples(index=False):
        for part in str(told).split(", "):
            what, of, _ = part.partition(f" of {provider}")
            whose.setdefault(what, []).extend([study.provider_title(str(provider))] if of else [])
    alike: dict[tuple[str, ...], list[str]] = {}
    for what, providers in whose.items():
        alike.setdefault(tuple(dict.fromkeys(providers)), []).append(what)
    names = [listed(whats) + (f" of {_some(providers)}" if providers else "") for providers, whats in alike.items()]
    return f"{'; '.join(names)} {'is' if len(whose) == 1 else 'are'} not known"


def _some(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = [f"{len(names) - LACKING} more"] if len(names) > LACKING else []
    return listed([*names[:LACKING], *more])
