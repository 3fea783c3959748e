"""The results of a study are made by one invocation at a time."""

import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from sweetspot.errors import UserError
from sweetspot.matrix.process import NAME, hold

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


def test_who_comes_second_is_told_who_holds_it(other, tmp_path):
    results = tmp_path / "results"
    with pytest.raises(UserError) as told:
        hold(results)
    named = rf"process {other.pid} on {re.escape(socket.gethostname())} \(since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC\)"
    assert re.fullmatch(rf"{results}: {named} is making it; start again .*", str(told.value))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_dead_holds_nothing(other, tmp_path, number):
    other.send_signal(number)
    other.wait()
    descriptor = hold(tmp_path / "results")
    assert (tmp_path / "results" / NAME).read_text().startswith(f"process {os.getpid()} on ")
    os.close(descriptor)


def test_what_it_starts_does_not_hold_it_longer(tmp_path):
    descriptor = hold(tmp_path)
    job = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    os.close(descriptor)
    os.close(hold(tmp_path))
    job.communicate(b"\n")


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
