"""What is left out of a fit, by fits without it; shares and widths by the rule that the module states."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sweetspot.throughput.calibration import calibrate
from sweetspot.transfer.figures import as_figures, related, shipped_devices
from sweetspot.transfer.left_out import (
    BLIND,
    BOTH,
    DEVICES,
    KINDS,
    KNOWN,
    LEFT_OUT,
    MODERN,
    NETWORKS,
    OLD,
    PROGRAMS,
    SPECIFIED,
    TWO,
    WORKLOADS,
    era_of,
    errors,
    judged,
    relations,
    shipped_errors,
    told_of,
    trusts,
)
from sweetspot.transfer.relation import FREE, SLOPES, Told, fit_relation, given, predict
from sweetspot.transfer.transferring import Learnt, Measured, transferred

TABLE = shipped_devices()
NEW = ("RTX 3090", "A100 SXM 80GB", "H100 SXM", "L40S")
OLDER = ("Tesla V100-SXM2-16GB", "GTX 1080 Ti", "Tesla P100-PCIE-16GB")


def world(rate, names=(*NEW, *OLDER), models=("resnet50", "vgg16", "bert_base"), stacks=("one suite", "two")):
    """Figures in fp16: rate(number of the row, Device)."""
    rows = [(stack, model, TABLE.get(name)) for stack in stacks for model in models for name in names]
    table = pd.DataFrame(
        {"benchmark": stack, "framework": "torch", "model": model, "batch_size": np.nan, "precision": "fp16",
         "dataset": "", "xla": False, "gpu": device.gpu, "images_per_s": rate(number, device)}
        for number, (stack, model, device) in enumerate(rows)
    )  # fmt: skip
    return as_figures(table, TABLE)


def noisy(size, law):
    """A law and a lognormal error of each figure."""
    drawn = np.random.default_rng(8).normal(0, size, 100)
    return lambda number, device: law(device) * np.exp(drawn[number])


BY_BANDWIDTH = world(noisy(0.05, lambda device: device.memory_bandwidth_gb_s))
BY_PEAK = world(noisy(0.05, lambda device: device.peak("fp16") ** 0.5 * device.memory_bandwidth_gb_s**0.5))


def folds(figures, away):
    """(rows gone, rows known, row wanted) of each prediction, row by row."""
    one = {name: figures[name].to_numpy() for name in figures}
    for wanted in range(len(figures)):
        same = {name: np.flatnonzero(values == values[wanted]) for name, values in one.items()}
        beside = [row for row in same["workload"] if row != wanted]
        if away == DEVICES:
            yield same["device"], (), wanted
            continue
        gone = {WORKLOADS: "workload", TWO: "workload", NETWORKS: "network", KINDS: "kind", BOTH: "workload",
                PROGRAMS: "stack"}[away]  # fmt: skip
        out = np.union1d(same[gone], same["device"]) if away in BLIND else same[gone]
        for known in combinations(beside, 2 if away == TWO else 1):
            yield out, known, wanted


@pytest.mark.parametrize("away", LEFT_OUT)
def test_each_error_is_that_of_a_fit_without_what_is_left_out(away):
    figures = BY_PEAK
    rate, width = figures["log_rate"].to_numpy(), figures["bandwidth"].to_numpy()
    table = errors(figures, away)
    table = table.set_index(["workload", "known", "device"])[["gap", "sd", "plain", "era"]]
    found = list(folds(figures, away))
    assert len(table) == len(found)
    shared = FREE if away == PROGRAMS else SLOPES["all"]
    for gone, known, wanted in found[:: len(found) // 20]:
        rest = fit_relation(figures.drop(index=gone).reset_index(drop=True), shared)
        told = predict(rest, figures.iloc[[*known, wanted]])
        told = given(told, list(range(len(known))), rate[list(known)]) if known else told
        names = " + ".join(figures["device"].iloc[list(known)])
        row = table.loc[(figures["workload"][wanted], names, figures["device"][wanted])]
        assert (row["gap"], row["sd"]) == pytest.approx(
            (told.mean[-1] - rate[wanted], told.covariance[-1, -1] ** 0.5), abs=1e-4
        )
        if known:
            plain = np.mean([rate[one] - width[one] for one in known]) + width[wanted] - rate[wanted]
            assert row["plain"] == pytest.approx(plain)
        old = any(figures["device"][one] in OLDER for one in (*known, wanted))
        assert row["era"] == (OLD if old else MODERN)


def by_the_rule(rows, group, away):
    """(share, width) by era: least mean error on these rows, if clearly less; what 90 % of them reach."""
    found = {}
    for era in (OLD, MODERN):
        own = rows[rows["era"] == era]
        own = own if own[group].nunique() >= 3 else rows
        mixed = {share: share * own["gap"] + (1 - share) * own["plain"] for share in (0, 0.25, 0.5, 0.75, 1)}
        share = 1.0
        if away == PROGRAMS:
            best = min(mixed, key=lambda one: mixed[one].abs().mean())
            share = best if mixed[best].abs().mean() < 0.9 * own["gap"].abs().mean() else 1.0
        score = (mixed[share] if share < 1 else own["gap"]).abs() / own["sd"]
        found[era] = share, calibrate(score.to_numpy(), own[group].to_numpy(), 0.9)
    return found


@pytest.mark.parametrize("away", [WORKLOADS, DEVICES, BOTH, PROGRAMS])
@pytest.mark.parametrize("figures", [BY_BANDWIDTH, BY_PEAK], ids=["bandwidth", "peak"])
def test_share_and_width_come_from_the_other_groups(figures, away):
    table, group = errors(figures, away), "device" if away in BLIND else "workload"
    shares = set()
    for name, rows in table.groupby(group):
        rule = by_the_rule(table[table[group] != name], group, away)
        for row in rows.itertuples():
            share, width = rule[row.era]
            told = row.gap if share == 1 else share * row.gap + (1 - share) * row.plain
            assert row.told == pytest.approx(told)
            assert row.inside90 == (abs(told) <= width * row.sd)
            shares.add(share)
    if away != PROGRAMS:
        assert shares == {1.0}
    elif figures is BY_BANDWIDTH:
        assert min(shares) < 1  # there the plain ratio is the law


@pytest.mark.parametrize("figures", [BY_BANDWIDTH, BY_PEAK], ids=["bandwidth", "peak"])
def test_where_a_device_is_specified_only_the_interval_is_no_narrower(figures):
    found = trusts(figures)
    known = by_the_rule(errors(figures, WORKLOADS), "workload", WORKLOADS)
    blind = by_the_rule(errors(figures, PROGRAMS), "device", PROGRAMS)
    for era in (OLD, MODERN):
        assert found[KNOWN, era] == pytest.approx(known[era])
        assert found[SPECIFIED, era] == pytest.approx((blind[era][0], max(blind[era][1], known[era][1])))


@pytest.mark.parametrize(("share", "rate"), [(1.0, 5.0), (0.0, 4.5), (0.25, 4.625)])
def test_the_relation_counts_by_its_share_and_the_ratio_of_bandwidths_by_the_rest(share, rate):
    # by bandwidths 3 + 2 - 1 = 4 of the first known and 4 + 2 - 1 = 5 of the other: 4.5; 5 / 4 + 4.5 x 3 / 4 = 4.625
    told = Told(np.array([3.0, 4.0, 5.0]), np.eye(3))
    assert told_of(np.array([1.0, 1.0, 2.0]), told, [0, 1], np.array([3.0, 4.0]), 2, share) == rate


def test_a_pair_is_of_the_older_era_where_one_device_is():
    assert era_of(np.array(["ampere", "hopper"])) == MODERN
    assert era_of(np.array(["ampere", "volta"])) == era_of(np.array(["vega"])) == OLD


def test_what_one_device_alone_has_run_teaches_no_relation():
    alone = world(lambda number, device: 1.0, names=("H100 SXM",), models=("resnet18",), stacks=("three",))
    both = pd.concat([BY_PEAK, alone], ignore_index=True)
    assert len(alone) == 1
    pd.testing.assert_frame_equal(related(both), BY_PEAK)


def test_the_summary_of_each_kind_is_of_all_of_one_suite_and_of_modern_devices():
    found = shipped_errors(BY_PEAK, "one suite").set_index(["left_out", "figures"])
    assert found.index.tolist() == [(away, name) for away in LEFT_OUT for name in ("all", "one suite", MODERN)]
    # 6 workloads of 7 devices: 42 pairs each, half of them of the suite, 4 x 3 of modern devices
    rows = {name: found.loc[(WORKLOADS, name), "rows"] for name in ("all", "one suite", MODERN)}
    assert rows == {"all": 6 * 42, "one suite": 3 * 42, MODERN: 6 * 12}
    table = errors(BY_PEAK, PROGRAMS)
    assert found.loc[(PROGRAMS, "all"), "yardstick_median"] == pytest.approx(np.expm1(table["plain"]).abs().median())
    assert found.loc[(PROGRAMS, "all"), "median_abs_error"] == pytest.approx(np.expm1(table["told"]).abs().median())
    ratio = found.loc[(WORKLOADS, "all"), "yardstick_median"]
    assert ratio < np.expm1(errors(BY_PEAK, WORKLOADS)["plain"]).abs().median() / 2  # that of the other workloads


def test_somebody_elses_figures_are_told_by_a_fit_without_their_own():
    """A file of one workload that the pool has too (same figures to a hundredth), with a device that it has not."""
    own = BY_PEAK[BY_PEAK["workload"] == BY_PEAK["workload"][0]].iloc[:3]
    other = world(lambda number, device: 70.0, names=("RTX 4090",), models=("resnet50",), stacks=("mine",))
    file = pd.concat([own.assign(log_rate=own["log_rate"] + 0.005), other]).assign(workload="mine")
    file = file.reset_index(drop=True)
    fits, trusted = relations(BY_PEAK), trusts(BY_PEAK)
    rows = judged(file, fits, trusted)
    assert len(rows) == 4 * 3
    rest = BY_PEAK[BY_PEAK["workload"] != BY_PEAK["workload"][0]].reset_index(drop=True)
    told = {
        KNOWN: predict(fit_relation(rest), file),
        SPECIFIED: predict(fit_relation(rest, FREE), file),
    }
    rate, width = file["log_rate"].to_numpy(), file["bandwidth"].to_numpy()
    names = file["device"].tolist()
    others = BY_PEAK[BY_PEAK["workload"] != BY_PEAK["workload"][0]].pivot_table(
        index="workload", columns="device", values="log_rate"
    )
    for row in rows.itertuples():
        known, wanted = names.index(row.known), names.index(row.device)
        seen = "RTX 4090" not in (row.known, row.device)
        assert row.place == (KNOWN if seen else SPECIFIED)
        then = given(told[row.place], [known], rate[[known]])
        share, reach = trusted[row.place, era_of(file["architecture"].to_numpy()[[known, wanted]])]
        plain = rate[known] + width[wanted] - width[known]
        gap = share * then.mean[wanted] + (1 - share) * plain - rate[wanted]
        assert row.gap == pytest.approx(gap, abs=1e-5)
        assert row.inside90 == (abs(gap) <= reach * then.covariance[wanted, wanted] ** 0.5)
        ratio = rate[known] + (others[row.device] - others[row.known]).median() if seen else plain
        assert row.yardstick == pytest.approx(ratio - rate[wanted])


def test_two_devices_that_are_all_that_was_learnt_from_are_known():
    figures = world(noisy(0.05, lambda device: device.peak("fp16")), names=("A100 SXM 80GB", "H100 SXM"))
    learnt = Learnt(relations(figures), trusts(BY_PEAK), TABLE)
    known = Measured(TABLE.get("A100"), 100.0, "resnet50", "fp16", "torch", 64.0)
    found = transferred([known], [TABLE.get("H100 SXM"), TABLE.get("L40S")], learnt)
    assert found["place"].tolist() == [KNOWN, SPECIFIED]
