"""Shares of the peak on a few figures that are made up, so that middle and ends can be reckoned by hand."""

import math

import pandas as pd
import pytest
from study_tables import STUDIES
from sweetspot.commands.estimate import machines_for_rent, mfu_of, parse_work
from sweetspot.study.open_models import open_models
from sweetspot.tokens import estimates
from sweetspot.tokens.estimates import UNTRIED, ReachedMfu, cheapest, estimate_machines
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import (
    Range,
    carry_speed,
    expected_mfu,
    interconnect_factor,
    maker_factor,
    published_figures,
)

SD_90 = 1.644854  # of a normal value 5 % lie above it
SMALL, MIDDLE, LARGE = "llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b"
ACTIVE = {SMALL: 1_235_746_816, MIDDLE: 3_212_574_720, LARGE: 8_029_995_008}  # facts/models.csv
CELL = {"model": LARGE, "method": "lora", "gpu": "A100 SXM 80GB", "precision": "bf16", "sequence": 2048,
        "stack": "tuned", "software": "a", "mixture": False}  # fmt: skip


def several(*shares, **columns):
    """One of each of as many softwares."""
    return [CELL | {"software": str(number), "mfu": share} | columns for number, share in enumerate(shares)]


def expected(rows, method="lora", stack="tuned", mixture=False):
    return expected_mfu(pd.DataFrame(rows), method, stack, mixture)


def about(middle, log_sd):
    """middle, and ends `log_sd` (standard deviations of the logarithm) from it."""
    return pytest.approx((middle, middle * math.exp(-SD_90 * log_sd), middle * math.exp(SD_90 * log_sd)), rel=1e-6)


def test_the_published_shares_are_of_all_devices_and_none_is_beyond_what_is_believed():
    """NeMo RL's qwen3-32b of 32 H100: 18,272 tokens/s. All weights, four passes for two: twice 6 P + 12 L a s."""
    known = published_figures()
    weights = 64 * (2 * 5120 * 8192 + 2 * 5120 * 1024 + 3 * 5120 * 25600) + 5120 * 151936
    by_hand = 18272 * 2 * (6 * weights + 12 * 64 * 8192 * 4096) / (32 * 989.4e12)
    last = known.iloc[-1]
    assert last[["model", "method", "gpu", "stack"]].tolist() == ["qwen3-32b", "grpo", "H100 SXM", "tuned"]
    assert last["mfu"] == pytest.approx(by_hand, rel=1e-3)
    assert 0.69 < known["mfu"].max() <= 0.75 and len(known) == 210  # of 212 rows two are beyond: RTX A6000


def test_a_product_of_shares():
    """0.5 x 0.8; down ln 2 twice; up ln 1.6 and ln 1.25: hypot 0.520285, 0.4 x 1.68251."""
    result = Range(0.5, 0.25, 0.8).times(Range(0.8, 0.4, 1.0))
    assert tuple(result) == pytest.approx((0.4, 0.4 * math.exp(-math.sqrt(2) * math.log(2)), 0.673003), rel=1e-5)


def test_what_makers_and_pcie_keep():
    """PCIe's low end: 14.0 of 15.4 samples/s on four. The constants are of the sources beside them in mfu.py."""
    assert maker_factor("amd") == maker_factor("intel") == (0.74, 0.34, 1.6) and maker_factor("nvidia") == (1, 1, 1)
    kept = pytest.approx((0.75, 0.2272727, 0.95), rel=1e-6)
    for link in (None, "pcie", "none"):
        assert interconnect_factor(link, 2) == kept and interconnect_factor(link, 1) == (1, 1, 1)
    assert interconnect_factor("nvlink", 8) == (1, 1, 1)


@pytest.mark.parametrize(
    ("shares", "middle", "spread"),
    [
        ((0.25, 0.3, 0.36), 0.3, math.log(1.2)),
        ((0.3, 0.3, 0.3), 0.3, 0.15),  # the least spread
        ((0.25, 0.27, 0.3, 0.33, 0.36), 0.3, math.log(1.2)),  # lowest, median and highest
        ((0.1,), 0.1, 0.15),
    ],
)
def test_the_interval_of_one_more_value_beside_the_lowest_median_and_highest(shares, middle, spread):
    assert tuple(expected(several(*shares))) == about(middle, spread * math.sqrt(4 / 3))


def test_figures_of_one_model_device_and_software_count_once_by_their_median():
    """0.1, 0.3, 0.9 of one are 0.3: two values, 0.3 and 0.3."""
    rows = [row | {"software": "a"} for row in several(0.1, 0.3, 0.9)] + several(0.3, gpu="H100 SXM")
    assert tuple(expected(rows)) == about(0.3, 0.15 * math.sqrt(4 / 3))


