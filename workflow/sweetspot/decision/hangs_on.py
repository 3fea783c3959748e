"""On what an answer hangs most, in a few words: the widest bar of the tornado of its two machines."""

import pandas as pd

from sweetspot.decision.contenders import Contenders
from sweetspot.decision.counted import the

ITS = ("price of", "throughput of", "resale value of", "maintenance of", "power of")  # before a machine's name
WORDS = {"throughput": "speed"}
OTHERS = {
    "days of use a month": "the days of use",
    "length of the project": "the length of the project",
    "electricity price": "the price of electricity",
    "all rented prices": "rental prices",
}
RENT = "rent over the project"


def hangs_on(tornado: pd.DataFrame, who: Contenders) -> str:
    """The assumption that moves most how the two compare; empty where the tornado is of others.

    tornado: `comparison/tornado`. `its` is of the cheaper of the two, `the other's` of the one that it is held against.
    """
    rows = tornado[tornado["model"] == who.reference["model"]] if len(tornado) else tornado
    if rows.empty or who.alternative is None:
        return ""
    row = rows.iloc[0]
    if row["reference"] != who.reference["option"] or row["rival"] != who.alternative["option"]:
        return ""
    return in_words(str(row["assumption"]), the(str(who.cheapest["title"])))


def in_words(assumption: str, cheapest: str) -> str:
    """An assumption of the tornado as the answer names it, where the machine `cheapest` was just spoken of."""
    for start in ITS:
        if assumption.startswith(f"{start} "):
            whose = "its" if assumption == f"{start} {cheapest}" else "the other's"
            what = start.removesuffix(" of")
            return f"{whose} {WORDS.get(what, what)}"
    return "how rents move" if assumption.startswith(RENT) else OTHERS.get(assumption, assumption)
