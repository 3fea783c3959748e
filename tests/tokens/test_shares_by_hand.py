"""Shares of the peak on a few figures that are made up, so that middle and ends can be reckoned by hand."""

import math

import pandas as pd
import pytest
from study_tables import STUDIES
from sweetspot.commands.estimate import machines_for_rent, mfu_of, parse_work
from sweetspot.study.open_models import open_models
from sweetspot.tokens import mfu
from sweetspot.tokens.estimates import UNTRIED, cheapest, estimate_machines
from sweetspot.tokens.mfu import (
    PublishedShare,
    Range,
    expected_mfu,
    from_one_timing,
    joined_by,
    nearest,
    of_maker,
    on_device,
    on_model,
)  # fmt: skip
from sweetspot.transfer.figures import shipped_devices

SD_90 = 1.644854  # of a normal value 5 % lie above it
T_90 = {2: 2.919986, 3: 2.353363}  # the same of Student's t by degrees of freedom (printed tables)
SMALL, MIDDLE, LARGE = "llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b"
ACTIVE = {SMALL: 1_235_746_816, MIDDLE: 3_212_574_720, LARGE: 8_029_995_008}  # facts/models.csv


def figure(share, **said):
    one = PublishedShare(LARGE, "lora", "A100 SXM 80GB", "bf16", 2048, "tuned", "a", False, share)
    return one._replace(**said)


def several(*shares, **said):
    """One of each of as many softwares."""
    return [figure(share, software=f"{number}", **said) for number, share in enumerate(shares)]


def about(middle, wide):
    """middle, and ends `wide` (a logarithm) from it."""
    return pytest.approx((middle, middle * math.exp(-wide), min(1.0, middle * math.exp(wide))), rel=1e-6)


def test_the_published_shares_are_of_all_devices_and_none_is_beyond_what_is_believed(monkeypatch):
    """NeMo RL's qwen3-32b of 32 H100: 18,272 tokens/s. All weights, four passes for two: twice 6 P + 12 L a s."""
    known = mfu.published_figures()
    weights = 64 * (2 * 5120 * 8192 + 2 * 5120 * 1024 + 3 * 5120 * 25600) + 5120 * 151936
    by_hand = 18272 * 2 * (6 * weights + 12 * 64 * 8192 * 4096) / (32 * 989.4e12)
    assert known[-1][:-1] == ("qwen3-32b", "grpo", "H100 SXM", "bf16", 4096, "tuned", "NeMo RL v0.5", False)
    assert known[-1].mfu == pytest.approx(by_hand, rel=1e-3)
    most = max(one.mfu for one in known)
    assert 0.69 < most <= 0.75 and len(known) == 210  # of 212 rows two are beyond: RTX A6000
    monkeypatch.setattr(mfu, "CREDIBLE", most)
    assert len(mfu.published_figures.__wrapped__()) == 210
    monkeypatch.setattr(mfu, "CREDIBLE", math.nextafter(most, 0))
    assert len(mfu.published_figures.__wrapped__()) < 210


def test_a_product_of_shares_ends_at_the_whole_peak():
    """0.5 x 0.8; up ln 1.6 and ln 1.25: hypot 0.520285, 0.4 x 1.68251; of 0.7 x 0.9 beyond 1."""
    told = Range(0.5, 0.25, 0.8).times(Range(0.8, 0.4, 1.0))
    assert tuple(told) == pytest.approx((0.4, 0.4 * math.exp(-math.sqrt(2) * math.log(2)), 0.673003), rel=1e-5)
    assert Range(0.7, 0.5, 0.99).times(Range(0.9, 0.8, 1.6)).high == 1.0


def test_what_makers_and_pcie_keep():
    """PCIe's low end: 14.0 of 15.4 samples/s on four. The constants are of the sources beside them in mfu.py."""
    assert of_maker("amd") == of_maker("intel") == (0.74, 0.34, 1.6) and of_maker("nvidia") == (1, 1, 1)
    kept = pytest.approx((0.75, 0.2272727, 0.95), rel=1e-6)
    for joined in (None, "pcie", "none"):
        assert joined_by(joined, 2) == kept and joined_by(joined, 1) == (1, 1, 1)
    assert joined_by("nvlink", 8) == (1, 1, 1)