def test_of_either_stack_the_ends_and_the_middle_of_each_count():
    """Tuned 0.2, 0.3, 0.45; of plain's five 0.1, 0.15, 0.225: middle sqrt(0.3 x 0.15), apart ln 2 / 2 and ln 1.5."""
    tuned = several(0.3, 0.2, 0.45)
    plain = several(0.1, 0.14, 0.15, 0.16, 0.225, stack="plain")
    other = several(0.7, 0.7, stack="plain", method="full", gpu="H100 SXM")
    spread = math.sqrt((6 * (math.log(2) / 2) ** 2 + 4 * math.log(1.5) ** 2) / 5)
    share = expected(tuned + plain + other, stack=None)
    high = math.sqrt(0.045) * math.exp(SD_90 * spread * math.sqrt(7 / 6))
    assert (share.middle, share.high) == pytest.approx((math.sqrt(0.045), high))
    # The low end is a tenth of that of a vendor's library, whose 0.2, 0.3, 0.45 are 0.3 over exp(1.645 ln 1.5 x 1.155).
    lowest = 0.1 * 0.3 * math.exp(-SD_90 * math.log(1.5) * math.sqrt(4 / 3))
    assert share.low == pytest.approx(lowest) and lowest < 0.1
    # Of plain there is no lora: its other figures serve. Without plain, tuned alone.
    assert expected(tuned + other, stack=None).middle == pytest.approx(math.sqrt(0.3 * 0.7))
    assert expected(tuned, stack=None).middle == pytest.approx(0.3)


def test_a_mixture_of_experts_reaches_less():
    """Of lora no mixture is known: 0.4 of the others', 0.23 to 0.81 more unsure; of pretraining its own alone."""
    mixtures = several(0.2, 0.2, 0.2, method="pretrain", mixture=True)
    figures = several(0.3, 0.3, 0.3) + mixtures + several(0.5, 0.5, 0.5, method="pretrain")
    wide = SD_90 * 0.15 * math.sqrt(4 / 3)
    low, high = math.hypot(wide, math.log(0.4 / 0.23)), math.hypot(wide, math.log(0.81 / 0.4))
    share = expected(figures, mixture=True)
    assert tuple(share) == pytest.approx((0.12, 0.12 * math.exp(-low), 0.12 * math.exp(high)), rel=1e-6)
    assert tuple(expected(figures, "pretrain", mixture=True)) == about(0.2, 0.15 * math.sqrt(4 / 3))
    assert tuple(expected(figures)) == about(0.3, 0.15 * math.sqrt(4 / 3))


def test_grpo_is_learnt_from_grpo_of_every_precision_alone():
    grpo = [*several(0.1, 0.1, method="grpo"), *several(0.1, method="grpo", precision="fp8", gpu="H100 SXM")]
    figures = grpo + several(0.3, 0.3, 0.3, 0.3)
    assert tuple(expected(figures, "grpo", "plain")) == about(0.1, 0.15 * math.sqrt(4 / 3))
    assert expected(figures).middle == pytest.approx(0.3)


def carried(model, gpu, stack=None):
    devices = shipped_devices()
    timed = pd.DataFrame([{"model": LARGE, "gpu": "RTX 4090", "flop_per_s": 0.5 * 165.2e12}])
    return tuple(carry_speed(timed, open_models()[model], devices.get(gpu), stack))


def test_to_another_device_speed_goes_as_the_bandwidth():
    """RTX 4090: 1,008 GB/s; A100 SXM 80GB: 2,039."""
    assert carried(LARGE, "A100 SXM 80GB") == about(82.6e12 * 2039 / 1008, math.hypot(0.15, 0.365))
    assert carried(LARGE, "RTX 4090") == about(82.6e12, 0.15)


def test_to_another_model_a_loop_gains_with_size_and_a_library_keeps_its_speed():
    factor = (ACTIVE[SMALL] / ACTIVE[LARGE]) ** 0.1
    assert carried(SMALL, "RTX 4090", "plain") == about(82.6e12 * factor, math.hypot(0.15, 0.57))
    assert carried("qwen2.5-0.5b", "RTX 4090")[0] == pytest.approx(82.6e12 / 1.3)  # not further than the pairs
    assert carried(SMALL, "RTX 4090", "tuned") == about(82.6e12, math.hypot(0.15, 0.693))


