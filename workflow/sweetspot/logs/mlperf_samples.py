"""How many samples an MLPerf run trained on until it reached its target, and over which times.

Benchmarks count differently, and submitters within a benchmark too. What a run counts itself comes before what can be
worked out of its epochs; a unit that cannot be told is refused by name.
"""

from typing import NamedTuple

from mlperf_logging.mllog import constants as names

from sweetspot.logs.mlperf_events import Event, Run, as_number
from sweetspot.logs.reading import LogFile

# Training samples of an epoch. `ssd` is the small SSD on COCO up to v1.1 and what NVIDIA's logs of v2.0 to v4.1 call
# RetinaNet on OpenImages. Read off published logs, github:mlcommons/training_results_*, by `train_samples`:
# - COCO: v0.7 and v1.0 ssd and maskrcnn (117266 images with boxes, NVIDIA; 118287, Google)
# - OpenImages: as steps only, v4.1 to v5.1 retinanet and ssd: 4572 of 256, 3901 of 300, 3658 of 320, 2286 of 512 and
#   1143 of 1024 images, each ceil(1170301 / batch)
# - Criteo (days 0 to 22: torchrec's criteo.py TOTAL_TRAINING_SAMPLES) and IGB: v4.1 to v5.1 dlrm_dcnv2, gnn, rgat
# - ImageNet and WMT: v0.7 resnet and transformer; LibriSpeech: v1.0 rnnt (278528 of its utterances)
# - KiTS19: `v['value'] == 168` in mlperf-logging's compliance_checker/training_1.0.0 to 4.0.0/closed_unet3d.yaml
COCO, OPEN_IMAGES, CRITEO, IGB = (117_266, 118_287), 1_170_301, 4_195_197_692, 94_605_581
EPOCHS = {
    names.RESNET: (1_281_167,),
    names.SSD: (*COCO, OPEN_IMAGES),
    names.RETINANET: (OPEN_IMAGES,),
    names.MASKRCNN: COCO,
    names.UNET3D: (168,),
    names.RNNT: (278_528,),
    names.TRANSFORMER: (4_590_101,),
    "dlrm": (CRITEO,),
    names.DLRM_DCNv2: (CRITEO,),
    names.GNN: (IGB,),
    names.RGAT: (IGB,),
}
CLOSE = 0.02  # an epoch may leave out or repeat the rest of a batch
AGREE = 0.01
EVALUATIONS = (names.EVAL_ACCURACY, "eval_error")
IN_PARTS = ("dlrm", names.DLRM_DCNv2, names.GNN, names.RGAT)  # evaluated several times within an epoch
MEGA_EPOCH = 1_000.0  # an `epoch_num` at least so large counts samples or tokens


class Trained(NamedTuple):
    """`samples` until the target, `how` they were counted, and how many of what the log counts make one."""

    samples: float
    how: str
    of_each: float = 1.0


def samples_trained(log: LogFile, run: Run) -> Trained:
    """Samples until the target: what the log counts itself, else epochs (in parts) x samples of an epoch.

    In this order: the study's `samples_per_epoch` x epochs; `samples_count` of run_stop; its `step_num` x global
    batch; `samples_count` of the last evaluation; for BERT `train_samples`, which by its rules is their total; for
    GPT-3 tokens / max_sequence_length; epochs. Raises UserError naming line and value where none of them holds.
    """
    if run.value(names.SUBMISSION_BENCHMARK) == names.MINIGO:
        log.refuse(run.stop.line, "submission_benchmark is 'minigo', which counts games played; expected samples")
    if log.source.samples_per_epoch is None and (counted := _counted(log, run)):
        return counted
    evaluations = run.during(*EVALUATIONS)
    if not evaluations:
        log.refuse(run.stop.line, "no samples_count and no eval_accuracy before run_stop; expected one of them")
    line = evaluations[-1].line
    last = evaluations[-1].number(names.EPOCH_NUM)
    if last is None:
        log.refuse(line, "eval_accuracy without samples_count and epoch_num; expected one of them")
    if last >= MEGA_EPOCH and run.value(names.SUBMISSION_BENCHMARK) == names.GPT3:
        length = as_number(run.value(names.MAX_SEQUENCE_LENGTH))
        if not length or length < 1:
            wanted = "expected a max_sequence_length to make samples of them"
            log.refuse(line, f"epoch_num {last:g} counts tokens; {wanted}")
        return Trained(last / length, f"{last:.9g} tokens / {length:g}", length)
    epochs = _epochs(log, run, evaluations, last)
    each = _samples_of_an_epoch(log, run, epochs)
    return Trained(epochs * each, f"{epochs:.6g} epochs of {each}")


