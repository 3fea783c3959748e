"""The training process for several cells, one after the other: a framework is imported, and its group joined, once.

    python -m many_cells REQUEST_JSON...

Speaks as `sweetspot.harness.train` does, with {"cell": number} before each.
"""

import os
import sys

from sweetspot.harness.nodes import die_with_supervisor
from sweetspot.harness.request import Request
from sweetspot.harness.train import run, say

if __name__ == "__main__":
    die_with_supervisor()
    for number, text in enumerate(sys.argv[1:]):
        if os.environ.get("RANK", "0") == "0":
            say(cell=number)
        run(Request.from_json(text))
