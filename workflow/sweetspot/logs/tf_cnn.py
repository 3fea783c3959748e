"""Logs of tf_cnn_benchmarks."""

import re
from pathlib import Path

from sweetspot.logs.reading import LogFile, Reading, model_slug, positive, uncoloured
from sweetspot.study.study import LogSource

# What mpirun, a container, a scheduler or a logger puts before a line; mpirun's names the rank.
PREFIX = re.compile(
    r"(?:\s*(?:\[\d+,(?P<rank>\d+)\]<std\w+>:|<std\w+>:|\[[^\]]*[\d-][^\]]*\]:?|[IWEF]\d{4} [\d:.]+ +\d+ [^\]]+\]|"
    r"\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?|\d\d:\d\d:\d\d[\d.,]*|\d+:(?=\s)|[\w./-]+ *\||"
    r"(?:DEBUG|INFO|WARNING|ERROR)\b:?(?:[\w.]+:)?|-(?= )))+[ \t]*"
)
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
SEPARATED = re.compile(rf"{NUMBER}\s*$")
HEADER = re.compile(r"(TensorFlow|Model|Dataset|Mode|Variables|AllReduce|Devices|Batch size):\s+(.+?)\s*$")
PER_DEVICE = re.compile(r"\s*(\S+) per device$")
STEP_START = re.compile(r"\d+\s+images/sec:")
STEP = re.compile(rf"\d+\s+images/sec: {NUMBER} \+/- ({NUMBER}|nan) \(jitter = ({NUMBER}|nan)\)")
TOTAL = re.compile(r"total images/sec:\s*(.*)$")
MAX_BATCH = 100_000
Header = dict[str, tuple[int, str]]  # (line, text) of each header key


def read_tf_cnn(path: Path, source: LogSource) -> tuple[LogFile, list[Reading]]:
    """Read a log of tf_cnn_benchmarks as a published speed; return the file and one Reading: its `total images/sec` on
    all devices. `source`: the log's entry in study.yaml. Raises UserError for a log that is no training, that
    contradicts the study (model, batch, devices), that has a malformed line, or that ends before its total.
    """
    log = LogFile(path, source)
    header, total = _scan(log)
    for name in ("Model", "Batch size", "per device", "Devices"):
        if name not in header:
            log.refuse(len(log.lines), f"no line '{name}' up to the end; expected output of tf_cnn_benchmarks")
    if total is None:
        log.refuse(len(log.lines), "the log ends without 'total images/sec'; the run did not finish")
    line, mode = header.get("Mode", (0, "training"))
    if "train" not in mode.lower():
        log.refuse(line, f"mode is {mode!r}; expected training")
    return log, [_reading(log, header, *total)]


def _scan(log: LogFile) -> tuple[Header, tuple[int, float] | None]:
    """Collect what a tf_cnn_benchmarks log says: its header {key: (line, text)}, such as Model, and (line, images/s)
    of its total (None: not reached). UserError for malformed lines or several runs in one file.
    """
    header: Header = {}
    total: tuple[int, float] | None = None
    remedy = "expected one run a file"
    for number, raw in enumerate(log.lines, start=1):
        text = _bare(raw)
        if match := HEADER.match(text) or PER_DEVICE.match(text):
            key, value = match.groups() if match.re is HEADER else ("per device", match[1])
            before = header.setdefault(key, (number, value))
            if total is not None:
                log.refuse(number, f"'{key}' after the total of line {total[0]}; {remedy}")
            if before[1] != value:
                log.refuse(number, f"'{key}' is {value!r} after {before[1]!r} in line {before[0]}; {remedy}")
        elif STEP_START.match(text) and not STEP.match(text):
            log.refuse(number, f"step line {text[:60]!r}; expected 'N images/sec: R +/- U (jitter = J)'")
        elif match := TOTAL.match(text):
            rate = _number(match[1])
            if rate is None:
                log.refuse(number, f"total images/sec is {match[1]!r}; expected a number above 0")
            elif total is not None:
                log.refuse(number, f"a second 'total images/sec' after that of line {total[0]}; {remedy}")
            else:
                total = number, rate
    return header, total


def _bare(line: str) -> str:
    """Return a line as the benchmark printed it, without prefixes of mpirun or loggers; '' for ranks over 0."""
    text = uncoloured(line)
    prefix = PREFIX.match(text)
    if prefix is None:
        return text
    return "" if int(prefix["rank"] or 0) > 0 else text[prefix.end() :]


def _number(text: str) -> float | None:
    """Return the number above 0 in a text, with or without commas between thousands; None for any other text."""
    return positive(text.replace(",", "")) if SEPARATED.match(text) else positive(text)


def _reading(log: LogFile, header: Header, line: int, rate: float) -> Reading:
    """Return the speed in a log as a Reading, once its model, batch and devices are checked against the study (else
    UserError). `header`: {key: (line, text)}; `line`, `rate`: the line of the total, and its images/s on all devices.
    """
    source, values = log.source, {key: text for key, (_, text) in header.items()}
    batch_line, batch_text = header["per device"]
    batch = _number(batch_text)
    if batch is None or batch % 1 or batch > MAX_BATCH:
        log.refuse(batch_line, f"batch is {batch_text!r} per device; expected a whole number above 0")
    gpus = len(re.findall(r"/[a-z]*:?[cg]pu:\d+", values["Devices"], re.IGNORECASE))
    model = model_slug(values["Model"])
    log.require_equal("model", source.model, header["Model"][0], model)
    log.require_equal("batch_size", source.batch_size, batch_line, int(batch))
    log.require_equal("gpus", source.gpus, header["Devices"][0], gpus)
    if gpus == 0:
        log.refuse(header["Devices"][0], f"devices are {values['Devices']!r}; expected a list such as ['/gpu:0']")
    variables, reduce, dataset = (values.get(key, "") for key in ("Variables", "AllReduce", "Dataset"))
    facts = [f"variable_update={variables}"] if variables else []
    facts += [f"all_reduce={reduce}"] if reduce not in ("", "None") else []
    dataset = "synthetic" if "synthetic" in dataset else dataset
    return Reading(
        model, "tensorflow", values.get("TensorFlow", ""), int(batch), gpus, str(source.precision), rate, dataset,
        f"line {line}", ", ".join(facts),
    )  # fmt: skip
