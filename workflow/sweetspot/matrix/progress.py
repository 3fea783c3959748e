"""What the terminal shows of a run: a line a step, and last the sentences of what failed."""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# What Snakemake says of itself; its own log file (.snakemake/log) keeps it.
CHATTER = (
    "Assuming unrestricted shared filesystem", "Complete log(s)", "Conda environments: ignored", "Elapsed time",
    "Execute ", "Exiting because a job execution failed", "Rules claiming more threads", "Select jobs to execute",
    "Using shell",
    # Slurm's executor: an account that only sbatch checks, and advice on the status command (matrix.slurm).
    "Both 'sacctmgr' and 'sshare'", "Cleaning up SLURM log files", "Exception in run_job", "MinJobAge", "SLURM run ID",
)  # fmt: skip
SILENT = {"WORKFLOW_STARTED", "JOB_FINISHED", "JOB_STARTED", "SHELLCMD", "RESOURCES_INFO", "RUN_INFO"}
FAILED_JOBS = "At least one job did not complete successfully"
WORKFLOW_ERROR = re.compile(r"WorkflowError(?: in (?:rule \S+ in )?file .*)?:$")
FILE_LINE = re.compile(r'\s*File ".*", line \d+')
SENTENCE = "error: "
LAST_LINES = 20  # of the log of a step that did not end in a sentence
# What Slurm's executor says of a job that failed or was not taken, around Slurm's own words.
SLURM = re.compile(
    r"The error message was '(?P<refusal>.*?)'\.\n|failed with exception: (?P<exception>[^\n]+)"
    r"|SLURM-job '(?P<job>\d+)' failed.*? status is: '(?P<state>\w+)'\.(?: Reason: (?:Step 0: )?(?P<reason>\w+))?",
    re.S,
)


def show_step_lines(handlers: Iterable[logging.Handler]) -> None:
    """Make the handlers of the terminal show a line a step; log files keep all.

    Not for a dry run, which shows the complete list. With `--quiet` no step is shown, but why one failed is.
    """
    for handler in handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            handler.filters = [ErrorFilter(handler, quiet) for quiet in handler.filters]
            handler.setFormatter(StepFormatter(handler.formatter or logging.Formatter()))
            handler.addFilter(ErrorFilter(handler))


def hush_measurements() -> None:
    """Let what is measured from here write to its log alone (rules/benchmark.smk)."""
    os.environ["SWEETSPOT_QUIET"] = "1"


def _event(record: logging.LogRecord) -> str | None:
    """Return the name of Snakemake's LogEvent; None for a plain message."""
    return getattr(getattr(record, "event", None), "name", None)


class ErrorFilter(logging.Filter):
    """Passes what the filter `quiet` passes, and errors; the end of a job too, which takes its error back.

    It also keeps Snakemake's handler from writing an empty line before each step.
    """

    def __init__(self, handler: logging.Handler, quiet: Any = None) -> None:
        super().__init__()
        self._handler = handler
        self._quiet = quiet

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True for a record that is shown."""
        event = _event(record)
        if event == "JOB_INFO":
            self._handler.last_msg_was_job_info = True  # type: ignore[attr-defined]
        if self._quiet is None or record.levelno >= logging.ERROR or event == "JOB_FINISHED":
            return True
        passes = getattr(self._quiet, "filter", self._quiet)
        return bool(passes(record))


class StepFormatter(logging.Formatter):
    """Writes `[3/19] price_workloads price_list=aws` when a step starts, and '' (no line) for most records.

    A step that fails is named when it does; the reason comes last, when all is over. Records that are not known here
    go to Snakemake's own formatter, `fallback`.
    """

    def __init__(self, fallback: logging.Formatter) -> None:
        super().__init__()
        self._fallback = fallback
        self._total = 0
        self._started = 0
        self._names: dict[object, str] = {}
        self._reasons: dict[object, list[str]] = {}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record of Snakemake's logger; empty for none."""
        event, values = _event(record), record.__dict__
        if event == "RUN_INFO":
            self._total = int(values.get("stats", {}).get("total", 0))
        if event == "JOB_FINISHED":  # perhaps at another attempt
            self._reasons.pop(values.get("job_id"), None)
        if event in SILENT:
            return ""
        if event == "JOB_INFO":
            self._started += 1
            wildcards: Mapping[str, object] = values["wildcards"] or {}
            name = " ".join([values["rule_name"], *(f"{key}={value}" for key, value in wildcards.items())])
            self._names[values["jobid"]] = name
            # A rule without output only gathers files of others.
            return f"[{min(self._started, self._total)}/{self._total}] {name}" if values["output"] else ""
        if event == "PROGRESS":
            total = values["total"]
            return f"{total} of {total} steps done" if values["done"] == total else ""
        if event == "JOB_ERROR":
            return self._format_failure(record)
        message = self._fallback.format(record)
        if message.strip().startswith(CHATTER):
            return ""
        return self._format_error(message) if record.levelno >= logging.ERROR else message

    def _format_failure(self, record: logging.LogRecord) -> str:
        values = record.__dict__
        name = self._names.get(values["jobid"], values["rule_name"])
        slurm = slurm_sentences(values.get("rule_msg"))
        reasons = [line for log in values["log"] for line in log_ending(Path(log))]
        if not slurm and not reasons:
            return self._fallback.format(record)
        if reasons and not reasons[0].startswith(SENTENCE):
            reasons = [f"{name}, as {', '.join(values['log'])} ends:", *reasons]
        self._reasons[values["jobid"]] = slurm + reasons
        return f"failed: {name}"

    def _format_error(self, message: str) -> str:
        if FAILED_JOBS in message:
            reasons = dict.fromkeys(line for lines in self._reasons.values() for line in lines)
            return "\n".join(reasons) or message
        # What a rule raised is in the log of its step, and comes last.
        return "" if message.startswith("RuleException") else error_sentences(message)


def slurm_sentences(message: str | None) -> list[str]:
    """Return the sentence of Slurm's executor without its commands; [] for any other message."""
    match = SLURM.search(message or "")
    if match is None:
        return []
    if match["job"] is None:
        lines = (match["refusal"] or match["exception"]).replace("sbatch: error: ", "").splitlines()
        return [f"{SENTENCE}Slurm took no job: {'; '.join(lines)}"]
    reason = f" ({match['reason']})" if match["reason"] not in (None, "None", "Unknown") else ""
    return [f"{SENTENCE}Slurm ended job {match['job']}: {match['state']}{reason}"]


def error_sentences(message: str) -> str:
    """Return what Snakemake prints of a WorkflowError, without its lines of the rule files."""
    first, _, rest = message.partition("\n")
    if not WORKFLOW_ERROR.match(first.strip()) or not rest.strip():
        return message
    sentences = [line for line in rest.splitlines() if line.strip() and not FILE_LINE.match(line)]
    return "\n".join(f"{SENTENCE}{line.removeprefix(SENTENCE)}" for line in sentences)


def log_ending(log: Path) -> list[str]:
    """Return the sentences of a log (`error: ...`), else its last lines; [] without a log."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    sentences = list(dict.fromkeys(line for line in lines if line.startswith(SENTENCE)))
    return sentences or [line for line in lines if line.strip()][-LAST_LINES:]
