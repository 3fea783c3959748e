"""How training programs print their progress: one table for other people's logs and for scripts that are measured. A
new format is one row, with a real line of it and where that line comes from; its name also stands in
`study.scripts.Program`. Named groups of a pattern: `step` and `total`, its number and the last one; `rate`, units a
second; `steps_per_s`; `milliseconds` of a step; `elapsed`, since the beginning, as seconds or H:MM:SS;
`clock`, the time of day; `mean_milliseconds` of a step since the beginning; `loss`; `steps`, since the last line.
"""

from dataclasses import dataclass
from typing import Literal

# tqdm's form "{percent}%|{bar}| {step}/{total} [{elapsed}<{remaining}, " (tqdm 4, format_meter).
TQDM = r"\d+%\|[^|]*\|\s*(?P<step>\d+)/(?P<total>\d+) \[(?P<elapsed>[\d:]+)<"
# A bar of something else than training: an evaluation, a checkpoint being written, a data set. By tqdm, or by rich.
SECOND_BAR = r"\d+%\|[^|]*\|\s*\d+/\d+ \[|[━╸╺ ]{9,}\d+/\d+ "
NUMBER = r"[\d,]+(?:\.\d+)?"


@dataclass(frozen=True)
class LogFormat:
    """How one training program prints its progress: the pattern of a line and what its numbers count."""

    name: str
    pattern: str
    counts: Literal["samples", "images", "tokens"]  # what a rate counts, and what a step is made of
    sample: str  # a real line
    source: str  # where the line comes from
    per_device: bool = False  # a rate is that of one device
    pause: str = ""  # pattern of lines of something else than training
    last_is_late: bool = False  # the last step of an epoch is drawn when its validation is over


