"""How wrong the transfer is: workloads, devices, both and whole networks left out in turn, and the yardstick beside."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from sweetspot.throughput.calibration import calibrate
from sweetspot.transfer.relation import fit_relation, given, without

LEVEL = 0.9
WORKLOADS, TWO, NETWORKS = "workload", "workload, two devices known", "network, in every benchmark"
KINDS = "every network of its kind"
DEVICES, BOTH = "device", "workload and device"
LEFT_OUT = (WORKLOADS, TWO, NETWORKS, KINDS, DEVICES, BOTH)
TOGETHER = {NETWORKS: "network", KINDS: "kind"}  # what leaves with a workload, beside itself
ERROR_COLUMNS = ("workload", "precision", "known", "device", "gap", "sd")
KNOWN, SPECIFIED = "known", "specified"
WIDTH_FROM = {KNOWN: WORKLOADS, SPECIFIED: BOTH}  # which errors an interval's width comes from


Pair = tuple[tuple[int, ...], int]  # numbers of rows: the figures that are known, and the one to be told


def errors(figures: pd.DataFrame, away: str) -> pd.DataFrame:
    """Predict figures by fits without what `away` (one of LEFT_OUT) says, in ERROR_COLUMNS, `score` and `inside90`.

    figures: `figures.related`. Of the workload only the figures of `known` are told (with DEVICES: all but that of the
    device left out, one row each). gap: log of predicted / measured; sd: the model's own; score: |gap| / sd. The
    interval's width comes from the other workloads' errors, or the other devices' where a device is left out.
    """
    fitted = fit_relation(figures)
    rate = figures["log_rate"].to_numpy()
    places = {name: figures[name].to_numpy() for name in ("workload", "network", "kind", "device", "precision")}
    rows = []
    for gone, pairs in _folds(places, away):
        told, at = without(fitted, gone), {row: number for number, row in enumerate(gone)}
        for known, wanted in pairs:
            then = given(told, [at[row] for row in known], rate[list(known)]) if known else told
            here, place = at[wanted], {name: values[wanted] for name, values in places.items()}
            of = " + ".join(places["device"][list(known)])
            gap, sd = then.mean[here] - rate[wanted], np.sqrt(then.covariance[here, here])
            rows.append((place["workload"], place["precision"], of, place["device"], gap, sd))
    return _covered(pd.DataFrame(rows, columns=list(ERROR_COLUMNS)), away)


def _folds(places: dict[str, np.ndarray], away: str) -> Iterator[tuple[np.ndarray, list[Pair]]]:
    """Rows left out together, and what is to be predicted then."""
    for name in dict.fromkeys(places["device"]) if away == DEVICES else ():
        gone = np.flatnonzero(places["device"] == name)
        yield gone, [((), int(row)) for row in gone]
    for name in dict.fromkeys(places["workload"]) if away != DEVICES else ():
        own = np.flatnonzero(places["workload"] == name)
        if away == BOTH:
            for wanted in own:
                gone = (places["workload"] == name) | (places["device"] == places["device"][wanted])
                yield np.flatnonzero(gone), [((int(row),), int(wanted)) for row in own if row != wanted]
        else:
            of = places[TOGETHER.get(away, "workload")]
            gone = np.flatnonzero(of == of[own[0]])
            yield gone, _pairs(own, 2 if away == TWO else 1)


def _pairs(own: np.ndarray, many: int) -> list[Pair]:
    chosen = combinations((int(row) for row in own), many)
    return [(known, int(row)) for known in chosen for row in own if row not in known]


def yardstick(figures: pd.DataFrame, pairs: pd.DataFrame) -> pd.Series:
    """Gaps of the simple rule: the median ratio of two devices over the other workloads of the same precision.

    pairs: `errors`; of several known devices the first counts. Log of predicted / measured, same index; NaN where no
    other workload of the precision has run on both.
    """
    rates = figures.pivot_table(index="workload", columns="device", values="log_rate")
    precision = figures.groupby("workload")["precision"].first().reindex(rates.index).to_numpy()
    column = {name: rates[name].to_numpy() for name in rates.columns}
    row = {name: number for number, name in enumerate(rates.index)}
    gaps = []
    for workload, known, device in zip(pairs["workload"], pairs["known"], pairs["device"], strict=True):
        ratio = column[device] - column[known.partition(" + ")[0]] if known else np.full(len(rates), np.nan)
        own = row[workload]
        others = ratio[(precision == precision[own]) & (np.arange(len(rates)) != own) & ~np.isnan(ratio)]
        gaps.append(np.median(others) - ratio[own] if len(others) else np.nan)
    return pd.Series(gaps, pairs.index, dtype=float)


def _covered(table: pd.DataFrame, away: str) -> pd.DataFrame:
    score = (table["gap"].abs() / table["sd"]).to_numpy()
    groups = table["device" if away in (DEVICES, BOTH) else "workload"].to_numpy()
    width = {name: calibrate(score[groups != name], groups[groups != name], LEVEL) for name in set(groups)}
    half = pd.Series(groups, table.index).map(width).to_numpy(dtype=float)
    return table.assign(score=score, inside90=score <= half)


def widths(figures: pd.DataFrame) -> dict[str, float]:
    """How many of its own sd an interval of LEVEL reaches, where both devices are known and where one is specified."""
    found = {}
    for place, away in WIDTH_FROM.items():
        table = errors(figures, away)
        groups = table["device" if away == BOTH else "workload"].to_numpy()
        found[place] = calibrate(table["score"].to_numpy(), groups, LEVEL)
    return found


def summary(gaps: pd.Series, inside: pd.Series, simple: pd.Series) -> dict[str, float]:
    """Counts, median and 90th percentile of |predicted / measured - 1|, coverage, and the same of the yardstick.

    gaps and simple: logs of predicted / measured; the yardstick's rows are those where it tells anything, and
    `same_median`, `same_p90` are the model's errors on just these.
    """
    error, plain = np.expm1(gaps).abs(), np.expm1(simple).abs()
    both = error[plain.notna()]
    return {
        "rows": len(error),
        "median_abs_error": float(error.median()),
        "p90_abs_error": float(error.quantile(0.9)),
        "coverage90": float(inside.mean()),
        "yardstick_rows": int(plain.notna().sum()),
        "yardstick_median": float(plain.median()),
        "yardstick_p90": float(plain.quantile(0.9)),
        "same_median": float(both.median()),
        "same_p90": float(both.quantile(0.9)),
    }


def shipped_errors(figures: pd.DataFrame, suite: str) -> pd.DataFrame:
    """`summary` of each of LEFT_OUT, of all figures and of those of one suite: columns left_out, figures and its keys.

    Where a device is left out the yardstick says nothing: it needs figures of both.
    """
    rows = []
    for away in LEFT_OUT:
        table = errors(figures, away)
        blind = away in (DEVICES, BOTH)
        simple = pd.Series(np.nan, table.index) if blind else yardstick(figures, table)
        of_suite = table["workload"].str.startswith(suite)
        for name, kept in (("all", ~of_suite | of_suite), (suite, of_suite)):
            part = table[kept]
            rows.append({"left_out": away, "figures": name, **summary(part["gap"], part["inside90"], simple[kept])})
    return pd.DataFrame(rows)
