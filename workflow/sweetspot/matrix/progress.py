"""What the terminal shows of a run: a line a step, and last the sentences of what failed."""

import logging
import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# What Snakemake says of itself; its own log file (.snakemake/log) keeps it.
CHATTER = (
    "Assuming unrestricted shared filesystem", "Complete log(s)", "Conda environments: ignored", "Elapsed time",
    "Execute ", "Exiting because a job execution failed", "Rules claiming more threads", "Select jobs to execute",
    "Using shell",
    # Slurm's executor: an account that only sbatch checks, and advice on the status command (matrix.slurm).
    "Both 'sacctmgr' and 'sshare'", "Cleaning up SLURM log files", "Exception in run_job", "MinJobAge", "SLURM run ID",
    # What a rule raised is in the log of its step, and comes last.
    "RuleException",
)  # fmt: skip
SILENT = {"WORKFLOW_STARTED", "JOB_FINISHED", "JOB_STARTED", "SHELLCMD", "RESOURCES_INFO", "RUN_INFO"}
FAILED_JOBS = "At least one job did not complete successfully"
# A WorkflowError without the lines of the rule files.
WORKFLOW_ERROR = re.compile(r"\s*WorkflowError(?: in (?:rule \S+ in )?file .*)?:\s*\n(?=\s*\S)")
FILE_LINES = re.compile(r'^(?:\s*File ".*", line \d+.*|\s*)\n?', re.M)
SENTENCE = "error: "
LAST_LINES = 20  # of the log of a step that did not end in a sentence
# What Slurm's executor says of a job that failed or was not taken, around Slurm's own words.
SLURM = re.compile(
    r"The error message was '(?P<refusal>.*?)'\.\n|failed with exception: (?P<exception>[^\n]+)"
    r"|(?P<job>SLURM-job '\d+' failed.*? status is: '\w+'(?:\. Reason: [\w: ]+)?)",
    re.S,
)


def terminal_handlers(handlers: Iterable[logging.Handler]) -> Iterator[logging.StreamHandler[Any]]:
    """Yield those logging handlers that write to the terminal, not to a file."""
    for handler in handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            yield handler


def show_step_lines(handlers: Iterable[logging.Handler], is_quiet: bool = False) -> None:
    """Make the terminal's log handlers show one line a step of the workflow instead of Snakemake's paragraphs; log
    files keep all. Not for a dry run, which shows the complete list. With `--quiet` (`is_quiet`) errors alone are
    shown, and measurements started from here write to their log alone (rules/benchmark.smk).
    """
    if is_quiet:
        os.environ["SWEETSPOT_QUIET"] = "1"
    for handler in terminal_handlers(handlers):
        handler.setFormatter(StepFormatter(handler.formatter or logging.Formatter()))
        handler.filters = [partial(_is_visible, handler, is_quiet)]


def _event(record: logging.LogRecord) -> str | None:
    """Return the name of a record's LogEvent of Snakemake, such as JOB_INFO; None for a plain message."""
    return getattr(getattr(record, "event", None), "name", None)


def _is_visible(handler: logging.Handler, is_quiet: bool, record: logging.LogRecord) -> bool:
    """Filter of the terminal's log: return True for a record to be shown, which is any; in a quiet run errors, and
    ends of jobs (a job that succeeds at a second attempt takes its error back).
    """
    event = _event(record)
    if event == "JOB_INFO":  # Snakemake's handler would write an empty line before each step.
        handler.last_msg_was_job_info = True  # type: ignore[attr-defined]
    return not is_quiet or record.levelno >= logging.ERROR or event == "JOB_FINISHED"


class StepFormatter(logging.Formatter):
    """Writes `[3/19] price_workloads price_list=aws` when a step starts, and '' (no line) for most records. A step
    that fails is named when it does; the reason comes last, when all is over. `fallback`: Snakemake's formatter.
    """

    def __init__(self, fallback: logging.Formatter) -> None:
        super().__init__()
        self._fallback = fallback
        self._total = 0
        self._started = 0
        self._names: dict[object, str] = {}
        self._reasons: dict[object, list[str]] = {}

    def format(self, record: logging.LogRecord) -> str:
        """Return the one line that the terminal shows for a record of Snakemake's logger, or '' for no line: steps
        when they start or fail, and at the end the reasons of failures.
        """
        event, values = _event(record), record.__dict__
        if event == "RUN_INFO":
            self._total = int(values.get("stats", {}).get("total", 0))
        if event == "JOB_FINISHED":  # perhaps at another attempt
            self._reasons.pop(values.get("job_id"), None)
        if event in SILENT:
            return ""
        if event == "JOB_INFO":
            self._started += 1
            name = " ".join([values["rule_name"], *map("{0[0]}={0[1]}".format, (values["wildcards"] or {}).items())])
            self._names[values["jobid"]] = name
            # A rule without output only gathers files of others.
            return f"[{min(self._started, self._total)}/{self._total}] {name}" if values["output"] else ""
        if event == "PROGRESS":
            return f"{values['total']} of {values['total']} steps done" if values["done"] == values["total"] else ""
        if event == "JOB_ERROR":
            return self._note_failure(values) or self._fallback.format(record)
        message = self._fallback.format(record)
        if message.strip().startswith(CHATTER):
            return ""
        if FAILED_JOBS in message:
            return "\n".join(dict.fromkeys(line for lines in self._reasons.values() for line in lines)) or message
        return error_sentences(message) if record.levelno >= logging.ERROR else message

    def _note_failure(self, values: dict[str, Any]) -> str:
        """Keep the reason of a failed step, from its log, for the end of the run; return the line `failed: STEP` to
        show now, '' if no log says why. `values`: Snakemake's JOB_ERROR record.
        """
        name = self._names.get(values["jobid"], values["rule_name"])
        reasons = [line for log in values["log"] for line in log_ending(Path(log))]
        if reasons and not reasons[0].startswith(SENTENCE):
            reasons = [f"{name}, as {', '.join(values['log'])} ends:", *reasons]
        reasons = slurm_sentences(values.get("rule_msg")) + reasons
        self._reasons[values["jobid"]] = reasons
        return f"failed: {name}" if reasons else ""


def slurm_sentences(message: str | None) -> list[str]:
    """Return [Slurm's own reason] from a message of Snakemake's executor, to show instead; [] for any other."""
    match = SLURM.search(message or "")
    if match is None:
        return []
    if match["job"]:
        return [f"{SENTENCE}{match['job']}"]
    lines = (match["refusal"] or match["exception"]).replace("sbatch: error: ", "").splitlines()
    return [f"{SENTENCE}Slurm took no job: {'; '.join(lines)}"]


def error_sentences(message: str) -> str:
    """Return a WorkflowError as a user sees it: without lines of rule files, behind `error: `; others unchanged."""
    text, is_error = WORKFLOW_ERROR.subn("", message, count=1)
    if not is_error:
        return message
    lines = FILE_LINES.sub("", text).splitlines()
    return "\n".join(f"{SENTENCE}{line.removeprefix(SENTENCE)}" for line in lines)


def log_ending(log: Path) -> list[str]:
    """Return the lines of a failed step's log that say why: behind `error: `, else its last 20; [] without a log."""
    if not log.is_file():
        return []
    lines = list(filter(str.strip, log.read_text(encoding="utf-8", errors="replace").splitlines()))
    sentences = list(dict.fromkeys(line for line in lines if line.startswith(SENTENCE)))
    return sentences or lines[-LAST_LINES:]
