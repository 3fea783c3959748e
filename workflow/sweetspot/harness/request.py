"""What one run is asked to do, as flags of the command line."""

import argparse
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from sweetspot.cells import PROTOCOL, Cell, is_slug
from sweetspot.errors import UserError
from sweetspot.platforms import PLATFORMS

COUNTS = {"batch_size": 100_000, "gpus": 4096, "run": 10_000, "warmup_steps": 1000}  # the most of each
# Exit codes of a training process: it raised UserError (nothing was measured, nothing is written); it says itself why
# it failed, such as a loss that is no number any more; it ran out of memory.
REFUSED, DIVERGED, NO_MEMORY = 2, 3, 4
MAX_LOGICAL_DEVICES = 64  # parts of one processor, or as many as it has CPUs: more try nothing that fewer do not


class Request(NamedTuple):
    """One run of one cell and the protocol it follows; passed to the training process as JSON."""

    cell: Cell
    run: int  # number of this independent process
    output: str  # the run file
    protocol: int = PROTOCOL  # version of what a measurement means
    device: str = "cpu"
    where: str = "local"
    expect_gpu: str = ""  # part of the name that every device must have
    warmup_steps: int = 2  # not timed; the first compiles
    min_steps: int = 5  # timed, after which a run may end
    min_seconds: float = 20.0  # timed, after which it ends anyway
    min_steps_slow: int = 3
    least_seconds: float = 2.0  # timed, before which no run ends
    least_seconds_power: float = 10.0  # the same where power is read
    target_half_width: float = 0.0  # 95 %, of the mean step, as a share of it, up to which a run goes on; 0: any
    time_limit_s: int = 1800
    xla: bool = False
    script: str = ""  # file of a script's description; empty: config/commands/MODEL.yaml
    asked: str = ""  # notes of the run files to be replaced; any other finished run of this protocol stays

    def to_json(self) -> str:
        """Return the request as one line of JSON, which `from_json` parses in the training process."""
        return json.dumps({**self._asdict(), "cell": self.cell._asdict()})

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """Return the request that `to_json` wrote as JSON."""
        values = json.loads(text)
        return cls(**{**values, "cell": Cell(**values["cell"])})


def parse_request(arguments: Sequence[str] | None = None) -> Request:
    """Return the command-line flags of run_benchmark.py as the Request of one benchmark run; argparse exits where they
    are wrong. Raises UserError for a name that no path can have, and for a count out of bounds.
    """
    parser = argparse.ArgumentParser(prog="run_benchmark.py", description="Measure one run of one cell.")
    choices = {"device": ["cpu", "gpu"], "where": [*PLATFORMS]}
    defaults = Request._field_defaults
    kinds = {**Cell.__annotations__, **Request.__annotations__}
    del kinds["cell"]
    for name, kind in kinds.items():
        options: dict[str, Any] = {"type": kind, "choices": choices.get(name)}
        if kind is bool:
            options = {"action": argparse.BooleanOptionalAction}
        parser.add_argument(_flag(name), required=name not in defaults, default=defaults.get(name), **options)
    # Of the workflow's own: they change nothing here.
    for name in ("definition", "attempt"):
        parser.add_argument(_flag(name))
    values = vars(parser.parse_args(arguments))
    request = Request(Cell(*map(values.get, Cell._fields)), *map(values.get, Request._fields[1:]))  # type: ignore[arg-type]
    limits = dict(COUNTS)
    if request.device == "cpu":
        limits["gpus"] = max(MAX_LOGICAL_DEVICES, os.cpu_count() or 1)
    for name in (*Cell._fields, "run", "warmup_steps"):
        value = values[name]
        if isinstance(value, str) and not is_slug(value):
            raise UserError(f"{_flag(name)} is {value!r}; expected letters, digits, '.', '_' and '-', at most 64")
        if name in limits and not 1 <= value <= limits[name]:
            raise UserError(f"{_flag(name)} is {value} on a {request.device}; expected 1 to {limits[name]}")
    return request


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
