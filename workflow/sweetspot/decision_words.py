"""What the decision says: the verdict and what to do, turning points, from when something pays; a sentence each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.wording import (
    DOLLARS,
    TIE,
    Money,
    Words,
    amount,
    begun,
    confidence,
    counted,
    listed,
    percent,
    the,
    times,
)

KEEP, RENT, CONTRACT, BUY, MIX = "keep", "rent", "contract", "buy", "mix"  # kinds of choices
COMMIT, MACHINE = "commit", "machine"  # levels of a verdict
NOT_DECIDED = "not decided"  # confidence of a verdict where what could turn it has no speed
NAMED = 2  # machines without a speed that are named
VERBS = {KEEP: "Keep what you have", RENT: "Rent by the hour", CONTRACT: "Sign the contract", BUY: "Buy", MIX: "Buy"}
COSTS = {KEEP: "What you have", RENT: "Renting", CONTRACT: "A contract", BUY: "Buying", MIX: "Buying"}
MAY_STOP, NOT_ASKED, CANNOT, LIMIT = "interruptible", "not_asked", "cannot", "limit"  # why a choice is not the answer
WHY_NOT = {
    MAY_STOP: "it can be interrupted",
    NOT_ASKED: "not of the price lists that the answer takes",
    CANNOT: "does not do the work",
    LIMIT: "breaks a limit of the team",
}
COUNTED = "this counts {busy_days_per_month:g}"
SENTENCE, TOSS_UP, DO_THIS = 15, 20, 20  # words
NEAR = 2.0  # times the price of a machine: a threshold farther off is not said
FACTOR = "times the plan"  # unit of what is said as a factor of the plan
FAR = 2.0  # times the plan: from here on no percentage is said
Facts = Mapping[str, Any]  # a row of the verdict


def of_several(answer: Facts, told: Sequence[Facts]) -> str:
    """Which of several works the answer is about, and for which of the others it is another."""
    others = [row for row in told if row["take"] != answer["take"]]
    about = f"This is about “{answer['workload_title']}”. The same machine is cheapest for"
    if not others:
        return f"{about} {'both works' if len(told) == 2 else f'all {len(told)} works'}."
    first, *more = others
    named = f"for {first['workload_title']} it is {the(str(first['take_title']))}"
    return f"{about} {len(told) - len(others)} of the {len(told)} works; {named}{', among others' if more else ''}."


def thresholds(facts: Facts, currency: Money) -> list[str]:
    """From where on it is another answer, a sentence each, where what to do does not say it."""
    told: list[tuple[str, str]] = []
    if facts.get("timed"):
        told.append(("", time_first(facts, currency)))
    factor, days = facts["work_factor"], facts["pays_from_days"]
    if _near(facts) and currency.words(facts["buy_below_usd"]) not in facts["sentence"]:
        word = "up to" if facts["kind"] in (BUY, MIX) else "below"
        price = currency.words(facts["buy_below_usd"])
        told.append((price, f"Buying pays {word} {{}} for {the(str(facts['box_title']))}."))
    if pd.notna(days):
        told.append((f"{days:.2g} days", f"Buying pays from {{}} of use a month; {COUNTED.format(**facts)}."))
    if factor > 1:
        month = facts["work_month"]
        then = "" if pd.isna(month) else f": a month has it from month {month:.0f} on"
        told.append((f"{times(factor)} times", f"Buying pays with {{}} as much work{then}."))
    if 0 < factor < 1:
        other = "renting" if RENT in (facts["kind"], facts["rival_kind"]) else "not buying"
        less = f"With less than {{}} of the work {other} is cheaper."
        tie = facts["confidence"] == TIE
        told.append((f"{100 * factor:.0f} %", less if tie else "Buying still pays with {} of the work."))
        if facts["work_until"] > 1:
            box = begun(the(str(facts["pays_title"])))
            told.append((f"{100 * facts['work_until']:.0f} %", f"{box} pays up to {{}} of the work."))
    return [sentence.format(value) for value, sentence in told if not value or value not in facts["do_this"]]


def time_first(facts: Facts, currency: Money) -> str:
    """Which machines to time before the work is given to them, what that costs and saves."""
    trial, saved = currency.words(facts["trial_usd"]), currency.words(facts["saving_usd"])
    over = f" over {facts['months']:g} months" if facts["months"] > 1 else ""
    machines = listed([the(str(one)) for one in facts["timed"]])
    return f"Time one job on {machines} first (about {trial}): saves {saved}{over}."


LIMITED = {
    "at_most_up_front": ("costs {found} up front, more than the {most} allowed", "the limit of {most} up front"),
    "mean_wait_at_most": (
        "jobs wait {found} on average, more than the {most} allowed",
        "the limit of {most} of waiting",
    ),
}


def breaks(limit: str, most: float, found: float, money: Money) -> str:
    """Why a choice that breaks a limit of the team's is not the answer; USD, or hours."""
    return LIMITED[limit][0].format(most=_limit(limit, most, money), found=_limit(limit, found, money))


