"""Recompute what a text claims and say whether it holds."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, crossing_days
from sweetspot.claims.bill_checks import BILL_CHECKS
from sweetspot.claims.lookup import CannotCheckError, Evidence, Recomputed, chosen
from sweetspot.decision.options import hourly
from sweetspot.study import claims as kinds

COLUMNS = (
    "id", "kind", "text", "printed", "computed", "computed_low", "computed_high", "unit", "verdict", "reason", "source",
)  # fmt: skip
HOLDS, FAILS, UNKNOWN, NOT_PRINTED = "holds", "does not", "cannot be checked", "not printed"
LEAST_FIRST = ("usd", "hours")
TIMES = ("hours", "images_per_s")


def check_claims(claims: Sequence[kinds.Claim], evidence: Evidence) -> pd.DataFrame:
    """One row a claim: COLUMNS, `verdict` being holds, does not, cannot be checked, or not printed (recomputed,
    but the text gives no number).

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
    reached = values[np.isfinite(values)]
    several = len(values) > 1 or not len(reached)
    spelled = ", ".join(f"{name} {_figure(value)}" for name, value in finding.values.items()) if several else None
    return {
        **row,
        "computed": _or_nan(np.median(values)),
        "computed_low": _or_nan(values.min()),
        "computed_high": _or_nan(values.max()),
        "verdict": _verdict(claim, reached),
        "reason": _sentences(spelled, finding.note, claim.reason),
    }


def _verdict(claim: kinds.Claim, reached: np.ndarray) -> str:
    if claim.printed is None:
        return NOT_PRINTED
    if not len(reached):
        return FAILS
    # 0.865 printed as 0.87 must not fail on the last digit of a float.
    slack = claim.tolerance + 1e-9 * max(1.0, abs(claim.printed))
    above, below = claim.printed >= reached.min() - slack, claim.printed <= reached.max() + slack
    return HOLDS if {"equals": above and below, "at_least": below, "at_most": above}[claim.relation] else FAILS


def _or_nan(value: float) -> float:
    return float(value) if np.isfinite(value) else float("nan")


