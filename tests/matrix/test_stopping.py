"""How the scheduling process ends early: by SIGTERM in its own way, and where nobody reads its words any more."""

import logging
import os
import signal
import threading

import pytest
from sweetspot.matrix.process import silence, stop_on_sigterm, stop_when_unread


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
        silence(stream.fileno())  # what lies in its buffer still


def word(handler):
    handler.emit(logging.LogRecord("a", logging.INFO, "here", 1, "a word", (), None))


def test_without_a_reader_the_process_is_told_to_end_once_and_writes_on_to_nowhere(answered, unread):
    stop_when_unread([unread])
    word(unread)
    assert [number for number, _ in answered] == [signal.SIGTERM]
    word(unread)
    assert len(answered) == 1


def test_before_anything_has_an_answer_to_sigterm_the_error_goes_on(answered, unread):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    stop_when_unread([unread])
    with pytest.raises(BrokenPipeError):
        word(unread)


def test_only_what_writes_to_a_terminal_is_watched(tmp_path, unread):
    file, silent = logging.FileHandler(tmp_path / "log"), logging.NullHandler()
    stop_when_unread([file, silent, unread])
    assert [("emit" in vars(handler)) for handler in (file, silent, unread)] == [False, False, True]
    file.close()


def test_jobs_here_are_finished_by_the_answer_that_was_there_in_a_thread_of_its_own(answered):
    done = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: (answered.append(threading.current_thread()), done.set()))
    stop_on_sigterm(submitted=False)
    signal.raise_signal(signal.SIGTERM)
    assert done.wait(30) and answered != [threading.main_thread()]


def test_without_an_answer_before_nothing_happens_here(answered):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stop_on_sigterm(submitted=False)
    signal.raise_signal(signal.SIGTERM)
    assert answered == []


def test_submitted_jobs_are_cancelled_as_by_ctrl_c(answered):
    stop_on_sigterm(submitted=True)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
