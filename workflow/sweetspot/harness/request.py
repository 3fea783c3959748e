"""What one run is asked to do, as flags of the command line."""

import argparse
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from sweetspot.cells import PROTOCOL, Cell, is_slug
from sweetspot.errors import UserError
from sweetspot.study.platforms import PLATFORMS

COUNTS = {"batch_size": 100_000, "gpus": 4096, "run": 10_000}  # the most of each
MAX_LOGICAL_DEVICES = 64  # parts of one processor, or as many as it has CPUs: more try nothing that fewer do not


class Request(NamedTuple):
    """One run of one cell and the protocol it follows; passed to the training process as JSON."""

    cell: Cell
    run: int
    protocol: int
    device: str
    where: str
    expect_gpu: str
    warmup_steps: int
    min_steps: int
    min_seconds: float
    min_steps_slow: int
    time_limit_s: int
    xla: bool
    output: str
    target_half_width: float = 0.0
    asked: str = ""
    script: str = ""
    least_seconds: float = 2.0
    least_seconds_power: float = 10.0

    def to_json(self) -> str:
        """The request as one line."""
        return json.dumps({**self._asdict(), "cell": self.cell._asdict()})

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """The inverse of `to_json`."""
        values = json.loads(text)
        return cls(**{**values, "cell": Cell(**values["cell"])})


def parse_request(arguments: Sequence[str] | None = None) -> Request:
    """Read the flags of run_benchmark.py; argparse ends the program with a sentence where they are wrong."""
    parser = argparse.ArgumentParser(prog="run_benchmark.py", description="Measure one run of one cell.")
    for column in Cell._fields:
        kind = int if column in ("batch_size", "gpus") else str
        parser.add_argument(f"--{column.replace('_', '-')}", type=kind, required=True)
    parser.add_argument("--run", type=int, required=True, help="number of this independent process")
    parser.add_argument("--protocol", type=int, default=PROTOCOL, help="version of what a measurement means")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--where", choices=list(PLATFORMS), default="local")
    parser.add_argument("--expect-gpu", default="", help="part of the name that every device must have")
    parser.add_argument("--warmup-steps", type=int, default=2, help="steps not timed; the first compiles")
    parser.add_argument("--min-steps", type=int, default=5, help="timed steps after which a run may end")
    parser.add_argument("--min-seconds", type=float, default=20, help="timed seconds after which it ends anyway")
    parser.add_argument("--min-steps-slow", type=int, default=3)
    minimum = "timed seconds before which no run ends"
    parser.add_argument("--least-seconds", type=float, default=2.0, help=minimum)
    parser.add_argument("--least-seconds-power", type=float, default=10.0, help=f"{minimum} where power is read")
    parser.add_argument(
        "--target-half-width",
        type=float,
        default=0.0,
        help="95 %% half-width of the mean step, as a share of it, up to which a run goes on (0: not asked)",
    )
    parser.add_argument("--time-limit-s", type=int, default=1800)
    parser.add_argument("--xla", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument(
        "--script",
        default="",
        metavar="FILE",
        help="framework command: the script's description (config/commands/MODEL.yaml)",
    )
    parser.add_argument("--definition", default="", help="digest of the script's description; changes nothing here")
    parser.add_argument("--attempt", type=int, default=0, help="attempt of the workflow's run; changes nothing")
    parser.add_argument(
        "--asked",
        default="",
        metavar="FILE",
        help="notes of the run files to be replaced; any other finished run of this protocol stays",
    )
    parser.add_argument("--output", required=True, help="the run file")
    values = vars(parser.parse_args(arguments))
    values.pop("attempt")
    values.pop("definition")
    cell = Cell(**{column: values.pop(column) for column in Cell._fields})
    request = Request(cell=cell, **values)
    _require_possible(request)
    return request


def _require_possible(request: Request) -> None:
    """Raises UserError for a cell or run that no path, and so no figure, may be named after."""
    values: dict[str, Any] = {**request.cell._asdict(), "run": request.run}
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, str) and not is_slug(value):
            raise UserError(f"{flag} is {value!r}; expected letters, digits, '.', '_' and '-', at most 64")
        if name in COUNTS and not 1 <= value <= COUNTS[name]:
            raise UserError(f"{flag} is {value}; expected 1 to {COUNTS[name]}")
    parts = max(MAX_LOGICAL_DEVICES, os.cpu_count() or 1)
    if request.device == "cpu" and request.cell.gpus > parts:
        raise UserError(f"--gpus is {request.cell.gpus} on a processor; expected at most {parts} parts of it")