def price_of_limit(limit: str, most: float, less: float, money: Money) -> str:
    """What a limit costs: USD a month that the answer is cheaper without it; NaN: nothing keeps it."""
    told = LIMITED[limit][1].format(most=_limit(limit, most, money))
    if math.isnan(less):
        return f"No choice keeps {told}."
    return f"Without {told} it costs {money.words(less)} less a month."


def sooner_in_words(filled: float) -> str:
    """What keeps a limit on waiting: how far machines are filled before anything is rented."""
    return f"To wait no longer than allowed, use them {100 * filled:.0f} % of the time at most and rent the rest."


def late_in_words(titles: Mapping[str, float]) -> str:
    """What a job alone and a plan of phases leave out: that a machine comes only after so many months, by its title."""
    told = listed([f"{the(title)} comes after {amount(months)} months" for title, months in titles.items()])
    return f"Not counted: {told}; what renting costs until then comes on top."


def until_in_words(titles: Mapping[str, str], ended: bool) -> str:
    """Until which day offers stand, or on which they `ended`, by their titles."""
    told = listed([f"{the(title)} {'on' if ended else 'until'} {day}" for title, day in titles.items()])
    return f"Ask again, the offer has ended: {told}." if ended else f"The offer stands: {told}."


def _limit(limit: str, value: float, money: Money) -> str:
    if limit != "mean_wait_at_most":
        return money.words(value)
    return f"{amount(value)} h" if math.isfinite(value) else "without end"


def _toss_up(facts: Facts, advised: str, currency: Money) -> str:
    """A tie with a purchase: what to do, and the price that decides, held against the one that is known."""
    price, below = (currency.words(facts[name]) for name in ("box_usd", "buy_below_usd"))
    if advised in (BUY, MIX):
        over = f" over {facts['months']:g} months" if facts["months"] > 1 else ""
        return f"Toss-up: buy at the {price} offered. {COSTS[str(facts['rival_kind'])]} costs about the same{over}."
    verb = {KEEP: "keep what you have", CONTRACT: "sign the contract"}.get(advised, "rent")
    if facts["firm_price"]:
        return f"Toss-up: {verb}, unless the offer of {price} falls below {below}."
    about, low, high = (f"{float(f'{currency.of(facts[name]):.3g}'):,.0f}"
                        for name in ("box_usd", "box_usd_low", "box_usd_high"))  # fmt: skip
    known = f"list price about {about}, range {low} to {high}"
    return f"Toss-up: {verb} until you hold a written quote below {below} ({known})."


def _decided_by_price(facts: Facts) -> bool:
    """Whether it is a tie of a purchase and something that binds less, and a price within reach decides."""
    tie = facts["level"] == COMMIT and facts["confidence"] == TIE
    return tie and {facts["kind"], facts["rival_kind"]} & {BUY, MIX} != set() and _near(facts)


