"""The answer in sentences of options made for it, and what holds of all such answers."""

import numpy as np
import pandas as pd
from sweetspot.decision.contenders import contenders
from sweetspot.decision.headline import headline
from sweetspot.decision.simulate import Draws

NO_DAYS = pd.DataFrame(columns=["model", "option"])
LONGEST = 45  # words of a sentence that answers


def drawn(table, spread=0.0, sure=1.0):
    """Draws: USD of the first option `spread` up and down, of which a share `sure` is as the central figures say."""
    factor = np.ones((len(table), 1000))
    if spread:
        factor[0] = np.exp(np.linspace(-spread, spread, 1000))
    usd = table["usd"].to_numpy()[:, None] * factor
    nothing = np.full_like(usd, np.nan)
    per_usd = table["images_per_usd"].to_numpy()[:, None] / factor
    return Draws(nothing, nothing, nothing, nothing, nothing, usd, per_usd)


def answer(*rows, reference=None, counts="train", spread=0.0, days=NO_DAYS):
    """The row of scope `answer`; `reference`: the title of the study's option."""
    table = pd.DataFrame(list(rows))
    found = {}
    for model, part in table.groupby("model"):
        own = part[part["title"] == reference] if reference else part.head(0)
        box = own.rename_axis("row").reset_index().to_dict("records")[0] if len(own) else None
        found[model] = contenders(part, box)
    return headline(found, drawn(table, spread), days, counts).iloc[0]


def read(row):
    """Its sentences, after what holds of all of them: short, one multiple, one interval, one probability."""
    assert len(row["first"].split()) <= LONGEST
    for told in (row["first"], row["second"]):
        assert told == "" or told.endswith(".")
        assert ".." not in told and "nan" not in told and "None" not in told
    assert row["first"].count(" times cheaper") <= 1 and row["first"].count(" %)") <= 1
    return row["first"], row["second"], row["more"]
