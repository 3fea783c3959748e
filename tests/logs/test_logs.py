"""Readers of others' logs: real logs of the 2017 Keras benchmark, and short logs written here in each format."""

import csv
import hashlib
import math
from pathlib import Path

import pytest
from pydantic import ValidationError
from sweetspot.errors import UserError
from sweetspot.logs.read import read_logs
from sweetspot.study.instances import Instance
from sweetspot.study.log_sources import LogSource, log_files
from sweetspot.study.study import Question, load_study
from sweetspot.throughput.gather import gather_throughput
from sweetspot.warnings import as_text, pairs

TESTS = Path(__file__).parent.parent
WOOLF = TESTS.parent / "config" / "studies" / "woolf-2017"
REAL_LOGS = sorted(path.relative_to(WOOLF).as_posix() for path in WOOLF.glob("logs/*/*.csv"))
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


@pytest.mark.parametrize("name", REAL_LOGS)
def test_the_total_time_of_a_real_log_is_the_sum_of_its_elapsed_column(name):
    with (WOOLF / name).open(newline="") as lines:
        elapsed = [float(row["elapsed"]) for row in csv.DictReader(lines)]
    row = read_logs([LogSource(**KERAS, path=name)], WOOLF).iloc[0]
    seconds = len(elapsed) * 60_000 / row["images_per_s"]
    assert math.isclose(seconds, math.fsum(elapsed), rel_tol=1e-12)
    digest = hashlib.sha256((WOOLF / name).read_bytes()).hexdigest()
    assert row["source"].startswith(f"test: {name} lines 2-{len(elapsed) + 1}, sha256 {digest}")
    assert (row["unit"], row["runs"]) == ("samples", 1)


def test_all_real_logs_are_there():
    assert len(REAL_LOGS) == 36 + 12  # six tests x (2 GPUs x 2 frameworks + 2 CPUs), and the earlier K80 runs


def test_five_of_six_k80_cntk_logs_repeat_the_earlier_run_byte_for_byte():
    tests = sorted({Path(name).stem.removesuffix("_cntk") for name in REAL_LOGS if name.endswith("_cntk.csv")})
    same = {
        test
        for test in tests
        if (WOOLF / f"logs/k80/{test}_cntk.csv").read_bytes() == (WOOLF / f"logs/earlier/{test}_cntk.csv").read_bytes()
    }
    assert (len(tests), len(same)) == (6, 5)
    table = read_logs(load_study(WOOLF).logs, WOOLF)
    twins = table[["log is byte-identical to logs/earlier/" in as_text(told) for told in table["warnings"]]]
    assert set(zip(twins["instance"], twins["model"], strict=True)) == {("k80-cntk", test) for test in same}


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
    "0: ", "I1101 21:20:54.504458 140348891502400 benchmark_cnn.py:500] ", "INFO:tensorflow:",
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


def test_colours_and_thousands_separators_do_no_harm(tmp_path):
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\n" for line in LAMBDA.splitlines())
    assert tf_cnn(tmp_path, coloured)["images_per_s"] == 12002.26
    separated = LAMBDA.replace("images/sec: 12", "images/sec: 12,").replace("1920 global", "1,920 global")
    assert "total images/sec: 12,002.26" in separated
    assert tf_cnn(tmp_path, separated)["images_per_s"] == 12002.26


@pytest.mark.parametrize("number", ["12.002,26", "12,00.26", "12 002.26", "1,2002", "-5", "1e400"])
def test_a_number_in_another_notation_is_refused(tmp_path, number):
    with pytest.raises(UserError, match=r"line 19: total images/sec is .*; expected a number above 0"):
        tf_cnn(tmp_path, TF_CNN.replace("686.87", number))


def test_two_runs_in_one_file_are_refused_with_the_line_of_the_second(tmp_path):
    with pytest.raises(UserError, match="line 21: 'TensorFlow' after the total of line 19; expected one run a file"):
        tf_cnn(tmp_path, TF_CNN + TF_CNN, on_error="skip")
    killed = TF_CNN.split("total images")[0]
    with pytest.raises(UserError, match="line 20: 'Model' is 'vgg16' after 'inception3' in line 2; expected one run"):
        tf_cnn(tmp_path, killed + TF_CNN.replace("inception3", "vgg16"))
    total = "total images/sec: 300.00\n"
    with pytest.raises(UserError, match="line 21: a second 'total images/sec' after that of line 19"):
        tf_cnn(tmp_path, TF_CNN + total)


def test_ranks_after_the_first_are_left_out(tmp_path):
    both = "".join(f"[1,{rank}]<stdout>:{line}\n" for line in TF_CNN.splitlines() for rank in (0, 1))
    assert tf_cnn(tmp_path, both)["images_per_s"] == 686.87


