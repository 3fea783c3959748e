"""What stands on the page: the answer, and tables whose every figure links to its origin."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from sweetspot.config import Study
from sweetspot.report.provenance import Provenance
from sweetspot.report.tables import Tables
from sweetspot.report.words import missing

ROWS = 400  # of one table in the page; the files beside it hold all
Cell = Markup | str


@dataclass(frozen=True)
class Part:
    """A table of the page. `kinds`: `num` or empty by column; `left_out`: rows that only the files hold."""

    name: str
    head: tuple[str, ...]
    rows: list[list[Cell]]
    classes: list[str]
    left_out: int = 0


def answer(tables: Tables, study: Study, origin: Provenance) -> dict[str, object] | None:
    """The two sentences, the key figures, and the sentences of every model; None without two priced options."""
    headline = tables.get("headline", pd.DataFrame())
    if headline.empty:
        return None
    first = headline.iloc[0]
    rows = tables["ranks"]
    rows = rows[(rows["model"] == first["model"]) & (rows["option"] == first["reference"])]
    box = rows.iloc[0]
    made = f"comparison of {study.name}, from 4,000 draws; see docs/decision.md"
    facts = {"basis": box["basis"], "source": made, "date": str(study.as_of)}
    gain = origin.cite(first["gain"], low=first["gain_low"], high=first["gain_high"], ident="gain", unit="×", **facts)
    days = origin.cite(first["days"], low=first["days_low"], high=first["days_high"], ident="days", **facts)
    figures = [
        ("times cheaper than the cheapest rival that stays", gain, _span(first, "gain")),
        ("probability that it is cheaper", origin.cite(100 * first["p_cheaper"], unit="%", digits=2, ident="p", **facts), ""),
        ("days of use a month to break even", days, _span(first, "days")),
        (f"USD to train {first['model']} once", origin.cite(box["usd"], low=box["usd_low"], high=box["usd_high"],
         basis=box["basis"], source=box["source"], date=box["as_of"], ident="usd"), _span(box, "usd")),
        ("hours to train it", origin.cite(box["hours"], low=box["hours_low"], high=box["hours_high"], basis=box["basis"],
         source=box["source"], ident="hours"), _span(box, "hours")),
    ]  # fmt: skip
    return {"first": first["first"], "second": first["second"], "figures": figures, "reference": first["reference"],
            "models": headline[headline["scope"] == "model"].to_dict("records")}  # fmt: skip


def _span(row: pd.Series, name: str) -> str:
    from sweetspot.report.words import interval_text

    return interval_text(row.get(f"{name}_low"), row.get(f"{name}_high"))


def parts(tables: Tables, study: Study, origin: Provenance) -> dict[str, Part]:
    """The page's tables by name; a table that the study lacks is empty."""
    made = {
        "recommendation": _recommendation(tables, study, origin),
        "ranks": _ranks(tables, origin),
        "break_even": _break_even(tables, study, origin),
        "front": _front(tables, study, origin),
        "tornado": _tornado(tables, study, origin),
        "throughput": _throughput(tables, study, origin),
        "efficiency": _efficiency(tables, study, origin),
        "extrapolation": _extrapolation(tables, study, origin),
        "validation": _validation(tables, origin),
        "claims": _claims(tables, origin),
        "offers": _offers(tables, origin),
    }
    return {name: part for name, part in made.items() if part is not None}


def _part(name: str, head: str, rows: Iterable[list[Cell]], classes: Iterable[str] | None = None) -> Part:
    every = list(rows)
    kinds = list(classes) if classes is not None else [""] * len(every)
    return Part(name, tuple(head.split("|")), every[:ROWS], kinds[:ROWS], max(0, len(every) - ROWS))


def _records(tables: Tables, name: str) -> list[dict[str, object]]:
    return tables[name].to_dict("records") if name in tables else []


def _text(value: object) -> str:
    return "" if missing(value) else str(value)


