"""The MLPerf reader on real lines of MLPerf Training v0.6 to v5.1 (tests/data/mlperf), and on faults put into them.

Samples and times of the first table are read off the files by hand: the last evaluation's count (or epoch), and time_ms
of run_start and run_stop. So are the throughputs that they print.
"""

import json
import shutil
from pathlib import Path

import pytest
from log_files import read_one, write
from sweetspot.errors import UserError
from sweetspot.warnings import pairs

DATA = Path(__file__).parent.parent / "data" / "mlperf"
CRITEO, IGB, OPEN_IMAGES = 4_195_197_692, 94_605_581, 1_170_301  # samples of an epoch

# file: devices, batch per device, samples until the target, seconds of the run
REAL = {
    "lora_8xh200": (8, 1, 3072, 1353.757),
    "flux1_16xb200": (16, 32, 7_602_176, 9778.160),
    "llama31_8b_64xgpu": (64, 1, 218_880, 2632.930),
    "retinanet_8xh200": (8, 32, 4 * OPEN_IMAGES, 2028.334),  # train_samples counts 4572 steps of 256
    "dlrm_dcnv2_8xb200": (8, 6912, 0.7908236565659228 * CRITEO, 198.554),
    "rgat_8xh200": (8, 2048, 0.95 * IGB, 517.738),
    "rgat_two_epochs": (64, 1024, 1.85 * IGB, 252.178),
    "bert_4xgb200": (4, 144, 2_400_445, 374.394),
    "bert_tinybox": (8, 128, 3_588_096, 7317.941),  # its train_samples, 3993600, is a plan
    "stable_diffusion_4xgb200": (4, 64, 6000 * 256, 1361.220),  # evaluated after the run, run_stop stands last
    "gpt3_64xb200": (64, 32, 1_207_959_552 / 2048, 11633.398),  # epoch_num counts tokens
    "transformer_8xv100": (8, 10240, 3 * 4_590_101, 1173.903),  # the lines of v0.6
}
# What each of these logs that prints a throughput prints; of several the mean by their seconds, or the last.
PRINTED = {
    "lora_8xh200": 2.5543,
    "llama31_8b_64xgpu": 84.18,
    "llama31_405b_512xh200": 22.93,  # 22.61, 23.07, 23.06, 23.01, 22.90 and 22.96 of six blocks of equal length
    "retinanet_8xh200": 8 * 307.1,  # printed for one device
    "dlrm_dcnv2_8xb200": 16_709_473.67,
    "rgat_8xh200": 182_188.75,
    "rgat_two_epochs": (1.9 * 829_547.79 + 1.57 * 852_665.19) / 3.47,  # of 1.9 and 1.57 minutes
    "bert_4xgb200": 6411.55,
    "stable_diffusion_4xgb200": 1112.83,  # the last of three until run_stop; the first, 956.27, is of its start
    "gpt3_64xb200": 103_836.72 / 2048,  # tokens a second
}
# Which of our own rates a printed one agrees with, where it does.
AGREES = {
    "lora_8xh200": "training",
    "llama31_8b_64xgpu": "training",
    "retinanet_8xh200": "training",
    "dlrm_dcnv2_8xb200": "run",
    "bert_4xgb200": "run",
    "gpt3_64xb200": "run",
}
STATED = {"llama31_405b_512xh200": {"gpus": 512, "batch_size": 2}}  # a model spread over several devices


def mlperf(folder, name, **stated):
    gpus = stated.pop("gpus", REAL.get(name, (8,))[0])
    shutil.copy(DATA / f"{name}.txt", folder / "result.txt")
    return read(folder, gpus=gpus, **stated)


def read(folder, **stated):
    fixed = {"format": "mlperf", "path": "result.txt", "framework": "pytorch", "model": "m", "precision": "fp16"}
    return read_one(folder, **{**fixed, "gpus": 8, **stated})


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_gives_its_samples_over_its_run(tmp_path, name):
    gpus, batch, samples, seconds = REAL[name]
    row = mlperf(tmp_path, name, throughput="run")
    assert row["images_per_s"] == pytest.approx(samples / seconds, rel=1e-6)
    assert (row["gpus"], row["batch_size"]) == (gpus, batch)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("retinanet_8xh200", "images"), ("flux1_16xb200", "images"), ("stable_diffusion_4xgb200", "images"),
        ("bert_4xgb200", "samples"), ("gpt3_64xb200", "samples"), ("lora_8xh200", "samples"),
        ("llama31_8b_64xgpu", "samples"), ("dlrm_dcnv2_8xb200", "samples"), ("rgat_8xh200", "samples"),
        ("transformer_8xv100", "samples"),
    ],
)  # fmt: skip
def test_what_is_counted_is_of_the_benchmark(tmp_path, name, unit):
    assert mlperf(tmp_path, name)["unit"] == unit


