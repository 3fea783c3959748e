"""Recompute the claims of a study (`study.claims`) from its tables; lookups that raise CannotCheckError."""

from collections.abc import Callable, Mapping, Sequence

from sweetspot.bills.owning import HOURS_A_DAY, crossing_days, usd_per_hour_of_use
from sweetspot.cells import BASES
from sweetspot.claims.lookup import (
    LEAST_FIRST,
    TIMES,
    CannotCheckError,
    Evidence,
    Figure,
    Recomputed,
    Row,
    best,
    chosen,
    known,
    named,
    number,
    sentences,
    sourced,
    speeds,
    with_persistence,
)
from sweetspot.study import claims as kinds
from sweetspot.study.claims import Choice, spread


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _offer(choice: Choice, evidence: Evidence) -> Row:
    return chosen(evidence.offered, choice)[0]


def _price(claim: kinds.Price, evidence: Evidence) -> Recomputed:
    offer = _offer(claim.of, evidence)
    return Recomputed({"all": number(offer, "usd_per_hour") * claim.hours}, None, sourced("price", [offer]))


def _monthly(claim: kinds.MonthlyCost, evidence: Evidence) -> Recomputed:
    offer = _offer(claim.of, evidence)
    working = HOURS_A_DAY * number(offer, "days_per_month") * (1.0 - number(offer, "downtime_share"))
    fixed, electricity = number(offer, "fixed_usd_per_month"), number(offer, "energy_usd_per_hour") * working
    parts = {"all": fixed + electricity, "fixed": fixed, "electricity": electricity}
    return Recomputed({"all": parts[claim.part]}, None, sourced("price", [offer]))


def _composition(claim: kinds.Composition, evidence: Evidence) -> Recomputed:
    share = _mean([usd / vcpus for vcpus, usd in claim.siblings])
    machine, cards = claim.vcpus * share, claim.cards * claim.usd_per_card_hour
    note = f"Its siblings cost {share:.4g} USD a vCPU: {claim.vcpus} vCPUs are {machine:.4g}, the devices {cards:.4g}"
    return Recomputed({"all": machine + cards}, note)


def _price_ratio(claim: kinds.PriceRatio, evidence: Evidence) -> Recomputed:
    one, other = _offer(claim.of, evidence), _offer(claim.to, evidence)
    usd, rival = number(one, "usd_per_hour"), number(other, "usd_per_hour")
    paid = usd / rival
    value = 1 - paid if claim.as_discount else paid
    # A dearer offer saves nothing: its price is a multiple, not a share.
    share = f"{paid:.1%} is paid, {1 - paid:.1%} is saved" if paid <= 1 else f"{paid:.3g} times the price"
    note = f"{usd:.4g} against {rival:.4g} USD an hour: {share}"
    return Recomputed({"all": value * (100 if claim.percent else 1)}, note, sourced("price", [one, other]))


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
    if claim.within is not None:
        return counted(values, claim.within, figures_of(claim.measure, used, evidence))
    return Recomputed(values, sentences(*notes), figures_of(claim.measure, used, evidence))


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
    gains: dict[str, float] = {}
    used: list[Row] = []
    for model, rows in evidence.models([]).items():
        one, other = chosen(rows, claim.of)[0], chosen(rows, claim.to)[0]
        gains[model] = number(one, "images_per_usd") / number(other, "images_per_usd")
        used += [one, other]
    if claim.model not in gains:
        raise CannotCheckError(f"no priced figure of {claim.model}")
    place = 1.0 + sum(gain < gains[claim.model] for gain in gains.values())
    note = ", ".join(f"{model} {gain:.3g}x" for model, gain in gains.items())
    return Recomputed({claim.model: place}, note, figures_of("images_per_usd", used, evidence))


