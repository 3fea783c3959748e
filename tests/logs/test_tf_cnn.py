"""The reader of tf_cnn_benchmarks' output: real logs, and short ones written here."""

import re

import pytest
from log_files import TESTS, TF_CNN, tf_cnn
from sweetspot.errors import UserError


def test_a_tf_cnn_log_gives_its_total_and_what_its_header_says(tmp_path):
    row = tf_cnn(tmp_path)
    assert row["images_per_s"] == 686.87
    assert (row["model"], row["batch_size"], row["gpus"], row["framework"]) == ("inception3", 24, 2, "tensorflow")
    assert (row["framework_version"], row["dataset"], row["unit"]) == ("1.15", "synthetic", "images")
    assert "run.log line 19, sha256" in row["source"]
    assert "variable_update=replicated, all_reduce=nccl" in row["source"]


LAMBDA = (TESTS / "data" / "tf_cnn" / "lambda_2gpu.txt").read_text()
PREFIXES = [
    "[1,0]<stdout>:", "[1,0]<stdout>:21:20:54 ", "2020-11-01 21:20:54.504 ", "[2020-11-01T21:20:54Z] ", "worker-0  | ",
    "0: ", "I1101 21:20:54.504458 140348891502400 benchmark_cnn.py:500] ", "INFO:tensorflow:"
]  # fmt: skip


def test_a_real_lambda_log_gives_its_total(tmp_path):
    row = tf_cnn(tmp_path, LAMBDA)
    assert (row["images_per_s"], row["model"], row["batch_size"], row["gpus"]) == (12002.26, "alexnet", 960, 2)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("text", [LAMBDA, TF_CNN])
def test_what_others_put_before_each_line_does_no_harm(tmp_path, prefix, text):
    plain = tf_cnn(tmp_path, text)
    row = tf_cnn(tmp_path, "".join(f"{prefix}{line}\n" for line in text.splitlines()))
    same = ["images_per_s", "model", "batch_size", "gpus", "framework_version", "dataset"]
    assert row[same].equals(plain[same])


@pytest.mark.parametrize("number", ["12.002,26", "12,00.26", "12 002.26", "1,2002", "-5", "1e400"])
def test_a_number_in_another_notation_is_refused(tmp_path, number):
    with pytest.raises(UserError, match=r"line 19: total images/sec is .*; expected a number above 0"):
        tf_cnn(tmp_path, TF_CNN.replace("686.87", number))


def test_two_runs_in_one_file_are_refused_and_further_ranks_left_out(tmp_path):
    with pytest.raises(UserError, match="line 21: 'TensorFlow' after the total of line 19; expected one run a file"):
        tf_cnn(tmp_path, TF_CNN + TF_CNN)
    killed = TF_CNN.split("total images")[0]
    with pytest.raises(UserError, match="line 20: 'Model' is 'vgg16' after 'inception3' in line 2; expected one run"):
        tf_cnn(tmp_path, killed + TF_CNN.replace("inception3", "vgg16"))
    total = "total images/sec: 300.00\n"
    with pytest.raises(UserError, match="line 21: a second 'total images/sec' after that of line 19"):
        tf_cnn(tmp_path, TF_CNN + total)
    both = "".join(f"[1,{rank}]<stdout>:{line}\n" for line in TF_CNN.splitlines() for rank in (0, 1))
    assert tf_cnn(tmp_path, both)["images_per_s"] == 686.87


@pytest.mark.parametrize(("key", "value", "line"), [("gpus", 4, 9), ("model", "resnet50", 2), ("batch_size", 48, 7)])
def test_a_log_that_contradicts_the_study_is_refused(tmp_path, key, value, line):
    with pytest.raises(UserError, match=rf"run.log, line {line}: {key} is .* study.yaml states {value!r}"):
        tf_cnn(tmp_path, **{key: value})


def test_inference_is_not_training(tmp_path):
    with pytest.raises(UserError, match="line 4: mode is 'forward-only'; expected training"):
        tf_cnn(tmp_path, TF_CNN.replace("training\nSingle", "forward-only\nSingle"))
    with pytest.raises(UserError, match=r"run.log, line 9: devices are \"\['disk'\]\"; expected a list such as"):
        tf_cnn(tmp_path, re.sub("Devices: .*", "Devices: ['disk']", TF_CNN))


BROKEN_TF_CNN = [
    (TF_CNN.replace("686.9 +/-", "68x.9 +/-"), 16, "step line"),
    (TF_CNN.replace("total images/sec: 686.87", "total images/sec: nan"), 19, "total images/sec is 'nan'"),
    (TF_CNN.split("total images")[0], 18, "the log ends without 'total images/sec'"),
    (TF_CNN.replace("24 per device", "many per device"), 7, "batch is 'many' per device"),
    ("Killed\n", 1, "no line 'Model'"),
]


@pytest.mark.parametrize(("text", "line", "found"), BROKEN_TF_CNN)
def test_a_malformed_tf_cnn_line_is_refused_with_its_number(tmp_path, text, line, found):
    with pytest.raises(UserError, match=rf"run.log, line {line}: {found}"):
        tf_cnn(tmp_path, text)