def test_a_language_model_does_not_count_images(tmp_path):
    with pytest.raises(UserError, match=r"line \d+: benchmark 'bert' counts samples, study.yaml says unit 'images'"):
        mlperf(tmp_path, "bert_4xgb200", unit="images")
    assert mlperf(tmp_path, "bert_4xgb200", unit="samples")["unit"] == "samples"
    assert mlperf(tmp_path, "retinanet_8xh200", unit="samples")["unit"] == "samples"


def test_an_unknown_benchmark_must_be_given_its_unit(tmp_path):
    text = (DATA / "lora_8xh200.txt").read_text()
    (tmp_path / "result.txt").write_text(text.replace('"value": "llama2_70b_lora"', '"value": "language_model"'))
    with pytest.raises(UserError, match=r"line \d+: benchmark 'language_model' does not say what its samples are; giv"):
        read(tmp_path)
    assert read(tmp_path, unit="images")["unit"] == "images"


@pytest.mark.parametrize("name", PRINTED)
def test_a_real_log_is_within_1_percent_of_the_throughput_that_it_prints(tmp_path, name):
    assert PRINTED.keys() == {path.stem for path in DATA.glob("*.txt") if '"throughput": ' in path.read_text()}
    row = mlperf(tmp_path, name, **STATED.get(name, {}))
    assert row["images_per_s"] == pytest.approx(PRINTED[name], rel=0.01)


@pytest.mark.parametrize("name", AGREES)
def test_the_samples_and_times_of_a_real_log_give_what_it_prints(tmp_path, name):
    row = mlperf(tmp_path, name, throughput=AGREES[name])
    assert row["images_per_s"] == pytest.approx(PRINTED[name], rel=0.01)
    assert "agrees with" in row["source"]


def test_a_log_that_prints_nothing_has_the_speed_of_its_run(tmp_path):
    row = mlperf(tmp_path, "flux1_16xb200")
    assert row["images_per_s"] == pytest.approx(7_602_176 / 9778.160, rel=1e-6)
    assert not pairs(row["warnings"])
    with pytest.raises(UserError, match=r"study\.yaml asks for throughput 'printed', which this log does not tell"):
        mlperf(tmp_path, "flux1_16xb200", throughput="printed")


def test_a_clock_more_than_5_percent_off_the_printed_throughput_is_told_with_both(tmp_path):
    # 2.5543 printed; 3072 / 1353.757 = 2.26924 by the clock: 12.56 % apart
    said = [pair for pair in pairs(mlperf(tmp_path, "lora_8xh200")["warnings"]) if pair.rule == "printed_differs"]
    assert [pair.message for pair in said] == [
        "the log prints 2.554/s, its clock from run_start to run_stop gives 2.269/s (+13%), which counts start and "
        "evaluation too"
    ]
    # 84.18 against 218880 / 2632.93 = 83.13: 1.3 %; 22.93 against 276480 / 12579.139 = 21.98: 4.3 %
    for near in ("llama31_8b_64xgpu", "llama31_405b_512xh200"):
        assert not pairs(mlperf(tmp_path, near, **STATED.get(near, {}))["warnings"])


def test_what_rgat_prints_leaves_out_its_loading(tmp_path):
    # 182188.75/s is printed for 8.2 minutes from its epoch_start on: 25.1 s after run_start
    row = mlperf(tmp_path, "rgat_8xh200")
    assert "log prints 182189/s (agrees with from first epoch)" in row["source"]
    samples = 0.95 * IGB
    assert samples / (517.738 - 25.09) == pytest.approx(182_188.75, rel=0.01)


def test_training_alone_leaves_the_evaluations_out(tmp_path):
    # lora: blocks of 611.18, 150.28, 149.85, 150.18 and 150.27 s (block_start to block_stop, by hand)
    row = mlperf(tmp_path, "lora_8xh200", throughput="training")
    assert row["images_per_s"] == pytest.approx(3072 / (611.18 + 150.28 + 149.85 + 150.18 + 150.30), rel=1e-3)


def test_where_a_stop_is_missing_training_is_not_told_from_evaluation(tmp_path):
    lines = LORA.splitlines(keepends=True)
    lines.remove(next(line for line in lines if '"key": "block_stop"' in line))
    write(tmp_path, "result.txt", "".join(lines))
    with pytest.raises(UserError, match=r"study\.yaml asks for throughput 'training', which this log does not tell"):
        read(tmp_path, throughput="training")


