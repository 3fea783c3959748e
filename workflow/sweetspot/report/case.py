"""What the page's program calculates with: offers, and each work at central figures (assets/model.js)."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.price_paths import central_change, moves
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.decision_words import COSTS, MAY_STOP, VERBS
from sweetspot.report.case_controls import controls
from sweetspot.report.notation import missing, records
from sweetspot.report.outcome import Outcome
from sweetspot.report.tables import Tables, asked_model, counted_in, judged_option, shares_had, table_of, works
from sweetspot.study.study import Study
from sweetspot.wording import ROUNDS, the

OWN = (
    "fixed_usd_per_month", "variable_usd_per_hour", "capex_usd", "capex_usd_low", "months", "residual_usd",
    "kw", "pue", "usd_per_kwh", "days_per_month", "discount_rate", "downtime_share",
)  # fmt: skip
TERM = (
    "fixed_usd_per_month",
    "variable_usd_per_hour",
    "days_per_month",
    "term_months",
)  # of a contract
SPOT = ("interruptions_per_hour", "checkpoint_s", "restore_s", "wait_s", "every_s")
FIELDS = {"own": OWN, "reserved": TERM, "committed": TERM, **dict.fromkeys(INTERRUPTIBLE, SPOT)}
MOVABLE = ("on_demand", *INTERRUPTIBLE)
KEY = ["price_list", "instance", "purchase"]
DIGITS = 12  # of a figure: more than any that is shown, fewer than a float has
LEAST = {"nothing": 0, "contract": 1, "buy": 2}  # from what commits to least
OF_JOBS = ("hours", "usd", "images_per_s", "images_per_usd")
Row = dict[str, Any]
Numbers = dict[str, int]  # of the offers, by option


def evidence_case(tables: Tables, study: Study) -> Row:
    """Every work that can be moved on the page of evidence: jobs of one model, then plans; empty without any.

    Keys: `currency` (its code; amounts are in it, as those of `tables` are), `month_days`, `hours` (false where a bill
    is for a month, which has its hours whatever the machine), `accepts` (interruptions are accepted), `offers`:
    titles (`name`: within a sentence), USD/hour, FIELDS (with `resale`, the curve of a machine owned), `rent_change`,
    without what is not known; `works`.

    A work: `workload`, `title`, `label` where one chooses, `model` of a job, `cost` (share, rounds), offers
    by number: `reference` (the machine it is judged by), `box` and `rent` (those whose prices have sliders),
    `controls`, `options`: of a share USD, hours, speed of a job, `work`: hours without interruptions, `slots`: jobs at
    once; of rounds: `_rounds`. Only what the answer may take is among the
    jobs.
    """
    return _case(tables, study, [*_shares(tables, study), *_plans(tables)], {})


def page_case(tables: Tables, study: Study, found: Outcome) -> Row:
    """The work that the answer is about, with its `choices`; empty where none commits, or none is bought or rented.

    As `evidence_case`, and `ratio`: what the dearer and the cheaper of the verdict bind to; `pays`: times the work from
    which buying pays in the mean of all draws, or null; `choices`: choice, title,
    `verb`, `kind` and `costs` (in words), binds, `rank` from what commits to least, USD, `stands` (may be the answer),
    `spot` (would, if interruptions were accepted), `had` (share of attempts in which it is to be had) where
    known. Work of months has no panel: `sweetspot ask` decides it at other values.
    """
    if found.level != "commit":
        return {}
    works_of_verdict = [work for work in _plans(tables) if work["workload"] == found.workload]
    if not works_of_verdict:
        works_of_verdict = [work for work in _shares(tables, study) if work["workload"] == found.workload]
    if not works_of_verdict:
        return {}
    work = works_of_verdict[0]
    options = {row["option"] for row in work["options"]}

    table = table_of(tables, "choices")
    choices = table[(table["workload"] == found.workload) & table["usd"].notna()]
    purchases = [choice for choice in choices.loc[choices["kind"] == "buy", "choice"] if choice in options]
    if purchases:  # its price moves the verdict, whichever machine the study judges
        work["box"] = purchases[0]

    stock_shares = shares_had(tables)
    rows = [
        _choice(row) | ({"had": stock_shares[row["choice"]][0]} if row["choice"] in stock_shares else {})
        for row in records(choices)
        if row["choice"] in options
    ]
    if not {"buy", "nothing"} <= {row["commitment"] for row in rows if row["stands"]}:
        return {}
    ratio = [
        next(iter(choices.loc[choices[name].astype(bool), "commitment"]), None) for name in ("is_rival", "is_best")
    ]
    case = _case(tables, study, [work], {"choices": rows, "ratio": ratio, "pays": found.work_factor})
    return case if case and given(case["works"][0], "box", "rent") else {}


def given(work: Row, *names: str) -> bool:
    """Whether a work has all of these."""
    return all(work.get(name) is not None for name in names)


def _case(tables: Tables, study: Study, works_shown: list[Row], extra: Row) -> Row:
    used = dict.fromkeys(row["option"] for work in works_shown for row in work["options"])
    offers = _offers(tables, used)
    numbers = {offer["option"]: number for number, offer in enumerate(offers)}
    code, hours = "USD" if study.currency is None else study.currency.code, bool(counted_in(tables).hours)
    models = [work["model"] for work in works_shown if "model" in work]
    for work in works_shown:
        model = [work["model"]] if "model" in work else []
        work["label"] = ": ".join(model + ([] if model and len(set(models)) == len(models) else [work["title"]]))
        options = {row["option"] for row in work["options"]}
        work_offers = [offer for offer in offers if offer["option"] in options]
        work["controls"] = controls(work, work_offers, study, code, hours, short="choices" in extra)
    numbered = [row for row in (_numbered(work, numbers) for work in works_shown) if row]
    if not numbered:
        return {}
    return {
        "currency": code,
        "month_days": study.month_days,
        "hours": hours,
        "accepts": study.accepts_interruptions,
        **extra,
        "works": numbered,
        "offers": [_known(offer) for offer in offers],
    }


def _numbered(work: Row, numbers: Numbers) -> Row:
    """A work whose options are numbers of offers; empty where none has an offer."""
    options = [_known(row) | {"offer": numbers[row["option"]]} for row in work["options"] if row["option"] in numbers]
    prices = {name: numbers.get(work[name]) for name in ("reference", "box", "rent") if work.get(name) is not None}
    return work | prices | {"options": options} if options else {}


def _known(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _offers(tables: Tables, used: Iterable[str]) -> list[Row]:
    options, offers = table_of(tables, "options"), table_of(tables, "offers")
    if options.empty or offers.empty:
        return []
    asked = options[options["option"].isin(list(used))][[*KEY, "option", "title"]].drop_duplicates("option")
    rows = asked.merge(offers.drop_duplicates(KEY), on=KEY)
    return [
        {
            **{name: str(row[name]) for name in ("option", "title", "instance", "purchase", "provider")},
            "name": the(str(row["title"])),
            "usd_per_hour": _number(row["usd_per_hour"]),
            **{name: _number(row.get(name)) for name in FIELDS.get(row["purchase"], ())},
            **_ahead(row),
        }
        for row in rows.to_dict("records")
    ]


def _ahead(row: Any) -> Row:
    """Resale value by age of a machine owned; yearly change of the rent that may move, null of a contract's."""
    if row["purchase"] == "own":
        curve = row.get("residual_points")
        points = [] if curve is None or isinstance(curve, float) else curve
        return {"resale": [[float(point["years"]), float(point["kept"])] for point in points]}
    return {"rent_change": central_change(row) if row["purchase"] in MOVABLE or moves(row) else None}


