"""What the panel "your case" calculates with: the choices of the answer's work at central figures."""

from typing import Any

from sweetspot.report.cited import records
from sweetspot.report.notation import missing
from sweetspot.report.outcome import Outcome
from sweetspot.report.phase_whatif import phase_what_if
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.study import Study

LEAST = {"nothing": 0, "contract": 1, "buy": 2}  # from what commits to least


def case_of(tables: Tables, study: Study, found: Outcome) -> dict[str, Any]:
    """The case: `choices` (option, title, kind, binds, usd, `stands`), and of a plan of phases what its rounds cost.

    Empty for the work of months, whose sliders are in the evidence, and where no choice binds. `tables` in the study's
    currency. Keys: `currency`, `work` (jobs a month, null: none), `box` and `rent` (the price that a slider moves, with
    its choice), `rounds` (as `phase_what_if` has its options) or for a single work `days` of use a month.
    """
    choices = table_of(tables, "choices")
    mine = choices[(choices["workload"] == found.workload) & choices["usd"].notna()]
    if found.level != "commit" or mine["choice"].eq("best").any():
        return {}
    plan = {one["option"]: one for one in phase_what_if(tables, study.month_days).get("options", ())}
    offers = {(row["price_list"], row["instance"], row["purchase"]): row for row in records(table_of(tables, "offers"))}
    listed = [_choice(row, offers, plan) for row in records(mine)]
    if plan:
        listed = [one for one in listed if one["rounds"]]
    stands = [one for one in listed if one["stands"]]
    box = next((one for one in stands if one["binds"] == "buy" and one["capex"]), None)
    rent = next((one for one in stands if one["binds"] == "nothing" and one["rent"]), None)
    if box is None or rent is None:
        return {}
    months = None if found.usd_per_month is None else found.usd / found.usd_per_month
    jobs = sum(phase["jobs"] for phase in box["rounds"]["phases"]) if plan else None
    return {
        "currency": table_currency(study),
        "jobs": jobs / months if jobs and months else None,
        "days": box["days"],
        "most_days": study.month_days,
        "box": box["choice"],
        "rent": rent["choice"],
        "choices": listed,
    }


def table_currency(study: Study) -> str:
    """The code of the currency that the study shows."""
    return "USD" if study.currency is None else study.currency.code


def _choice(row: dict[str, Any], offers: dict[Any, dict[str, Any]], plan: dict[str, Any]) -> dict[str, Any]:
    offer = offers.get((row["price_list"], row["instance"], row["purchase"]), {})

    def of(name: str) -> float | None:
        value = offer.get(name)
        return None if missing(value) else float(value)  # type: ignore[arg-type]

    fixed, hourly, days = of("fixed_usd_per_month"), of("variable_usd_per_hour"), of("days_per_month")
    held = fixed / (fixed + 24 * days * (hourly or 0.0)) if row["purchase"] == "own" and fixed and days else 0.0
    return {
        "choice": row["choice"], "title": row["title"], "kind": row["kind"], "binds": row["binds"],
        "rank": LEAST[row["binds"]], "usd": float(row["usd"]), "stands": missing(row["why_not"]),
        "spot": row["why_not"] == "it can be interrupted", "capex": of("capex_usd"), "rent": of("usd_per_hour"),
        "days": days, "held": held, "bought": 0.0 if not held else _by_price(of), "rounds": plan.get(row["choice"]),
    }  # fmt: skip


def _by_price(of: Any) -> float:
    """Of what a machine costs by the month, the share that its price makes: price less resale over the months."""
    capex, months, fixed = of("capex_usd"), of("months"), of("fixed_usd_per_month")
    sold = of("residual_usd") or 0.0
    return (capex - sold) / months / fixed if capex and months and fixed else 0.0
