"""Readers of others' logs, and what all formats share: real logs of the 2017 Keras benchmark, and MLPerf's on short
files written here in its format.
"""

import csv
import hashlib
import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_files import DAWN, DAWN_JSON, DAWN_TSV, KERAS, TESTS, TF_CNN, lambda_folder, read_one, write
from pydantic import ValidationError
from sweetspot.errors import UserError
from sweetspot.logs.read import read_logs
from sweetspot.logs.reading import positive
from sweetspot.study.instances import Instance
from sweetspot.study.study import LogSource, Question, load_study, log_files
from sweetspot.throughput.gather import gather_throughput
from sweetspot.warnings import as_text, pairs

WOOLF = TESTS.parent / "config" / "studies" / "woolf-2017"

REAL_LOGS = sorted(path.relative_to(WOOLF).as_posix() for path in WOOLF.glob("logs/*/*.csv"))


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
    with pytest.raises(UserError, match=r"log.csv: No such file .*; the file is needed"):
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


@pytest.mark.parametrize(
    ("text", "value"), [("9e14", 9e14), ("1e15", None), ("2e-15", 2e-15), ("1e-15", None), ("-1", None)]
)
def test_a_number_that_nobody_measured_is_none(text, value):
    assert positive(text) == value


def gather(folder, *sources, gpus=1):
    instances = {"k80": Instance(title="K80", provider="gce", gpu="Tesla K80", gpus=gpus)}
    question = Question(model=["mnist_mlp"], batch_size=[128], precision="fp32", headline_batch_size=128)
    return gather_throughput([], question, "2017-11-28", instances, folder, sources)


def test_logs_reach_the_throughput_table_as_published_rows(tmp_path):
    write(tmp_path, "log.csv", "epoch,elapsed\n0,10\n1,20\n")
    row = gather(tmp_path, LogSource(**KERAS, path="log.csv")).iloc[0]
    assert row["images_per_s"] == pytest.approx(2 * 60_000 / 30)
    assert (row["basis"], row["unit"], row["gpu"], row["as_of"]) == ("published", "samples", "Tesla K80", "2017-11-28")
    assert pairs(row["warnings"]) == []


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


def event(key, time_ms, value=None, prefix="", **metadata):
    fields = {"namespace": "", "time_ms": time_ms, "event_type": "X", "key": key, "value": value, "metadata": metadata}
    return f"{prefix}:::MLLOG {json.dumps(fields)}\n"


# Two epochs of ImageNet in 50 s on 4 devices; other output stands between, and a rank may stand before.
MLPERF_TEXT = (
    event("submission_benchmark", 1_000, "resnet")
    + event("global_batch_size", 1_000, 3200)
    + event("train_samples", 1_000, 1_281_167)
    + "some other output\n"
    + event("run_start", 10_000)
    + event("epoch_start", 10_000, epoch_num=1)
    + event("epoch_stop", 30_000, epoch_num=1, prefix="0: ")
    + event("eval_accuracy", 31_000, 0.5, epoch_num=1)
    + event("epoch_start", 31_000, epoch_num=2)
    + event("epoch_stop", 59_000, epoch_num=2)
    + event("eval_accuracy", 60_000, 0.76, epoch_num=2)
    + event("run_stop", 60_000, status="success")
)
MLPERF = {"format": "mlperf", "path": "result_1.txt", "gpus": 4, "model": "resnet50", "framework": "mxnet",
          "precision": "fp16"}  # fmt: skip


def mlperf(folder, text=MLPERF_TEXT, **stated):
    write(folder, "result_1.txt", text)
    return read_one(folder, **{**MLPERF, **stated})


def test_an_mlperf_log_gives_epochs_over_its_run_time(tmp_path):
    row = mlperf(tmp_path)
    assert row["images_per_s"] == pytest.approx(2 * 1_281_167 / 50)
    assert (row["batch_size"], row["gpus"]) == (800, 4)
    assert "result_1.txt lines 5-12, sha256" in row["source"]
    assert mlperf(tmp_path, samples_per_epoch=500)["images_per_s"] == pytest.approx(20)
    with pytest.raises(UserError, match="line 2: global_batch_size is 3200; expected a multiple of 3 devices"):
        mlperf(tmp_path, gpus=3)
    with pytest.raises(UserError, match=r"result_1.txt, line 7: ':::MLLOG"):
        mlperf(tmp_path, MLPERF_TEXT.replace('"key": "epoch_stop"', '"key": epoch_stop', 1))