@pytest.mark.parametrize(("key", "value", "line"), [("gpus", 4, 9), ("model", "resnet50", 2), ("batch_size", 48, 7)])
def test_a_log_that_contradicts_the_study_is_refused_even_when_faults_are_skipped(tmp_path, key, value, line):
    with pytest.raises(UserError, match=rf"run.log, line {line}: {key} is .* study.yaml states {value!r}"):
        tf_cnn(tmp_path, on_error="skip", **{key: value})


def test_inference_is_not_training(tmp_path):
    with pytest.raises(UserError, match="line 4: mode is 'forward-only'; expected training"):
        tf_cnn(tmp_path, TF_CNN.replace("training\nSingle", "forward-only\nSingle"))


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


def test_skipping_keeps_the_figure_and_names_the_line(tmp_path, caplog):
    row = tf_cnn(tmp_path, BROKEN_TF_CNN[0][0], on_error="skip")
    assert row["images_per_s"] == 686.87
    assert pairs(row["warnings"]) == [("skipped_lines", "malformed lines skipped: 16")]
    assert "run.log, line 16: step line" in caplog.text


@pytest.mark.parametrize("text", [case[0] for case in BROKEN_TF_CNN[1:]])
def test_skipping_never_invents_a_figure(tmp_path, text, caplog):
    assert tf_cnn(tmp_path, text, on_error="skip") is None
    assert "skipped" in caplog.text


def lambda_folder(folder, rates=(686.87,)):
    base = folder / "box.logs"
    for run, rate in enumerate(rates, start=1):
        text = TF_CNN.replace("686.87", str(rate))
        write(base, f"syn-replicated-fp16-2gpus/inception3-24/throughput/{run}", text)
    write(base, "syn-replicated-fp16-2gpus/inception3-24/thermal/1", "70 C\n")
    write(base, "syn-replicated-fp16-2gpus-inference/inception3-24/throughput/1", "Mode: forward-only\n")
    write(base, "real-replicated-fp16-2gpus-distortions/inception3-24/throughput/1", TF_CNN)
    write(base, "metadata", "GPU 0\tGeForce RTX 3080\n")
    return {"format": "lambda", "path": "box.logs"}


def test_a_lambda_folder_gives_its_training_runs_and_nothing_else(tmp_path):
    source = lambda_folder(tmp_path)
    table = read_logs([LogSource(**source, source="lambda", instance="box")], tmp_path, {"box": "GeForce RTX 3080"})
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["model"], row["batch_size"], row["gpus"], row["precision"]) == ("inception3", 24, 2, "fp16")
    assert (row["images_per_s"], row["gpu"]) == (686.87, "GeForce RTX 3080")


def test_runs_of_a_cell_average_their_times_and_give_an_interval(tmp_path):
    row = read_one(tmp_path, **lambda_folder(tmp_path, rates=(100.0, 300.0)))
    assert row["images_per_s"] == pytest.approx(150.0)  # 2 / (1/100 + 1/300)
    assert row["runs"] == 2
    # t(0.975, 1 degree) = 12.706 from the printed tables; the logarithms differ by ln 3
    widen = math.exp(12.706 * math.log(3) / math.sqrt(2) / math.sqrt(2))
    assert row["images_per_s_high"] == pytest.approx(150 * widen, rel=1e-3)
    assert row["images_per_s_low"] == pytest.approx(150 / widen, rel=1e-3)
    assert row["source"].count("sha256") == 2


@pytest.mark.parametrize("stated", [{"gpus": 8}, {"precision": "fp32"}, {"dataset": "real"}, {"model": "vgg16"}])
def test_a_lambda_folder_without_a_fitting_run_is_a_mistake(tmp_path, stated):
    with pytest.raises(UserError, match="no training log that fits"):
        read_one(tmp_path, **lambda_folder(tmp_path), **stated)


def test_a_lambda_path_that_lies_about_its_log_is_refused(tmp_path):
    folder = tmp_path / "box.logs" / "syn-replicated-fp16-4gpus" / "inception3-24" / "throughput"
    write(folder, "1", TF_CNN)
    with pytest.raises(UserError, match=r"gpus is 2; study.yaml states 4"):
        read_one(tmp_path, format="lambda", path="box.logs")


def keras(folder, text, **stated):
    write(folder, "log.csv", text)
    return read_one(folder, **{**KERAS, "path": "log.csv", **stated})


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("epoch,loss\n0,0.2\n", 1, "column 'elapsed' is missing"),
        ("epoch,elapsed\n0,10\n1,abc\n", 3, "elapsed is 'abc'"),
        ("epoch,elapsed\n0,10\n1,nan\n", 3, "elapsed is 'nan'"),
        ("epoch,elapsed\n0,10\n1,-4\n", 3, "elapsed is '-4'"),
        ("epoch,elapsed\n0,10\n0,12\n", 3, "epoch is '0' after 0"),
        ("epoch,elapsed\n0,10\n1\n", 3, "1 values; expected 2"),
        ("epoch,elapsed\n", 1, "no epoch"),
        ("", 1, "column 'epoch' is missing"),
    ],
)
def test_a_malformed_keras_row_is_refused_with_its_number(tmp_path, text, line, found):
    with pytest.raises(UserError, match=rf"log.csv, line {line}: {found}"):
        keras(tmp_path, text)