FORMATS = (
    LogFormat(
        name="huggingface",
        pattern=rf"^\s*{TQDM}",  # Trainer's bar has no name; bars of data sets and shards have one
        counts="samples",
        sample="100%|███████████████████████████████████| 12051/12051 [7:32:52<00:00,  2.25s/it]",
        source="Trainer of transformers: LoRA of Llama 3.1 8B, batch 2, 27,172 s, in a public script's notes",
        pause=SECOND_BAR,
    ),
    LogFormat(
        name="trainer_summary",
        pattern=r"'train_runtime': '?(?P<elapsed>[\d.]+)'?,\s*'train_samples_per_second': '?(?P<rate>[\d.]+)'?,"
        r"\s*'train_steps_per_second': '?(?P<steps_per_s>[\d.]+)",
        counts="samples",
        sample="{'train_runtime': 27172.2581, 'train_samples_per_second': 0.887, 'train_steps_per_second': 0.444, "
        "'train_loss': 0.9869333031899443, 'epoch': 3.0}",
        source="Trainer of transformers, the end of the run above",
    ),
    LogFormat(
        name="lightning",
        pattern=rf"^Epoch \d+\S*\s+(?:{TQDM}|[━╸╺ ]+(?P<rich_step>\d+)/(?P<rich_total>\d+) )",
        counts="samples",
        sample="Epoch 1: 100%|█████████████████████| 8000/8000 [02:17<00:00, 58.13it/s, v_num=0]",
        source="github:bryceshirley/gpu_benchmark_metrics, README: two such epochs in 276.37 s by a stopwatch",
        pause=SECOND_BAR,
    ),
    LogFormat(
        name="keras",
        pattern=r"^\s*(?P<step>\d+)/(?:(?P<total>\d+)\s+[━=>.]|Unknown\s+\d).*?(?:(?P<mean_milliseconds>[\d.]+)ms/step|$)",
        counts="samples",
        sample="60/60 ━━━━━━━━━━━━━━━━━━━━ 6s 63ms/step - loss: 0.0910",
        source="Keras 3.15, progress bar of fit, printed here: steps 2 to 60 of 8 samples in 3.681 s",
        last_is_late=True,
    ),
    LogFormat(
        name="keras_lines",
        # Where an epoch is validated, its mean holds the validation: such a line is not read.
        pattern=r"^(?P<steps>\d+)/\d+ - \d+s - (?P<mean_milliseconds>[\d.]+)ms/step(?!.* val_)",
        counts="samples",
        sample="100/100 - 1s - 13ms/step - loss: 0.1214",
        source="Keras 3.15, fit(verbose=2), printed here: 100 steps of 8 samples in 1.262 s",
    ),
    LogFormat(
        name="dllogger",
        pattern=rf"DLL \S+ (?P<clock>[\d:.]+) - Epoch: \d+ Iteration: (?P<step>\d+) +.*?train\.loss : (?P<loss>\S+) "
        rf".*?train\.total_ips : (?P<rate>{NUMBER})",
        counts="images",
        sample="DLL 2020-09-15 14:29:18.553769 - Epoch: 0 Iteration: 12  train.loss : 6.67351  train.total_ips : "
        "10393.54 img/s",
        source="github:Oneflow-Inc/DLPerf, NVIDIADeepLearningExamples/PyTorch/resnet50v1.5: batch 128 on 32 V100",
    ),
    LogFormat(
        name="torchtitan",
        pattern=rf"(?P<clock>[\d:]+),\d+ - root - INFO - step: +(?P<step>\d+) +loss: +(?P<loss>\S+) .*tps: "
        rf"(?P<rate>{NUMBER})",
        counts="tokens",
        sample="[rank0]:[titan] 2025-12-14 05:55:38,070 - root - INFO - step: 10  loss:  9.9834  grad_norm:  4.4551  "
        "memory: 116.01GiB(83.03%)  tps: 6,260  tflops: 295.72  mfu: 29.90%",
        source="torchtitan: Qwen3-30B-A3B, 4 x 12,288 tokens on each of 8 H200, public notes of December 2025",
        per_device=True,
    ),
    LogFormat(
        name="nanogpt",
        pattern=r"^iter (?P<step>\d+): loss (?P<loss>\S+), time (?P<milliseconds>[\d.]+)ms",
        counts="samples",
        sample="iter 3500: loss 3.4012, time 98.71ms, mfu 41.20%",
        source="nanoGPT, train.py, quoted in a public reader of its logs",
        pause=r"^step \d+: train loss",
    ),
    LogFormat(
        name="nanochat",
        pattern=rf"step (?P<step>\d+)/\d+ \([\d.]+%\) \| loss: (?P<loss>\S+) \|.* dt: (?P<milliseconds>{NUMBER})ms "
        rf"\| tok/sec: (?P<rate>{NUMBER})",
        counts="tokens",
        sample="step 00020/1806 (01.16%) | loss: 4.7117 | lr: 5.00e-05 | dt: 10843.04ms | tok/sec: 1,511 | mfu: 0.63 "
        "| total time: 2.71m",
        source="github:Yusuke710/nanochat (a fork), one H100 NVL, 16,384 tokens a step",
        pause=r"Validation bpb",
    ),
    LogFormat(
        name="megatron",
        pattern=r"iteration +(?P<step>\d+)/ *\d+ \|.* elapsed time per iteration \(ms\): (?P<milliseconds>[\d.]+) \|"
        r".*?(?:lm loss: (?P<loss>\S+)|$)",
        counts="samples",
        sample=" [2025-04-13 23:41:20] iteration       20/    1000 | consumed samples:          320 | elapsed time per "
        "iteration (ms): 820.7 | learning rate: 4.000000E-05 | global batch size:    16 | lm loss: 1.072453E+01 |",
        source="Megatron-LM, a small GPT-2, public notes of April 2025; its clock says 26 s for steps 21 to 50",
        pause=r"^ *validation loss at |^saving checkpoint at",
    ),
    LogFormat(
        name="images_per_s",
        pattern=rf"^Iter #(?P<step>\d+): (?P<rate>{NUMBER}) (?:img|images)/sec per GPU",
        counts="images",
        sample="Iter #0: 1785.8 img/sec per GPU",
        source="Horovod's pytorch_synthetic_benchmark: ResNet-50, batch 96 on 8 GPUs, 14,281.2 images/s in total",
        per_device=True,
    ),
)
BY_NAME = {log_format.name: log_format for log_format in FORMATS}
