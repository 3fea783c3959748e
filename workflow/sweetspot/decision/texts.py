"""What the decision says: the verdict and what to do, turning points, from when something pays; a sentence each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.choice_kinds import (
    BUY,
    CANNOT,
    COMMIT,
    CONTRACT,
    EXCLUDED,
    FACTOR,
    KEEP,
    LIMIT,
    MACHINE,
    MAY_STOP,
    MIX,
    RENT,
)
from sweetspot.wording import (
    DOLLARS,
    TIE,
    Money,
    Words,
    amount,
    begun,
    confidence,
    listed,
    number_of,
    percent,
    the,
    times,
)

VERBS = {KEEP: "Keep what you have", RENT: "Rent by the hour", CONTRACT: "Sign the contract", BUY: "Buy", MIX: "Buy"}
COSTS = {KEEP: "What you have", RENT: "Renting", CONTRACT: "A contract", BUY: "Buying", MIX: "Buying"}
IMPERATIVES = {KEEP: "Keep", RENT: "Rent", CONTRACT: "Sign for", BUY: "Buy", MIX: "Buy"}
WHY_NOT = {
    MAY_STOP: "it can be interrupted",
    EXCLUDED: "not of the price lists that the answer takes",
    CANNOT: "does not do the work",
    LIMIT: "breaks a limit of the team",
}
LISTED_MACHINES = 2  # machines without a speed that are named
SENTENCE_WORDS, DO_THIS_WORDS = 15, 20  # at most; a toss-up has 20 too
REACHABLE = 2.0  # times the price of a machine: a threshold beyond that is not said
LARGEST_PERCENTAGE = 2.0  # times the plan: from here on no percentage is said
ALL = 0.95  # of the money
VerdictRow = Mapping[str, Any]


def of_several(answer: VerdictRow, rows: Sequence[VerdictRow]) -> str:
    """Say which of several works the answer is about, and for which of the others it is another."""
    different = [row for row in rows if row["take"] != answer["take"]]
    about = f"This is about “{answer['workload_title']}”. The same machine is cheapest for"
    if not different:
        return f"{about} {'both works' if len(rows) == 2 else f'all {len(rows)} works'}."
    first = f"for {different[0]['workload_title']} it is {the(str(different[0]['take_title']))}"
    rest = ", among others" if len(different) > 1 else ""
    return f"{about} {len(rows) - len(different)} of the {len(rows)} works; {first}{rest}."


def thresholds(facts: VerdictRow, currency: Money) -> list[str]:
    """Say from where on it is another answer, a sentence each, where what to do does not say it."""
    sentences = [time_first(facts, currency)] if facts.get("timed") else []
    values: list[tuple[str, str]] = []
    factor, days = facts["work_factor"], facts["pays_from_days"]
    price = currency.words(facts["buy_below_usd"])
    if _is_reachable(facts) and price not in facts["sentence"]:
        bound = "up to" if facts["kind"] in (BUY, MIX) else "below"
        values.append((price, f"Buying pays {bound} {{}} for {the(str(facts['box_title']))}."))
    if pd.notna(days):
        counts = f"this counts {facts['busy_days_per_month']:g}"
        values.append((f"{days:.2g} days", f"Buying pays from {{}} of use a month; {counts}."))
    if factor > 1:
        month = "" if pd.isna(facts["work_month"]) else f": a month has it from month {facts['work_month']:.0f} on"
        values.append((f"{times(factor)} times", f"Buying pays with {{}} as much work{month}."))
    if 0 < factor < 1:
        rival = "renting" if RENT in (facts["kind"], facts["rival_kind"]) else "not buying"
        cheaper = f"With less than {{}} of the work {rival} is cheaper."
        is_tie = facts["confidence"] == TIE
        values.append((f"{100 * factor:.0f} %", cheaper if is_tie else "Buying still pays with {} of the work."))
        if facts["work_until"] > 1:
            box = begun(the(str(facts["pays_title"])))
            values.append((f"{100 * facts['work_until']:.0f} %", f"{box} pays up to {{}} of the work."))
    return sentences + [text.format(value) for value, text in values if value not in facts["do_this"]]


def time_first(facts: VerdictRow, currency: Money) -> str:
    """Say which machines to time before the work is given to them, what that costs and saves."""
    trial, saved = currency.words(facts["trial_usd"]), currency.words(facts["saving_usd"])
    return f"Time one job on {_timed_machines(facts)} first (about {trial}): saves {saved}{_period(facts)}."


def _timed_machines(facts: VerdictRow) -> str:
    return listed([the(str(title)) for title in facts["timed"]])


def _period(facts: VerdictRow) -> str:
    return f" over {facts['months']:g} months" if facts["months"] > 1 else ""


def breaks(limit: str, allowed: float, actual: float, money: Money) -> str:
    """Say why a choice that breaks a limit of the team's is not the answer.

    Parameters
    ----------
    limit
        `at_most_up_front` (USD) or `mean_wait_at_most` (hours).
    allowed, actual
        In the limit's unit.
    money
        The currency of the page.
    """
    value, bound = _in_limit_unit(limit, actual, money), _in_limit_unit(limit, allowed, money)
    text = f"costs {value} up front" if limit == "at_most_up_front" else f"jobs wait {value} on average"
    return f"{text}, more than the {bound} allowed"


def price_of_limit(limit: str, allowed: float, saved_usd: float, money: Money) -> str:
    """Say what a limit costs.

    Parameters
    ----------
    limit, allowed, money
        As of `breaks`.
    saved_usd
        USD a month that the answer is cheaper without it; NaN: nothing keeps it.
    """
    kind = "up front" if limit == "at_most_up_front" else "of waiting"
    text = f"the limit of {_in_limit_unit(limit, allowed, money)} {kind}"
    if math.isnan(saved_usd):
        return f"No choice keeps {text}."
    return f"Without {text} it costs {money.words(saved_usd)} less a month."


def _in_limit_unit(limit: str, value: float, money: Money) -> str:
    if limit == "at_most_up_front":
        return money.words(value)
    return f"{amount(value)} h" if math.isfinite(value) else "without end"


def sooner_in_words(filled: float) -> str:
    """Say what keeps a limit on waiting: how far machines are filled before anything is rented."""
    return f"To wait no longer than allowed, use them {100 * filled:.0f} % of the time at most and rent the rest."


def late_in_words(titles: Mapping[str, float]) -> str:
    """Say what a single job and a plan of phases leave out: after how many months a machine comes, by its title."""
    machines = listed([f"{the(title)} comes after {amount(months)} months" for title, months in titles.items()])
    return f"Not counted: {machines}; what renting costs until then comes on top."


def until_in_words(titles: Mapping[str, str], ended: bool) -> str:
    """Say until which day offers stand, or on which they `ended`, by their titles."""
    offers = listed([f"{the(title)} {'on' if ended else 'until'} {day}" for title, day in titles.items()])
    return f"Ask again, the offer has ended: {offers}." if ended else f"The offer stands: {offers}."


def _toss_up(facts: VerdictRow, kind: str, currency: Money) -> str:
    """Say of a tie with a purchase what to do, and the price that decides beside the one that is known."""
    price, below = (currency.words(facts[name]) for name in ("box_usd", "buy_below_usd"))
    if kind in (BUY, MIX):
        rival = COSTS[str(facts["rival_kind"])]
        return f"Toss-up: buy at the {price} offered. {rival} costs about the same{_period(facts)}."
    verb = {KEEP: "keep what you have", CONTRACT: "sign the contract"}.get(kind, "rent")
    if facts["firm_price"]:
        return f"Toss-up: {verb}, unless the offer of {price} falls below {below}."
    about, low, high = (f"{float(f'{currency.of(facts[name]):.3g}'):,.0f}"
                        for name in ("box_usd", "box_usd_low", "box_usd_high"))  # fmt: skip
    list_price = f"list price about {about}, range {low} to {high}"
    return f"Toss-up: {verb} until you hold a written quote below {below} ({list_price})."


def _decided_by_price(facts: VerdictRow) -> bool:
    """Return whether it is a tie of a purchase and something that binds less, and a price within reach decides."""
    is_tie = facts["level"] == COMMIT and facts["confidence"] == TIE
    return is_tie and not {facts["kind"], facts["rival_kind"]}.isdisjoint((BUY, MIX)) and _is_reachable(facts)


def sentence(facts: VerdictRow, kind: str, currency: Money = DOLLARS) -> str:
    """Say the verdict in at most SENTENCE_WORDS words: the verb first, then what the rival costs.

    Parameters
    ----------
    facts
        The row of the verdict.
    kind
        Kind of the choice to take.
    currency
        Of the page.
    """
    if _decided_by_price(facts):
        return _toss_up(facts, kind, currency)
    is_tie, ratio, verb = facts["confidence"] == TIE, facts["ratio"], VERBS[kind]
    maybe = "" if is_tie or facts["confidence"] == "clear" else "probably "
    if facts["level"] == COMMIT:
        rival = COSTS[str(facts["rival_kind"] if kind == facts["kind"] or not is_tie else facts["kind"])]
        if is_tie:
            return f"{verb} for now. {rival} costs about the same{_period(facts)}."
        if math.isinf(ratio):
            return f"{verb}: that costs nothing. {rival} costs {currency.words(facts['rival_usd'])}."
        return f"{verb}. {rival} {maybe}costs {times(ratio)} times as much."
    take = f"{IMPERATIVES[kind]} {_machine(facts, 'take')}."
    if facts["take_rival"] is None:
        return take
    cost = "about the same" if is_tie else _times_as_much(ratio)
    return _shortened([f"{take} {begun(_machine(facts, 'take_rival'))} {maybe}costs {cost}.", take], SENTENCE_WORDS)


def _times_as_much(ratio: float) -> str:
    return "more than nothing" if math.isinf(ratio) else f"{times(ratio)} times as much"


def not_decided(names: Sequence[str], cheapest: str) -> tuple[str, str]:
    """Say that machines without a speed could turn the verdict, and what to do."""
    rest = [f"{len(names) - LISTED_MACHINES} more"] if len(names) > LISTED_MACHINES else []
    machines = listed([*map(the, names[:LISTED_MACHINES]), *rest])
    verdicts = [f"Not decided: no speed is known of {machines}.", f"Not decided: {len(names)} machines have no speed."]
    speeds = "that speed" if len(names) == 1 else "these speeds"
    advice = f"Measure or add {speeds}. Of what has a speed, {the(cheapest)} is the cheapest."
    return _shortened(verdicts, SENTENCE_WORDS), _shortened([advice, "Measure or add the speeds."], DO_THIS_WORDS)


def do_this(facts: VerdictRow, kind: str, words: Words) -> str:
    """Say what to do in at most DO_THIS_WORDS words: the machine to begin with; of a tie what decides.

    Parameters
    ----------
    facts, kind
        As of `sentence`.
    words
        Of what a bill pays for.
    """
    return _shortened(_advice(facts, kind, words), DO_THIS_WORDS)


def _advice(facts: VerdictRow, kind: str, words: Words) -> list[str]:
    """Say what to do, the fullest text first."""
    title, rival, currency = _machine(facts, "take"), _machine(facts, "take_rival"), words.money
    has_rival = facts["take_rival"] is not None
    is_tie = has_rival and confidence(facts["take_p_cheaper"]) == TIE
    probability = f" ({percent(facts['take_p_cheaper'])})" if has_rival else ""
    if pd.notna(facts["from_jobs"]):
        from_jobs = f"It pays from {number_of(round(facts['from_jobs']), words.many[:-1], words.many)} a month."
        return [f"{from_jobs} For fewer take {the(str(facts['by_hour_title']))}.", from_jobs]
    if facts["level"] == MACHINE:
        if not has_rival:
            return ["Nothing else does this work."]
        if is_tie:
            same = "cost about the same: take either."
            return [f"{begun(title)} and {rival} {same}", f"{begun(rival)} costs about the same."]
        costs = f"costs {_times_as_much(facts['take_ratio'])}{probability}."
        return [f"{begun(rival)} {costs}", f"The second choice {costs}"]
    start = f"Start with {title}"
    if facts.get("timed") and kind in (KEEP, RENT):
        return _advice_to_time(facts, kind, currency)
    if _decided_by_price(facts) and kind not in (BUY, MIX):
        lower = "Below that price buying costs less"
        return [f"{start}. {lower}: then buy {the(str(facts['box_title']))}.", f"{start}. {lower}.", f"{start}."]
    if kind == KEEP:
        nothing, today = "Buy and sign nothing.", f", the cheapest today{probability}" if has_rival else ""
        return [f"{nothing} Rent {title}{today}.", f"{nothing} Rent {title}.", nothing]
    if kind == RENT:
        both, again = f"{start} or {rival}: both cost about the same today.", "Compare again every quarter."
        today = f"{start}, the cheapest today{probability}."
        return [f"{both} {again}", both, today] if is_tie else [f"{today} {again}", today]
    take, factor = f"{IMPERATIVES[kind]} {title}.", facts["work_factor"]
    price = f"It pays up to {currency.words(facts['buy_below_usd'])}." if _is_reachable(facts) else ""
    work = f"It still pays with {100 * factor:.0f} % of the work." if 0 < factor < 1 else ""
    if pd.notna(facts["pays_from_days"]):
        price, work = "", f"It pays from {facts['pays_from_days']:.2g} days of use a month."
    return [" ".join(filter(None, (take, price, work))), f"{take} {work or price}".strip(), take]


def _advice_to_time(facts: VerdictRow, kind: str, currency: Money) -> list[str]:
    """Say what to do where machines are timed before any is rented, the fullest text first."""
    start = "Buy and sign nothing. " if kind == KEEP else ""
    count = len(facts["timed"])
    below = " Below that price buying costs less." if _decided_by_price(facts) else ""
    machines = f"{count} machines" if count > 1 else "one machine"
    about = f"first (about {currency.words(facts['trial_usd'])}), then rent the cheapest.{below}"
    return [
        f"{start}Time one job on {_timed_machines(facts)} {about}",
        f"{start}Time one job on {machines} {about}",
        f"{start}Time {machines} first, then rent the cheapest.{below}",
    ]


def _machine(facts: VerdictRow, name: str) -> str:
    """Return machine and seller of a choice within a sentence: of rentals alone what is rented most."""
    return the(str(facts[f"{name}_lead"] or facts[f"{name}_title"]))


def _is_reachable(facts: VerdictRow) -> bool:
    """Return whether the price at which buying pays is one that somebody could be asked."""
    return bool(facts["box_usd"] / REACHABLE < facts["buy_below_usd"] < facts["box_usd"] * REACHABLE)


def _shortened(texts: Sequence[str], maximum: int) -> str:
    """Return the first of the texts that has at most so many words, else the last."""
    return next((text for text in texts if len(text.split()) <= maximum), texts[-1])


def no_answer(offers: int, figures: int) -> str:
    """Say that no option has both a price and a figure, by how many there are of each."""
    if not offers:
        return "No answer yet: nothing here has a price."
    if not figures:
        return "No answer yet: no machine here has a speed, measured or published."
    return "No answer yet: no machine has both a price and a speed at the batch that is asked for."


def beside_in_words(rented: str, owned: Sequence[str], share: float = 1.0) -> str:
    """Say what is rented beside what one has.

    Parameters
    ----------
    rented
        Title of what is rented.
    owned
        A title for each machine that one has.
    share
        How much of the money is for it, said where one has nothing.
    """
    if not owned:
        return f"{'all' if share > ALL else 'most' if share > 0.5 else 'some'} on {the(rented)}"
    yours = f"your {owned[0].removeprefix('your ')}" if len(owned) == 1 else "what you have"
    return f"{rented} beside {yours}"


def side(factor: float) -> str:
    """Return on which side of what is planned a factor lies."""
    return "above" if factor > 1 else "below"


def off_plan(factor: float) -> str:
    """Say how far from what is planned a factor lies: `12 % higher than planned`."""
    if factor >= LARGEST_PERCENTAGE:
        return f"{times(factor)} times what is planned"
    return f"{100 * abs(factor - 1):.2g} % {'higher' if factor > 1 else 'lower'} than planned"


def in_unit(value: float, unit: str, name: str = "") -> str:
    """Say a figure with its unit: `0.63 USD an hour`.

    Parameters
    ----------
    value, unit
        The figure.
    name
        What it is; where that ends with "a month", the unit does not say it again.
    """
    unit = unit.removesuffix("/month") if name.endswith(" a month") else unit
    return f"{amount(value)} {unit.replace('/hour', ' an hour').replace('/month', ' a month')}"


def turn_in_words(name: str, value: float, unit: str, factor: float, money: Money) -> str:
    """Say at which value of an assumption the answer turns.

    Parameters
    ----------
    name, value, unit
        The assumption as planned.
    factor
        The turning value over the planned one.
    money
        The currency of the page.
    """
    if unit == FACTOR:
        return f"{name} {off_plan(factor)}"
    value, unit = money.counted(value * factor, unit)
    return f"{name} {side(factor)} {in_unit(value, unit, name)}"


def flip_in_words(word: str, value: float, unit: str, factor: float, flips: bool, furthest: float, money: Money) -> str:
    """Say where an assumption changes what is called `word`.

    Parameters
    ----------
    word
        Such as "verdict".
    value, unit, factor, money
        As of `turn_in_words`; a factor of NaN: at none up to `furthest`.
    flips
        Whether that lies inside its range.
    furthest
        The largest factor that was tried.
    """
    if math.isnan(factor):
        return f"no value within a factor of {furthest:g} changes the {word}"
    value, unit = money.counted(factor * value, unit)
    where = "inside" if flips else "outside"
    return f"the {word} changes at {in_unit(value, unit)} ({100 * (factor - 1):+.0f} %), {where} its range"


def pays_in_words(
    title: str, value: float, planned: float, unit: str, bounds: tuple[float, float], until: float
) -> str:
    """Say from how much on a machine pays.

    Parameters
    ----------
    title
        The machine.
    value
        From here on; 0: from less than the lower bound; infinite: at no number up to the upper one.
    planned, unit
        What is planned.
    bounds
        The least and the most that was tried.
    until
        With more it pays no longer; infinite: it always does.
    """
    box, low, high = begun(the(title)), amount(bounds[0]), amount(bounds[1])
    plan = f"{amount(planned)} are planned"
    if not math.isfinite(value):
        return f"{box} pays at no number up to {high} {unit}"
    if math.isfinite(until):
        start = amount(value) if value > 0 else f"less than {low}"
        return f"{box} pays from {start} to {amount(until)} {unit}; {plan}"
    if value == 0:
        return f"{box} pays from less than {low} {unit} on"
    return f"{box} pays from {amount(value)} {unit} on; {plan}"


def break_even_in_words(days: Sequence[float], use: float) -> str:
    """Say from which days of use a month a machine pays that is used on `use` days.

    Parameters
    ----------
    days
        The days, their low and high; NaN: never.
    use
        Days of use a month as planned.
    """
    value, low, high = days
    if value == 0:
        return "cheaper on the days planned, and on fewer"
    if math.isnan(value):
        lowest = "" if math.isnan(low) else f" at the central figures; from {low:.1f} days a month at the lowest"
        return f"never{lowest}"
    span = f"{low:.1f} to {high:.1f}" if not math.isnan(high) else f"{low:.1f} to never"
    pays = "pays at the planned use" if value <= use else "does not pay at the planned use"
    return f"from {value:.1f} days a month ({span}); {pays} of {use:g}"