def _counted(log: LogFile, run: Run) -> Trained | None:
    """What the log counts itself, or None."""
    total = run.stop.number(names.SAMPLES_COUNT)
    steps = run.stop.number(names.STEP_NUM)
    batch = as_number(run.value(names.GLOBAL_BATCH_SIZE))
    evaluated = [event for event in run.during(*EVALUATIONS) if event.number(names.SAMPLES_COUNT)]
    if total:
        last = evaluated[-1].number(names.SAMPLES_COUNT) if evaluated else None
        if last and abs(total / last - 1) > AGREE:
            line = run.stop.line
            log.refuse(line, f"samples_count is {total:g}; the last eval_accuracy has {last:g}, expected both alike")
        return Trained(total, "samples_count")
    if steps and batch:
        return Trained(steps * batch, f"{steps:g} steps of {batch:g}")
    if evaluated:
        return Trained(evaluated[-1].number(names.SAMPLES_COUNT) or 0.0, "samples_count")
    if run.value(names.SUBMISSION_BENCHMARK) == names.BERT:
        return _of_bert(log, run)
    return None


def _of_bert(log: LogFile, run: Run) -> Trained:
    """BERT's rules ask for `train_samples` at the end: all samples trained on.

    An evaluation whose epoch_num is a count of samples tells them too. It goes before a `train_samples` printed before
    training, which is a plan and at most three times as much.
    """
    totals, evaluations = run.of(names.TRAIN_SAMPLES), run.during(*EVALUATIONS)
    total = as_number(totals[-1].value) if totals else None
    if not total:
        log.refuse(run.stop.line, "no train_samples, which for bert is the total; expected it beside run_stop")
    line, last = totals[-1].line, (evaluations[-1].number(names.EPOCH_NUM) or 0.0) if evaluations else 0.0
    planned = bool(evaluations) and line < evaluations[-1].line
    if planned and total / 3 <= last <= total * (1 + AGREE):
        return Trained(last, "epoch_num of the last evaluation")
    if planned or (last >= MEGA_EPOCH and abs(total / last - 1) > AGREE):
        log.refuse(line, f"train_samples is {total:g}; the last eval_accuracy has {last:g}, expected both alike")
    return Trained(total, "train_samples")


