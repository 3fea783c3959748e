"""MLPerf Training result files: the throughput that a successful run prints, else its samples over its time."""

from pathlib import Path
from typing import NamedTuple

from mlperf_logging.mllog import constants as names

from sweetspot.logs.mlperf_events import Event, Run, as_number, read_run
from sweetspot.logs.mlperf_samples import AGREE, samples_trained, training_seconds
from sweetspot.logs.reading import LogFile, Reading
from sweetspot.study.study import LogSource
from sweetspot.warnings import warning

TRACKED = "tracked_stats"
THROUGHPUTS = ("throughput", "imgs_sec")
# What a sample of each benchmark is: an image, or something else (a sequence, a click, a node of a graph, a volume).
OF_IMAGES = frozenset({names.RESNET, names.SSD, names.RETINANET, names.MASKRCNN, names.STABLE_DIFFUSION, names.FLUX1})
OF_SAMPLES = frozenset({
    names.BERT, names.GPT3, names.LLAMA2_70B_LORA, names.LLAMA31_8B, names.LLAMA31_405B, names.RNNT, names.TRANSFORMER,
    names.GNMT, names.NCF, "dlrm", names.DLRM_DCNv2, names.GNN, names.RGAT, names.UNET3D,
})  # fmt: skip
FAR = 0.5  # a printed throughput further off than this does not count what the log's samples count
# A printed throughput and that of the run's clock are told side by side beyond this: what the clock has more (loading,
# evaluation) is then no rounding.
APART = 0.05


class Rates(NamedTuple):
    """Samples a second over three times: the whole run, the run from its first epoch on, training alone (if told)."""

    run: float
    from_first_epoch: float
    training: float | None


class Printed(NamedTuple):
    """A log's own throughput for all devices, and what to say of it."""

    rate: float
    says: str


