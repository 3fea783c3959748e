"""Snakemake without its imports: a process that has made them once, and forks for each start.

Two thirds of a dry run are imports that are the same for all, and the suite has hundreds of starts. The library of
the project is not among them: each child imports it from its own project.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("snakemake.cli", "snakemake.script", "smart_open", "requests", "jinja2", "yte", "yaml", "pydantic")
PACKAGES += ("pandas", "pyarrow.parquet", "scipy.stats", "altair")  # of the rules that are run in the process


def run_warm(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: int
) -> subprocess.CompletedProcess[str]:
    """What `python -m snakemake ARGUMENTS` does there; stdout and stderr come together in `.stdout`."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    with tempfile.NamedTemporaryFile("r") as said:
        asked = {"arguments": arguments, "folder": str(folder), "environment": dict(environment), "timeout": timeout}
        server.stdin.write(json.dumps(asked | {"said": said.name}) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, said.read())


@cache
def _server() -> subprocess.Popen[str]:
    """One for each process of tests, and it ends with that."""
    line = [sys.executable, __file__, *PACKAGES]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _become(asked: dict[str, Any]) -> None:
    """Make of a forked child what `python -m snakemake` is at its start."""
    signal.alarm(asked["timeout"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    warnings.simplefilter("error", RuntimeWarning)  # PYTHONWARNINGS is read only where Python starts
    said, nothing = os.open(asked["said"], os.O_WRONLY | os.O_APPEND), os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(old, new)
    os.closerange(3, 16)
    sys.modules["snakemake.workflow"].Workflow._rundir = asked["folder"]  # where it was when it was imported
    sys.path[:1] = ["", *asked["environment"]["PYTHONPATH"].split(os.pathsep)]
    sys.argv = [str(Path(sys.modules["snakemake"].__path__[0], "__main__.py")), *asked["arguments"]]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        __import__(name)
    sys.modules["snakemake.cli"].get_argument_parser()  # finds the plugins
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            sys.modules["snakemake.cli"].main()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
