"""Readers of others' logs, and what all formats share, on real logs of the 2017 Keras benchmark."""

import csv
import hashlib
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_files import KERAS, TESTS, TF_CNN, read_one, write
from sweetspot.errors import UserError
from sweetspot.logs.read import READERS, read_logs
from sweetspot.study.instances import Instance
from sweetspot.study.study import LogSource, StudyCells, load_study
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


@pytest.mark.parametrize(("text", "line", "found"), [
    ("epoch,loss\n0,0.2\n", 1, "column 'elapsed' is missing"),
    ("epoch,elapsed\n0,10\n1,abc\n", 3, "elapsed is 'abc'"),
    ("epoch,elapsed\n0,10\n0,12\n", 3, "epoch is '0' after 0"),
    ("epoch,elapsed\n0,10\n1\n", 3, "1 values; expected 2"), ("epoch,elapsed\n", 1, "no epoch"),
    ("", 1, "column 'epoch' is missing")
])  # fmt: skip
def test_a_malformed_keras_row_is_refused_with_its_number(tmp_path, text, line, found):
    with pytest.raises(UserError, match=rf"log.csv, line {line}: {found}"):
        keras(tmp_path, text)


def test_a_missing_or_binary_log_is_named(tmp_path):
    with pytest.raises(UserError, match=r"log.csv: No such file .*; the file is needed"):
        read_one(tmp_path, **KERAS, path="log.csv")
    (tmp_path / "log.csv").write_bytes(b"epoch,elapsed\n0,\xff\n")
    with pytest.raises(UserError, match=r"log.csv, line 2: not UTF-8"):
        read_one(tmp_path, **KERAS, path="log.csv")


def gather(folder, *sources, gpus=1):
    instances = {"k80": Instance(title="K80", provider="gce", gpu="Tesla K80", gpus=gpus)}
    question = StudyCells(model=["mnist_mlp"], batch_size=[128], precision="fp32", headline_batch_size=128)
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
    with pytest.raises(UserError, match=r"^log.csv: the cell .* is also .*throughput.csv, line 3;"):
        gather(tmp_path, LogSource(**KERAS, path="log.csv"))


KERAS_TEXT = "epoch,elapsed,loss\n0,10.5,0.3\n1,9.5,0.2\n"
FORMATS = {
    "tf_cnn_benchmarks": ("log", TF_CNN, {"precision": "fp16", "path": "log"}),
    "keras_csv": ("log", KERAS_TEXT, {**KERAS, "path": "log"}),
}


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_damaged_log_gives_a_sound_figure_or_one_sentence(tmp_path, name, data):
    file, text, stated = FORMATS[name]
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 30))
    junk = data.draw(st.text(max_size=12) | st.sampled_from(['"', "1e999", "nan", "-1", "\t", "\n", "²", "{}", "null"]))
    write(tmp_path, file, text[:start] + junk + text[start + length :])
    source = LogSource(**{"source": "test", "instance": "box"} | stated | {"format": name})
    try:
        _, readings = READERS[name](tmp_path / file, source)
    except UserError as error:
        assert file in str(error) and "\n" not in str(error)
    else:
        assert all(0 < reading.samples_per_s < 1e15 for reading in readings)
