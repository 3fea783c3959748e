"""The training process for several cells, one after the other: a framework is imported, and its group joined, once.

    python -m many_cells REQUEST_JSON...

Speaks as `sweetspot.harness.train` does, with {"cell": number} before each.
"""

import os
import sys

from sweetspot.harness import backends
from sweetspot.harness.launcher import die_with_supervisor
from sweetspot.harness.request import Request
from sweetspot.harness.train import run, say


def apart(number: int) -> None:
    """Let this cell's collectives have names of their own: TensorFlow keeps those of the cells before it, with shapes.

    A run has a process of its own, so only tests have two cells in one; TensorFlow has this attribute for tests.
    """
    import tensorflow as tf

    tf.distribute.MirroredStrategy._collective_key_base = number * 100_000


if __name__ == "__main__":
    die_with_supervisor()
    backends.RATE_SECONDS = 0.01  # that a machine has rates is told all the same
    for number, text in enumerate(sys.argv[1:]):
        if os.environ.get("RANK", "0") == "0":
            say(cell=number)
        request = Request.from_json(text)
        if request.cell.framework == "tensorflow":
            apart(number)
        run(request)
