"""Recompute what a text claims and say whether it holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision import claims as kinds
from sweetspot.decision.breakeven import crossing_days, references
from sweetspot.decision.options import hourly, trained

COLUMNS = (
    "id", "kind", "text", "printed", "computed", "computed_low", "computed_high", "unit", "verdict", "reason", "source",
)  # fmt: skip
HOLDS, FAILS, UNKNOWN = "holds", "does not", "cannot be checked"
LEAST_FIRST = ("usd", "hours")


@dataclass(frozen=True)
class Evidence:
    """The tables that a claim is checked against."""

    options: pd.DataFrame
    offers: pd.DataFrame
    extrapolation: pd.DataFrame
    efficiency: pd.DataFrame
    reference: str | None


class CannotCheckError(Exception):
    """The tables do not hold what a claim speaks of."""


@dataclass(frozen=True)
class Finding:
    """Recomputed values (one a model, or a single one) and what to say of them."""

    values: dict[str, float]
    note: str | None = None


def check_claims(claims: Sequence[kinds.Claim], evidence: Evidence) -> pd.DataFrame:
    """One row a claim: COLUMNS, `verdict` being holds, does not, or cannot be checked.

    Said of several models, `computed` is the median over them, `computed_low` and `computed_high` their range; the
    claim holds if the printed number lies in that range widened by the claim's tolerance.
    """
    return pd.DataFrame([_row(claim, evidence) for claim in claims], columns=list(COLUMNS))


def _row(claim: kinds.Claim, evidence: Evidence) -> dict[str, object]:
    row = claim.model_dump(include={"id", "kind", "text", "printed", "unit", "source"})
    blank = {"computed": np.nan, "computed_low": np.nan, "computed_high": np.nan}
    if isinstance(claim, kinds.Fact):
        return {**row, **blank, "verdict": UNKNOWN, "reason": claim.reason or "a statement, not a computed figure"}
    try:
        finding = CHECKS[type(claim)](claim, evidence)
    except CannotCheckError as missing:
        return {**row, **blank, "verdict": UNKNOWN, "reason": _sentences(str(missing), claim.reason)}
    values = np.array([*finding.values.values()], float)
    if claim.printed is None:
        verdict = UNKNOWN
    else:
        low, high = values.min() - claim.tolerance, values.max() + claim.tolerance
        verdict = HOLDS if low <= claim.printed <= high else FAILS
    spelled = (
        ", ".join(f"{name} {_figure(value)}" for name, value in finding.values.items()) if len(values) > 1 else None
    )
    return {
        **row,
        "computed": _or_nan(np.median(values)),
        "computed_low": _or_nan(values.min()),
        "computed_high": _or_nan(values.max()),
        "verdict": verdict,
        "reason": _sentences(spelled, finding.note, claim.reason),
    }


def _or_nan(value: float) -> float:
    return float(value) if np.isfinite(value) else float("nan")


def _figure(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "never"


def _sentences(*parts: str | None) -> str:
    return ". ".join(part.rstrip(".") for part in parts if part)


def chosen(rows: pd.DataFrame, choice: kinds.Choice) -> pd.DataFrame:
    """The rows that fit every key of `choice`; an instance without a purchase means its persistent offer, if any."""
    given = choice.model_dump(exclude_none=True)
    found = rows
    for key, value in given.items():
        found = found[found[key] == value]
    if found.empty:
        what = ", ".join(f"{key} {value}" for key, value in given.items())
        raise CannotCheckError(f"no priced figure of {what}")
    if choice.instance and choice.purchase is None and found["persistent"].any():
        found = found[found["persistent"]]
    return found


def _per_model(evidence: Evidence, models: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Options of each model that a claim speaks of, in the model's training workload."""
    options = trained(evidence.options)
    wanted = list(models) or sorted(options["model"].unique())
    return {model: options[options["model"] == model] for model in wanted}


def _offer(choice: kinds.Choice, evidence: Evidence) -> pd.Series:
    offers = evidence.offers.assign(persistent=~evidence.offers["purchase"].isin(["spot", "preemptible"]))
    return chosen(offers, choice).iloc[0]