def _shares(tables: Tables, study: Study) -> list[Row]:
    """The works of one model each, that of the answer's model first among them (`first`)."""
    ranks = table_of(tables, "ranks")
    if ranks.empty:
        return []
    rows = ranks[(ranks["images_per_s"] > 0) & ranks["usd"].notna() & ranks["images_per_usd"].notna()]
    rows = _worked(rows[rows["in_answer"].astype(bool)], table_of(tables, "options"))
    titles, answer_model = works(tables), asked_model(tables)
    model_titles = rows["model"].map(study.model_title)
    made = []
    for (title, workload), jobs in rows.groupby([model_titles.rename("title"), "workload"], sort=True):
        model, by_cost = jobs["model"].iloc[0], jobs.sort_values("usd", kind="stable")
        reference = judged_option(tables, str(model)) if study.reference else None
        made.append(
            {
                "workload": str(workload),
                "title": titles.get(str(workload), str(workload)),
                "model": str(title),
                "cost": "share",
                "first": model == answer_model,
                "reference": reference,
                "box": _box(by_cost, reference),
                "rent": _rent(by_cost),
                "options": [_job(row) for row in jobs.to_dict("records")],
            }
        )
    return made


def _worked(rows: pd.DataFrame, options: pd.DataFrame) -> pd.DataFrame:
    """The rows with `slots`, jobs at once, and `work`: hours without interruptions, null where there are none."""
    keys = ["option", "workload"]
    at_once = options[[*keys, "jobs_at_once"]].drop_duplicates(keys) if "jobs_at_once" in options.columns else None
    rows = rows.assign(jobs_at_once=1.0) if at_once is None else rows.merge(at_once, on=keys, how="left")
    slots = rows["jobs_at_once"].fillna(1.0)
    # An undisturbed machine takes its work's hours; one that waits for a spot machine more.
    each = rows["hours"] * rows["images_per_s"] / slots
    work = each.groupby([rows["model"], rows["workload"]]).transform("min") * slots / rows["images_per_s"]
    return rows.assign(slots=slots.where(slots > 1), work=work.where(rows["purchase"].isin(INTERRUPTIBLE)))