def read_mlperf(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Samples a second: the log's own figure where it prints one, else of the whole run by its clock.

    What a log prints is of its training steps, or of training and evaluation: throughput as it is measured here. By
    the clock: samples until the target / (run_stop - run_start), start and evaluation included. `throughput` of the
    study asks for one of them, or for `training`: the log's samples over its own times without evaluation. Where the
    two differ by more than APART the row has the warning `printed_differs` with both.

    Samples: `mlperf_samples.samples_trained`. Batch per device: the study's, else the log's `global_batch_size` /
    devices. A throughput that the log prints is compared; if it does not count the same thing, the log is refused.
    """
    log = LogFile(path, source, undecodable="replace")
    run = read_run(log)
    if run is None:
        return log, []
    trained = samples_trained(log, run)
    rates = _rates(run, trained.samples)
    batch = _batch(log, run)
    facts = f"{trained.samples:.9g} samples ({trained.how}) in {run.seconds:.6g} s"
    facts += f", training alone {rates.training:.6g}/s" if rates.training else ""
    printed = _printed(log, run, rates, trained.of_each)
    facts += printed.says if printed else ""
    rate = _asked_for(log, run, rates, printed)
    lines = f"lines {run.start.line}-{run.stop.line}"
    model, framework, gpus, precision = (source.stated(name) for name in ("model", "framework", "gpus", "precision"))
    reading = Reading(model, framework, "", batch, gpus, precision, rate, "real", lines, facts, _unit(log, run))
    return log, [reading]


def _asked_for(log: LogFile, run: Run, rates: Rates, printed: Printed | None) -> float:
    """The rate that the study asks for, else the printed one, else the clock's; with a warning where those differ."""
    asked = log.source.throughput or ("printed" if printed else "run")
    rate = {"run": rates.run, "training": rates.training, "printed": printed and printed.rate}[asked]
    if rate is None:
        found = f"study.yaml asks for throughput {asked!r}, which this log does not tell"
        log.refuse(run.stop.line, f"{found}; expected 'run'")
    if printed and abs(printed.rate / rates.run - 1) > APART:
        log.told.append(warning(
            "printed_differs", f"the log prints {printed.rate:.4g}/s, its clock from run_start to run_stop gives "
            f"{rates.run:.4g}/s ({printed.rate / rates.run - 1:+.0%}), which counts start and evaluation too",
        ))  # fmt: skip
    return rate


def _unit(log: LogFile, run: Run) -> str:
    """What is counted, by the benchmark; of one that is not known what the study says. Raises UserError for neither."""
    benchmark, stated = run.value(names.SUBMISSION_BENCHMARK), log.source.unit
    known = "images" if benchmark in OF_IMAGES else "samples" if benchmark in OF_SAMPLES else stated
    line = next((event.line for event in run.of(names.SUBMISSION_BENCHMARK)), run.stop.line)
    if known is None:
        log.refuse(line, f"benchmark {benchmark!r} does not say what its samples are; give unit in study.yaml")
    if stated == "images" and known != stated:
        log.refuse(line, f"benchmark {benchmark!r} counts samples, study.yaml says unit {stated!r}; expected 'samples'")
    return stated or known


def _rates(run: Run, samples: float) -> Rates:
    alone = sum(training_seconds(run))
    begun = run.of(names.EPOCH_START, names.BLOCK_START)
    rest = run.stop.seconds - begun[0].seconds if begun else run.seconds
    return Rates(samples / run.seconds, samples / max(rest, 1e-3), samples / alone if alone else None)


def _printed(log: LogFile, run: Run, rates: Rates, of_each: float) -> Printed | None:
    """The throughput that a log prints, and how it agrees; None where it prints none.

    Some print it for all devices and some for one; some of the run and some of each interval of training. Raises
    UserError where it is near none of the rates: then samples of another kind were counted.
    """
    events = _printed_events(run)
    if not events:
        return None
    off, devices, value, name = min(
        (abs(value * devices / of_each / rate - 1), devices, value, name)
        for value in {events[-1][1], _mean(run, events)}
        for devices in {1, log.source.stated("gpus")}
        for name, rate in rates._asdict().items()
        if rate
    )
    if off > FAR:
        log.refuse(events[-1][0].line, f"throughput is {value:g}; expected about {rates.run:g}, as its samples "
                   "and times give: say samples_per_epoch in study.yaml")  # fmt: skip
    per_device = " a device" if devices > 1 else ""
    agrees = "agrees" if off <= AGREE else f"is {off:.1%} off"
    says = f", log prints {value:.6g}/s{per_device} ({agrees} with {name.replace('_', ' ')})"
    return Printed(value * devices / of_each, says)


def _printed_events(run: Run) -> list[tuple[Event, float]]:
    """(event, throughput) of each `tracked_stats` that has one, else of the older key `throughput`.

    Those after run_stop count only where there are no others: training may go on while an evaluation decides.
    """
    found = []
    for event in run.of(TRACKED):
        if isinstance(event.value, dict):
            values = (as_number(event.value.get(name)) for name in THROUGHPUTS)
            found += [(event, value) for value in values if value and value > 0]
    plain = [(event, as_number(event.value) or 0.0) for event in run.of("throughput")]
    usable = [(event, value) for event, value in found or plain if value > 0]
    return [(event, value) for event, value in usable if event.seconds <= run.stop.seconds + 1] or usable


def _mean(run: Run, printed: list[tuple[Event, float]]) -> float:
    """Printed figures weighted by the training they stand for; all alike where they do not follow the intervals."""
    weights = training_seconds(run)
    if len(weights) != len(printed):
        weights = [1.0] * len(printed)
    return sum(value * weight for (_, value), weight in zip(printed, weights, strict=True)) / sum(weights)


def _batch(log: LogFile, run: Run) -> int:
    """Batch per device. Raises UserError where log and study leave it open or disagree."""
    said = run.of(names.GLOBAL_BATCH_SIZE)
    stated, devices = log.source.batch_size, log.source.gpus or 1
    line, total = (said[0].line, said[0].value) if said else (len(log.lines), None)
    if stated is not None and (total is None or (isinstance(total, int) and total % devices)):
        return stated
    if not isinstance(total, int) or total < 1 or total % devices:
        log.refuse(line, f"global_batch_size is {total!r}; expected a multiple of {devices} devices, or a batch_size "
                   "in study.yaml where a model is spread over several")  # fmt: skip
    log.agreed("batch_size", stated, line, total // devices)
    return total // devices