def _price(claim: kinds.Price, evidence: Evidence) -> Finding:
    return Finding({"all": float(_offer(claim.of, evidence)["usd_per_hour"]) * claim.hours})


def _monthly(claim: kinds.MonthlyCost, evidence: Evidence) -> Finding:
    offer = _offer(claim.of, evidence)
    hours = HOURS_A_DAY * offer["days_per_month"]
    pue = 1.0 if pd.isna(offer["pue"]) else offer["pue"]
    energy = offer["kw"] * pue * offer["usd_per_kwh"] * hours
    total = offer["usd_per_hour"] * hours
    return Finding({"all": float({"all": total, "fixed": total - energy, "electricity": energy}[claim.part])})


def _composition(claim: kinds.Composition, evidence: Evidence) -> Finding:
    share = float(np.mean([usd / vcpus for vcpus, usd in claim.siblings]))
    machine, cards = claim.vcpus * share, claim.cards * claim.usd_per_card_hour
    note = f"siblings cost {share:.4g} USD a vCPU: {claim.vcpus} vCPUs {machine:.4g} + cards {cards:.4g}"
    return Finding({"all": machine + cards}, note)


def _price_ratio(claim: kinds.PriceRatio, evidence: Evidence) -> Finding:
    paid = float(_offer(claim.of, evidence)["usd_per_hour"] / _offer(claim.to, evidence)["usd_per_hour"])
    value = 1 - paid if claim.as_discount else paid
    note = f"{paid:.1%} is paid, {1 - paid:.1%} is saved"
    return Finding({"all": value * (100 if claim.percent else 1)}, note)


def _best(rows: pd.DataFrame, measure: str) -> pd.Series:
    order = rows.sort_values([measure, "option"], ascending=[measure in LEAST_FIRST, True], kind="stable")
    return order.iloc[0]


def _ratio(claim: kinds.Ratio, evidence: Evidence) -> Finding:
    values, notes = {}, []
    for model, rows in _per_model(evidence, claim.models).items():
        one, other = _best(chosen(rows, claim.of), claim.measure), _best(chosen(rows, claim.to), claim.measure)
        values[model] = float(one[claim.measure] / other[claim.measure])
        if claim.measure == "usd":
            values[model] = 1 / values[model]
        if claim.printed is None or claim.measure not in ("images_per_usd", "usd"):
            continue
        implied = other["images_per_s"] * values[model] / claim.printed
        for figure in (figure for figure in claim.published if figure.model == model):
            notes.append(
                f"{claim.printed:g}x for {model} would need {implied:.0f} images/s of {other['instance']}; "
                f"published are {figure.images_per_s:g} at batch {figure.batch_size} ({figure.source}), used here "
                f"{other['images_per_s']:.0f} ({other['basis']})"
            )
    return Finding(values, "; ".join(notes) or None)


def _smallest_gain(claim: kinds.SmallestGain, evidence: Evidence) -> Finding:
    gains = {}
    for model, rows in _per_model(evidence, []).items():
        one, other = chosen(rows, claim.of).iloc[0], chosen(rows, claim.to).iloc[0]
        gains[model] = float(one["images_per_usd"] / other["images_per_usd"])
    if claim.model not in gains:
        raise CannotCheckError(f"no priced figure of {claim.model}")
    place = 1.0 + sum(gain < gains[claim.model] for gain in gains.values())
    return Finding({claim.model: place}, ", ".join(f"{model} {gain:.3g}x" for model, gain in gains.items()))


def _saving(claim: kinds.Saving, evidence: Evidence) -> Finding:
    values, names = {}, []
    for model, rows in _per_model(evidence, claim.models).items():
        one, other = _best(chosen(rows, claim.of), "usd"), _best(chosen(rows, claim.to), "usd")
        values[model] = 100 * float(1 - one["usd"] / other["usd"])
        names.append(f"{other['option']} for {model}")
    return Finding(values, "compared with " + ", ".join(names))


