"""Times to a target at counts that nobody published: what is fitted, by hand and on submissions left out."""

import math

import numpy as np
import pandas as pd
import pytest
from scaling_tables import cell
from scipy.optimize import minimize
from scipy.special import huber
from study_tables import STUDIES
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.scaling.evidence import EVIDENCE_COLUMNS
from sweetspot.scaling.strong import (
    StrongScaling,
    crossings,
    fit_strong,
    result_pairs,
    strong_cells,
    strong_errors,
    usual_batch,
)
from sweetspot.scaling.targets import EXTRAPOLATION_COLUMNS, extrapolate_study
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells
from sweetspot.throughput.time_to_target import read_times, results

QUESTION = StudyCells(model=["lora"], batch_size=[1], precision="mixed", framework="torch", headline_batch_size=1)


def table(*rows):
    names = ("gpu", "gpus", "minutes", "submitter", "global_batch", "samples")
    given = pd.DataFrame(rows, columns=list(names))
    facts = {"benchmark": "lora", "round": "v5.1", "precision": "", "kind": "recomputed", "source": "s", "date": "x"}
    return given.assign(nodes=-(-given["gpus"] // 8), **facts)


def many(gpu, submitter, loss, leaving, exponent, batches):
    """A submitter whose minutes follow the law exactly; `batches`: global batch by count."""
    return [
        (gpu, n, 100 * 8 / n * (n / 8) ** loss * math.exp(leaving * (n > 8)) * (batch / 8) ** exponent, submitter,
         float(batch), 3000 * (batch / 8) ** exponent)
        for n, batch in batches.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shipped():
    return read_times(STUDIES / "eight-gpus-2026" / "time_to_target.csv")


def test_a_pair_by_hand(shipped):
    pairs = result_pairs(shipped)
    own = pairs[(pairs["gpu"] == "MI300X") & (pairs["doublings"] == 2)]
    # MangoBoost v5.0: 29.60 minutes on 8 and 10.92 on 32, four times the device time of 10.92 / 29.60
    assert own["log_minutes"].tolist() == pytest.approx([math.log(10.92 * 4 / 29.60)], abs=2e-3)
    assert own[["leaves", "log_batch"]].to_numpy().tolist() == [[1.0, 0.0]]


def test_a_machine_that_is_timed_at_another_count_is_estimated():
    times = table(*many("H100 SXM", "a", 0.2, 0.1, 0.0, {8: 8, 16: 8, 32: 8}), ("B200 SXM", 8, 10.0, "b", 8.0, 3000.0))
    instances = {
        name: Instance(title="x", provider="cloud", gpu=gpu, gpus=gpus, nodes=gpus // 8)
        for name, gpu, gpus in (("known", "B200 SXM", 8), ("two", "B200 SXM", 16), ("nobody", "MI300X", 8))
    }
    found = strong_cells(times, fit_strong(times), QUESTION, instances, EXTRAPOLATION_COLUMNS).set_index("instance")
    assert list(found.index) == ["two"]
    row, fitted = found.loc["two"], fit_strong(times)
    minutes = 10.0 / 2 * 2 ** fitted.loss["lora"] * math.exp(fitted.leaving)
    assert row["images_per_s"] == pytest.approx(1 / (60 * minutes))
    assert (row["basis"], row["method"], row["nodes"], bool(row["headline"])) == (
        "extrapolated", "strong_scaling", 2, True,
    )  # fmt: skip
    assert row["images_per_s_low"] < row["images_per_s"] / 1.12
    assert row["efficiency"] == pytest.approx(10.0 / minutes / 2)  # of twice the devices


def least(pairs, leaves):
    """Loss and exponent of the batch by benchmark, and c, at the least of Huber's loss and priors: by a general search.

    Priors (mean, sd): loss 0.17, 0.10 and exponent 0.1, 0.15, of whose variance benchmarks share 0.7; c 0.10, 0.10. A
    pair scatters by 0.10.
    """
    names, y = sorted(set(pairs["benchmark"])), pairs["log_minutes"].to_numpy()
    place = pairs["benchmark"].map(names.index).to_numpy()
    xs = pairs[["doublings", "log_batch"]].to_numpy() * (math.log(2), 1.0)
    mean, variance = np.array([0.17, 0.1]), np.array([0.10, 0.15]) ** 2

    def objective(theta):
        common, own = theta[1:3], theta[3:].reshape(-1, 2)
        prior = ((common - mean) ** 2 / (0.7 * variance)).sum() + (own**2 / (0.3 * variance)).sum()
        told = ((common + own)[place] * xs).sum(axis=1) + theta[0] * leaves
        return 2 * huber(2.0, (y - told) / 0.1).sum() + prior + (theta[0] - 0.1) ** 2 / 0.01

    found = minimize(objective, [0.1, *mean, *[0.0] * 2 * len(names)], options={"gtol": 1e-8}).x
    slopes = found[1:3] + np.vstack([[0.0, 0.0], found[3:].reshape(-1, 2)])
    return *(dict(zip(["", *names], each, strict=True)) for each in slopes.T), found[0]


def test_one_submission_far_off_the_others_pulls_no_harder_than_one_two_scatters_away():
    rows = [row for name in "abc" for row in many("H100 SXM", name, 0.2, 0.4, 0.5, {8: 8, 16: 12, 32: 16})]
    rows += many("B200 SXM", "d", 0.1, 0.0, 0.2, {8: 8, 16: 16})
    rows += many("B200 SXM", "e", 1.5, 0.0, 1.2, {8: 8, 16: 16, 64: 64})  # far off
    times = table(*rows)
    times.loc[times["submitter"] == "d", "benchmark"] = "other"
    pairs, found = result_pairs(times), fit_strong(times)
    loss, batch, leaving = least(pairs, pairs["leaves"])
    assert (found.loss, found.batch) == (pytest.approx(loss, abs=2e-3), pytest.approx(batch, abs=2e-3))
    assert found.leaving == pytest.approx(leaving, abs=2e-3)


def test_the_shipped_slopes_are_those_of_a_general_search():
    """And those that docs/scaling.md tells: b 0.14 and 0.24, g 0.15 and 0.02, c 0.08."""
    own, *others = [
        read_times(figures_file(name, STUDIES, "time_to_target.csv")) for name in ("eight-gpus-2026", "scaling-2026")
    ]
    pairs = result_pairs(pd.concat([own, *others])).dropna(subset=["log_batch"])
    loss, batch, leaving = least(pairs, pairs["leaves"])
    found = fit_strong(own, others)
    assert [loss["llama2_70b_lora"], loss["llama31_8b"]] == pytest.approx([0.14, 0.24], abs=0.005)
    assert [batch["llama2_70b_lora"], batch["llama31_8b"]] == pytest.approx([0.15, 0.02], abs=0.005)
    assert leaving == pytest.approx(0.08, abs=0.005)
    assert (found.loss, found.batch) == (pytest.approx(loss, abs=2e-3), pytest.approx(batch, abs=2e-3))


@pytest.mark.parametrize(
    ("gpu", "fewer", "more", "leaves"),
    [("H100 SXM", 4, 8, 0), ("H100 SXM", 8, 16, 1), ("GB200", 8, 16, 0), ("H100 SXM", 9, 18, 0),
     ("H100 SXM", 16, 32, 0), ("GB200", 36, 72, 0),
     ("GB300", 72, 144, 1), ("GB200", 73, 146, 0)],
)  # fmt: skip
def test_fast_links_join_eight_devices_or_a_rack_of_72(gpu, fewer, more, leaves):
    devices, low, high = pd.Series([gpu]), pd.Series([fewer]), pd.Series([more])
    assert crossings(devices, high, low).tolist() == [-leaves]  # the way back
    pairs = result_pairs(table((gpu, fewer, 10.0, "a", 8.0, 1.0), (gpu, more, 6.0, "a", 8.0, 1.0)))
    assert pairs[["leaves", "doublings"]].to_numpy().tolist() == [[leaves, 1.0]]
    assert pairs["log_minutes"].tolist() == pytest.approx([math.log(1.2)])  # 6 x 2 / 10


@pytest.mark.parametrize(("gpus", "base"), [(16, 8), (32, 64), (4, 8), (128, 64)])
def test_the_nearest_known_count_is_the_base(gpus, base):
    times = table(*many("H100 SXM", "a", 0.2, 0.1, 0.0, {8: 8, 64: 8}))
    given = {"m": Instance(title="x", provider="c", gpu="H100 SXM", gpus=gpus)}
    row = strong_cells(times, fit_strong(times), QUESTION, given, EXTRAPOLATION_COLUMNS).iloc[0]
    assert f"strong_scaling: {base} to {gpus} devices" in row["source"]
    # one doubling away: the width of one, beside how far submitters agree (1.12)
    half = math.hypot(fit_strong(times).width, 0.113)
    assert math.log(row["images_per_s_high"] / row["images_per_s"]) == pytest.approx(half)
    assert math.log(row["images_per_s"] / row["images_per_s_low"]) == pytest.approx(half)


def test_the_width_holds_for_nine_tenths_of_the_families_and_grows_with_the_root_of_the_doublings():
    """Of twenty devices one gains nothing by twice the count. Four doublings either way: twice the width of one."""
    times = table(*((f"Card {chr(65 + n)}", count, 64.0 * 8 / count if n else 64.0, "s", 8.0, 3000.0)
                    for n in range(20) for count in (8, 16)))  # fmt: skip
    assert fit_strong(times).width < 0.3 < strong_errors(result_pairs(times), "family")["gap"].abs().max()
    factor = StrongScaling({"": 0.1}, {"": 0.1}, 0.0, 0.2, 0).interval_factor(pd.Series([4.0, -4.0]))
    assert factor.tolist() == pytest.approx([math.exp(math.hypot(0.4, 0.113))] * 2)


def test_without_any_pair_the_priors_speak():
    found = fit_strong(table(("B200 SXM", 8, 10.0, "b", 8.0, 3000.0)))
    assert (found.loss[""], found.batch[""], found.leaving, found.pairs) == (0.17, 0.1, 0.1, 0)
    assert found.width == pytest.approx(2 * 0.10)  # two standard deviations of what is assumed


def test_the_batch_is_what_submitters_use_at_the_nearest_count(shipped):
    assert math.isnan(results(shipped)["llama31_8b", "B200 SXM", 8].global_batch)  # submitted without a batch
    assert usual_batch(shipped, "llama31_8b", 8) == 16
    assert math.isnan(usual_batch(shipped, "nothing", 8))
    assert usual_batch(table(*many("B200", "a", 0.0, 0.0, 0.0, {8: 8, 16: 12})), "lora", 14) == 12


@pytest.mark.parametrize(("gpus", "batches"), [(64, "100 to 100"), (16, "100 to 100"), (4, "100 to 8")])
def test_more_devices_never_have_a_smaller_batch(gpus, batches):
    rows = [("B200 SXM", count, 10.0, "b", batch, 1.0) for count, batch in ((4, 8.0), (16, 12.0), (64, 50.0))]
    times = table(("H100 SXM", 8, 10.0, "a", 100.0, 1.0), *rows)
    machines = {"m": Instance(title="x", provider="c", gpu="H100 SXM", gpus=gpus)}
    both = QUESTION.model_copy(update={"model": ["untimed", "lora"]})
    fitted, batch = fit_strong(times), float(batches.split()[-1])
    row = strong_cells(times, fitted, both, machines, EXTRAPOLATION_COLUMNS).iloc[0]
    assert f"global batch {batches}" in row["source"]
    assert f"devices, {100 * (2 ** fitted.loss['lora'] - 1):.0f} % more" in row["source"]
    # from eight devices and a batch of 100: (n / 8)^b, e^c where it leaves the machine, (batch / 100)^g
    taken = (gpus / 8) ** fitted.loss["lora"] * (batch / 100) ** fitted.batch["lora"]
    assert row["efficiency"] == pytest.approx(1 / (taken * math.exp(fitted.leaving * (gpus > 8))))


def test_times_of_other_benchmarks_teach_the_losses_and_not_the_width():
    def doubled(gpu, minutes):
        return [(gpu, 8, 64.0, "s", 8.0, 3000.0), (gpu, 16, minutes, "s", 8.0, 3000.0)]

    own = table(*doubled("B200 SXM", 32.0), *doubled("H100 SXM", 32.0), *doubled("MI300X", 32.0))  # lose nothing
    apart = table(*doubled("B200 SXM", 32.0), *doubled("H100 SXM", 64.0), *doubled("MI300X", 64.0))
    apart["benchmark"] = "b"
    alone, both, other = fit_strong(own), fit_strong(own, [apart]), fit_strong(apart)
    assert (alone.pairs, both.pairs) == (3, 6)
    # Each family is predicted by the others: one that loses twice as much (ln 2) beside one that loses nothing less.
    errors = strong_errors(result_pairs(apart), "family").sort_values("gpu")
    assert (errors["gap"] > 0).tolist() == [True, False, False]  # B200, H100, MI300X
    # what any benchmark loses lies between the two; how far a figure lies off is told of the own ones only
    assert alone.loss[""] < both.loss[""] < other.loss[""]
    assert both.width < 0.4 < other.width
    # Two doublings, of each of which the score is 1 / sqrt(2) of what they are off together; three families: the most.
    wide = apart.assign(gpus=own["gpus"].replace(16, 32))
    off = strong_errors(result_pairs(wide), "family")["gap"].abs().max()
    assert fit_strong(wide).width == pytest.approx(off / math.sqrt(2)) and off > 0.2
    machines = {"m": Instance(title="x", provider="c", gpu="H100 SXM", gpus=64)}
    evidence, throughput = pd.DataFrame(columns=list(EVIDENCE_COLUMNS)), pd.DataFrame([cell("x", 1, 1.0)])
    tables = {"evidence": evidence, "averages": evidence, "throughput": throughput}
    for times, pairs in (([own], "(3 pairs"), ([own, apart], "(6 pairs"), ([own.head(0)], "")):
        rows = extrapolate_study(tables, machines, [], QUESTION, "sum_of_parts", times)["extrapolation"]
        assert len(rows) == bool(pairs) and all(pairs in source for source in rows["source"])
