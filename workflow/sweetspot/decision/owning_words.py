"""What the answer about an owned machine counts, and from which use owning pays, in a sentence."""

import pandas as pd

from sweetspot.decision.contenders import cost
from sweetspot.decision.counted import the, times
from sweetspot.decision.options import Row, same_machine
from sweetspot.decision.said import Said

DAY_AND_NIGHT = 30.0  # days of use a month from which a machine is said to run day and night


def condition(said: Said) -> str:
    """What the answer about an owned machine counts, and from which use owning pays."""
    box, row = said.who.reference, said.row
    if box["purchase"] != "own" or said.who.alternative is None:
        return ""
    use = f"{box['days_per_month']:g} days of use a month"
    if box["days_per_month"] >= DAY_AND_NIGHT:
        use = "use day and night"
    current = box["energy_usd_per_hour"]
    power = f"electricity at {_tariff(said, box['usd_per_kwh'])}" if current > 0 else f"free electricity{_paid(said)}"
    rests = f"The answer rests on {use} for {box['months']:g} months with {power}"
    rented = _rented_beside(said)
    if rented is None:
        return f"{rests}; nothing here is rented."
    if pd.isna(row["days"]):
        return f"{rests}; at no use within a month does owning pay{rented}."
    ends = [f"{row[end]:.1f}" if pd.notna(row[end]) else "never" for end in ("days_low", "days_high")]
    span = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
    return f"{rests}; owning pays from {row['days']:.1f} days a month{span}{rented}."


def _rented_beside(said: Said) -> str | None:
    """What owning is held against where the alternative is owned too; else empty. None: nothing is rented."""
    rival, rented = said.who.alternative, said.who.rented
    if rival is None or rival["purchase"] != "own":
        return ""
    return None if rented is None else f" against {the(rented['title'])}, the cheapest rented"


def _paid(said: Said) -> str:
    """Of a machine with free electricity: its multiple under a price list, left out of the answer, that counts it."""
    who = said.who
    paid = [row for row in _own_variants(said) if row["energy_usd_per_hour"] > 0]
    if not paid or who.alternative is None:
        return ""
    gain, rate = cost(who.alternative, who.billed) / cost(paid[0], who.billed), paid[0]["usd_per_kwh"]
    word, gain = ("cheaper", gain) if gain >= 1 else ("dearer", 1 / gain)
    return f" ({times(gain)} times {word} where it is paid, at {_tariff(said, rate)})"


def _tariff(said: Said, usd_per_kwh: float) -> str:
    return f"{said.words.money.of(usd_per_kwh):.2g} {said.words.money.code}/kWh"


def _own_variants(said: Said) -> list[Row]:
    """The reference, owned, under price lists that the answer leaves out."""
    box = said.who.reference
    return [row for row in said.who.variants if box["purchase"] == "own" and same_machine(row, box)]
