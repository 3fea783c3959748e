"""The process of an invocation: one at a time makes a study's results; SIGTERM and a reader that is gone end it."""

import errno
import fcntl
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sweetspot.errors import UserError
from sweetspot.matrix.process import NAME, NAMES, hold, scripts_of, stop_on_sigterm, stop_when_unread


def test_a_modules_scripts_are_kept_and_written_anew_where_they_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        (tmp_path / name).write_text(f"# {name}")
    folder = scripts_of(lambda name: str(tmp_path / name))
    assert folder == tmp_path / ".snakemake" / "sweetspot" / "scripts"
    assert {file.stem: file.read_text() for file in folder.iterdir()} == {name: f"# {name}" for name in NAMES}
    (tmp_path / "compare").write_text("# another")
    scripts_of(lambda name: str(tmp_path / name))
    assert (folder / "compare.py").read_text() == "# another"


HOLD = "import sys, sweetspot.matrix.process as lock; lock.hold(sys.argv[1]); print('held', flush=True); input()"


@pytest.fixture
def other(tmp_path):
    """Another process that holds `results`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "results")], **pipes)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_dead_holds_nothing(other, tmp_path, number):
    other.send_signal(number)
    other.wait()
    descriptor = hold(tmp_path / "results")
    assert (tmp_path / "results" / NAME).read_text().startswith(f"process {os.getpid()} on ")
    os.close(descriptor)


def test_a_disk_without_locks_or_room_stops_nobody(tmp_path, monkeypatch):
    def refuse(number):
        def fails(*_):
            raise OSError(number, os.strerror(number))

        return fails

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse(errno.ENOSPC))
        os.close(hold(tmp_path))
    monkeypatch.setattr(fcntl, "flock", refuse(errno.ENOLCK))
    assert hold(tmp_path) is None
    monkeypatch.setattr(os, "open", refuse(errno.EROFS))
    with pytest.raises(UserError, match=r"\.in-use: cannot be written \(Read-only file system\)"):
        hold(tmp_path)


@pytest.fixture
def answered():
    """Signals that this process got; its own answer to SIGTERM comes back afterwards."""
    before, found = signal.getsignal(signal.SIGTERM), []
    signal.signal(signal.SIGTERM, lambda number, frame: found.append((number, threading.current_thread())))
    yield found
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def unread():
    """A handler of the terminal whose reader has gone; SIGPIPE is ignored, as in every Python process."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1) as stream:
        handler = logging.StreamHandler(stream)
        # What logging itself prints of an error hides it; Snakemake's handler lets it out.
        handler.handleError = lambda record: (_ for _ in ()).throw(BrokenPipeError())
        yield handler
        with Path(os.devnull).open("w") as nowhere:  # what lies in its buffer still
            os.dup2(nowhere.fileno(), stream.fileno())


def word(handler):
    handler.emit(logging.LogRecord("a", logging.INFO, "here", 1, "a word", (), None))


def test_without_a_reader_the_process_is_told_to_end_once_and_writes_on_to_nowhere(answered, unread):
    stop_when_unread([unread])
    word(unread)
    assert [number for number, _ in answered] == [signal.SIGTERM]
    word(unread)
    assert len(answered) == 1


def test_jobs_here_are_finished_by_the_answer_that_was_there_in_a_thread_of_its_own(answered):
    done = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: (answered.append(threading.current_thread()), done.set()))
    stop_on_sigterm(submitted=False)
    signal.raise_signal(signal.SIGTERM)
    assert done.wait(30) and answered != [threading.main_thread()]


def test_submitted_jobs_are_cancelled_as_by_ctrl_c(answered):
    stop_on_sigterm(submitted=True)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