@pytest.mark.parametrize(
    ("own", "basis", "share"),
    [
        ([{"sequence": 1024, "mfu": 0.3}, {"sequence": 4096, "mfu": 0.34}], "published", 0.3),
        ([{"model": MIDDLE, "mfu": 0.3}], "transferred", 0.3),
        # 1,555 GB/s of the A100 of 40 GB
        ([{"gpu": "A100 SXM 40GB", "mfu": 0.2}], "transferred", 0.2 * 2039 / 1555),
        ([{"model": MIDDLE, "gpu": "H100 SXM", "mfu": 0.3}], "arithmetic", 0.25),
    ],
)
def test_a_figure_of_model_or_device_counts_from_half_to_twice_the_sequence(monkeypatch, own, basis, share):
    apart = [{"sequence": 1023}, {"sequence": 6144}, {"precision": "fp8"}, {"method": "full"}, {"stack": "plain"}]
    rows = pd.DataFrame([CELL | {"mfu": 0.1} | row for row in apart + own])
    monkeypatch.setattr(estimates, "published_figures", lambda: rows.assign(flop_per_s=rows["mfu"] * 312e12))
    job = parse_work("llama-3.1-8b lora 100M tokens")
    known = ReachedMfu(Range(0.25, 0.2, 0.3), "tuned")
    speed, found = known.speed(job, shipped_devices().get("A100 SXM 80GB"))
    assert found == basis and speed.middle == pytest.approx(share * 312e12, rel=1e-3)


def test_hours_and_money_by_hand():
    """0.5 of an A100's 312 TFLOP/s: 1e8 tokens of 3.33e10 operations take 5.93 h at 2 USD; two by PCIe 1 / 1.5."""
    job = parse_work("llama-3.1-8b lora 100M tokens")
    machine = {"gpu": "A100 SXM 80GB", "interconnect": None, "usd_per_hour": 2.0, "minimum_hours": 0.0}
    rows = [{"machine": "one", "gpus": 1}, {"machine": "two", "gpus": 2}, {"machine": "day", "minimum_hours": 24.0}]
    rows = [machine | {"gpus": 1} | row for row in rows] + [machine | {"machine": "old", "gpu": "K80", "gpus": 1}]
    table = estimate_machines(job, ReachedMfu(Range(0.5, 0.4, 0.6)), pd.DataFrame(rows)).set_index("machine")
    hours = job.flop / (0.5 * 312e12) / 3600
    assert table["hours"].to_dict() == pytest.approx({"two": hours / 1.5, "one": hours, "day": hours})
    assert table["usd"].tolist() == pytest.approx([2 * hours / 1.5, 2 * hours, 48])  # the cheapest first
    assert table.loc["one", ["hours_low", "hours_high"]].tolist() == pytest.approx([hours / 1.2, hours / 0.8])
    assert table["ratio"].tolist() == pytest.approx([1, 1.5, 48 / (2 * hours / 1.5)])
    assert set(table["memory"]) == {"fits"} and set(table["basis"]) == {"arithmetic"}
    assert cheapest(table, within_hours=hours / 2) is None


# --- on what is published -------------------------------------------------------------------------------------------


def test_amd_reaches_what_its_mlperf_times_say_beside_nvidias_of_the_round():
    """1 / (minutes x bf16 peak) over NVIDIA's: MI300X and MI325X beside H200, MI350X and MI355X beside B200, B300."""
    times = pd.read_csv(STUDIES / "eight-gpus-2026" / "time_to_target.csv")
    middle = times[times["gpus"] == 8].groupby(["benchmark", "round", "gpu"])["minutes"].median()
    shares = []
    for (benchmark, name, gpu), minutes in middle.items():
        beside = "H200 SXM" if gpu in ("MI300X", "MI325X") else "B300 SXM" if name == "v6.0" else "B200 SXM"
        if gpu.startswith("MI") and name in ("v5.1", "v6.0") and (benchmark, name, beside) in middle:
            peaks = [shipped_devices().get(device).peak("bf16") for device in (gpu, beside)]
            shares.append(middle[benchmark, name, beside] * peaks[1] / (minutes * peaks[0]))
    assert len(shares) == 10
    assert maker_factor("amd").middle == pytest.approx(sorted(shares)[4] / 2 + sorted(shares)[5] / 2, abs=0.01)
    assert (min(shares), max(shares)) == (pytest.approx(0.62, abs=0.01), pytest.approx(0.86, abs=0.01))
    assert maker_factor("amd").low < 0.62 and maker_factor("amd").high > 0.86


def test_a_maker_without_a_figure_stands_last_and_leads_nothing():
    work = parse_work("llama-3.1-8b lora 100M tokens")
    rows = estimate_machines(work, mfu_of(work, None, None), machines_for_rent())
    untried = (rows["basis"] == UNTRIED).tolist()
    assert any(untried) and untried == sorted(untried)
    assert cheapest(rows).basis == "arithmetic"
