"""The table of log formats: real lines, and throughput recomputed from batch and seconds by hand."""

import re
from dataclasses import replace
from typing import get_args

import pytest
from log_files import read_one, write
from sweetspot.errors import UserError
from sweetspot.harness.script_output import StepReader, StepReport
from sweetspot.logs.patterns import BY_NAME, FORMATS
from sweetspot.study.scripts import Program, Script

STATED = {"framework": "torch", "model": "net", "batch_size": 1, "gpus": 1, "precision": "bf16"}


def read(folder, name, text, **stated):
    write(folder, "run.log", text)
    return read_one(folder, format=name, path="run.log", **(STATED | stated))


@pytest.mark.parametrize("log_format", FORMATS, ids=lambda log_format: log_format.name)
def test_each_format_has_a_real_line_with_its_source_and_reads_it(log_format):
    assert re.search(log_format.pattern, log_format.sample)
    assert log_format.source
    assert not log_format.pause or not re.match(log_format.pause, "step 1")


def test_a_study_and_a_script_know_the_formats_of_the_table():
    assert {*get_args(Program), "trainer_summary"} == {*BY_NAME}


# Oneflow-Inc/DLPerf, resnet50v1.5, the page of the log of 4 nodes with 8 V100 each, batch 128.
DLLOGGER = "".join(
    f"DLL 2020-09-15 14:29:{clock} - Epoch: 0 Iteration: {n}  train.loss : {loss}  train.total_ips : {ips:.2f} img/s\n"
    for n, (clock, loss, ips) in enumerate((
        ("13.473765", "7.09304", 267.44), ("14.427490", "6.93504", 4294.91), ("15.018767", "6.85957", 6928.79),
        ("15.387051", "6.80420", 11124.52), ("15.791445", "6.75717", 10131.38), ("16.161849", "6.73528", 11064.93),
        ("16.538463", "6.72415", 10879.48), ("16.946395", "6.71593", 10044.52), ("17.334849", "6.69474", 10547.30),
        ("17.744287", "6.69965", 10007.33), ("18.159381", "6.69236", 9872.60), ("18.553769", "6.67351", 10393.54),
    ), start=1)
)  # fmt: skip
# Llama 3 8B on 8 H200, a sequence of 8,192 tokens on each: public notes of February 2025 on torchtitan and tritonbench.
TITAN = "".join(
    f"[rank0]:2025-02-13 11:{clock} - root - INFO - step: {step}  loss:  {loss}  memory: 49.59GiB(35.46%)  tps: {tps}\n"
    for clock, step, loss, tps in (
        ("33:45,521", 10, 9.8821, "7,026"), ("33:57,093", 20, 8.3854, "7,080"), ("34:08,663", 30, 7.6991, "7,082"),
        ("34:20,249", 40, 7.3925, "7,072"), ("34:31,859", 50, 7.0563, "7,057"),
    )
)  # fmt: skip
# Megatron-LM, GPT-2 of 124 million parameters, batch 16: notes of April 2025 in a public repository, shortened.
MEGATRON = "".join(
    f" [2025-04-13 23:41:{clock}] iteration {step:8}/    1000 | elapsed time per iteration (ms): {ms} | {loss}\n"
    for clock, step, ms, loss in (
        (12, 10, 1147.6, "loss scale: 8388608.0 |"), (20, 20, 820.7, "lm loss: 1.072453E+01 |"),
        (28, 30, 821.8, "lm loss: 1.038769E+01 |"), (37, 40, 849.8, "lm loss: 9.992319E+00 |"),
        (46, 50, 904.5, "lm loss: 9.236888E+00 |"),
    )
)  # fmt: skip
# Horovod's pytorch_synthetic_benchmark on 8 GPUs; the program itself ends with "Total img/sec on 8 GPU(s): 14281.2".
HOROVOD = "Model: resnet50\n" + "".join(
    f"Iter #{number}: {rate} img/sec per GPU\n"
    for number, rate in enumerate((1785.8, 1787.9, 1787.6, 1784.7, 1783.5, 1785.2, 1785.0, 1782.4, 1785.3, 1784.1))
)


def sample(name):
    return BY_NAME[name].sample + "\n"


