"""How wrong the transfer is on somebody else's figures: every pair of devices within a workload, one taken as known."""

import numpy as np
import pandas as pd

from sweetspot.transfer.figures import network_name
from sweetspot.transfer.left_out import KNOWN, SPECIFIED
from sweetspot.transfer.relation import Relation, fit_relation, given, predict
from sweetspot.transfer.transferring import Learnt

SAME = 0.01  # figures of one device, network and precision that differ by less are the same figure
PAIR_COLUMNS = ("workload", "precision", "known", "device", "place", "gap", "inside90", "yardstick")


def judged(figures: pd.DataFrame, learnt: Learnt) -> pd.DataFrame:
    """Every pair of devices within a workload, the first taken as known, in PAIR_COLUMNS.

    figures: `figures.as_figures` of a file. The relation is fitted to the shipped figures without those that stand in
    the file too, with all of their workload, so that no workload is predicted from itself. place: KNOWN where both
    devices have other figures, else SPECIFIED. gap, yardstick: logs of predicted / measured; the yardstick is the
    median ratio of the two over the file's and the shipped workloads of the same precision but this one.
    """
    pool = learnt.relation.figures
    fits: dict[tuple[str, ...], Relation] = {(): learnt.relation}
    everything = _ratios(pd.concat([pool, figures.assign(workload="file | " + figures["workload"])], ignore_index=True))
    rows = []
    for name, own in figures.groupby("workload", sort=False):
        same = tuple(_same_workloads(own, pool))
        if same not in fits:
            fits[same] = fit_relation(pool[~pool["workload"].isin(same)].reset_index(drop=True))
        seen = set(fits[same].figures["device"])
        told, rate = predict(fits[same], own.assign(workload="asked")), own["log_rate"].to_numpy()
        names, precision = own["device"].tolist(), own["precision"].iloc[0]
        hidden = {*same, f"file | {name}"}
        for known, first in enumerate(names):
            then = given(told, [known], rate[[known]])
            for wanted, second in enumerate(names):
                if wanted == known:
                    continue
                place = KNOWN if {first, second} <= seen else SPECIFIED
                gap = then.mean[wanted] - rate[wanted]
                half = learnt.width[place] * np.sqrt(then.covariance[wanted, wanted])
                simple = _simple(everything, precision, hidden, first, second) - (rate[wanted] - rate[known])
                rows.append((name, precision, first, second, place, gap, bool(abs(gap) <= half), simple))
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


def _same_workloads(own: pd.DataFrame, pool: pd.DataFrame) -> list[str]:
    """Workloads of the pool that hold a figure of `own`: same device, network and precision, the same throughput."""
    found = set()
    for row in own.itertuples():
        like = pool[
            (pool["device"] == row.device)
            & (pool["network"] == network_name(row.network))
            & (pool["precision"] == row.precision)
        ]
        found |= set(like.loc[(like["log_rate"] - row.log_rate).abs() < SAME, "workload"])
    return sorted(found)


def _ratios(figures: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    rates = figures.pivot_table(index="workload", columns="device", values="log_rate")
    return rates, figures.groupby("workload")["precision"].first().reindex(rates.index)


def _simple(
    everything: tuple[pd.DataFrame, pd.Series], precision: str, hidden: set[str], first: str, second: str
) -> float:
    rates, precisions = everything
    others = rates[(precisions == precision) & ~rates.index.isin(hidden)]
    ratios = (others[second] - others[first]).dropna()
    return float(ratios.median()) if len(ratios) else float("nan")
