"""A throughput whose arithmetic exceeds the device's dense peak is refused."""

import pytest
from sweetspot.errors import UserError
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.transferring import Measured, check_below_peak


def rtx_4090(model: str, rate: float, precision: str = "fp16") -> Measured:
    return Measured(shipped_devices().get("RTX 4090"), rate, model, precision, "torch", 256)


def test_a_rate_above_the_peak_is_refused() -> None:
    # ResNet-50: 4.09 billion multiply-adds x 2 FLOP x 3 passes = 24.54 GFLOP an image; 165.2 TFLOP/s in fp16:
    # 165,200 / 24.54 = 6,732 images a second at most. 112,000 are 2,748 TFLOP/s, 16.6 times the peak.
    with pytest.raises(UserError, match=r"16\.6 times"):
        check_below_peak(rtx_4090("resnet50", 112_000))
    with pytest.raises(UserError):
        check_below_peak(rtx_4090("ResNet-50 v1.5", 6_740))
    check_below_peak(rtx_4090("resnet50", 6_720))


def test_the_peak_is_that_of_the_precision() -> None:
    # fp32 runs in TF32: 82.6 TFLOP/s, 82,600 / 24.54 = 3,366 images a second.
    with pytest.raises(UserError):
        check_below_peak(rtx_4090("resnet50", 3_400, "fp32"))
    check_below_peak(rtx_4090("resnet50", 3_300, "fp32"))


def test_a_network_of_unknown_arithmetic_passes() -> None:
    check_below_peak(rtx_4090("our-own-network", 112_000))


def test_bert_counts_six_flop_a_weight_and_token() -> None:
    # 24 layers x 12 x 1024^2 = 302 million weights; 6 x 302e6 x 128 tokens = 231.9 GFLOP a sequence:
    # 165,200 / 231.9 = 712 sequences a second.
    with pytest.raises(UserError):
        check_below_peak(rtx_4090("bert_large", 720))
    check_below_peak(rtx_4090("bert_large", 705))
