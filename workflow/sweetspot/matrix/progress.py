"""What the terminal shows of a run: a line a step, and last the sentences of what failed."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
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
RAISED = re.compile(r"WorkflowError(?: in (?:rule \S+ in )?file .*)?:$")
PLACE = re.compile(r'\s*File ".*", line \d+')
SENTENCE = "error: "
# What Slurm's executor says of a job that failed or was not taken, around Slurm's own words.
SLURM = re.compile(
    r"The error message was '(?P<refused>.*?)'\.\n|failed with exception: (?P<raised>[^\n]+)"
    r"|SLURM-job '(?P<job>\d+)' failed.*? status is: '(?P<state>\w+)'\.(?: Reason: (?:Step 0: )?(?P<reason>\w+))?",
    re.S,
)
SHOWN = 20  # last lines of the log of a step that did not end in a sentence


def one_line_a_step(handlers: Iterable[logging.Handler]) -> None:
    """Make the handlers of the terminal show a line a step; log files keep all.

    To be called before jobs are scheduled, and not for a dry run, whose point is the whole list. With `--quiet` no step
    is shown; why something failed is, though Snakemake's own `--quiet all` would end without a word.
    """
    for handler in handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            handler.filters = [_errors_too(quiet) for quiet in handler.filters]
            handler.setFormatter(OneLine(handler.formatter or logging.Formatter()))
            handler.addFilter(_together(handler))


def hush_measurements() -> None:
    """Let what is measured from here talk to its log alone (rules/benchmark.smk)."""
    os.environ["SWEETSPOT_QUIET"] = "1"


def _errors_too(quiet: Any) -> Callable[[logging.LogRecord], bool]:
    """What the filter `quiet` lets pass, and errors. The end of a job, which shows nothing, takes its error back."""

    def passes(record: logging.LogRecord) -> bool:
        heard = record.levelno >= logging.ERROR or _event(record) == "JOB_FINISHED"
        return heard or bool(quiet.filter(record) if hasattr(quiet, "filter") else quiet(record))

    return passes


def _together(handler: logging.Handler) -> Callable[[logging.LogRecord], bool]:
    """A filter that lets all pass, and keeps Snakemake's handler from setting an empty line before each step."""

    def passes(record: logging.LogRecord) -> bool:
        if _event(record) == "JOB_INFO":
            handler.last_msg_was_job_info = True  # type: ignore[attr-defined]
        return True

    return passes


def _event(record: logging.LogRecord) -> str | None:
    """The name of Snakemake's LogEvent; None for a plain message."""
    return getattr(getattr(record, "event", None), "name", None)


class OneLine(logging.Formatter):
    """`[3/19] price_workloads price_list=aws` when a step starts; nothing (no line) for what nobody reads.

    A step that fails is named when it does; why it failed is said when all is over, as the last words. `whole`:
    Snakemake's own formatter, for all that is not known here.
    """

    def __init__(self, whole: logging.Formatter) -> None:
        super().__init__()
        self._whole = whole
        self._total = self._begun = 0
        self._steps: dict[object, str] = {}
        self._why: dict[object, list[str]] = {}

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record of Snakemake's logger; empty for none."""
        event, said = _event(record), record.__dict__
        if event == "RUN_INFO":
            self._total = int(said.get("stats", {}).get("total", 0))
        if event == "JOB_FINISHED":  # at another attempt, perhaps
            self._why.pop(said.get("job_id"), None)
        if event in SILENT:
            return ""
        if event == "JOB_INFO":
            self._begun += 1
            name = self._steps[said["jobid"]] = step_name(said["rule_name"], said["wildcards"])
            # A rule that only gathers others' files does nothing to wait for.
            return f"[{min(self._begun, self._total)}/{self._total}] {name}" if said["output"] else ""
        if event == "PROGRESS":
            return f"{said['total']} of {said['total']} steps done" if said["done"] == said["total"] else ""
        if event == "JOB_ERROR":
            return self._failed(record)
        message = self._whole.format(record)
        if message.strip().startswith(CHATTER):
            return ""
        return self._error(message) if record.levelno >= logging.ERROR else message

    def _failed(self, record: logging.LogRecord) -> str:
        said = record.__dict__
        step = self._steps.get(said["jobid"], said["rule_name"])
        slurm, why = slurm_words(said.get("rule_msg")), [line for log in said["log"] for line in last_words(Path(log))]
        if not slurm and not why:
            return self._whole.format(record)
        if why and not why[0].startswith(SENTENCE):
            why = [f"{step}, as {', '.join(said['log'])} ends:", *why]
        self._why[said["jobid"]] = slurm + why
        return f"failed: {step}"

    def _error(self, message: str) -> str:
        if FAILED_JOBS in message:
            told = dict.fromkeys(line for lines in self._why.values() for line in lines)
            return "\n".join(told) or message
        # What a rule raised stands in the log of its step, and is said last.
        return "" if message.startswith("RuleException") else raised(message)


def step_name(rule: str, wildcards: Mapping[str, object]) -> str:
    """A step as people see it: its rule, and what tells it from others of the same rule."""
    return " ".join([rule, *(f"{name}={value}" for name, value in (wildcards or {}).items())])


def slurm_words(message: str | None) -> list[str]:
    """The sentence of Slurm's executor without its commands; none of what another says."""
    found = SLURM.search(message or "")
    if found is None:
        return []
    if found["job"] is None:
        words = (found["refused"] or found["raised"]).replace("sbatch: error: ", "").splitlines()
        return [f"{SENTENCE}Slurm took no job: {'; '.join(words)}"]
    reason = f" ({found['reason']})" if found["reason"] not in (None, "None", "Unknown") else ""
    return [f"{SENTENCE}Slurm ended job {found['job']}: {found['state']}{reason}"]


def raised(message: str) -> str:
    """What Snakemake prints of a WorkflowError, without the places in the rule files: the sentence is for people."""
    first, _, rest = message.partition("\n")
    if not RAISED.match(first.strip()) or not rest.strip():
        return message
    sentences = [line for line in rest.splitlines() if line.strip() and not PLACE.match(line)]
    return "\n".join(f"{SENTENCE}{line.removeprefix(SENTENCE)}" for line in sentences)


def last_words(log: Path) -> list[str]:
    """Why a step failed: the sentences of its log (`error: ...`), else its last lines; nothing without a log."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    sentences = list(dict.fromkeys(line for line in lines if line.startswith(SENTENCE)))
    return sentences or [line for line in lines if line.strip()][-SHOWN:]
