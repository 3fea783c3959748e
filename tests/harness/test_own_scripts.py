"""Training scripts of one's own, really started: each way to tell steps, and each bad end with its last words."""

import os
import platform
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from harness_runs import ROOT, command, described, measure_mine
from patience import PATIENCE_S, until
from sweetspot import __version__
from sweetspot.harness.backends import backend
from sweetspot.harness.backends.command import interpreter_versions
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import run_facts
from sweetspot.harness.supervise import outcome
from sweetspot.throughput.collect import measured_cells
from sweetspot.throughput.run_files import summarise_runs

pytestmark = pytest.mark.slow  # starts processes, a second each
CELL = "--instance here --framework command --model mine --batch-size 4 --precision fp32 --variant default"
TICK_S = 0.03


def environment(folder):
    return {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "SWEETSPOT_LEASES": str(folder / "leases")}


def measured(folder, *more, gpus=1, cell=CELL, code=0):
    return measure_mine(folder, "--min-steps", "6", *more, env=environment(folder), cell=cell, gpus=gpus, code=code)


def row(folder):
    return pd.read_parquet(folder / "run~1.parquet").iloc[0]


LOOP = f"""
    import sys, time
    for step in range(100_000):
        time.sleep({TICK_S})
"""
# What else a line may tell is tested without a process (test_script_output.py).
WAYS = {
    "numbered lines on stderr": (
        LOOP + "        if step % 2 == 0: print(f'step {step}', file=sys.stderr)\n",
        {"pattern": r"^step (?P<step>\d+)$"},
    ),
    "a JSON-lines file": (
        "    import json, sys\n    log = open(sys.argv[-1], 'w', buffering=1)\n"
        + LOOP
        + "        log.write(json.dumps({'took': 0.03}) + chr(10))\n        log.write('{\"summary\": 1}\\n')\n",
        {"json_lines": "{scratch}/log.jsonl", "seconds": "took"},
    ),
    "the iterator": (
        "    import time\n    from sweetspot.steps import steps\n"
        f"    for batch in steps(range(100_000)):\n        time.sleep({TICK_S})\n",
        "iterator",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_script_is_measured_however_it_tells_its_steps(tmp_path, way):
    program, steps = WAYS[way]
    keys = {"steps": steps, "unit": "tokens", "samples_per_step": "{batch_size} * {gpus} * 1"}
    described(tmp_path, program, "{gpus}", "{scratch}/log.jsonl", **keys)
    says_how_long = way == "a JSON-lines file"
    measured(tmp_path, *(() if says_how_long else ("--least-seconds", "1")), gpus=2)
    (cell,) = measured_cells(summarise_runs([str(tmp_path / "run~1.parquet")]), {}).to_dict("records")
    assert (cell["unit"], cell["basis"], cell["gpus"]) == ("tokens", "measured", 2)
    if says_how_long:
        assert cell["images_per_s"] == pytest.approx(8 / TICK_S, rel=1e-4)
    else:  # and what the loop around costs on a busy machine; a first line that is read late makes a second look short
        assert 8 / TICK_S / 4 < cell["images_per_s"] < 8 / TICK_S * 1.5
    facts = run_facts(tmp_path / "run~1.parquet")
    assert facts["script"][1:3] == ["train.py", "2"]
    assert facts["versions"]["python"] == platform.python_version()
    assert facts["versions"].get("numpy") == metadata.version("numpy")
    assert facts["sweetspot"]["version"] == __version__
    assert len(facts["script_files"]["train.py"]) == 64


@pytest.mark.parametrize(("mode", "left"), [("a", 30), ("w", 3000)])
def test_steps_that_an_earlier_run_left_in_a_file_are_none_of_this_one(tmp_path, mode, left):
    line = f"        open('log.jsonl', '{mode}' if step == 0 else 'a').write(json.dumps({{'s': 2}}) + chr(10))\n"
    program = "    import json\n" + LOOP + line
    described(tmp_path, program, steps={"json_lines": "log.jsonl", "seconds": "s"})
    (tmp_path / "log.jsonl").write_text('{"s": 7}\n' * left)
    measured(tmp_path)
    assert set(pd.read_parquet(tmp_path / "run~1.parquet")["seconds"]) == {2.0}


def test_a_script_that_ends_by_itself_is_measured_if_it_made_enough_steps(tmp_path):
    described(tmp_path, LOOP.replace("100_000", "9") + "        print('done')\n", steps={"pattern": "done"})
    measured(tmp_path, "--min-steps", "50")
    # of nine the first starts the clock and two warm up; on a busy machine lines that come together are one interval
    assert 3 <= pd.read_parquet(tmp_path / "run~1.parquet")["steps"].sum() <= 9 - 1 - 2


def ended(folder, program, *more, steps=None, **keys):
    """Status and message of a script that fails, as the process that reads it ends."""
    described(folder, program, steps=steps or {"pattern": "^step"}, **keys)
    asked = parse_request([*CELL.split(), "--gpus", "1", "--run", "1", "--output", "unused", *more])
    line = backend("command").launch(asked)
    done = subprocess.run(line, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)
    return outcome(done.returncode, done.stderr.strip(), False, asked)


@pytest.mark.parametrize(
    ("program", "steps", "limit_s", "words"),
    [
        # 2^60 ways to split the letters
        ("print('step ' + 'a' * 60 + 'b'); time.sleep(600)", "^step (a+)+$", 3, "time limit of 3 s"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); print('waiting'); time.sleep(600)", "^step", 8, "waiting"),
    ],
)
def test_a_script_or_a_pattern_that_never_ends_does_at_the_time_limit(tmp_path, program, steps, limit_s, words):
    described(tmp_path, f"import signal, time; {program}", steps={"pattern": steps})
    measured(tmp_path, "--time-limit-s", str(limit_s))
    assert (row(tmp_path)["status"], words in row(tmp_path)["message"]) == ("failed", True)
    assert pd.isna(row(tmp_path)["seconds"])


FORKS = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    open("pids", "w").write(f"{os.getpid()} {child.pid}")
    for step in range(100_000):
        time.sleep(0.03)
        print("step", step)
        if step == LAST: os._exit(4)
"""


def processes(folder):
    """Command lines of what still runs in the project's folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cwd").resolve() == folder and (place / "stat").read_text().split()[2] != "Z":
                found.append((place / "cmdline").read_bytes())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("last", "status"), [("-1", "ok"), ("0", "failed")])
def test_what_a_script_started_does_not_outlive_it(tmp_path, last, status):
    found, message = ended(tmp_path, FORKS.replace("LAST", last), "--least-seconds", "0")
    assert found == status
    assert message is None or message.startswith("the script ended with exit code 4; no step was told by lines")
    assert message is None or message.endswith("its last words: step 0")
    until(lambda: processes(tmp_path) == [], "the end of all that the script started")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_script_outlives_its_supervisor(tmp_path, number):
    described(tmp_path, FORKS.replace("LAST", "-1"), steps={"pattern": "^step"})
    line = command("run~1.parquet", "--min-steps", "100000", "--min-seconds", "1000", cell=CELL)
    process = subprocess.Popen(line, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "pids").exists() and len(processes(tmp_path)) > 3, "its children")
    process.send_signal(number)
    process.wait(timeout=PATIENCE_S)
    until(lambda: processes(tmp_path) == [], "the end of all that the script started")
    assert not (tmp_path / "run~1.parquet").exists()