def test_a_model_over_several_devices_needs_its_batch_stated(tmp_path):
    with pytest.raises(UserError, match="global_batch_size is 1152; expected a multiple of 512 devices, or a batch_"):
        mlperf(tmp_path, "llama31_405b_512xh200", gpus=512)
    row = mlperf(tmp_path, "llama31_405b_512xh200", gpus=512, batch_size=2, throughput="run")
    assert row["images_per_s"] == pytest.approx(276_480 / 12_579.139, rel=1e-6)
    assert "log prints 22.9339/s (agrees with training)" in row["source"]


REFUSED = [
    ("dlrm_aborted", "line 6: run_stop has status 'aborted'; only 'success' is a result"),
    ("lora_unfinished", "no 'run_stop'; the run did not finish"),
    (
        "maskrcnn_4xa100",
        r"line \d+: train_samples is 40000 of 'maskrcnn'; expected 117266 or 118287 as samples or as ste",
    ),
    ("dlrm_tpu_twentieths", "epoch_num is 15; expected parts of an epoch"),
    ("lora_line_written_over", "line 1: ':::MLLOG .*; expected :::MLLOG and a JSON object"),
    ("resnet_dict_not_json", "line 1: ':::MLLOG .*; expected :::MLLOG and a JSON object"),
]


@pytest.mark.parametrize(("name", "found"), REFUSED)
def test_a_real_log_that_cannot_be_read_is_refused_by_name(tmp_path, name, found):
    with pytest.raises(UserError, match=rf"result.txt, .*{found}"):
        mlperf(tmp_path, name)


def test_samples_per_epoch_settles_what_train_samples_does_not(tmp_path):
    # 14 evaluations of 14 epochs; the reference data set has 117266 images; printed are 289/s
    row = mlperf(tmp_path, "maskrcnn_4xa100", gpus=4, samples_per_epoch=117_266)
    assert row["images_per_s"] == pytest.approx(14 * 117_266 / 5706.280, rel=1e-6)


def test_a_written_over_line_can_be_skipped(tmp_path):
    row = mlperf(tmp_path, "lora_line_written_over", gpus=8, on_error="skip")
    assert row["images_per_s"] == pytest.approx(3456 / 513.729, rel=1e-6)
    assert [pair.rule for pair in pairs(row["warnings"])] == ["skipped_lines"]


LORA = (DATA / "lora_8xh200.txt").read_text()


def moved(text, key, by_ms):
    """The text with time_ms of the (last) event of a key moved."""
    lines = text.splitlines(keepends=True)
    at = max(place for place, line in enumerate(lines) if f'"key": "{key}"' in line)
    before = json.loads(lines[at].split(":::MLLOG ")[1])["time_ms"]
    lines[at] = lines[at].replace(str(before), str(before + by_ms))
    return "".join(lines)


HOUR, YEAR = 3_600_000, 365 * 86_400_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LORA + LORA, r"line \d+: a second 'run_start' after that of line 5; expected one run a file"),
        (moved(LORA, "run_stop", -HOUR), r"run_stop is -2246.24 s after run_start; expected above 0"),
        (
            moved(LORA, "run_start", -2 * YEAR),
            r"run_stop is 6.30734e\+07 s after run_start; expected above 0 and 30 days",
        ),
        (moved(LORA, "block_stop", -HOUR), r"line \d+: block_stop is 3449.64 s before block_start"),
        (LORA.replace('"key": "run_start"', '"key": "start"'), "no 'run_start'; expected lines :::MLLOG of an MLPerf"),
        (LORA.replace("2.5", "250000000.5"), "throughput is 2.5e.08; expected about 2.26924"),
        ("Killed\n", "no 'run_start'"),
        ("", "no 'run_start'"),
    ],
)
def test_a_damaged_run_is_refused_by_name(tmp_path, text, found):
    write(tmp_path, "result.txt", text)
    with pytest.raises(UserError, match=found):
        read(tmp_path)


def test_what_others_put_before_a_line_does_no_harm(tmp_path):
    plain = mlperf(tmp_path, "lora_8xh200")["images_per_s"]
    for before in ("[1,0]<stdout>:", "2025-10-07 12:00:00.123 ", "\x1b[32m", "worker-0  | "):
        write(tmp_path, "result.txt", "".join(f"{before}{line}\x1b[0m\n" for line in LORA.splitlines()))
        assert read(tmp_path)["images_per_s"] == plain


def test_bytes_of_a_cut_progress_bar_do_no_harm(tmp_path):
    (tmp_path / "result.txt").write_bytes(b" 22%|\xe2\x96\x88\xe2 [00:00<00:13]\r\n" + LORA.encode())
    assert read(tmp_path, throughput="run")["images_per_s"] == pytest.approx(3072 / 1353.757, rel=1e-6)