BY_HAND = {
    # 9 steps of 32 x 128 images between the clock's 15.018767 and 18.553769 s; step 3 is timed before that
    "dllogger": (DLLOGGER, {"batch_size": 128, "gpus": 32}, 9 * 4096 / (18.553769 - 15.018767), 0.05, "images"),
    # 12,051 steps of two samples in 7:32:52 = 27,172 s; Trainer's own summary of the run says 0.887
    "huggingface": (sample("huggingface"), {"batch_size": 2}, 12_051 * 2 / 27_172, 1e-6, "samples"),
    "trainer_summary": (sample("trainer_summary"), {"batch_size": 2}, 12_051 * 2 / 27_172.2581, 1e-3, "samples"),
    # two such epochs of 8,000 steps took 276.374506 s by the stopwatch of the benchmark around it
    "lightning": (sample("lightning"), {"batch_size": 4}, 2 * 8000 * 4 / 276.374506, 0.01, "samples"),
    # a stopwatch in that process (on_train_batch_end) says 3.6811 s for 59 steps of 8; the bar rounds to 63 ms
    "keras": (sample("keras"), {"batch_size": 8}, 59 * 8 / 3.6811, 0.01, "samples"),
    # an independent stopwatch says 1.2618 s for 100 steps of 8; Keras rounds 12.6 ms to 13
    "keras_lines": (sample("keras_lines"), {"batch_size": 8}, 800 / 1.2618, 0.04, "samples"),
    # 30 steps of 8 x 8,192 tokens between the clock's 57.093 and 91.859 s
    "torchtitan": (TITAN, {"batch_size": 1, "gpus": 8}, 30 * 8 * 8192 / (91.859 - 57.093), 1e-3, "tokens"),
    # 12 sequences in 98.71 ms
    "nanogpt": (sample("nanogpt"), {"batch_size": 12}, 12 / 0.09871, 1e-6, "samples"),
    # 2^14 tokens a step in 10.84304 s
    "nanochat": (sample("nanochat"), {"batch_size": 8}, 2**14 / 10.84304, 1e-3, "tokens"),
    # 30 steps of 16 between the clock's 23:41:20 and 23:41:46, whole seconds
    "megatron": (MEGATRON, {"batch_size": 16}, 30 * 16 / 26, 0.04, "samples"),
    "images_per_s": (HOROVOD, {"batch_size": 96, "gpus": 8}, 14_281.2, 1e-3, "images"),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_throughput_of_a_real_log_is_that_of_batch_and_seconds(tmp_path, name):
    text, stated, units_per_s, tolerance, unit = BY_HAND[name]
    row = read(tmp_path, name, text, **stated)
    assert row["images_per_s"] == pytest.approx(units_per_s, rel=tolerance)
    assert (row["unit"], row["batch_size"], row["gpus"]) == (unit, stated["batch_size"], stated.get("gpus", 1))


def test_a_log_whose_numbers_contradict_each_other_is_refused_with_both(tmp_path):
    """The same lines stand on that page as of 16 devices: they are of 32, by 10,400 images a second x 0.39 s."""
    with pytest.raises(
        UserError, match=r"run.log, line 12: 1\.04\d*e\+04 a second x 0\.392\d s a step is 4\d\d\d; the st"
    ):
        read(tmp_path, "dllogger", DLLOGGER, batch_size=128, gpus=16)
    # 0.887 / 0.444 = 2.0 samples a step; with accumulation of four it would be eight
    with pytest.raises(UserError, match=r"is 1\.998; the study states 8"):
        read(tmp_path, "trainer_summary", sample("trainer_summary"), batch_size=8)


def test_warm_up_is_left_out_and_a_step_that_every_process_prints_counts_once(tmp_path):
    lines = [f"iter {step}: loss 3.0, time {2000 if step < 2 else 100}.00ms, mfu 1.00%" for step in range(6)]
    row = read(tmp_path, "nanogpt", "\n".join(line for line in lines for _ in range(4)), batch_size=2)
    assert row["images_per_s"] == pytest.approx(2 / 0.1)  # four steps of 100 ms behind two of 2 s


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nanogpt", "iter 1: loss nan, time 9.00ms, mfu 1%", "line 1: the loss is nan"),
        ("nanogpt", "iter 9: loss 1.0, time 9.00ms\niter 3: loss 1.0, time 9.00ms", "line 2: step 3 follows 9"),
        ("nanogpt", "nothing of a step", "line 1: no line of nanogpt; expected such as 'iter 3500"),
        ("images_per_s", "Iter #0: 0.0 img/sec per GPU", "line 1: the rate is 0, as of a run that crashed"),
    ],
)
def test_a_log_that_cannot_be_right_is_refused_with_its_line(tmp_path, name, text, words):
    with pytest.raises(UserError, match=f"run.log, {re.escape(words)}"):
        read(tmp_path, name, f"{text}\n")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        # Of a measured script the step's number is timed; what the line says a step takes is compared: 64 units a step
        # on two devices at 6,260 on each
        ("torchtitan", StepReport(step=10, seconds=64 / (2 * 6260), loss=9.9834)),
        ("nanochat", StepReport(step=20, seconds=10.84304, loss=4.7117)),
        ("megatron", StepReport(step=20, seconds=0.8207, loss=10.72453)),
        ("nanogpt", StepReport(step=3500, seconds=0.09871, loss=3.4012)),
        ("images_per_s", StepReport(step=0, seconds=64 / (2 * 1785.8))),
        ("huggingface", StepReport(step=12_051)),
        ("keras", StepReport(step=60, after_pause=True)),  # the last step of an epoch is drawn after its validation
    ],
)
def test_a_measured_script_is_read_by_the_same_table(name, told):
    tells = StepReader(Script(command="x", steps=name), 64, devices=2).read
    found = tells(BY_NAME[name].sample)
    assert replace(found, seconds=None) == replace(told, seconds=None)
    assert found.seconds == pytest.approx(told.seconds) if told.seconds else found.seconds is None


def test_an_epoch_whose_mean_holds_its_validation_is_not_read(tmp_path):
    line = "100/100 - 2s - 17ms/step - loss: 0.9053 - val_loss: 0.2208\n"  # Keras 3.15, 100 steps of 12.6 ms
    with pytest.raises(UserError, match="no line of keras_lines"):
        read(tmp_path, "keras_lines", line)