FLOODS = {
    "its output": 'for _ in range(300): os.write(1, b"x" * (1 << 20))',
    "the file of its steps": 'open("log.jsonl", "wb").truncate(300 << 20)',
}


@pytest.mark.parametrize("where", FLOODS)
def test_a_script_that_writes_300_mebibytes_costs_no_memory_and_ends(tmp_path, where):
    program = f"import os, sys\n{FLOODS[where]}\nprint('\\nnearly done')\nsys.exit(7)"
    described(tmp_path, program, steps={"json_lines": "log.jsonl"} if "file" in where else {"pattern": "^step"})
    measured(tmp_path)
    assert row(tmp_path)["message"].startswith("the script ended with exit code 7; no step was told")
    assert row(tmp_path)["message"].endswith("nearly done")
    assert run_facts(tmp_path / "run~1.parquet")["memory_peak_bytes"] < 200e6


def test_a_program_that_is_not_there_is_refused_and_nothing_is_written(tmp_path):
    described(tmp_path, "", command=["no-such-program"], steps={"pattern": "x"})
    assert "cannot be started: no-such-program: No such file or directory" in measured(tmp_path, code=2)
    assert not (tmp_path / "run~1.parquet").exists()


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "oom", "killed (signal 9)"),
        ("import os; os.abort()", "failed", "ended by signal 6; no step was told"),
        ("print('step'); raise RuntimeError('CUDA out of memory. Tried 4 GiB')", "oom", "Tried 4 GiB"),
        ("print('hello')", "failed", "ended after 0 timed intervals, expected 3; no step was told by lines"),
        ("print('step 1 loss nan')", "failed", "the loss is nan"),
    ],
)
def test_a_bad_end_is_an_outcome_with_the_reason(tmp_path, program, status, words):
    told, message = ended(tmp_path, program, steps={"pattern": r"step \d+ loss (?P<loss>\S+)"})
    assert told == status
    assert words in message, message


def test_the_iterator_tells_nothing_outside_of_a_measurement_and_only_the_first_process_tells(tmp_path):
    code = "from sweetspot.steps import steps; print(list(steps('abc', finish=lambda: None)))"
    file = tmp_path / "told"
    for own, lines in (
        ({}, None),
        ({"SWEETSPOT_STEPS": str(file)}, 3),
        ({"SWEETSPOT_STEPS": str(file), "RANK": "1"}, 3),
    ):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), **own}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "['a', 'b', 'c']\n"
        assert (len(file.read_text().splitlines()) if file.exists() else None) == lines


def test_versions_are_those_of_the_python_that_a_program_names(tmp_path):
    launcher = tmp_path / "launch"
    launcher.write_text(f"#!{sys.executable}\nprint('trains')\n")
    launcher.chmod(0o755)
    assert interpreter_versions(str(launcher))["python"] == platform.python_version()
    assert interpreter_versions("/bin/sh") == interpreter_versions("no-such-program") == {}
