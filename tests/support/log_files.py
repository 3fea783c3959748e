"""Logs written by hand, and the one row that they give."""

from pathlib import Path

from sweetspot.logs.read import read_logs
from sweetspot.study.study import LogSource

TESTS = Path(__file__).parent.parent

KERAS = {"format": "keras_csv", "instance": "k80", "framework": "tensorflow", "model": "mnist_mlp",
         "batch_size": 128, "precision": "fp32", "samples_per_epoch": 60_000, "source": "test"}  # fmt: skip

# As tf_cnn_benchmarks 1.15 prints; the figures are those of Lambda's 2 x RTX 3080 log (inception3, fp16, XLA).
TF_CNN = """\
TensorFlow:  1.15
Model:       inception3
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  48 global
             24 per device
Num batches: 100
Devices:     ['/gpu:0', '/gpu:1']
Variables:   replicated
AllReduce:   nccl
==========
Generating training model
Step\tImg/sec\ttotal_loss
1\timages/sec: 711.4 +/- 0.0 (jitter = 0.0)\t7.381 1604265441
10\timages/sec: 686.9 +/- 8.0 (jitter = 39.7)\t7.388 1604265441
100\timages/sec: 687.4 +/- 2.6 (jitter = 32.4)\t7.247 1604265447
----------------------------------------------------------------
total images/sec: 686.87
----------------------------------------------------------------
"""


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read_one(folder, **stated):
    table = read_logs([LogSource(**{"source": "test", "instance": "box", **stated})], folder)
    return table.iloc[0] if len(table) else None


def tf_cnn(folder, text=TF_CNN, **stated):
    write(folder, "run.log", text)
    return read_one(folder, format="tf_cnn_benchmarks", path="run.log", **{"precision": "fp16", **stated})
