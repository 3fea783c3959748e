"""How wrong the transfer is: what is left out in turn, other people's figures, and the plain rules beside it.

It also says how far the relation is to be trusted (`Trust`). A person's program is in no pool, so where a device is
known by its data sheet only, the errors that count are those with the program and the device left out: the relation
counts by the share that was best there, the rest is the plain ratio of bandwidths; at 0 the plain ratio stands alone.
That share draws the relation to a plain rule, so what its slopes share is not drawn to one a second time (`FREE`).
Shares and widths are those of the era of the devices, modern or older, since the two err by different amounts.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.throughput.calibration import FEWEST, SHARES, best_share, calibrate
from sweetspot.transfer.relation import FREE, SLOPES, Relation, Told, fit_relation, given, predict, without

LEVEL = 0.9
WORKLOADS, TWO, NETWORKS = "workload", "workload, two devices known", "network, in every benchmark"
KINDS = "every network of its kind"
DEVICES, BOTH, PROGRAMS = "device", "workload and device", "program and device"
LEFT_OUT = (WORKLOADS, TWO, NETWORKS, KINDS, DEVICES, BOTH, PROGRAMS)
BLIND = (DEVICES, BOTH, PROGRAMS)  # of which the device left out has no figure at all
TOGETHER = {NETWORKS: "network", KINDS: "kind"}  # what leaves with a workload, beside itself
ERROR_COLUMNS = ("workload", "precision", "known", "device", "era", "gap", "sd", "plain")
KNOWN, SPECIFIED = "known", "specified"
OLD, MODERN = "older", "modern"
OLDER = ("kepler", "maxwell", "pascal", "volta", "turing", "vega")  # architectures before 2020
SAME = 0.01  # figures of one device, network and precision that differ by less are the same figure
PAIR_COLUMNS = ("workload", "precision", "known", "device", "place", "gap", "inside90", "yardstick")

Pair = tuple[tuple[int, ...], int]  # numbers of rows: the figures that are known, and the one to be told


class Trust(NamedTuple):
    """How much of the relation counts beside the plain ratio, and how many of its own sd an interval reaches."""

    share: float
    width: float


Trusts = Mapping[tuple[str, str], Trust]  # by place and era
Relations = Mapping[str, Relation]  # by place


def relations(figures: pd.DataFrame) -> Relations:
    """The fit that counts where both devices are known, and where one is specified."""
    return {KNOWN: fit_relation(figures), SPECIFIED: fit_relation(figures, FREE)}


def era_of(architectures: np.ndarray) -> str:
    """MODERN where all devices are; OLD where one is older."""
    return OLD if any(name in OLDER for name in architectures) else MODERN


def told_of(width: np.ndarray, told: Told, known: list[int], rates: np.ndarray, wanted: int, share: float) -> float:
    """Log throughput of the cell `wanted`: `share` of what the relation tells, the rest by bandwidths from `known`.

    width: log bandwidths of all cells; told: of them, with the known ones given; rates: their log throughputs.
    """
    return float(share * told.mean[wanted] + (1 - share) * np.mean(rates + width[wanted] - width[known]))


def errors(figures: pd.DataFrame, away: str) -> pd.DataFrame:
    """Predict figures by fits without what `away` (one of LEFT_OUT) says, in ERROR_COLUMNS, `told` and `inside90`.

    figures: `figures.related`. Of the workload only the figures of `known` are told (with DEVICES: all but that of the
    device left out, one row each). gap, plain: logs of predicted / measured, of the relation and of the plain ratio of
    bandwidths; told: that of the share of both; sd: the relation's own. Share and width come from the other workloads'
    errors, or the other devices' where a device is left out.
    """
    fitted = fit_relation(figures, FREE if away == PROGRAMS else SLOPES["all"])
    one = {name: values.to_numpy() for name, values in figures.items()}
    rate, width, device = one["log_rate"], one["bandwidth"], one["device"]
    rows = []
    for gone, pairs in _folds(one, away):
        told, at = without(fitted, gone), {row: number for number, row in enumerate(gone)}
        for known, wanted in pairs:
            numbers, rates, here = [at[row] for row in known], rate[list(known)], at[wanted]
            then = given(told, numbers, rates) if known else told
            gap, sd = then.mean[here] - rate[wanted], np.sqrt(then.covariance[here, here])
            plain = told_of(width[gone], then, numbers, rates, here, 0.0) - rate[wanted] if known else np.nan
            place = one["workload"][wanted], one["precision"][wanted], " + ".join(device[list(known)]), device[wanted]
            rows.append((*place, era_of(one["architecture"][[*known, wanted]]), gap, sd, plain))
    return _told(pd.DataFrame(rows, columns=list(ERROR_COLUMNS)), away)


def _folds(places: dict[str, np.ndarray], away: str) -> Iterator[tuple[np.ndarray, list[Pair]]]:
    """Rows left out together, and what is to be predicted then."""
    workload, device, stack = (places[name] for name in ("workload", "device", "stack"))
    if away == DEVICES:
        for name in dict.fromkeys(device):
            gone = np.flatnonzero(device == name)
            yield gone, [((), int(row)) for row in gone]
    elif away in BLIND:
        program = stack if away == PROGRAMS else workload
        for own, name in dict.fromkeys(zip(program, device, strict=True)):
            wanted = np.flatnonzero((program == own) & (device == name))
            gone = np.flatnonzero((program == own) | (device == name))
            known = {row: np.flatnonzero((workload == workload[row]) & (device != name)) for row in wanted}
            yield gone, [((int(one),), int(row)) for row in wanted for one in known[row]]
    else:
        for name in dict.fromkeys(workload):
            own = np.flatnonzero(workload == name)
            of = places[TOGETHER.get(away, "workload")]
            chosen = combinations((int(row) for row in own), 2 if away == TWO else 1)
            yield (
                np.flatnonzero(of == of[own[0]]),
                [(known, int(row)) for known in chosen for row in own if row not in known],
            )


def _told(table: pd.DataFrame, away: str) -> pd.DataFrame:
    parts = []
    for _, own in table.groupby("device" if away in BLIND else "workload"):
        others = table.drop(index=own.index)
        trust = own["era"].map(_trusts(others if len(others) else table, away))
        share, width = (np.array([getattr(one, name) for one in trust], float) for name in ("share", "width"))
        gap = _shared(own, share)
        inside = np.abs(gap) <= width * own["sd"].to_numpy()
        parts.append(own.assign(told=gap, inside90=inside))
    return pd.concat(parts).loc[table.index]


def _shared(table: pd.DataFrame, share: float | np.ndarray) -> np.ndarray:
    gap, plain = table["gap"].to_numpy(dtype=float), table["plain"].to_numpy(dtype=float)
    return np.asarray(share * gap + (1 - share) * np.where(np.isnan(plain), gap, plain))


def _trusts(table: pd.DataFrame, away: str) -> dict[str, Trust]:
    """By era, from its own errors, or from all where fewer than FEWEST groups are of it."""
    by = "device" if away in BLIND else "workload"
    found = {}
    for era in (OLD, MODERN):
        own = table[table["era"] == era]
        own = own if own[by].nunique() >= FEWEST else table
        share = 1.0
        if away == PROGRAMS:
            share = best_share({share: float(np.abs(_shared(own, share)).mean()) for share in SHARES})
        score = np.abs(_shared(own, share)) / own["sd"].to_numpy()
        found[era] = Trust(share, calibrate(score, own[by].to_numpy(), LEVEL))
    return found


def trusts(figures: pd.DataFrame) -> dict[tuple[str, str], Trust]:
    """How far to trust the relation where both devices are known and where one is specified (no surer), by era."""
    known, specified = (_trusts(errors(figures, away), away) for away in (WORKLOADS, PROGRAMS))
    wider = {era: trust._replace(width=max(trust.width, known[era].width)) for era, trust in specified.items()}
    places = {KNOWN: known, SPECIFIED: wider}
    return {(place, era): trust for place, found in places.items() for era, trust in found.items()}


def yardstick(figures: pd.DataFrame, pairs: pd.DataFrame) -> pd.Series:
    """Gaps of the simple rule: the median ratio of two devices over the other workloads of the same precision.

    pairs: `errors`; of several known devices the first counts. Log of predicted / measured, same index; NaN where no
    other workload of the precision has run on both.
    """
    simple, rates = _median_ratio(figures), figures.set_index(["workload", "device"])["log_rate"]
    gaps = []
    for workload, own, several, device in pairs[["workload", "precision", "known", "device"]].itertuples(index=False):
        known = several.partition(" + ")[0]
        ratio = simple(own, frozenset({workload}), known, device) if known else np.nan
        gaps.append(ratio - (rates[workload, device] - rates[workload, known]) if known else np.nan)
    return pd.Series(gaps, pairs.index, dtype=float)


def _median_ratio(figures: pd.DataFrame) -> Callable[[str, frozenset[str], str, str], float]:
    """The median log ratio of two devices over workloads of a precision that are not hidden; NaN without one."""
    rates = figures.pivot_table(index="workload", columns="device", values="log_rate")
    precision = figures.groupby("workload")["precision"].first().reindex(rates.index).to_numpy()
    column, names = {name: rates[name].to_numpy() for name in rates}, rates.index.to_numpy()

    def ratio(own: str, hidden: frozenset[str], first: str, second: str) -> float:
        both = column[second] - column[first]
        others = both[(precision == own) & ~np.isin(names, list(hidden)) & ~np.isnan(both)]
        return float(np.median(others)) if len(others) else float("nan")

    return ratio


def summary(gaps: pd.Series, inside: pd.Series, simple: pd.Series) -> dict[str, float]:
    """Counts, median and 90th percentile of |predicted / measured - 1|, coverage, and the same of the yardstick.

    gaps and simple: logs of predicted / measured; the yardstick's rows are those where it tells anything.
    """
    error, plain = np.expm1(gaps).abs(), np.expm1(simple).abs()
    return {
        "rows": len(error), "median_abs_error": float(error.median()), "p90_abs_error": float(error.quantile(0.9)),
        "coverage90": float(inside.mean()), "yardstick_rows": int(plain.notna().sum()),
        "yardstick_median": float(plain.median()), "yardstick_p90": float(plain.quantile(0.9)),
    }  # fmt: skip


def shipped_errors(figures: pd.DataFrame, suite: str) -> pd.DataFrame:
    """`summary` of each of LEFT_OUT, of all figures, one suite's and modern devices': left_out, figures and its keys.

    The yardstick is the median ratio over other workloads; where the device has no figure, the ratio of bandwidths.
    """
    rows = []
    for away in LEFT_OUT:
        table = errors(figures, away)
        simple = table["plain"] if away in BLIND else yardstick(figures, table)
        of_suite = table["workload"].str.startswith(suite)
        for name, kept in (("all", of_suite | True), (suite, of_suite), (MODERN, table["era"] == MODERN)):
            part = table[kept]
            rows.append({"left_out": away, "figures": name, **summary(part["told"], part["inside90"], simple[kept])})
    return pd.DataFrame(rows)


def judged(figures: pd.DataFrame, related_by: Relations, trusted: Trusts) -> pd.DataFrame:
    """Every pair of devices within a workload of somebody else's figures, the first taken as known, in PAIR_COLUMNS.

    figures: `figures.as_figures` of a file. The relations are fitted to the shipped figures without those that stand in
    the file too, with all of their workload, so that no workload is predicted from itself. place: KNOWN where both
    devices have other figures, else SPECIFIED. gap, yardstick: logs of predicted / measured; the yardstick is the
    median ratio of the two over the file's and the shipped workloads of the same precision but this one, where there
    is none the ratio of their bandwidths.
    """
    pool = related_by[KNOWN].figures
    fits: dict[tuple[str, ...], Relations] = {(): related_by}
    simple = _median_ratio(
        pd.concat([pool, figures.assign(workload="file | " + figures["workload"])], ignore_index=True)
    )
    rows = []
    for (name, precision), own in figures.groupby(["workload", "precision"]):
        same = tuple(_same_workloads(own, pool))
        if same not in fits:
            fits[same] = relations(pool[~pool["workload"].isin(same)].reset_index(drop=True))
        seen = set(fits[same][KNOWN].figures["device"])
        told = {place: predict(fitted, own.assign(workload="asked")) for place, fitted in fits[same].items()}
        rate = own["log_rate"].to_numpy()
        names = own["device"].tolist()
        width, built = own["bandwidth"].to_numpy(), own["architecture"].to_numpy()
        for known, wanted in permutations(range(len(own)), 2):
            pair = names[known], names[wanted]
            place = KNOWN if seen.issuperset(pair) else SPECIFIED
            then = given(told[place], [known], rate[[known]])
            trust = trusted[place, era_of(built[[known, wanted]])]
            gap, plain = (
                told_of(width, then, [known], rate[[known]], wanted, share) - rate[wanted] for share in (trust.share, 0)
            )
            half = trust.width * np.sqrt(then.covariance[wanted, wanted])
            ratio = rate[known] + simple(precision, frozenset({*same, f"file | {name}"}), *pair) - rate[wanted]
            rows.append((name, precision, *pair, place, gap, abs(gap) <= half, plain if np.isnan(ratio) else ratio))
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS)).astype({"inside90": bool})


def _same_workloads(own: pd.DataFrame, pool: pd.DataFrame) -> list[str]:
    """Workloads of the pool that hold a figure of `own`: same device, network and precision, the same throughput."""
    both = own.merge(pool, on=["device", "network", "precision"], suffixes=("_own", ""))
    return sorted(set(both.loc[(both["log_rate"] - both["log_rate_own"]).abs() < SAME, "workload"]))