def test_a_skipped_epoch_counts_neither_in_time_nor_in_samples(tmp_path):
    row = keras(tmp_path, "epoch,elapsed\n0,10\n1,abc\n2,20\n", on_error="skip", samples_per_epoch=300)
    assert row["images_per_s"] == pytest.approx(2 * 300 / 30)
    assert pairs(row["warnings"]) == [("skipped_lines", "malformed lines skipped: 3")]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"path": "../secret"}, "inside the study's folder"),
        ({"path": "/etc/passwd"}, "inside the study's folder"),
        ({"samples_per_epoch": None}, "'samples_per_epoch' to be given too"),
        ({"formt": "keras_csv"}, "formt"),
        ({"on_error": "ignore"}, "refuse"),
        ({"instance": "../k80"}, "instance"),
    ],
)
def test_a_source_is_checked_before_anything_is_read(change, found):
    with pytest.raises(ValidationError, match=found):
        LogSource(**{**KERAS, "path": "log.csv", **change})


def test_a_missing_or_binary_log_is_named(tmp_path):
    with pytest.raises(UserError, match=r"log.csv: No such file .*; study.yaml names it under 'logs'"):
        read_one(tmp_path, **KERAS, path="log.csv")
    (tmp_path / "log.csv").write_bytes(b"epoch,elapsed\n0,\xff\n")
    with pytest.raises(UserError, match=r"log.csv, line 2: not UTF-8"):
        read_one(tmp_path, **KERAS, path="log.csv")


def test_a_rule_depends_on_every_file_that_is_read(tmp_path):
    dawn = {**KERAS, "format": "dawnbench", "path": "entry.json", "gpus": 1}
    sources = [
        LogSource(**dawn),
        LogSource(**lambda_folder(tmp_path), source="x", instance="box", precision="fp16"),
        LogSource(**KERAS, path="log.csv"),
    ]
    names = [Path(name).relative_to(tmp_path).as_posix() for name in log_files(sources, tmp_path)]
    assert {"entry.json", "entry.tsv", "log.csv"} <= set(names)
    assert "box.logs/syn-replicated-fp16-2gpus/inception3-24/throughput/1" in names


def test_logs_reach_the_throughput_table_as_published_rows(tmp_path):
    write(tmp_path, "log.csv", "epoch,elapsed\n0,10\n1,20\n")
    instances = {"k80": Instance(title="K80", provider="gce", gpu="Tesla K80", gpus=1)}
    question = Question(model=["mnist_mlp"], batch_size=[128], precision="fp32", headline_batch_size=128)
    table = gather_throughput([], question, "2017-11-28", instances, tmp_path, [LogSource(**KERAS, path="log.csv")])
    row = table.iloc[0]
    assert row["images_per_s"] == pytest.approx(2 * 60_000 / 30)
    assert (row["basis"], row["unit"], row["gpu"], row["as_of"]) == ("published", "samples", "Tesla K80", "2017-11-28")
    assert pairs(row["warnings"]) == []


def gather(folder, *sources, gpus=1):
    instances = {"k80": Instance(title="K80", provider="gce", gpu="Tesla K80", gpus=gpus)}
    question = Question(model=["mnist_mlp"], batch_size=[128], precision="fp32", headline_batch_size=128)
    return gather_throughput([], question, "2017-11-28", instances, folder, sources)


def test_a_log_of_an_unknown_machine_or_of_too_many_devices_is_named(tmp_path):
    write(tmp_path, "log.csv", "epoch,elapsed\n0,10\n")
    with pytest.raises(UserError, match=r"study.yaml: logs\[0\].instance is 'k8O'; expected one of instances.yaml"):
        gather(tmp_path, LogSource(**{**KERAS, "instance": "k8O"}, path="log.csv"))
    with pytest.raises(UserError, match=r"log.csv: gpus is 4; k80 has 1"):
        gather(tmp_path, LogSource(**KERAS, path="log.csv", gpus=4))


def test_a_cell_that_stands_in_a_log_and_in_the_table_names_both(tmp_path):
    write(tmp_path, "log.csv", "epoch,elapsed\n0,10\n")
    head = "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
    row = "Tesla K80,{},1,tensorflow,,,mnist_mlp,128,fp32,default,,100,text,\n"
    write(tmp_path, "throughput.csv", f"{head}images_per_s,source,note\n{row.format('other')}{row.format('k80')}")
    with pytest.raises(UserError, match=r"^log.csv: the cell .* stands in .*throughput.csv, line 3 too"):
        gather(tmp_path, LogSource(**KERAS, path="log.csv"))
