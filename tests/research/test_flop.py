"""`python -m research flop`: what runs reached of the dense peak, by hand."""

import pytest
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import write_run
from sweetspot.harness.step_times import Interval

from research import flop
from research.__main__ import main


def run_file(folder, name, model="gpt2_small", **changes):
    flags = {"instance": "box", "framework": "torch", "model": model, "batch-size": 8, "gpus": 2, "run": 1}
    flags |= {"precision": "bf16", "variant": "ddp", "output": folder / f"{name}.parquet"}
    facts = {"device_name": "NVIDIA A100-SXM4-80GB", "training_flop_per_sample": 39e9, "samples_per_step": 8000}
    request = parse_request([f"--{key}={value}" for key, value in flags.items()])
    write_run(request, [Interval(2.0)] * 3, facts | changes)


def test_the_share_of_the_dense_peak_by_hand(tmp_path, capsys):
    run_file(tmp_path, "a")
    run_file(tmp_path, "b", device_name="AMD EPYC 7763 64-Core Processor")
    run_file(tmp_path, "c", model="mine", training_flop_per_sample=None)  # of another's script: nothing is known of it
    assert main(["flop", str(tmp_path)]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    # 8000 tokens x 39 GFLOP / 2 s = 156 TFLOP/s; the data sheet has 312 of each of two devices, dense, in bf16
    assert first.split()[:5] == ["box/torch/gpt2_small/8/2/bf16/ddp", "1", "156", "624", "25.0%"]
    assert second.split()[2:5] == ["156", "-", "-"]
    assert flop.training_flop("resnet50") == pytest.approx(3 * 2 * 4.089e9)  # three passes; torchvision's GMAC
