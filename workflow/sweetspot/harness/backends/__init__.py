"""One module a framework, each with the functions of `Backend`; only the framework of the cell is imported.

A backend imports its framework inside its functions, so that it can say what is missing where that is not installed.
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
    """One training step: `launch` begins it and returns its loss, `finish` waits for that loss and all before it."""

    launch: Callable[[], Any]
    finish: Callable[[Any], float] = float


class Backend(Protocol):
    """What the harness asks of a framework; of a script of one's own `launch` alone."""

    @staticmethod
    def launch(request: Request) -> list[str]:
        """Return the command of the training process, or of what starts several."""

    @staticmethod
    def prepare(request: Request) -> dict[str, Any]:
        """Set the framework and its devices up; return facts. Raise UserError for devices other than requested."""

    @staticmethod
    def build_step(request: Request) -> tuple[Step, dict[str, Any]]:
        """Return a training step, and the facts `unit`, `parameters` and `samples_per_step`."""

    @staticmethod
    def agreement(request: Request) -> Agree:
        """Return how all processes learn how many steps the first one wants next."""

    @staticmethod
    def peak_memory_bytes(request: Request) -> int:
        """Return the largest allocation on the fullest GPU so far."""


def backend(framework: str) -> Backend:
    """Return the module of a framework, which need not be installed. Raises UserError for an unknown name."""
    if framework not in FRAMEWORKS:
        raise UserError(f"--framework is {framework!r}; expected one of {', '.join(FRAMEWORKS)}")
    return cast(Backend, importlib.import_module(f"{__name__}.{framework}"))


def require_supported(request: Request) -> None:
    """Refuse a cell that the framework or the device cannot measure. Raises UserError."""
    from sweetspot.matrix.possible import cell_faults  # its models have no use in a training process

    backend(request.cell.framework)
    for fault in cell_faults(request.cell, request.device, request.expect_gpu, request.xla):
        raise UserError(f"the run is of {fault}; nothing was measured")


def require_devices(request: Request, names: Sequence[str]) -> None:
    """Refuse devices, given by their names, that are not as many or not such as requested. Raises UserError."""
    if request.device == "gpu" and len(names) != request.cell.gpus:
        raise UserError(
            f"--gpus is {request.cell.gpus}; this process sees {len(names)} GPU(s), as with a build of the framework "
            "for processors; nothing was measured"
        )
    for name in names:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")


def missing(framework: str) -> str | None:
    """Return a clause that says how to install a framework; None where it is installed."""
    ability = FRAMEWORKS[framework]
    if not ability.package or importlib.util.find_spec(ability.package) is not None:
        return None
    install = f"install it with: pip install 'sweetspot[{ability.extra}]' (docs/measuring.md)"
    return f"framework {framework} is not installed in this environment; {install}"


def single_process(request: Request) -> list[str]:
    """Return the command of one training process that drives all devices."""
    return [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]
