"""What stands at the top of the page: the answer in two sentences, and the figures that carry it."""

from sweetspot.report.cited import Cited, Row, records, text
from sweetspot.report.notation import interval_text, missing


def answer(cited: Cited) -> dict[str, object] | None:
    """The two sentences, the key figures, and the sentences of every model; None without two priced options."""
    headline = cited.table("headline")
    if headline.empty:
        return None
    first = records(headline.head(1))[0]
    rows = cited.table("ranks")
    box = rows[(rows["model"] == first["model"]) & (rows["option"] == first["reference"])].head(1).pipe(records)[0]
    step = f"comparison of {cited.study.name}, by simulation"
    facts = _for_the_winner(first) | {"basis": box["basis"]}
    loser = first["alternative" if first["gain"] > 1 else "reference"]
    figures = [
        (f"times cheaper: {first['winner']} than {loser}", cited.made(facts, "gain", step, unit="×"),
         _span(facts, "gain")),
        (f"probability that {first['winner']} is cheaper", cited.probability(facts, "p_cheaper", step), ""),
    ]  # fmt: skip
    if not missing(first["planned_days"]):
        days = facts | ({"days": "never"} if missing(first["days"]) else {})
        label = "days of use a month to break even"
        figures.append((label, cited.made(days, "days", step), _span(first, "days")))
    figures += [
        (f"USD to train {first['model']} once", cited.made(box, "usd", text(box["source"])), _span(box, "usd")),
        ("hours to train it", cited.made(box, "hours", text(box["source"])), _span(box, "hours")),
    ]  # fmt: skip
    models = headline[headline["scope"] == "model"].to_dict("records")
    return {name: first[name] for name in ("first", "second", "reference")} | {"figures": figures, "models": models}


def _for_the_winner(row: Row) -> dict[str, object]:
    """The headline with gain and probability of the cheaper of the two: a gain below 1 is turned over."""
    if float(row["gain"]) > 1:  # type: ignore[arg-type]
        return dict(row)
    low, gain, high = (1 / float(row[name]) for name in ("gain_high", "gain", "gain_low"))  # type: ignore[arg-type]
    chance = 1 - float(row["p_cheaper"])  # type: ignore[arg-type]
    return dict(row) | {"gain": gain, "gain_low": low, "gain_high": high, "p_cheaper": chance}


def _span(row: Row, name: str) -> str:
    ends = interval_text(row.get(f"{name}_low"), row.get(f"{name}_high"))
    return f"{ends} (90 %)" if ends else ""
