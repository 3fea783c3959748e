"""What the page's sliders calculate with."""

import json
import math
import re
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.price_paths import central_change
from sweetspot.decision.counted import the
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.purchases import INTERRUPTIBLE
from sweetspot.study.study import Study

OWN = (
    "fixed_usd_per_month", "variable_usd_per_hour", "capex_usd", "months", "residual_usd", "kw", "pue",
    "usd_per_kwh", "days_per_month",
)  # fmt: skip
SPOT = ("interruptions_per_hour", "checkpoint_s", "restore_s", "wait_s", "every_s")
MOVABLE = ("on_demand", *INTERRUPTIBLE)
KEY = ["price_list", "instance", "purchase"]


def what_if(tables: Tables, study: Study) -> dict[str, object]:
    """Offers, throughputs and bills of the answer's cells, for arithmetic in the page.

    Keys: `month_days`, `currency` (its code; amounts are in it, as those of `tables` are),
    `model` shown first, `reference` (its option), `offers` (one a priced option: names,
    `name` that within a sentence, USD/hour, the fields of owning (OWN: what a month of possession and an hour of use
    cost, and what the sliders change of them; `resale`, its curve) or of interruptions (SPOT) and `rent_change`),
    `jobs` (option, model, images/s, samples, hours and USD as the tables have them). Empty where the reference is not
    owned: there is nothing to move.
    """
    ranks, headline = table_of(tables, "ranks"), table_of(tables, "headline")
    if ranks.empty or headline.empty:
        return {}
    box = ranks[ranks["option"] == headline["reference"].iloc[0]]
    if box.empty or box["purchase"].iloc[0] != "own":
        return {}
    # The box under another price list is no rival of itself.
    key = box.iloc[0]
    itself = (ranks["instance"] == key["instance"]) & (ranks["purchase"] == "own")
    ranks = ranks[~itself | (ranks["option"] == key["option"])]
    jobs = _jobs(ranks)
    used = {job["option"] for job in jobs}
    return {
        "month_days": study.month_days,
        "currency": "USD" if study.currency is None else study.currency.code,
        "model": str(headline["model"].iloc[0]),
        "reference": str(headline["reference"].iloc[0]),
        "offers": [offer for offer in _offers(ranks, tables["offers"]) if offer["option"] in used],
        "jobs": jobs,
    }


def _offers(ranks: pd.DataFrame, offers: pd.DataFrame) -> list[dict[str, Any]]:
    names = ranks[[*KEY, "option", "title", "persistent"]].drop_duplicates("option")
    rows = names.merge(offers.drop_duplicates(KEY), on=KEY)
    found = []
    for row in rows.to_dict("records"):
        own = row["purchase"] == "own"
        fields = {name: _number(row[name] if own else row.get(name)) for name in (OWN if own else SPOT)}
        found.append({
            **{name: str(row[name]) for name in ("option", "title", "instance", "purchase", "provider")},
            "name": the(str(row["title"])),
            "persistent": bool(row["persistent"]), "usd_per_hour": _number(row["usd_per_hour"]), **fields,
            **_ahead(row),
        })  # fmt: skip
    return found


def _ahead(row: dict[str, Any]) -> dict[str, Any]:
    """Resale value by age of a machine owned; yearly change of the rent that may move, null of a contract's."""
    if row["purchase"] == "own":
        curve = row.get("residual_points")
        points = [] if curve is None or isinstance(curve, float) else curve
        return {"resale": [[float(point["years"]), float(point["kept"])] for point in points]}
    return {"rent_change": central_change(row) if row["purchase"] in MOVABLE else None}


def _jobs(ranks: pd.DataFrame) -> list[dict[str, Any]]:
    """The first workload of each model that stands for it alone."""
    rows = ranks[(ranks["images_per_s"] > 0) & ranks["usd"].notna()]
    models = rows.groupby("workload")["model"].nunique()
    rows = rows[rows["workload"].isin(models[models == 1].index)]
    rows = rows[rows["workload"] == rows.groupby("model")["workload"].transform("min")]
    # An undisturbed machine works hours x 3600 x images/s samples; one waiting for a spot machine more hours.
    work = rows.assign(samples=rows["hours"] * 3600 * rows["images_per_s"]).groupby("workload")["samples"].min()
    return [
        {
            "option": str(row["option"]), "model": str(row["model"]), "workload": str(row["workload"]),
            "images_per_s": float(row["images_per_s"]), "images_per_usd": float(row["images_per_usd"]),
            "samples": float(work[row["workload"]]), "hours": float(row["hours"]), "usd": float(row["usd"]),
        }
        for row in rows.to_dict("records")
    ]  # fmt: skip


def _number(value: object) -> float | None:
    if missing(value) or not math.isfinite(float(value)):  # type: ignore[arg-type]
        return None
    return float(value)  # type: ignore[arg-type]


def script_json(payload: object) -> Markup:
    """A payload as JSON for a script element."""
    return json_in_script(json.dumps(payload, allow_nan=False, ensure_ascii=True, separators=(",", ":")))


def json_in_script(text: str) -> Markup:
    """JSON for a script element: nothing in it can end the element or begin a comment."""
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def code_in_script(text: str) -> Markup:
    """JavaScript for a script element: what would end it, or begin a comment, stands in strings and patterns only."""
    return Markup(re.sub(r"<(?=/?script|!--)", r"\\x3c", text, flags=re.IGNORECASE))