def _job(row: Any) -> Row:
    return {"option": str(row["option"]), **{name: _number(row[name]) for name in (*OF_JOBS, "work", "slots")}}


def _box(rows: pd.DataFrame, reference: object) -> object:
    """The machine whose price has a slider: that of the reference where it is owned, else the cheapest for sale."""
    owned = [row["option"] for row in rows.to_dict("records") if row["purchase"] == "own" and row.get("taken", True)]
    return reference if reference in owned else next(iter(owned), None)


def _rent(rows: pd.DataFrame) -> object:
    """The cheapest machine by the hour that nobody takes away, else the cheapest."""
    hired = rows[rows["purchase"].isin(MOVABLE)]
    stays = hired[hired["purchase"] == "on_demand"]
    return next(iter((stays if len(stays) else hired)["option"]), None)


def _plans(tables: Tables) -> Iterator[Row]:
    """The plans of phases, if something does their work."""
    figures, choices, options = (table_of(tables, name) for name in ("case_figures", "choices", "options"))
    own = options[options["is_reference"].astype(bool)]["option"] if "is_reference" in options.columns else ()
    for workload, rows in figures.groupby("workload", sort=False) if len(figures) else ():
        mine = choices[(choices["workload"] == workload) & choices["usd"].notna()] if len(choices) else choices
        if len(choices) and mine.empty:
            continue
        months = _number(mine["months"].iloc[0]) if len(mine) else None
        named = rows.drop_duplicates("option")
        yield {
            "workload": str(workload),
            "title": str(mine["workload_title"].iloc[0]) if len(mine) else str(workload),
            "cost": ROUNDS,
            "months": months,
            "reference": next(iter(own), None),
            "box": _box(named, next(iter(own), None)),
            **_rounds(rows, named, months, mine),
        }


def _rounds(rows: pd.DataFrame, named: pd.DataFrame, months: float | None, choices: pd.DataFrame) -> Row:
    """Of a plan of phases: `jobs` a month (in all, where it says no months) and `options`, cheapest first.

    An option: alternative, `taken`, `hours` of the plan, `held` USD by the month of all `machines`, `least` of them,
    `room` hours of one or null, `phases`: jobs, jobs at once, hours of one, USD.
    """
    hours = dict(zip(choices["choice"], choices["hours"], strict=True)) if len(choices) else {}
    made: dict[str, Row] = {}
    for row in rows.to_dict("records"):
        one = made.setdefault(row["option"], {
            "option": row["option"], "alternative": row["alternative"], "taken": bool(row["taken"]),
            "hours": _number(hours.get(row["option"])), "held": _number(row["ownership_usd"]),
            "machines": _number(row["machines"]), "least": _number(row["least"]), "room": _number(row["room_hours"]),
            "phases": [],
        })  # fmt: skip
        one["phases"].append([_number(row[name]) for name in ("jobs", "slots", "job_hours", "usd")])
    jobs = float(rows[rows["option"] == rows["option"].iloc[0]]["jobs"].sum())
    renewed = {"renewed": True} if rows.get("renewed", pd.Series()).eq(True).any() else {}
    kept = [one for one in made.values() if one["hours"] is not None]
    rent = _rent(named[named["taken"].astype(bool)])
    return {"rent": rent, "jobs": jobs / (months or 1.0), "options": kept, **renewed}


def _choice(row: Row) -> Row:
    return {
        "choice": row["choice"], "title": row["title"], "commitment": row["commitment"],
        "verb": VERBS[row["kind"]],
        "kind": "buy" if row["kind"] == "mix" else row["kind"],
        "costs": f"{COSTS[row['kind']]} costs",
        "rank": LEAST[row["commitment"]], "usd": float(row["usd"]), "stands": missing(row["why_not_rule"]),
        "spot": row["why_not_rule"] == MAY_STOP,
    }  # fmt: skip


def _number(value: object) -> float | None:
    if value is None or missing(value) or not math.isfinite(float(value)):  # type: ignore[arg-type]
        return None
    short = float(f"{float(value):.{DIGITS}g}")  # type: ignore[arg-type]
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


def script_json(payload: object) -> Markup:
    """A payload as JSON for a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
