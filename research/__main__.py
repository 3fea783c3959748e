"""`python -m research COMMAND`, from the root of the checkout."""

import argparse
import importlib
import os
from collections.abc import Sequence
from typing import NoReturn

from sweetspot.commands.command_line import program
from sweetspot.errors import UserError

COMMANDS = {
    "fit-price-paths": "recompute the presets of price paths and resale curves from their history",
    "back-test": "replay the history month by month: what would the advice have cost?",
    "compare-results": "whether two results are equal, number by number: what a change of the program did",
    "validate-scaling": "how wrong the extrapolation is on figures of your own, or on shipped ones that were left out",
    "validate-transfer": "how wrong the transfer from one device to another is, on figures left out or of a file",
    "validate-tokens": "how wrong speeds of training on tokens are, on figures held back or of a file",
    "published-constants": "constants of the program beside the published figures that they come from",
    "flop": "the arithmetic of a training step beside the counters of torch and XLA; what share of a peak was reached",
}

THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class _Parser(argparse.ArgumentParser):
    """Refuses a command line in one sentence, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{self.prog}: {message}; see {self.prog} --help")


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Raises UserError."""
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        print("\n".join(f"python -m research {command}: {text}" for command, text in COMMANDS.items()))
        return 0 if name in ("", "--help") else 2
    for limit in THREAD_LIMITS:  # Small matrices: threads cost more than they give.
        os.environ.setdefault(limit, "1")
    module = importlib.import_module(f"research.{name.replace('-', '_')}")
    parser = _Parser(f"research {name}", None, module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(arguments[1:])) or 0)


if __name__ == "__main__":
    program(main)
