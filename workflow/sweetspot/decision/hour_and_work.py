"""What a table of hourly prices hides: the cheapest hour is often not the cheapest work."""

from sweetspot.decision.contenders import Contenders, cost
from sweetspot.decision.counted import Words, the

DEARER_HOUR = 1.2  # the hour of the cheapest work must cost so much more for a sentence
DEARER_WORK = 1.1  # and the work at the cheapest hour


def hour_and_work(who: Contenders, words: Words) -> list[str]:
    """The sentences where among the rented that nobody takes away the cheapest hour makes dearer work; else none.

    Only what is paid by the hour and cannot be taken away is compared, each by its bill.
    """
    rented = [row for row in who.every if row["purchase"] == "on_demand" and row["persistent"]]
    if not rented or not words.hours:
        return []
    hour = min(rented, key=lambda row: (row["usd_per_hour"], cost(row, who.billed)))
    work = min(rented, key=lambda row: cost(row, who.billed))
    if work["usd_per_hour"] < DEARER_HOUR * hour["usd_per_hour"] or hour["usd"] < DEARER_WORK * work["usd"]:
        return []
    cheap, best = (
        f"{the(row['title'])} asks {words.money.words(row['usd_per_hour'])} an hour and "
        f"{words.money.words(row['usd'])} for all of it{words.each}."
        for row in (hour, work)
    )
    return ["The cheapest hour is not the cheapest work.", cheap, best]