@pytest.mark.parametrize(
    ("shares", "middle", "wide"),
    [
        ((0.25, 0.3, 0.36), 0.3, T_90[2] * math.log(1.2) * math.sqrt(4 / 3)),  # spread ln 1.2
        ((0.3, 0.3, 0.3), 0.3, T_90[2] * 0.15 * math.sqrt(4 / 3)),  # the least spread
        ((0.1, 0.1, 0.1, 0.1), 0.1, T_90[3] * 0.15 * math.sqrt(5 / 4)),
        ((0.2, 0.3), math.sqrt(0.06), T_90[2] * 0.7 * math.sqrt(3 / 2)),  # too few for a spread: twice 0.35
        ((0.1,), 0.1, T_90[2] * 0.7 * math.sqrt(2)),
    ],
)  # fmt: skip
def test_the_interval_of_one_more_value(shares, middle, wide):
    assert tuple(expected_mfu(several(*shares), "lora", "bf16", "tuned")) == about(middle, wide)


def test_figures_of_one_model_device_and_software_count_once_by_their_median():
    """0.1, 0.3, 0.9 of one are 0.3: two values, 0.3 and 0.3, so that there is no spread to learn."""
    told = expected_mfu([figure(s) for s in (0.1, 0.3, 0.9)] + [figure(0.3, gpu="H100 SXM")], "lora", "bf16", "tuned")
    assert tuple(told) == about(0.3, T_90[2] * 0.7 * math.sqrt(3 / 2))


def test_the_nearest_three_figures_are_chosen():
    """lora in bf16; then all of bf16; then all of the stack. Another stack's never count."""
    own = several(0.3, 0.3, 0.3)
    full = [one._replace(method="full", software=f"f{one.software}") for one in several(0.2, 0.2, 0.2)]
    fp8 = [one._replace(precision="fp8", software=f"8{one.software}") for one in several(0.1, 0.1, 0.1)]
    plain = several(0.05, 0.05, 0.05, stack="plain")
    middle = lambda figures: expected_mfu(figures + plain, "lora", "bf16", "tuned").middle  # noqa: E731
    assert middle(own + full + fp8) == pytest.approx(0.3)
    assert middle(own[:2] + full + fp8) == pytest.approx((0.3**2 * 0.2**3) ** (1 / 5))
    assert middle(own[:2] + full[:1] + fp8) == pytest.approx((0.3**2 * 0.2) ** (1 / 3))
    assert middle(own[:1] + full[:1] + fp8) == pytest.approx((0.3 * 0.2 * 0.1**3) ** (1 / 5))


def test_of_either_stack_the_ends_and_the_middle_of_each_count():
    """Tuned 0.2, 0.3, 0.45; of plain's five 0.1, 0.15, 0.225: middle sqrt(0.3 x 0.15), apart ln 2 / 2 and ln 1.5."""
    tuned = several(0.3, 0.2, 0.45)
    plain = several(0.1, 0.14, 0.15, 0.16, 0.225, stack="plain")
    other = several(0.7, 0.7, stack="plain", method="full", gpu="H100 SXM")
    spread = math.sqrt((6 * (math.log(2) / 2) ** 2 + 4 * math.log(1.5) ** 2) / 5)
    told = expected_mfu(tuned + plain + other, "lora", "bf16", None)
    assert (told.middle, told.high) == pytest.approx(
        (math.sqrt(0.045), math.sqrt(0.045) * math.exp(SD_90 * spread * math.sqrt(7 / 6)))
    )
    # The low end is a tenth of that of a vendor's library, whose 0.2, 0.3, 0.45 are 0.3 over exp(2.92 ln 1.5 x 1.155).
    lowest = 0.1 * 0.3 * math.exp(-T_90[2] * math.log(1.5) * math.sqrt(4 / 3))
    assert told.low == pytest.approx(lowest) and lowest < 0.1
    # Of plain there is no lora: its other figures serve. Without plain, tuned alone.
    assert expected_mfu(tuned + other, "lora", "bf16", None).middle == pytest.approx(math.sqrt(0.3 * 0.7))
    assert expected_mfu(tuned, "lora", "bf16", None).middle == pytest.approx(0.3)