def sentence(facts: Facts, advised: str, currency: Money = DOLLARS) -> str:
    """The verdict in at most SENTENCE words, of a tie with a purchase TOSS_UP: the verb first, then what the other way
    costs; `advised`: the kind that `take` is of.
    """
    verb, close = VERBS[advised], facts["confidence"] == TIE
    if _decided_by_price(facts):
        return _toss_up(facts, advised, currency)
    maybe = "" if close or facts["confidence"] == "clear" else "probably "
    if facts["level"] == COMMIT:
        other = facts["rival_kind"] if advised == facts["kind"] or not close else facts["kind"]
        if close:
            over = f" over {facts['months']:g} months" if facts["months"] > 1 else ""
            return f"{verb} for now. {COSTS[str(other)]} costs about the same{over}."
        if math.isinf(facts["ratio"]):
            return f"{verb}: that costs nothing. {COSTS[str(other)]} costs {currency.words(facts['rival_usd'])}."
        return f"{verb}. {COSTS[str(other)]} {maybe}costs {times(facts['ratio'])} times as much."
    alone = f"{_taken(advised)} {_machine(facts, 'take')}."
    if facts["take_rival"] is None:
        return alone
    free = not close and math.isinf(facts["ratio"])
    how = "about the same" if close else "more than nothing" if free else f"{times(facts['ratio'])} times as much"
    return _short([f"{alone} {begun(_machine(facts, 'take_rival'))} {maybe}costs {how}.", alone], SENTENCE)


def not_decided(names: Sequence[str], cheapest: str) -> tuple[str, str]:
    """Where machines without a speed could turn the verdict: that it is not decided, and what to do."""
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    machines = listed([*map(the, names[:NAMED]), *more])
    found = f"Not decided: no speed is known of {machines}."
    known = f"Of what has a speed, {the(cheapest)} is the cheapest."
    ways = [
        f"Measure or add {'that speed' if len(names) == 1 else 'these speeds'}. {known}",
        "Measure or add the speeds.",
    ]
    return _short([found, f"Not decided: {len(names)} machines have no speed."], SENTENCE), _short(ways, DO_THIS)


def do_this(facts: Facts, advised: str, words: Words) -> str:
    """What to do, in at most DO_THIS words: the machine to begin with; where it is too close to call what decides."""
    return _short(_ways_to_say(facts, advised, words), DO_THIS)


def _ways_to_say(facts: Facts, advised: str, words: Words) -> list[str]:
    """What to do, the fullest way to say it first."""
    title, rival, currency = _machine(facts, "take"), _machine(facts, "take_rival"), words.money
    alone = facts["take_rival"] is None
    close = not alone and confidence(facts["take_p_cheaper"]) == TIE
    sure = "" if alone else f" ({percent(facts['take_p_cheaper'])})"
    if pd.notna(facts["from_jobs"]):
        from_jobs = f"It pays from {counted(round(facts['from_jobs']), words.many[:-1], words.many)} a month."
        return [f"{from_jobs} For fewer take {the(str(facts['by_hour_title']))}.", from_jobs]
    if facts["level"] == MACHINE:
        if alone:
            return ["Nothing else does this work."]
        if close:
            same = "cost about the same: take either."
            return [f"{begun(title)} and {rival} {same}", f"{begun(rival)} costs about the same."]
        more = "more than nothing" if math.isinf(facts["take_ratio"]) else f"{times(facts['take_ratio'])} times as much"
        dearer = f"costs {more}{sure}."
        return [f"{begun(rival)} {dearer}", f"The second choice {dearer}"]
    start = f"Start with {title}"
    if facts.get("timed") and advised in (KEEP, RENT):
        return _ways_to_time(facts, advised, currency)
    if _decided_by_price(facts) and advised not in (BUY, MIX):
        box, lower = the(str(facts["box_title"])), "Below that price buying costs less"
        return [f"{start}. {lower}: then buy {box}.", f"{start}. {lower}.", f"{start}."]
    if advised == KEEP:
        nothing, today = "Buy and sign nothing.", "" if alone else f", the cheapest today{sure}"
        return [f"{nothing} Rent {title}{today}.", f"{nothing} Rent {title}.", nothing]
    if advised == RENT:
        both, again = f"{start} or {rival}: both cost about the same today.", "Compare again every quarter."
        today = f"{start}, the cheapest today{sure}."
        return [f"{both} {again}", both, today] if close else [f"{today} {again}", today]
    taken, factor = f"{_taken(advised)} {title}.", facts["work_factor"]
    paid = f"It pays up to {currency.words(facts['buy_below_usd'])}." if _near(facts) else ""
    work = f"It still pays with {100 * factor:.0f} % of the work." if 0 < factor < 1 else ""
    if pd.notna(facts["pays_from_days"]):
        paid, work = "", f"It pays from {facts['pays_from_days']:.2g} days of use a month."
    return [" ".join(filter(None, (taken, paid, work))), f"{taken} {work or paid}".strip(), taken]


