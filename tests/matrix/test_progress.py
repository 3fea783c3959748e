"""What the terminal shows of each record of Snakemake's logger."""

import io
import logging
from enum import Enum

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from sweetspot.matrix.progress import CHATTER, StepFormatter, error_sentences, log_ending, show_step_lines

WHOLE = logging.Formatter("whole: %(message)s")
END = "WorkflowError:\nAt least one job did not complete successfully."


class Unread(Enum):
    """An event of a later Snakemake."""

    NEW = "new"


def record(message="", event=None, level=logging.INFO, **said):
    made = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    made.__dict__ |= said | ({} if event is None else {"event": event})
    return made


def started(jobid, rule, **wildcards):
    return record(
        event=LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, wildcards=wildcards, output=["made"], input=["a"] * 99
    )


def failed(jobid, rule, *logs, rule_msg=None):
    said = {"jobid": jobid, "rule_name": rule, "log": [str(file) for file in logs], "rule_msg": rule_msg}
    return record("Error", LogEvent.JOB_ERROR, logging.ERROR, **said)


@pytest.fixture
def shown():
    """A formatter that has heard of a run of three steps."""
    made = StepFormatter(WHOLE)
    assert made.format(record("Job stats", LogEvent.RUN_INFO, stats={"price": 2, "total": 3})) == ""
    return made


def test_a_step_is_one_line_and_what_is_not_known_is_shown_whole(shown):
    assert shown.format(started(4, "price", price_list="aws")) == "[1/3] price price_list=aws"
    assert shown.format(record(event=LogEvent.PROGRESS, done=1, total=3)) == ""
    assert shown.format(started(5, "compare")) == "[2/3] compare"
    assert shown.format(record(event=LogEvent.JOB_INFO, jobid=0, rule_name="all", wildcards={}, output=[])) == ""
    assert shown.format(started(5, "compare")) == "[3/3] compare"  # a further attempt: there is no fourth of three
    assert shown.format(record(event=LogEvent.PROGRESS, done=3, total=3)) == "3 of 3 steps done"
    assert shown.format(record("Will exit after finishing currently running jobs.")).startswith("whole: Will exit")
    assert shown.format(record("left out: 3 cells", level=logging.WARNING)) == "whole: left out: 3 cells"
    assert shown.format(record("of another version", Unread.NEW)) == "whole: of another version"
    assert StepFormatter(logging.Formatter()).format(record(f"{CHATTER[1]}...")) == ""


def test_why_steps_failed_is_said_once_all_is_over(shown, tmp_path):
    sentence, other = "error: prices/aws.yaml: key 'per_huor' is unknown", "error: a second"
    (tmp_path / "one.log").write_text(f"{sentence}\n")
    (tmp_path / "two.log").write_text("Traceback\n  boom\n")
    (tmp_path / "three.log").write_text(f"{other}\n")
    plain = StepFormatter(logging.Formatter())
    plain.format(started(1, "price", price_list="aws"))
    plain.format(record("RuleException:\nsentence", LogEvent.ERROR, logging.ERROR))
    assert plain.format(failed(1, "price", tmp_path / "one.log")) == "failed: price price_list=aws"
    assert plain.format(failed(2, "draw", tmp_path / "two.log")) == "failed: draw"
    plain.format(failed(3, "again", tmp_path / "three.log"))
    plain.format(record(event=LogEvent.JOB_FINISHED, job_id=3))  # its second attempt went well
    said = plain.format(record(END, LogEvent.ERROR, logging.ERROR)).splitlines()
    assert said == [sentence, f"draw, as {tmp_path / 'two.log'} ends:", "Traceback", "  boom"]


