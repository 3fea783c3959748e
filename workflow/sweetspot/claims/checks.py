"""Recompute the claims on prices, options and scaling (`study.claims`); lookups that raise CannotCheckError."""

from collections.abc import Callable, Sequence

from sweetspot.bills.owning import HOURS_A_DAY, crossing_days, usd_per_hour_of_use
from sweetspot.claims.lookup import (
    LEAST_FIRST,
    CannotCheckError,
    Evidence,
    Recomputed,
    Row,
    best,
    chosen,
    known,
    number,
)
from sweetspot.claims.words import named, sentences, stand_ins
from sweetspot.study import claims as kinds

TIMES = ("hours", "images_per_s")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _offer(choice: kinds.Choice, evidence: Evidence) -> Row:
    return chosen(evidence.offered, choice)[0]


def _price(claim: kinds.Price, evidence: Evidence) -> Recomputed:
    return Recomputed({"all": number(_offer(claim.of, evidence), "usd_per_hour") * claim.hours})


def _monthly(claim: kinds.MonthlyCost, evidence: Evidence) -> Recomputed:
    offer = _offer(claim.of, evidence)
    working = HOURS_A_DAY * number(offer, "days_per_month") * (1.0 - number(offer, "downtime_share"))
    fixed, electricity = number(offer, "fixed_usd_per_month"), number(offer, "energy_usd_per_hour") * working
    return Recomputed({"all": {"all": fixed + electricity, "fixed": fixed, "electricity": electricity}[claim.part]})


def _composition(claim: kinds.Composition, evidence: Evidence) -> Recomputed:
    share = _mean([usd / vcpus for vcpus, usd in claim.siblings])
    machine, cards = claim.vcpus * share, claim.cards * claim.usd_per_card_hour
    note = f"siblings cost {share:.4g} USD a vCPU: {claim.vcpus} vCPUs {machine:.4g} + cards {cards:.4g}"
    return Recomputed({"all": machine + cards}, note)


def _price_ratio(claim: kinds.PriceRatio, evidence: Evidence) -> Recomputed:
    one, other = (number(_offer(choice, evidence), "usd_per_hour") for choice in (claim.of, claim.to))
    paid = one / other
    value = 1 - paid if claim.as_discount else paid
    note = f"{paid:.1%} is paid, {1 - paid:.1%} is saved"
    return Recomputed({"all": value * (100 if claim.percent else 1)}, note)


def _ratio(claim: kinds.Ratio, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    notes: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        one, other = best(chosen(rows, claim.of), claim.measure), best(chosen(rows, claim.to), claim.measure)
        ratio = one[claim.measure] / other[claim.measure]
        values[model] = 1 / ratio if claim.measure == "usd" else ratio
        used += [one, other]
        notes += _implied(claim, model, one, other, values[model])
    return Recomputed(values, sentences(*notes, stand_ins(used)))


def _implied(claim: kinds.Ratio, model: str, one: Row, other: Row, ratio: float) -> list[str]:
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


def _smallest_gain(claim: kinds.SmallestGain, evidence: Evidence) -> Recomputed:
    gains = {}
    for model, rows in evidence.models([]).items():
        one, other = chosen(rows, claim.of)[0], chosen(rows, claim.to)[0]
        gains[model] = number(one, "images_per_usd") / number(other, "images_per_usd")
    if claim.model not in gains:
        raise CannotCheckError(f"no priced figure of {claim.model}")
    place = 1.0 + sum(gain < gains[claim.model] for gain in gains.values())
    return Recomputed({claim.model: place}, ", ".join(f"{model} {gain:.3g}x" for model, gain in gains.items()))


def _saving(claim: kinds.Saving, evidence: Evidence) -> Recomputed:
    values, used = {}, []
    for model, rows in evidence.models(claim.models).items():
        one, other = best(chosen(rows, claim.of), "usd"), best(chosen(rows, claim.to), "usd")
        values[model] = 100 * (1 - one["usd"] / other["usd"])
        used.append(other)
    return Recomputed(values, sentences(named("compared with", used), stand_ins(used)))


def _rank(claim: kinds.Rank, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    notes: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        ranked = chosen(rows, claim.among)
        left_out = [] if claim.without is None else chosen(ranked, claim.without)
        ranked = [row for row in ranked if row not in left_out and known(row[claim.measure])]
        one = best(chosen(rows, claim.of), claim.measure)[claim.measure]
        # One machine counts once, whichever way it is paid.
        who = "instance" if claim.measure in TIMES else "option"
        least = claim.measure in LEAST_FIRST
        ahead = [row for row in _once(ranked, who) if (row[claim.measure] < one if least else row[claim.measure] > one)]
        values[model] = float(len(ahead) + 1)
        notes.append(f"ahead on {model}: {', '.join(row[who] for row in ahead) or 'none'}")
        used += ahead
    return Recomputed(values, sentences(*notes, stand_ins(used)))


def _once(rows: Sequence[Row], column: str) -> list[Row]:
    """The first row of each value of a column."""
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row[column], row)
    return list(first.values())


def _last_beaten(claim: kinds.BreakEven | kinds.GainAt, evidence: Evidence) -> dict[str, tuple[Row, Row, float]]:
    """By model: the owned reference, the option that asks least for the work of one of its hours, and those USD."""
    found = {}
    for model, rows in evidence.models(claim.models).items():
        if model not in evidence.boxes:
            raise CannotCheckError(f"no owned reference with a figure for {model}")
        box = evidence.boxes[model]
        rivals = chosen([row for row in rows if row["option"] != box["option"]], claim.against)
        rival = best(rivals, "images_per_usd")
        found[model] = box, rival, 3600.0 * box["images_per_s"] / rival["images_per_usd"]
    return found


def _break_even(claim: kinds.BreakEven, evidence: Evidence) -> Recomputed:
    beaten = _last_beaten(claim, evidence)
    values = {
        model: float(crossing_days(box["fixed_usd_per_month"], box["variable_usd_per_hour"], hour, claim.factor))
        for model, (box, _, hour) in beaten.items()
    }
    used = [rival for _, rival, _ in beaten.values()]
    return Recomputed(values, sentences(named("last to be beaten:", used), stand_ins(used)))


def _gain_at(claim: kinds.GainAt, evidence: Evidence) -> Recomputed:
    beaten = _last_beaten(claim, evidence)
    values = {
        model: hour / usd_per_hour_of_use(box["fixed_usd_per_month"], box["variable_usd_per_hour"], claim.days)
        for model, (box, _, hour) in beaten.items()
    }
    return Recomputed(values, stand_ins([rival for _, rival, _ in beaten.values()]))


def _extrapolated(claim: kinds.Extrapolated, evidence: Evidence) -> Recomputed:
    wanted = (claim.instance, claim.model, claim.batch_size, claim.method)
    for row in evidence.rows("extrapolation"):
        if (row["instance"], row["model"], row["batch_size"], row["method"]) == wanted:
            return Recomputed({"all": row["images_per_s"]})
    raise CannotCheckError("no extrapolation of {}, {}, {} by {}".format(*wanted))


def _mean_efficiency(claim: kinds.MeanEfficiency, evidence: Evidence) -> Recomputed:
    found = [
        row["efficiency"]
        for row in evidence.rows("efficiency")
        if (row["model"], row["batch_size"], row["basis"]) == (claim.model, claim.batch_size, "published")
    ]
    if not found:
        raise CannotCheckError(f"no efficiencies for {claim.model} at batch {claim.batch_size}")
    return Recomputed({"all": _mean(found)})


OPTION_CHECKS: dict[type, Callable[..., Recomputed]] = {
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
