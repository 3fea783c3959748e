"""What the answer about an owned machine counts, and from which use owning pays, in sentences."""

import pandas as pd

from sweetspot.decision.contenders import cost
from sweetspot.decision.counted import counted, the, times
from sweetspot.decision.options import Row, same_machine
from sweetspot.decision.said import Said

DAY_AND_NIGHT = 30.0  # days of use a month from which a machine is said to run day and night


def pays_from(said: Said) -> str:
    """From which use the answer holds: of an owned machine, and of one that is paid by the month; else empty."""
    if said.by_month:
        return _pays_by_month(said)
    box, row = said.who.reference, said.row
    if box["purchase"] != "own" or said.who.alternative is None or said.who.rented is None:
        return ""
    if pd.isna(row["days"]):
        return "Owning never pays."
    only = "only " if row["days"] > box["days_per_month"] else ""
    return f"Owning pays {only}from {row['days']:.1f} days of use a month."


def _pays_by_month(said: Said) -> str:
    best, hourly = said.who.cheapest, said.who.by_hour
    assert hourly is not None
    often = round(best["month_usd"] / hourly["usd"])
    one, several = ("bill", "bills") if said.row["counts"] == "train" else (said.row["counts"], said.words.many)
    many = counted(often, one, several)
    return f"It pays from {many} a month; for fewer, take {the(hourly['title'])}."


def condition(said: Said) -> list[str]:
    """What the answer about an owned machine counts, how sure its use is, and what it is held against."""
    box = said.who.reference
    if said.by_month:
        best = said.who.cheapest
        return [f"A month of {the(best['title'])} costs {said.words.money.words(best['month_usd'])}, used or not."]
    if box["purchase"] != "own" or said.who.alternative is None:
        return []
    use = f"{box['days_per_month']:g} days of use a month"
    if box["days_per_month"] >= DAY_AND_NIGHT:
        use = "use day and night"
    power = "free electricity"
    if box["energy_usd_per_hour"] > 0:
        power = f"electricity at {_tariff(said, box['usd_per_kwh'])}"
    told = [f"This counts {use} for {box['months']:g} months, with {power}."]
    return [*told, *_paid(said), *_days(said)]


def _days(said: Said) -> list[str]:
    """The interval of the days from which owning pays, and against whom, where the closest rival is owned too."""
    rival, rented = said.who.alternative, said.who.rented
    if rented is None:
        return ["Nothing here is rented."]
    if pd.isna(said.row["days"]):
        return []
    against = rival is not None and rival["purchase"] == "own"
    beside = [f"Owning is held against {the(rented['title'])}, the cheapest rented."] if against else []
    days, low, high = (said.row[name] for name in ("days", "days_low", "days_high"))
    if pd.isna(high):
        end = f"at best from {low:.1f} days" if pd.notna(low) else "perhaps"
        return [*beside, f"Owning pays {end}, at worst never."]
    ends = [f"{day:.1f}" for day in (low, high)]
    return [*beside, *([f"The {days:.1f} days may be {ends[0]} to {ends[1]}."] if ends[0] != ends[1] else [])]


def _paid(said: Said) -> list[str]:
    """Of a machine with free electricity: its multiple under a price list, left out of the answer, that counts it."""
    who = said.who
    paid = [row for row in _own_variants(said) if row["energy_usd_per_hour"] > 0]
    if not paid or who.alternative is None or who.reference["energy_usd_per_hour"] > 0:
        return []
    gain, rate = cost(who.alternative, who.billed) / cost(paid[0], who.billed), paid[0]["usd_per_kwh"]
    word, gain = ("cheaper", gain) if gain >= 1 else ("dearer", 1 / gain)
    return [f"With electricity paid at {_tariff(said, rate)} it is {times(gain)} times {word}."]


def _tariff(said: Said, usd_per_kwh: float) -> str:
    return f"{said.words.money.of(usd_per_kwh):.2g} {said.words.money.code}/kWh"


def _own_variants(said: Said) -> list[Row]:
    """The reference, owned, under price lists that the answer leaves out."""
    box = said.who.reference
    return [row for row in said.who.variants if box["purchase"] == "own" and same_machine(row, box)]
