"""How a script of the workflow ends: its words in its log, a mistake as one sentence there and on the terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import logging, os, sys
from sweetspot.errors import UserError, logged_errors
with logged_errors(sys.argv[1]):
    logging.warning("by logging")
    print("by print", file=sys.stderr)
    os.write(2, b"by a library in C\\n")
    {end}
print("after", file=sys.stderr)
"""
ALWAYS = ["WARNING:root:by logging", "by print", "by a library in C"]


def ended(tmp_path, end):
    log = tmp_path / "rule.log"
    log.write_text("of an earlier run\n" * 9)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    line = [sys.executable, "-c", SCRIPT.format(end=end), str(log)]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    return done, log.read_text().splitlines()


def test_a_script_that_ends_well_leaves_its_words_in_its_log_alone(tmp_path):
    done, logged = ended(tmp_path, "pass")
    assert (done.returncode, done.stderr) == (0, "after\n")
    assert logged == ALWAYS


def test_a_mistake_of_a_person_is_one_sentence_in_the_log_and_on_the_terminal(tmp_path):
    done, logged = ended(tmp_path, "raise UserError('x.yaml: key \\'a\\' is 1; expected 2')")
    sentence = "error: x.yaml: key 'a' is 1; expected 2"
    assert (done.returncode, done.stderr) == (2, f"{sentence}\n")
    assert logged == [*ALWAYS, sentence]


@pytest.mark.parametrize(("end", "last"), [("1 / 0", "ZeroDivisionError: division by zero")])
def test_any_other_error_is_a_traceback_in_both(tmp_path, end, last):
    done, logged = ended(tmp_path, end)
    assert done.returncode == 1
    for lines in (done.stderr.splitlines(), logged[len(ALWAYS) :]):
        assert lines[0] == "Traceback (most recent call last):"
        assert lines[-1] == last