def _figure(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "never"


def _sentences(*parts: str | None) -> str:
    return ". ".join(part.rstrip(".") for part in parts if part)


def _offer(choice: kinds.Choice, evidence: Evidence) -> pd.Series:
    return chosen(evidence.priced, choice).iloc[0]


def _price(claim: kinds.Price, evidence: Evidence) -> Recomputed:
    return Recomputed({"all": float(_offer(claim.of, evidence)["usd_per_hour"]) * claim.hours})


def _monthly(claim: kinds.MonthlyCost, evidence: Evidence) -> Recomputed:
    offer = _offer(claim.of, evidence)
    hours = HOURS_A_DAY * offer["days_per_month"]
    pue = 1.0 if pd.isna(offer["pue"]) else offer["pue"]
    energy = offer["kw"] * pue * offer["usd_per_kwh"] * hours
    total = offer["usd_per_hour"] * hours
    return Recomputed({"all": float({"all": total, "fixed": total - energy, "electricity": energy}[claim.part])})


def _composition(claim: kinds.Composition, evidence: Evidence) -> Recomputed:
    share = float(np.mean([usd / vcpus for vcpus, usd in claim.siblings]))
    machine, cards = claim.vcpus * share, claim.cards * claim.usd_per_card_hour
    note = f"siblings cost {share:.4g} USD a vCPU: {claim.vcpus} vCPUs {machine:.4g} + cards {cards:.4g}"
    return Recomputed({"all": machine + cards}, note)


def _price_ratio(claim: kinds.PriceRatio, evidence: Evidence) -> Recomputed:
    paid = float(_offer(claim.of, evidence)["usd_per_hour"] / _offer(claim.to, evidence)["usd_per_hour"])
    value = 1 - paid if claim.as_discount else paid
    note = f"{paid:.1%} is paid, {1 - paid:.1%} is saved"
    return Recomputed({"all": value * (100 if claim.percent else 1)}, note)


def _best(rows: pd.DataFrame, measure: str) -> pd.Series:
    figures = rows[measure].to_numpy(float)
    return rows.iloc[int(np.nanargmin(figures) if measure in LEAST_FIRST else np.nanargmax(figures))]


def _ratio(claim: kinds.Ratio, evidence: Evidence) -> Recomputed:
    values, notes, used = {}, [], []
    for model, rows in evidence.models(claim.models).items():
        one, other = _best(chosen(rows, claim.of), claim.measure), _best(chosen(rows, claim.to), claim.measure)
        values[model] = float(one[claim.measure] / other[claim.measure])
        if claim.measure == "usd":
            values[model] = 1 / values[model]
        used += [one, other]
        notes += _implied(claim, model, one, other, values[model])
    return Recomputed(values, _sentences(*notes, _evidence_of(used)))


def _implied(claim: kinds.Ratio, model: str, one: pd.Series, other: pd.Series, ratio: float) -> list[str]:
    """What throughput of the other option the claim needs, beside what others have published for it.

    images per USD = 3600 R / p, so a ratio g needs R_other = R_one (p_other / p_one) / g, with the text's own R_one.
    """
    if claim.printed is None or claim.measure != "images_per_usd":
        return []
    stated = claim.stated_images_per_s or one["images_per_s"]
    needed = other["images_per_s"] * ratio / claim.printed * stated / one["images_per_s"]
    return [
        f"{claim.printed:g}x on {model} needs {needed:.0f} images/s of {other['instance']} where {figure.source} gives "
        f"{figure.images_per_s:g} at batch {figure.batch_size}; used here: {other['images_per_s']:.0f}"
        for figure in claim.published
        if figure.model == model
    ]


def _evidence_of(rows: Sequence[pd.Series]) -> str | None:
    """Names the figures that are not the text's own: stand-ins for what it shows in charts only."""
    weak = sorted({row["instance"] for row in rows if row["throughput_basis"] == "stand_in"})
    return f"stand-in throughput: {', '.join(weak)}" if weak else None


def _smallest_gain(claim: kinds.SmallestGain, evidence: Evidence) -> Recomputed:
    gains = {}
    for model, rows in evidence.models([]).items():
        one, other = chosen(rows, claim.of).iloc[0], chosen(rows, claim.to).iloc[0]
        gains[model] = float(one["images_per_usd"] / other["images_per_usd"])
    if claim.model not in gains:
        raise CannotCheckError(f"no priced figure of {claim.model}")
    place = 1.0 + sum(gain < gains[claim.model] for gain in gains.values())
    return Recomputed({claim.model: place}, ", ".join(f"{model} {gain:.3g}x" for model, gain in gains.items()))


def _saving(claim: kinds.Saving, evidence: Evidence) -> Recomputed:
    values, used = {}, []
    for model, rows in evidence.models(claim.models).items():
        one, other = _best(chosen(rows, claim.of), "usd"), _best(chosen(rows, claim.to), "usd")
        values[model] = 100 * float(1 - one["usd"] / other["usd"])
        used.append(other)
    return Recomputed(values, _sentences(_named("compared with", used), _evidence_of(used)))


def _named(what: str, rows: Sequence[pd.Series]) -> str:
    options = sorted({row["option"] for row in rows})
    if len(options) == 1:
        return f"{what} {options[0]}"
    return f"{what} " + ", ".join(f"{row['option']} on {row['model']}" for row in rows)


def _rank(claim: kinds.Rank, evidence: Evidence) -> Recomputed:
    values, used, notes = {}, [], []
    for model, rows in evidence.models(claim.models).items():
        field = chosen(rows, claim.among)
        if claim.without is not None:
            field = field.drop(chosen(field, claim.without).index)
        one = _best(chosen(rows, claim.of), claim.measure)[claim.measure]
        # One machine counts once, whichever way it is paid.
        who = "instance" if claim.measure in TIMES else "option"
        field = field.drop_duplicates(who)
        ahead = field[field[claim.measure] < one if claim.measure in LEAST_FIRST else field[claim.measure] > one]
        values[model] = float(len(ahead) + 1)
        notes.append(f"ahead on {model}: {', '.join(ahead[who]) or 'none'}")
        used += [row for _, row in ahead.iterrows()]
    return Recomputed(values, _sentences(*notes, _evidence_of(used)))


def _reference(evidence: Evidence, model: str) -> pd.Series:
    if model not in evidence.boxes:
        raise CannotCheckError(f"no owned reference with a figure for {model}")
    return evidence.boxes[model]


def _toughest(claim: kinds.BreakEven | kinds.GainAt, rows: pd.DataFrame, box: pd.Series) -> pd.Series:
    """The option that asks least for the work of one box hour (`hour`, USD): the last to be beaten."""
    rivals = chosen(rows[rows["option"] != box["option"]], claim.against)
    hours = 3600.0 * box["images_per_s"] / rivals["images_per_usd"]
    place = int(hours.to_numpy().argmin())
    return pd.concat([rivals.iloc[place], pd.Series({"hour": hours.iloc[place]})])


def _break_even(claim: kinds.BreakEven, evidence: Evidence) -> Recomputed:
    values, used = {}, []
    for model, rows in evidence.models(claim.models).items():
        box = _reference(evidence, model)
        rival = _toughest(claim, rows, box)
        day = crossing_days(box["fixed_usd_per_month"], box["variable_usd_per_hour"], rival["hour"], claim.factor)
        values[model] = float(day)
        used.append(rival)
    return Recomputed(values, _sentences(_named("last to be beaten:", used), _evidence_of(used)))


def _gain_at(claim: kinds.GainAt, evidence: Evidence) -> Recomputed:
    values, used = {}, []
    for model, rows in evidence.models(claim.models).items():
        box = _reference(evidence, model)
        rival = _toughest(claim, rows, box)
        values[model] = float(rival["hour"] / hourly(box.to_frame().T, claim.days).iloc[0])
        used.append(rival)
    return Recomputed(values, _evidence_of(used))


def _extrapolated(claim: kinds.Extrapolated, evidence: Evidence) -> Recomputed:
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
    return Recomputed({"all": float(found["images_per_s"].iloc[0])})


def _mean_efficiency(claim: kinds.MeanEfficiency, evidence: Evidence) -> Recomputed:
    table = evidence.efficiency
    found = table[(table["model"] == claim.model) & (table["batch_size"] == claim.batch_size)]
    found = found[found["basis"] == "published"] if "basis" in found.columns else found
    if found.empty:
        raise CannotCheckError(f"no efficiencies for {claim.model} at batch {claim.batch_size}")
    return Recomputed({"all": float(found["efficiency"].mean())})


CHECKS: dict[type, Callable[..., Recomputed]] = {
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
    **BILL_CHECKS,
}