def _ranks(tables: Tables, origin: Provenance) -> Part:
    rows, classes = [], []
    for row in _records(tables, "ranks"):
        source = f"{_text(row['source'])} ; price: {_text(row['price_source'])}"
        facts = {"basis": row["basis"], "source": source, "date": row["as_of"]}
        rows.append([
            _text(row["model"]), _text(row["option"]), _text(row["workload"]),
            *(origin.cite(row[name], low=row[f"{name}_low"], high=row[f"{name}_high"], ident=f"{name}|{row['option']}|{row['workload']}|{row['model']}", **facts)
              for name in ("images_per_s", "images_per_usd", "hours", "usd")),
            origin.cite(row["usd_per_hour"], basis="published", source=row["price_source"], date=row["as_of"]),
            _text(row["rank"]), _text(row["rank_hours"]),
        ])  # fmt: skip
        classes.append("" if row["persistent"] else "fleeting")
    head = "model|option|workload|images/s|images per USD|hours|USD|USD/hour|by money|by time"
    return _part("ranks", head, rows, classes)


def _break_even(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows = [
        [
            _text(row["model"]), _text(row["option"]),
            *(origin.cite(row[name], row["basis"], "comparison: break-even", study.as_of, row[low], row[high], ident=f"{name}|{row['option']}|{row['model']}")
              for name, low, high in (("days", "days_low", "days_high"), ("twice_as_cheap_days", "twice_low", "twice_high"), ("gain_at_use", "gain_low", "gain_high"))),
            origin.cite(100 * row["p_cheaper"], row["basis"], "comparison: break-even", study.as_of, digits=2, unit="%"),
            _text(row["verdict"]),
        ]
        for row in _records(tables, "break_even")
    ]  # fmt: skip
    return _part(
        "break_even", "model|against|break-even days|twice as cheap|gain at planned use|P(cheaper)|verdict", rows
    )


def _recommendation(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows = [
        [
            _text(row["phase"]), _text(row["option"]), _text(row["verdict"]),
            origin.cite(row["margin"], "", "comparison: recommendation", study.as_of, row["margin_low"], row["margin_high"], unit="×"),
            origin.cite(100 * float(row["probability"]), "", "comparison: recommendation", study.as_of, digits=2, unit="%"),
            _text(row["balanced"]), _text(row["reason"]), _text(row["would_change"]),
        ]
        for row in _records(tables, "recommendation")
    ]  # fmt: skip
    head = (
        "phase|cheapest that stays|how sure|margin|probability|best balance of time and money|why|what would change it"
    )
    return _part("recommendation", head, rows)


def _front(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows, classes = [], []
    for row in _records(tables, "frontier"):
        facts = (row["basis"], "comparison: front of time and money", study.as_of)
        rows.append([
            _text(row["workload"]), _text(row["model"]), _text(row["option"]), origin.cite(row["hours"], *facts), origin.cite(row["usd"], *facts),
            "on the front" if row["on_front"] else f"beaten by {_text(row['dominated_by'])}", _text(row["risk"]),
            origin.cite(100 * float(row["p_on_front"]), *facts, digits=2, unit="%"),
        ])  # fmt: skip
        classes.append("good" if row["on_front"] else "")
    return _part("front", "workload|model|option|hours|USD|front|risk|share of draws on it", rows, classes)


def _tornado(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows = [
        [
            _text(row["model"]), _text(row["assumption"]), _text(row["unit"]),
            *(origin.cite(row[name], "", f"range: {_text(row['range_basis'])}", study.as_of) for name in ("value", "low", "high", "margin_low", "margin_high")),
            _text(row["text"]),
        ]
        for row in _records(tables, "tornado")
    ]  # fmt: skip
    return _part(
        "tornado", "model|assumption|unit|value|low|high|margin at low|margin at high|what flips the winner", rows
    )


def _throughput(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows, classes = [], []
    for row in _records(tables, "throughput"):
        low, high = row["images_per_s_low"], row["images_per_s_high"]
        figure = origin.cite(
            row["images_per_s"], row["basis"], row["source"], row.get("as_of", ""), low, high, level="95 %"
        )
        failed = row["status"] in ("failed", "oom")
        rows.append([
            _text(row["instance"]), _text(row["gpu"]), _text(row["framework"]), _text(row["model"]), _text(row["batch_size"]), _text(row["gpus"]),
            _text(row["precision"]), _text(row["variant"]), figure, _text(row["unit"]), _text(row["status"]), _text(row["basis"]).replace("_", "-"),
            _text(row["warning"]),
        ])  # fmt: skip
        classes.append("failed" if failed else "")
    # Measured first: with very many cells those of this machine stay in the page.
    order = sorted(range(len(rows)), key=lambda n: (rows[n][11] != "measured", n))
    head = "instance|device|framework|model|batch|devices|precision|variant|rate|per second|status|basis|warning"
    return _part("throughput", head, [rows[n] for n in order], [classes[n] for n in order])


def _efficiency(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows = [
        [f"{_text(row['base_instance'])} → {_text(row['instance'])}", *(_text(row[name]) for name in ("gpus", "model", "batch_size", "precision", "variant")),
         origin.cite(row["efficiency"], row["basis"], row["source"], study.as_of, digits=2)]
        for row in _records(tables, "efficiency")
    ]  # fmt: skip
    return _part("efficiency", "pair|devices|model|batch|precision|variant|efficiency", rows)


def _extrapolation(tables: Tables, study: Study, origin: Provenance) -> Part:
    rows = [
        [
            _text(row["instance"]), _text(row["model"]), _text(row["batch_size"]), _text(row["method"]).replace("_", " "),
            origin.cite(row["images_per_s"], row["basis"], row["source"], study.as_of, row["images_per_s_low"], row["images_per_s_high"]),
            origin.cite(row["efficiency"], row["basis"], row["source"], study.as_of), "used for the answer" if row["headline"] else "",
        ]
        for row in _records(tables, "extrapolation")
    ]  # fmt: skip
    classes = ["good" if row[-1] else "" for row in rows]
    return _part("extrapolation", "machine|model|batch|method|images/s|efficiency|role", rows, classes)


def _validation(tables: Tables, origin: Provenance) -> Part | None:
    names = ("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90")
    if "validation" not in tables or not len(tables["validation"]):
        return None
    rows = [
        [_text(row["method"]).replace("_", " "), _text(row["slice"]), _text(row["rows"]),
         *(origin.cite(100 * row[name], "", "scaling: held-out validation", unit="%") for name in names)]
        for row in _records(tables, "validation")
    ]  # fmt: skip
    return _part(
        "validation", "method|slice|rows|median error|90th percentile|bias|in 50 % interval|in 90 % interval", rows
    )


def _claims(tables: Tables, origin: Provenance) -> Part:
    rows, classes = [], []
    for row in _records(tables, "claims"):
        rows.append([
            _text(row["text"]), origin.cite(row["printed"], "published", row["source"], digits=4),
            origin.cite(row["computed"], "", f"recomputed: {_text(row['id'])}", "", row["computed_low"], row["computed_high"], digits=4, level="range over models"),
            _text(row["unit"]), _text(row["verdict"]), _text(row["reason"]),
        ])  # fmt: skip
        classes.append({"holds": "good", "does not": "bad"}.get(str(row["verdict"]), ""))
    return _part("claims", "claim|printed|recomputed|unit|verdict|why", rows, classes)


def _offers(tables: Tables, origin: Provenance) -> Part:
    rows = [
        [_text(row["instance"]), _text(row["purchase"]).replace("_", " "), _text(row["provider"]), _text(row["price_list"]),
         origin.cite(row["usd_per_hour"], row["basis"], row["source"], row["as_of"], row["usd_per_hour_low"], row["usd_per_hour_high"], digits=4),
         _text(row["as_of"])[:10], _text(row["warning"])]
        for row in _records(tables, "offers")
    ]  # fmt: skip
    return _part("offers", "instance|purchase|provider|price list|USD/hour|as of|warning", rows)


def warnings(table: pd.DataFrame) -> list[dict[str, object]]:
    """Warnings by rule: how many, and the first of each message with what it concerns."""
    found = []
    for (scope, rule), rows in table.groupby(["scope", "rule"]) if len(table) else ():
        messages = [
            {"message": message, "where": ", ".join(dict.fromkeys(_text(name) for name in part["instance"]))}
            for message, part in rows.groupby("message")
        ]
        found.append(
            {"scope": scope, "rule": str(rule).replace("_", " "), "count": len(rows), "messages": messages[:ROWS]}
        )
    return found
