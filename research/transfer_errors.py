"""How wrong the transfer between devices is: on what is left out in turn, and on other people's figures.

Three methods are held side by side: the relation (`transfer.relation`), the plain ratio of memory bandwidths, and what
the library does, the relation where both devices are in its pool and the plain ratio elsewhere.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pandas as pd
from sweetspot.throughput.calibration import calibrate
from sweetspot.transfer.figures import related
from sweetspot.transfer.relation import JointPrediction, Relation, condition, fit_relation, predict
from sweetspot.transfer.transferring import RATIO_HALF_WIDTH, RELATION_WIDTH, era_of

LEVEL = 0.9
WORKLOAD, NETWORK, DEVICE_AND_WORKLOAD, DEVICE_AND_PROGRAM = (
    "workload", "network", "workload and device", "program and device",
)  # fmt: skip
LEFT_OUT = (WORKLOAD, NETWORK, DEVICE_AND_WORKLOAD, DEVICE_AND_PROGRAM)
DEFAULT, RELATION, RATIO = "relation_or_bandwidth_ratio", "relation", "bandwidth_ratio"
METHODS = (DEFAULT, RELATION, RATIO)
SAME_FIGURE = 0.01  # Figures of one device, network and precision that differ by less are the same figure.


def predict_without(relation: Relation, rows: np.ndarray) -> JointPrediction:
    """Predict rows of a fit by the fit without them (Rasmussen & Williams 2006, section 5.4.2)."""
    covariance = np.linalg.inv(relation.inverse[np.ix_(rows, rows)])
    mean = relation.figures["log_rate"].to_numpy()[rows] - covariance @ relation.weighted_gaps[rows]
    return JointPrediction(mean, covariance)


def errors(figures: pd.DataFrame, left_out: str) -> pd.DataFrame:
    """Predict each figure from one other of its workload, by a fit without what is left out.

    Parameters
    ----------
    figures
        `transfer.figures.related`.
    left_out
        One of LEFT_OUT.

    Returns
    -------
    DataFrame
        workload, known, device, era; relation, bandwidth_ratio: log of predicted / measured; sd: the relation's own.

    """
    relation = fit_relation(figures)
    values = {name: column.to_numpy() for name, column in figures.items()}
    rate, bandwidth = values["log_rate"], values["bandwidth"]
    rows = []
    for gone, pairs in _folds(values, left_out):
        prediction, position = predict_without(relation, gone), {row: number for number, row in enumerate(gone)}
        for known, wanted in pairs:
            here = position[wanted]
            conditioned = condition(prediction, [position[known]], rate[[known]])
            rows.append(
                {
                    "workload": values["workload"][wanted],
                    "known": values["device"][known],
                    "device": values["device"][wanted],
                    "era": era_of(values["architecture"][[known, wanted]]),
                    RELATION: conditioned.mean[here] - rate[wanted],
                    RATIO: rate[known] + bandwidth[wanted] - bandwidth[known] - rate[wanted],
                    "sd": np.sqrt(conditioned.covariance[here, here]),
                }
            )
    return pd.DataFrame(rows)


def _folds(values: dict[str, np.ndarray], left_out: str) -> Iterator[tuple[np.ndarray, list[tuple[int, int]]]]:
    """Yield rows that are left out together, and pairs of a known and a wanted row among them."""
    workload, device = values["workload"], values["device"]
    if left_out in (WORKLOAD, NETWORK):
        of = values[left_out]
        for name in dict.fromkeys(workload):
            rows = np.flatnonzero(workload == name)
            yield np.flatnonzero(of == of[rows[0]]), list(permutations(map(int, rows), 2))
        return
    program = workload if left_out == DEVICE_AND_WORKLOAD else values["stack"]
    for name, gpu in dict.fromkeys(zip(program, device, strict=True)):
        wanted = np.flatnonzero((program == name) & (device == gpu))
        pairs = [
            (int(known), int(row))
            for row in wanted
            for known in np.flatnonzero((workload == workload[row]) & (device != gpu))
        ]
        yield np.flatnonzero((program == name) | (device == gpu)), pairs


def calibrated_widths(figures: pd.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """Return RELATION_WIDTH and RATIO_HALF_WIDTH of `transfer.transferring` by era, from what was left out."""
    known, blind = errors(figures, WORKLOAD), errors(figures, DEVICE_AND_PROGRAM)
    relation, ratio = {}, {}
    for era in RELATION_WIDTH:
        rows = known[known["era"] == era]
        relation[era] = calibrate((rows[RELATION].abs() / rows["sd"]).to_numpy(), rows["workload"].to_numpy(), LEVEL)
        rows = blind[blind["era"] == era]
        ratio[era] = calibrate(rows[RATIO].abs().to_numpy(), rows["device"].to_numpy(), LEVEL)
    return relation, ratio


def with_methods(table: pd.DataFrame, both_known: pd.Series) -> pd.DataFrame:
    """Add the default's error and, for each method, `in_METHOD`: whether the 90 % interval holds the figure."""
    table = table.assign(**{DEFAULT: table[RELATION].where(both_known, table[RATIO])})
    inside = {
        RELATION: table[RELATION].abs() <= table["sd"] * table["era"].map(RELATION_WIDTH),
        RATIO: table[RATIO].abs() <= table["era"].map(RATIO_HALF_WIDTH),
    }
    inside[DEFAULT] = inside[RELATION].where(both_known, inside[RATIO])
    return table.assign(**{f"in_{method}": values for method, values in inside.items()})


