"""One job, machine against machine: the figures that carry its answer, the options that it names, all models."""

import pandas as pd
from markupsafe import Markup

from sweetspot.decision.counted import Words, amount, the
from sweetspot.report import energy_words
from sweetspot.report.cited import Cited, Row, records, text
from sweetspot.report.notation import interval_text, missing, number
from sweetspot.report.words import counted_in

# Who stands in the table of the first screen, in this order; columns of the headline.
ROLES = {
    "reference": "what the question is about",
    "winner": "the answer",
    "alternative": "held against it",
    "by_hour": "cheapest by the hour",
    "cheapest_of_all": "cheapest of all",
    "fastest": "fastest",
    "least_carbon": "least carbon",
}
Table = dict[str, list[object]]


def answer(cited: Cited) -> dict[str, object] | None:
    """The key figures, the options named, and all models; None without a priced option.

    Keys: `lead` (sentences on the claims that lead), `reference` (its title), `figures` (label, value, interval),
    `options` and `by_model` (tables: head, rows).
    """
    headline = cited.table("headline")
    if headline.empty:
        return None
    first = records(headline.head(1))[0]
    models = records(headline[headline["scope"] == "model"])
    return {
        "reference": first["reference_title"],
        "lead": lead(cited.table("claims")),
        "figures": _figures(cited, first),
        "options": _options(cited, first, counted_in(cited.tables)),
        "by_model": _by_model(cited, models),
    }


def lead(claims: pd.DataFrame) -> list[str]:
    """The claims that lead, each as printed beside what is recomputed."""
    rows = claims[claims["lead"].fillna(False).astype(bool)] if "lead" in claims.columns else claims.head(0)
    return [_printed_beside_recomputed(row) for row in records(rows)]


def _printed_beside_recomputed(row: Row) -> str:
    unit = f" {text(row['unit'])}" if text(row["unit"]) else ""
    printed = "not printed" if missing(row["printed"]) else f"{amount(float(str(row['printed'])))}{unit} printed"
    if missing(row["computed"]):
        return f"{text(row['text'])}: {printed}, {text(row['verdict'])}."
    found = "" if text(row["verdict"]) in ("holds", "not printed") else f" ({text(row['verdict'])})"
    return f"{text(row['text'])}: {printed}, {amount(float(str(row['computed'])))} recomputed{found}."


def _figures(cited: Cited, first: Row) -> list[tuple[str, Markup, str]]:
    """Key figures as (label, value, interval): how much cheaper, how sure, from which use owning pays."""
    step = f"comparison of {cited.study.name}, by simulation"
    found = []
    if not missing(first["gain"]):
        box = ranked(cited.table("ranks"), first, first["reference"])
        facts = for_the_winner(first) | {"basis": box["basis"]}
        loser = first["alternative_title" if float(first["gain"]) > 1 else "reference_title"]  # type: ignore[arg-type]
        winner, span = the(text(first["winner_title"])), _span(facts, "gain")
        several = len(set(cited.table("headline")["model"])) > 1
        on = f"on {first['model_title']}, " if several else ""
        label = f"{on}times cheaper: {winner} than {the(text(loser))}"
        found.append((label, cited.made(facts, "gain", step, unit="×"), span))
        if span:
            chance = cited.probability(facts, "p_cheaper", step)
            found.append((f"{on}probability that {winner} is cheaper", chance, ""))
        if not missing(first["planned_days"]):
            days = facts | ({"days": "never"} if missing(first["days"]) else {})
            found.append(("days of use a month to break even", cited.made(days, "days", step), _span(first, "days")))
    return found


def _options(cited: Cited, first: Row, words: Words) -> Table:
    """The options that the sentences name, with what each costs and takes."""
    told: dict[object, list[str]] = {}
    for column, role in roles_of(first).items():
        if not missing(first[column]) and (words.hours or column != "fastest"):
            told.setdefault(first[column], []).append(role)
    head = ["option", words.usd.format(model=first["model_title"])]
    head += [words.hours.format(model=first["model_title"])] if words.hours else []
    named = [ranked(cited.table("ranks"), first, option) for option in told]
    powered = [name for name in energy_words.shown(cited.tables) if not all(missing(row[name]) for row in named)]
    head += [energy_words.SHOWN[name] for name in powered]
    rows = []
    for row, roles in zip(named, told.values(), strict=True):
        source = f"{text(row['source'])} ; price: {text(row['price_source'])}"
        names = ("usd", "hours") if words.hours else ("usd",)
        cells = [(cited.made(row, name, source), _span(row, name)) for name in names]
        cells += [(energy_words.figure(cited, row, name), "") for name in powered]
        rows.append((text(row["title"]), ", ".join(roles), cells))
    return {"head": list(head), "rows": list(rows)}


def _by_model(cited: Cited, models: list[dict[str, object]]) -> Table:
    """Where there are several models: who is the cheapest and the fastest on each, beside the reference."""
    if len(models) < 2:
        return {"head": [], "rows": [], "caption": []}
    step = "comparison: headline"
    taken = any(row["cheapest_of_all"] != row["winner"] for row in models)
    moved = any(row["winner"] != row["reference"] for row in models)
    shares = ("cost_share", "hours_share") if moved else ()
    rows = [
        [
            text(row["model_title"]),
            text(row["winner_title"]),
            *(cited.made(row, name, step, unit="×") for name in shares),
            cited.made(row if missing(row["gain"]) else for_the_winner(row), "gain", step, unit="×"),
            text(row["confidence"]),
            text(row["fastest_title"]),
            cited.made(row, "fastest_hours_share", step, unit="×"),
            *([text(row["cheapest_of_all_title"])] if taken else []),
        ]
        for row in models
    ]
    head = ["model", "cheapest", *(("its cost", "its time") if moved else ()), "times cheaper than its rival"]
    head += ["how sure", "fastest", "its time", *(["cheapest of all"] if taken else [])]
    judged = the(text(models[0]["reference_title"]))
    return {
        "head": list(head),
        "rows": list(rows),
        "caption": [f"In this table {'costs and times' if moved else 'times'} are multiples of those of {judged}."],
    }


def roles_of(first: Row) -> dict[str, str]:
    """The roles by their column of the headline; what wins is not said to be held against."""
    return {name: role for name, role in ROLES.items() if name != "alternative" or first[name] != first["winner"]}


def ranked(ranks: pd.DataFrame, first: Row, option: object) -> dict[str, object]:
    """The row of an option, of the answer's model, in the ranks."""
    return records(ranks[(ranks["model"] == first["model"]) & (ranks["option"] == option)].head(1))[0]


def for_the_winner(row: Row) -> dict[str, object]:
    """The headline with gain and probability of the cheaper of the two: a gain below 1 is turned over."""
    if float(row["gain"]) > 1:  # type: ignore[arg-type]
        return dict(row)
    low, gain, high = (1 / float(row[name]) for name in ("gain_high", "gain", "gain_low"))  # type: ignore[arg-type]
    chance = 1 - float(row["p_cheaper"])  # type: ignore[arg-type]
    return dict(row) | {"gain": gain, "gain_low": low, "gain_high": high, "p_cheaper": chance}


def _span(row: Row, name: str) -> str:
    """The interval of a figure; nothing where both ends print alike."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    ends = interval_text(low, high)
    return f"{ends} (90 %)" if ends and number(low) != number(high) else ""