def test_what_is_asked_to_be_quiet_says_why_it_failed_and_nothing_else(tmp_path, monkeypatch):
    """As Snakemake's terminal is with `--quiet all`."""
    monkeypatch.setenv("SWEETSPOT_QUIET", "")  # so that what is set here ends with this test
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    show_step_lines([handler], is_quiet=True)
    for name, sentence in (("one", "error: of a first attempt"), ("two", "error: of the last")):
        (tmp_path / name).write_text(f"{sentence}\n")
    for told in (
        record("plan", LogEvent.RUN_INFO, stats={"total": 2}),
        started(1, "price"),
        failed(1, "price", tmp_path / "one"),
        record(event=LogEvent.JOB_FINISHED, job_id=1),
        record("left out: 3 cells", level=logging.WARNING),
        failed(2, "draw", tmp_path / "two"),
        record(event=LogEvent.PROGRESS, done=2, total=2),
        record(END, LogEvent.ERROR, logging.ERROR),
    ):
        handler.handle(told)
    words = ["failed: price", "failed: draw", "error: of the last"]
    assert [line for line in said.getvalue().splitlines() if line] == words


def test_an_error_of_the_plan_and_the_end_of_a_log(tmp_path):
    place = 'WorkflowError in file "/project/rules/common.smk", line 105:'
    message = f'{place}\nstudy.yaml: one\nstudy.yaml: two\n  File "/project/Snakefile", line 8, in <module>'
    assert error_sentences(message) == "error: study.yaml: one\nerror: study.yaml: two"
    for other in ("LockException:\nDirectory cannot be locked.", "SyntaxError in file x:\n  boom", f"{place}\n"):
        assert error_sentences(other) == other
    log = tmp_path / "log"
    assert log_ending(log) == []
    log.write_text("".join(f"line {number}\n" for number in range(30)))
    assert log_ending(log) == [f"line {number}" for number in range(10, 30)]
    log.write_text("starting\n" + 2 * "error: --gpus is 1; this machine shows 0\n" + "bye\n")
    assert log_ending(log) == ["error: --gpus is 1; this machine shows 0"]


# As snakemake-executor-plugin-slurm 2.8.0 puts them: `run_job`, `check_active_jobs`.
INVALID = "Batch job submission failed: Invalid account or account/partition combination specified"
ENDED = "failed, SLURM status is"
SLURM_SAYS = [
    (f"SLURM sbatch failed. The error message was 'sbatch: error: {INVALID}'.\n    sbatch call:\n        sbatch --wrap",
     f"Slurm took no job: {INVALID}"),
    (f"Job submission failed with exception: {INVALID}\nroot", f"Slurm took no job: {INVALID}"),
    (f"SLURM-job '12' {ENDED}: 'OUT_OF_MEMORY'. Reason: Step 0: OutOfMemory.For further error",
     f"SLURM-job '12' {ENDED}: 'OUT_OF_MEMORY'. Reason: Step 0: OutOfMemory"),
    ("SLURM-job '14' failed due to a node failure, SLURM status is: 'NODE_FAIL'. Failed nodes will be excluded",
     "SLURM-job '14' failed due to a node failure, SLURM status is: 'NODE_FAIL'"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "sentence"), SLURM_SAYS)
def test_of_what_slurms_executor_says_its_words_are_left_without_the_commands(shown, tmp_path, message, sentence):
    shown.format(started(1, "run_benchmark", run=1))
    assert shown.format(failed(1, "run_benchmark", rule_msg=message)) == "failed: run_benchmark run=1"
    assert shown.format(record(END, LogEvent.ERROR, logging.ERROR)) == f"error: {sentence}"
    (tmp_path / "log").write_text("Traceback\n  boom\n")
    shown.format(failed(1, "run_benchmark", tmp_path / "log", rule_msg=message))
    last = shown.format(record(END, LogEvent.ERROR, logging.ERROR)).splitlines()
    assert (last[0], last[-1]) == (f"error: {sentence}", "  boom")
    chatter = record("Exception in run_job for rule a: b", level=logging.ERROR)
    assert StepFormatter(logging.Formatter()).format(chatter) == ""
