"""What reads run files is no part of the core: who measures nothing does not miss it."""

import subprocess
import sys
from pathlib import Path

LIBRARY = Path(__file__).parent.parent.parent / "workflow"
CODE = """
import sys
sys.modules["polars"] = None  # as if it were not installed
import sweetspot.throughput.gather, sweetspot.transfer.unmeasured, sweetspot.commands.predict
from sweetspot.errors import UserError
from sweetspot.throughput.gather import measured_table
try:
    measured_table(["run~1.parquet"], {})
except UserError as error:
    print(error)
"""


def test_run_files_without_their_reader_are_one_sentence_and_nothing_else_misses_it():
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={"PYTHONPATH": str(LIBRARY)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "run~1.parquet: run files are read with polars, which is not installed; "
        "expected the packages of envs/measure.lock (pip install '.[measure]')\n"
    )
