"""What the page's control panel calculates with."""

import json
import math
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.price_paths import central_change, moves
from sweetspot.decision.counted import the
from sweetspot.report.marks import INTERRUPTIBLE as TAKEN
from sweetspot.report.marks import PERSISTENT
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, table_of
from sweetspot.report.words import counted_in, works
from sweetspot.study.purchases import INTERRUPTIBLE
from sweetspot.study.study import Study

OWN = (
    "fixed_usd_per_month", "variable_usd_per_hour", "energy_usd_per_hour", "capex_usd", "capex_usd_low", "months",
    "residual_usd", "maintenance_usd_per_month", "staff_usd_per_month", "kw", "pue", "usd_per_kwh", "days_per_month",
    "discount_rate", "downtime_share", "boxes",
)  # fmt: skip
TERM = ("fixed_usd_per_month", "variable_usd_per_hour", "days_per_month")  # of a contract: due whatever the use
SPOT = ("interruptions_per_hour", "checkpoint_s", "restore_s", "wait_s", "every_s")
FIELDS = {"own": OWN, "reserved": TERM, "committed": TERM, **dict.fromkeys(INTERRUPTIBLE, SPOT)}
MOVABLE = ("on_demand", *INTERRUPTIBLE)
KEY = ["price_list", "instance", "purchase"]
DIGITS = 12  # of a figure: more than any that is shown, fewer than a float has
SOURCE = 160  # characters of a source in a tooltip; the table of origins has all of it
Row = dict[str, Any]


def what_if(tables: Tables, study: Study) -> dict[str, object]:
    """Offers, and hours and bills of the answer's options, for arithmetic in the page (assets/whatif_model.js).

    Keys: `month_days`, `currency` (its code; amounts are in it, as those of `tables` are), `hours` (false
    where a bill is for a month, which has its hours whatever the machine), `model` (its title) shown first,
    `references` (option by model; none where the study names none), `providers` (names for people),
    `accepts` (interruptions are accepted), `sources`,
    `dates`, `bases`
    (texts by number), and two tables as columns. `offers`: one a priced option: names (`name`: within a sentence, null
    as the title), USD/hour, FIELDS (with `resale`, the curve of a machine owned) and `rent_change`.
    `kinds`: what charts call machines that stay and that do not. `jobs`: offer and work by number, hours and USD as the
    tables have them, images/s and per USD; of interruptible options `work`, hours without interruptions, and `slots`,
    jobs at once. `works`: workload, its model, its title.
    Empty where nothing is priced. Only what the answer may take is among them.
    """
    named = (_titled(table_of(tables, name), study) for name in ("ranks", "headline", "options"))
    ranks, headline, options = named
    if ranks.empty or headline.empty:
        return {}
    rows = ranks[(ranks["images_per_s"] > 0) & ranks["usd"].notna() & ranks["images_per_usd"].notna()]
    rows = rows[rows["in_answer"].astype(bool)]
    offers = _offers(rows, tables["offers"])
    if not offers:
        return {}
    first, words = headline.iloc[0], counted_in(tables)
    return {
        "month_days": study.month_days,
        "currency": words.money.code,
        "hours": bool(words.hours),
        "kinds": [PERSISTENT, TAKEN],
        "model": str(first["model"]),
        "references": _references(headline, study),
        "accepts": study.accepts_interruptions,
        "providers": {str(offer["provider"]): study.provider_title(str(offer["provider"])) for offer in offers},
        **_jobs(rows, {offer["option"]: number for number, offer in enumerate(offers)}, options, works(tables)),
        "offers": _columns(offers),
    }


def _titled(table: pd.DataFrame, study: Study) -> pd.DataFrame:
    """A table whose models have their names for people."""
    return table.assign(model=table["model"].map(study.model_title)) if "model" in table.columns else table


def _references(headline: pd.DataFrame, study: Study) -> dict[str, str]:
    """The option that each model is judged by, where the study names a machine."""
    if study.reference is None:
        return {}
    return dict(zip(headline["model"].astype(str), headline["reference"].astype(str), strict=True))