def test_a_mixture_of_experts_reaches_less():
    """Of lora no mixture is known: 0.4 of the others', 0.23 to 0.81 more unsure; of pretraining its own alone."""
    dense = several(0.3, 0.3, 0.3)
    mixtures = [one._replace(method="pretrain", mixture=True) for one in several(0.2, 0.2, 0.2)]
    pretrained = several(0.5, 0.5, 0.5, method="pretrain")
    figures = dense + mixtures + pretrained
    wide = T_90[2] * 0.15 * math.sqrt(4 / 3)
    low, high = math.hypot(wide, math.log(0.4 / 0.23)), math.hypot(wide, math.log(0.81 / 0.4))
    told = expected_mfu(figures, "lora", "bf16", "tuned", mixture=True)
    assert tuple(told) == pytest.approx((0.12, 0.12 * math.exp(-low), 0.12 * math.exp(high)), rel=1e-6)
    assert tuple(expected_mfu(figures, "pretrain", "bf16", "tuned", mixture=True)) == about(0.2, wide)
    assert tuple(expected_mfu(figures, "lora", "bf16", "tuned")) == about(0.3, wide)
    # The other way: of mixtures alone a dense model reaches 1 / 0.4 as much.
    told = expected_mfu(mixtures, "pretrain", "bf16", "tuned")
    assert (told.middle, told.low) == pytest.approx((0.5, 0.5 * math.exp(-low)), rel=1e-6)


def test_grpo_is_learnt_from_grpo_of_every_precision_alone():
    grpo = [*several(0.1, 0.1, method="grpo"), figure(0.1, method="grpo", precision="fp8", gpu="H100 SXM")]
    figures = grpo + several(0.3, 0.3, 0.3, 0.3)
    wide = T_90[2] * 0.15 * math.sqrt(4 / 3)
    assert tuple(expected_mfu(figures, "grpo", "bf16", "plain")) == about(0.1, wide)
    assert expected_mfu(figures, "lora", "fp8", "tuned").middle == pytest.approx(0.3)
    told = expected_mfu(figures, "grpo", "bf16", None, mixture=True)
    assert (told.middle, told.low) == pytest.approx((0.04, 0.04 * math.exp(-math.hypot(wide, math.log(40 / 23)))))


def test_one_timing_tells_a_stack_to_a_third():
    """Ends exp(1.645 x 0.35) = 1.778 times apart; not above 1, and the middle not above 0.75."""
    assert tuple(from_one_timing(0.3)) == about(0.3, SD_90 * 0.35)
    assert tuple(from_one_timing(0.9)) == about(0.75, SD_90 * 0.35) and from_one_timing(0.9).high == 1.0


def found_near(monkeypatch, figures, method="lora"):
    monkeypatch.setattr(mfu, "published_figures", lambda: tuple(figures))
    return nearest(open_models()[LARGE], method, 2048, shipped_devices().get("A100 SXM 80GB"), "tuned")


def test_a_figure_of_model_and_device_counts_from_half_to_twice_the_sequence(monkeypatch):
    own = [figure(0.3, sequence=1024), figure(0.34, sequence=4096)]
    apart = [figure(0.1, sequence=1023), figure(0.1, sequence=6144), figure(0.1, precision="fp8"),
             figure(0.1, method="full"), figure(0.1, stack="plain"), figure(0.1, gpu="H100 SXM")]  # fmt: skip
    told, basis = found_near(monkeypatch, apart + own)
    assert basis == "published" and tuple(told) == about(0.32, SD_90 * 0.15)