def _ways_to_time(facts: Facts, advised: str, currency: Money) -> list[str]:
    """What to do where machines are timed before any is rented, the fullest way to say it first."""
    start = "Buy and sign nothing. " if advised == KEEP else ""
    trial, count = currency.words(facts["trial_usd"]), len(facts["timed"])
    machines = listed([the(str(one)) for one in facts["timed"]])
    below = " Below that price buying costs less." if _decided_by_price(facts) else ""
    several = f"{count} machines" if count > 1 else "one machine"
    return [
        f"{start}Time one job on {machines} first (about {trial}), then rent the cheapest.{below}",
        f"{start}Time one job on {several} first (about {trial}), then rent the cheapest.{below}",
        f"{start}Time {several} first, then rent the cheapest.{below}",
    ]


def _machine(facts: Facts, name: str) -> str:
    """The machine and seller of a choice within a sentence: of rentals alone what is rented most."""
    return the(str(facts[f"{name}_lead"] or facts[f"{name}_title"]))


def _near(facts: Facts) -> bool:
    """Whether the price at which buying pays is one that somebody could be asked."""
    return bool(facts["box_usd"] / NEAR < facts["buy_below_usd"] < facts["box_usd"] * NEAR)


ALL = 0.95  # of the money


def _taken(kind: str) -> str:
    return {KEEP: "Keep", RENT: "Rent", CONTRACT: "Sign for"}.get(kind, "Buy")


def _short(ways: Sequence[str], most: int) -> str:
    """The first of the ways to say it that has at most so many words, else the last of them."""
    return next((words for words in ways if len(words.split()) <= most), ways[-1])


def no_answer(offers: int, figures: int) -> str:
    """The sentence where no option has both a price and a figure, by how many there are of each."""
    if not offers:
        return "No answer yet: nothing here has a price."
    if not figures:
        return "No answer yet: no machine here has a speed, measured or published."
    return "No answer yet: no machine has both a price and a speed at the batch that is asked for."


def beside_in_words(rented: str, there: Sequence[str], share: float = 1.0) -> str:
    """What is rented beside what one has, a title a machine; where one has nothing, how much of the money is for it."""
    if not there:
        return f"{'all' if share > ALL else 'most' if share > 0.5 else 'some'} on {the(rented)}"
    own = there[0].removeprefix("your ")
    return f"{rented} beside {f'your {own}' if len(there) == 1 else 'what you have'}"


def side(factor: float) -> str:
    """On which side of what is planned a factor lies."""
    return "above" if factor > 1 else "below"