def _offers(ranks: pd.DataFrame, offers: pd.DataFrame) -> list[Row]:
    names = ranks[[*KEY, "option", "title", "persistent"]].drop_duplicates("option")
    rows = names.merge(offers.drop_duplicates(KEY), on=KEY)
    found = []
    for row in rows.to_dict("records"):
        title = str(row["title"])
        fields = {name: _number(row.get(name)) for name in FIELDS.get(row["purchase"], ())}
        found.append({
            **{name: str(row[name]) for name in ("option", "title", "instance", "purchase", "provider")},
            "name": None if the(title) == title else the(title),
            "usd_per_hour": _number(row["usd_per_hour"]), **fields,
            **_ahead(row),
        })  # fmt: skip
    return found


def _ahead(row: Row) -> Row:
    """Resale value by age of a machine owned; yearly change of the rent that may move, null of a contract's."""
    if row["purchase"] == "own":
        curve = row.get("residual_points")
        points = [] if curve is None or isinstance(curve, float) else curve
        return {"resale": [[float(point["years"]), float(point["kept"])] for point in points]}
    return {"rent_change": central_change(row) if row["purchase"] in MOVABLE or moves(row) else None}


def _jobs(rows: pd.DataFrame, numbers: dict[str, int], options: pd.DataFrame, titles: dict[str, str]) -> Row:
    """The jobs as columns, with the texts that their numbers stand for. `numbers`: of the offers, by option."""
    asked = rows[["workload", "model"]].drop_duplicates().sort_values(["model", "workload"])
    place = {key: number for number, key in enumerate(asked.itertuples(index=False, name=None))}
    texts = {
        name: sorted(rows[name].astype(str).str.slice(0, SOURCE).unique()) for name in ("source", "as_of", "basis")
    }
    told = {name: {text: number for number, text in enumerate(found)} for name, found in texts.items()}
    at_once = _slots(options)
    hours = rows.assign(slots=[at_once.get(key, 1.0) for key in zip(rows["option"], rows["workload"], strict=True)])
    # An undisturbed machine takes its work's hours; one that waits for a spot machine more.
    each = hours["hours"] * hours["images_per_s"] / hours["slots"]
    work = each.groupby([rows["model"], rows["workload"]]).transform("min") * hours["slots"] / hours["images_per_s"]
    taken = hours["purchase"].isin(INTERRUPTIBLE)
    found = [
        {
            "offer": numbers[str(row["option"])], "work_of": place[(row["workload"], row["model"])],
            **{name: _number(row[name]) for name in ("hours", "usd", "images_per_s", "images_per_usd")},
            "work": _number(alone) if away else None,
            "slots": _number(row["slots"]) if row["slots"] > 1 else None,
            **{name: told[name][str(row[name])[:SOURCE]] for name in told},
        }
        for row, alone, away in zip(hours.to_dict("records"), work, taken, strict=True)
        if str(row["option"]) in numbers
    ]  # fmt: skip
    return {
        "works": [[str(workload), str(model), titles.get(workload, str(workload))] for workload, model in place],
        "sources": texts["source"], "dates": texts["as_of"], "bases": texts["basis"], "jobs": _columns(found),
    }  # fmt: skip


def _slots(options: pd.DataFrame) -> dict[tuple[object, object], float]:
    """How many jobs of a workload an option works on at once, by option and workload."""
    if "jobs_at_once" not in options.columns:
        return {}
    return dict(zip(zip(options["option"], options["workload"], strict=True), options["jobs_at_once"], strict=True))


def _columns(rows: list[Row]) -> dict[str, list[object]]:
    """Rows as columns; a column of nulls alone is left out."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {name: values for name, values in columns.items() if any(value not in (None, []) for value in values)}


def _number(value: object) -> float | None:
    if missing(value) or not math.isfinite(float(value)):  # type: ignore[arg-type]
        return None
    short = float(f"{float(value):.{DIGITS}g}")  # type: ignore[arg-type]
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


def script_json(payload: object) -> Markup:
    """A payload as JSON for a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