def _rank(claim: kinds.Rank, evidence: Evidence) -> Finding:
    values = {}
    for model, rows in _per_model(evidence, claim.models).items():
        field = chosen(rows, claim.among)
        if claim.without is not None:
            field = field.drop(chosen(field, claim.without).index)
        one = _best(chosen(rows, claim.of), claim.measure)[claim.measure]
        # One machine counts once, whichever way it is paid.
        figures = field.drop_duplicates("instance")[claim.measure] if claim.measure == "hours" else field[claim.measure]
        ahead = figures < one if claim.measure in LEAST_FIRST else figures > one
        values[model] = float(ahead.sum() + 1)
    return Finding(values)


def _reference(evidence: Evidence, model: str) -> pd.Series:
    rows = references(evidence.options, evidence.reference or "")
    rows = rows[(rows["model"] == model) & (rows["purchase"] == "own")]
    if rows.empty:
        raise CannotCheckError(f"no owned reference with a figure for {model}")
    return rows.iloc[0]


def _rivals(claim: kinds.BreakEven | kinds.GainAt, rows: pd.DataFrame, box: pd.Series) -> pd.DataFrame:
    rivals = chosen(rows[rows["option"] != box["option"]], claim.against)
    return rivals.assign(hour=3600.0 * box["images_per_s"] / rivals["images_per_usd"])


def _break_even(claim: kinds.BreakEven, evidence: Evidence) -> Finding:
    values, names = {}, []
    for model, rows in _per_model(evidence, claim.models).items():
        box = _reference(evidence, model)
        rival = _rivals(claim, rows, box).sort_values("hour", kind="stable").iloc[0]
        day = crossing_days(box["fixed_usd_per_month"], box["variable_usd_per_hour"], rival["hour"], claim.factor)
        values[model] = float(day)
        names.append(f"{rival['option']} for {model}")
    return Finding(values, "the last to be beaten is " + ", ".join(names))


def _gain_at(claim: kinds.GainAt, evidence: Evidence) -> Finding:
    values = {}
    for model, rows in _per_model(evidence, claim.models).items():
        box = _reference(evidence, model)
        rival = _rivals(claim, rows, box).sort_values("hour", kind="stable").iloc[0]
        values[model] = float(rival["hour"] / hourly(box.to_frame().T, claim.days).iloc[0])
    return Finding(values)


def _extrapolated(claim: kinds.Extrapolated, evidence: Evidence) -> Finding:
    table = evidence.extrapolation
    found = table[
        (table["instance"] == claim.instance)
        & (table["model"] == claim.model)
        & (table["batch_size"] == claim.batch_size)
        & (table["method"] == claim.method)
    ]
    if found.empty:
        raise CannotCheckError(
            f"no extrapolation of {claim.instance}, {claim.model}, {claim.batch_size} by {claim.method}"
        )
    return Finding({"all": float(found["images_per_s"].iloc[0])})


def _mean_efficiency(claim: kinds.MeanEfficiency, evidence: Evidence) -> Finding:
    table = evidence.efficiency
    found = table[(table["model"] == claim.model) & (table["batch_size"] == claim.batch_size)]
    found = found[found["basis"] == "published"] if "basis" in found.columns else found
    if found.empty:
        raise CannotCheckError(f"no efficiencies for {claim.model} at batch {claim.batch_size}")
    return Finding({"all": float(found["efficiency"].mean())})


CHECKS: dict[type, Callable[..., Finding]] = {
    kinds.Price: _price,
    kinds.MonthlyCost: _monthly,
    kinds.Composition: _composition,
    kinds.PriceRatio: _price_ratio,
    kinds.Ratio: _ratio,
    kinds.SmallestGain: _smallest_gain,
    kinds.Saving: _saving,
    kinds.Rank: _rank,
    kinds.BreakEven: _break_even,
    kinds.GainAt: _gain_at,
    kinds.Extrapolated: _extrapolated,
    kinds.MeanEfficiency: _mean_efficiency,
}