EVAL = "eval_accuracy"


def finished(benchmark, *events):
    """A run of 50 s of a benchmark in which these events happen: (key, second, value, epoch_num)."""
    begun = event("submission_benchmark", 1_000, benchmark) + event("global_batch_size", 1_000, 40)
    told = [event(key, 1000 * second, value, **(about if isinstance(about, dict) else {"epoch_num": about}))
            for key, second, value, about in events]  # fmt: skip
    return begun + event("run_start", 10_000) + "".join(told) + event("run_stop", 60_000, status="success")


def bert(*events):
    """`train_samples` and the `epoch_num` of the last evaluation, in the order of the log; or why they are refused."""
    return [("train_samples", 20, value, None) if key == "plan" else ("eval_accuracy", 30, 0.7, value)
            for key, value in events]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "samples"),
    [
        (bert(("eval", 1.0), ("plan", 3000)), 3000),  # the total, by the rules
        (bert(("eval", 999), ("plan", 3000)), 3000),  # no count of samples
        (bert(("eval", 1000), ("plan", 1005)), 1005),
        (bert(("eval", 1000), ("plan", 1011)), None),
        # A plan is at most three times as much as an evaluation counts, and at most 1 % less.
        (bert(("plan", 3000), ("eval", 1000)), 1000),
        (bert(("plan", 3000), ("eval", 999)), None),
        (bert(("plan", 3000), ("eval", 3030)), 3030),
        (bert(("plan", 3000), ("eval", 3031)), None),
    ],
)
def test_what_of_a_bert_log_counts_its_samples(tmp_path, events, samples):
    text = finished("bert", *events)
    if samples:
        assert mlperf(tmp_path, text, throughput="run")["images_per_s"] == pytest.approx(samples / 50)
    else:
        with pytest.raises(UserError, match=rf"train_samples is {events[-1][2] if events[-1][2] > 1 else 3000}; the"):
            mlperf(tmp_path, text)


def evaluated_within(result_ms):
    stop = event("epoch_stop", 59_000, epoch_num=2)
    evaluation = event("eval_start", 40_000) + event("eval_stop", 41_000)
    return MLPERF_TEXT.replace(stop, evaluation + event("eval_accuracy", result_ms, 0.7, epoch_num=2) + stop)


RESULT = '{}, "event_type": "X", "key": "eval'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (MLPERF_TEXT, 48),  # 20 and 28 s; a result stands where the second begins
        (MLPERF_TEXT.replace("59000", "61000"), 50),  # a result a second before the end, which printing may take
        (MLPERF_TEXT.replace(RESULT.format(60000), RESULT.format(58000)), 48),
        (MLPERF_TEXT.replace(RESULT.format(60000), RESULT.format(57999)), None),
        (MLPERF_TEXT.replace(RESULT.format(31000), RESULT.format(31001)), None),
        # An evaluation of a second within an epoch, with its result up to a second before and after it.
        (evaluated_within(39_000), 47),
        (evaluated_within(42_000), 47),
        (evaluated_within(38_999), None),
        (evaluated_within(42_001), None),
    ],
)
def test_a_result_within_an_epoch_leaves_its_training_untold(tmp_path, text, seconds):
    if seconds:
        row = mlperf(tmp_path, text, throughput="training")
        assert row["images_per_s"] == pytest.approx(2 * 1_281_167 / seconds)
    else:
        with pytest.raises(UserError, match="asks for throughput 'training', which this log does not tell"):
            mlperf(tmp_path, text, throughput="training")


@pytest.mark.parametrize(("said", "rate"), [(30.0, 30.0), (10.0, 10.0), (30.1, None), (0.0, 20.0), (5.1, 20.4)])
def test_a_printed_throughput_half_as_much_again_counts_the_same(tmp_path, said, rate):
    """1,000 samples in 50 s are 20/s; 5.1 are of one of four devices. Training alone is not told here."""
    text = "".join(line for line in MLPERF_TEXT.splitlines(keepends=True) if "epoch_stop" not in line)
    text += event("throughput", 61_000, said) * 2
    if rate:
        assert mlperf(tmp_path, text, samples_per_epoch=500)["images_per_s"] == pytest.approx(rate)
    else:
        with pytest.raises(UserError, match=r"line 12: throughput is 30.1; expected about 20, as"):
            mlperf(tmp_path, text, samples_per_epoch=500)


