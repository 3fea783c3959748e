"""One module a framework, each with the functions of `Backend`; only the framework of the cell is imported. A backend
imports its framework inside its functions, so that it can say what is missing where that is not installed.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

from sweetspot.errors import UserError
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.harness.request import Request

LOSS_SCALE = 128.0  # tf_cnn_benchmarks' default for fp16: small gradients would vanish
Agree = Callable[[int], int]  # gives every process the number that the first one passes


class Step(NamedTuple):
    """One training step: `launch` begins it and returns its loss, `finish` waits for and returns it as float."""

    launch: Callable[[], Any]
    finish: Callable[[Any], float] = float


class Backend(Protocol):
    """The functions that the harness calls of a framework's module; of a script of one's own `launch` alone."""

    @staticmethod
    def launch(request: Request) -> list[str]:
        """Return the command (argv) of the training process, or of the launcher that starts several."""

    @staticmethod
    def prepare(request: Request) -> dict[str, Any]:
        """Set up framework and devices; return facts by name. Raises UserError for devices other than requested."""

    @staticmethod
    def build_step(request: Request) -> tuple[Step, dict[str, Any]]:
        """Return a training step, and the facts `unit`, `parameters` and `samples_per_step`."""

    @staticmethod
    def agreement(request: Request) -> Agree:
        """Return a function that gives every process the first one's number of next steps."""

    @staticmethod
    def peak_memory_bytes(request: Request) -> int:
        """Return the peak of allocated memory of the fullest GPU so far, in bytes."""


def backend(framework: str) -> Backend:
    """Return a framework's module, by which a run is set up and trained. Raises UserError for an unknown name."""
    if framework not in FRAMEWORKS:
        raise UserError(f"--framework is {framework!r}; expected one of {', '.join(FRAMEWORKS)}")
    return cast(Backend, importlib.import_module(f"{__name__}.{framework}"))


def require_supported(request: Request) -> None:
    """Raise UserError before a run whose cell its framework or device cannot measure (network, precision, variant)."""
    from sweetspot.matrix.possible import cell_faults  # its models have no use in a training process

    backend(request.cell.framework)
    for fault in cell_faults(request.cell, request.device, request.expect_gpu, request.xla):
        raise UserError(f"the run is of {fault}; nothing was measured")


def require_devices(request: Request, names: Sequence[str]) -> None:
    """Raise UserError unless a run sees exactly the devices it asked for, so that no figure is of others: `names`, of
    the devices found, must have the run's number and contain its `expect_gpu`.
    """
    if request.device == "gpu" and len(names) != request.cell.gpus:
        raise UserError(
            f"--gpus is {request.cell.gpus}; this process sees {len(names)} GPU(s), as with a build of the framework "
            "for processors; nothing was measured"
        )
    for name in names:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")


def missing(framework: str) -> str | None:
    """Return how to install a framework (a key of FRAMEWORKS), for a failed run's message; None if installed."""
    ability = FRAMEWORKS[framework]
    if not ability.package or importlib.util.find_spec(ability.package) is not None:
        return None
    install = f"install it with: pip install 'sweetspot[{ability.extra}]' (docs/measuring.md)"
    return f"framework {framework} is not installed in this environment; {install}"


def single_process(request: Request) -> list[str]:
    """Return the command (argv) of one training process that drives all devices of the run."""
    return [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]