def _saving(claim: kinds.Saving, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        one, other = best(chosen(rows, claim.of), "usd"), best(chosen(rows, claim.to), "usd")
        values[model] = 100 * (1 - one["usd"] / other["usd"])
        used += [one, other]
    return Recomputed(values, named("compared with", used[1::2]), figures_of("usd", used, evidence))


def _rank(claim: kinds.Rank, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    notes: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        ranked = chosen(rows, claim.among)
        left_out = [] if claim.without is None else chosen(ranked, claim.without)
        ranked = [row for row in ranked if row not in left_out and known(row[claim.measure])]
        its_own = best(chosen(rows, claim.of), claim.measure)
        one = its_own[claim.measure]
        # One machine counts once, whichever way it is paid.
        who = "instance" if claim.measure in TIMES else "option"
        least = claim.measure in LEAST_FIRST
        ahead = [row for row in _once(ranked, who) if (row[claim.measure] < one if least else row[claim.measure] > one)]
        values[model] = float(len(ahead) + 1)
        notes.append(f"ahead on {model}: {', '.join(row[who] for row in ahead) or 'none'}")
        used += [its_own, *ranked]
    return Recomputed(values, sentences(*notes), figures_of(claim.measure, used, evidence))


def _dominated(claim: kinds.Dominated, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    notes: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        one = chosen(rows, claim.of)[0]
        usd, hours = number(one, "usd"), number(one, "hours")
        others = [row for row in chosen(rows, claim.among) if row["option"] != one["option"] and known(row["usd"])]
        better = [row for row in others if row["usd"] <= usd and row["hours"] <= hours]
        better = [row for row in better if (row["usd"], row["hours"]) != (usd, hours)]
        values[model] = float(len(better))
        notes.append(f"better in both on {model}: {', '.join(row['option'] for row in better) or 'none'}")
        used += [one, *others]
    return Recomputed(values, sentences(*notes), figures_of("usd", used, evidence))


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
    rivals = [rival for _, rival, _ in beaten.values()]
    return Recomputed(values, named("last to be beaten:", rivals), _both(beaten, evidence))


def _both(beaten: Mapping[str, tuple[Row, Row, float]], evidence: Evidence) -> tuple[Figure, ...]:
    """The figures of the rivals and the reference."""
    rows = [row for box, rival, _ in beaten.values() for row in (rival, box)]
    return figures_of("usd", rows, evidence)


def _gain_at(claim: kinds.GainAt, evidence: Evidence) -> Recomputed:
    beaten = _last_beaten(claim, evidence)
    values = {
        model: hour / usd_per_hour_of_use(box["fixed_usd_per_month"], box["variable_usd_per_hour"], claim.days)
        for model, (box, _, hour) in beaten.items()
    }
    return Recomputed(values, None, _both(beaten, evidence))


def _extrapolated(claim: kinds.Extrapolated, evidence: Evidence) -> Recomputed:
    wanted = (claim.instance, claim.model, claim.batch_size, claim.method)
    for row in evidence.rows("extrapolation"):
        if (row["instance"], row["model"], row["batch_size"], row["method"]) == wanted:
            return Recomputed({"all": row["images_per_s"]}, None, _made_of(claim, row, evidence))
    raise CannotCheckError("no extrapolation of {}, {}, {} by {}".format(*wanted))


def _made_of(claim: kinds.Extrapolated, found: Row, evidence: Evidence) -> tuple[Figure, ...]:
    """The published speed and efficiencies that an extrapolated figure is made of."""
    base = found.get("base_instance") or claim.instance
    made: tuple[Figure, ...] = ()
    cell = (claim.model, claim.batch_size, "published")
    for kind, table in (("speed", "throughput"), ("efficiency", "efficiency")):
        rows = [row for row in evidence.rows(table) if (row["model"], row["batch_size"], row["basis"]) == cell]
        made += sourced(kind, [row for row in rows if kind == "efficiency" or row["instance"] == base])
    return made


def _mean_efficiency(claim: kinds.MeanEfficiency, evidence: Evidence) -> Recomputed:
    found = [
        row
        for row in evidence.rows("efficiency")
        if (row["model"], row["batch_size"], row["basis"]) == (claim.model, claim.batch_size, "published")
    ]
    if not found:
        raise CannotCheckError(f"no efficiencies for {claim.model} at batch {claim.batch_size}")
    return Recomputed({"all": _mean([row["efficiency"] for row in found])}, None, sourced("efficiency", found))


def _arithmetic(claim: kinds.Arithmetic, evidence: Evidence) -> Recomputed:
    found = spread(claim.expression)
    words = claim.expression.replace("~", "").replace("*", "x")
    note = f"{words} = {found.value:.4g}"
    return Recomputed({"all": found.value}, note, _also(claim.also), (found.low, found.high))


def _also(publications: Sequence[str]) -> tuple[Figure, ...]:
    return tuple(Figure("figures", name, "published", name) for name in publications)


def _counted(claim: kinds.Counted, evidence: Evidence) -> Recomputed:
    found = {name: spread(expression) for name, expression in claim.expressions.items()}
    note = ", ".join(f"{name} {figure.value:.3g}" for name, figure in found.items())
    value, surely, perhaps = (
        float(sum(getattr(figure, end) > claim.above for figure in found.values())) for end in ("value", "low", "high")
    )
    return Recomputed({"all": value}, note, _also(claim.also), (surely, perhaps))


def counted(ratios: Mapping[str, float], within: tuple[float, float], figures: tuple[Figure, ...]) -> Recomputed:
    """For how many models the ratio lies within two bounds."""
    inside = [model for model, ratio in ratios.items() if within[0] <= ratio <= within[1]]
    note = ", ".join(f"{model} {ratio:.3g}" for model, ratio in ratios.items())
    return Recomputed({"all": float(len(inside))}, f"Between {within[0]:g} and {within[1]:g} of {note}", figures)


def figures_of(measure: str, options: Sequence[Row], evidence: Evidence) -> tuple[Figure, ...]:
    """The figures behind a measure of options: their speeds, and their prices unless it is one of TIMES."""
    return speeds(options) + (() if measure in TIMES else sourced("price", evidence.prices(options)))


def _priced(table: str, choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> list[Row]:
    """Rows of `costs` or `bills` for one offer and workload."""
    rows = [row for row in evidence.rows(table) if row["workload"] == workload and gpus in (None, row["gpus"])]
    if not rows:
        raise CannotCheckError(f"no bill of workload {workload}" + (f" on {gpus} devices" if gpus else ""))
    return chosen(with_persistence(rows), choice)


def _total(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> Row:
    """The row of costs with the least USD."""
    rows = [row for row in _priced("costs", choice, workload, gpus, evidence) if known(row["usd"])]
    if not rows:
        raise CannotCheckError(f"workload {workload} has no bill there")
    return best(rows, "usd")


def _lines(choice: Choice, workload: str, gpus: int | None, evidence: Evidence) -> dict[str, float]:
    """USD by line of one bill, in the order of the lines' names."""
    lines: dict[str, float] = {}
    for row in _priced("bills", choice, workload, gpus, evidence):
        lines[row["line"]] = lines.get(row["line"], 0.0) + row["usd"]
    return dict(sorted(lines.items()))


def _bill(claim: kinds.Bill, evidence: Evidence) -> Recomputed:
    def value(choice: Choice) -> float:
        if claim.line is None:
            return float(_total(choice, claim.workload, claim.gpus, evidence)["usd"])
        lines = _lines(choice, claim.workload, claim.gpus, evidence)
        if claim.line not in lines:
            raise CannotCheckError(f"the bill has no line {claim.line!r}; its lines are {', '.join(lines)}")
        return lines[claim.line]

    usd = value(claim.of) - (value(claim.minus) if claim.minus else 0.0)
    billed = [_total(of, claim.workload, claim.gpus, evidence) for of in (claim.of, claim.minus) if of is not None]
    figures = sourced("bill", billed)
    if claim.line is not None or claim.minus is not None:
        return Recomputed({"all": usd}, None, figures)
    lines = _lines(claim.of, claim.workload, claim.gpus, evidence)
    return Recomputed({"all": usd}, " + ".join(f"{name} {amount:.4g}" for name, amount in lines.items()), figures)


def _idle(claim: kinds.Idle, evidence: Evidence) -> Recomputed:
    row = _total(claim.of, claim.workload, claim.gpus, evidence)
    bill = row["usd"]
    busy = claim.utilisation * (claim.cards_used or claim.cards) / claim.cards
    return Recomputed({"all": bill * (1 - busy)}, f"{1 - busy:.0%} of {bill:.4g} USD", sourced("bill", [row]))


def _recoup(claim: kinds.Recoup, evidence: Evidence) -> Recomputed:
    values: dict[str, float] = {}
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        own, rented = chosen(rows, claim.of)[0], chosen(rows, claim.against)[0]
        saved = rented["usd_per_hour"] * own["images_per_s"] / rented["images_per_s"]
        values[model] = number(own, "capex_usd") / (claim.hours_per_day * saved)
        used += [own, rented]
    note = "Electricity and maintenance are not counted, as in the text"
    return Recomputed(values, note, figures_of("usd", used, evidence))


def _throughput_ratio(claim: kinds.ThroughputRatio, evidence: Evidence) -> Recomputed:
    one, other = (_rates(name, evidence) for name in (claim.instance, claim.to))
    values = {
        model: one[model]["images_per_s"] / other[model]["images_per_s"]
        for model in sorted(one.keys() & other.keys())
        if not claim.models or model in claim.models
    }
    if not values:
        raise CannotCheckError(f"no model that both {claim.instance} and {claim.to} have")
    figures = sourced("speed", [row for model in values for row in (one[model], other[model])])
    return Recomputed(values, None, figures) if claim.within is None else counted(values, claim.within, figures)


def _rates(instance: str, evidence: Evidence) -> dict[str, Row]:
    """The throughput of a machine by model: the best evidence, then the fastest."""
    rows = [row for row in evidence.rows("throughput") if row["instance"] == instance and row["status"] == "ok"]
    rows = [row for row in rows if known(row["images_per_s"])]
    if not rows:
        raise CannotCheckError(f"no throughput of {instance}")
    ordered = sorted(rows, key=lambda row: (BASES.index(row["basis"]), -row["images_per_s"]), reverse=True)
    return {row["model"]: row for row in ordered}


def _wins(claim: kinds.Wins, evidence: Evidence) -> Recomputed:
    won: list[str] = []
    lost: list[str] = []
    used: list[Row] = []
    for model, rows in evidence.models(claim.models).items():
        one = chosen(rows, claim.of)
        its_own = {row["option"] for row in one}
        others = [row for row in chosen(rows, claim.to) if row["option"] not in its_own]
        if not others:
            raise CannotCheckError(f"nothing to compare with for {model}")
        used += [best(one, claim.measure), best(others, claim.measure)]
        figure, rival = (row[claim.measure] for row in used[-2:])
        better = figure < rival if claim.measure in LEAST_FIRST else figure > rival
        (won if better else lost).append(model)
    note = f"Better for {', '.join(won) or 'none'}" + (f"; not for {', '.join(lost)}" if lost else "")
    return Recomputed({"all": float(len(won))}, note, figures_of(claim.measure, used, evidence))


CHECKS: dict[type, Callable[..., Recomputed]] = {
    kinds.Price: _price,
    kinds.MonthlyCost: _monthly,
    kinds.Composition: _composition,
    kinds.PriceRatio: _price_ratio,
    kinds.Ratio: _ratio,
    kinds.SmallestGain: _smallest_gain,
    kinds.Saving: _saving,
    kinds.Rank: _rank,
    kinds.Dominated: _dominated,
    kinds.BreakEven: _break_even,
    kinds.GainAt: _gain_at,
    kinds.Extrapolated: _extrapolated,
    kinds.MeanEfficiency: _mean_efficiency,
    kinds.Arithmetic: _arithmetic,
    kinds.Counted: _counted,
    kinds.Bill: _bill,
    kinds.Idle: _idle,
    kinds.Recoup: _recoup,
    kinds.ThroughputRatio: _throughput_ratio,
    kinds.Wins: _wins,
}