@pytest.mark.parametrize(
    ("benchmark", "events", "samples"),
    [
        # Of two epochs the second is named, or how many are done; one begins from 0 or 1.
        ("resnet", [("epoch_start", 10, None, 1), (EVAL, 30, 0.1, 1), ("epoch_start", 31, None, 2), (EVAL, 50, 0.8, 2)],
         2 * 1_281_167),
        ("resnet", [("epoch_start", 10, None, 0), (EVAL, 30, 0.1, 1), ("epoch_start", 31, None, 1), (EVAL, 50, 0.8, 2)],
         2 * 1_281_167),
        ("resnet", [("epoch_start", 10, None, 0), (EVAL, 30, 0.1, 3)], "epoch 3 after 1 epochs from 0 on; expec"),
        ("resnet", [("block_start", 10, None, {"first_epoch_num": 1, "epoch_count": 4}), (EVAL, 30, 0.1, 4),
                    (EVAL, 50, 0.8, 8)], 8 * 1_281_167),
        ("resnet", [("epoch_start", 10, None, {"epoch_num": 1, "epoch_count": 4}), (EVAL, 30, 0.1, 1)], 1_281_167),
        ("resnet", [(EVAL, 30, 0.1, 1)], "no epoch_start or block_start with its number"),
        ("unet3d", [("epoch_start", 10, None, 1), (EVAL, 30, 0.1, 1)], 168),
        ("rnnt", [("epoch_start", 10, None, 1), (EVAL, 30, 0.1, 1)], 278_528),
        # Parts of an epoch count from the whole number below the first.
        ("resnet", [(EVAL, 30, 0.1, 1.5), (EVAL, 50, 0.8, 2.25)], 1.25 * 1_281_167),
        ("gpt3", [("max_sequence_length", 9, 2048, None), (EVAL, 50, 0.8, 204_800)], 100),
        ("gpt3", [("max_sequence_length", 9, 1, None), (EVAL, 50, 0.8, 1000)], 1000),
        ("gpt3", [("max_sequence_length", 9, 0.5, None), (EVAL, 50, 0.8, 1000)], "epoch_num 1000 counts tokens; expec"),
    ],
)  # fmt: skip
def test_how_many_samples_the_epochs_of_a_log_are(tmp_path, benchmark, events, samples):
    text = finished(benchmark, *events)
    if not isinstance(samples, str):
        assert mlperf(tmp_path, text, throughput="run")["images_per_s"] == pytest.approx(samples / 50)
    else:
        with pytest.raises(UserError, match=samples):
            mlperf(tmp_path, text)


def test_cells_stand_in_the_order_of_the_study(tmp_path):
    write(tmp_path, "log.csv", "epoch,elapsed\n0,10\n")
    sources = [LogSource(**KERAS | {"model": name}, path="log.csv") for name in ("z", "a")]
    assert read_logs(sources, tmp_path)["model"].tolist() == ["z", "a"]


def test_an_evaluation_without_its_epoch_is_refused(tmp_path):
    text = finished(
        "resnet", ("epoch_start", 10, None, 1), ("eval_accuracy", 30, 0.1, None), ("eval_error", 50, 0.2, 2)
    )
    with pytest.raises(UserError, match="line 6: eval_accuracy without epoch_num; expected one"):
        mlperf(tmp_path, text)


KERAS_TEXT = "epoch,elapsed,loss\n0,10.5,0.3\n1,9.5,0.2\n"
FORMATS = {
    "tf_cnn_benchmarks": ("log", TF_CNN, {"precision": "fp16", "path": "log"}),
    "keras_csv": ("log", KERAS_TEXT, {**KERAS, "path": "log"}),
    "dawnbench": ("entry.tsv", DAWN_TSV, DAWN),
    "mlperf": ("log", MLPERF_TEXT, {**MLPERF, "path": "log"}),
}


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_damaged_log_gives_a_sound_figure_or_one_sentence(tmp_path, name, data):
    file, text, stated = FORMATS[name]
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 30))
    junk = data.draw(st.text(max_size=12) | st.sampled_from(['"', "1e999", "nan", "-1", "\t", "\n", "²", "{}", "null"]))
    write(tmp_path, "entry.json", json.dumps(DAWN_JSON))
    write(tmp_path, file, text[:start] + junk + text[start + length :])
    on_error = data.draw(st.sampled_from(["refuse", "skip"]))
    try:
        row = read_one(tmp_path, **{**stated, "format": name, "on_error": on_error})
    except UserError as error:
        assert file in str(error) and "\n" not in str(error)
    else:
        assert row is None or 0 < row["images_per_s"] < 1e15