def test_to_another_device_throughput_goes_as_the_bandwidth():
    """RTX 4090: 1,008 GB/s and 165.2 TFLOP/s; A100 SXM 80GB: 2,039 and 312. 0.5 becomes 0.5 x 2.0228 x 0.5295."""
    devices = shipped_devices()
    share = on_device(from_one_timing(0.5, 0.15), devices.get("RTX 4090"), devices.get("A100 SXM 80GB"), "bf16")
    middle = 0.5 * (2039 / 1008) / (312 / 165.2)
    assert tuple(share) == about(middle, math.hypot(SD_90 * 0.15, 0.60))
    same = on_device(from_one_timing(0.5, 0.15), devices.get("RTX 4090"), devices.get("RTX 4090"), "bf16")
    assert tuple(same) == about(0.5, SD_90 * 0.15)


def test_to_another_model_a_loop_gains_with_size_and_a_library_keeps_its_share():
    share = from_one_timing(0.3, 0.15)
    assert tuple(on_model(share, 4.0, "plain")) == about(0.3 * 4**0.1, SD_90 * 0.35)
    assert on_model(share, 1e6, None).middle == pytest.approx(0.3 * 1.3)  # not further than the pairs lie apart
    assert tuple(on_model(share, 4.0, "tuned")) == about(0.3, math.hypot(SD_90 * 0.15, 1.14))
    assert on_model(share, 1.0, "tuned") == share


def test_else_another_model_on_the_device_counts_before_the_model_on_another(monkeypatch):
    on_it, elsewhere = figure(0.3, model=MIDDLE), figure(0.2, gpu="A100 SXM 40GB")
    told, basis = found_near(monkeypatch, [elsewhere, on_it])
    assert basis == "transferred" and told.middle == pytest.approx(0.3)
    # 1,555 GB/s of the A100 of 40 GB at the same peak
    told, basis = found_near(monkeypatch, [elsewhere, figure(0.5, model=MIDDLE, gpu="H100 SXM")])
    assert basis == "transferred" and told.middle == pytest.approx(0.2 * 2039 / 1555, rel=1e-3)
    told, basis = found_near(monkeypatch, [figure(0.3, model=MIDDLE, gpu="H100 SXM")])
    assert basis == "arithmetic" and tuple(told) == about(0.3, T_90[2] * 0.7 * math.sqrt(2))


# --- on what is published -------------------------------------------------------------------------------------------


def test_amd_reaches_what_its_mlperf_times_say_beside_nvidias_of_the_round():
    """1 / (minutes x bf16 peak) over NVIDIA's: MI300X and MI325X beside H200, MI350X and MI355X beside B200, B300."""
    times = pd.read_csv(STUDIES / "eight-gpus-2026" / "time_to_target.csv")
    middle = times[times["gpus"] == 8].groupby(["benchmark", "round", "gpu"])["minutes"].median()
    found = []
    for (benchmark, name, gpu), minutes in middle.items():
        beside = "H200 SXM" if gpu in ("MI300X", "MI325X") else "B300 SXM" if name == "v6.0" else "B200 SXM"
        if gpu.startswith("MI") and name in ("v5.1", "v6.0") and (benchmark, name, beside) in middle:
            peaks = [shipped_devices().get(one).peak("bf16") for one in (gpu, beside)]
            found.append(middle[benchmark, name, beside] * peaks[1] / (minutes * peaks[0]))
    assert len(found) == 10
    assert of_maker("amd").middle == pytest.approx(sorted(found)[4] / 2 + sorted(found)[5] / 2, abs=0.01)
    assert (min(found), max(found)) == (pytest.approx(0.62, abs=0.01), pytest.approx(0.86, abs=0.01))
    assert of_maker("amd").low < 0.62 and of_maker("amd").high > 0.86
    assert of_maker("nvidia") == Range(1, 1, 1)


def test_a_maker_without_a_figure_stands_last_and_leads_nothing():
    work = parse_work("llama-3.1-8b lora 100M tokens")
    rows = estimate_machines(work, mfu_of(work, None, None), machines_for_rent())
    untried = [row.basis == UNTRIED for row in rows]
    assert any(untried) and untried == sorted(untried)
    assert cheapest(rows).basis == "arithmetic"