def off_plan(factor: float) -> str:
    """How far from what is planned a factor lies: `12 % higher than planned`."""
    if factor >= FAR:
        return f"{times(factor)} times what is planned"
    return f"{100 * abs(factor - 1):.2g} % {'higher' if factor > 1 else 'lower'} than planned"


def in_unit(value: float, unit: str, name: str = "") -> str:
    """A figure with its unit as it is said: `0.63 USD an hour`; without the month that its `name` ends with."""
    unit = unit.removesuffix("/month") if name.endswith(" a month") else unit
    return f"{amount(value)} {unit.replace('/hour', ' an hour').replace('/month', ' a month')}"


def turn_in_words(name: str, value: float, unit: str, factor: float, money: Money) -> str:
    """A turning point of an assumption planned at `value`: of what is said as a factor, how far from the plan."""
    if unit == FACTOR:
        return f"{name} {off_plan(factor)}"
    value, unit = money.counted(value * factor, unit)
    return f"{name} {side(factor)} {in_unit(value, unit, name)}"


def flip_in_words(word: str, value: float, unit: str, factor: float, flips: bool, furthest: float, money: Money) -> str:
    """Where an assumption, planned at `value`, changes what is called `word`; NaN: at no factor up to `furthest`."""
    if math.isnan(factor):
        return f"no value within a factor of {furthest:g} changes the {word}"
    value, unit = money.counted(factor * value, unit)
    moved = f"the {word} changes at {in_unit(value, unit)} ({100 * (factor - 1):+.0f} %)"
    return moved + (", inside its range" if flips else ", outside its range")


def pays_in_words(
    title: str, value: float, planned: float, unit: str, looked: tuple[float, float], until: float
) -> str:
    """From how much on it pays; 0: from less than the least that was `looked` at; infinite: at no number up to the
    most; `until`: with more it pays no longer.
    """
    box = begun(the(title))
    if not math.isfinite(value):
        return f"{box} pays at no number up to {amount(looked[1])} {unit}"
    if math.isfinite(until):
        least = amount(value) if value > 0 else f"less than {amount(looked[0])}"
        return f"{box} pays from {least} to {amount(until)} {unit}; {amount(planned)} are planned"
    if value == 0:
        return f"{box} pays from less than {amount(looked[0])} {unit} on"
    return f"{box} pays from {amount(value)} {unit} on; {amount(planned)} are planned"


def break_even_in_words(days: Sequence[float], use: float) -> str:
    """From which days of use a month (with their low and high; NaN: never) a machine used on `use` days pays."""
    value, low, high = days
    if value == 0:
        return "cheaper on the days planned, and on fewer"
    if math.isnan(value):
        return (
            "never" if math.isnan(low) else f"never at the central figures; from {low:.1f} days a month at the lowest"
        )
    span = f"{low:.1f} to {high:.1f}" if not math.isnan(high) else f"{low:.1f} to never"
    pays = "pays at the planned use" if value <= use else "does not pay at the planned use"
    return f"from {value:.1f} days a month ({span}); {pays} of {use:g}"


def never_in_words(
    box: str, rival: str, on: str, price: tuple[float, float], tariff: tuple[float, float], money: Money
) -> str:
    """The condition under which a box never pays for a model: the rival's price an hour and the electricity price from
    which it would not, each with what it is now in USD; NaN: no electricity price turns it.
    """
    name, (ends, now) = the(rival), map(money.of, price)
    never = f"Even used every day, {the(box)} never pays for {on}"
    if now <= ends:
        return f"{never}: {name} costs {now:.3g} {money.code} an hour, it would pay above {ends:.3g}"
    parts = [f"if {name} costs {ends:.3g} {money.code} an hour or less (now {now:.3g})"]
    if not math.isnan(tariff[0]):
        most, now = map(money.of, tariff)
        parts.append(f"if electricity costs more than {most:.3g} {money.code}/kWh (now {now:.3g})")
    return f"{never} {', or '.join(parts)}"