def _epochs(log: LogFile, run: Run, evaluations: list[Event], last: float) -> float:
    """Epochs trained up to the last evaluation before run_stop, parts of one included.

    Fractional numbers count from the whole number below the first. Whole ones are settled by the first evaluation: of
    n epochs begun from number b on it is named b + n - 1 (the last one done) or b + n (how many are done).
    """
    numbers = [event.number(names.EPOCH_NUM) for event in evaluations]
    first, line = numbers[0], evaluations[-1].line
    if first is None:
        log.refuse(line, "eval_accuracy without epoch_num; expected one")
    if any(number is not None and number % 1 for number in numbers):
        return last - first // 1
    if run.value(names.SUBMISSION_BENCHMARK) in IN_PARTS:
        log.refuse(line, f"epoch_num is {last:g}; expected parts of an epoch, in which this benchmark is evaluated")
    epochs, blocks = run.of(names.EPOCH_START), run.of(names.BLOCK_START)
    starts = epochs if len(epochs) >= len(blocks) else blocks  # a block may hold many epochs
    numbered = [starts[0].number(name) for name in (names.EPOCH_NUM, names.FIRST_EPOCH_NUM)] if starts else []
    base = next((number for number in numbered if number is not None), None)
    if base is None:
        log.refuse(line, "no epoch_start or block_start with its number; expected one to count epochs from")
    # Training may go on before the result of an evaluation is printed.
    decided = evaluations[0].line
    began = next((event.line for event in run.of(names.EVAL_START) if event.line < decided), decided)
    begun = [event for event in starts if event.line < began]
    done = sum((starts is blocks and event.number(names.EPOCH_COUNT)) or 1.0 for event in begun)
    if first == base + done - 1:
        return last - base + 1
    if first == base + done:
        return last - base
    found = f"the first eval_accuracy is of epoch {first:g} after {done:g} epochs from {base:g} on"
    return log.refuse(decided, f"{found}; expected {base + done - 1:g} or {base + done:g}")


def _samples_of_an_epoch(log: LogFile, run: Run, epochs: float) -> int:
    """The study's, else the rules' where the log's `train_samples` agrees as samples, as steps or as the whole run."""
    if log.source.samples_per_epoch:
        return log.source.samples_per_epoch
    benchmark = run.value(names.SUBMISSION_BENCHMARK)
    known = EPOCHS.get(benchmark, ()) if isinstance(benchmark, str) else ()
    said = run.of(names.TRAIN_SAMPLES)
    if not said:
        if len(known) == 1:
            return known[0]
        found = f"no train_samples, and benchmark {benchmark!r} alone does not say how many"
        return log.refuse(run.stop.line, f"{found}; give samples_per_epoch in study.yaml")
    line, value = said[-1].line, as_number(said[-1].value) or 0.0
    steps = value * (as_number(run.value(names.GLOBAL_BATCH_SIZE)) or 0.0)
    for size in known:
        if abs(value / size - 1) <= CLOSE:
            return int(value)
        if any(abs(meant / size - 1) <= CLOSE for meant in (steps, value / epochs if epochs else 0.0)):
            return size
    expected = " or ".join(map(str, known)) or "a benchmark whose data set is known"
    found = f"train_samples is {said[-1].value!r} of {benchmark!r}"
    remedy = f"expected {expected} as samples or as steps: give samples_per_epoch in study.yaml"
    return log.refuse(line, f"{found}; {remedy}")


def training_seconds(run: Run) -> list[float]:
    """Of training in each block, or epoch without blocks, that ended by run_stop.

    An evaluation inside one is taken out; one that overlaps its end ran beside training and is not. Empty where the
    log does not tell training from evaluation: starts and stops that do not alternate, a result without its start.
    """
    kind = (names.BLOCK_START, names.BLOCK_STOP) if run.of(names.BLOCK_START) else (names.EPOCH_START, names.EPOCH_STOP)
    evaluations, found = _pairs(run, names.EVAL_START, names.EVAL_STOP), []
    for begin, end in _pairs(run, *kind):
        for event in run.during(*EVALUATIONS):
            told = any(start - 1 <= event.seconds <= stop + 1 for start, stop in evaluations)
            if begin < event.seconds < end - 1 and not told:
                return []
        found.append(end - begin - sum(stop - start for start, stop in evaluations if begin <= start and stop <= end))
    return [seconds for seconds in found if seconds > 0]


def _pairs(run: Run, start: str, stop: str) -> list[tuple[float, float]]:
    """Times of each start and its stop within the run; none where they do not alternate. The last may be open."""
    edges = run.during(start, stop)
    if any(event.key != (start, stop)[place % 2] for place, event in enumerate(edges)):
        return []
    return [(begin.seconds, end.seconds) for begin, end in zip(edges[::2], edges[1::2], strict=False)]
