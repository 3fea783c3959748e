"""Ranks of all options by money, time and carbon."""

from pandas import DataFrame

from sweetspot.decision.options import bills_decide, staying, trained
from sweetspot.decision.simulate import Draws
from sweetspot.declared_tables import columns_of
from sweetspot.draws import interval

RANKED = {"rank": "usd", "rank_hours": "hours", "rank_carbon": "kg_co2e"}


def ranks(options: DataFrame, draws: Draws) -> DataFrame:
    """Return the options of each model and workload with their ranks by USD, hours and carbon.

    Parameters
    ----------
    options
        The table of options.
    draws
        Their samples.

    Returns
    -------
    pandas.DataFrame
        The table `ranks`, a row per option, model and workload: speed, USD, hours and images/USD with `_low` and
        `_high` (90 %); `rank` by USD, `rank_hours` and `rank_carbon` (null: unknown), 1 is best; energy and carbon,
        `_low` and `_high` with every factor at that end; `basis` and `source` of the throughput, `price_source` and
        `as_of` of the price; `by_bills`: bills rank the model's options, not USD per image.
    """
    table = options.reindex(columns=columns_of("ranks"))
    for name in ("images_per_s", "images_per_usd", "hours", "usd"):
        table[f"{name}_low"], table[f"{name}_high"] = interval(getattr(draws, name))
    groups = options.groupby(["model", "workload"])
    for rank, name in RANKED.items():
        table[rank] = groups[name].rank(method="min").astype("Int64")
    billed = [model for model, rows in trained(options).items() if bills_decide(staying(rows))]
    table = table.assign(
        source=options["throughput_source"], price_source=options["source"], by_bills=options["model"].isin(billed)
    )
    return table.sort_values(["model", "workload", "rank"], kind="stable").reset_index(drop=True)