def summarize(table: pd.DataFrame, method: str) -> dict[str, object]:
    """Return rows, median and 90th percentile of |predicted / measured - 1|, and the share inside the interval."""
    error = np.expm1(table[method]).abs()
    return {
        "method": method, "rows": len(table), "median_abs_error": float(error.median()),
        "p90_abs_error": float(error.quantile(0.9)), "coverage90": float(table[f"in_{method}"].mean()),
    }  # fmt: skip


def errors_of_file(figures: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Predict every device of a workload of somebody else's figures from every other one.

    Workloads of the pool that stand in the file too are left out of the fit.

    Parameters
    ----------
    figures
        `transfer.figures.as_figures` of the file.
    pool
        The shipped figures.

    """
    rows = []
    fits: dict[tuple[str, ...], Relation] = {}
    for workload, part in related(figures).groupby("workload"):
        same = tuple(_same_workloads(part, pool))
        if same not in fits:
            fits[same] = fit_relation(pool[~pool["workload"].isin(same)].reset_index(drop=True))
        relation = fits[same]
        prediction = predict(relation, part.assign(workload="asked"))
        rate, bandwidth, device = (part[name].to_numpy() for name in ("log_rate", "bandwidth", "device"))
        for known, wanted in permutations(range(len(part)), 2):
            conditioned = condition(prediction, [known], rate[[known]])
            rows.append(
                {
                    "workload": workload,
                    "known": device[known],
                    "device": device[wanted],
                    "era": era_of(part["architecture"].to_numpy()[[known, wanted]]),
                    "both_known": {device[known], device[wanted]} <= set(relation.figures["device"]),
                    RELATION: conditioned.mean[wanted] - rate[wanted],
                    RATIO: rate[known] + bandwidth[wanted] - bandwidth[known] - rate[wanted],
                    "sd": np.sqrt(conditioned.covariance[wanted, wanted]),
                }
            )
    table = pd.DataFrame(rows)
    return with_methods(table, table["both_known"]) if rows else table


def _same_workloads(figures: pd.DataFrame, pool: pd.DataFrame) -> list[str]:
    """List the pool's workloads that hold one of these figures: same device, network, precision and throughput."""
    both = figures.merge(pool, on=["device", "network", "precision"], suffixes=("_file", ""))
    return sorted(set(both.loc[(both["log_rate"] - both["log_rate_file"]).abs() < SAME_FIGURE, "workload"]))
